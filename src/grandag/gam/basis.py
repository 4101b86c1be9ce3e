"""Thin plate regression splines in one dimension (Wood 2003), at a cost linear in the number of rows.

Over the sorted distinct values x_1 < ... < x_m of a column, E_ab = |x_a - x_b|^3 / 12 and T = [1, x]. The k eigenpairs
(U, D) of E that are largest in absolute value span the basis; Z spans the null space of T'U. A smooth function is

    s(x) = sum_a v_a |x - x_a|^3 / 12 + alpha_0 + alpha_1 x,    v = U Z delta,    penalty delta' Z'DZ delta

Neither E nor a design matrix over it is ever formed: |x - x_a|^3 is a cubic polynomial on either side of x_a, so sums
over a are running sums over the sorted values.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, eigh_tridiagonal, lapack

from grandag.engine.compiled import compiled
from grandag.table import MANY_ROWS, in_double, spread

__all__ = ["MAX_KNOTS", "Curve", "SplineBasis", "spline_basis"]

MAX_KNOTS = 2000
"""Columns with more distinct values than this get a basis from that many evenly spread order statistics."""

_BLOCK_ROWS = 65_536
"""Rows that are in double precision at a time."""

_SMALLEST_VARIANCE = 1e-11
"""Smallest variance of a combination of functions of variance 1, beside the line; less is rounding."""

_SAME = 1e-10
"""Values that differ by less than this part of the standard deviation differ by rounding."""

_DENSE_BELOW = 40
"""With so few distinct values a dense eigenproblem is cheaper and safer than an iterative one."""


@dataclass(frozen=True)
class _Functions:
    """The k - 2 bending functions of a column and its line, as they come."""

    knots: np.ndarray  # (m,) sorted, centred and scaled
    coefficients: np.ndarray  # (m, k - 2) v above
    centre: float
    scale: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values (n, k - 1), the line last."""
        scaled = (np.asarray(x, dtype=np.float64) - self.centre) / self.scale
        return np.column_stack([_kernel_sums(self.knots, self.coefficients, scaled), scaled])


@dataclass(frozen=True)
class Curve:
    """s(x) = sum_a v_a |z - z_a|^3 / 12 + alpha_0 + alpha_1 z, z = (x - centre) / scale; a line beyond the knots."""

    knots: np.ndarray  # (m,) z_a
    weights: np.ndarray  # (m,) v_a
    intercept: float
    slope: float
    centre: float
    scale: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values (n,) at x."""
        z = (np.asarray(x, dtype=np.float64) - self.centre) / self.scale
        inside = np.clip(z, self.knots[0], self.knots[-1])
        return np.asarray(self._at(inside) + self._end_slopes[np.where(z < inside, 0, 1)] * (z - inside))

    @property
    def is_consistent(self) -> bool:
        """Are there knots in ascending order with one weight each?"""
        has_shapes = self.knots.ndim == 1 and self.knots.size > 0 and self.knots.shape == self.weights.shape
        return has_shapes and bool((np.diff(self.knots) > 0).all()) and self.scale > 0

    def _at(self, z: np.ndarray) -> np.ndarray:
        bending = _kernel_sums(self.knots, self.weights[:, None].copy(), np.ascontiguousarray(z))[:, 0]
        return np.asarray(self.intercept + self.slope * z + bending)

    @functools.cached_property
    def _end_slopes(self) -> np.ndarray:
        """Beyond the knots sum_a v_a = sum_a v_a z_a = 0 leaves the slopes alpha_1 -+ sum_a v_a z_a^2 / 4."""
        bend = float(self.weights @ self.knots**2) / 4
        return np.array([self.slope - bend, self.slope + bend])


class MgcvForm(NamedTuple):
    """What decides the course of mgcv's computation and depends on how it writes the functions."""

    sizes: np.ndarray  # (k - 2, 2) of functions with a penalty: mean squares and penalties
    pivots: np.ndarray  # (k - 2,) of the Cholesky factor of the penalty, largest first
    factor: np.ndarray  # (k - 2, k - 1) that factor, for the columns of the basis: factor' factor is diag(penalty)


