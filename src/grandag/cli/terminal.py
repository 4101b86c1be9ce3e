"""Results as tables on the terminal."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grandag.cli.common import visible
from grandag.report.facts import headline
from grandag.showing import edge_table, explanations
from grandag.wording import counted

if TYPE_CHECKING:
    from grandag.comparison import Comparison
    from grandag.learned import Learned
    from grandag.tuning.tune import Tuning

__all__ = ["print_comparison", "print_refinement", "print_result", "print_trials"]


def _console() -> Console:
    """Standard output; in a pipe or a file lines are as long as they are, so that no name is broken."""
    console = Console()
    return console if console.is_terminal else Console(width=100_000)


def print_result(facts: dict[str, Any], output: Path | None, most: int = 40) -> None:
    """The edges as a table, then one line on the run, and its notes."""
    console = _console()
    header, rows = edge_table(facts["edges"][:most])
    table = Table(box=box.SIMPLE_HEAD)
    for position, name in enumerate(header):
        table.add_column(name, justify="left" if position < 2 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(visible(cell)) for cell in row))
    console.print(table)
    n_edges = len(facts["edges"])
    if n_edges > most:
        rest = counted(n_edges - most, "weaker edge")
        console.print(f"... and {rest} (use --output or --json for all)", highlight=False)
    for explanation in explanations(header):
        console.print(explanation, highlight=False)
    console.print(headline(facts), highlight=False)
    if "intervention_check" in facts:
        console.print(_checked_regimes(facts["intervention_check"]))
    for note in facts["notes"]:
        console.print(f"Note: {visible(note)}", highlight=False, markup=False)
    if output is not None:
        console.print(f"Drawing: {output / 'graph.svg'}; all files in {output}/", highlight=False)


def _checked_regimes(rows: list[dict[str, Any]]) -> Table:
    """How far off predictions of regimes are that a refit has not seen."""
    table = Table(box=box.SIMPLE_HEAD)
    for position, name in enumerate(("left out", "means off by", "unchanged", "spreads off by", "unchanged")):
        table.add_column(name, justify="right" if position else "left", overflow="fold")
    for row in rows:
        errors = (row["error"], row["unchanged_error"], row["spread_error"], row["unchanged_spread_error"])
        table.add_row(escape(visible(row["regime"])), *(f"{error:.2f}" for error in errors))
    return table


def print_refinement(before: Learned, after: Learned) -> None:
    """The edges of a refined graph beside those of the given one, and the evidence of both."""
    console = _console()
    table = Table("source", "target", box=box.SIMPLE_HEAD)
    table.add_column("evidence", justify="right")
    table.add_column("in the given graph")
    old = {(edge["source"], edge["target"]): edge["evidence"] for edge in before.edges().to_dict(orient="records")}
    for edge in after.edges().to_dict(orient="records"):
        pair = edge["source"], edge["target"]
        was = "yes" if pair in old else "reversed" if pair[::-1] in old else "no"
        table.add_row(*(escape(visible(name)) for name in pair), f"{edge['evidence']:.1f}", was)
    new = {tuple(pair) for pair in after.edges()[["source", "target"]].to_numpy()}
    for pair, worth in old.items():
        if pair not in new and pair[::-1] not in new:
            table.add_row(*(escape(visible(name)) for name in pair), f"({worth:.1f})", "dropped")
    console.print(table)
    totals = before.values["evidence"], after.values["evidence"]
    console.print(f"Evidence in nats: {totals[0]:,.1f} as given, {totals[1]:,.1f} refined.", highlight=False)
    for note in after.notes:
        console.print(f"Note: {visible(note)}", highlight=False, markup=False)


def print_comparison(comparison: Comparison, most: int = 40) -> None:
    """The table of methods, and the edges by method."""
    console = _console()
    table = Table(box=box.SIMPLE_HEAD)
    for position, name in enumerate(("method", "edges", "held-out", "seconds", "agreement", "converged")):
        table.add_column(name, justify="right" if position else "left")
    for row in comparison.table().to_dict(orient="records"):
        if row["method"] in comparison.results:
            agreement = "-" if math.isnan(row["agreement"]) else f"{row['agreement']:.0%}"
            facts = (str(row["edges"]), f"{row['held_out']:.3f}", f"{row['seconds']:.1f}", agreement)
            table.add_row(row["method"], *facts, "yes" if row["converged"] else "no")
    console.print(table)
    edges = comparison.edges()
    matrix = Table(box=box.SIMPLE_HEAD)
    for position, name in enumerate(edges.columns):
        matrix.add_column(name, justify="left" if position < 2 else "center", overflow="fold")
    for cells in edges.head(most).astype(str).to_numpy():
        matrix.add_row(*(escape(visible(cell)) for cell in cells))
    console.print(matrix)
    if len(edges) > most:
        rest = counted(len(edges) - most, "more pair")
        console.print(f"... and {rest} (use --output, --report or --json for all)", highlight=False)
    for entry in comparison.entries:
        if entry.failure:
            console.print(f"{entry.method} failed: {entry.failure}", highlight=False, markup=False)
    console.print(
        "Held-out: log-likelihood per row of 20 % of the rows, by a fit to the others; more is better.\n"
        "Agreement: share of the edges that at least half of the other methods have, in whatever direction.",
        highlight=False,
    )
    for note in comparison.notes():
        console.print(f"Note: {visible(note)}", highlight=False, markup=False)


def print_trials(result: Tuning, most: int = 5) -> None:
    """The best trials as a table, those that converged first."""
    console = _console()
    table = Table("trial", "parameters", box=box.SIMPLE_HEAD)
    for name in ("score", "edges", "converged", "seconds"):
        table.add_column(name, justify="right")
    scored = [(trial, trial.fit) for trial in result.trials if trial.fit is not None]
    for trial, fit in sorted(scored, key=lambda pair: (not pair[1].converged, -pair[1].score))[:most]:
        parameters = ", ".join(f"{name} {_value_text(value)}" for name, value in trial.parameters.items())
        facts = (f"{fit.score:.4f}", f"{fit.n_edges:,}", "yes" if fit.converged else "no", f"{fit.seconds:.1f}")
        table.add_row(str(trial.number), parameters, *facts)
    console.print(table)


def _value_text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
