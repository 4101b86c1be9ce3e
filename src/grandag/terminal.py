"""What a person sees while a method runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table

from grandag.progress import Listener, Progress
from grandag.results import edge_table, outcome

__all__ = ["print_result", "progress_line"]

_TITLES = {
    "neighbours": "Selecting neighbours",
    "train": "Training",
    "preselect": "Selecting candidates",
    "score": "Scoring single edges",
    "search": "Inserting edges",
    "forward": "Inserting edges",
    "backward": "Deleting edges",
    "turning": "Turning edges",
    "test": "Testing independence",
    "prune": "Pruning",
    "retrain": "Retraining",
    "resample": "Refitting",
}


@contextmanager
def progress_line(console: Console | None = None) -> Iterator[Listener | None]:
    """A live line on the terminal (standard error); no listener at all where there is no terminal."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[facts]}"), TimeElapsedColumn())
    with ProgressBar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Preparing", total=None, facts="")

        def listener(progress: Progress) -> None:
            bar.update(
                task,
                description=_TITLES.get(progress.stage, progress.stage),
                completed=progress.step,
                total=progress.n_steps or None,
                facts=_facts(progress),
            )

        yield listener


def _facts(progress: Progress) -> str:
    facts = [f"{progress.step:,}/{progress.n_steps:,}" if progress.n_steps else f"{progress.step:,}"]
    if progress.h is not None:
        facts.append(f"h {progress.h:.1e}")
    if progress.held_out is not None:
        facts.append(f"held-out log-likelihood {progress.held_out:.3f}")
    if progress.n_edges is not None:
        facts.append(f"{progress.n_edges:,} edges")
    return ", ".join(facts)


def print_result(facts: dict[str, Any], output: Path | None, most: int = 40) -> None:
    """The edges as a table, then one line on the run."""
    console = Console()
    header, rows = edge_table(facts["edges"][:most])
    table = Table(box=box.SIMPLE_HEAD)
    for position, name in enumerate(header):
        table.add_column(name, justify="left" if position < 2 else "right")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    n_edges = len(facts["edges"])
    if n_edges > most:
        console.print(f"... and {n_edges - most} weaker edges (use --output or --json for all)", highlight=False)
    console.print(outcome(facts), highlight=False)
    if output is not None:
        console.print(f"Drawing: {output / 'graph.svg'}; all files in {output}/", highlight=False)
