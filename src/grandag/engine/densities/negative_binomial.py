"""Counts whose log mean the network gives, with one dispersion alpha per variable: variance = mean + alpha mean^2.

As alpha falls to 0 it is the Poisson distribution, which nothing here has to treat as a special case.
"""

from __future__ import annotations

import math

import numpy as np

from grandag.engine.compiled import compiled, inlined
from grandag.engine.densities.gamma import digamma_difference, log_gamma_ratio, sigmoid, softplus, within

__all__ = ["LARGEST_LOG_MEAN", "LIMIT", "log_density", "log_density_slope", "log_dispersion", "start"]

LARGEST_LOG_MEAN = 40.0
"""Beyond it log p goes on as a straight line, whose numbers stay within single precision."""

LIMIT = 30.0
"""Of log alpha: beyond it nothing changes any more."""


def start(x: np.ndarray, n_labels: int) -> tuple[list[float], list[float]]:
    """The logarithm of the mean, and of the dispersion that mean and variance have, within reason."""
    mean, variance = max(float(np.mean(x)), 1e-3), float(np.var(x))
    dispersion = min(max((variance - mean) / mean**2, 0.05), 5.0)
    return [math.log(mean)], [math.log(dispersion)]


@inlined
def log_dispersion(constants):
    """log alpha = constants[0], within limits."""
    return within(float(constants[0]), LIMIT)


@inlined
def slope_at(x, log_mean, log_alpha):
    """d log p / d log mean = (x - mean) / (1 + alpha mean)"""
    return (x - math.exp(log_mean)) * sigmoid(-log_mean - log_alpha)


@compiled
def log_density(x, outputs, constants, n_rows, log_p):
    """log p = R(r, x) - log x! + x eta - (x + r) log(1 + alpha e^eta),  r = 1 / alpha,  eta = log mean = outputs[0].

    R(r, x) is `log_gamma_ratio`, and log x! is R(1, x).
    """
    log_alpha = log_dispersion(constants)
    r = math.exp(-log_alpha)
    for b in range(n_rows):
        count, output = float(x[b]), float(outputs[0, b])
        eta = min(output, LARGEST_LOG_MEAN)
        value = log_gamma_ratio(r, count) - log_gamma_ratio(1.0, count)
        value += count * eta - (count + r) * softplus(eta + log_alpha)
        log_p[b] = value + (output - eta) * slope_at(count, eta, log_alpha)


@compiled
def log_density_slope(x, outputs, constants, n_rows, slope, constant_slope):
    """d/d eta = (x - mu) / (1 + alpha mu);

    d/d log alpha = -r (psi(r + x) - psi(r) - log(1 + alpha mu) + (mu - x) / (r + mu)),  mu = e^eta.
    """
    log_alpha = log_dispersion(constants)
    r, total = math.exp(-log_alpha), 0.0
    for b in range(n_rows):
        count, output = float(x[b]), float(outputs[0, b])
        eta = min(output, LARGEST_LOG_MEAN)
        by_eta = slope_at(count, eta, log_alpha)
        slope[0, b] = by_eta
        total += r * (digamma_difference(r, count) - softplus(eta + log_alpha)) - by_eta
        if output > eta:  # the straight line's slope depends on alpha, too
            total += (output - eta) * by_eta * sigmoid(eta + log_alpha)
    constant_slope[0] = -total if abs(float(constants[0])) < LIMIT else 0.0
