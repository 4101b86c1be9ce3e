"""What a table holds, column by column: kind, range, gaps, distribution, and what is wrong where."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from grandag.diagnostics import constant_concerns, copy_concerns
from grandag.table import Table, TableError, as_table, constant_columns, is_number
from grandag.table_diagnostics import discrete_columns, table_concerns

__all__ = ["table_facts"]

_BINS, _COMMON = 20, 5
"""Bars of a histogram; the most common texts of a column that holds no numbers."""


def table_facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Facts about a table as it was read, which may not be fit to be learned from.

    `columns` has name, kind (number, few values, constant, empty, date or text), n_missing, and of numbers the range,
    mean and histogram (counts and edges of the bins); `problem` is why a column cannot be used, None if it can.
    `concerns` are reasons to doubt any graph of the usable columns, and `problem` of the whole is why there is none.

    >>> facts = table_facts(pd.DataFrame({"age": [1.0, 2.0, None], "name": ["a", "b", "b"]}))
    >>> [(column["name"], column["kind"], column["n_missing"]) for column in facts["columns"]]
    [('age', 'number', 1), ('name', 'text', 0)]
    """
    columns = [_column(str(name), frame.iloc[:, position]) for position, name in enumerate(frame.columns)]
    usable = [position for position, column in enumerate(columns) if column["problem"] is None]
    concerns, problem, n_complete = [], None, 0
    try:
        table = as_table(frame if len(usable) == len(columns) else frame.iloc[:, usable], missing="drop")
        n_complete = len(table.values)
        concerns = [asdict(concern) for concern in _concerns(table)]
        _name_discrete(columns, usable, table.values)
    except TableError as error:
        problem = str(error)
    return {
        "n_rows": len(frame),
        "n_complete": n_complete,
        "columns": columns,
        "concerns": concerns,
        "problem": problem,
        "notes": list(frame.attrs.get("notes", ())),
    }


def _concerns(table: Table) -> list[Any]:
    is_constant = constant_columns(table.values)
    varying = table.select(~is_constant) if is_constant.any() else table
    found = constant_concerns(table.values, table.names)
    return [*found, *copy_concerns(varying), *table_concerns(varying)] if len(varying.names) > 1 else [*found]


def _name_discrete(columns: list[dict[str, Any]], usable: list[int], values: np.ndarray) -> None:
    """Say so of columns of numbers that have few different ones."""
    for position, is_discrete in zip(usable, discrete_columns(values), strict=True):
        if is_discrete and columns[position]["kind"] == "number":
            columns[position]["kind"] = "few values"


def _column(name: str, column: pd.Series) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": name, "n_missing": int(column.isna().sum()), "problem": None}
    kind = str(column.dtype).lower()
    if kind.startswith(("datetime", "timedelta", "period")):
        advice = "holds dates: leave it out, or encode it as numbers first."
        return {**facts, "kind": "date", "problem": advice, "common": []}
    try:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError, OverflowError):
        example = next((value for value in column.dropna() if not is_number(value)), None)
        advice = f"does not hold numbers (for example {str(example)[:40]!r}): leave it out, or encode it first."
        counts = column.dropna().astype(str).value_counts().head(_COMMON)
        common = [[str(text)[:60], int(count)] for text, count in counts.items()]
        return {**facts, "kind": "text", "problem": advice, "common": common}
    return {**facts, **_distribution(numbers)}


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
        return {"kind": "number", **known}
    counts, edges = np.histogram(finite, bins=_BINS, range=(low, high))
    return {"kind": "number", **known, "counts": counts.tolist(), "edges": edges.tolist()}
