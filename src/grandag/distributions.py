"""Distributions of one variable over n rows, each with its own parameters: densities, noise and what it turns into.

    name                 x                p(x)
    Gaussian             number           N(x; mean, scale^2)
    StudentT             number           t with nu degrees of freedom of (x - mean) / scale, over scale
    Bernoulli            0, 1             P(x = 1) = p
    Categorical          0, ..., K - 1    P(x = k) = probabilities_k
    NegativeBinomial     0, 1, 2, ...     mean m, variance m + dispersion m^2; Poisson for dispersion 0
    PointMass            number           x = value, without noise

A row is made of standard normal noise: x = F^-1(Phi(noise)) with F the distribution function and Phi that of the noise,
so it never falls while the noise rises, and two models share the noise of a row. The way back is the quantile residual
Phi^-1(F(x)); where F jumps at x, it is drawn uniformly from the jump (Dunn and Smyth 1996). It is standard normal
whenever the model is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import betainc, betaln, gammaincc, gammaln, ndtr, ndtri, stdtr, stdtrit, xlog1py, xlogy

__all__ = [
    "Bernoulli",
    "Categorical",
    "Distribution",
    "Gaussian",
    "NegativeBinomial",
    "PointMass",
    "StudentT",
]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_LEAST = 1e-300
"""Probabilities are at least this where noise is made of them."""


class Distribution(Protocol):
    """The distributions of one variable in n rows; all arrays are (n,)."""

    @property
    def mean(self) -> np.ndarray:
        """The mean; of labels, that of their codes."""

    @property
    def scale(self) -> np.ndarray:
        """The unit of the noise: the standard deviation, or the scale of a Student t. 0: there is no noise."""

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """log p(x), or log P(x) of what can be counted."""

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """F(x): the probability of x and all below it."""

    def from_normal(self, noise: np.ndarray) -> np.ndarray:
        """Rows made of standard normal noise."""

    def to_normal(self, x: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """The noise that a row was made of; `uniform` on (0, 1) chooses where more than one makes it."""


@dataclass(frozen=True)
class Gaussian:
    """N(mean, scale^2)"""

    mean: np.ndarray
    scale: np.ndarray

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """-((x - mean) / scale)^2 / 2 - log(scale sqrt(2 pi))"""
        return np.asarray(-0.5 * ((x - self.mean) / self.scale) ** 2 - _LOG_SQRT_2PI - np.log(self.scale))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """Phi((x - mean) / scale)"""
        return np.asarray(ndtr((x - self.mean) / self.scale))

    def from_normal(self, noise: np.ndarray) -> np.ndarray:
        """mean + scale noise"""
        return np.asarray(self.mean + self.scale * noise)

    def to_normal(self, x: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """(x - mean) / scale"""
        return np.asarray((x - self.mean) / self.scale)


@dataclass(frozen=True)
class StudentT:
    """mean + scale t, t with `degrees_of_freedom` above 1, so that there is a mean."""

    mean: np.ndarray
    scale: np.ndarray
    degrees_of_freedom: np.ndarray | float

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """-log(B(1 / 2, nu / 2) sqrt(nu) scale) - (nu + 1) / 2 log(1 + z^2 / nu), z = (x - mean) / scale"""
        nu, z = self.degrees_of_freedom, (x - self.mean) / self.scale
        constant = -betaln(0.5, 0.5 * np.asarray(nu)) - 0.5 * np.log(nu) - np.log(self.scale)
        return np.asarray(constant - 0.5 * (nu + 1) * np.log1p(z * z / nu))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """T((x - mean) / scale)"""
        return np.asarray(stdtr(self.degrees_of_freedom, (x - self.mean) / self.scale))

    def from_normal(self, noise: np.ndarray) -> np.ndarray:
        """mean + scale T^-1(Phi(noise)), from the lower tail of both, where probabilities have all their digits."""
        below = np.maximum(ndtr(-np.abs(noise)), _LEAST)
        return np.asarray(self.mean - self.scale * np.sign(noise) * stdtrit(self.degrees_of_freedom, below))

    def to_normal(self, x: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Phi^-1(T((x - mean) / scale))"""
        z = (x - self.mean) / self.scale
        below = np.maximum(stdtr(self.degrees_of_freedom, -np.abs(z)), _LEAST)
        return np.asarray(-np.sign(z) * ndtri(below))


