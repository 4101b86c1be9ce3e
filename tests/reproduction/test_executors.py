"""Jobs in processes: killed when late, recorded when they fail, and the same results wherever they run."""

import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from grandag.reproduction import executors
from grandag.reproduction import process as job_process
from grandag.reproduction.executors import ClusterError, run_locally, run_on_cluster
from grandag.reproduction.plan import plan
from grandag.reproduction.process import JobProcess
from grandag.reproduction.rendering import to_csv
from grandag.reproduction.tabulate import tabulate
from grandag.reproduction.tasks import work
from tests.command import GRANDAG
from tests.reproduction.examples import ENDLESS, RANDOM, WRONG, small

LONG = 600.0


def without_time(result):
    return {name: value for name, value in result.as_dict().items() if name != "seconds"}


def results(finished):
    return {job.key: without_time(result) for job, result in finished}


def wait_for(condition):
    """Longer than any machine needs, however busy: a failure means that it does not happen, not that it is late."""
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children(pid):
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended meanwhile
            found += [int(word) for word in file.read_text().split()]
    return found


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes through /proc")


@pytest.fixture(scope="module")
def process():
    with closing(JobProcess()) as process:
        yield process


def test_a_process_does_what_the_function_does_and_survives_bad_jobs(process):
    assert process.run(WRONG, LONG).status == "failed"
    assert without_time(process.run(RANDOM, LONG)) == without_time(work(RANDOM))


def test_a_late_job_is_killed_and_the_next_one_runs(process):
    result = process.run(ENDLESS, 1.0)
    assert (result.status, result.error) == ("out of time", "Stopped after 1 seconds.")
    assert result.seconds == 1.0
    assert process.run(RANDOM, LONG).status == "done"


def test_no_time_limit(process):
    assert process.run(RANDOM, math.inf).status == "done"


def test_a_process_that_is_killed_while_it_starts_does_no_job(monkeypatch):
    """Another thread closes it before it has seen the new process, which would be ready in a minute."""
    process, start = JobProcess(), subprocess.Popen
    slow = [sys.executable, "-c", "import time; time.sleep(60); print('ready', flush=True)"]

    def killed_meanwhile(_, **options):
        process.kill()
        return start(slow, **options)

    monkeypatch.setattr(subprocess, "Popen", killed_meanwhile)
    with closing(process), pytest.raises(RuntimeError, match="did not start"):
        process.run(ENDLESS, LONG)


def test_a_job_whose_process_is_killed_is_tried_once_more(process, monkeypatch):
    ask, killed = job_process._ask, []

    def die_on_being_asked_first(running, line):
        if not killed:
            killed.append(running.pid)
            running.kill()
            running.wait()
        return ask(running, line)

    monkeypatch.setattr(job_process, "_ask", die_on_being_asked_first)
    assert process.run(RANDOM, LONG).status == "done"
    assert len(killed) == 1


def test_a_job_whose_process_dies_has_failed(process, monkeypatch):
    ask = job_process._ask

    def die_on_being_asked(running, line):
        running.kill()
        running.wait()
        return ask(running, line)

    monkeypatch.setattr(job_process, "_ask", die_on_being_asked)
    result = process.run(ENDLESS, LONG)
    assert result.status == "failed"
    assert "code -9" in result.error


