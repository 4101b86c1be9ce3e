"""The paper's tables as a page: our results beside theirs, box plots, times, and every run with its graph."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup

from grandag.drawing import BOX_HEIGHT, node_boxes
from grandag.graph import to_networkx
from grandag.report.charts import Axis, box_strip, tick_labels
from grandag.report.page import as_json, decimals_of, fixed, render
from grandag.reproduction.result_table import Cell, Figure, ResultTable, Run, signed
from grandag.reproduction.summary import two_sentences

__all__ = ["paper_page"]

Texts = list[dict[str, str]]


def paper_page(tables: Sequence[ResultTable], environment: Mapping[str, str]) -> str:
    """One self-contained HTML page of these tables. `environment` has texts by name, which are shown as they are.

    Layouts of graphs are computed here, once per true graph; the page draws a graph when its run is opened.
    """
    store = _Store()
    shown = [_table(table, store) for table in tables]
    runs = _distinct(run for table in tables for cell in table.cells.values() for run in cell.runs)
    statuses = [run.status for run in runs]
    return render(
        "paper.html",
        package="grandag.reproduction",
        tables=shown,
        rows=list(dict.fromkeys(row for table in tables for row in table.rows)),
        columns=list(dict.fromkeys(column for table in tables for column in table.columns)),
        counts={status: statuses.count(status) for status in ("done", "failed", "out of time")},
        failures=list(_failures(tables)),
        environment=environment,
        data=as_json(store.contents()),
    )


def _distinct(runs: Iterable[Run]) -> list[Run]:
    """Each run once: cells of several measures share theirs."""
    return list({run.key: run for run in runs}.values())


@dataclass
class _Store:
    """The data of the page's script, with each run, graph and set of parameters once."""

    cells: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    graphs: list[dict[str, Any]] = field(default_factory=list)
    parameters: list[dict[str, Any]] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def contents(self) -> dict[str, Any]:
        return {"height": BOX_HEIGHT, **{name: getattr(self, name) for name in vars(self) if not name.startswith("_")}}

    def add_cell(self, cell: Cell) -> int:
        runs = [self._add_run(run) for run in cell.runs]
        self.cells.append({"title": f"{cell.row}, {cell.column}, {cell.measure}", "runs": runs})
        return len(self.cells) - 1

    def _add_run(self, run: Run) -> int:
        if ("run", run.key) not in self._places:
            self._places["run", run.key] = len(self.runs)
            self.runs.append(
                {
                    "key": run.key,
                    "method": run.method,
                    "data": run.data,
                    "status": run.status,
                    "error": run.error,
                    "measures": {name: [_finite(value) for value in values] for name, values in run.measures.items()},
                    "seconds": _finite(run.seconds),
                    "iterations": run.iterations,
                    "score": _finite(run.score),
                    "parameters": self._add_parameters(run.parameters),
                    "graph": self._add_graph(run),
                    "edges": None if run.adjacency is None else _flat(run.adjacency),
                }
            )
        return self._places["run", run.key]

    def _add_parameters(self, parameters: Mapping[str, Any]) -> int:
        key = "parameters", repr(sorted(parameters.items(), key=lambda item: item[0]))
        if key not in self._places:
            self._places[key] = len(self.parameters)
            self.parameters.append({name: _plain(value) for name, value in parameters.items()})
        return self._places[key]

    def _add_graph(self, run: Run) -> int | None:
        """The number of the nodes' layout, which is that of the true graph where it is known."""
        adjacency = run.adjacency if run.truth is None else run.truth
        if adjacency is None:
            return None
        names = run.names or tuple(f"X{k}" for k in range(len(adjacency)))
        key = "graph", names, run.truth is None, np.asarray(adjacency, dtype=bool).tobytes()
        if key not in self._places:
            boxes = node_boxes(to_networkx(np.asarray(adjacency, dtype=bool), names))
            self._places[key] = len(self.graphs)
            self.graphs.append(
                {
                    "names": names,
                    "boxes": [[round(value, 1) for value in boxes[name]] for name in names],
                    "truth": None if run.truth is None else _flat(run.truth),
                }
            )
        return self._places[key]


def _flat(adjacency: np.ndarray) -> list[int]:
    """The edges i -> j as numbers i d + j."""
    flat: list[int] = np.flatnonzero(adjacency).tolist()
    return flat


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _plain(value: Any) -> Any:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return value if value is None or is_number or isinstance(value, bool | str) else str(value)


def _table(table: ResultTable, store: _Store) -> dict[str, Any]:
    """A table as the template shows it."""
    decimals = {measure: _decimals(table, measure) for measure in table.measures}
    heads = [(column, measure) for column in table.columns for measure in table.measures]
    rows = []
    for row in table.rows:
        cells = [table.cells.get((row, *head)) for head in heads]
        rows.append(
            {
                "name": row,
                "cells": [
                    None if cell is None else _cell(cell, decimals[cell.measure], store.add_cell(cell))
                    for cell in cells
                ],
            }
        )
    label = f"Table {table.number}" if table.number[:1].isdigit() else table.number
    return {
        "name": table.name,
        "label": label,
        "title": table.title,
        "summary": two_sentences(table),
        "notes": table.notes,
        "columns": table.columns,
        "measures": table.measures,
        "heads": heads,
        "rows": rows,
        "panels": [panel for head in heads if (panel := _panel(table, *head))],
        "times": _times(table),
    }


