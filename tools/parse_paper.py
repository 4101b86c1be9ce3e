"""The figures of the paper's tables, read from its LaTeX source into a table of cells.

    python tools/parse_paper.py PAPER.tex > src/grandag/reproduction/published.csv

One line per cell: the table's number in the compiled paper, row, column, measure, mean and standard deviation, the same
of the upper bound where the paper gives bounds, the flags of the hyper-parameter search, and a remark on what the
source has instead of figures. Rows and columns have the names of `grandag.reproduction.specification`.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

HEADER = (
    "table", "row", "column", "measure", "mean", "deviation", "upper_mean", "upper_deviation", "flags", "remark"
)  # fmt: skip

METHODS = ("GraN-DAG", "GraN-DAG++", "DAG-GNN", "NOTEARS", "CAM", "GSF", "GES", "PC", "RANDOM")
SHD_SID = ("SHD", "SID")
GRAPHS = ("ER1", "ER4", "SF1", "SF4")
NODES_AND_GRAPHS = tuple(f"{nodes} nodes {graph}" for nodes in (10, 50) for graph in ("ER1", "ER4"))
REAL = ("Sachs", "SynTReN")

GRIDS: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys((1, 2, 8, 9, 15, 16, 17, 18), (GRAPHS, SHD_SID)),
    **dict.fromkeys((12, 13, 19, 20, 21, 22), (NODES_AND_GRAPHS, SHD_SID)),
    **dict.fromkeys((3, 23), (REAL, ("SHD", "SHD-C", "SID"))),
    4: (("20 nodes ER1", "20 nodes ER4", "100 nodes ER1", "100 nodes ER4"), ("iterations",)),
}
"""Columns and measures of the tables that have one line (or two, for bounds) per method."""

BLOCKS = {10: "SHD", 11: "SID"}
"""Tables whose methods come twice, first for ER and then for SF graphs, and their measure."""

_FIGURE = re.compile(r"(-?\d+(?:\.\d+)?)(?:\\pm(\d+(?:\.\d+)?))?(?:\^\{?([+-]+)\}?)?(?:_\{(\*+)\})?")


class Cell(NamedTuple):
    """What one cell of the source says: figures are (mean, deviation) as written."""

    figures: tuple[tuple[str, str], ...]
    flags: str = ""
    remark: str = ""


def tables(source: str) -> list[list[list[str]]]:
    """Every table of the source in order, as rows of cells without formatting."""
    return [_rows(body) for body in re.findall(r"\\begin\{table\}(.*?)\\end\{table\}", source, flags=re.DOTALL)]


def _rows(body: str) -> list[list[str]]:
    body = body[body.index(r"\begin{tabular}") :]
    body = re.sub(r"\\begin\{tabular\}\[c\]\{@\{\}l@\{\}\}(.*?)\\end\{tabular\}", _on_one_line, body)
    body = re.sub(r"\\makecell\[tl\]\{(.*?\\\\.*?)\}(?=\s*(?:&|\\\\))", _on_one_line, body)
    body = re.sub(r"\\begin\{tabular\}\{[^}]*\}|\\end\{tabular\}|\\(?:top|mid|bottom)rule|\\hline", "", body)
    body = re.sub(r"\\footnotemark", "", body)
    return [[_plain(cell) for cell in row.split("&")] for row in re.split(r"\\\\", body)]


def _on_one_line(match: re.Match[str]) -> str:
    return match[1].replace(r"\\", ";")


def _plain(cell: str) -> str:
    """Without fonts and spaces around; dollars stay, for they tell a corrupt figure from a good one."""
    cell = re.sub(r"\\(?:textbf|mathbf)(?=\{)", "", cell)
    return " ".join(cell.split())


def parse(text: str) -> Cell:
    """A cell from its source: a figure, bounds, or words."""
    bare = re.sub(r"[\s$]", "", text).replace("---", "")
    if not bare:
        return Cell((), "", "not given")
    if bare.startswith(">"):
        return Cell((), "", "> 12 hours")
    figures, flags = [], ""
    for part in re.split("[,;]", bare):
        match = _FIGURE.fullmatch(_without_braces(part))
        if match is None:
            return Cell((), "", f"corrupt in the source: {text}")
        mean, deviation, change, convergence = match.groups("")
        figures.append((mean, deviation))
        flags = flags or " ".join(filter(None, (change, convergence)))
    return Cell(tuple(figures), flags)


def _without_braces(part: str) -> str:
    """Without brackets of bounds and the braces of fonts; those of exponents and indices stay."""
    part = part.replace("[", "").replace("]", "")
    while (bare := re.sub(r"(?<![\^_])\{((?:[^{}]|[\^_]\{[^{}]*\})*)\}", r"\1", part)) != part:
        part = bare
    return re.sub(r"[{}]$|^[{}]", "", part) if part.count("{") != part.count("}") else part


def cells(number: int, rows: list[list[str]]) -> Iterator[tuple[str, str, str, Cell]]:
    """(row, column, measure, cell) of one table."""
    if number in GRIDS:
        columns, measures = GRIDS[number]
        yield from _grid(rows, list(product(columns, measures)))
    elif number in BLOCKS:
        for half, names in enumerate((("ER1", "ER4"), ("SF1", "SF4"))):
            keys = [(f"{nodes} nodes {graph}", BLOCKS[number]) for nodes in (10, 20, 50, 100) for graph in names]
            found = list(_grid(rows, keys))
            yield from found[half * len(found) // 2 : (half + 1) * len(found) // 2]
    else:
        yield from {5: _ablation, 6: _ablations, 7: _sample_sizes, 14: _post_nonlinear, 24: _spaces}[number](rows)


def _grid(rows: list[list[str]], keys: list[tuple[str, str]]) -> Iterator[tuple[str, str, str, Cell]]:
    """One line per method; a nameless line after it has the upper bounds."""
    for row, below in zip(rows, [*rows[1:], [""]], strict=True):
        if row[0] not in METHODS or len(row) != len(keys) + 1:
            continue
        has_upper = below[0] == "" and any(cell.rstrip("} ").endswith("]") for cell in below)
        for position, (column, measure) in enumerate(keys, start=1):
            upper = below[position] if has_upper else ""
            yield row[0], column, measure, parse(f"{row[position]};{upper}" if "]" in upper else row[position])


def _stages(neighbours: str, pruning: str) -> str:
    return f"{'+' if neighbours == 'True' else '-'}PNS {'+' if pruning == 'True' else '-'}pruning"


def _ablation(rows: list[list[str]]) -> Iterator[tuple[str, str, str, Cell]]:
    for neighbours, pruning, *values in rows[1:]:
        for measure, value in zip((*SHD_SID, "NLL (train)", "NLL (validation)"), values, strict=True):
            yield f"GraN-DAG {_stages(neighbours, pruning)}", "50 nodes ER1", measure, parse(value)


def _ablations(rows: list[list[str]]) -> Iterator[tuple[str, str, str, Cell]]:
    method = ""
    for name, neighbours, pruning, *values in rows[1:]:
        method = name or method
        for measure, value in zip((*SHD_SID, "score (train)", "score (validation)"), values, strict=True):
            yield f"{method} {_stages(neighbours, pruning)}", "50 nodes ER1", measure, parse(value)


def _sample_sizes(rows: list[list[str]]) -> Iterator[tuple[str, str, str, Cell]]:
    size = ""
    for given, method, *values in rows[1:]:
        size = given or size
        for measure, value in zip(SHD_SID, values, strict=True):
            yield method, f"{int(size):,} rows", measure, parse(value)


def _post_nonlinear(rows: list[list[str]]) -> Iterator[tuple[str, str, str, Cell]]:
    setting = ""
    for row in rows:
        if len(row) != 6 or row[1] not in METHODS:
            continue
        setting = row[0] or setting
        for (kind, measure), value in zip(product(("PNL-GP", "PNL-MULT"), SHD_SID), row[2:], strict=True):
            yield row[1], f"{kind} {setting}", measure, parse(value)


def _spaces(rows: list[list[str]]) -> Iterator[tuple[str, str, str, Cell]]:
    for method, space in (row for row in rows if row[0] in METHODS):
        words = re.sub(r"\\(epsilon|sim|#|\{|\})", lambda match: {"sim": "~"}.get(match[1], match[1]), space)
        readable = re.sub(r"10\^\{(-\d+)\}", r"1e\1", words.replace("$", ""))
        yield method, "space", "", Cell((), "", " ".join(readable.split()).replace(" ;", ";"))


def in_the_text(source: str) -> Iterator[tuple[str, str, str, Cell]]:
    """The variant of the first ablation that the text gives below its table."""
    found = re.search(r"obtained an SHD of (\S+) and an SID of (\S+),", source)
    assert found is not None
    for measure, value in zip(SHD_SID, found.groups(), strict=True):
        cell = parse(value)._replace(remark="in the text, not in the table")
        yield "GraN-DAG -PNS -pruning A_phi>=0.3", "50 nodes ER1", measure, cell


def lines(source: str) -> Iterator[tuple[str, ...]]:
    """All lines of the table of cells."""
    for number, rows in enumerate(tables(source), start=1):
        found: Iterable[tuple[str, str, str, Cell]] = cells(number, [row for row in rows if len(row) > 1])
        for row, column, measure, cell in [*found, *(in_the_text(source) if number == 5 else ())]:
            figures = [text for figure in cell.figures for text in figure]
            yield str(number), row, column, measure, *(figures + [""] * 4)[:4], cell.flags, cell.remark


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(lines(Path(sys.argv[1]).read_text(encoding="utf-8")))
