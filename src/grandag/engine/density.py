"""Conditional densities p_j(x_j | theta_j), where the network of variable j outputs theta_j.

A density is a pair of functions over the rows of a batch: `..._log` writes log p, `..._slope` its derivatives with
respect to the network's outputs (`outputs`, one row per output) and to the parameters that do not depend on the
inputs (`constants`, summed over the rows). Rows from `n_rows` on are padding: 0 in `log_p` and `slope` on entry, and
to stay so. To add one, write the pair, give it the next code in `DENSITIES`, and
name it in the two branches of `log_density` and `log_density_slope`; everything else follows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from grandag.engine.compiled import compiled, inlined
from grandag.engine.vectors import dot

__all__ = ["DENSITIES", "Density", "log_density", "log_density_slope"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


class Density(NamedTuple):
    """What the engine must know of a density."""

    code: int
    n_outputs: int
    n_constants: int


DENSITIES = {
    "additive-gaussian": Density(0, 1, 1),  # mean from the network, one variance per variable (GraN-DAG)
    "gaussian": Density(1, 2, 0),  # mean and variance from the network (GraN-DAG++)
}


@inlined
def log_density(code, x, outputs, constants, n_rows, log_p):
    """log_p[b] = log p(x[b] | outputs[:, b], constants) for b < n_rows."""
    if code == 0:
        additive_gaussian_log(x, outputs, constants, n_rows, log_p)
    else:
        gaussian_log(x, outputs, n_rows, log_p)


@inlined
def log_density_slope(code, x, outputs, constants, n_rows, slope, constant_slope):
    """slope[k, b] = d log p / d outputs[k, b]; constant_slope[k] = sum_b d log p / d constants[k]."""
    if code == 0:
        additive_gaussian_slope(x, outputs, constants, n_rows, slope, constant_slope)
    else:
        gaussian_slope(x, outputs, n_rows, slope)


@compiled
def additive_gaussian_log(x, outputs, constants, n_rows, log_p):
    """log N(x; mu, sigma^2) with mu = outputs[0] and log sigma = constants[0]."""
    number = x.dtype.type
    log_sigma = constants[0]
    precision = math.exp(-number(2) * log_sigma)
    offset = number(_LOG_SQRT_2PI) + log_sigma
    for b in range(n_rows):
        residual = x[b] - outputs[0, b]
        log_p[b] = -number(0.5) * precision * residual * residual - offset


@compiled
def additive_gaussian_slope(x, outputs, constants, n_rows, slope, constant_slope):
    """d/d mu = (x - mu) / sigma^2;  d/d log sigma = ((x - mu) / sigma)^2 - 1."""
    number = x.dtype.type
    precision = math.exp(-number(2) * constants[0])
    for b in range(n_rows):
        slope[0, b] = precision * (x[b] - outputs[0, b])
    constant_slope[0] = dot(slope[0], slope[0]) / precision - number(n_rows)


@compiled
def gaussian_log(x, outputs, n_rows, log_p):
    """log N(x; mu, sigma^2) with mu = outputs[0] and log sigma = outputs[1]."""
    number = x.dtype.type
    for b in range(n_rows):
        scaled = (x[b] - outputs[0, b]) * math.exp(-outputs[1, b])
        log_p[b] = -number(0.5) * scaled * scaled - number(_LOG_SQRT_2PI) - outputs[1, b]


@compiled
def gaussian_slope(x, outputs, n_rows, slope):
    """d/d mu = (x - mu) / sigma^2;  d/d log sigma = ((x - mu) / sigma)^2 - 1."""
    number = x.dtype.type
    for b in range(n_rows):
        inverse_sigma = math.exp(-outputs[1, b])
        scaled = (x[b] - outputs[0, b]) * inverse_sigma
        slope[0, b] = scaled * inverse_sigma
        slope[1, b] = scaled * scaled - number(1)
