"""A variable with the labels 0 .. K-1, one output of the network for each: p(k) is proportional to e^outputs[k]."""

from __future__ import annotations

import math

import numpy as np

from grandag.engine.compiled import compiled, inlined

__all__ = ["log_density", "log_density_slope", "start"]


def start(x: np.ndarray, n_labels: int) -> tuple[list[float], list[float]]:
    """The logarithms of the labels' frequencies, half a row added to each, up to a constant that makes their mean 0."""
    counts = np.bincount(x.astype(np.int64), minlength=n_labels) + 0.5
    logarithms = np.log(counts)
    return list(logarithms - logarithms.mean()), []


@inlined
def log_total(outputs, b):
    """log sum_k e^outputs[k, b]"""
    largest = float(outputs[0, b])
    for k in range(1, outputs.shape[0]):
        largest = max(largest, float(outputs[k, b]))
    total = 0.0
    for k in range(outputs.shape[0]):
        total += math.exp(float(outputs[k, b]) - largest)
    return largest + math.log(total)


@compiled
def log_density(x, outputs, constants, n_rows, log_p):
    """log p = outputs[x] - log sum_k e^outputs[k]"""
    for b in range(n_rows):
        log_p[b] = float(outputs[int(x[b]), b]) - log_total(outputs, b)


@compiled
def log_density_slope(x, outputs, constants, n_rows, slope, constant_slope):
    """d/d outputs[k] = 1[x = k] - p(k)"""
    for b in range(n_rows):
        normaliser = log_total(outputs, b)
        for k in range(outputs.shape[0]):
            slope[k, b] = -math.exp(float(outputs[k, b]) - normaliser)
        slope[int(x[b]), b] += 1
