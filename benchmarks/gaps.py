"""Gaps: the graph of a table with missing values, dropped or filled in, beside that of the full table.

    python benchmarks/gaps.py                          # ten sets
    python benchmarks/gaps.py --sets 3 --method cam

Gauss-ANM tables of ten nodes, ten edges expected and 1,000 rows. Values are missing completely at random, or in
every second column where the column beside it is large ("by another": the more so, the larger its rank). SHD as mean ±
standard deviation: of the full table, of the complete rows (`missing="drop"`; their number is beside it), of the middle
of five fits (`missing="impute"`) and of the consensus of these. "linear" is the middle of five fits to tables that
scikit-learn's IterativeImputer made with linear regressions and drawn noise: what was not chosen.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd

from grandag.methods.registry import build
from grandag.metrics import shd
from grandag.simulate.files import simulate

SHARES = (0.05, 0.1, 0.3)
_FITS = 5


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


def fit(method: str, X: Any, **parameters: Any) -> Any:
    """A fitted model, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build(method, parameters, seed=0).fit(X)


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
        graphs.append(fit(method, pd.DataFrame(completed, columns=frame.columns)).adjacency_)
    middle: np.ndarray = min(graphs, key=lambda one: sum((one != other).sum() for other in graphs))
    return middle


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--method", default="grandag")
    given = parser.parse_args()
    print("| missing | share | full table | dropped | rows left | imputed | consensus | linear |")
    print("|---|---|---|---|---|---|---|---|")
    tables = [simulate("gauss-anm", n_nodes=10, n_edges=10, n_rows=1000, seed=seed) for seed in range(given.sets)]
    full = [shd(table.adjacency, fit(given.method, table.data).adjacency_) for table in tables]
    for by_another in (False, True):
        for share in SHARES:
            rows = []
            for seed, table in enumerate(tables):
                gaps = gaps_of(table.data.to_numpy(), share, by_another, np.random.default_rng(seed))
                frame = table.data.mask(gaps)
                n_left = int((~gaps.any(axis=1)).sum())
                dropped = np.nan
                if n_left >= 50:
                    dropped = shd(table.adjacency, fit(given.method, frame, missing="drop").adjacency_)
                imputed = fit(given.method, frame, missing="impute", imputations=_FITS)
                found = [dropped, n_left, *(shd(table.adjacency, graph) for graph in (
                    imputed.adjacency_, imputed.consensus_, linear_fits(given.method, frame)))]  # fmt: skip
                rows.append(found)
            left, several = [row[1] for row in rows], np.array(rows, dtype=float)
            columns = [np.array(full, dtype=float), several[:, 0], several[:, 2], several[:, 3], several[:, 4]]
            texts = [f"{c.mean():.1f}±{c.std():.1f}" if np.isfinite(c).all() else "too few rows" for c in columns]
            texts.insert(2, f"{np.mean(left):.0f}")
            name = "by another" if by_another else "at random"
            print(f"| {name} | {share:.0%} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
