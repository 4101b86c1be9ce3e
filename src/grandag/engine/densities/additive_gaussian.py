"""Gaussian with a mean from the network and one variance per variable (GraN-DAG)."""

from __future__ import annotations

import math

import numpy as np

from grandag.engine.compiled import compiled
from grandag.engine.vectors import dot

__all__ = ["log_density", "log_density_slope", "start"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def start(x: np.ndarray, n_labels: int) -> tuple[list[float], list[float]]:
    """mu = 0 and log sigma = 0, whatever the values."""
    return [0.0], [0.0]


@compiled
def log_density(x, outputs, constants, n_rows, log_p):
    """log N(x; mu, sigma^2) with mu = outputs[0] and log sigma = constants[0]."""
    number = x.dtype.type
    log_sigma = constants[0]
    precision = math.exp(-number(2) * log_sigma)
    offset = number(_LOG_SQRT_2PI) + log_sigma
    for b in range(n_rows):
        residual = x[b] - outputs[0, b]
        log_p[b] = -number(0.5) * precision * residual * residual - offset


@compiled
def log_density_slope(x, outputs, constants, n_rows, slope, constant_slope):
    """d/d mu = (x - mu) / sigma^2;  d/d log sigma = ((x - mu) / sigma)^2 - 1."""
    number = x.dtype.type
    precision = math.exp(-number(2) * constants[0])
    for b in range(n_rows):
        slope[0, b] = precision * (x[b] - outputs[0, b])
    constant_slope[0] = dot(slope[0], slope[0]) / precision - number(n_rows)
