"""An order of the variables by their conditional variances (Chen, Drton and Wang 2019).

If all noises have the variance s, a variable whose causes have all been placed has the variance s given them, and one
with a cause that has not been placed has more. Each step therefore places next the variable with the smallest

    Var(x_j | the variables placed so far)
"""

from __future__ import annotations

import math

import numpy as np

from grandag.methods.lingam.parents import select_parents

__all__ = ["top_down_order"]

_DETERMINED = 1e-10
"""Part of a variance that rounding may leave of nothing."""

_ROWS_PER_VARIABLE = 5
"""With fewer, a regression on all variables describes the rows; it is then on those that are worth it."""


def top_down_order(correlation: np.ndarray, variance: np.ndarray, precedes: np.ndarray, n_rows: int) -> list[int]:
    """The variables, causes first; `variance` (d,) is that of the columns.

    precedes[i, j], a strict partial order: i must come before j.
    """
    d = len(variance)
    is_wide = n_rows < _ROWS_PER_VARIABLE * d
    left, order = np.ones(d, dtype=bool), list[int]()
    given_all = np.ones(d)  # variances given those placed so far, as a part of the columns' own
    factor = np.zeros((d, d))
    while left.any():
        rest = _given_the_best(correlation, left, order, n_rows) if is_wide else given_all
        can_be_next = left & ~precedes[left].any(axis=0)
        following = int(np.where(can_be_next, variance * np.maximum(rest, _DETERMINED), np.inf).argmin())
        k = len(order)
        if not is_wide and given_all[following] > _DETERMINED:
            row = correlation[following] - factor[:k, following] @ factor[:k]
            factor[k] = row / math.sqrt(given_all[following])
            given_all = given_all - factor[k] ** 2
        order.append(following)
        left[following] = False
    return order


def _given_the_best(correlation: np.ndarray, left: np.ndarray, order: list[int], n_rows: int) -> np.ndarray:
    """Variances given those placed so far that the extended BIC selects."""
    rest, placed, none = np.ones(len(left)), np.array(order, dtype=np.int64), np.array([], dtype=np.int64)
    price = math.log(n_rows) + 2 * math.log(max(len(order), 1))
    for j in np.flatnonzero(left) if order else ():
        chosen = select_parents(correlation, int(j), placed, none, n_rows, price)
        cross = correlation[chosen, j]
        rest[j] -= cross @ np.linalg.lstsq(correlation[np.ix_(chosen, chosen)], cross, rcond=None)[0]
    return rest
