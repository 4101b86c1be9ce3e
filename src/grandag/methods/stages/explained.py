"""One strength of edges that all methods share: the part of a variable's variance that an edge explains.

    explained(i -> j) = R^2(x_j given all parents) - R^2(x_j given all but i)

Both regressions are sums of continuous, piecewise linear functions of the parents, by least squares; R^2 is adjusted
for the number of coefficients. All of a variable come from one matrix of products of its own features and its parents',
so that an edge costs a small system of equations. Of a categorical column there is an indicator for each label: as a
child, their variances are summed.
"""

from __future__ import annotations

from itertools import chain, pairwise

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

    At most 2,000 rows, evenly spread, are used, and of these the ones that do not target the child.
    """
    everything = table.scaling.apply(spread_rows(table.values), "float64")
    free = None if table.regimes is None else spread_rows(table.regimes.free)
    d = everything.shape[1]
    of_all = [_features(column, kind) for column, kind in zip(everything.T, table.kinds, strict=True)]
    is_categorical = np.array(table.kinds) == "categorical"
    shares = np.full((d, d), np.nan)
    for j in np.flatnonzero(adjacency.any(axis=0)).tolist():
        rows, features = everything, of_all
        if free is not None and not free[:, j].all():
            rows = everything[free[:, j]]
            features = [_features(column, kind) for column, kind in zip(rows.T, table.kinds, strict=True)]
        parents = np.flatnonzero(adjacency[:, j]).tolist()
        n_pieces = int(np.clip(len(rows) // (_ROWS_PER_PIECE * len(parents)), 1, _MOST_PIECES))
        used = [features[j] if is_categorical[j] else features[j][:1]]
        used += [features[i] if is_categorical[i] else features[i][:n_pieces] for i in parents]
        matrix = np.concatenate(used)
        products = matrix @ matrix.T / len(rows)
        ends = np.cumsum([len(some) for some in used]).tolist()
        targets, *inputs = (list(range(start, end)) for start, end in pairwise([0, *ends]))
        total = _r2(products, targets, list(chain(*inputs)), len(rows))
        for place, parent in enumerate(parents):
            others = list(chain(*inputs[:place], *inputs[place + 1 :]))
            shares[parent, j] = max(total - _r2(products, targets, others, len(rows)), 0.0)
    return shares


def _features(column: np.ndarray, kind: str) -> np.ndarray:
    """What a column is made of, with mean 0: an indicator for each of its codes, or numbers in pieces."""
    is_categorical = kind == "categorical"
    found = np.asarray(np.unique(column)[:, None] == column, float) if is_categorical else _pieces(column)
    return np.asarray(found - found.mean(axis=1)[:, None])


def _pieces(column: np.ndarray) -> np.ndarray:
    """The column itself, and what of it lies above inner quantiles: (6, n), the median first."""
    knots = np.quantile(column, [0.5, 0.25, 0.75, 0.1, 0.9])
    return np.vstack([column, np.maximum(column - knots[:, None], 0.0)])


def _r2(products: np.ndarray, targets: list[int], inputs: list[int], n_rows: int) -> float:
    """Adjusted R^2 of regressions of some features on others, in all; 0 without any, or if all targets are constant."""
    variance = float(products[targets, targets].sum())
    if not inputs or variance <= 0:
        return 0.0
    variances, directions = np.linalg.eigh(products[np.ix_(inputs, inputs)])
    is_used = variances > _NEGLIGIBLE * variances[-1]
    along = directions[:, is_used].T @ products[np.ix_(inputs, targets)]
    left = max(1 - float((along**2 / variances[is_used, None]).sum()) / variance, 0.0)
    return 1 - left * (n_rows - 1) / max(n_rows - 1 - int(is_used.sum()), 1)
