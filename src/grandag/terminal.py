"""What a person sees while a method runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table

from grandag.progress import Listener, Progress
from grandag.results import edge_table, outcome

if TYPE_CHECKING:
    from grandag.experiments.tuning import Tuning

__all__ = ["print_result", "print_trials", "progress_line", "trial_progress"]

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
    "tune": "Tuning, best so far",
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


@contextmanager
def trial_progress(console: Console | None = None) -> Iterator[Listener]:
    """A live line on the terminal (standard error); where there is none, one line in the log per trial."""
    console = console or Console(stderr=True)

    def log(progress: Progress) -> None:
        console.print(f"{_TITLES[progress.stage]}: {_facts(progress)}", highlight=False, soft_wrap=True)

    with progress_line(console) as listener:
        yield listener or log


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
        table.add_column(name, justify="left" if position < 2 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    n_edges = len(facts["edges"])
    if n_edges > most:
        console.print(f"... and {n_edges - most} weaker edges (use --output or --json for all)", highlight=False)
    console.print(outcome(facts), highlight=False)
    if output is not None:
        console.print(f"Drawing: {output / 'graph.svg'}; all files in {output}/", highlight=False)


def print_trials(result: Tuning, most: int = 5) -> None:
    """The best trials as a table, those that converged first, then one line on the search."""
    console = Console()
    table = Table("trial", "parameters", box=box.SIMPLE_HEAD)
    for name in ("score", "edges", "converged", "seconds"):
        table.add_column(name, justify="right")
    scored = [(trial, trial.fit) for trial in result.trials if trial.fit is not None]
    for trial, fit in sorted(scored, key=lambda pair: (not pair[1].converged, -pair[1].score))[:most]:
        parameters = ", ".join(f"{name} {_value_text(value)}" for name, value in trial.parameters.items())
        facts = (f"{fit.score:.4f}", f"{fit.n_edges:,}", "yes" if fit.converged else "no", f"{fit.seconds:.1f}")
        table.add_row(str(trial.number), parameters, *facts)
    console.print(table)
    console.print(result.describe(), highlight=False)


def _value_text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
