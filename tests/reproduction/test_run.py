"""Runs that are killed and go on, that fail and are tried again, and that always give the same table."""

import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from grandag.reproduction import run as reproduction
from grandag.reproduction.jobs import failure
from grandag.reproduction.rendering import to_csv
from grandag.reproduction.run import Execution, reproduce, write_results
from grandag.reproduction.store import Store
from grandag.reproduction.tasks import work
from tests.reproduction.examples import small

DIES_AFTER_TWO = """
import os, signal
from grandag.cli import main
from grandag.reproduction.store import Store

put = Store.put

def put_and_die(store, *arguments):
    put(store, *arguments)
    if len(store) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

Store.put = put_and_die
main()
"""

COMMAND = ["-c", DIES_AFTER_TWO, "paper", "table1", "--methods", "random,notears", "--graphs", "ER1", "--datasets", "4"]


@pytest.fixture
def in_process(monkeypatch):
    """Jobs are done here, one by one; the list says which."""
    done = []

    def run(jobs, n_workers, time_limit):
        for job in jobs:
            done.append(job.key)
            yield job, work(job)

    monkeypatch.setattr(reproduction, "run_locally", run)
    return done


def test_a_killed_run_goes_on_where_it_was(tmp_path, in_process):
    path = tmp_path / "store.sqlite"
    process = subprocess.run([sys.executable, *COMMAND, "--n-jobs", "1", "--store", str(path), "--quiet"])
    assert process.returncode == -signal.SIGKILL
    experiment = small()
    with Store(path) as store:
        assert len(store) == 2
        continued = reproduce([experiment], store, n_datasets=4)
        assert len(in_process) == 6
        assert len(store) == 8
    with Store(tmp_path / "fresh.sqlite") as store:
        fresh = reproduce([experiment], store, n_datasets=4)
    assert to_csv(continued.tables()[0]) == to_csv(fresh.tables()[0])


def test_failures_are_kept_until_they_are_tried_again(tmp_path, monkeypatch):
    tried = {}

    def failing(jobs, n_workers, time_limit):
        for job in jobs:
            tried[job.key] = job
            yield job, failure(job, "late", "out of time") if job.method == "random" else failure(job, "broken")

    experiment = small()
    with Store(tmp_path / "store.sqlite") as store:
        monkeypatch.setattr(reproduction, "run_locally", failing)
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


def test_all_cores_by_default():
    assert Execution().size() >= 1
    assert Execution(3).size() == 3
