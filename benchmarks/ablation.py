"""Why table 5 differs from the paper without neighbour selection, and what a threshold on A_phi leaves (by hand).

50 nodes ER1, the authors' recipe, nothing pruned: true edges that training itself has masked, and SHD and SID of the
edges with A_phi above a threshold.
"""

from __future__ import annotations

import warnings

import numpy as np

from grandag import GraNDAG
from grandag.graph import is_acyclic
from grandag.metrics import shd, sid
from grandag.simulate.files import simulate

SEEDS = (1, 2, 3)
THRESHOLDS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.3)


def main() -> None:
    """The data sets of `grandag paper table5`."""
    warnings.simplefilter("ignore")
    for seed in SEEDS:
        data = simulate(mechanism="gauss-anm", n_nodes=50, n_rows=1000, seed=seed, graph="er", n_edges=50)
        model = GraNDAG.preset("paper", neighbour_selection=False, prune=False, retrain=False, random_state=0)
        model.fit(data.data)
        truth, A_phi = data.adjacency, model.A_phi_ * model.mask_
        n_lost, n_true = int((truth & ~model.mask_).sum()), int(truth.sum())
        quantiles = np.quantile(A_phi[truth & model.mask_], [0.1, 0.5, 0.9, 1.0]).round(3).tolist()
        print(f"set {seed}: {n_lost} of {n_true} true edges masked in training; A_phi of the others {quantiles}")
        for threshold in THRESHOLDS:
            kept = A_phi >= threshold
            distance = f"{sid(truth, kept):5}" if is_acyclic(kept) else "cycle"
            print(f"  A_phi >= {threshold:<5} {int(kept.sum()):4} edges, SHD {shd(truth, kept):4}, SID {distance}")


if __name__ == "__main__":
    main()
