"""Gaussian with mean and variance from the network (GraN-DAG++)."""

from __future__ import annotations

import math

import numpy as np

from grandag.engine.compiled import compiled

__all__ = ["log_density", "log_density_slope", "start"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def start(x: np.ndarray, n_labels: int) -> tuple[list[float], list[float]]:
    """mu = 0 and log sigma = 0, whatever the values."""
    return [0.0, 0.0], []


@compiled
def log_density(x, outputs, constants, n_rows, log_p):
    """log N(x; mu, sigma^2) with mu = outputs[0] and log sigma = outputs[1]."""
    number = x.dtype.type
    for b in range(n_rows):
        scaled = (x[b] - outputs[0, b]) * math.exp(-outputs[1, b])
        log_p[b] = -number(0.5) * scaled * scaled - number(_LOG_SQRT_2PI) - outputs[1, b]


@compiled
def log_density_slope(x, outputs, constants, n_rows, slope, constant_slope):
    """d/d mu = (x - mu) / sigma^2;  d/d log sigma = ((x - mu) / sigma)^2 - 1."""
    number = x.dtype.type
    for b in range(n_rows):
        inverse_sigma = math.exp(-outputs[1, b])
        scaled = (x[b] - outputs[0, b]) * inverse_sigma
        slope[0, b] = scaled * inverse_sigma
        slope[1, b] = scaled * scaled - number(1)
