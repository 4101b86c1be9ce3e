"""Jobs on this machine: the same results here and in processes, failures that stay with their job, and no leftovers."""

import math
import threading

import numpy as np
import pytest

from grandag.executors import Failure, open_executor
from grandag.executors.process import JobProcess
from grandag.parameters import ParameterError
from tests.executors.jobs import add, kind_of, misbehave, threads, wait_for_ever
from tests.executors.machinery import LONG

SHARED = np.arange(200_000.0)


def results(function, jobs, **options):
    with open_executor(options.pop("shared", None), **options) as executor:
        return dict(executor.run(function, jobs))


def test_the_same_results_here_and_in_processes():
    one, two = (results(add, range(5), shared=SHARED, n_jobs=n) for n in (1, 2))
    assert one == two == {job: job + SHARED.sum() for job in range(5)}


def test_what_jobs_share_is_in_a_file_once():
    assert results(kind_of, [1], shared=SHARED, n_jobs=2) == {1: ("memmap", False)}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_job_has_one_thread(n_jobs):
    assert set(results(threads, [1], n_jobs=n_jobs)[1]) == {1}


def test_sizes():
    for n_jobs, time_limit in ((1, math.inf), (1, LONG), (3, math.inf)):
        with open_executor(n_jobs=n_jobs, time_limit=time_limit) as executor:
            assert executor.size() == n_jobs


def test_a_job_that_kills_its_process_costs_only_itself():
    found = results(misbehave, ["dies", "first", "second"], n_jobs=2)
    assert isinstance(found.pop("dies"), Failure)
    assert found == {"first": "first", "second": "second"}


def test_a_late_job_costs_only_itself():
    found = results(wait_for_ever, ["endless"], n_jobs=1, time_limit=1.0)
    assert found == {"endless": Failure("Stopped after 1 seconds.", is_late=True)}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_of_the_function_are_raised(n_jobs):
    with pytest.raises(ParameterError, match="must be smaller"):
        results(misbehave, ["is wrong", "good"], n_jobs=n_jobs)


def test_what_cannot_be_sent_has_failed():
    (failure,) = results(add, [threading.Lock()], n_jobs=2).values()
    assert "cannot pickle" in failure.reason


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jobs_are_taken_when_there_is_a_place(n_jobs):
    taken = []
    with open_executor(n_jobs=n_jobs) as executor:
        running = executor.run(
            lambda job, _: job == "short" or wait_for_ever(),
            (taken.append(job) or job for job in ["short", *range(8)]),
        )
        assert next(running) == ("short", True)
        assert len(taken) <= 1 + n_jobs  # what is finished, and an endless one in every process
        running.close()


def test_leaving_early_ends_the_processes(monkeypatch):
    closed = []
    kill = JobProcess.kill
    monkeypatch.setattr(JobProcess, "kill", lambda process: (closed.append(process), kill(process)))
    with open_executor(n_jobs=2) as executor:
        running = executor.run(lambda job, _: job or wait_for_ever(), [1, 0, 0, 0])
        assert next(running) == (1, 1)
        running.close()
    assert len(closed) == 2
    assert not [thread for thread in threading.enumerate() if thread.name.endswith("(serve)")]


def test_several_runs_share_their_processes():
    with open_executor(n_jobs=1, time_limit=LONG) as executor:  # a single one: of several, any may be free
        first, second = ({pid for _, pid in executor.run(_pid, range(3))} for _ in range(2))
    assert first == second
    assert len(first) == 1


def _pid(*_):
    import os

    return os.getpid()
