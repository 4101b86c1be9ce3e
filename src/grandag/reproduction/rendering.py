"""A table of results for a terminal and as Markdown, LaTeX and CSV: ours, the paper's, and the difference between them.

The difference is (ours - paper's) in the paper's standard deviations. Rows are grouped by data, so that a table stays
narrow however many columns the paper's has.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from grandag.reproduction.result_table import Cell, Figure, ResultTable, signed
from grandag.reproduction.summary import two_sentences

__all__ = ["CSV_HEADER", "to_csv", "to_latex", "to_markdown", "to_terminal"]

CSV_HEADER = (
    "table", "row", "column", "measure", "mean", "deviation", "upper_mean", "upper_deviation", "flags", "paper_mean",
    "paper_deviation", "paper_upper_mean", "paper_upper_deviation", "paper_remark", "difference", "upper_difference",
    "done", "failed", "out_of_time",
)  # fmt: skip

_FLAGS = re.compile(r"[-+* ]*")


def _number(value: float, measure: str) -> str:
    """A number with as many digits as in the paper."""
    return f"{value:.2f}" if measure.startswith(("NLL", "score")) else f"{value:,.1f}"


def _figure(figure: Figure, measure: str) -> str:
    deviation = "" if figure.deviation is None else f"±{_number(figure.deviation, measure)}"
    return _number(figure.mean, measure) + deviation


def _figures(figures: Sequence[Figure], measure: str) -> str:
    """One figure, or bounds in brackets."""
    words = [_figure(figure, measure) for figure in figures]
    return f"[{', '.join(words)}]" if len(words) > 1 else "".join(words)


def _ours(cell: Cell) -> str:
    return f"{_figures(cell.ours, cell.measure)} {cell.flags}".strip()


def _paper(cell: Cell) -> str:
    """The paper's figures with its flags; its remark where it has no figures."""
    beside = cell.remark if not cell.paper or _FLAGS.fullmatch(cell.remark) else ""
    return f"{_figures(cell.paper, cell.measure)} {beside}".strip()


def _difference(cell: Cell) -> str:
    is_known = any(difference is not None for difference in cell.differences)
    return " ".join(map(signed, cell.differences)) if is_known else ""


def _runs(cell: Cell) -> str:
    """The number of finished runs, and how many failed or ran out of time."""
    if not cell.runs:
        return ""
    counts = Counter(run.status for run in cell.runs)
    others = [f"{counts[status]} {status}" for status in ("failed", "out of time") if counts[status]]
    return ", ".join([str(counts["done"]), *others])


def _layout(table: ResultTable) -> tuple[list[str], list[list[list[str]]]]:
    """The header, and for each kind of data the rows of its methods.

    Empty columns are left out, except for the first one of a measure that has others: its head names the measure.
    """
    header = ["data", "method", *(word for name in table.measures for word in (name, "paper", "diff.")), "runs"]
    groups = []
    for column in table.columns:
        rows = []
        for row in table.rows:
            cells = [table.cells[row, column, measure] for measure in table.measures]
            words = [word for cell in cells for word in (_ours(cell), _paper(cell), _difference(cell))]
            rows.append([column, row, *words, _runs(cells[0])])
        groups.append(rows)
    filled = [any(row[position] for rows in groups for row in rows) for position in range(len(header))]
    for first in range(2, len(header) - 1, 3):
        filled[first] |= any(filled[first : first + 3]) and not _is_words(table)
    kept = [position for position, is_filled in enumerate(filled) if is_filled]
    return [header[k] for k in kept], [[[row[k] for k in kept] for row in rows] for rows in groups]


def _is_words(table: ResultTable) -> bool:
    """Is it the table of search spaces, which has no figures?"""
    return table.measures == ("space",)


def _title(table: ResultTable) -> str:
    number = table.number if table.number.startswith("figure") else f"table {table.number}"
    return f"{number.capitalize()}: {table.title}"


def to_terminal(table: ResultTable) -> Table:
    """The table for a terminal, as rich shows it."""
    shown = Table(box=box.SIMPLE_HEAD, title=escape(_title(table)), title_justify="left", caption_justify="left")
    shown.pad_edge, shown.collapse_padding = False, True
    header, groups = _layout(table)
    for position, word in enumerate(header):
        shown.add_column(escape(word), justify="left" if position < 2 or _is_words(table) else "right", overflow="fold")
    for rows in groups:
        for row in rows:
            shown.add_row(*map(escape, row))
        shown.add_section()
    shown.caption = escape("\n".join([*two_sentences(table), *table.notes])) or None
    return shown


def to_markdown(table: ResultTable) -> str:
    """The table as a section of Markdown."""
    header, groups = _layout(table)

    def line(words: Sequence[str]) -> str:
        return "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"

    lines = [line(header), "|---|---|" + "---:|" * (len(header) - 2)]
    lines += [line([_starless(word) for word in row]) for rows in groups for row in rows]
    notes = [f"\n{note}" for note in (*two_sentences(table), *table.notes)]
    return "\n".join([f"## {_title(table)}\n", *lines, *map(_starless, notes)]) + "\n"


def _starless(text: str) -> str:
    """Text whose stars Markdown takes for stars."""
    return text.replace("*", "\\*")


def to_latex(table: ResultTable) -> str:
    """The table as a LaTeX environment; it needs the package booktabs."""
    header, groups = _layout(table)

    def line(words: Sequence[str]) -> str:
        return " & ".join(_latex(word) for word in words) + r" \\"

    body = "\n\\midrule\n".join("\n".join(line(row) for row in rows) for rows in groups)
    caption = _latex(". ".join([_title(table), *(note.rstrip(".") for note in table.notes)]))
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{ll{'r' * (len(header) - 2)}}}",
            r"\toprule",
            line(header),
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _latex(text: str) -> str:
    replaced = {"\\": r"\textbackslash{}", "±": r"$\pm$", "^": r"\textasciicircum{}", "~": r"$\sim$", ">": r"$>$",
                "<": r"$<$", "|": r"$|$", "\u2013": "--"}  # fmt: skip
    words = "".join(replaced.get(letter, rf"\{letter}" if letter in "_&%#${}" else letter) for letter in text)
    return re.sub(r"(?<![\w$])-(?=\d)", "$-$", words)


def to_csv(table: ResultTable) -> str:
    """The table as CSV: one line per cell, numbers in full."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    writer.writerows(_csv_row(table, cell) for cell in table.cells.values())
    return file.getvalue()


def _csv_row(table: ResultTable, cell: Cell) -> list[Any]:
    def four(figures: Sequence[Figure]) -> list[Any]:
        flat = [value for figure in figures for value in (figure.mean, figure.deviation)]
        return (flat + [None] * 4)[:4]

    differences = [*cell.differences, None, None][:2]
    counts = Counter(run.status for run in cell.runs)
    return [
        table.number, cell.row, cell.column, cell.measure, *four(cell.ours), cell.flags, *four(cell.paper), cell.remark,
        *differences, counts["done"], counts["failed"], counts["out of time"],
    ]  # fmt: skip
