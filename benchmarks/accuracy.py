"""Accuracy on the authors' released data sets, before and after pruning (`make accuracy`).

Means over data sets 11 to 20 and over seeds, for both presets. Before pruning: SID with its range over seeds, reversed,
missing and extra edges, iterations, CPU seconds. After: SHD and SID beside the paper's figures.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from grandag import GraNDAG
from grandag.metrics import edge_errors, shd, sid


class Setting(NamedTuple):
    """A folder of data sets, what is asked of us there, and the paper's SHD and SID."""

    folder: str
    largest_sid: dict[str, float]  # before pruning, by preset
    largest_shd: float | None  # after pruning, default
    paper: str


SETTINGS = {
    "10 nodes ER1": Setting("data_p10_e10_n1000_GP", {"paper": 3.0, "default": 3.5}, 2.5, "1.7±2.5 / 1.7±3.1"),
    "10 nodes ER4": Setting("data_p10_e40_n1000_GP", {"paper": 24.0, "default": 5.0}, 9.5, "8.3±2.8 / 21.8±8.9"),
    "10 nodes SF4": Setting("data_sf_p10_e40_n1000_GP", {"paper": 12.0, "default": 6.5}, 10.5, "9.9±4.0 / 16.4±6.0"),
    "20 nodes ER1": Setting("data_p20_e20_n1000_GP", {"paper": 10.0, "default": 7.0}, None, "4.0±3.4 / 17.9±19.5"),
}


class Measured(NamedTuple):
    """One fit: graph before pruning, graph after pruning, cost."""

    sid_before: float
    n_reversed: float
    missing: float
    extra: float
    shd: float
    sid: float
    iterations: float
    converged: float
    seconds: float


def one_fit(folder: Path, number: int, preset: str, seed: int) -> Measured:
    """Fit one data set; the edges that pruning tested are the graph before pruning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, truth = np.load(folder / f"data{number}.npy"), np.load(folder / f"DAG{number}.npy").astype(bool)
        start = time.process_time()
        model = GraNDAG.preset(preset, retrain=False, n_jobs=1, random_state=seed).fit(rows)
        seconds = time.process_time() - start
    before, after = ~np.isnan(model.p_values_), model.adjacency_
    errors = edge_errors(truth, before)
    return Measured(
        sid(truth, before),
        errors.reversed,
        errors.missing,
        errors.extra,
        shd(truth, after),
        sid(truth, after),
        model.n_iter_,
        model.converged_,
        seconds,
    )


def fit_all(authors: Path, setting: Setting, preset: str, n_seeds: int, n_jobs: int = -1) -> np.ndarray:
    """The figures of `Measured` by seed, data set and figure."""
    jobs = [(number, seed) for seed in range(n_seeds) for number in range(11, 21)]
    folder = authors / setting.folder
    results = Parallel(n_jobs=n_jobs)(delayed(one_fit)(folder, number, preset, seed) for number, seed in jobs)
    return np.array(results, dtype=float).reshape(n_seeds, 10, -1)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--authors-data", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "authors")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    if not arguments.authors_data.is_dir():
        parser.error(f"there is no folder {arguments.authors_data}: give the authors' data sets with --authors-data")
    after = []
    print("Before pruning")
    print("setting       preset   SID (range over seeds)  limit  reversed missing  extra  iterations converged  CPU s")
    for name, setting in SETTINGS.items():
        for preset, limit in setting.largest_sid.items():
            results = fit_all(arguments.authors_data, setting, preset, arguments.seeds)
            by_seed, mean = results[:, :, 0].mean(axis=1), Measured(*results.mean(axis=(0, 1)))
            print(
                f"{name:13s} {preset:8s} {mean.sid_before:5.2f} ({by_seed.min():5.2f}-{by_seed.max():5.2f}) "
                f"{limit:7.1f} {mean.n_reversed:9.2f} {mean.missing:7.2f} {mean.extra:6.1f} {mean.iterations:11,.0f} "
                f"{mean.converged:9.0%} {mean.seconds:6.2f}"
            )
            spread = Measured(*results.mean(axis=0).std(axis=0, ddof=1))
            wanted = f"{setting.largest_shd:.1f}" if preset == "default" and setting.largest_shd else "-"
            after.append(
                f"{name:13s} {preset:8s} {mean.shd:4.1f}±{spread.shd:3.1f} / {mean.sid:4.1f}±{spread.sid:4.1f}"
                f"   {wanted:>9s}   {setting.paper}"
            )
    print("\nAfter pruning (± over data sets)")
    print("setting       preset   SHD / SID             SHD limit   paper: SHD / SID", *after, sep="\n")


if __name__ == "__main__":
    main()
