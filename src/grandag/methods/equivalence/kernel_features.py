"""Gaussian kernels of sets of variables, and a few features that span them.

    k(a, b) = exp(-1/2 sum_l (a_l - b_l)^2 / w_l^2),    w_l = c sqrt(m_l / 2)

where m_l is the median of the squared distances between different values of variable l (Huang et al. 2018). Points are
values divided by their widths, so that every kernel here has unit width.

The eigenvalues of a kernel matrix K (n, n) decay so quickly that a few columns of a Cholesky factor are enough, each
with the pivot of the largest remaining diagonal: K = F F' up to a remainder whose diagonal is known at every step. That
costs n r^2 for r features.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

__all__ = [
    "CROSS_VALIDATED_WIDTH",
    "MARGINAL_WIDTH",
    "Features",
    "gaussian_kernel",
    "incomplete_cholesky",
    "kernel_width",
    "remainder_allowed",
]

CROSS_VALIDATED_WIDTH, MARGINAL_WIDTH = 2.0, 2.5
"""The factors c of the two likelihoods."""

_ROUNDING = 1e-12
"""A diagonal below this is noise of the subtractions that it came from."""

_MOST_LEFT_OUT = 1e-3
"""Largest remainder, as a share of a kernel matrix's mean diagonal: what the default ridge of 0.01 allows."""


def kernel_width(column: np.ndarray, factor: float) -> float:
    """w = c sqrt(m / 2), with the median m of the squared distances between different values; n log n."""
    ordered = np.sort(column)
    n_pairs, n_equal = len(ordered) * (len(ordered) - 1) // 2, _pairs_within(ordered, 0.0)
    n_different = n_pairs - n_equal
    lower, upper = (_distance_of_rank(ordered, n_equal + rank) for rank in _middle(n_different))
    return 0.5 * factor * math.hypot(lower, upper)


def _middle(n: int) -> tuple[int, int]:
    """The ranks from 1 whose values a median averages; the same twice if n is odd."""
    return (n + 1) // 2, n // 2 + 1


def _distance_of_rank(ordered: np.ndarray, rank: int) -> float:
    """The rank-th smallest distance of two values, by bisection down to neighbouring numbers."""
    low, high = 0.0, float(ordered[-1] - ordered[0])
    while low < (middle := 0.5 * (low + high)) < high:
        if _pairs_within(ordered, middle) >= rank:
            high = middle
        else:
            low = middle
    return high


def _pairs_within(ordered: np.ndarray, distance: float) -> int:
    """How many pairs are at most this far apart."""
    return int((np.searchsorted(ordered, ordered + distance, side="right") - np.arange(1, len(ordered) + 1)).sum())


def gaussian_kernel(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """k(a, b) for all rows a of `points` (n, p) and b of `others` (m, p), as (n, m)."""
    squares = np.zeros((len(points), len(others)))
    for column, other in zip(points.T, others.T, strict=True):
        squares += (column[:, None] - other) ** 2
    return np.asarray(np.exp(-0.5 * squares))


def remainder_allowed(tolerance: float, ridge: float) -> float:
    """The mean of k(x, x) that features may leave out: a share of the ridge, and little even if that is large."""
    return min(tolerance * ridge, _MOST_LEFT_OUT)


class Features(NamedTuple):
    """F (n, r) with K = F F' up to the tolerance, and the rows (r,) that were pivots: F[pivots] is triangular."""

    values: np.ndarray
    pivots: np.ndarray


def incomplete_cholesky(points: np.ndarray, tolerance: float, max_rank: int) -> Features:
    """Features until the mean over the rows of k(x, x) - f(x)'f(x), which is 1 without any, is within the tolerance.

    The first pivot is the row that is nearest to the mean, so that the order of the rows does not matter.
    """
    coordinates, n, rank = np.ascontiguousarray(points.T), len(points), 0
    columns = np.empty((min(n, max_rank), n))
    pivots = np.empty(len(columns), dtype=np.int64)
    remainder = np.ones(n)
    pivot = int(((points - points.mean(axis=0)) ** 2).sum(axis=1).argmin())
    while rank < len(columns) and remainder.sum() > tolerance * n and remainder[pivot] > _ROUNDING:
        squares = ((coordinates - coordinates[:, pivot, None]) ** 2).sum(axis=0)
        column = np.exp(-0.5 * squares) - columns[:rank, pivot] @ columns[:rank]
        column /= math.sqrt(remainder[pivot])
        remainder = np.maximum(remainder - column**2, 0.0)
        remainder[pivot] = 0.0
        columns[rank], pivots[rank] = column, pivot
        pivot, rank = int(remainder.argmax()), rank + 1
    return Features(columns[:rank].T, pivots[:rank])
