"""Table 5 of the paper and the scale of A_phi: why ours differs without neighbour selection (by hand, 10 minutes).

50 nodes ER1, the authors' recipe, nothing pruned, on the first data sets of `grandag paper table5`. For multiples of
A_phi: true edges that training has masked, and how many of these are open the other way round; inputs open at the end
of training; edges, SHD and SID after the threshold on the Jacobian, and of the edges with A_phi >= 0.3; iterations.
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np

from grandag import GraNDAG
from grandag.graph import is_acyclic
from grandag.metrics import shd, sid
from grandag.simulate.files import simulate

SEEDS = range(1, 6)
PATH_SCALES = (1.0, 5.0, 10.0)
WEIGHT_THRESHOLD = 0.3
HEADER = "PNS   scale  set  true  masked  reversed  open  |  edges   SHD   SID  |  >= 0.3   SHD    SID  |  iterations"


def measure(seed: int, path_scale: float, *, neighbour_selection: bool) -> list[float]:
    """One fit, as a row of numbers; the SID of a cyclic graph is not one."""
    data = simulate(mechanism="gauss-anm", n_nodes=50, n_rows=1000, seed=seed, graph="er", n_edges=50)
    model = GraNDAG.preset(
        "paper",
        path_scale=path_scale,
        neighbour_selection=neighbour_selection,
        prune=False,
        retrain=False,
        dtype="float64",  # h overflows float32 where A_phi is large
        random_state=0,
    ).fit(data.data)
    truth, mask = data.adjacency, model.mask_
    masked = truth & ~mask
    strong = mask & (model.A_phi_ >= WEIGHT_THRESHOLD)
    distance = sid(truth, strong) if is_acyclic(strong) else np.nan
    found = model.adjacency_
    return [
        truth.sum(), masked.sum(), (masked & mask.T).sum(), mask.sum(), found.sum(), shd(truth, found),
        sid(truth, found), strong.sum(), shd(truth, strong), distance, model.n_iter_,
    ]  # fmt: skip


def show(selected: bool, scale: float, name: str, row: list[float]) -> None:
    """A line of the table."""
    start = f"{selected!s:5} {scale:6}  {name:>4}"
    print(
        start + "{:6.0f}{:8.1f}{:10.1f}{:6.0f}  |{:7.0f}{:6.0f}{:6.0f}  |{:8.0f}{:6.0f}{:7.0f}  |{:12,.0f}".format(*row)
    )


def main() -> None:
    """All fits, and their means."""
    warnings.simplefilter("ignore")
    print(HEADER)
    for selected, scale in product((False, True), PATH_SCALES):
        rows = []
        for seed in SEEDS:
            rows.append(measure(seed, scale, neighbour_selection=selected))
            show(selected, scale, str(seed), rows[-1])
        show(selected, scale, "mean", np.nanmean(rows, axis=0).tolist())


if __name__ == "__main__":
    main()
