"""A table of results as data: what was run for each cell, and what the paper has in its place.

Terminal, Markdown, LaTeX, CSV and HTML are views of these; none of them computes anything of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

__all__ = ["Cell", "Figure", "ResultTable", "Run", "signed"]


@dataclass(frozen=True)
class Figure:
    """A mean over data sets and its standard deviation, where there is one (n - 1 in the denominator)."""

    mean: float
    deviation: float | None = None

    @classmethod
    def of(cls, values: Iterable[float]) -> Figure:
        """The mean and deviation of these values; a single value has no deviation."""
        array = np.fromiter(values, dtype=np.float64)
        return cls(float(array.mean()), float(array.std(ddof=1)) if array.size > 1 else None)


@dataclass(frozen=True)
class Run:
    """One finished job in a table. A measure has one value, or a lower and an upper bound."""

    key: str
    method: str
    data: str
    parameters: Mapping[str, Any]
    status: Literal["done", "failed", "out of time"]
    error: str = ""
    measures: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    seconds: float = math.nan
    iterations: int | None = None
    score: float | None = None
    names: tuple[str, ...] = ()
    truth: np.ndarray | None = None
    adjacency: np.ndarray | None = None


@dataclass(frozen=True)
class Cell:
    """One place of a table: our runs, and the paper's figures (none, one, or a lower and an upper bound)."""

    row: str
    column: str
    measure: str
    runs: tuple[Run, ...]
    paper: tuple[Figure, ...] = ()
    remark: str = ""
    """What the paper writes beside or instead of figures: "> 12 hours", the flags of the hyper-parameter search."""
    flags: str = ""
    """Our own flags of the hyper-parameter search."""

    @property
    def values(self) -> tuple[tuple[float, ...], ...]:
        """The measure in each finished run."""
        return tuple(run.measures[self.measure] for run in self.runs if self.measure in run.measures)

    @property
    def ours(self) -> tuple[Figure, ...]:
        """Our figures; a method that gives one value in one run and bounds in another counts as bounds."""
        if not self.values:
            return ()
        width = max(map(len, self.values))
        return tuple(Figure.of(value[min(k, len(value) - 1)] for value in self.values) for k in range(width))

    @property
    def differences(self) -> tuple[float | None, ...]:
        """(Ours - paper's) in standard deviations of the paper's: none where one of us has no figures.

        One value is compared with both of two bounds. None stands where the paper has no deviation, or one of zero.
        """
        if not self.ours or not self.paper:
            return ()
        width = max(len(self.ours), len(self.paper))
        ours, theirs = ((figures * width)[:width] for figures in (self.ours, self.paper))
        return tuple(
            (own.mean - paper.mean) / paper.deviation if paper.deviation else None
            for own, paper in zip(ours, theirs, strict=True)
        )


@dataclass(frozen=True)
class ResultTable:
    """A table of the paper, filled as far as its jobs are done. `cells` is by (row, column, measure)."""

    name: str
    number: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    measures: tuple[str, ...]
    cells: Mapping[tuple[str, str, str], Cell]
    notes: tuple[str, ...] = ()
    own_rows: tuple[str, ...] = ()
    """Rows that the paper does not have, which are set beside one that it has."""


def signed(difference: float | None) -> str:
    """A difference as text: with its sign unless it is 0.0, and a dash for none.

    >>> [signed(value) for value in (1.26, -0.04, None)]
    ['+1.3', '0.0', '–']
    """
    if difference is None:
        return "\u2013"
    text = f"{difference:,.1f}"
    if text == "-0.0":
        return "0.0"
    return f"+{text}" if difference > 0 and text != "0.0" else text