class _Discrete:
    """What distributions on whole numbers share."""

    def cdf(self, x: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def to_normal(self, x: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Phi^-1((1 - uniform) F(x - 1) + uniform F(x))"""
        below, above = self.cdf(x - 1), self.cdf(x)
        return np.asarray(ndtri(np.clip(below + uniform * (above - below), _LEAST, 1 - 1e-16)))


@dataclass(frozen=True)
class Bernoulli(_Discrete):
    """1 with probability p, which is neither 0 nor 1, else 0."""

    p: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """p"""
        return self.p

    @property
    def scale(self) -> np.ndarray:
        """sqrt(p (1 - p))"""
        return np.asarray(np.sqrt(self.p * (1 - self.p)))

    def probabilities(self) -> np.ndarray:
        """(n, 2) of 0 and of 1."""
        return np.column_stack([1 - self.p, self.p])

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """x log p + (1 - x) log(1 - p); nothing but 0 and 1 is possible."""
        is_possible = (x == 0) | (x == 1)
        return np.where(is_possible, xlogy(x, self.p) + xlog1py(1 - x, -self.p), -np.inf)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """0, 1 - p from 0 on, and 1 from 1 on."""
        return np.where(x < 0, 0.0, np.where(x < 1, 1 - self.p, 1.0))

    def from_normal(self, noise: np.ndarray) -> np.ndarray:
        """1 where Phi(noise) > 1 - p"""
        return np.asarray(ndtr(-noise) < self.p, dtype=np.float64)


@dataclass(frozen=True)
class Categorical(_Discrete):
    """k with probability p_k, (n, K) in all; none of them is 0."""

    p: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """sum_k k p_k: of the codes, whose order may mean nothing."""
        return np.asarray(self.p @ np.arange(self.p.shape[1]))

    @property
    def scale(self) -> np.ndarray:
        """The standard deviation of the codes."""
        squares = self.p @ np.square(np.arange(self.p.shape[1]))
        return np.asarray(np.sqrt(np.maximum(squares - self.mean**2, 0.0)))

    def probabilities(self) -> np.ndarray:
        """(n, K)"""
        return self.p

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """log p_x; codes that are none are impossible."""
        codes = np.clip(x, 0, self.p.shape[1] - 1).astype(int)
        with np.errstate(divide="ignore"):
            log_p = np.log(self.p[np.arange(len(self.p)), codes])
        return np.where(codes == x, log_p, -np.inf)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """The sum of p_k over k <= x."""
        total = np.column_stack([np.zeros(len(self.p)), np.minimum(np.cumsum(self.p, axis=1), 1.0)])
        total[:, -1] = 1.0
        codes = np.clip(np.floor(x), -1, self.p.shape[1] - 1).astype(int)
        return np.asarray(total[np.arange(len(total)), codes + 1])

    def from_normal(self, noise: np.ndarray) -> np.ndarray:
        """The number of labels whose sum of probabilities is below Phi(noise)."""
        total = np.cumsum(self.p, axis=1)[:, :-1]
        return np.asarray((ndtr(noise)[:, None] > total).sum(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class NegativeBinomial(_Discrete):
    """Counts with positive means, and variance mean + dispersion mean^2; dispersion 0 is Poisson's."""

    mean: np.ndarray
    dispersion: np.ndarray | float

    @property
    def scale(self) -> np.ndarray:
        """sqrt(mean + dispersion mean^2)"""
        return np.asarray(np.sqrt(self.mean + self.dispersion * self.mean**2))

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """log Gamma(x + r) - log Gamma(r) - log x! + r log(r / (r + m)) + x log(m / (r + m)), r = 1 / dispersion

        In terms of a = dispersion it has Poisson's limit: r log(r / (r + m)) = -log(1 + a m) / a, and for large r the
        quotient of the gamma functions over r^x tends to 1.
        """
        x, mean, a = np.broadcast_arrays(np.asarray(x, dtype=np.float64), self.mean, self.dispersion)
        is_possible = (x >= 0) & (x == np.floor(x))
        count = np.where(is_possible, x, 0.0)
        log_p = xlogy(count, mean) - mean - gammaln(count + 1)
        is_wide = a > _POISSON
        if is_wide.any():
            k, m, wide = count[is_wide], mean[is_wide], a[is_wide]
            of_gammas = -betaln(k + 1, 1 / wide) - np.log(k + 1 / wide)
            log_p[is_wide] = of_gammas + xlogy(k, wide * m) - (k + 1 / wide) * np.log1p(wide * m)
        return np.where(is_possible, log_p, -np.inf)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """I_q(r, x + 1) with q = r / (r + m); Poisson's is Q(x + 1, m)."""
        x, mean, a = np.broadcast_arrays(np.asarray(x, dtype=np.float64), self.mean, self.dispersion)
        count = np.maximum(np.floor(x), 0.0)
        total = gammaincc(count + 1, mean)
        is_wide = a > _POISSON
        if is_wide.any():
            wide = a[is_wide]
            total[is_wide] = betainc(1 / wide, count[is_wide] + 1, 1 / (1 + wide * mean[is_wide]))
        return np.where(x < 0, 0.0, total)

    def from_normal(self, noise: np.ndarray) -> np.ndarray:
        """The smallest x with F(x) >= Phi(noise), by bisection."""
        level = np.minimum(ndtr(noise), 1 - 1e-16)
        low, high = np.full(len(noise), -1.0), np.ceil(self.mean + self.scale) + 1.0
        while (is_low := self.cdf(high) < level).any():
            high = np.where(is_low, 2 * high, high)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            is_enough = self.cdf(middle) >= level
            low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
        return np.asarray(high)


_POISSON = 1e-8
"""Dispersions below this are Poisson's: the formulas of the negative binomial lose their digits there."""


@dataclass(frozen=True)
class PointMass:
    """A value without noise. It has no density and counts as 0 in its logarithm."""

    value: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The value."""
        return self.value

    @property
    def scale(self) -> np.ndarray:
        """0"""
        return np.zeros(len(self.value))

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """0"""
        return np.zeros(len(self.value))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """1 from the value on."""
        return np.asarray(x >= self.value, dtype=np.float64)

    def from_normal(self, noise: np.ndarray) -> np.ndarray:
        """The value."""
        return self.value

    def to_normal(self, x: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """x - value"""
        return np.asarray(x - self.value)
