"""Runs that are killed and go on, that fail and are tried again, and that always give the same table."""

import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from grandag.executors import Failure
from grandag.executors.process import JobProcess
from grandag.reproduction.jobs import failure
from grandag.reproduction.plan import plan
from grandag.reproduction.rendering import to_csv
from grandag.reproduction.run import Execution, reproduce, write_results
from grandag.reproduction.store import Store
from grandag.reproduction.tasks import work
from tests.command import GRANDAG
from tests.reproduction.examples import ENDLESS, RANDOM, WRONG, small, without_time

STOPS = """
import os, signal, sys
from grandag.cli import main
from grandag.reproduction.store import Store

put = Store.put

def put_and_die(store, *arguments):
    put(store, *arguments)
    if len(store) == n_rows:
        os.kill(os.getpid(), kind)

kind, n_rows = map(int, sys.argv[1:3])
del sys.argv[1:3]
signal.signal(signal.SIGINT, signal.default_int_handler)
Store.put = put_and_die
main()
"""

AT_EVENT = """
import atexit, os, signal, sys

kind, number, n_seen = int(sys.argv[1]), int(sys.argv[2]), 0
del sys.argv[1:3]

def count(*_):
    global n_seen
    n_seen += 1
    if n_seen == number:
        os.kill(os.getpid(), kind)

signal.signal(signal.SIGINT, signal.default_int_handler)
from grandag.cli import main
import grandag.cli.app
sys.addaudithook(count)
if number == 0:
    atexit.register(lambda: print(n_seen))
main()
"""
"""Stopped at the n-th event that Python audits: imports, files, processes, threads, connections to a database."""

COMMAND = ["paper", "table1", "--methods", "random,notears", "--graphs", "ER1", "--datasets", "4", "--quiet"]


def stopped(path, kind, n_rows):
    """How a run ends that is sent a signal when the store has so many rows."""
    command = [sys.executable, "-c", STOPS, str(int(kind)), str(n_rows), *COMMAND, "--n-jobs", "1", "--store", path]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


@pytest.fixture
def in_process(monkeypatch):
    """Jobs are done here, one by one; the list says which."""
    done = []

    def run(_, jobs):
        for job in jobs:
            done.append(job.key)
            yield job, work(job)

    monkeypatch.setattr(Execution, "run", run)
    return done


def test_a_killed_run_goes_on_where_it_was(tmp_path, in_process):
    path = tmp_path / "store.sqlite"
    assert stopped(path, signal.SIGKILL, 2).returncode == -signal.SIGKILL
    experiment = small()
    with Store(path) as store:
        assert len(store) == 2
        continued = reproduce([experiment], store, n_datasets=4)
        assert len(in_process) == 6
        assert len(store) == 8
    with Store(tmp_path / "fresh.sqlite") as store:
        fresh = reproduce([experiment], store, n_datasets=4)
    assert to_csv(continued.tables()[0]) == to_csv(fresh.tables()[0])


@pytest.mark.slow
def test_stopped_at_every_moment_the_table_is_the_same(tmp_path, in_process):
    """Killed and interrupted in turn, after every job: nothing is lost, nothing is done twice."""
    path = tmp_path / "store.sqlite"
    for n_rows in range(1, 8):
        kind = (signal.SIGKILL, signal.SIGINT)[n_rows % 2]
        process = stopped(path, kind, n_rows)
        assert process.returncode == (130 if kind == signal.SIGINT else -kind), process.stderr
        assert "Traceback" not in process.stderr
        with Store(path) as store:
            assert len(store) == n_rows
    with Store(path) as store, Store(tmp_path / "fresh.sqlite") as other:
        continued = reproduce([small()], store, n_datasets=4)
        assert len(in_process) == 1
        assert to_csv(continued.tables()[0]) == to_csv(reproduce([small()], other, n_datasets=4).tables()[0])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_moments"), [(signal.SIGINT, 20), (signal.SIGKILL, 30)])
