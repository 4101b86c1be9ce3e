"""Held-out log-likelihood per row where rows are few (`make held-out`): tables that nobody prepared.

    python benchmarks/held_out.py [--splits 10] [--tables wine iris ...] [--methods default CAM ...]

Each method is fitted to 80 % of the rows, of which it may hold out some itself, and scored on the other 20 %; means
over splits. More is better; the difference to CAM has the standard error of its mean over splits.
"""

from __future__ import annotations

import argparse
import functools
import math
import statistics
import sys
import warnings
from collections.abc import Sequence

import pandas as pd
from sklearn import datasets as bundled

from grandag import CAM, GES, PC, GraNDAG, TrainingError, datasets
from grandag.table import as_table
from grandag.tuning.held_out import hold_out

METHODS = {
    "default": lambda seed: GraNDAG(random_state=seed),
    "fast": lambda seed: GraNDAG.preset("fast", random_state=seed),
    "GraN-DAG++": lambda seed: GraNDAG(density="gaussian", random_state=seed),
    "CAM": lambda seed: CAM(),
    "GES": lambda seed: GES(),
    "PC": lambda seed: PC(),
}


def _bundled(name: str, part: str = "frame") -> pd.DataFrame:
    return getattr(getattr(bundled, f"load_{name}")(as_frame=True), part)


TABLES = {
    "wine": functools.partial(_bundled, "wine"),
    "diabetes": functools.partial(_bundled, "diabetes"),
    "breast_cancer": functools.partial(_bundled, "breast_cancer"),
    "iris": functools.partial(_bundled, "iris", "data"),
    "sachs": lambda: datasets.load_sachs().data,
}


def scores(name: str, n_splits: int, methods: Sequence[str]) -> dict[str, list[float]]:
    """By method, the held-out score of each split; each goes to standard error as soon as it is known."""
    table = as_table(TABLES[name]())
    found: dict[str, list[float]] = {method: [] for method in methods}
    for seed in range(n_splits):
        train, test = hold_out(table, seed)
        for method in methods:
            try:
                found[method].append(METHODS[method](seed).fit(train).score(test))
            except TrainingError:
                found[method].append(math.nan)
            print(f"{name}, split {seed}, {method}: {found[method][-1]:.2f}", file=sys.stderr, flush=True)
    return found


def _mean(values: list[float]) -> str:
    """The mean over the fits that gave a model, and how many did not."""
    finite = [value for value in values if not math.isnan(value)]
    n_failed = len(values) - len(finite)
    failed = f" ({n_failed} failed)" if n_failed else ""
    return f"{statistics.mean(finite) if finite else math.nan:.2f}{failed}"


def main() -> None:
    """Print one row per table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    arguments = parser.parse_args()
    methods = list(dict.fromkeys(("default", *arguments.methods, "CAM")))  # these two are always compared
    warnings.simplefilter("ignore")
    print(f"| table | {' | '.join(methods)} | default - CAM |\n|{'---|' * (len(methods) + 2)}")
    for name in arguments.tables:
        found = scores(name, arguments.splits, methods)
        gains = [ours - theirs for ours, theirs in zip(found["default"], found["CAM"], strict=True)]
        error = statistics.stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else float("nan")
        means = " | ".join(_mean(values) for values in found.values())
        print(f"| {name} | {means} | {statistics.mean(gains):+.2f} ± {error:.2f} |", flush=True)


if __name__ == "__main__":
    main()