@dataclass(frozen=True)
class SplineBasis:
    """Functions of one column: k - 2 that bend, orthonormal in the penalty's sense, then the line.

    Columns are scaled so that each function has mean 0 and mean square 1 over the rows it was made from, and so that
    penalty and cross-products of a column are both diagonal: `penalty[c]` is the penalty of the c-th function.
    """

    functions: _Functions
    means: np.ndarray  # (k - 1,) of the functions over the rows
    products: np.ndarray  # (k - 1, k - 1) their covariances
    bending_penalty: np.ndarray  # (k - 2, k - 2) of the bending functions
    rotation: np.ndarray  # (k - 1, k - 1) from centred functions to columns
    penalty: np.ndarray  # (k - 1,) of the columns, the last one 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The columns (n, k - 1) at the values x."""
        return np.asarray((self.functions(x) - self.means) @ self.rotation)

    def combine(self, coefficients: np.ndarray) -> Curve:
        """The sum of the columns with these coefficients (k - 1,), as one function."""
        functions, weights = self.functions, self.rotation @ coefficients
        intercept = -float(self.means @ weights)
        bending = functions.coefficients @ weights[:-1]
        return Curve(functions.knots, bending, intercept, float(weights[-1]), functions.centre, functions.scale)

    @functools.cached_property
    def mgcv_form(self) -> MgcvForm:
        """mgcv has columns [bending, 1, line] of mean square 1, then a reflection that takes their sums to one axis.

        Its other k - 1 columns have mean 0. The penalty in them is factored with pivoting.
        """
        n_bending = len(self.bending_penalty)
        if n_bending == 0:
            return MgcvForm(np.zeros((0, 2)), np.zeros(0), np.zeros((0, 1)))
        positions = [*range(n_bending), n_bending + 1]
        second_moments = np.zeros((n_bending + 2, n_bending + 2))
        second_moments[np.ix_(positions, positions)] = self.products + np.outer(self.means, self.means)
        second_moments[n_bending, positions] = second_moments[positions, n_bending] = self.means
        second_moments[n_bending, n_bending] = 1.0
        size = np.sqrt(np.diagonal(second_moments))
        reflection = _reflection(second_moments[n_bending] / size) / size[:, None]
        penalty = reflection[:n_bending].T @ self.bending_penalty @ reflection[:n_bending]
        sizes = np.column_stack(
            [np.einsum("ic,ij,jc->c", reflection, second_moments, reflection), np.diagonal(penalty)]
        )
        factor, order, _, _ = lapack.dpstrf(penalty)
        factor = np.triu(factor)[:n_bending]
        pivots = np.diagonal(factor) ** 2
        factor[:, order - 1] = factor.copy()
        to_reflected = np.linalg.solve(reflection[positions], self.rotation)
        return MgcvForm(sizes[sizes[:, 1] > 1e-12 * sizes[:, 1].max()], pivots, factor @ to_reflected)


def _reflection(sums: np.ndarray) -> np.ndarray:
    """The columns, without the first, of the reflection that takes `sums` to the first axis."""
    normal = sums.copy()
    normal[0] += np.copysign(np.linalg.norm(normal), normal[0])
    return np.asarray((np.eye(len(sums)) - np.outer(normal, 2 / (normal @ normal) * normal))[:, 1:])


def spline_basis(x: np.ndarray, k: int) -> SplineBasis:
    """The basis of rank k (fewer for a column with fewer distinct values) over the rows of a column.

    Of very many rows, knots are from some, evenly spread, and from both ends of the column.
    """
    centre = float(x.mean(dtype=np.float64))
    scale = math.sqrt(sum(((block - centre) ** 2).sum() for block in in_double(x, _BLOCK_ROWS)) / len(x))
    some = x if len(x) <= MANY_ROWS else np.append(x[spread(len(x), MANY_ROWS)], [x.min(), x.max()])
    knots = (_representatives(_distinct(some.astype(np.float64), scale)) - centre) / scale
    k = min(k, len(knots))
    coefficients, penalty = _bending_functions(knots, k) if k > 2 else (np.zeros((len(knots), 0)), np.zeros((0, 0)))
    functions = _Functions(knots, coefficients, centre, scale)
    means, products = _moments(functions, x)
    rotation, diagonal, unit = _diagonalise(products, penalty)
    return SplineBasis(functions, means, products, penalty / unit, rotation, diagonal)