def test_stopped_at_many_moments_the_tables_are_the_same(tmp_path, kind, n_moments):
    """Anywhere in a run, from the first import of a job to the last file: nothing is lost, half done or done twice."""

    def run(number, place):
        command = [sys.executable, "-c", AT_EVENT, int(kind), number, "paper", "table1", "--methods", "random"]
        command += ["--graphs", "ER1", "--nodes", 10, "--datasets", 40, "--quiet", "--n-jobs", 1]
        command += ["--store", place / "store.sqlite", "--output", place / "results"]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True)

    fresh, stopped = tmp_path / "fresh", tmp_path / "stopped"
    fresh.mkdir()
    stopped.mkdir()
    n_events = int(run(0, fresh).stdout)
    n_rows = 0
    for number in np.random.default_rng(19).integers(1, n_events, n_moments):
        process = run(number, stopped)
        is_done = process.returncode == 0  # a run that goes on has fewer events than a fresh one
        assert is_done or process.returncode == (130 if kind == signal.SIGINT else -kind), process.stderr
        assert "Traceback" not in process.stderr
        if (stopped / "store.sqlite").exists():
            with Store(stopped / "store.sqlite") as store:
                assert len(store) >= n_rows
                n_rows = len(store)
    assert run(n_events * 10, stopped).returncode == 0
    assert n_rows > 0
    for name in ("table1.md", "table1.tex", "table1.csv"):
        assert (stopped / "results" / name).read_text() == (fresh / "results" / name).read_text()
    with Store(stopped / "store.sqlite") as store:
        assert len(store) == 40


@pytest.mark.slow
def test_two_runs_on_one_store_give_the_same_table(tmp_path, in_process):
    path = tmp_path / "store.sqlite"
    command = [GRANDAG, *COMMAND, "--n-jobs", "1", "--store", str(path)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(process.communicate()[1], process.returncode) for process in both] == [("", 0)] * 2
    with Store(path) as store, Store(tmp_path / "fresh.sqlite") as other:
        assert len(store) == 8
        table = to_csv(reproduce([small()], store, n_datasets=4).tables()[0])
        assert in_process == []
        assert table == to_csv(reproduce([small()], other, n_datasets=4).tables()[0])


def test_failures_are_kept_until_they_are_tried_again(tmp_path, monkeypatch):
    tried = {}

    def failing(_, jobs):
        for job in jobs:
            tried[job.key] = job
            yield job, failure(job, "late", "out of time") if job.method == "random" else failure(job, "broken")

    experiment = small()
    with Store(tmp_path / "store.sqlite") as store:
        monkeypatch.setattr(Execution, "run", failing)
        (table,) = reproduce([experiment], store, n_datasets=1).tables()
        assert [cell.runs[0].status for cell in table.cells.values()] == ["failed"] * 2 + ["out of time"] * 2
        tried.clear()
        reproduce([experiment], store, n_datasets=1)
        assert tried == {}
        reproduce([experiment], store, n_datasets=1, retry=True)
        assert len(tried) == 2


def test_experiments_share_what_they_have_in_common(tmp_path, in_process):
    tables = [small("table1", ("random",)), small("table1", ("random",), ("ER1", "SF1"))]
    with Store(tmp_path / "store.sqlite") as store:
        result = reproduce([tables[0], replace(tables[1], name="again")], store, n_datasets=2)
    assert len(in_process) == 4
    assert [len(table.columns) for table in result.tables()] == [1, 2]


def test_more_data_sets_are_a_continuation(tmp_path, in_process):
    experiment = small(methods=("random",))
    with Store(tmp_path / "store.sqlite") as store:
        reproduce([experiment], store, n_datasets=1)
        reproduce([experiment], store, n_datasets=3)
    assert len(in_process) == len(set(in_process)) == 3


def test_files(tmp_path, in_process):
    with Store(tmp_path / "store.sqlite") as store:
        result = reproduce([small(methods=("random",))], store, n_datasets=1)
    written = write_results(result, tmp_path / "new" / "results")
    assert [path.name for path in written] == ["index.html", "table1.md", "table1.tex", "table1.csv"]
    assert (tmp_path / "new" / "results" / "table1.csv").read_text() == to_csv(result.tables()[0])
    assert "RANDOM" in written[0].read_text()


def test_jobs_in_processes_are_those_of_this_one():
    """Failures do not stop the others, and the number of processes does not matter."""
    jobs = [WRONG, RANDOM, *(item.job for item in plan(small(), n_datasets=1))]
    here = {job.key: without_time(work(job)) for job in jobs}
    for n_jobs in (1, 2):
        assert {job.key: without_time(result) for job, result in Execution(n_jobs).run(jobs)} == here
    assert [here[job.key]["status"] for job in jobs] == ["failed"] + ["done"] * 3


def test_a_late_job_is_out_of_time():
    ((_, result),) = Execution(1, time_limit=1.0).run([ENDLESS])
    assert (result.status, result.error, result.seconds) == ("out of time", "Stopped after 1 seconds.", 1.0)


def test_a_job_whose_process_dies_has_failed(monkeypatch):
    monkeypatch.setattr(JobProcess, "run", lambda *_: Failure("It died."))
    ((_, result),) = Execution(1).run([RANDOM])
    assert (result.status, result.error, result.seconds) == ("failed", "It died.", None)


def test_all_cores_by_default():
    assert Execution().size() >= 1
    assert Execution(3).size() == 3
