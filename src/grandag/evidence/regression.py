"""The evidence of a Gaussian-process regression, exactly, with its gradient.

    log p(y | X) = -1/2 y^T S^-1 y - 1/2 log|S| - n/2 log(2 pi),    S = K + noise I

K is the covariance of `kernel.py`. Hyper-parameters are logarithms, in this order: length scales l_1..l_p, variance of
the interaction s_f, variance of an additive term s_a, noise variance. Inputs are (p, n), float32.

Two ways to the same number. `dense` factorises S, in float32 or, where the noise is too small for that, in float64;
it errs by less than 0.1 nats where the model fits at all. `low_rank` finds the few rows that carry K by pivoted
Cholesky, to a tolerance far below the noise, in float64; it gives up when they are too many. Many rows are cut into
blocks, whose evidence is added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grandag.engine.compiled import compiled
from grandag.evidence.kernel import covariance, derivative_sums
from grandag.evidence.lapack import factorise, invert, solve_lower, solve_upper

__all__ = ["block_evidence", "dense", "invert_covariance", "low_rank", "matrices", "new_workspace", "unpack"]

_TOLERANCE = 2e-5
"""Largest variance of a row that the pivots may leave unexplained, relative to the noise: costs below 0.05 nats."""
_SINGLE = 5e-7
"""The same relative to the variance of the function, which float32 does not resolve further."""
_LARGEST_RATIO_FOR_SINGLE = 400
"""Variance of the function relative to the noise up to which a factorisation in float32 errs by less than 0.05 nats."""
_RANK_SHARE = 0.12
"""`low_rank` is faster than `dense` up to this rank, as a share of the rows."""


def new_workspace(n_rows: int) -> np.ndarray:
    """Two matrices of float32 and one of float64: fresh memory for each call would cost as much as the kernel."""
    return np.empty(4 * n_rows**2, dtype=np.float32)


@compiled
def matrices(workspace: Any, n: int) -> tuple[Any, Any, Any]:
    """Two (n, n) matrices of float32 and one of float64 in the workspace."""
    size = n * n
    wide = workspace[: 2 * size].view(np.float64).reshape(n, n)
    return workspace[2 * size : 3 * size].reshape(n, n), workspace[3 * size : 4 * size].reshape(n, n), wide


@compiled
def block_evidence(
    inputs: Any, target: Any, log_parameters: Any, n_blocks: int, workspace: Any, wants_gradient: bool
) -> tuple[Any, Any]:
    """Sum over blocks of rows of the evidence with common hyper-parameters, and of its gradient."""
    n = target.size
    value, gradient = 0.0, np.zeros(log_parameters.size)
    for block in range(n_blocks):
        rows = slice(block * n // n_blocks, (block + 1) * n // n_blocks)
        x, y = np.ascontiguousarray(inputs[:, rows]), target[rows]
        is_exact, part, slope = False, 0.0, gradient
        if _looks_low_rank(log_parameters, x.shape[0], y.size):
            is_exact, part, slope = low_rank(x, y, log_parameters, wants_gradient)
        if not is_exact:
            part, slope = dense(x, y, log_parameters, workspace, wants_gradient)
        value += part
        gradient = gradient + slope
    return value, gradient


@compiled
def dense(inputs, target, log_parameters, workspace, wants_gradient):
    """Value and gradient -1/2 sum_ab (S^-1 - alpha alpha^T)_ab dS_ab, alpha = S^-1 y; -inf if S is not definite."""
    n_inputs, n = inputs.shape
    inverse_squares, interaction, additive, noise = unpack(log_parameters, n_inputs)
    matrix, _, wide = matrices(workspace, n)
    covariance(inputs, inputs, inverse_squares, interaction, additive, True, matrix)
    gradient = np.zeros(log_parameters.size)
    value, alpha = invert_covariance(matrix, wide, target, noise, wants_gradient)
    if wants_gradient and value > -np.inf:
        trace = _subtract_outer(matrix, alpha)
        sums = derivative_sums(inputs, inputs, inverse_squares, interaction, additive, True, matrix)
        _chain(sums, -0.5, log_parameters, gradient)
        gradient[-1] = -0.5 * noise * trace
    return value, gradient


@compiled
def invert_covariance(kernel, wide, target, noise, wants_inverse):
    """Evidence and alpha of S = K + noise I; K is then replaced by S^-1, if wanted. Only upper triangles are used."""
    if kernel[0, 0] <= _LARGEST_RATIO_FOR_SINGLE * noise:
        return _invert(kernel, target, noise, wants_inverse)
    wide[:] = kernel
    value, alpha = _invert(wide, target, noise, wants_inverse)
    if wants_inverse:
        kernel[:] = wide
    return value, alpha


@compiled
def _invert(matrix, target, noise, wants_inverse):
    n = target.size
    for a in range(n):
        matrix[a, a] += noise
    if not factorise(matrix):
        return -np.inf, np.zeros(n)
    half_determinant = 0.0
    for a in range(n):
        half_determinant += np.log(matrix[a, a])
    alpha = solve(matrix, target)
    fit = 0.0
    for a in range(n):
        fit += alpha[a] * target[a]
    if wants_inverse:
        invert(matrix)
    return -0.5 * fit - half_determinant - 0.5 * n * np.log(2 * np.pi), alpha


@compiled
def solve(factor, target):
    """alpha = L^-T L^-1 y, in float64, for L^T in the upper triangle of `factor`."""
    n = target.size
    alpha = target.astype(np.float64)
    for a in range(n):
        alpha[a] /= factor[a, a]
        for b in range(a + 1, n):
            alpha[b] -= factor[a, b] * alpha[a]
    # Four partial sums: one alone would wait for each addition.
    for a in range(n - 1, -1, -1):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        b = a + 1
        while b + 3 < n:
            s0 += factor[a, b] * alpha[b]
            s1 += factor[a, b + 1] * alpha[b + 1]
            s2 += factor[a, b + 2] * alpha[b + 2]
            s3 += factor[a, b + 3] * alpha[b + 3]
            b += 4
        while b < n:
            s0 += factor[a, b] * alpha[b]
            b += 1
        alpha[a] = (alpha[a] - (s0 + s1) - (s2 + s3)) / factor[a, a]
    return alpha


@compiled
def _subtract_outer(inverse, alpha):
    """S^-1 - alpha alpha^T in the upper triangle, off-diagonal entries doubled for their twins; returns the trace."""
    trace = 0.0
    single = alpha.astype(np.float32)
    for a in range(single.size):
        row, factor = inverse[a], single[a]
        for b in range(a + 1, single.size):
            row[b] = np.float32(2) * (row[b] - factor * single[b])
        row[a] -= factor * factor
        trace += row[a]
    return trace


@compiled
def unpack(log_parameters, n_inputs):
    """w_i = 1 / (2 l_i^2), s_f and s_a in float32; the noise variance."""
    inverse_squares = (0.5 * np.exp(-2 * log_parameters[:n_inputs])).astype(np.float32)
    interaction, additive = np.exp(log_parameters[n_inputs : n_inputs + 2]).astype(np.float32)
    return inverse_squares, interaction, additive, np.exp(log_parameters[-1])


@compiled
def _chain(sums, factor, log_parameters, gradient):
    """Derivatives by (w, s_f, s_a) to derivatives by the logarithms: dw / dlog l = -2 w."""
    n_inputs = sums.size - 2
    for k in range(sums.size):
        slope = -np.exp(-2 * log_parameters[k]) if k < n_inputs else np.exp(log_parameters[k])
        gradient[k] += factor * slope * sums[k]


@compiled
def _looks_low_rank(log_parameters, n_inputs, n):
    """Whether pivots are worth the attempt, by a rule of thumb for normally distributed inputs."""
    rank = 1.0
    for i in range(n_inputs):
        rank *= 1 + 4.5 * np.exp(-log_parameters[i])
    return rank < 2 * _RANK_SHARE * n


@compiled
def low_rank(inputs, target, log_parameters, wants_gradient):
    """Whether few rows Z carry K = K_nz K_zz^-1 K_zn; value and gradient if they do.

    With K_zz = L L^T, A = L^-1 K_zn and B = noise I + A A^T: log|S| = (n - m) log noise + log|B|,
    alpha = (y - A^T B^-1 A y) / noise, and the weights of dK_zn and dK_zz are v alpha^T - R and (R P^T - v v^T) / 2,
    where P = L^-T A, R = L^-T B^-1 A, v = P alpha.
    """
    n_inputs, n = inputs.shape
    inverse_squares, interaction, additive, noise = unpack(log_parameters, n_inputs)
    gradient = np.zeros(log_parameters.size)
    max_rank = int(_RANK_SHARE * n)
    pivots, rows = _pivots(inputs, inverse_squares, interaction, additive, noise, max_rank)
    m = pivots.size
    if m == 0:
        return False, 0.0, gradient
    A = np.ascontiguousarray(rows[:m])
    B = np.dot(A, A.T)
    for k in range(m):
        B[k, k] += noise
    inner = A @ target.astype(np.float64)
    if not factorise(B):
        return False, 0.0, gradient
    solved = inner.copy().reshape(1, m)
    solve_lower(B, solved)
    half_determinant = 0.5 * (n - m) * np.log(noise)
    fit = 0.0
    for a in range(n):
        fit += np.float64(target[a]) ** 2
    for k in range(m):
        half_determinant += np.log(B[k, k])
        fit -= solved[0, k] ** 2
    value = -0.5 * fit / noise - half_determinant - 0.5 * n * np.log(2 * np.pi)
    if wants_gradient:
        solve_upper(B, solved)
        alpha = (target - solved[0] @ A) / noise
        upper = np.ascontiguousarray(A[:, pivots])  # L^T, as the solvers read it
        inverse_B = np.eye(m)
        solve_lower(B, inverse_B)
        solve_upper(B, inverse_B)
        R = np.ascontiguousarray(np.dot(A.T, inverse_B))
        solve_upper(upper, R)
        v = solved.copy()
        solve_upper(upper, v)
        middle = np.eye(m) - noise * inverse_B
        solve_upper(upper, middle)
        middle = np.ascontiguousarray(middle.T)
        solve_upper(upper, middle)
        cross = (v.reshape(m, 1) * alpha.reshape(1, n) - R.T).astype(np.float32)
        within = (0.5 * (middle - v.reshape(m, 1) * v.reshape(1, m))).astype(np.float32)
        z = np.ascontiguousarray(inputs[:, pivots])
        sums = derivative_sums(z, inputs, inverse_squares, interaction, additive, False, cross)
        sums += derivative_sums(z, z, inverse_squares, interaction, additive, False, within)
        _chain(sums, 1.0, log_parameters, gradient)
        trace = (n - m) / noise + np.trace(inverse_B)
        gradient[-1] = 0.5 * noise * (np.dot(alpha, alpha) - trace)
    return True, value, gradient


@compiled
def _pivots(inputs, inverse_squares, interaction, additive, noise, max_rank):
    """Pivoted Cholesky: the chosen rows Z and A = L^-1 K_zn; no rows if more than `max_rank` would be needed."""
    n_inputs, n = inputs.shape
    variance = interaction + n_inputs * additive
    tolerance = max(_TOLERANCE * noise, _SINGLE * variance)
    residual = np.full(n, np.float64(variance))
    A = np.empty((max_rank, n))
    chosen = np.empty(max_rank, dtype=np.int64)
    kernel_row = np.empty((1, n), dtype=np.float32)
    point = np.empty((n_inputs, 1), dtype=np.float32)
    for k in range(max_rank):
        pivot = np.argmax(residual)
        if residual[pivot] <= tolerance:
            return chosen[:k], A
        chosen[k] = pivot
        point[:, 0] = inputs[:, pivot]
        covariance(point, inputs, inverse_squares, interaction, additive, False, kernel_row)
        row = A[k]
        row[:] = kernel_row[0]
        for previous in range(k):
            factor, other = A[previous, pivot], A[previous]
            for a in range(n):
                row[a] -= factor * other[a]
        scale = 1 / np.sqrt(residual[pivot])
        for a in range(n):
            row[a] *= scale
            residual[a] -= row[a] * row[a]
        residual[pivot] = 0
    if residual.max() <= tolerance:
        return chosen, A
    return chosen[:0], A