def _distinct(x: np.ndarray, scale: float) -> np.ndarray:
    """The sorted values of a column; those that differ by rounding, as 0.1 + 0.2 and 0.3 do, are one."""
    values = np.unique(x)
    return np.asarray(values[np.append(True, np.diff(values) > _SAME * scale)])


def _representatives(distinct: np.ndarray) -> np.ndarray:
    if len(distinct) <= MAX_KNOTS:
        return distinct
    return np.asarray(distinct[np.linspace(0, len(distinct) - 1, MAX_KNOTS).round().astype(int)])


def _bending_functions(knots: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients v (m, k - 2) of the bending functions, and their penalty matrix Z'DZ."""
    m = len(knots)
    if m <= max(_DENSE_BELOW, 2 * k + 2):
        values, vectors = eigh(np.abs(knots[:, None] - knots) ** 3 / 12)
        largest = np.argsort(-np.abs(values))[:k]
        values, vectors = values[largest], vectors[:, largest]
    else:
        values, vectors = _largest_eigenpairs(knots, k)
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    constraints = vectors.T @ np.column_stack([np.ones(m), knots])
    Z = np.linalg.qr(constraints[::-1], mode="complete")[0][::-1, :1:-1]
    return vectors @ Z, Z.T @ (values[:, None] * Z)


def _largest_eigenpairs(knots: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k eigenpairs of E that are largest in absolute value.

    Eigenvalues fall like the fourth power of their rank, so that k + 15 steps of Lanczos give them to rounding.
    """
    Q, alpha, beta = _lanczos(knots, k + 15)
    values, vectors = eigh_tridiagonal(alpha, beta[:-1])
    largest = np.argsort(-np.abs(values))[:k]
    return values[largest], Q.T @ vectors[:, largest]


def _lanczos(knots: np.ndarray, n_steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lanczos vectors (steps, m) of E, and the diagonals of the tridiagonal matrix; fully reorthogonalised."""
    Q, alpha, beta = np.zeros((n_steps + 1, len(knots))), np.zeros(n_steps), np.zeros(n_steps)
    Q[0] = np.cos(2.3 * np.arange(len(knots)))
    Q[0] /= np.linalg.norm(Q[0])
    n_done = _lanczos_steps(knots, Q, alpha, beta)
    return Q[:n_done], alpha[:n_done], beta[:n_done]


@compiled
def _lanczos_steps(knots: np.ndarray, Q: np.ndarray, alpha: np.ndarray, beta: np.ndarray) -> int:
    """Fill the vectors and diagonals from the first vector on; the number of steps until nothing new comes."""
    m, n_steps = knots.size, alpha.size
    for step in range(n_steps):
        _kernel_product(knots, Q[step], Q[step + 1])
        for other in range(step, -1, -1):
            overlap = _dot(Q[other], Q[step + 1])
            if other == step:
                alpha[step] = overlap
            for a in range(m):
                Q[step + 1, a] -= overlap * Q[other, a]
        beta[step] = math.sqrt(_dot(Q[step + 1], Q[step + 1]))
        if beta[step] <= 1e-14 * abs(alpha[0]):
            return step + 1
        for a in range(m):
            Q[step + 1, a] /= beta[step]
    return n_steps


@compiled
def _dot(left: np.ndarray, right: np.ndarray) -> float:
    """sum_a l_a r_a in four partial sums: one alone would wait for each addition."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n_whole = left.size - left.size % 4
    for a in range(0, n_whole, 4):
        s0 += left[a] * right[a]
        s1 += left[a + 1] * right[a + 1]
        s2 += left[a + 2] * right[a + 2]
        s3 += left[a + 3] * right[a + 3]
    for a in range(n_whole, left.size):
        s0 += left[a] * right[a]
    return (s0 + s1) + (s2 + s3)


@compiled
def _kernel_product(knots: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """out = E v: like `_kernel_sums` at the knots themselves, where the moments to the left are running sums."""
    s0 = s1 = s2 = s3 = 0.0
    for a in range(knots.size):
        x = knots[a]
        s0, s1, s2, s3 = s0 + v[a], s1 + v[a] * x, s2 + v[a] * x * x, s3 + v[a] * x * x * x
    r0, r1, r2, r3 = -s0, -s1, -s2, -s3
    for a in range(knots.size):
        x, twice = knots[a], 2 * v[a]
        r0, r1, r2, r3 = r0 + twice, r1 + twice * x, r2 + twice * x * x, r3 + twice * x * x * x
        out[a] = (((r0 * x - 3 * r1) * x + 3 * r2) * x - r3) / 12


@compiled
def _kernel_sums(knots: np.ndarray, coefficients: np.ndarray, x: np.ndarray) -> np.ndarray:
    """sum_a v_a |x - x_a|^3 / 12 for every x and every column v of the coefficients (n, columns).

    |x - x_a|^3 is (x - x_a)^3 to the right of x_a and its negative to the left: with the moments S_p of v over all a
    and R_p over those left of x, the sum is the cubic in x with the moments 2 R_p - S_p.
    """
    m, n_columns = coefficients.shape
    moments = np.zeros((m + 1, 4, n_columns))
    for a in range(m):
        power = 1.0
        for p in range(4):
            for c in range(n_columns):
                moments[a + 1, p, c] = moments[a, p, c] + power * coefficients[a, c]
            power *= knots[a]
    out = np.empty((x.size, n_columns))
    for i in range(x.size):
        t = x[i]
        left, right = 0, m
        while left < right:
            middle = (left + right) // 2
            if knots[middle] <= t:
                left = middle + 1
            else:
                right = middle
        for c in range(n_columns):
            r0, r1, r2, r3 = (
                2 * moments[left, 0, c] - moments[m, 0, c],
                2 * moments[left, 1, c] - moments[m, 1, c],
                2 * moments[left, 2, c] - moments[m, 2, c],
                2 * moments[left, 3, c] - moments[m, 3, c],
            )
            out[i, c] = (((r0 * t - 3 * r1) * t + 3 * r2) * t - r3) / 12
    return out


def _moments(functions: _Functions, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of the functions over the rows and their covariances, in blocks of rows."""
    n, width = len(x), functions.coefficients.shape[1] + 1
    total, products, shift = np.zeros(width), np.zeros((width, width)), np.zeros(width)
    for start, block in enumerate(in_double(x, _BLOCK_ROWS)):
        columns = functions(block)
        if start == 0:
            shift = columns[0].copy()
        columns -= shift
        total += columns.sum(axis=0)
        products += columns.T @ columns
    means = total / n
    return means + shift, products / n - np.outer(means, means)


def _diagonalise(products: np.ndarray, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """A rotation W with W' products W = I and W' penalty W / unit diagonal; the line, without a penalty, comes last.

    The other functions are uncorrelated with the line. Those that the rows cannot tell apart, beside an outlier for
    instance, are left out.
    """
    size = np.sqrt(np.diagonal(products))
    correlation = products / np.outer(size, size)
    full = penalty / np.outer(size[:-1], size[:-1])
    unit = max(float(np.abs(full).max(initial=0.0)), np.finfo(float).tiny)
    slope = correlation[:-1, -1]
    values, vectors = np.linalg.eigh(correlation[:-1, :-1] - np.outer(slope, slope))
    is_seen = values > _SMALLEST_VARIANCE
    white = vectors[:, is_seen] / np.sqrt(values[is_seen])
    roughness, turn = np.linalg.eigh(white.T @ (full / unit) @ white)
    bending = (white @ turn)[:, ::-1]
    rotation = np.block([[bending, np.zeros((len(slope), 1))], [-slope @ bending, np.ones(1)]])
    return rotation / size[:, None], np.append(np.maximum(roughness[::-1], 0.0), 0.0), unit
