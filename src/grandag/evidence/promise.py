"""The promise of further parents: does anything that a fit leaves unexplained depend on another variable?

With G = alpha alpha^T - S^-1 of a fit, alpha = S^-1 y, the derivative of the evidence by the variance of a new term T
of the covariance is 1/2 sum_ab G_ab T_ab. One factorisation serves all candidates k, on all rows, in three forms:

    T = k_k        the mean depends on x_k,
    T = K o k_k    the function of the present parents does,
    T = k_k, with alpha^2, centred, in place of alpha and nothing of S^-1
                   the spread does: an interaction whose partners are still missing.

k_k has unit length scale. Columns with their rows shuffled show what chance does.

Of very many candidates only the likeliest are asked. With k_k = sum_m phi_m phi_m^T from a few points, the first form
without S^-1 is sum_m (phi_m alpha)^2, and the third likewise: one product of a matrix and a vector for all candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chi2

from grandag.engine.compiled import compiled, inlined
from grandag.evidence.kernel import covariance, exponential
from grandag.evidence.regression import invert_covariance, matrices, unpack

__all__ = ["derivatives", "features", "largest_by_chance", "likeliest", "promises", "unexplained"]

_FIRST_EIGENVALUE = 2 / (1 + np.sqrt(5))
"""Of k_k with unit length scale, for a standard normal column; each is 1 minus this times the one before."""

_POINTS = np.linspace(-2.5, 2.5, 7)
"""The points that carry k_k: seven leave less than a hundredth of it out between them."""


def promises(found: np.ndarray, by_chance: np.ndarray) -> np.ndarray:
    """The largest of the three derivatives of each candidate, in standard deviations of what chance does."""
    deviation = by_chance.std(axis=1)
    standardised = (found - by_chance.mean(axis=1)[:, None]) / np.where(deviation > 0, deviation, np.inf)[:, None]
    largest: np.ndarray = standardised.max(axis=0)
    return largest


def largest_by_chance(n_candidates: int) -> float:
    """The promise that one of so many irrelevant candidates reaches.

    The first form is a sum of squares, chi-squared with one degree of freedom each and the eigenvalues of k_k as
    weights: for a normally distributed column 0.62, 0.24, 0.09 ..., of which the first decides about the tail.
    """
    ratio = 1 - _FIRST_EIGENVALUE
    eigenvalues = _FIRST_EIGENVALUE * ratio ** np.arange(20)
    tail = _FIRST_EIGENVALUE * chi2.isf(1 / max(n_candidates, 2), 1)
    return float((tail - eigenvalues.sum()) / np.sqrt(2 * np.square(eigenvalues).sum()))


def features(columns: np.ndarray) -> np.ndarray:
    """phi of each column (d, n): (d, points, n), such that k_k is about phi^T phi."""

    def kernel(x: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * np.square(x[..., None, :] - _POINTS[:, None]))

    whitening = np.linalg.inv(np.linalg.cholesky(kernel(_POINTS)))
    return np.stack([(whitening @ kernel(column)).astype(np.float32) for column in columns])


def likeliest(phi: np.ndarray, alpha: np.ndarray, n_wanted: int) -> np.ndarray:
    """The candidates, in ascending order, on which the mean or the spread of alpha depends most."""
    both = np.stack([alpha, _spread(alpha)]).astype(np.float32)
    strength = np.square(both @ phi.reshape(-1, phi.shape[-1]).T).reshape(2, *phi.shape[:2]).sum(axis=-1)
    strength /= np.median(strength, axis=1, keepdims=True)
    return np.sort(np.argsort(-strength.max(axis=0), kind="stable")[:n_wanted])


@compiled
def unexplained(inputs: Any, target: Any, log_parameters: Any, workspace: Any) -> Any:
    """alpha of a fit; K and G are left in the upper triangles of the workspace's first two matrices.

    Without inputs K = 0 and S = I.
    """
    n_inputs, n = inputs.shape
    kernel, weights, wide = matrices(workspace, n)
    alpha = target.astype(np.float64)
    if n_inputs == 0:
        kernel[:] = 0
        weights[:] = np.eye(n, dtype=np.float32)
    else:
        inverse_squares, interaction, additive, noise = unpack(log_parameters, n_inputs)
        covariance(inputs, inputs, inverse_squares, interaction, additive, True, kernel)
        weights[:] = kernel
        _, alpha = invert_covariance(weights, wide, target, noise, True)
    single = alpha.astype(np.float32)
    for a in range(n):
        for b in range(a, n):
            weights[a, b] = single[a] * single[b] - weights[a, b]
    return alpha


@compiled
def derivatives(alpha: Any, candidates: Any, workspace: Any) -> Any:
    """sum_{a<b} G_ab T_ab for the three forms of T, (3, number of candidates), after `unexplained`."""
    n = alpha.size
    kernel, weights, _ = matrices(workspace, n)
    spread = _spread(alpha).astype(np.float32)
    sums = np.zeros((3, candidates.shape[0], n), dtype=np.float32)
    terms, products = np.empty(n, dtype=np.float32), np.empty((3, n), dtype=np.float32)
    for a in range(n - 1):
        rest = slice(a + 1, n)
        products[0, rest] = weights[a, rest]
        products[1, rest] = weights[a, rest] * kernel[a, rest]
        products[2, rest] = spread[a] * spread[rest]
        for k in range(candidates.shape[0]):
            _terms(terms[rest], candidates[k, rest], candidates[k, a])
            for form in range(3):
                _accumulate(sums[form, k, rest], products[form, rest], terms[rest])
    return sums.astype(np.float64).sum(axis=2)


@compiled
def _spread(alpha: Any) -> Any:
    """alpha^2, standardised."""
    spread = alpha * alpha
    return (spread - spread.mean()) / max(spread.std(), 1e-12)


@inlined
def _terms(terms, values, value):
    for b in range(values.size):
        difference = values[b] - value
        terms[b] = exponential(np.float32(0.5) * difference * difference)


@inlined
def _accumulate(sums, weights, terms):
    for b in range(sums.size):
        sums[b] += weights[b] * terms[b]