@needs_proc
def test_a_process_ends_with_the_one_that_started_it():
    code = (
        "from grandag.reproduction.process import JobProcess; from tests.reproduction.examples import ENDLESS\n"
        "JobProcess().run(ENDLESS, 600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    wait_for(lambda: children(parent.pid))
    (child,) = children(parent.pid)
    parent.kill()
    parent.wait()
    wait_for(lambda: not is_alive(child))


def test_failures_do_not_stop_the_others_and_workers_do_not_matter():
    jobs = [WRONG, RANDOM, *(item.job for item in plan(small(), n_datasets=1))]
    one, two = (results(run_locally(jobs, n_workers, LONG)) for n_workers in (1, 2))
    assert one == two
    assert [one[job.key]["status"] for job in jobs] == ["failed"] + ["done"] * 3


def test_leaving_early_ends_the_processes():
    finished = run_locally([RANDOM, ENDLESS], 1, LONG)
    assert next(finished)[1].status == "done"
    finished.close()
    assert not [thread for thread in threading.enumerate() if thread.name.endswith("(serve)")]


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A scheduler and two workers without nannies: processes of their own."""
    monkeypatch.setattr(executors, "_PATIENCE", LONG)
    pytest.importorskip("distributed", reason="the cluster is in the extra cluster")
    file = tmp_path / "scheduler.json"
    quiet = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    module = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*module, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--no-show", "--scheduler-file", str(file)], **quiet,
    )  # fmt: skip
    workers = [
        subprocess.Popen(
            [*module, "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny",
             "--no-dashboard"], **quiet,
        )
        for _ in range(2)
    ]  # fmt: skip
    wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
    address = json.loads(file.read_text())["address"]
    wait_for(lambda: executors.cluster_size(address) == 2)
    yield address, workers, scheduler
    for process in [*workers, scheduler]:
        process.kill()
        process.wait()


@needs_proc
def test_a_cluster_that_loses_a_worker_gives_the_same_results(cluster):
    address, workers, _ = cluster
    planned = plan(small(), n_datasets=3)
    jobs = [WRONG, *(item.job for item in planned)]
    finished, killed = [], None
    for pair in run_on_cluster(jobs, address, LONG):
        finished.append(pair)
        busy = [process for process in workers if children(process.pid)]
        if killed is None and len(busy) == 2:
            killed, (job_process,) = busy[0], children(busy[0].pid)
            os.kill(killed.pid, signal.SIGKILL)
    assert killed is not None
    wait_for(lambda: not is_alive(job_process))
    assert len(finished) == len(jobs)
    here = {job.key: work(job) for job in jobs}
    assert results(finished) == results((job, here[job.key]) for job in jobs)
    there = {job.key: result for job, result in finished}
    assert to_csv(tabulate(small(), planned, there)) == to_csv(tabulate(small(), planned, here))


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["scheduler", "everything"])
def test_a_lost_scheduler_is_said_in_one_sentence(cluster, tmp_path, lost):
    """What was finished is in the store, and the same command goes on without the cluster: the table is the same."""
    address, workers, scheduler = cluster
    command = [GRANDAG, "paper", "table1", "--methods", "random", "--graphs", "ER1", "--nodes", "10"]
    command += ["--datasets", "40", "--quiet", "--output", str(tmp_path / "results"), "--store"]
    process = subprocess.Popen(
        [*command, str(tmp_path / "store.sqlite"), "--cluster", address], stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: n_stored(tmp_path / "store.sqlite") > 1)
    for gone in [scheduler] if lost == "scheduler" else [scheduler, *workers]:
        gone.kill()
    _, errors = process.communicate()
    assert process.returncode == 1, errors
    assert errors.count("\n") == 1, errors
    assert f"The cluster at {address!r} is gone. Finished jobs are stored: run it again to continue." in errors
    assert 1 < n_stored(tmp_path / "store.sqlite") < 40
    assert subprocess.run([*command, str(tmp_path / "store.sqlite")]).returncode == 0
    continued = (tmp_path / "results" / "table1.csv").read_text()
    assert subprocess.run([*command, str(tmp_path / "fresh.sqlite")]).returncode == 0
    assert (tmp_path / "results" / "table1.csv").read_text() == continued


def n_stored(path) -> int:
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as database, suppress(sqlite3.OperationalError):  # it is just being made
        return database.execute("SELECT count(*) FROM results").fetchone()[0]
    return 0


def test_time_limit_on_a_cluster(cluster):
    address, *_ = cluster
    ((_, late),) = run_on_cluster([ENDLESS], address, 1.0)
    ((_, in_time),) = run_on_cluster([RANDOM], address, LONG)
    assert late.status == "out of time"
    assert in_time.status == "done"


def test_workers_of_another_version_are_refused():
    with pytest.raises(ClusterError, match="but this is another"):
        executors.work_remotely(RANDOM.as_dict(), LONG, "another")


def test_no_scheduler(monkeypatch):
    pytest.importorskip("distributed", reason="the cluster is in the extra cluster")
    monkeypatch.setattr(executors, "_PATIENCE", 0.5)
    with pytest.raises(ClusterError, match="no Dask scheduler at 'tcp:"):
        list(run_on_cluster([RANDOM], "tcp://127.0.0.1:9", LONG))


def test_no_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'grandag\[cluster\]'"):
        list(run_on_cluster([RANDOM], "tcp://127.0.0.1:9", LONG))
