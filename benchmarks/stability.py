"""How far a graph depends on the seed: the share of edges that two fits of the same table have in common.

    python benchmarks/stability.py [--tables wine diabetes …] [--seeds 5]

The tables are those that come with scikit-learn, columns with a class or an outcome included (iris: the four
measurements). "shared" is the mean, over pairs of seeds, of the edges that both graphs have, direction included, by
those of one; "in all" counts the edges that every seed finds, of all that any finds. "evidence" is the range of the
default's total: how far the searches end apart.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

from common import cpu_seconds
from grandag import GraNDAG

TABLES = ("iris", "linnerud", "wine", "diabetes", "breast_cancer", "digits")
METHODS: dict[str, Callable[[int], Any]] = {
    "fast": lambda seed: GraNDAG.preset("fast", retrain=False, n_jobs=1, random_state=seed),
    "default": lambda seed: GraNDAG(retrain=False, n_jobs=1, random_state=seed),
}


class Agreement(NamedTuple):
    """How much the graphs of several seeds have in common."""

    shared: float
    in_all: int
    in_any: int


def table(name: str) -> pd.DataFrame:
    """One of scikit-learn's tables."""
    frame: pd.DataFrame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return frame.drop(columns="target") if name == "iris" else frame


def fit(method: Any, frame: pd.DataFrame) -> tuple[float, Any]:
    """CPU seconds, and the fitted method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cpu_seconds(lambda: method.fit(frame))


def agreement(graphs: np.ndarray) -> Agreement:
    """Of adjacency matrices, (seeds, d, d)."""
    shares = [(one & other).sum() / max(one.sum(), 1) for one, other in permutations(graphs, 2)]
    return Agreement(float(np.mean(shares)), int(graphs.all(axis=0).sum()), int(graphs.any(axis=0).sum()))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    print("| table | rows x columns | preset | edges | shared | in all / in any | evidence | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.tables:
        frame = table(name)
        for title, method in METHODS.items():
            fitted = [fit(method(seed), frame) for seed in range(arguments.seeds)]
            found = agreement(np.array([model.adjacency_.astype(bool) for _, model in fitted]))
            evidence = [model.evidence_ for _, model in fitted if title == "default"]
            cells = [
                name, f"{len(frame)} x {frame.shape[1]}", title,
                " ".join(str(len(model.edges_)) for _, model in fitted),
                f"{found.shared:.0%}", f"{found.in_all} / {found.in_any}",
                f"{min(evidence):.0f} to {max(evidence):.0f}" if evidence else "",
                f"{np.mean([seconds for seconds, _ in fitted]):.0f}",
            ]  # fmt: skip
            print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
