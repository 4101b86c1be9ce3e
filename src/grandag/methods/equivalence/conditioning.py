"""Gaussian variables given others, from their covariance matrix: what PC tests and GES scores.

With L for the Cholesky factor of the covariance of (given..., first, second), in this order,

    Var(first | given)           = L[m, m]^2
    Corr(first, second | given)  = L[m + 1, m] / sqrt(L[m + 1, m]^2 + L[m + 1, m + 1]^2)

A given variable that the ones before it determine, to within rounding, adds nothing and is skipped.
"""

from __future__ import annotations

import math

import numpy as np

from grandag.engine.compiled import compiled

__all__ = ["conditional_variance", "conditional_variances", "correlate_pairs", "variance_ratios"]

_DETERMINED = 1e-12
"""Part of a variance that rounding may leave of nothing."""

_LARGEST = 1 - 1e-15
"""Largest absolute correlation; its artanh is finite."""


@compiled
def _factor(covariance: np.ndarray, nodes: np.ndarray, size: int, factor: np.ndarray) -> None:
    """The first `size` rows of the Cholesky factor for these nodes; rows of determined nodes have a zero pivot."""
    for a in range(size):
        for b in range(a + 1):
            total = covariance[nodes[a], nodes[b]]
            for k in range(b):
                total -= factor[a, k] * factor[b, k]
            if b < a:
                factor[a, b] = total / factor[b, b] if factor[b, b] > 0.0 else 0.0
            elif total > _DETERMINED * covariance[nodes[a], nodes[a]]:
                factor[a, a] = math.sqrt(total)
            else:
                factor[a, a] = 0.0


@compiled
def conditional_variance(covariance: np.ndarray, nodes: np.ndarray) -> float:
    """The variance of the last of these nodes given the others; at least 1e-12 of its own variance."""
    size = nodes.size
    factor = np.zeros((size, size))
    _factor(covariance, nodes, size, factor)
    smallest = _DETERMINED * covariance[nodes[size - 1], nodes[size - 1]]
    return max(factor[size - 1, size - 1] ** 2, smallest)


@compiled
def conditional_variances(covariance: np.ndarray, node: int, given: np.ndarray) -> np.ndarray:
    """(k,) the variance of a node given each row of `given` (k, p), as `conditional_variance` has it."""
    variances = np.empty(given.shape[0])
    nodes = np.empty(given.shape[1] + 1, np.int64)
    nodes[-1] = node
    for k in range(given.shape[0]):
        nodes[:-1] = given[k]
        variances[k] = conditional_variance(covariance, nodes)
    return variances


@compiled
def variance_ratios(covariance: np.ndarray, nodes: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """(k,) what is left of the variance of the last node given the others if each of the candidates is given, too.

    Var(last | others, x) / Var(last | others) = 1 - Corr(last, x | others)^2, for all x from one factor: row a of
    `parts` (p, k) is what the a-th of the others adds to x.
    """
    size, last = nodes.size - 1, nodes[-1]
    factor = np.zeros((size + 1, size + 1))
    _factor(covariance, nodes, size + 1, factor)
    parts = np.empty((size, candidates.size))
    left, cross = np.empty(candidates.size), np.empty(candidates.size)
    for k in range(candidates.size):
        left[k], cross[k] = covariance[candidates[k], candidates[k]], covariance[last, candidates[k]]
    for a in range(size):
        if factor[a, a] == 0.0:
            parts[a] = 0.0
            continue
        for k in range(candidates.size):
            parts[a, k] = covariance[nodes[a], candidates[k]]
        for b in range(a):
            for k in range(candidates.size):
                parts[a, k] -= factor[a, b] * parts[b, k]
        for k in range(candidates.size):
            parts[a, k] /= factor[a, a]
            left[k] -= parts[a, k] * parts[a, k]
            cross[k] -= parts[a, k] * factor[size, a]
    own = covariance[last, last]
    before = factor[size, size] ** 2
    smallest = _DETERMINED * own
    ratios = np.ones(candidates.size)
    for k in range(candidates.size):
        if left[k] > _DETERMINED * covariance[candidates[k], candidates[k]] and before > smallest:
            ratios[k] = max(before - cross[k] * (cross[k] / left[k]), smallest) / before
    return ratios


@compiled
def _correlation(factor: np.ndarray, size: int) -> float:
    """The absolute partial correlation of the last two of `size` nodes given the others; 0 if one is determined."""
    own, rest = factor[size - 1, size - 2], factor[size - 1, size - 1]
    if factor[size - 2, size - 2] == 0.0:
        return 0.0
    scale = math.sqrt(own * own + rest * rest)
    return abs(own) / scale if scale > 0.0 else 0.0


@compiled
def correlate_pairs(
    correlation: np.ndarray,
    first: int,
    pairs: np.ndarray,
    adjacent: np.ndarray,
    size: int,
    scale: float,
    smallest: np.ndarray,
    separators: np.ndarray,
) -> int:
    """Correlate `first` with each second > first with pairs[first, second], given each set of `size` adjacent nodes.

    The sets are those of nodes adjacent to the first, then those adjacent to the second. Keeps in `smallest` (d, d) the
    smallest z = scale * artanh |partial correlation| of each pair and in `separators` (d, d, at least size) the set
    that gave it, filled up with -1; both for first < second. Returns how many tests were done.
    """
    d = correlation.shape[0]
    nodes, candidates, chosen = np.empty(size + 2, np.int64), np.empty(d, np.int64), np.empty(size, np.int64)
    factor = np.zeros((size + 2, size + 2))
    n_tests = 0
    for second in range(first + 1, d):
        if not pairs[first, second]:
            continue
        nodes[size], nodes[size + 1] = first, second
        for centre in (first, second):
            n_candidates = _find_candidates(adjacent, centre, first, second, candidates)
            if n_candidates < size or (centre == second and size == 0):
                continue
            for k in range(size):
                chosen[k] = k
            has_next = True
            while has_next:
                for k in range(size):
                    nodes[k] = candidates[chosen[k]]
                _factor(correlation, nodes, size + 2, factor)
                n_tests += 1
                value = scale * math.atanh(min(_correlation(factor, size + 2), _LARGEST))
                if value < smallest[first, second]:
                    smallest[first, second] = value
                    for k in range(separators.shape[2]):
                        separators[first, second, k] = nodes[k] if k < size else -1
                has_next = _next_choice(chosen, size, n_candidates)
    return n_tests


@compiled
def _find_candidates(adjacent: np.ndarray, centre: int, first: int, second: int, candidates: np.ndarray) -> int:
    """Fill in the nodes adjacent to the centre, but for the first and the second; returns how many they are."""
    n = 0
    for node in range(adjacent.shape[0]):
        if adjacent[centre, node] and node != first and node != second:
            candidates[n] = node
            n += 1
    return n


@compiled
def _next_choice(chosen: np.ndarray, size: int, n: int) -> bool:
    """The next `size` of n in lexicographic order; False after the last."""
    k = size - 1
    while k >= 0 and chosen[k] == n - size + k:
        k -= 1
    if k < 0:
        return False
    chosen[k] += 1
    for later in range(k + 1, size):
        chosen[later] = chosen[later - 1] + 1
    return True