def _decimals(table: ResultTable, measure: str) -> int:
    """The number of decimals that the paper has."""
    cells = [cell for key, cell in table.cells.items() if key[2] == measure]
    return decimals_of(figure.mean for cell in cells for figure in cell.paper)


def _cell(cell: Cell, decimals: int, number: int) -> dict[str, Any]:
    known = [difference for difference in cell.differences if difference is not None]
    differences = ", ".join(map(signed, cell.differences)).replace("-", "\u2212") if known else ""
    return {
        "column": cell.column,
        "measure": cell.measure,
        "number": number,
        "ours": _figures(cell.ours, decimals),
        "paper": _figures(cell.paper, decimals),
        "differences": differences,
        "is_apart": any(abs(value) > 1 for value in known),
        "remark": f"ours {cell.flags}, paper {cell.remark or 'no flag'}" if cell.flags else cell.remark,
        "n_runs": len(cell.runs),
        "n_missing": sum(run.status != "done" for run in cell.runs),
        "keys": {
            "ours": _middle(figure.mean for figure in cell.ours),
            "paper": _middle(figure.mean for figure in cell.paper),
            "difference": _middle(known),
        },
    }


def _figures(figures: Sequence[Figure], decimals: int) -> Texts:
    """Mean and deviation as text; a lower and an upper bound have signs that say so."""
    signs = ("",) if len(figures) == 1 else ("\u2265", "\u2264")
    return [
        {
            "sign": sign,
            "mean": fixed(figure.mean, decimals),
            "deviation": "" if figure.deviation is None else fixed(figure.deviation, decimals),
        }
        for sign, figure in zip(signs, figures, strict=False)
    ]


def _middle(values: Iterable[float]) -> float | str:
    """The key to sort by: the value, or the middle of two bounds; empty if there is none."""
    known = list(values)
    middle = sum(known) / len(known) if known else math.nan
    return round(middle, 6) if math.isfinite(middle) else ""


def _panel(table: ResultTable, column: str, measure: str) -> dict[str, Any] | None:
    """The box plots of one column and measure on one axis."""
    cells = {row: table.cells[row, column, measure] for row in table.rows if (row, column, measure) in table.cells}
    ours = [value for cell in cells.values() for group in _groups(cell) for value in group]
    if not ours:
        return None
    paper = [
        figure.mean + sign * (figure.deviation or 0.0)
        for cell in cells.values() for figure in cell.paper for sign in (-1, 1)
    ]  # fmt: skip
    axis = Axis.over([*ours, *(max(value, 0.0) if min(ours) >= 0 else value for value in paper)])
    strips = [(row, box_strip(_groups(cell), [(f.mean, f.deviation) for f in cell.paper], axis))
              for row, cell in cells.items() if cell.values or cell.paper]  # fmt: skip
    return {"column": column, "measure": measure, "strips": strips, "ticks": tick_labels(axis, 4)}


def _groups(cell: Cell) -> list[np.ndarray]:
    """The finite values of a cell; lower and upper bounds apart."""
    width = max(map(len, cell.values), default=0)
    groups = [np.array([value[min(k, len(value) - 1)] for value in cell.values]) for k in range(width)]
    return [group[np.isfinite(group)] for group in groups if np.isfinite(group).any()]


def _times(table: ResultTable) -> dict[str, Any]:
    """Seconds per finished run, by row and column; every run counts once, however many measures it has."""
    by_row = {row: {column: _finished(table, row, column) for column in table.columns} for row in table.rows}
    seconds = {
        row: np.array([run.seconds for runs in columns.values() for run in runs]) for row, columns in by_row.items()
    }
    seconds = {row: values for row, values in seconds.items() if values.size}
    axis = Axis.over(np.concatenate([np.zeros(0), *seconds.values()]), is_log=True)
    rows = [
        {
            "name": row,
            "medians": [_median(run.seconds for run in by_row[row][column]) for column in table.columns],
            "total": float(values.sum()),
            "n_runs": values.size,
            "strip": box_strip([values], [], axis),
        }
        for row, values in seconds.items()
    ]
    return {"rows": rows, "ticks": tick_labels(axis, 4) if rows else Markup("")}


def _finished(table: ResultTable, row: str, column: str) -> list[Run]:
    cells = [table.cells[row, column, m] for m in table.measures if (row, column, m) in table.cells]
    runs = _distinct(run for cell in cells for run in cell.runs)
    return [run for run in runs if run.status == "done" and math.isfinite(run.seconds)]


def _median(values: Iterable[float]) -> float:
    known = list(values)
    return float(np.median(known)) if known else math.nan


def _failures(tables: Sequence[ResultTable]) -> Iterator[dict[str, Any]]:
    """Runs without a result, once per table."""
    for table in tables:
        seen: set[str] = set()
        for cell in table.cells.values():
            for run in cell.runs:
                if run.status != "done" and run.key not in seen:
                    seen.add(run.key)
                    lines = run.error.strip().splitlines()
                    yield {
                        "table": table.name,
                        "row": cell.row,
                        "column": cell.column,
                        "data": run.data,
                        "status": run.status,
                        "seconds": run.seconds,
                        "summary": lines[-1] if lines else "",
                        "error": run.error if len(lines) > 1 else "",
                    }
