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
    """Is the noise of a row like that of the next one? Standardised residuals (n, d), in the order of the table."""
    r = residuals[:MAX_ROWS]
    n = len(r)
    spread = r.std(axis=0)
    varies = spread > 0
    z = (r - r.mean(axis=0)) / np.where(varies, spread, 1.0)
    alike = pd.Series((z[1:] * z[:-1]).mean(axis=0), index=list(names))
    limit = max(_ALIKE, _SURE / np.sqrt(n))
    found = alike[alike > limit].sort_values(ascending=False)
    return concern_about(
        "rows in order",
        pd.DataFrame({"correlation": found}),
        lambda row: f"correlation {row['correlation']:.2f}",
        "Residuals are like those of the next row: {}. The rows seem to be in the order of time, or sorted by "
        "something that the graph does not explain; methods take them for independent, so that p-values are too small. "
        "Add what orders them as a column, take differences of time series, or use every k-th row.",
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
