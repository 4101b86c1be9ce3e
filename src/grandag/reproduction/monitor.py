"""What a person sees while jobs run: counts, the time left, the table filling in; in a log, a line now and then."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.text import Text

from grandag.reproduction.jobs import Job
from grandag.reproduction.rendering import to_terminal
from grandag.reproduction.result_table import ResultTable
from grandag.reproduction.tasks import Outcome

__all__ = ["Tally", "watching"]

_SECONDS_BETWEEN_LINES = 30.0

Watcher = Callable[[Job, Outcome], None]


@dataclass
class Tally:
    """Jobs done and to do, and an estimate of the time that they take."""

    jobs: Sequence[Job]
    n_workers: int
    n_known: int = 0
    clock: Callable[[], float] = time.monotonic
    n_done: int = 0
    n_failed: int = 0
    _left: dict[str, Job] = field(init=False)
    _started: float = field(init=False)
    _seconds: dict[str, list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self._left = {job.key: job for job in self.jobs}
        self._started = self.clock()
        self._seconds = defaultdict(list)

    def add(self, job: Job, outcome: Outcome) -> None:
        """Count a finished job."""
        del self._left[job.key]
        self.n_done += 1
        self.n_failed += outcome.status != "done"
        if outcome.seconds is not None:
            self._seconds[_kind(job)].append(outcome.seconds)

    @property
    def n_running(self) -> int:
        """Jobs that are being worked on."""
        return min(self.n_workers, len(self._left))

    @property
    def seconds_left(self) -> float | None:
        """Remaining jobs cost what others of their kind did, or what all did; scaled by how long those really took."""
        known = dict(self._seconds)  # a copy: the display asks from a thread of its own
        spent = [seconds for group in known.values() for seconds in group]
        if not spent or sum(spent) == 0:
            return None
        means = {kind: sum(group) / len(group) for kind, group in known.items()}
        overall = sum(spent) / len(spent)
        cost = sum(means.get(_kind(job), overall) for job in list(self._left.values()))
        return cost * (self.clock() - self._started) / sum(spent)

    def line(self) -> str:
        """One line on how far it is."""
        known = f" ({self.n_known:,} more from the store)" if self.n_known else ""
        left = self.seconds_left
        time_left = "" if left is None or not self._left else f", {_duration(left)} left"
        return (
            f"{self.n_done:,} of {len(self.jobs):,} jobs done{known}, {self.n_failed:,} failed, "
            f"{self.n_running:,} running{time_left}"
        )


def _kind(job: Job) -> str:
    """Jobs that cost about the same: of a method, on as many columns and rows."""
    law = job.data.get("simulation", {})
    return f"{job.method} {law.get('n_nodes')} {law.get('n_rows')} {job.data.get('authors')}"


def _duration(seconds: float) -> str:
    """In words: "40 s", "about 12 min", "about 3.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


@contextmanager
def watching(
    tally: Tally, table: Callable[[], ResultTable], *, quiet: bool = False, console: Console | None = None
) -> Iterator[Watcher]:
    """Tell the watcher of every finished job; it shows a live display on a terminal, and plain lines elsewhere."""
    console = console or Console(stderr=True)
    if quiet or not tally.jobs:
        yield tally.add
    elif console.is_terminal:
        with Live(console=console, get_renderable=lambda: _live(tally, table), refresh_per_second=1, transient=True):
            yield tally.add
    else:
        yield _lines(tally, console)


def _live(tally: Tally, table: Callable[[], ResultTable]) -> RenderableType:
    bar = Padding(ProgressBar(total=len(tally.jobs), completed=tally.n_done), 0)  # a bar by itself ends no line
    return Group(bar, Text(tally.line()), to_terminal(table()))


def _lines(tally: Tally, console: Console) -> Watcher:
    last = tally.clock()
    console.print(tally.line(), highlight=False, soft_wrap=True)

    def watch(job: Job, outcome: Outcome) -> None:
        nonlocal last
        tally.add(job, outcome)
        if outcome.status != "done":
            reason = outcome.error.partition("\n")[0]
            console.print(f"{job.method} {outcome.status}: {reason}", highlight=False, markup=False, soft_wrap=True)
        if tally.clock() - last >= _SECONDS_BETWEEN_LINES or tally.n_done == len(tally.jobs):
            last = tally.clock()
            console.print(tally.line(), highlight=False, soft_wrap=True)

    return watch
