"""Accuracy on the authors' released data sets (`make accuracy`): the default, the preset fast and the paper's recipe.

Means over data sets 11 to 20 and over seeds. First the graph that training leaves, before it is refined or pruned: SID
with its range over seeds, reversed, missing and extra edges, iterations; the default trains as the preset fast does.
Then the result: SHD and SID beside their limits and the paper's figures, and CPU seconds of the whole fit.
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

PRESETS = ("default", "fast", "paper")


class Limits(NamedTuple):
    """The largest means that are allowed; None where nothing is asked."""

    sid_before: float | None = None
    shd: float | None = None
    sid: float | None = None


class Setting(NamedTuple):
    """A folder of data sets, what is asked of each preset there, and the paper's SHD and SID."""

    folder: str
    default: Limits
    fast: Limits
    recipe: Limits
    paper: str

    def limits(self, preset: str) -> Limits:
        """What is asked of a preset; the default trains as fast does."""
        before = self.default._replace(sid_before=self.fast.sid_before)
        return {"default": before, "fast": self.fast, "paper": self.recipe}[preset]


SETTINGS = {
    "10 nodes ER1": Setting(
        "data_p10_e10_n1000_GP", Limits(None, 0.7, 1.0), Limits(3.5, 2.5), Limits(3.0), "1.7±2.5 / 1.7±3.1"
    ),
    "10 nodes ER4": Setting(
        "data_p10_e40_n1000_GP", Limits(None, 0.6, 1.5), Limits(5.0, 9.5), Limits(24.0), "8.3±2.8 / 21.8±8.9"
    ),
    "10 nodes SF1": Setting(
        "data_sf_p10_e10_n1000_GP", Limits(None, 0.7, 1.0), Limits(), Limits(), "1.2±1.1 / 4.1±6.1"
    ),
    "10 nodes SF4": Setting(
        "data_sf_p10_e40_n1000_GP", Limits(None, 1.0, 1.0), Limits(6.5, 10.5), Limits(12.0), "9.9±4.0 / 16.4±6.0"
    ),
    "20 nodes ER1": Setting(
        "data_p20_e20_n1000_GP", Limits(None, 1.5, 3.0), Limits(7.0), Limits(10.0), "4.0±3.4 / 17.9±19.5"
    ),
}


class Measured(NamedTuple):
    """One fit: the graph that training left, the result, and what they cost."""

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
    """Fit one data set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, truth = np.load(folder / f"data{number}.npy"), np.load(folder / f"DAG{number}.npy").astype(bool)
        start = time.process_time()
        model = GraNDAG.preset(preset, retrain=False, n_jobs=1, random_state=seed).fit(rows)
        seconds = time.process_time() - start
    before, after = model.thresholded_, model.adjacency_
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


def line_before(name: str, preset: str, limits: Limits, results: np.ndarray) -> str:
    """A line on the graphs that training left."""
    by_seed, mean = results[:, :, 0].mean(axis=1), Measured(*results.mean(axis=(0, 1)))
    return (
        f"{name:13s} {preset:8s} {mean.sid_before:5.2f} ({by_seed.min():5.2f}-{by_seed.max():5.2f}) "
        f"{_limit(limits.sid_before):>7s} {mean.n_reversed:9.2f} {mean.missing:7.2f} {mean.extra:6.1f} "
        f"{mean.iterations:11,.0f} {mean.converged:9.0%}"
    )


def line_after(name: str, preset: str, limits: Limits, results: np.ndarray, paper: str) -> str:
    """A line on the results."""
    mean, spread = Measured(*results.mean(axis=(0, 1))), Measured(*results.mean(axis=0).std(axis=0, ddof=1))
    wanted = f"{_limit(limits.shd)} / {_limit(limits.sid)}"
    return (
        f"{name:13s} {preset:8s} {mean.shd:4.2f}±{spread.shd:3.1f} / {mean.sid:5.2f}±{spread.sid:4.1f} {wanted:>13s}"
        f"   {paper:20s} {mean.seconds:6.2f}"
    )


def _limit(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--authors-data", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "authors")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=PRESETS)
    arguments = parser.parse_args()
    if not arguments.authors_data.is_dir():
        parser.error(f"there is no folder {arguments.authors_data}: give the authors' data sets with --authors-data")
    after = []
    print("Before refinement or pruning")
    print("setting       preset   SID (range over seeds)  limit  reversed missing  extra  iterations converged")
    for name, setting in SETTINGS.items():
        for preset in arguments.presets:
            results = fit_all(arguments.authors_data, setting, preset, arguments.seeds)
            after.append(line_after(name, preset, setting.limits(preset), results, setting.paper))
            print(line_before(name, preset, setting.limits(preset), results), flush=True)
    print("\nResults (± over data sets)")
    print("setting       preset   SHD / SID                     limits   paper: SHD / SID      CPU s", *after, sep="\n")


if __name__ == "__main__":
    main()
