"""What a table holds, column by column: kind, range, gaps, distribution, and what is wrong where."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from grandag.diagnostics import constant_concerns, copy_concerns
from grandag.table import Table, TableError, as_table, constant_columns
from grandag.table_diagnostics import discrete_columns, table_concerns

__all__ = ["table_facts"]

_BINS, _COMMON = 20, 5
"""Bars of a histogram; the most common values of a column of labels, or of one that cannot be used."""


def table_facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Facts about a table as it was read, which may not be fit to be learned from.

    `columns` has name, kind (those of `grandag.kinds`, or few values, constant, empty, unusable), n_missing, of numbers
    the range, mean and histogram (counts and edges of the bins), and of labels and others the most common ones;
    `problem` is why a column cannot be used, None if it can. `concerns` are reasons to doubt any graph of the usable
    columns, and `problem` of the whole is why there is none.

    >>> facts = table_facts(pd.DataFrame({"age": [1.5, 2.0, None], "name": ["a", "b", "b"]}))
    >>> [(column["name"], column["kind"], column["n_missing"]) for column in facts["columns"]]
    [('age', 'continuous', 1), ('name', 'binary', 0)]
    """
    columns = [_column(str(name), frame.iloc[:, position]) for position, name in enumerate(frame.columns)]
    usable = [position for position, column in enumerate(columns) if column["problem"] is None]
    concerns, problem, n_complete = [], None, 0
    table: Table | None = None
    try:
        table = as_table(frame if len(usable) == len(columns) else frame.iloc[:, usable], missing="drop")
        n_complete = len(table.values)
        concerns = [asdict(concern) for concern in _concerns(table)]
        _name_discrete(columns, usable, table)
    except TableError as error:
        problem = str(error)
    return {
        "n_rows": len(frame),
        "n_complete": n_complete,
        "columns": columns,
        "concerns": concerns,
        "problem": problem,
        "notes": list(frame.attrs.get("notes", ()) if table is None else table.notes),
    }


def _concerns(table: Table) -> list[Any]:
    is_constant = constant_columns(table.values)
    varying = table.select(~is_constant) if is_constant.any() else table
    found = constant_concerns(table.values, table.names)
    return [*found, *copy_concerns(varying), *table_concerns(varying)] if len(varying.names) > 1 else [*found]


def _name_discrete(columns: list[dict[str, Any]], usable: list[int], table: Table) -> None:
    """Say so of columns of numbers that have few different ones."""
    for position, is_discrete in zip(usable, discrete_columns(table.values), strict=True):
        if is_discrete and columns[position]["kind"] == "continuous":
            columns[position]["kind"] = "few values"


def _column(name: str, column: pd.Series) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": name, "n_missing": int(column.isna().sum()), "problem": None}
    if facts["n_missing"] == len(column):
        return {**facts, "kind": "empty", "problem": "holds no value: leave it out."}
    try:
        table = as_table(column.to_frame(name), missing="drop", min_rows=0, min_columns=1)
    except TableError as error:
        return {**facts, "kind": "unusable", "problem": str(error), "common": _most_common(column)}
    if table.labels[0]:
        kind = table.kinds[0] if len(table.labels[0]) > 1 else "constant"
        return {**facts, "kind": kind, "common": _most_common(column)}
    return {**facts, "kind": table.kinds[0], **_distribution(column.to_numpy(dtype=np.float64, na_value=np.nan))}


def _most_common(column: pd.Series) -> list[list[Any]]:
    counts = column.dropna().astype(str).value_counts().head(_COMMON)
    return [[str(text)[:60], int(count)] for text, count in counts.items()]


def _distribution(numbers: np.ndarray) -> dict[str, Any]:
    finite = numbers[np.isfinite(numbers)]
    n_infinite = int(np.isinf(numbers).sum())
    if not len(finite):
        return {"kind": "empty", "problem": "holds no value: leave it out.", "n_infinite": n_infinite}
    low, high = float(finite.min()), float(finite.max())
    known = {"n_infinite": n_infinite, "minimum": low, "maximum": high, "mean": float(finite.mean())}
    if low == high:
        return {"kind": "constant", **known}
    if not math.isfinite(high - low):
        return known
    counts, edges = np.histogram(finite, bins=_BINS, range=(low, high))
    return {**known, "counts": counts.tolist(), "edges": edges.tolist()}
