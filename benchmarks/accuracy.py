"""Accuracy before pruning on the authors' released data sets (`make accuracy`).

Mean over data sets 11 to 20 and over seeds of: SID, reversed, missing and extra edges, iterations, CPU seconds; for
both presets, with the range over seeds of the mean SID.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import gadjid
import numpy as np
from joblib import Parallel, delayed

from grandag import GraNDAG

SETTINGS = {  # name: (folder, largest mean SID accepted for preset paper, for the default)
    "10 nodes ER1": ("data_p10_e10_n1000_GP", 3.0, 3.5),
    "10 nodes ER4": ("data_p10_e40_n1000_GP", 24.0, 5.0),
    "10 nodes SF4": ("data_sf_p10_e40_n1000_GP", 12.0, 6.5),
    "20 nodes ER1": ("data_p20_e20_n1000_GP", 10.0, 7.0),
}


def one_fit(folder: Path, number: int, preset: str, seed: int) -> list[float]:
    """SID, reversed, missing, extra, iterations, converged and CPU seconds of one fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, truth = np.load(folder / f"data{number}.npy"), np.load(folder / f"DAG{number}.npy").astype(bool)
        start = time.process_time()
        model = GraNDAG.preset(preset, retrain=False, n_jobs=1, random_state=seed).fit(rows)
        seconds = time.process_time() - start
    estimate = model.adjacency_
    _, sid = gadjid.sid(truth.astype(np.int8), estimate.astype(np.int8), edge_direction="from row to column")
    either = truth | truth.T
    reversed_ = (truth & estimate.T).sum()
    missing = (truth & ~(estimate | estimate.T)).sum()
    extra = (estimate & ~either).sum()
    return [sid, reversed_, missing, extra, model.n_iter_, model.converged_, seconds]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--authors-data", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "authors")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    if not arguments.authors_data.is_dir():
        parser.error(f"there is no folder {arguments.authors_data}: give the authors' data sets with --authors-data")
    print(
        "setting       preset    SID (range over seeds)   limit  reversed missing  extra  iterations converged  CPU s"
    )
    for name, (folder, *limits) in SETTINGS.items():
        for preset, limit in zip(("paper", "default"), limits, strict=True):
            jobs = [(number, seed) for seed in range(arguments.seeds) for number in range(11, 21)]
            rows = Parallel(n_jobs=-1)(
                delayed(one_fit)(arguments.authors_data / folder, number, preset, seed) for number, seed in jobs
            )
            table = np.array(rows, dtype=float).reshape(arguments.seeds, 10, -1)
            by_seed, means = table[:, :, 0].mean(axis=1), table.mean(axis=(0, 1))
            sid, reversed_, missing, extra, iterations, converged, seconds = means
            print(
                f"{name:13s} {preset:8s} {sid:5.2f} ({by_seed.min():5.2f}-{by_seed.max():5.2f})          {limit:5.1f}  "
                f"{reversed_:7.2f} {missing:7.2f} {extra:6.1f} {iterations:11,.0f} {converged:9.0%} {seconds:6.2f}"
            )


if __name__ == "__main__":
    main()
