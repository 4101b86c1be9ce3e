"""What a table says against the graphs that are learned from it, whatever the method: rows, columns, their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from grandag.diagnostics import MAX_ROWS, Concern, concern_about
from grandag.table import Table, constant_columns
from grandag.wording import counted

__all__ = ["discrete_columns", "order_concerns", "table_concerns"]

_FEW_VALUES = 10
_COMMON = 0.95
"""A column is nearly constant if one value is in more than this share of its rows."""

_REPEATED = 0.02
_ALIKE = 0.25
"""Correlation of residuals with those of the next row that matters."""

_FURTHER, _INDEPENDENT = 10, 0.35
"""Rows further on, and minus the correlation of changes, by which a sorted table is told from a time series."""

_SURE = 5.0
"""Standard errors of such a correlation, 1 / sqrt(n), that chance does not reach."""


def discrete_columns(values: np.ndarray) -> np.ndarray:
    """is_discrete[j]: does column j have few distinct values, each in many rows?"""
    limit = min(_FEW_VALUES, len(values) // 10)
    return np.array([1 < len(np.unique(column)) <= limit for column in values.T], dtype=bool)


def table_concerns(table: Table) -> list[Concern]:
    """Reasons to doubt any graph of this table."""
    names, values = table.names, table.values
    one_hot = list(_one_hot_groups(values))
    in_a_group = {position for group in one_hot for position in group}
    return [
        *_wide_concerns(values),
        *_repetition_concerns(values),
        *_identifier_concerns(values, names),
        *_near_constant_concerns(values, names),
        *_one_hot_concerns(one_hot, names),
        *_discrete_concerns(values, names, in_a_group),
    ]


def _wide_concerns(values: np.ndarray) -> list[Concern]:
    n, d = values.shape
    if d <= n:
        return []
    message = (
        f"The table has {counted(d, 'column')} but only {counted(n, 'row')}: every column can be explained by others "
        "by chance. Use fewer columns (--columns), or knowledge of which edges are possible."
    )
    return [Concern("more columns than rows", (), {"rows": n, "columns": d}, message, is_urgent=True)]


def _repetition_concerns(values: np.ndarray) -> list[Concern]:
    """Rows that repeat others, where some column could tell them apart."""
    n = len(values)
    if discrete_columns(values).all():
        return []
    n_repeated = n - len(np.unique(values, axis=0))
    if n_repeated <= _REPEATED * n:
        return []
    message = (
        f"{n_repeated:,} of {n:,} rows repeat another row: p-values and scores count them as new evidence. Drop them "
        "if they are copies of one observation."
    )
    return [Concern("repeated rows", (), {"repeated": n_repeated, "rows": n}, message)]


def _identifier_concerns(values: np.ndarray, names: Sequence[str]) -> list[Concern]:
    """Columns that go up or down by the same step from row to row."""
    steps = np.diff(values, axis=0)
    even = (np.ptp(steps, axis=0) <= 1e-9 * np.abs(steps).max(axis=0, initial=0.0)) & ~constant_columns(values)
    found = tuple(names[int(j)] for j in np.flatnonzero(even))
    if not found:
        return []
    message = (
        f"{_listed(found)} count{'s' if len(found) == 1 else ''} the rows: a number of the row is no variable. Leave "
        "it out (--exclude); if it is the time, rows are not independent."
    )
    return [Concern("running number", found, {}, message, is_urgent=True)]


def _near_constant_concerns(values: np.ndarray, names: Sequence[str]) -> list[Concern]:
    shares = {}
    for name, column in zip(names, values.T, strict=True):
        _, counts = np.unique(column, return_counts=True)
        if len(counts) > 1 and counts.max() > _COMMON * len(column):
            shares[name] = counts.max() / len(column)
    table = pd.DataFrame({"share": pd.Series(shares, dtype=float).sort_values(ascending=False)})
    return concern_about(
        "near-constant columns",
        table,
        lambda row: f"one value in {row['share']:.1%} of the rows",
        "Columns are nearly constant: {}. The few other rows decide all about them, and give them likelihoods without "
        "meaning: leave them out (--exclude), or get more rows in which they differ.",
        is_urgent=True,
    )


def _one_hot_groups(values: np.ndarray) -> Iterator[list[int]]:
    """Groups of three or more columns of 0 and 1 of which exactly one is 1 in every row."""
    candidates = [j for j, column in enumerate(values.T) if np.isin(column, (0, 1)).all() and np.ptp(column) > 0]
    while candidates:
        group, rest = [candidates[0]], list[int]()
        for j in candidates[1:]:
            exclusive = not (values[:, group].any(axis=1) & (values[:, j] == 1)).any()
            (group if exclusive else rest).append(j)
        if len(group) > 2 and (values[:, group].sum(axis=1) == 1).all():
            yield group
        else:
            rest = candidates[1:]
        candidates = rest


def _one_hot_concerns(groups: Iterable[Sequence[int]], names: Sequence[str]) -> list[Concern]:
    return [
        Concern(
            "one-hot columns",
            tuple(names[j] for j in group),
            {},
            f"Exactly one of {_listed([names[j] for j in group])} is 1 in every row: together they are one variable, "
            "and each follows from the others without noise. Leave all but one out (--exclude), or keep the category "
            "as one column of numbers if it has an order.",
            is_urgent=True,
        )
        for group in groups
    ]


def _discrete_concerns(values: np.ndarray, names: Sequence[str], others: set[int]) -> list[Concern]:
    found = [int(j) for j in np.flatnonzero(discrete_columns(values)) if int(j) not in others]
    counts = pd.Series({names[j]: len(np.unique(values[:, j])) for j in found}, dtype=float).sort_values()
    return concern_about(
        "discrete columns",
        pd.DataFrame({"values": counts}),
        lambda row: f"{row['values']:.0f} values",
        "Columns have few distinct values: {}. All methods take columns for continuous: edges between discrete "
        "columns, and directions of their edges, may be wrong. No transformation helps; treat them as causes only, by "
        "knowledge (roots), or leave them out.",
    )


def order_concerns(residuals: np.ndarray, names: Sequence[str]) -> list[Concern]:
    """Is the noise of a row like that of the next one? Standardised residuals (n, d), in the order of the table.

    In a sorted table it is as much like that of a row further on, and changes from row to row are those of independent
    noise, whose correlation is -1/2.
    """
    r = residuals[:MAX_ROWS]
    alike = pd.Series(_correlation(r, 1), index=list(names))
    is_alike = alike > max(_ALIKE, _SURE / np.sqrt(len(r)))
    is_sorted = (_correlation(r, _FURTHER) > alike / 2) & (_correlation(np.diff(r, axis=0), 1) < -_INDEPENDENT)
    return [
        *concern_about(
            "sorted rows",
            pd.DataFrame({"correlation": alike[is_alike & is_sorted].sort_values(ascending=False)}),
            lambda row: f"correlation {row['correlation']:.2f}",
            "Residuals are alike over long stretches of rows: {}. The table seems to be sorted by something that the "
            "graph does not explain, a class or a source, which is then a common cause of these columns. Add it as a "
            "column, or fit each group on its own; to shuffle the rows only hides it.",
        ),
        *concern_about(
            "rows in order",
            pd.DataFrame({"correlation": alike[is_alike & ~is_sorted].sort_values(ascending=False)}),
            lambda row: f"correlation {row['correlation']:.2f}",
            "Residuals are like those of the next row: {}. The rows seem to be in the order of time, or of place; "
            "methods take them for independent, so that p-values are too small. Take differences of time series, add "
            "earlier values as columns, or use every k-th row.",
        ),
    ]


def _correlation(columns: np.ndarray, lag: int) -> np.ndarray:
    """Of each value with the one so many rows further on, by column; 0 for a constant column or too few rows."""
    if len(columns) <= lag + 1:
        return np.zeros(columns.shape[1])
    spread = columns.std(axis=0)
    z = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray((z[lag:] * z[:-lag]).mean(axis=0))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
