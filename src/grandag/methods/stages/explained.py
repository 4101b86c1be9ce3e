"""One strength of edges that all methods share: the part of a variable's variance that an edge explains.

    explained(i -> j) = R^2(x_j given all parents) - R^2(x_j given all but i)

Both regressions are sums of continuous, piecewise linear functions of the parents, by least squares; R^2 is adjusted
for the number of coefficients. All of a variable come from one matrix of products of its own features and its parents',
so that an edge costs a small system of equations.
"""

from __future__ import annotations

import numpy as np

from grandag.diagnostics import spread_rows
from grandag.table import Table

__all__ = ["explained"]

_MOST_PIECES = 6
_ROWS_PER_PIECE = 10
"""Fewer rows than this for each piece of each parent, and functions get fewer pieces."""
_NEGLIGIBLE = 1e-9
"""Directions of features with a smaller share of the variance are taken for rounding: discrete columns have such."""


def explained(table: Table, adjacency: np.ndarray) -> np.ndarray:
    """The share of each edge of a DAG, (d, d), from a table without constant columns; NaN where there is none.

    At most 2,000 rows, evenly spread, are used.
    """
    rows = table.scaling.apply(spread_rows(table.values), "float64")
    d = rows.shape[1]
    features = np.concatenate([_pieces(column) for column in rows.T])  # (6 d, n), those of a column together
    features -= features.mean(axis=1)[:, None]
    shares = np.full((d, d), np.nan)
    for j in np.flatnonzero(adjacency.any(axis=0)).tolist():
        parents = np.flatnonzero(adjacency[:, j]).tolist()
        used = features.reshape(d, _MOST_PIECES, -1)[[j, *parents]].reshape(-1, len(rows))
        products = used @ used.T / len(rows)
        n_pieces = int(np.clip(len(rows) // (_ROWS_PER_PIECE * len(parents)), 1, _MOST_PIECES))
        places = list(range(1, len(parents) + 1))
        total = _r2(products, places, n_pieces, len(rows))
        for place, parent in zip(places, parents, strict=True):
            others = [other for other in places if other != place]
            shares[parent, j] = max(total - _r2(products, others, n_pieces, len(rows)), 0.0)
    return shares


def _pieces(column: np.ndarray) -> np.ndarray:
    """The column itself, and what of it lies above inner quantiles: (6, n), the median first."""
    knots = np.quantile(column, [0.5, 0.25, 0.75, 0.1, 0.9])
    return np.vstack([column, np.maximum(column - knots[:, None], 0.0)])


def _r2(products: np.ndarray, parents: list[int], n_pieces: int, n_rows: int) -> float:
    """Adjusted R^2 of a regression of the first column on the first pieces of others.

    0 without any, or if the first is constant.
    """
    inputs = [_MOST_PIECES * parent + piece for parent in parents for piece in range(n_pieces)]
    target = 0
    if not inputs or products[target, target] <= 0:
        return 0.0
    variances, directions = np.linalg.eigh(products[np.ix_(inputs, inputs)])
    is_used = variances > _NEGLIGIBLE * variances[-1]
    along = directions[:, is_used].T @ products[inputs, target]
    left = max(1 - float((along**2 / variances[is_used]).sum()) / float(products[target, target]), 0.0)
    return 1 - left * (n_rows - 1) / max(n_rows - 1 - int(is_used.sum()), 1)
