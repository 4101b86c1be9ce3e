"""What a running method reports, and the line on a terminal that shows it."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from grandag.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Listener", "Progress", "progress_line", "progress_lines"]


class Progress(NamedTuple):
    """One moment of a run; what a stage does not know is None. A search, which may go on for ever, has 0 steps."""

    stage: str
    step: int
    n_steps: int
    h: float | None = None
    held_out: float | None = None
    n_edges: int | None = None
    evidence: float | None = None

    @property
    def title(self) -> str:
        """The stage in words."""
        return _TITLES.get(self.stage, self.stage)

    @property
    def facts(self) -> str:
        """Everything else that is known, as text.

        >>> Progress("refine", 3, 0, evidence=-1527.71, n_edges=4).facts
        '3 moves, evidence -1,527.7, 4 edges'
        """
        facts = [f"{self.step:,}/{self.n_steps:,}" if self.n_steps else counted(self.step, "move")]
        if self.h is not None:
            facts.append(f"h {self.h:.1e}")
        if self.held_out is not None:
            facts.append(f"held-out log-likelihood {self.held_out:.3f}")
        if self.evidence is not None:
            facts.append(f"evidence {self.evidence:,.1f}")
        if self.n_edges is not None:
            facts.append(counted(self.n_edges, "edge"))
        return ", ".join(facts)


Listener = Callable[[Progress], None]
"""Called from the fitting thread a few times per second; an exception that it raises ends the fit."""

_TITLES = {
    "neighbours": "Selecting neighbours",
    "train": "Training",
    "preselect": "Selecting candidates",
    "score": "Scoring single edges",
    "search": "Inserting edges",
    "parent sets": "Scoring sets of parents",
    "subsets": "Searching orders of the variables",
    "restarts": "Searching DAGs",
    "sinks": "Finding the order",
    "eliminate": "Eliminating parents",
    "forward": "Inserting edges",
    "backward": "Deleting edges",
    "turning": "Turning edges",
    "test": "Testing independence",
    "prune": "Pruning",
    "select": "Selecting parents by evidence",
    "refine": "Searching by evidence",
    "retrain": "Retraining",
    "conditionals": "Fitting conditionals",
    "resample": "Refitting",
    "tune": "Tuning, best so far",
    "compare": "Fitting methods",
}


_BAR_WIDTH = 16
"""Cells: stage and time are always seen, whatever else fits into the rest of the line follows."""


@contextmanager
def progress_line(console: Console | None = None) -> Iterator[Listener | None]:
    """A live line on the terminal (standard error) or in a notebook; no listener at all where there is neither."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as ProgressBar
    from rich.table import Column

    if console is None and _is_notebook():
        with _notebook_line() as listener:
            yield listener
        return
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    facts = TextColumn("{task.fields[facts]}", table_column=Column(ratio=1, no_wrap=True))
    columns = (TextColumn("{task.description}"), TimeElapsedColumn(), BarColumn(bar_width=_BAR_WIDTH), facts)
    with ProgressBar(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task("Preparing", total=None, facts="")

        def listener(progress: Progress) -> None:
            bar.update(
                task,
                description=progress.title,
                completed=progress.step,
                total=progress.n_steps or None,
                facts=progress.facts,
            )

        yield listener


def _is_notebook() -> bool:
    """Does this code run in a kernel of Jupyter? Only then has anybody imported IPython, and its shell a kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


@contextmanager
def _notebook_line() -> Iterator[Listener]:
    """A line below the cell, which is gone at the end; it needs no widgets."""
    from IPython.display import HTML, display
    from markupsafe import escape

    start = time.monotonic()
    shown = display(HTML("Preparing"), display_id=True)

    def listener(progress: Progress) -> None:
        elapsed = datetime.timedelta(seconds=int(time.monotonic() - start))
        bar = f'<progress value="{progress.step}" max="{progress.n_steps}"></progress> ' if progress.n_steps else ""
        shown.update(HTML(f"{escape(progress.title)} {elapsed} {bar}{escape(progress.facts)}"))

    try:
        yield listener
    finally:
        shown.update(HTML(""))


@contextmanager
def progress_lines(console: Console | None = None) -> Iterator[Listener]:
    """The same; where there is no terminal, a line in the log for every report, for stages that report rarely."""
    from rich.console import Console

    console = console or Console(stderr=True)

    def log(progress: Progress) -> None:
        console.print(f"{progress.title}: {progress.facts}", highlight=False, soft_wrap=True)

    with progress_line(console) as listener:
        yield listener or log
