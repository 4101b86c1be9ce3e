"""Jobs on the workers of a real Dask cluster: the same results, whatever dies, and nothing that runs on for nobody."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grandag.executors import ClusterError, ClusterLostError, Failure, open_executor
from grandag.executors import cluster as dask_cluster
from grandag.parameters import ParameterError
from grandag.reproduction.plan import plan
from grandag.reproduction.rendering import to_csv
from grandag.reproduction.run import Execution
from grandag.reproduction.store import Store
from grandag.reproduction.tabulate import tabulate
from grandag.reproduction.tasks import work
from tests.command import GRANDAG
from tests.executors.jobs import add, kind_of, misbehave, wait_for_ever
from tests.executors.machinery import LONG, children, is_alive, needs_proc, wait_for
from tests.reproduction.examples import ENDLESS, RANDOM, WRONG, small, without_time

SHARED = np.arange(2_000_000.0)  # more than Dask takes for a task without a warning


def test_results_are_those_of_this_machine(cluster):
    with open_executor(SHARED, cluster=cluster.address) as executor:
        assert executor.size() == 2
        assert dict(executor.run(add, range(5))) == {job: job + SHARED.sum() for job in range(5)}
        assert dict(executor.run(kind_of, [1])) == {1: ("memmap", False)}


def test_what_jobs_share_is_sent_to_each_worker_once(cluster):
    with open_executor(SHARED, cluster=cluster.address) as executor:
        holders = executor._client.who_has(executor._shared)
        assert [len(addresses) for addresses in holders.values()] == [2]
        dict(executor.run(add, range(5)))
        kept = list(Path(cluster.folder).rglob(f"{executor._name}-*"))
    assert 1 <= len(kept) <= 2
    assert {file.stat().st_size // SHARED.nbytes for file in kept} == {1}


def test_failures_and_errors(cluster):
    with open_executor(cluster=cluster.address) as executor:
        found = dict(executor.run(misbehave, ["dies", "good"]))
        assert isinstance(found["dies"], Failure)
        assert found["good"] == "good"
        with pytest.raises(ParameterError, match="must be smaller"):
            dict(executor.run(misbehave, ["is wrong"]))


def test_time_limit(cluster):
    with open_executor(cluster=cluster.address, time_limit=1.0) as executor:
        assert dict(executor.run(wait_for_ever, ["endless"])) == {"endless": Failure("Stopped after 1 seconds.", True)}


def test_jobs_are_taken_when_there_is_a_place(cluster):
    taken = []
    with open_executor(cluster=cluster.address) as executor:
        running = executor.run(add, (taken.append(job) or job for job in range(9)))
        next(running)
        assert taken == [0, 1]


@needs_proc
@pytest.mark.parametrize("how", ["leaving", "death"])
def test_what_nobody_waits_for_is_ended(cluster, tmp_path, how):
    """By whoever leaves early; and where the program that asked was killed. Both happen when the endless job runs."""
    said = tmp_path / "pid"
    code = (
        "import sys; from grandag.executors import open_executor; from tests.executors.jobs import say_and_wait\n"
        "with open_executor(cluster=sys.argv[1]) as executor:\n"
        f"    running = executor.run(lambda job, _: job or say_and_wait({str(said)!r}), [1, 0])\n"
        "    print(next(running), flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, cluster.address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], **pipes) as program:
        assert program.stdout.readline() == b"(1, 1)\n"
        wait_for(said.exists)
        working = int(said.read_text())
        assert is_alive(working)
        if how == "death":
            program.kill()
    wait_for(lambda: not is_alive(working))
    with open_executor(cluster=cluster.address, time_limit=LONG) as executor:
        assert dict(executor.run(add, [1, 2])) == {1: 1, 2: 2}


@needs_proc
@pytest.mark.parametrize("shared", [None, SHARED], ids=["alone", "with a table"])
def test_a_lost_worker_costs_only_its_job(own_cluster, shared):
    finished, killed = {}, None
    with open_executor(shared, cluster=own_cluster.address) as executor:
        for job, result in executor.run(add, range(8)):
            finished[job] = result
            busy = [worker for worker in own_cluster.workers if children(worker.pid)]
            if killed is None and len(busy) == 2:
                killed, (child,) = busy[0], children(busy[0].pid)
                os.kill(killed.pid, signal.SIGKILL)
    assert killed is not None
    wait_for(lambda: not is_alive(child))
    assert finished == {job: job + (0 if shared is None else SHARED.sum()) for job in range(8)}


@pytest.mark.parametrize("shared", [None, SHARED], ids=["alone", "with a table"])
def test_all_workers_lost(own_cluster, shared):
    """What they had not finished waits for the next worker, and comes once."""
    finished = []
    with open_executor(shared, cluster=own_cluster.address) as executor:
        for job, result in executor.run(add, range(8)):
            finished.append((job, result))
            if len(finished) == 3:
                for worker in own_cluster.workers[:2]:
                    worker.kill()
                    worker.wait()
                own_cluster.start_worker()
    assert sorted(finished) == [(job, job + (0 if shared is None else SHARED.sum())) for job in range(8)]


KILLS = """
import os, signal, sys
from grandag.cli import main
from grandag.executors import cluster
from grandag.reproduction.store import Store

