"""Ratios of gamma functions without cancellation, for densities that tend to simpler ones as r grows.

log Gamma(r + x) and log Gamma(r) are huge where their difference is not, so Stirling's series is taken of the
difference: with z = r + 10, to which the recurrence Gamma(r + 1) = r Gamma(r) leads, five terms are exact to 1e-12.
"""

from __future__ import annotations

import math

from grandag.engine.compiled import compiled, inlined

__all__ = ["digamma_difference", "log_gamma_ratio", "sigmoid", "softplus", "within"]

_SHIFT = 10


@compiled
def log_gamma_ratio(r, x):
    """log Gamma(r + x) - log Gamma(r) - x log r for r > 0, x >= 0; it tends to 0 as r grows."""
    product, z = 1.0, r + _SHIFT
    for k in range(_SHIFT):
        product *= (r + k) / (r + x + k)
    stirling = (z + x - 0.5) * math.log1p(x / z) - x + _correction(z + x) - _correction(z)
    return math.log(product) + stirling + x * math.log1p(_SHIFT / r)


@compiled
def digamma_difference(r, x):
    """psi(r + x) - psi(r) for r > 0, x >= 0."""
    total, z = 0.0, r + _SHIFT
    for k in range(_SHIFT):
        total += x / ((r + k) * (r + x + k))
    return total + math.log1p(x / z) + 0.5 * x / (z * (z + x)) - _correction_slope(z + x) + _correction_slope(z)


@inlined
def _correction(z):
    """log Gamma(z) = (z - 1/2) log z - z + log(2 pi) / 2 + this."""
    y = 1 / (z * z)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / z


@inlined
def _correction_slope(z):
    """psi(z) = log z - 1 / (2 z) - this."""
    y = 1 / (z * z)
    return y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))


@inlined
def softplus(t):
    """log(1 + e^t)"""
    return max(t, 0.0) + math.log1p(math.exp(-abs(t)))


@inlined
def sigmoid(t):
    """1 / (1 + e^-t)"""
    e = math.exp(-abs(t))
    return 1 / (1 + e) if t >= 0 else e / (1 + e)


@inlined
def within(t, limit):
    """t, or the nearer of -limit and limit."""
    return min(max(t, -limit), limit)
