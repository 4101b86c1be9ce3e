"""Gaps: the graph of a table with missing values, dropped or filled in, beside that of the full table.

    python benchmarks/gaps.py                          # ten sets
    python benchmarks/gaps.py --sets 3 --method cam
    python benchmarks/gaps.py --kind mixed             # a fifth of the columns each: labels, counts, heavy tails, ...
    python benchmarks/gaps.py --store FILE             # keeps each result, and computes none of them again

Tables of `grandag simulate` of ten nodes, ten edges expected and 1,000 rows, Gauss-ANM unless said. Values are missing
completely at random, or in every second column where the column beside it is large ("by another": the more so, the
larger its rank). SHD as mean ± standard deviation: of the full table, of the complete rows (`missing="drop"`; their
number is beside it), of the middle of five fits (`missing="impute"`) and of the consensus of these. "linear" is the
middle of five fits to tables that scikit-learn's IterativeImputer made with linear regressions and drawn noise: what
was not chosen; it takes no labels. "none": a set has too few complete rows, or labels.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from common import Store
from grandag.methods.registry import build
from grandag.metrics import shd
from grandag.simulate.files import simulate
from grandag.table import as_table

SHARES = (0.05, 0.1, 0.3)
_FITS, _FEWEST_ROWS = 5, 50


def gaps_of(values: np.ndarray, share: float, by_another: bool, rng: np.random.Generator) -> np.ndarray:
    """Which values are missing: so many of all of them, on average."""
    if not by_another:
        return rng.random(values.shape) < share
    ranks = values.argsort(axis=0).argsort(axis=0) / len(values)
    gaps = np.zeros(values.shape, dtype=bool)
    for j in range(0, values.shape[1] - 1, 2):
        chance = np.minimum(4 * share * ranks[:, j + 1], 1.0)  # 2 share in every second column
        gaps[:, j] = rng.random(len(values)) < chance
    return gaps


def fit(method: str, X: Any, kinds: Any, **parameters: Any) -> Any:
    """A fitted model, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build(method, {"kinds": kinds, **parameters}, seed=0).fit(X)


def linear_fits(method: str, frame: pd.DataFrame) -> np.ndarray:
    """The graph in the middle of five fits to tables completed by linear regressions."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    graphs = []
    for seed in range(_FITS):
        imputer = IterativeImputer(sample_posterior=True, max_iter=5, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            completed = imputer.fit_transform(frame)
        graphs.append(fit(method, pd.DataFrame(completed, columns=frame.columns), None).adjacency_)
    middle: np.ndarray = min(graphs, key=lambda one: sum((one != other).sum() for other in graphs))
    return middle


class Data(NamedTuple):
    """A table without gaps, its graph and its kinds."""

    frame: pd.DataFrame
    adjacency: np.ndarray
    kinds: dict[str, str] | None

    @classmethod
    def of(cls, kind: str, seed: int) -> Data:
        """A simulated table."""
        scenario = simulate(kind, n_nodes=10, n_edges=10, n_rows=1000, seed=seed)
        return cls(scenario.data, scenario.adjacency, scenario.configuration.get("kinds"))


def of_full_table(kind: str, method: str, seed: int) -> int:
    """SHD of the graph of the table without gaps."""
    data = Data.of(kind, seed)
    return int(shd(data.adjacency, fit(method, data.frame, data.kinds).adjacency_))


def of_gaps(kind: str, method: str, by_another: bool, share: float, seed: int) -> list[float | None]:
    """Rows left, and SHD of dropped rows, of the middle and the consensus of completed tables, and of linear ones."""
    data = Data.of(kind, seed)
    codes = as_table(data.frame, kinds=data.kinds).values
    gaps = gaps_of(codes, share, by_another, np.random.default_rng(seed))
    frame, n_left = data.frame.mask(gaps), int((~gaps.any(axis=1)).sum())
    graphs = [None] * 4
    if n_left >= _FEWEST_ROWS:
        graphs[0] = fit(method, frame, data.kinds, missing="drop").adjacency_
    imputed = fit(method, frame, data.kinds, missing="impute", imputations=_FITS)
    graphs[1:3] = imputed.adjacency_, imputed.consensus_
    if data.kinds is None:
        graphs[3] = linear_fits(method, frame)
    return [n_left, *(None if graph is None else int(shd(data.adjacency, graph)) for graph in graphs)]


def shown(distances: Sequence[Any]) -> str:
    """The mean, ± the standard deviation; nothing where a set has none."""
    values = np.array(distances, dtype=float)
    return f"{values.mean():.1f}±{values.std():.1f}" if np.isfinite(values).all() else "none"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--method", default="grandag")
    parser.add_argument("--kind", choices=("gauss-anm", "mixed"), default="gauss-anm")
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    store, what = Store(given.store), (given.kind, given.method)
    print("| missing | share | full table | dropped | rows left | imputed | consensus | linear |")
    print("|---|---|---|---|---|---|---|---|")
    full = shown([store.get(of_full_table, *what, seed) for seed in range(given.sets)])
    for by_another, share in itertools.product((False, True), SHARES):
        rows = [store.get(of_gaps, *what, by_another, share, seed) for seed in range(given.sets)]
        left, dropped, *others = zip(*rows, strict=True)
        texts = [full, shown(dropped), f"{np.mean(left):.0f}", *map(shown, others)]
        print(f"| {'by another' if by_another else 'at random'} | {share:.0%} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