cluster._PATIENCE = 60

put, pids = Store.put, [int(word) for word in sys.argv.pop(1).split(",")]

def put_and_kill(store, *arguments):
    put(store, *arguments)
    if len(store) == 2:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

Store.put = put_and_kill
main()
"""
"""The command line, which kills these processes when its store has two rows."""

PAPER = ["paper", "table1", "--methods", "random", "--graphs", "ER1", "--nodes", "10", "--datasets", "12", "--quiet"]


def start_and_kill(processes, *arguments):
    pids = ",".join(str(process.pid) for process in processes)
    command = [sys.executable, "-c", KILLS, pids, *PAPER, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_the_papers_tables_when_all_workers_are_lost(own_cluster, tmp_path):
    """In the middle of a run, which goes on with a new worker: the tables of this machine."""
    there, here = (["--output", str(tmp_path / name), "--store", str(tmp_path / f"{name}.sqlite")] for name in "ab")
    lost = own_cluster.workers[:2]
    process = start_and_kill(lost, *there, "--cluster", own_cluster.address)
    for worker in lost:
        worker.wait()
    own_cluster.start_worker()
    _, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert n_stored(tmp_path / "a.sqlite") == 12
    assert subprocess.run([GRANDAG, *PAPER, *here]).returncode == 0
    assert (tmp_path / "a" / "table1.csv").read_text() == (tmp_path / "b" / "table1.csv").read_text()


def test_the_papers_jobs(cluster):
    planned = plan(small(), n_datasets=2)
    jobs = [WRONG, *(item.job for item in planned)]
    there = {job.key: result for job, result in Execution(cluster=cluster.address).run(jobs)}
    here = {job.key: work(job) for job in jobs}
    assert {key: without_time(result) for key, result in there.items()} == {
        key: without_time(result) for key, result in here.items()
    }
    assert to_csv(tabulate(small(), planned, there)) == to_csv(tabulate(small(), planned, here))
    ((_, late),) = Execution(cluster=cluster.address, time_limit=1.0).run([ENDLESS])
    assert late.status == "out of time"


@pytest.mark.parametrize("lost", ["scheduler", "everything"])
def test_a_lost_cluster(own_cluster, lost):
    with open_executor(cluster=own_cluster.address) as executor:
        running = executor.run(lambda job, _: job or wait_for_ever(), [1, 0, 0])
        assert next(running) == (1, 1)
        for gone in [own_cluster.scheduler] if lost == "scheduler" else [own_cluster.scheduler, *own_cluster.workers]:
            gone.kill()
        with pytest.raises(ClusterLostError, match="is gone"):
            next(running)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["scheduler", "everything"])
def test_a_lost_scheduler_is_said_in_one_sentence(own_cluster, tmp_path, lost):
    """What was finished is in the store, and the same command goes on without the cluster: the table is the same."""
    command = [GRANDAG, *PAPER, "--output", str(tmp_path / "results"), "--store"]
    gone = [own_cluster.scheduler] if lost == "scheduler" else [own_cluster.scheduler, *own_cluster.workers]
    process = start_and_kill(gone, "--store", tmp_path / "store.sqlite", "--cluster", own_cluster.address)
    _, errors = process.communicate()
    assert process.returncode == 1, errors
    assert errors.count("\n") == 1, errors
    assert (
        f"The cluster at {own_cluster.address!r} is gone. Finished jobs are stored: run it again to continue." in errors
    )
    assert 2 <= n_stored(tmp_path / "store.sqlite") < 12
    assert subprocess.run([*command, str(tmp_path / "store.sqlite")]).returncode == 0
    continued = (tmp_path / "results" / "table1.csv").read_text()
    assert subprocess.run([*command, str(tmp_path / "fresh.sqlite")]).returncode == 0
    assert (tmp_path / "results" / "table1.csv").read_text() == continued


def n_stored(path) -> int:
    with Store(path) as store:
        return len(store)


def test_workers_of_another_version_are_refused():
    with pytest.raises(ClusterError, match="but this is another"):
        dask_cluster.work_remotely(b"", None, "", LONG, "another")


@pytest.mark.parametrize("error", [ModuleNotFoundError("No module named 'grandag'"), RuntimeError("Deserialization")])
def test_a_cluster_without_the_library(cluster, monkeypatch, error):
    monkeypatch.setattr("distributed.Future.exception", lambda _: error)
    with (
        pytest.raises(ClusterError, match=r"needs grandag .* on its scheduler and its workers"),
        open_executor(cluster=cluster.address) as executor,
    ):
        dict(executor.run(add, [1]))
    with pytest.raises(ClusterError, match="needs grandag"), open_executor(SHARED, cluster=cluster.address):
        pass


def test_no_scheduler(monkeypatch):
    pytest.importorskip("distributed", reason="the cluster is in the extra cluster")
    monkeypatch.setattr(dask_cluster, "_PATIENCE", 0.5)
    with pytest.raises(ClusterError, match="no Dask scheduler at 'tcp:"):
        list(Execution(cluster="tcp://127.0.0.1:9").run([RANDOM]))


def test_no_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'grandag\[cluster\]'"):
        list(Execution(cluster="tcp://127.0.0.1:9").run([RANDOM]))
