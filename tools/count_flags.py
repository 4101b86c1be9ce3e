"""What the paper's hyper-parameter search did, counted from its own tables (15 to 23).

    python tools/count_flags.py

First, per method, the cells that its flags call better or worse than with default parameters, and clearly so. Then, of
which runs the "one standard deviation" of a doubled flag is: how many flags follow from the printed figures with the
deviation of the tuned runs, and with that of the default runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from grandag.reproduction.published import PaperCell, paper_cells
from grandag.reproduction.specification import EXPERIMENTS, Setting


class Flagged(NamedTuple):
    """A cell of a search table whose improvement is flagged, and the same cell with default parameters."""

    method: str
    tuned: PaperCell
    default: PaperCell | None

    @property
    def flag(self) -> str:
        """The part of the flags that is about improvement."""
        return "".join(sign for sign in self.tuned.flags if sign in "+-")


def identity(setting: Setting) -> tuple[object, ...]:
    """What is the same in two tables that name a column differently."""
    return setting.kind, setting.n_nodes, setting.graph, setting.n_rows


def flagged_cells() -> Iterator[Flagged]:
    """Every flagged cell, with its counterpart in the tables of default parameters."""
    cells = paper_cells()
    default = {
        (row.paper_row, identity(column), measure): cells.get((plain.number, row.paper_row, column.name, measure))
        for plain in EXPERIMENTS.values()
        if plain.task == "fit"
        for row in plain.rows
        for column in plain.columns
        for measure in plain.measures
    }
    for search in EXPERIMENTS.values():
        columns = {column.name: column for column in search.columns} if search.task == "search" else {}
        for (number, method, column, measure), cell in cells.items():
            if number == search.number and column in columns:
                found = Flagged(method, cell, default.get((method, identity(columns[column]), measure)))
                if found.flag:
                    yield found


def follows(cell: Flagged, of: PaperCell) -> bool | None:
    """Does the flag follow from the figures (of bounds, the lower) with these runs' deviation? None: cannot be said."""
    if cell.default is None or not cell.default.figures or not of.figures or of.figures[0].deviation is None:
        return None
    gain = cell.default.figures[0].mean - cell.tuned.figures[0].mean
    if gain == 0:
        return None
    return cell.flag == ("+" if gain > 0 else "-") * (2 if abs(gain) > of.figures[0].deviation else 1)


def main() -> None:
    """Both counts: the first as rows of a Markdown table."""
    flagged = list(flagged_cells())
    for method in dict.fromkeys(cell.method for cell in flagged):
        flags = Counter(cell.flag for cell in flagged if cell.method == method)
        better, worse = flags["+"] + flags["++"], flags["-"] + flags["--"]
        print(f"| {method} | {better} of {flags.total()} | {flags['++']} | {worse} | {flags['--']} |")
    for runs in ("tuned", "default"):
        verdicts = [follows(cell, getattr(cell, runs)) for cell in flagged if cell.default is not None]
        checked = [verdict for verdict in verdicts if verdict is not None]
        print(f"{runs}: {sum(checked)} of the {len(checked)} flags follow from the figures")


if __name__ == "__main__":
    main()
