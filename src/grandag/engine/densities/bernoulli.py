"""A variable with the values 0 and 1, whose log-odds the network gives."""

from __future__ import annotations

import math

import numpy as np

from grandag.engine.compiled import compiled
from grandag.engine.densities.gamma import sigmoid, softplus

__all__ = ["log_density", "log_density_slope", "start"]


def start(x: np.ndarray, n_labels: int) -> tuple[list[float], list[float]]:
    """The log-odds of the values, half a row added to each."""
    n_ones = float(np.sum(x))
    return [math.log((n_ones + 0.5) / (len(x) - n_ones + 0.5))], []


@compiled
def log_density(x, outputs, constants, n_rows, log_p):
    """log p = x eta - log(1 + e^eta) with eta = outputs[0]."""
    for b in range(n_rows):
        eta = float(outputs[0, b])
        log_p[b] = -softplus(-eta if x[b] > 0 else eta)


@compiled
def log_density_slope(x, outputs, constants, n_rows, slope, constant_slope):
    """d/d eta = x - 1 / (1 + e^-eta)"""
    for b in range(n_rows):
        eta = float(outputs[0, b])
        slope[0, b] = sigmoid(-eta) if x[b] > 0 else -sigmoid(eta)
