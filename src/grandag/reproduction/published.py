"""The paper's own figures: `published.csv`, which `tools/parse_paper.py` reads from the LaTeX source, checked by hand.

One cell of the source is corrupt (table 10, PC at 20 nodes ER1): it is recorded as missing, with what is there.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple

from grandag.reproduction.result_table import Figure

__all__ = ["PaperCell", "paper_cells", "search_spaces"]

_SPACES = "24"


class PaperCell(NamedTuple):
    """One cell of the paper: no figure, one, or a lower and an upper bound."""

    table: str
    figures: tuple[Figure, ...] = ()
    flags: str = ""
    remark: str = ""

    @property
    def note(self) -> str:
        """Flags of the hyper-parameter search, and what stands beside or instead of the figures."""
        return "; ".join(filter(None, (self.flags, self.remark)))


@cache
def paper_cells() -> dict[tuple[str, str, str, str], PaperCell]:
    """The paper's cells by (table's number, row, column, measure).

    >>> paper_cells()["1", "GraN-DAG", "ER1", "SHD"].figures
    (Figure(mean=1.7, deviation=2.5),)
    """
    return {
        (line["table"], line["row"], line["column"], line["measure"]): _cell(line)
        for line in _lines()
        if line["table"] != _SPACES
    }


def search_spaces() -> dict[str, tuple[str, ...]]:
    """Table 24, the spaces of the hyper-parameter search, as the paper words them, by method.

    >>> search_spaces()["CAM"]
    ('Log(Pruning cutoff) ~ U[-6, 0]',)
    """
    return {line["row"]: tuple(line["remark"].split("; ")) for line in _lines() if line["table"] == _SPACES}


def _lines() -> list[dict[str, str]]:
    with resources.files(__package__).joinpath("published.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _cell(line: dict[str, str]) -> PaperCell:
    figures = tuple(
        Figure(float(line[mean]), float(line[deviation]) if line[deviation] else None)
        for mean, deviation in (("mean", "deviation"), ("upper_mean", "upper_deviation"))
        if line[mean]
    )
    return PaperCell(line["table"], figures, line["flags"], line["remark"])
