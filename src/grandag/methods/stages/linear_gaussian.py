"""Linear Gaussian conditionals of a graph, by least squares, and second moments to find them from.

    x_j = b_0j + sum over parents i of b_ij x_i + N(0, s_j^2)

Everything but the moments is d x d, so that its cost does not depend on the number of rows. Of a table with
interventions, each variable has moments of its own: those of the rows that do not target it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from grandag.blas import one_blas_thread
from grandag.distributions import Gaussian
from grandag.graph import target_groups
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


_PIECE = 512
"""Rows and columns of a piece of X'X: a few hundred are enough for all of a core's speed."""

_LEAST_VARIANCE = 1e-12
"""Part of a column's variance in all rows that it has at least in some of them, and that a regression leaves."""


class Moments(NamedTuple):
    """Mean (d,) and covariance (d, d), divided by the number of rows."""

    mean: np.ndarray
    covariance: np.ndarray


class FreeMoments(NamedTuple):
    """Moments of all variables, (g, d) and (g, d, d), over the rows that do not target the variables of each group.

    Variables that are targets of the same regimes are free in the same rows: they are a group.
    """

    mean: np.ndarray
    covariance: np.ndarray
    groups: np.ndarray  # (d,) the group of each variable
    share: np.ndarray  # (d,) of all rows

    def of(self, variable: int) -> Moments:
        """Those for the regression of one variable."""
        group = self.groups[variable]
        return Moments(self.mean[group], self.covariance[group])


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


def moments(values: np.ndarray, scaling: Scaling | None = None, n_threads: int = 1) -> Moments:
    """Mean and covariance of the columns of a table, scaled if asked for, in blocks of rows: no copy of it is made.

    Threads share the matrix in pieces that do not depend on their number, and so do not the results.
    """
    scaling = Scaling.identity(values.shape[1]) if scaling is None else scaling
    mean = np.sum([block.sum(axis=0) for block in scaling.blocks(values)], axis=0) / len(values)
    total = np.zeros((values.shape[1],) * 2)
    for block in scaling.blocks(values):
        _add_products(total, block - mean, n_threads)
    for rows, columns in _pieces(len(total)):
        if rows != columns:
            total[columns, rows] = total[rows, columns].T
    return Moments(mean, total / len(values))


def _pieces(d: int) -> list[tuple[slice, slice]]:
    """Rows and columns of a (d, d) matrix, in pieces on and above the diagonal."""
    parts = [slice(start, min(start + _PIECE, d)) for start in range(0, d, _PIECE)]
    return list(combinations_with_replacement(parts, 2))


def _add_products(total: np.ndarray, centred: np.ndarray, n_threads: int) -> None:
    """Add the pieces of X'X."""

    def add(piece: tuple[slice, slice]) -> None:
        rows, columns = piece
        total[piece] += centred[:, rows].T @ centred[:, columns]

    def add_alone(piece: tuple[slice, slice]) -> None:
        with one_blas_thread():
            add(piece)

    pieces = _pieces(len(total))
    if n_threads == 1 or len(pieces) == 1:
        for piece in pieces:
            add(piece)
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="grandag") as pool:
        list(pool.map(add_alone, pieces))


def free_moments(table: Table, scaling: Scaling | None = None, n_threads: int = 1) -> FreeMoments | Moments:
    """The moments of a table for the regression of each variable; without interventions, the same for all.

    Those of each regime are made once, and then put together. The rows of all regimes that leave a variable alone have
    one mean: it follows from its parents with the same intercept in all of them, so that a shift that an intervention
    made upstream says something about the slopes.
    """
    if table.regimes is None:
        return moments(table.values, scaling, n_threads)
    present = np.flatnonzero(table.regimes.counts)
    targets, counts = table.regimes.targets[present], table.regimes.counts[present]
    of_each = [moments(table.values[table.regimes.of_row == regime], scaling, n_threads) for regime in present]
    groups = target_groups(targets)
    _, first = np.unique(groups, return_index=True)
    n_free = ~targets * counts[:, None]  # (regimes, d)
    mean, covariance = _pooled(of_each, n_free[:, first].T)
    _, (of_all,) = _pooled(of_each, counts[None])
    return FreeMoments(mean, _at_least(covariance, of_all), groups, n_free.sum(axis=0) / counts.sum())


def _pooled(parts: Sequence[Moments], n_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means (g, d) and covariances (g, d, d) of n_rows (g, parts) rows of each part."""
    weights = n_rows / n_rows.sum(axis=1, keepdims=True)
    means, covariances = np.array([part.mean for part in parts]), np.array([part.covariance for part in parts])
    mean = weights @ means
    between = means[None] - mean[:, None]  # (g, parts, d)
    spread = (weights[..., None] * between).transpose(0, 2, 1) @ between
    return mean, np.tensordot(weights, covariances, 1) + spread


def _at_least(covariance: np.ndarray, of_all: np.ndarray) -> np.ndarray:
    """The same (g, d, d) with some variance: a column may be constant in all rows that leave another one alone."""
    diagonal = np.arange(len(of_all))
    least = _LEAST_VARIANCE * np.diagonal(of_all)
    covariance[:, diagonal, diagonal] = np.maximum(covariance[:, diagonal, diagonal], least)
    return covariance


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
    return LinearGaussian(
        data.mean - data.mean @ weights, weights, deviation * np.sqrt(np.maximum(variance, _LEAST_VARIANCE))
    )


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
