"""GES with interventions beside the package gies: CPU seconds and classes, in the same process (`make bench-gies`).

    pip install gies  # into an environment that has grandag; it needs nothing but numpy
    python benchmarks/gies_package.py [--variables 20] [--tables 3]

Linear Gaussian tables, ER1, 100 observations and 50 rows under a perfect intervention on each variable in turn, in one
thread. The package gives every regime an intercept of its own, so the regimes are centred first: then both have the
same score. Its time is that of the search; ours that of a whole fit, with regressions and reasons to doubt the graph.
Without the package, our part alone.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from common import cpu_seconds
from grandag import GES
from grandag.graph import topological_order
from grandag.interventions import Regimes
from grandag.metrics import shd
from grandag.simulate.graphs import erdos_renyi
from grandag.table import Table, as_table

OBSERVATIONS, ROWS_OF_A_REGIME = 100, 50


def regimes_of(d: int, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Centred rows of each regime, the observations first, and the true graph."""
    rng = np.random.default_rng(seed)
    truth = erdos_renyi(d, d, rng)
    weights = truth * rng.uniform(0.5, 1.2, (d, d)) * rng.choice([-1, 1], (d, d))
    parts = []
    for target in (None, *range(d)):
        values = np.zeros((OBSERVATIONS if target is None else ROWS_OF_A_REGIME, d))
        for j in topological_order(truth):
            values[:, j] = (0 if j == target else values @ weights[:, j]) + rng.normal(0, 1, len(values))
        parts.append(values - values.mean(axis=0))
    return parts, truth


def as_one_table(parts: list[np.ndarray]) -> Table:
    """All rows, with their regimes."""
    d = parts[0].shape[1]
    of_row = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return replace(as_table(np.vstack(parts)), regimes=Regimes(of_row, np.eye(d + 1, d, k=-1, dtype=bool)))


def compare(d: int, seed: int) -> None:
    """One line."""
    parts, truth = regimes_of(d, seed)
    seconds, model = cpu_seconds(lambda: GES().fit(as_one_table(parts)))
    text = f"{d} variables, table {seed}: ours {seconds:.2f} CPU s, SHD {shd(truth, model.adjacency_)}"
    try:
        import gies
    except ImportError:
        print(f"{text}; the package gies is not installed: no comparison with it", flush=True)
        return
    targets = [[], *([j] for j in range(d))]
    needed, (theirs, _) = cpu_seconds(lambda: gies.fit_bic(parts, targets))
    n_apart = int((np.triu((theirs != 0) != model.adjacency_) | np.tril((theirs != 0) != model.adjacency_).T).sum())
    print(f"{text}; gies {needed:.2f} CPU s, {needed / seconds:.0f} times ours, SHD {shd(truth, theirs != 0)}, "
          f"{n_apart} pairs apart", flush=True)  # fmt: skip


def main() -> None:
    """A line per table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=20)
    parser.add_argument("--tables", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    GES().fit(as_one_table(regimes_of(4, 0)[0]))  # compiles
    with threadpool_limits(1):
        for seed in range(options.tables):
            compare(options.variables, seed)


if __name__ == "__main__":
    main()
