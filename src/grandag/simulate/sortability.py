"""How much of the causal order a simulated data set gives away for free.

Sortability by a score s is the share of correctly sorted pairs of cause and effect,

    sum_k |{(i, j): a directed path of length k leads from i to j, and s_i < s_j}|
    / sum_k |{(i, j): a directed path of length k leads from i to j}|

(ties count one half). Varsortability takes the variance as the score (Reisach, Seiler, Weichwald, "Beware of the
simulated DAG!", 2021), R2-sortability the share of a variable's variance that all others explain linearly (Reisach et
al., "A scale-invariant sorting criterion to find a causal order in additive noise models", 2023). At 1/2 the score says
nothing; near 0 or 1, sorting by it recovers the order without any learning, and results on such data say little.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grandag.table import as_table

__all__ = ["r2_sortability", "varsortability"]


def varsortability(data: Any, adjacency: np.ndarray) -> float:
    """Share of causes with a smaller variance than their effects; nan without edges.

    >>> float(varsortability([[0.0, 0.0], [1.0, 3.0]], np.array([[False, True], [False, False]])))
    1.0
    """
    values = as_table(data, min_rows=2, numbers_only=True).values
    return _sortability(values.var(axis=0), adjacency)


def r2_sortability(data: Any, adjacency: np.ndarray) -> float:
    """Share of causes that the other variables explain less well than their effects; nan without edges.

    Needs more rows than columns, and no variable that is constant or a combination of others.
    """
    values = as_table(data, min_rows=2, numbers_only=True).values
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.corrcoef(values, rowvar=False)
    if len(values) <= len(correlation) or np.linalg.matrix_rank(np.nan_to_num(correlation)) < len(correlation):
        return float("nan")
    return _sortability(1 - 1 / np.diagonal(np.linalg.inv(correlation)), adjacency)


def _sortability(scores: np.ndarray, adjacency: np.ndarray) -> float:
    equal = np.isclose(scores[:, None], scores, rtol=1e-9, atol=0)  # rescaled variances differ by rounding only
    smaller = (scores[:, None] < scores) & ~equal
    paths = edges = np.asarray(adjacency, dtype=np.float32) > 0
    n_pairs = n_sorted = 0.0
    while paths.any():  # a DAG has no path longer than its nodes
        n_pairs += paths.sum()
        n_sorted += (paths & smaller).sum() + (paths & equal).sum() / 2
        paths = paths.astype(np.float32) @ edges.astype(np.float32) > 0
    return float(n_sorted / n_pairs) if n_pairs else float("nan")
