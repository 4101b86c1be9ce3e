"""Linear Gaussian conditionals of a graph, by least squares, and second moments to find them from.

    x_j = b_0j + sum over parents i of b_ij x_i + N(0, v_j)

Everything but the moments is d x d, so that its cost does not depend on the number of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grandag.table import blocks

__all__ = ["LinearGaussian", "Moments", "about_zero", "gaussian_log_density", "least_squares", "moments"]


class Moments(NamedTuple):
    """Mean (d,) and covariance (d, d), divided by the number of rows."""

    mean: np.ndarray
    covariance: np.ndarray


class LinearGaussian(NamedTuple):
    """One linear regression per variable."""

    intercept: np.ndarray
    weights: np.ndarray  # [i, j] of i in the regression of j
    variance: np.ndarray

    def log_density(self, values: np.ndarray) -> float:
        """Mean over the rows of the joint log-density."""
        error = sum(
            ((values[block] - self.intercept - values[block] @ self.weights) ** 2).sum(axis=0)
            for block in blocks(len(values))
        )
        return gaussian_log_density(error / len(values), self.variance)


def gaussian_log_density(mean_square: np.ndarray, variance: np.ndarray) -> float:
    """Mean over rows of sum_j log N(e_j; 0, v_j), from the mean squares of e."""
    return -0.5 * float((np.log(2 * np.pi * variance) + mean_square / variance).sum())


def moments(values: np.ndarray) -> Moments:
    """Of the columns of a table, in blocks of rows: no copy of the table is made."""
    mean = values.mean(axis=0)
    total = np.zeros((values.shape[1],) * 2)
    for block in blocks(len(values)):
        centred = values[block] - mean
        total += centred.T @ centred
    return Moments(mean, total / len(values))


def about_zero(data: Moments) -> Moments:
    """Second moments instead of covariances, as if all means were 0."""
    return Moments(np.zeros_like(data.mean), data.covariance + np.outer(data.mean, data.mean))


def least_squares(data: Moments, adjacency: np.ndarray) -> LinearGaussian:
    """Each variable on its parents; a variance is at least 1e-12 of the variable's own."""
    d = len(adjacency)
    weights, variance = np.zeros((d, d)), np.diagonal(data.covariance).copy()
    smallest = 1e-12 * variance
    for j in range(d):
        parents = np.flatnonzero(adjacency[:, j])
        if len(parents):
            cross = data.covariance[parents, j]
            weights[parents, j] = np.linalg.lstsq(data.covariance[np.ix_(parents, parents)], cross, rcond=None)[0]
            variance[j] -= cross @ weights[parents, j]
    return LinearGaussian(data.mean - data.mean @ weights, weights, np.maximum(variance, smallest))
