"""Neighbour selection: our trees against scikit-learn's (`make bench`), and whether they select the same.

Without options: CPU seconds per variable of both, one thread, at 50 and 100 variables, and memory. The reference takes
the same time for every variable, so that a few of them are enough. If LightGBM is installed, its extremely randomised
mode is timed as well.

With `--agreement FOLDER` (about 100 minutes of CPU for the reference, whose importances are kept in the folder, so that
it can be interrupted and is computed only once): five simulated sets of each kind of graph with 50 variables, and the
whole fits with both selections where the reference is complete. `--targets` limits the reference to the first variables
of each set (they are in random order); 0 takes what the folder holds.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from common import cpu_seconds, gauss_anm, memory_beyond, resident_bytes
from grandag import GraNDAG
from grandag.methods.stages.neighbours import IMPLEMENTATIONS, NeighboursConfig, neighbours
from grandag.methods.stages.screen import most_dependent
from grandag.metrics import shd, sid

KINDS = ("ER1", "ER4", "SF1", "SF4")
D, N_SETS = 50, 5
CONFIG = NeighboursConfig(n_jobs=1)
N_REFERENCE_TREES = 500
RATIO_TARGET, MEMORY_TARGET = 15, 0.5


def simulated(kind: str, number: int, d: int = D, n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Rows and adjacency of a data set."""
    return gauss_anm(d, d * int(kind[2]), n, number, kind[:2].lower())


def reference_forest(values: np.ndarray, j: int, seed: int) -> np.ndarray:
    """Importance of all inputs for variable j by scikit-learn."""
    inputs = np.array(values, dtype=np.float32)
    inputs[:, j] = 0
    return ExtraTreesRegressor(N_REFERENCE_TREES, random_state=seed).fit(inputs, values[:, j]).feature_importances_


def speed(d: int, n_reference: int) -> None:
    """Print CPU seconds of both, per variable and scaled to all of them."""
    values, _ = simulated("ER1", 0, d)
    ours, _ = cpu_seconds(lambda: neighbours(values, CONFIG, np.random.default_rng(0)))
    reference, _ = cpu_seconds(lambda: [reference_forest(values, j, j) for j in range(n_reference)])
    reference *= d / n_reference
    ratio = reference / ours
    verdict = "reached" if ratio >= RATIO_TARGET else "missed"
    print(
        f"  {d} variables x 1,000 rows: {ours:.1f} CPU s, scikit-learn {reference:.0f} CPU s (from {n_reference} "
        f"variables): {ratio:.0f} times cheaper (target {RATIO_TARGET}: {verdict})"
    )


def light_gbm(n_trees: int = 20) -> None:
    """Print milliseconds per tree of LightGBM's extremely randomised forests, beside scikit-learn's and ours."""
    if importlib.util.find_spec("lightgbm") is None:
        print("  LightGBM is not installed and not timed")
        return
    import lightgbm

    values, _ = simulated("ER1", 0)
    inputs = np.delete(values, 0, axis=1)
    for leaves, bins in ((1000, 1000), (1000, 255), (100, 255)):
        parameters = {"boosting": "rf", "extra_trees": True, "bagging_fraction": 0.99, "bagging_freq": 1}
        parameters |= {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0, "num_leaves": leaves, "max_bin": bins}
        parameters |= {"num_threads": 1, "verbose": -1}
        data = lightgbm.Dataset(inputs, values[:, 0])
        seconds, _ = cpu_seconds(lambda p=parameters, data=data: lightgbm.train(p, data, n_trees))
        print(f"  LightGBM, {leaves} leaves, {bins} bins: {1000 * seconds / n_trees:.1f} CPU ms per tree")


def memory(d: int = 200, n: int = 10_000) -> None:
    """Print gigabytes beyond the data, two threads (runs in its own process); trees are not kept, so few will do."""
    values, _ = simulated("ER1", 0, d, n)
    neighbours(values[:100], NeighboursConfig(n_trees=1, n_jobs=1), np.random.default_rng(0))
    before = resident_bytes()
    neighbours(values, NeighboursConfig(n_trees=5, n_jobs=2), np.random.default_rng(0))
    print(memory_beyond(before))


