"""The promise of further parents: does anything that a fit leaves unexplained depend on another variable?

With G = alpha alpha^T - S^-1 of a fit, alpha = S^-1 y, the derivative of the evidence by the variance of a new term T
of the covariance is 1/2 sum_ab G_ab T_ab. One factorisation serves all candidates k, on all rows, in three forms:

    T = k_k        the mean depends on x_k,
    T = K o k_k    the function of the present parents does,
    T = k_k, with alpha^2, centred, in place of alpha and nothing of S^-1
                   the spread does: an interaction whose partners are still missing.

k_k has unit length scale. Columns with their rows shuffled show what chance does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grandag.engine.compiled import compiled, inlined
from grandag.evidence.kernel import covariance, exponential
from grandag.evidence.regression import invert_covariance, matrices, unpack

__all__ = ["derivatives", "promises"]


def promises(found: np.ndarray, by_chance: np.ndarray) -> np.ndarray:
    """The largest of the three derivatives of each candidate, in standard deviations of what chance does."""
    deviation = by_chance.std(axis=1)
    standardised = (found - by_chance.mean(axis=1)[:, None]) / np.where(deviation > 0, deviation, np.inf)[:, None]
    largest: np.ndarray = standardised.max(axis=0)
    return largest


@compiled
def derivatives(inputs: Any, target: Any, log_parameters: Any, candidates: Any, workspace: Any) -> Any:
    """sum_{a<b} G_ab T_ab for the three forms of T, (3, number of candidates)."""
    n = target.size
    kernel, weights, wide = matrices(workspace, n)
    alpha = _weights(inputs, target, log_parameters, kernel, weights, wide)
    spread = alpha * alpha
    spread = ((spread - spread.mean()) / max(spread.std(), 1e-12)).astype(np.float32)
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


@inlined
def _terms(terms, values, value):
    for b in range(values.size):
        difference = values[b] - value
        terms[b] = exponential(np.float32(0.5) * difference * difference)


@inlined
def _accumulate(sums, weights, terms):
    for b in range(sums.size):
        sums[b] += weights[b] * terms[b]


@compiled
def _weights(inputs, target, log_parameters, kernel, weights, wide):
    """K and G in the upper triangles of these matrices, and alpha; K = 0 and S = I if there are no inputs."""
    n_inputs, n = inputs.shape
    noise = 1.0
    if n_inputs == 0:
        kernel[:] = 0
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
