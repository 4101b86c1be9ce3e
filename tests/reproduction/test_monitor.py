"""What is shown while jobs run."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from grandag.reproduction.jobs import Job, JobResult
from grandag.reproduction.monitor import Tally, watching
from grandag.reproduction.result_table import Cell, Figure, ResultTable
from tests.reproduction.examples import DATA

JOBS = [Job("fit", method, {"k": k}, DATA) for method in ("slow", "fast") for k in range(4)]
CELLS = {("A", "x", "SHD"): Cell("A", "x", "SHD", (), (Figure(1.0, 2.0),))}
TABLE = ResultTable("table1", "1", "Title", ("A",), ("x",), ("SHD",), CELLS)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def result(job, seconds=1.0, status="done"):
    return JobResult(job.key, status, "reason\nmore" if status != "done" else "", seconds=seconds)


def test_counts_and_time_left():
    clock = Clock()
    tally = Tally(JOBS, n_workers=2, n_known=3, clock=clock)
    assert tally.line() == "0 of 8 jobs done (3 more from the store), 0 failed, 2 running"
    tally.add(JOBS[0], result(JOBS[0], 10.0))
    tally.add(JOBS[4], result(JOBS[4], 2.0))
    clock.now += 6  # 12 seconds of work in 6, by two workers
    assert tally.seconds_left == pytest.approx((3 * 10 + 3 * 2) / 2)
    assert tally.line().endswith("2 of 8 jobs done (3 more from the store), 0 failed, 2 running, 18 s left")
    for job in JOBS[1:4]:
        tally.add(job, result(job, None, "failed"))
    assert tally.n_failed == 3
    assert tally.line().startswith("5 of 8 jobs done")


@pytest.mark.parametrize(
    ("seconds", "words"), [(50, "50 s left"), (600, "about 10 min left"), (9000, "about 2.5 h left")]
)
def test_durations(seconds, words):
    clock = Clock()
    tally = Tally(JOBS[:2], 1, clock=clock)
    clock.now += seconds
    tally.add(JOBS[0], result(JOBS[0]))
    assert tally.line().endswith(words)


def test_a_log_has_a_line_now_and_then():
    clock, console = Clock(), Console(file=io.StringIO(), width=200)
    tally = Tally(JOBS, 2, clock=clock)
    with watching(tally, lambda: TABLE, console=console) as watch:
        for job in JOBS:
            clock.now += 12
            watch(job, result(job, status="failed" if job is JOBS[4] else "done"))
    lines = console.file.getvalue().splitlines()
    assert [line.split(" jobs")[0] for line in lines] == ["0 of 8", "3 of 8", "fast failed: reason", "6 of 8", "8 of 8"]


def test_a_terminal_shows_the_table():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with watching(Tally(JOBS, 2), lambda: replace(TABLE, title="Filling in"), console=console) as watch:
        watch(JOBS[0], result(JOBS[0]))
    assert "Filling in" in console.file.getvalue()
    assert "of 8 jobs done" in console.file.getvalue()


def test_quiet_is_quiet():
    console = Console(file=io.StringIO())
    with watching(Tally(JOBS, 2), lambda: TABLE, quiet=True, console=console) as watch:
        watch(JOBS[0], result(JOBS[0], status="failed"))
    assert console.file.getvalue() == ""
