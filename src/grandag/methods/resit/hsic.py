"""The Hilbert-Schmidt independence criterion of two variables, and its p-value by a gamma distribution.

    n^2 HSIC = tr(K L),    K = H k(x, x) H,    L = H k(y, y) H,    H = I - 1/n

with Gaussian kernels whose squared width is half the median squared distance (Gretton et al. 2008). Features F of few
columns stand for a kernel matrix, K = F F', so that everything is linear in the number of rows:

    tr(K L) = |F_x' F_y|^2

They are those of landmarks, chosen by incomplete Cholesky factorisation among at most 1,000 rows; of more rows, so many
are drawn at random (Nyström's features). Without dependence every pairing of the x with the y is equally likely. Mean
and variance of tr(K L) over all n! of them are known (Kazi-Aoual et al. 1995), and a gamma distribution that has them
gives the p-value. With t = tr K, q = tr K K, s = sum_i K_ii^2, and the same of L:

    mean = t_K t_L / (n - 1)
    variance = 2 a_K a_L / ((n - 1)^2 (n + 1) (n - 2)) + b_K b_L / ((n + 1) n (n - 1) (n - 2) (n - 3))
    a = (n - 1) q - t^2,    b = n (n + 1) s - (n - 1) (t^2 + 2 q)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaincc, gammaln

from grandag.methods.equivalence.kernel_features import gaussian_kernel, incomplete_cholesky, kernel_width
from grandag.table import blocks, draw_rows

__all__ = ["Centred", "Dependence", "Independence", "log_gamma_tail", "log_p_values", "null_moments"]

_MEDIAN_WIDTH = 1.0
"""The factor c of `kernel_width` that gives half the median squared distance."""
_LANDMARK_ROWS = 1000
_LEFT_OUT = 1e-6
"""Mean over the rows of the part of k(x, x) that features may leave out."""
_MAX_RANK = 100
_NOTHING = 1e-9
"""A column whose deviation is below this part of its unit has no variation but rounding."""
_FAR = 600.0
"""Beyond this the tail of a gamma distribution leaves the range of double precision; its logarithm does not."""


class Centred(NamedTuple):
    """Features (n, r) of a kernel, each with mean 0, and what the null distribution needs of K = F F'."""

    values: np.ndarray
    trace: float  # t
    square: float  # q
    diagonal_square: float  # s

    @classmethod
    def of(cls, column: np.ndarray, rng: np.random.Generator) -> Centred:
        """Features of the Gaussian kernel of a column (n,) that varies."""
        drawn = np.sort(draw_rows(len(column), _LANDMARK_ROWS, rng))
        some = column[drawn]
        varies = np.ptp(some) > 0
        width = kernel_width(some, _MEDIAN_WIDTH) if varies else float(column.std())
        points = (some / width)[:, None]
        found = incomplete_cholesky(points, _LEFT_OUT, _MAX_RANK)
        if len(some) == len(column):
            features = np.empty_like(found.values)
            features[:] = found.values
        else:
            features = np.empty((len(column), len(found.pivots)))
            for block in blocks(len(column)):
                kernel = gaussian_kernel((column[block] / width)[:, None], points[found.pivots])
                features[block] = solve_triangular(found.values[found.pivots], kernel.T, lower=True).T
        return cls.from_features(features)

    @classmethod
    def from_features(cls, features: np.ndarray) -> Centred:
        """From features of any mean."""
        centred = features - features.mean(axis=0)
        diagonal = np.square(centred).sum(axis=1)
        square = np.square(centred.T @ centred).sum()
        return cls(centred.astype(np.float32), float(diagonal.sum()), float(square), float((diagonal**2).sum()))


def null_moments(x: Centred, y: Centred) -> tuple[float, float]:
    """Mean and variance of tr(K L) over all pairings of the rows."""
    n = len(x.values)
    a, b = zip(*((_a(side, n), _b(side, n)) for side in (x, y)), strict=True)
    variance = 2 * a[0] * a[1] / ((n - 1) ** 2 * (n + 1) * (n - 2))
    variance += b[0] * b[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return x.trace * y.trace / (n - 1), variance


def _a(side: Centred, n: int) -> float:
    return (n - 1) * side.square - side.trace**2


def _b(side: Centred, n: int) -> float:
    return n * (n + 1) * side.diagonal_square - (n - 1) * (side.trace**2 + 2 * side.square)


def log_gamma_tail(shape: np.ndarray, x: np.ndarray) -> np.ndarray:
    """log P(G > x) of gamma distributions with scale 1; far out by x^(a - 1) e^-x / Gamma(a) (1 + (a - 1) / x)."""
    far = np.maximum(x, _FAR)
    beyond = (shape - 1) * np.log(far) - far - gammaln(shape) + np.log1p((shape - 1) / far)
    with np.errstate(divide="ignore"):
        near = np.log(gammaincc(shape, np.maximum(x, 0.0)))
    return np.asarray(np.where((x > _FAR) & (shape < 0.1 * far), beyond, np.maximum(near, -_FAR)))


class Dependence(NamedTuple):
    """How one variable depends on each of several others."""

    log_p_value: np.ndarray  # (d,)
    share: np.ndarray  # (d,) tr(K L) / sqrt(tr K K tr L L), between 0 and 1

    def total(self, others: Sequence[int]) -> float:
        """Fisher's sum of the logarithms of their p-values: of several independent variables, which is most so."""
        return float(self.log_p_value[list(others)].sum())

    def on(self, others: Sequence[int]) -> float:
        """The logarithm of the smallest p-value of some of them, by Bonferroni's correction; 0 of none."""
        if not len(others):
            return 0.0
        return min(float(self.log_p_value[list(others)].min()) + math.log(len(others)), 0.0)


def log_p_values(variable: Centred, others: Sequence[Centred], statistics: np.ndarray) -> np.ndarray:
    """The logarithms of the p-values of tr(K L), of one variable with each of some others."""
    mean, variance = np.array([null_moments(variable, other) for other in others]).T
    return log_gamma_tail(mean**2 / variance, statistics * mean / variance)


class Independence:
    """Tests of any variable against all columns of a table (n, d), which have their features once and for all."""

    def __init__(self, columns: np.ndarray, rng: np.random.Generator) -> None:
        self._rng = rng
        self._columns = [Centred.of(column, rng) for column in columns.T]
        self._together = np.hstack([column.values for column in self._columns])
        self._starts = np.cumsum([0, *(column.values.shape[1] for column in self._columns[:-1])])

    def test(self, variable: np.ndarray, unit: float = 1.0) -> Dependence:
        """The dependence of a variable (n,) on each column; a variable without variation depends on none."""
        d = len(self._columns)
        if variable.std() <= _NOTHING * unit:
            return Dependence(np.zeros(d), np.zeros(d))
        features = Centred.of(variable, self._rng)
        products = np.square((self._together.T @ features.values).astype(np.float64)).sum(axis=1)
        statistics = np.add.reduceat(products, self._starts)
        squares = np.array([column.square for column in self._columns])
        share = statistics / np.sqrt(squares * features.square)
        return Dependence(log_p_values(features, self._columns, statistics), share)
