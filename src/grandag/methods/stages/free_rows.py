"""Second moments of the rows that leave a variable alone: what its regressions need where there are interventions.

    n S = sum over regimes r that do not target j of  n_r (S_r + (m_r - m)(m_r - m)'),    n m = the sum of n_r m_r

Means m_r and covariances S_r of each regime are computed once. Variables that are targets of the same regimes are free
in the same rows, and share their moments. The free rows of all regimes have one mean: x_j follows from its parents with
the same intercept in all of them, so that a shift that an intervention made upstream says something about the slopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grandag.graph import target_groups
from grandag.interventions import Regimes
from grandag.methods.stages.linear_gaussian import LinearGaussian, Moments, least_squares, moments
from grandag.table import Table, TableError, constant_columns

__all__ = ["FreeMoments", "free_least_squares", "free_moments", "free_tables"]

_LEAST_VARIANCE = 1e-12
"""Part of its variance in all rows that is left of a column that is constant in the free ones."""


class FreeMoments(NamedTuple):
    """Moments of the rows that are free for each group of variables."""

    groups: np.ndarray  # (d,) the group of each variable
    moments: tuple[Moments, ...]
    n_rows: np.ndarray  # (groups,)


def free_moments(values: np.ndarray, regimes: Regimes | None) -> FreeMoments:
    """For the variables of each group, the moments of all columns in the rows that do not target them.

    Without regimes all variables are one group.
    """
    if regimes is None:
        return FreeMoments(np.zeros(values.shape[1], dtype=np.intp), (moments(values),), np.array([len(values)]))
    present = np.flatnonzero(regimes.counts)
    targets, counts = regimes.targets[present], regimes.counts[present]
    groups = target_groups(targets)
    parts = [moments(values[regimes.of_row == regime]) for regime in present]
    least = _LEAST_VARIANCE * np.diagonal(_pooled(parts, counts).covariance)
    weights = [np.where(targets[:, np.argmax(groups == group)], 0, counts) for group in range(groups.max() + 1)]
    pooled = tuple(_with_spread(_pooled(parts, some), least) for some in weights)
    return FreeMoments(groups, pooled, np.array([some.sum() for some in weights]))


def free_tables(table: Table) -> tuple[np.ndarray, list[Table]]:
    """The group of each variable (d,), and for each group the table of the rows that do not target its variables."""
    if table.regimes is None:
        return np.zeros(len(table.names), dtype=np.intp), [table]
    groups = target_groups(table.regimes.targets[table.regimes.counts > 0])
    firsts = [int(np.argmax(groups == group)) for group in range(groups.max() + 1)]
    return groups, [_free_rows(table, table.regimes, first) for first in firsts]


def _free_rows(table: Table, regimes: Regimes, target: int) -> Table:
    part = table.take(np.flatnonzero(regimes.are_free(target)))
    constant = np.flatnonzero(constant_columns(part.values))
    if len(constant):
        raise TableError(
            f"Column {table.names[constant[0]]!r} is constant in the rows that leave {table.names[target]!r} alone: "
            "leave out one of the two."
        )
    return part


def _pooled(parts: Sequence[Moments], n_rows: np.ndarray) -> Moments:
    """Moments of so many rows of each part; parts without rows do not count."""
    used = [(part, n) for part, n in zip(parts, n_rows / n_rows.sum(), strict=True) if n > 0]
    mean = np.sum([weight * part.mean for part, weight in used], axis=0)
    covariance = np.zeros((len(mean), len(mean)))
    for part, weight in used:
        covariance += weight * (part.covariance + np.outer(part.mean - mean, part.mean - mean))
    return Moments(mean, covariance)


def _with_spread(data: Moments, least: np.ndarray) -> Moments:
    """The same with variances of at least so much: a column may vary only where an intervention sets another."""
    covariance = data.covariance.copy()
    np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), least))
    return Moments(data.mean, covariance)


def free_least_squares(free: FreeMoments, adjacency: np.ndarray) -> LinearGaussian:
    """Each variable on its parents, in the rows that leave it alone."""
    d = len(adjacency)
    found = LinearGaussian(np.zeros(d), np.zeros((d, d)), np.zeros(d))
    for group, data in enumerate(free.moments):
        own = free.groups == group
        fit = least_squares(data, adjacency & own)
        found.intercept[own], found.deviation[own] = fit.intercept[own], fit.deviation[own]
        found.weights[:, own] = fit.weights[:, own]
    return found
