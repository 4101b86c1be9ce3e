"""What a table says, in two sentences to be quoted: who is best in how many cells, and ours against the paper.

A cell is one measure on one kind of data. The best method has the lowest mean (of scores, the highest), several share a
cell if their means are the same to the digit that is shown; a method with bounds counts with the middle of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from grandag.reproduction.result_table import Cell, Figure, ResultTable
from grandag.wording import counted

__all__ = ["two_sentences"]

_NAMED = 3
"""Methods that are named with the number of cells in which they are best, at most."""


def two_sentences(table: ResultTable) -> tuple[str, ...]:
    """Who is best, and how we compare with the paper; less where too little has been run."""
    return tuple(filter(None, (_best(table), _against_the_paper(table))))


def _best(table: ResultTable) -> str:
    """The methods that are best in most cells, of those cells in which at least two have been run."""
    compared = [(measure, cells) for measure, cells in _columns(table) if len(cells) > 1]
    wins = Counter(cell.row for measure, cells in compared for cell in _winners(measure, cells))
    if not compared:
        return ""
    ranked = sorted(wins.items(), key=lambda item: (-item[1], table.rows.index(item[0])))
    (first, n_best), others = ranked[0], ranked[1:_NAMED]
    rest = "".join(f", {row} in {n}" for row, n in others)
    return (
        f"{first} is the best of {counted(len(table.rows), 'method')} in {n_best} of {counted(len(compared), 'cell')} "
        f"(ties counted for each){rest}."
    )


def _columns(table: ResultTable) -> Iterator[tuple[str, list[Cell]]]:
    """The cells of each kind of data and measure that have been run."""
    for column in table.columns:
        for measure in table.measures:
            cells = (table.cells.get((row, column, measure)) for row in table.rows)
            yield measure, [cell for cell in cells if cell is not None and cell.ours]


def _winners(measure: str, cells: Sequence[Cell]) -> list[Cell]:
    sign = -1 if measure.startswith("score") else 1
    middles = [sign * round(_middle(cell.ours), 2 if measure.startswith(("NLL", "score")) else 1) for cell in cells]
    return [cell for cell, middle in zip(cells, middles, strict=True) if middle == min(middles)]


def _against_the_paper(table: ResultTable) -> str:
    """How many figures of the paper's own methods agree with the paper's, and the one that is furthest from it."""
    known = [
        (difference, cell)
        for cell in table.cells.values()
        if cell.row not in table.own_rows
        for difference in cell.differences
        if difference is not None
    ]
    if not known:
        return ""
    apart = np.array([difference for difference, _ in known])
    n_lower, n_higher = int((apart < -1).sum()), int((apart > 1).sum())
    text = (
        f"Same methods, ours against the paper's: {len(known) - n_lower - n_higher} of {counted(len(known), 'figure')} "
        f"within one of its standard deviations, {n_lower} lower, {n_higher} higher"
    )
    difference, cell = known[int(np.abs(apart).argmax())]
    if abs(difference) <= 1:
        return f"{text}."
    return (
        f"{text}; the furthest is {cell.row} on {cell.column} ({cell.measure} {_middle(cell.ours):,.1f}, paper "
        f"{_middle(cell.paper):,.1f})."
    )


def _middle(figures: Sequence[Figure]) -> float:
    return float(np.mean([figure.mean for figure in figures]))
