"""Conditionals of a graph whose columns are of several kinds: for each variable the regression that suits it.

Numbers are Gaussian processes of their parents (`gaussian_process.py`), unless one of these is categorical: codes of
three and more labels are no numbers. These, labels, counts and heavy tails are additive regressions with a family of
their own (`family_conditionals.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grandag.diagnostics import Concern, overfitting_concerns, spread_rows
from grandag.methods.stages.family_conditionals import family_conditionals
from grandag.methods.stages.gaussian_process import fit_processes
from grandag.model import CausalModel, Conditional
from grandag.table import Table, constant_columns, draw_rows, split_rows

__all__ = ["ByKind", "conditionals_by_kind"]

_MAX_ROWS = 5000
"""Of additive regressions, whose cost grows with the rows."""
_HELD_OUT = 0.2


class ByKind(NamedTuple):
    """Conditionals, and how well they predict rows that were left out."""

    conditionals: tuple[Conditional, ...]
    held_out_log_likelihood: float  # per row, in the units of the table
    n_rows: int  # that they were fitted to, at least
    concerns: tuple[Concern, ...]


def conditionals_by_kind(table: Table, adjacency: np.ndarray, rng: np.random.Generator, n_threads: int) -> ByKind:
    """Fit every variable to its parents in a DAG; the table has no constant columns.

    A row is left out of a Gaussian process by a formula. Additive regressions are made twice, and judged by a fifth of
    the rows that the first ones have not seen.
    """
    are_numbers = np.array(table.kinds) == "continuous"
    is_process = are_numbers & ~adjacency[np.array(table.kinds) == "categorical"].any(axis=0)
    by_family = np.flatnonzero(~is_process)
    process_rng, rows_rng = rng.spawn(2)
    processes = fit_processes(table, adjacency, process_rng, n_threads, np.flatnonzero(is_process))
    some = table.take(_with_rare(table.values, draw_rows(len(table.values), _MAX_ROWS, rows_rng)))
    train, held_out = split_rows(len(some.values), _HELD_OUT, rows_rng)
    train = _with_rare(some.values, train)
    held_out = np.setdiff1d(held_out, train)

    def with_processes(rows: Table) -> tuple[Conditional, ...]:
        numbers, others = iter(processes.conditionals), iter(family_conditionals(rows, adjacency, by_family))
        return tuple(next(numbers) if is_number else next(others) for is_number in is_process)

    found, first = with_processes(some), with_processes(some.take(train))
    seen = _log_densities(table, adjacency, found, table.values[spread_rows(processes.rows)])
    seen_first, unseen = (_log_densities(table, adjacency, first, some.values[rows]) for rows in (train, held_out))
    names = np.array(table.names, dtype=object)
    held_out_log_likelihood = processes.left_out.sum(axis=1).mean() + unseen[:, ~is_process].sum(axis=1).mean()
    return ByKind(
        found,
        float(held_out_log_likelihood),
        min(len(processes.rows), len(some.values)),
        (
            *overfitting_concerns(seen[:, is_process], processes.left_out, names[is_process]),
            *overfitting_concerns(seen_first[:, ~is_process], unseen[:, ~is_process], names[~is_process]),
        ),
    )


def _with_rare(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some rows, and others so that no column is constant in them: what is rare may be in one row of all."""
    for j in np.flatnonzero(constant_columns(values[rows])):
        other = np.argmax(values[:, j] != values[rows[0], j])
        rows = np.append(rows, other)
    return rows


def _log_densities(
    table: Table, adjacency: np.ndarray, conditionals: tuple[Conditional, ...], rows: np.ndarray
) -> np.ndarray:
    """(rows, d)"""
    model = CausalModel(table.names, adjacency, conditionals, columns=table.columns)
    return np.asarray(model.log_densities(Table(rows, table.names, False, kinds=table.kinds, labels=table.labels)))
