"""Linear Gaussian conditionals of a graph, by least squares, and second moments to find them from.

    x_j = b_0j + sum over parents i of b_ij x_i + N(0, s_j^2)

Everything but the moments is d x d, so that its cost does not depend on the number of rows. Of a table with
interventions, each variable has moments of its own: those of the rows that do not target it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grandag.distributions import Gaussian
from grandag.table import Scaling, Table

__all__ = [
    "FreeMoments",
    "LinearConditional",
    "LinearGaussian",
    "Moments",
    "about_zero",
    "free_moments",
    "least_squares",
    "moments",
]


class Moments(NamedTuple):
    """Mean (d,) and covariance (d, d), divided by the number of rows."""

    mean: np.ndarray
    covariance: np.ndarray


class FreeMoments(NamedTuple):
    """For each variable the moments of all variables, (d, d) and (d, d, d), over the rows that do not target it."""

    mean: np.ndarray
    covariance: np.ndarray
    share: np.ndarray  # (d,) of all rows

    def of(self, variable: int) -> Moments:
        """Those for the regression of one variable."""
        return Moments(self.mean[variable], self.covariance[variable])


class LinearGaussian(NamedTuple):
    """One linear regression per variable."""

    intercept: np.ndarray
    weights: np.ndarray  # [i, j] of i in the regression of j
    deviation: np.ndarray  # standard deviation of the noise

    def in_units(self, scaling: Scaling) -> LinearGaussian:
        """The same regressions before the columns were scaled."""
        weights = self.weights * scaling.scale / scaling.scale[:, None]
        intercept = scaling.mean + scaling.scale * self.intercept - scaling.mean @ weights
        return LinearGaussian(intercept, weights, scaling.scale * self.deviation)

    def conditionals(self, adjacency: np.ndarray) -> tuple[LinearConditional, ...]:
        """The conditional of each variable given its parents in a DAG."""
        return tuple(
            LinearConditional(float(self.intercept[j]), self.weights[parents, j], float(self.deviation[j]))
            for j, parents in enumerate(adjacency.T)
        )


@dataclass(frozen=True)
class LinearConditional:
    """N(intercept + the sum over the parents of weights_i x_i, scale^2)."""

    intercept: float
    weights: np.ndarray
    scale: float

    def given(self, parents: np.ndarray) -> Gaussian:
        """The distribution given rows of the parents."""
        return Gaussian(self.intercept + parents @ self.weights, np.full(len(parents), self.scale))

    def is_consistent(self, n_parents: int) -> bool:
        """One weight per parent."""
        return self.weights.shape == (n_parents,) and self.scale > 0


def moments(values: np.ndarray, scaling: Scaling | None = None) -> Moments:
    """Mean and covariance of the columns of a table, scaled if asked for, in blocks of rows: no copy of it is made."""
    scaling = Scaling.identity(values.shape[1]) if scaling is None else scaling
    mean = np.sum([block.sum(axis=0) for block in scaling.blocks(values)], axis=0) / len(values)
    total = np.zeros((values.shape[1],) * 2)
    for block in scaling.blocks(values):
        centred = block - mean
        total += centred.T @ centred
    return Moments(mean, total / len(values))


def free_moments(table: Table, scaling: Scaling | None = None) -> FreeMoments | Moments:
    """The moments of a table for the regression of each variable; without interventions, the same for all.

    Those of each regime are made once, and then put together.
    """
    if table.regimes is None:
        return moments(table.values, scaling)
    targets, counts = table.regimes.targets, table.regimes.counts
    of_each = [moments(table.values[table.regimes.of_row == regime], scaling) for regime in np.flatnonzero(counts)]
    means, covariances = np.array([part.mean for part in of_each]), np.array([part.covariance for part in of_each])
    weights = (~targets * counts[:, None])[counts > 0].T.astype(np.float64)  # (d, regimes)
    n_free = weights.sum(axis=1)
    weights /= n_free[:, None]
    mean = weights @ means
    between = means[None] - mean[:, None]  # (d, regimes, d)
    covariance = np.tensordot(weights, covariances, 1) + np.einsum("jr,jra,jrb->jab", weights, between, between)
    return FreeMoments(mean, covariance, n_free / counts.sum())


def about_zero(data: Moments) -> Moments:
    """Second moments instead of covariances, as if all means were 0."""
    return Moments(np.zeros_like(data.mean), data.covariance + np.outer(data.mean, data.mean))


def least_squares(data: Moments | FreeMoments, adjacency: np.ndarray) -> LinearGaussian:
    """Each variable on its parents, in units of deviations; a variance is at least 1e-12 of the variable's own."""
    if isinstance(data, FreeMoments):
        return _one_by_one(data, adjacency)
    d = len(adjacency)
    deviation = np.sqrt(np.diagonal(data.covariance))
    correlation = data.covariance / np.outer(deviation, deviation)
    weights, variance = np.zeros((d, d)), np.ones(d)
    for j in range(d):
        parents = np.flatnonzero(adjacency[:, j])
        if len(parents):
            cross = correlation[parents, j]
            weights[parents, j] = np.linalg.lstsq(correlation[np.ix_(parents, parents)], cross, rcond=None)[0]
            variance[j] -= cross @ weights[parents, j]
    weights *= deviation / deviation[:, None]
    return LinearGaussian(data.mean - data.mean @ weights, weights, deviation * np.sqrt(np.maximum(variance, 1e-12)))


def _one_by_one(data: FreeMoments, adjacency: np.ndarray) -> LinearGaussian:
    """Each regression by its own moments."""
    d = len(adjacency)
    intercept, weights, deviation = np.zeros(d), np.zeros((d, d)), np.zeros(d)
    for j in range(d):
        only = np.zeros_like(adjacency)
        only[:, j] = adjacency[:, j]
        found = least_squares(data.of(j), only)
        intercept[j], weights[:, j], deviation[j] = found.intercept[j], found.weights[:, j], found.deviation[j]
    return LinearGaussian(intercept, weights, deviation)
