"""DirectLiNGAM: a causal order by pairwise likelihood ratios (Shimizu et al. 2011; Hyvärinen and Smith 2013).

Of two standardised variables with correlation rho, and r_i = (x_i - rho x_j) / sqrt(1 - rho^2), the difference

    D_ij = H(x_j) + H(r_i) - H(x_i) - H(r_j)

of mutual informations is positive where x_i -> x_j explains the pair better. The variable that minimises

    sum_j min(0, D_ij)^2

is the first of the order; it is regressed out of all others, and the search starts again with what is left of them. The
entropy is Hyvärinen's (1998) approximation, u of mean 0 and variance 1:

    H(u) = (1 + log 2 pi) / 2 - k1 (E log cosh u - gamma)^2 - k2 (E u exp(-u^2 / 2))^2

D_ji = -D_ij, so that one comparison serves both; and no variable is compared further once its sum exceeds the smallest.
"""

from __future__ import annotations

import math

import numpy as np

from grandag.engine.compiled import compiled
from grandag.progress import Listener, Progress

__all__ = ["compare", "direct_order", "entropy"]

_K1, _K2, _GAMMA = 79.047, 7.4129, 0.37457

_DETERMINED = 1e-10
"""Part of a variance that rounding may leave of nothing."""

_BLOCK = 16
"""Comparisons between two looks at whether a variable is still in question."""

_FACTORS = 512
"""So many factors between 1 and 2 have a product in range."""


@compiled
def entropy(x: np.ndarray, y: np.ndarray, slope: float) -> float:
    """H of (x - slope y) / sqrt(1 - slope^2); logarithms of products in place of one per row."""
    n = x.size
    scale = 1.0 / math.sqrt(1.0 - slope * slope)
    log_cosh, odd, product = 0.0, 0.0, 1.0
    for row in range(n):
        u = (x[row] - slope * y[row]) * scale
        size = abs(u)
        log_cosh += size
        product *= 1.0 + math.exp(-2.0 * size)
        if row % _FACTORS == _FACTORS - 1:
            log_cosh += math.log(product)
            product = 1.0
        odd += u * math.exp(-0.5 * u * u)
    log_cosh = (log_cosh + math.log(product)) / n - math.log(2.0)
    return 0.5 * (1.0 + math.log(2.0 * math.pi)) - _K1 * (log_cosh - _GAMMA) ** 2 - _K2 * (odd / n) ** 2


@compiled
def compare(
    rows: np.ndarray, first: int, others: np.ndarray, correlation: np.ndarray, entropies: np.ndarray
) -> np.ndarray:
    """D of `first` with each of the others; 0 where one determines the other. A variable is a row of `rows`."""
    result = np.zeros(others.size)
    for k in range(others.size):
        other = others[k]
        rho = correlation[k]
        if 1.0 - rho * rho > _DETERMINED:
            of_first = entropy(rows[first], rows[other], rho)
            of_other = entropy(rows[other], rows[first], rho)
            result[k] = entropies[other] + of_first - entropies[first] - of_other
    return result


def direct_order(values: np.ndarray, precedes: np.ndarray, listener: Listener | None = None) -> list[int]:
    """The variables, causes first, of standardised columns (n, d).

    precedes[i, j], a strict partial order: i must come before j.
    """
    rows = np.array(values.T, dtype=np.float64, order="C")
    d = len(rows)
    left = np.arange(d)
    loss = np.zeros(d)
    order: list[int] = []
    while len(left):
        candidates = left[~precedes[np.ix_(left, left)].any(axis=0)]
        first = int(candidates[0]) if len(candidates) == 1 else _most_exogenous(rows, left, candidates, loss)
        order.append(first)
        left = left[left != first]
        _regress_out(rows, first, left)
        if listener is not None:
            listener(Progress("search", len(order), d))
    return order


def _most_exogenous(rows: np.ndarray, left: np.ndarray, candidates: np.ndarray, loss: np.ndarray) -> int:
    """The candidate of the smallest sum; `loss` are the sums of the step before, and become this step's."""
    among = np.clip(rows[left] @ rows[left].T / rows.shape[1], -1.0, 1.0)
    place = np.zeros(len(rows), dtype=np.int64)
    place[left] = np.arange(len(left))
    entropies = np.zeros(len(rows))
    entropies[left] = [entropy(rows[i], rows[i], 0.0) for i in left]
    likely = candidates[np.argsort(loss[candidates], kind="stable")]
    loss[left] = 0.0
    is_open = ~np.eye(len(left), dtype=bool)
    smallest, best = math.inf, int(likely[0])
    for i in likely.tolist():
        correlation, open_to = among[place[i]], is_open[place[i]]
        strongest = np.argsort(-np.abs(correlation), kind="stable")
        others = strongest[open_to[strongest]]
        for start in range(0, len(others), _BLOCK):
            if loss[i] >= smallest:
                break
            block = others[start : start + _BLOCK]
            difference = compare(rows, i, left[block], correlation[block], entropies)
            loss[i] += (np.minimum(difference, 0.0) ** 2).sum()
            loss[left[block]] += np.maximum(difference, 0.0) ** 2
            open_to[block] = False
            is_open[block, place[i]] = False
        if loss[i] < smallest:
            smallest, best = float(loss[i]), i
    return best


def _regress_out(rows: np.ndarray, first: int, left: np.ndarray) -> None:
    """What is left of the others, standardised; nothing, that is zeros, of those that `first` determines."""
    slope = np.clip(rows[left] @ rows[first] / rows.shape[1], -1.0, 1.0)
    variance = 1.0 - slope**2
    for k, i in enumerate(left):
        if variance[k] > _DETERMINED:
            rows[i] = (rows[i] - slope[k] * rows[first]) / math.sqrt(variance[k])
        else:
            rows[i] = 0.0