class Reference:
    """scikit-learn's importances of one data set and seed, kept in a file; NaN where they are not computed yet."""

    def __init__(self, folder: Path, kind: str, number: int, seed: int) -> None:
        self.values, self.truth = simulated(kind, number)
        data = hashlib.sha256(self.values.tobytes()).hexdigest()[:8]  # other data are another file
        self.path = folder / f"{kind}-{number}-{seed}-{data}.npy"
        self.importance = np.load(self.path) if self.path.exists() else np.full((D, D), np.nan)
        rng = np.random.default_rng(seed)
        self.seeds = [int(rng.integers(2**31)) for _ in range(D)]

    @property
    def is_done(self) -> np.ndarray:
        """Which variables have a forest?"""
        return ~np.isnan(self.importance[0])

    @property
    def mask(self) -> np.ndarray:
        """The selection (D, D); empty for variables without a forest."""
        mask = self.importance >= CONFIG.neighbour_threshold * self.importance.mean(axis=0)
        np.fill_diagonal(mask, False)
        return mask

    def compute(self, n_targets: int) -> None:
        """Grow what is missing of the first forests."""
        for j in np.flatnonzero(~self.is_done[:n_targets]):
            self.importance[:, j] = reference_forest(self.values, j, self.seeds[j])
            np.save(self.path, self.importance)


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Jaccard index of two selections."""
    return float((one & other).sum() / (one | other).sum())


def agreement(folder: Path, kind: str, n_targets: int) -> None:
    """Print one line of the table: what both select, over the sets' variables that have a reference."""
    pairs, seconds = [], []
    for number in range(N_SETS):
        reference = Reference(folder, kind, number, 0)
        reference.compute(n_targets)
        done = reference.is_done
        if not done.any():
            continue
        spent, mask = cpu_seconds(lambda r=reference: neighbours(r.values, CONFIG, np.random.default_rng(0)))
        seconds.append(spent)
        pairs.append((mask[:, done], reference.mask[:, done], reference.truth[:, done]))
    ours, theirs, truth = (np.hstack(masks) for masks in zip(*pairs, strict=True))
    n_forests = truth.shape[1]
    n_inputs = n_forests * (D - 1)
    again = [Reference(folder, kind, 0, seed) for seed in (0, 1)]
    again[1].compute(n_targets)
    both = again[0].is_done & again[1].is_done
    print(
        f"  {kind}  {n_forests:9d}  {ours.sum() / n_inputs:.3f}  {theirs.sum() / n_inputs:9.3f}  "
        f"{(truth & ~ours).sum():4d}  {(truth & ~theirs).sum():9d}  {truth.sum():7d}  {overlap(ours, theirs):7.3f}  "
        f"{overlap(again[0].mask[:, both], again[1].mask[:, both]):23.3f}  "
        f"{statistics.mean(seconds):5.1f}"
    )


def whole_fits(folder: Path, kind: str, number: int, n_seeds: int = 3) -> None:
    """Print SHD and SID of fast fits with both selections, over seeds of the fit; needs the whole reference."""
    reference = Reference(folder, kind, number, 0)
    if not reference.is_done.all():
        return
    IMPLEMENTATIONS["scikit-learn"] = lambda *_: (pair for pair in enumerate(reference.importance.T))
    line = f"  {kind} {number}"
    for trees in ("compiled", "scikit-learn"):
        settings = {"neighbour_trees": trees, "retrain": False, "n_jobs": 1}
        graphs = [
            GraNDAG.preset("fast", random_state=seed, **settings).fit(reference.values).adjacency_
            for seed in range(n_seeds)
        ]
        scores = np.array([(shd(reference.truth, graph), sid(reference.truth, graph)) for graph in graphs])
        line += f"   {trees}: " + ", ".join(f"{a:.0f} / {b:.0f}" for a, b in scores)
        line += " (mean {:.1f} / {:.1f})".format(*scores.mean(axis=0))
    print(line, flush=True)


def compare(folder: Path, n_targets: int) -> None:
    """Print the tables of docs/neighbours.md."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.process_time()
    print("Selections, 50 variables x 1,000 rows; all forests of the sets together; lost true parents:")
    print("        forests   kept  reference  lost  reference  parents  Jaccard  reference's own Jaccard  CPU s")
    for kind in KINDS:
        agreement(folder, kind, n_targets)
    print("Whole fits, SHD / SID by seed of the fit:")
    for number in range(N_SETS):
        for kind in KINDS:
            whole_fits(folder, kind, number)
    print(f"{time.process_time() - start:.0f} CPU s")


def screening(d: int = 1000, n: int = 1000) -> None:
    """Print CPU seconds of screening all pairs of many variables."""
    values = np.random.default_rng(0).normal(size=(n, d))
    most_dependent(values[:, :10], 3)
    seconds, _ = cpu_seconds(lambda: most_dependent(values, 2 * CONFIG.max_neighbours))
    print(f"  screening of {d:,} variables x {n:,} rows: {seconds:.2f} CPU s")


def main() -> None:
    """Run what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agreement", type=Path, metavar="FOLDER", help="compare the selections; keep forests here")
    parser.add_argument("--targets", type=int, default=D, help="reference forests per data set (default: all 50)")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    neighbours(simulated("ER1", 0, 5, 100)[0], CONFIG, np.random.default_rng(0))  # compile outside the timing
    if arguments.memory:
        memory()
    elif arguments.agreement is not None:
        compare(arguments.agreement, arguments.targets)
    else:
        print("Neighbour selection:")
        speed(50, 4)
        speed(100, 2)
        light_gbm()
        screening()
        command = [sys.executable, __file__, "--memory"]
        used = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        verdict = "reached" if used < MEMORY_TARGET else "missed"
        print(f"  200 variables x 10,000 rows: {used:.2f} GB beyond the data (target {MEMORY_TARGET}: {verdict})")


if __name__ == "__main__":
    main()
