"""Student's t with a mean from the network, one scale and one number of degrees of freedom per variable.

For heavy tails: an outlier pulls less the farther out it is. There are more than two degrees of freedom, so that there
is a variance; as they grow it is the Gaussian.
"""

from __future__ import annotations

import math

import numpy as np

from grandag.engine.compiled import compiled, inlined
from grandag.engine.densities.gamma import digamma_difference, log_gamma_ratio, within

__all__ = ["LEAST_DEGREES", "log_density", "log_density_slope", "start"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)

LEAST_DEGREES = 2.0

LIMIT = 30.0
"""Of log(nu - 2): beyond it nothing changes any more."""


def start(x: np.ndarray, n_labels: int) -> tuple[list[float], list[float]]:
    """mu = the median, log sigma by the median deviation from it, nu = 6."""
    median = float(np.median(x))
    deviation = 1.4826 * float(np.median(np.abs(x - median)))
    return [median], [math.log(deviation) if deviation > 0 else 0.0, math.log(6 - LEAST_DEGREES)]


@inlined
def degrees_of_freedom(constants):
    """nu = 2 + e^constants[1]"""
    return LEAST_DEGREES + math.exp(within(float(constants[1]), LIMIT))


@compiled
def log_density(x, outputs, constants, n_rows, log_p):
    """log p = R(nu / 2, 1/2) - log sqrt(2 pi) - log sigma - (nu + 1) / 2 log(1 + z^2 / nu),  z = (x - mu) / sigma.

    R(r, x) is `log_gamma_ratio`, mu = outputs[0], log sigma = constants[0].
    """
    nu, log_sigma = degrees_of_freedom(constants), float(constants[0])
    inverse_sigma = math.exp(-log_sigma)
    offset = log_gamma_ratio(nu / 2, 0.5) - _LOG_SQRT_2PI - log_sigma
    for b in range(n_rows):
        z = (float(x[b]) - float(outputs[0, b])) * inverse_sigma
        log_p[b] = offset - (nu + 1) / 2 * math.log1p(z * z / nu)


@compiled
def log_density_slope(x, outputs, constants, n_rows, slope, constant_slope):
    """With w = (nu + 1) / (nu + z^2):  d/d mu = w z / sigma;  d/d log sigma = w z^2 - 1;

    d/d nu = (psi((nu + 1) / 2) - psi(nu / 2) - 1 / nu - log(1 + z^2 / nu) + w z^2 / nu) / 2, and nu - 2 times that by
    log(nu - 2).
    """
    nu, inverse_sigma = degrees_of_freedom(constants), math.exp(-float(constants[0]))
    by_log_sigma, by_nu = -float(n_rows), n_rows * (digamma_difference(nu / 2, 0.5) - 1 / nu)
    for b in range(n_rows):
        z = (float(x[b]) - float(outputs[0, b])) * inverse_sigma
        weight = (nu + 1) / (nu + z * z)
        slope[0, b] = weight * z * inverse_sigma
        by_log_sigma += weight * z * z
        by_nu += weight * z * z / nu - math.log1p(z * z / nu)
    constant_slope[0] = by_log_sigma
    is_free = abs(float(constants[1])) < LIMIT
    constant_slope[1] = 0.5 * by_nu * (nu - LEAST_DEGREES) if is_free else 0.0
