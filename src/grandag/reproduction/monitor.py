"""What is shown while jobs run: counts, the time left, the table as it fills in; in a log, a line now and then."""

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

from grandag.reproduction.jobs import Job, JobResult
from grandag.reproduction.rendering import to_terminal
from grandag.reproduction.result_table import ResultTable

__all__ = ["Tally", "duration", "watching"]

_SECONDS_BETWEEN_LINES = 30.0

Watcher = Callable[[Job, JobResult], None]


@dataclass
class Tally:
    """Counts of finished and waiting jobs, and an estimate of the time left."""

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

    def add(self, job: Job, result: JobResult) -> None:
        """Count a finished job."""
        del self._left[job.key]
        self.n_done += 1
        self.n_failed += result.status != "done"
        if result.seconds is not None:
            self._seconds[_kind(job)].append(result.seconds)

    @property
    def n_running(self) -> int:
        """The number of jobs that are running."""
        return min(self.n_workers, len(self._left))

    @property
    def seconds_left(self) -> float | None:
        """An estimate: each job costs as much CPU time as others of its kind; scaled by how long those really took."""
        known = dict(self._seconds)  # a copy: the display asks from a thread of its own
        spent = [seconds for group in known.values() for seconds in group]
        if not spent or sum(spent) == 0:
            return None
        means = {kind: sum(group) / len(group) for kind, group in known.items()}
        overall = sum(spent) / len(spent)
        cost = sum(means.get(_kind(job), overall) for job in list(self._left.values()))
        return cost * (self.clock() - self._started) / sum(spent)

    def line(self) -> str:
        """The state of the run in one line."""
        known = f" ({self.n_known:,} more from the store)" if self.n_known else ""
        left = self.seconds_left
        time_left = "" if left is None or not self._left else f", {duration(left)} left"
        return (
            f"{self.n_done:,} of {len(self.jobs):,} jobs done{known}, {self.n_failed:,} failed, "
            f"{self.n_running:,} running{time_left}"
        )


def _kind(job: Job) -> str:
    """What jobs that cost about the same share: the method, and the size of the data."""
    simulation = job.data.get("simulation", {})
    return f"{job.method} {simulation.get('n_nodes')} {simulation.get('n_rows')} {job.data.get('authors')}"


def duration(seconds: float) -> str:
    """A time in words: "40 s", "about 12 min", "about 3.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


@contextmanager
def watching(
    tally: Tally, table: Callable[[], ResultTable], *, quiet: bool = False, console: Console | None = None
) -> Iterator[Watcher]:
    """A function to be called with every finished job: a live display on a terminal, plain lines elsewhere."""
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

    def watch(job: Job, result: JobResult) -> None:
        nonlocal last
        tally.add(job, result)
        if result.status != "done":
            reason = result.error.partition("\n")[0]
            console.print(f"{job.method} {result.status}: {reason}", highlight=False, markup=False, soft_wrap=True)
        if tally.clock() - last >= _SECONDS_BETWEEN_LINES or tally.n_done == len(tally.jobs):
            last = tally.clock()
            console.print(tally.line(), highlight=False, soft_wrap=True)

    return watch
