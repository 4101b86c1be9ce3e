"""Parents of each variable among those before it in an order: stepwise linear regression by the extended BIC.

    n log Var(x_j | x_P) + penalty |P| (log n + 2 log c)

with c candidates (Chen and Chen 2008): the second term keeps the number of false edges from growing with the number of
candidates, which BIC alone does not. Parents are added one by one while that lowers it, then dropped while that does.
Everything is found from one correlation matrix.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["loss_without", "parents_in_order", "select_parents"]

_DETERMINED = 1e-10
"""Part of a variance that rounding may leave of nothing."""

_ROWS_PER_PARENT = 5
"""With fewer, a regression describes the rows, not the variable."""


def parents_in_order(
    correlation: np.ndarray,
    order: list[int],
    allowed: np.ndarray,
    required: np.ndarray,
    n_rows: int,
    penalty: float,
) -> np.ndarray:
    """The adjacency matrix: parents that come before, are allowed, and either required or worth their price."""
    adjacency = required.copy()
    for place, j in enumerate(order):
        before = np.array(order[:place], dtype=np.int64)
        candidates = before[allowed[before, j] & ~required[before, j]]
        price = penalty * (math.log(n_rows) + 2 * math.log(max(len(candidates), 1)))
        chosen = select_parents(correlation, j, candidates, np.flatnonzero(required[:, j]), n_rows, price)
        adjacency[chosen, j] = True
    return adjacency


def select_parents(
    correlation: np.ndarray, target: int, candidates: np.ndarray, required: np.ndarray, n_rows: int, price: float
) -> list[int]:
    """The candidates that are chosen beside the required parents."""
    chosen = _added(correlation, target, candidates, required, n_rows, price)
    while chosen:
        loss = n_rows * loss_without(correlation, target, [*required, *chosen])[len(required) :]
        weakest = int(loss.argmin())
        if loss[weakest] >= price:
            break
        del chosen[weakest]
    return chosen


def _added(
    correlation: np.ndarray, target: int, candidates: np.ndarray, required: np.ndarray, n_rows: int, price: float
) -> list[int]:
    """Add the candidate that explains most of what is left, while it is worth its price.

    One step of a Cholesky factorisation for each parent: `variance` and `covariance` are those of all variables, and of
    them with the target, given the parents so far.
    """
    factor: list[np.ndarray] = []
    variance, covariance = np.ones(len(correlation)), correlation[:, target].copy()

    def condition_on(parent: int) -> None:
        row = correlation[parent] - sum((before[parent] * before for before in factor), np.zeros(len(correlation)))
        row /= math.sqrt(max(variance[parent], _DETERMINED))
        covariance[:] -= row * row[target]
        variance[:] -= row**2
        factor.append(row)

    for parent in required:
        condition_on(int(parent))
    chosen: list[int] = []
    is_open = np.zeros(len(correlation), dtype=bool)
    is_open[candidates] = True
    while len(factor) < n_rows // _ROWS_PER_PARENT and variance[target] > _DETERMINED:
        is_open &= variance > _DETERMINED
        explained = np.where(is_open, covariance**2 / np.maximum(variance, _DETERMINED), 0.0)
        best = int(explained.argmax())
        part = min(explained[best] / variance[target], 1 - _DETERMINED)
        if not is_open[best] or -n_rows * math.log1p(-part) <= price:
            break
        condition_on(best)
        is_open[best] = False
        chosen.append(best)
    return chosen


def loss_without(correlation: np.ndarray, target: int, parents: list[int]) -> np.ndarray:
    """log Var(x_j | x_P without k) - log Var(x_j | x_P) of each parent k."""
    inverse = np.linalg.pinv(correlation[np.ix_(parents, parents)], rcond=1e-12, hermitian=True)
    slopes = inverse @ correlation[parents, target]
    variance = max(1.0 - float(slopes @ correlation[parents, target]), _DETERMINED)
    return np.asarray(np.log1p(slopes**2 / (np.maximum(np.diagonal(inverse), 1e-300) * variance)))
