"""Families of distributions, each as a function of its predictors eta: what penalised likelihood needs to know of them.

    name                 predictors   p(y | eta)                                        other parameters theta
    gaussian             1            N(y; eta, sigma^2)                                log sigma^2
    scaled t             1            t with nu > 3 degrees of freedom, y - eta over s  log(nu - 3), log s
    binomial             1            P(y = 1) = 1 / (1 + e^-eta)                       none
    multinomial          K - 1        P(y = k) proportional to e^eta_k, eta_0 = 0       none
    negative binomial    1            mean mu = e^eta, variance mu + mu^2 / size        log size

With l the log-likelihood of a row and W = -d2l / deta2, `Derivatives` has what the fit, its criterion and the
derivatives of the criterion ask for. Parameters and their bounds are those of R's mgcv: nu is above 3, so that the
variance is finite, and a negative binomial of very large size is a Poisson distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import digamma, expit, gammaln, logsumexp, xlogy

__all__ = ["FAMILIES", "Binomial", "Derivatives", "Family", "Gaussian", "Multinomial", "NegativeBinomial", "ScaledT"]

LEAST_DF = 3.0
_MOST_ETA = 30.0
"""e^30 is as good as infinite for a mean or for odds."""


@dataclass(frozen=True)
class Derivatives:
    """The log-likelihood at predictors (n, m) and parameters (r,), and its derivatives."""

    log_likelihood: float
    slope: np.ndarray  # (n, m) dl / deta
    weights: np.ndarray  # (n, m, m) W
    expected: np.ndarray  # (n, m, m) the mean of W over y, never negative
    weight_slope: np.ndarray | None  # (n,) dW / deta of one predictor; None: the family contracts it itself
    by_theta: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (r,) the sum of dl / dtheta over the rows
    slope_by_theta: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # (r, n)
    weights_by_theta: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # (r, n)


class Family(Protocol):
    """A family; targets are as `prepare` returns them."""

    name: str
    bounds: tuple[tuple[float, float], ...]
    """Of theta."""
    estimates_scale: bool
    """Tests then use the residual sum of squares and F distributions, as for least squares."""

    def prepare(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        """The target as it is fitted, and what its log-likelihood lacks in the units given."""

    def n_predictors(self, y: np.ndarray) -> int:
        """m"""

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts (m,) and theta of a model without inputs, roughly."""

    def derivatives(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> Derivatives:
        """At predictors (n, m)."""

    def log_likelihood(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> float:
        """The log-likelihood alone."""

    def contract(self, at: Derivatives, eta: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        """(n, m): sum_kl leverage_kl dW_kl / deta_m, with leverages (n, m, m)."""


class _OnePredictor:
    """What families with one predictor share."""

    estimates_scale = False

    def prepare(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        return y, 0.0

    def n_predictors(self, y: np.ndarray) -> int:
        return 1

    def contract(self, at: Derivatives, eta: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        assert at.weight_slope is not None
        return np.asarray(leverage[:, :, 0] * at.weight_slope[:, None])


class _Located(_OnePredictor):
    """Families of a location: targets are centred and scaled."""

    def prepare(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        low, centre, high = np.quantile(y, [0.25, 0.5, 0.75])
        scale = float((high - low) / 1.349 or y.std())
        return (y - centre) / scale, -len(y) * math.log(scale)


class Gaussian(_Located):
    """l = -(log(2 pi sigma^2) + (y - eta)^2 / sigma^2) / 2"""

    name = "gaussian"
    bounds: tuple[tuple[float, float], ...] = ((-25.0, 25.0),)
    estimates_scale = True

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts and theta of a model without inputs."""
        return np.array([y.mean()]), np.array([math.log(y.var())])

    def log_likelihood(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> float:
        """The sum of l over the rows."""
        squares = float(np.square(y - eta[:, 0]).sum())
        return float(-0.5 * (len(y) * (math.log(2 * math.pi) + theta[0]) + squares * math.exp(-theta[0])))

    def derivatives(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> Derivatives:
        """l and its derivatives at predictors (n, m)."""
        precision = math.exp(-theta[0])
        residual = y - eta[:, 0]
        weights = np.full((len(y), 1, 1), precision)
        slope = precision * residual
        return Derivatives(
            self.log_likelihood(y, eta, theta),
            slope[:, None],
            weights,
            weights,
            np.zeros(len(y)),
            np.array([-0.5 * len(y) + 0.5 * float(slope @ residual)]),
            -slope[None],
            -weights[None, :, 0, 0],
        )


class ScaledT(_Located):
    """l = log t_nu((y - eta) / s) - log s, nu = 3 + e^theta_1, s = e^theta_2; D = nu s^2 + (y - eta)^2."""

    name = "scaled t"
    bounds: tuple[tuple[float, float], ...] = ((-8.0, 8.0), (-20.0, 10.0))

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts and theta of a model without inputs."""
        middle = np.median(y)
        spread = float(np.median(np.abs(y - middle)) * 1.48) or float(y.std())
        return np.array([middle]), np.array([math.log(2.0), math.log(spread)])

    def log_likelihood(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> float:
        """The sum of l over the rows."""
        nu, s = LEAST_DF + math.exp(theta[0]), math.exp(theta[1])
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * math.log(nu * math.pi) - theta[1]
        tails = np.log1p(np.square((y - eta[:, 0]) / s) / nu)
        return float(len(y) * constant - (nu + 1) / 2 * tails.sum())

    def derivatives(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> Derivatives:
        """l and its derivatives at predictors (n, m)."""
        above = math.exp(theta[0])
        nu, s2 = LEAST_DF + above, math.exp(2 * theta[1])
        r = y - eta[:, 0]
        r2, A = r * r, nu * s2
        D = A + r2
        weights = (nu + 1) * (A - r2) / D**2
        by_nu = 0.5 * (digamma((nu + 1) / 2) - digamma(nu / 2) - 1 / nu - np.log1p(r2 / A) + (nu + 1) * r2 / (nu * D))
        weights_by_nu = (A - r2) / D**2 + (nu + 1) * s2 * (1 / D**2 - 2 * (A - r2) / D**3)
        return Derivatives(
            self.log_likelihood(y, eta, theta),
            ((nu + 1) * r / D)[:, None],
            weights[:, None, None],
            np.full((len(y), 1, 1), (nu + 1) / (s2 * (nu + 3))),
            (nu + 1) * 2 * r * (3 * A - r2) / D**3,
            np.array([above * by_nu.sum(), float(((nu + 1) * r2 / D - 1).sum())]),
            np.array([above * (r / D - (nu + 1) * r * s2 / D**2), -2 * A * (nu + 1) * r / D**2]),
            np.array([above * weights_by_nu, (nu + 1) * 2 * A * (1 / D**2 - 2 * (A - r2) / D**3)]),
        )


class Binomial(_OnePredictor):
    """l = y eta - log(1 + e^eta), for y of 0 and 1."""

    name = "binomial"
    bounds: tuple[tuple[float, float], ...] = ()

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts and theta of a model without inputs."""
        share = (y.sum() + 0.5) / (len(y) + 1)
        return np.array([math.log(share / (1 - share))]), np.zeros(0)

    def log_likelihood(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> float:
        """The sum of l over the rows."""
        return float(y @ eta[:, 0] - np.logaddexp(0.0, eta[:, 0]).sum())

    def derivatives(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> Derivatives:
        """l and its derivatives at predictors (n, m)."""
        p = expit(eta[:, 0])
        weights = (p * (1 - p))[:, None, None]
        slope = (y - p)[:, None]
        return Derivatives(self.log_likelihood(y, eta, theta), slope, weights, weights, weights[:, 0, 0] * (1 - 2 * p))


class Multinomial:
    """l = eta_y - log(sum_k e^eta_k), for y of 0 to K - 1, all of which occur; eta_0 = 0."""

    name = "multinomial"
    bounds: tuple[tuple[float, float], ...] = ()
    estimates_scale = False

    def prepare(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        """Labels as 0 to K - 1."""
        return np.unique(y, return_inverse=True)[1], 0.0

    def n_predictors(self, y: np.ndarray) -> int:
        """K - 1"""
        return int(y.max())

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts and theta of a model without inputs."""
        counts = np.bincount(y).astype(float)
        return np.log(counts[1:] / counts[0]), np.zeros(0)

    def log_likelihood(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> float:
        """The sum of l over the rows."""
        everything = np.column_stack([np.zeros(len(y)), eta])
        return float(everything[np.arange(len(y)), y].sum() - logsumexp(everything, axis=1).sum())

    def derivatives(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> Derivatives:
        """l and its derivatives at predictors (n, m)."""
        p = self._probabilities(eta)
        weights = -p[:, :, None] * p[:, None, :]
        weights[:, range(p.shape[1]), range(p.shape[1])] += p
        slope = (y[:, None] == np.arange(1, p.shape[1] + 1)) - p
        return Derivatives(self.log_likelihood(y, eta, theta), slope, weights, weights, None)

    def contract(self, at: Derivatives, eta: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        """W_kl = [k = l] p_k - p_k p_l, and dp_k / deta_m = p_k ([k = m] - p_m)."""
        p = self._probabilities(eta)
        by_p = np.einsum("nkk->nk", leverage) - 2 * np.einsum("nkl,nl->nk", leverage, p)
        return np.asarray(p * (by_p - (by_p * p).sum(axis=1, keepdims=True)))

    @staticmethod
    def _probabilities(eta: np.ndarray) -> np.ndarray:
        """(n, m) of all but the first label."""
        most = np.maximum(eta.max(axis=1, keepdims=True), 0.0)
        odds = np.exp(eta - most)
        return np.asarray(odds / (np.exp(-most) + odds.sum(axis=1, keepdims=True)))


class NegativeBinomial(_OnePredictor):
    """Counts with mean mu = e^eta and variance mu + mu^2 / k, k = e^theta."""

    name = "negative binomial"
    bounds: tuple[tuple[float, float], ...] = ((-10.0, 12.0),)

    def start(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts and theta of a model without inputs."""
        mean = max(float(y.mean()), 1e-3)
        extra = float(y.var()) - mean
        size = mean**2 / extra if extra > 0 else 100.0
        return np.array([math.log(mean)]), np.array([math.log(min(max(size, 0.1), 100.0))])

    def log_likelihood(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> float:
        """The sum of l over the rows."""
        k, eta = math.exp(theta[0]), np.clip(eta[:, 0], -_MOST_ETA, _MOST_ETA)
        constant = gammaln(y + k) - gammaln(k) - gammaln(y + 1)
        return float((constant + xlogy(k, k) + y * eta - (y + k) * np.logaddexp(theta[0], eta)).sum())

    def derivatives(self, y: np.ndarray, eta: np.ndarray, theta: np.ndarray) -> Derivatives:
        """l and its derivatives at predictors (n, m)."""
        k, mu = math.exp(theta[0]), np.exp(np.clip(eta[:, 0], -_MOST_ETA, _MOST_ETA))
        both = k + mu
        weights = (y + k) * k * mu / both**2
        by_size = digamma(y + k) - digamma(k) + 1 - np.log1p(mu / k) - (y + k) / both
        return Derivatives(
            self.log_likelihood(y, eta, theta),
            (k * (y - mu) / both)[:, None],
            weights[:, None, None],
            (k * mu / both)[:, None, None],
            weights * (k - mu) / both,
            np.array([k * by_size.sum()]),
            (k * mu * (y - mu) / both**2)[None],
            (k * mu * (y * (mu - k) + 2 * k * mu) / both**3)[None],
        )


FAMILIES: dict[str, Family] = {
    "continuous": Gaussian(),
    "heavy-tailed": ScaledT(),
    "binary": Binomial(),
    "categorical": Multinomial(),
    "count": NegativeBinomial(),
}
"""The family of a column's distribution, by its kind."""
