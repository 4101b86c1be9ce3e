"""A process for jobs: killed when late or unwanted, started again, and gone with whoever started it."""

import math
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from grandag.executors import Failure
from grandag.executors import process as job_process
from grandag.executors.calls import opened, packed
from grandag.executors.process import JobProcess
from grandag.parameters import ParameterError
from tests.executors.jobs import add, misbehave, wait_for_ever
from tests.executors.machinery import LONG, children, is_alive, needs_proc, wait_for

GOOD, ENDLESS = packed(add, 2), packed(wait_for_ever, None)


@pytest.fixture(scope="module")
def process():
    with closing(JobProcess()) as process:
        yield process


def test_it_does_what_the_function_does_and_survives_errors(process):
    assert opened(process.run(packed(misbehave, "prints"), None, LONG)) == "prints"
    with pytest.raises(ParameterError, match="'size' must be smaller") as caught:
        opened(process.run(packed(misbehave, "is wrong"), None, LONG))
    assert any("jobs.py" in note for note in caught.value.__notes__), "it does not say where"
    with pytest.raises(RuntimeError, match="OddError: Very odd"):
        opened(process.run(packed(misbehave, "is odd"), None, LONG))
    assert opened(process.run(GOOD, None, LONG)) == 2


def test_functions_of_a_script_are_known_there(process):
    assert opened(process.run(packed(lambda job, _: job**2, 7), None, math.inf)) == 49


def test_a_late_job_is_killed_and_the_next_one_runs(process):
    assert process.run(ENDLESS, None, 1.0) == Failure("Stopped after 1 seconds.", is_late=True)
    assert opened(process.run(GOOD, None, LONG)) == 2


def test_a_job_that_nobody_wants_any_more_is_killed_for_good(process, monkeypatch):
    asked = []
    monkeypatch.setattr(job_process, "_SECONDS_BETWEEN_LOOKS", 0.01)
    ask = job_process._ask
    monkeypatch.setattr(job_process, "_ask", lambda *arguments: asked.append(arguments) or ask(*arguments))
    assert "code -9" in process.run(ENDLESS, None, LONG, is_wanted=lambda: False).reason
    assert len(asked) == 1


def test_a_process_that_is_killed_while_it_starts_does_no_job(monkeypatch):
    """Another thread closes it before it has seen the new process, which would answer in a minute."""
    process, start = JobProcess(), subprocess.Popen
    slow = [sys.executable, "-c", "import time; time.sleep(60)"]

    def killed_meanwhile(_, **options):
        process.kill()
        return start(slow, **options)

    monkeypatch.setattr(subprocess, "Popen", killed_meanwhile)
    with closing(process):
        assert "code -9" in process.run(GOOD, None, LONG).reason


def test_a_job_whose_process_is_killed_is_tried_once_more(process, monkeypatch):
    ask, killed = job_process._ask, []

    def die_on_being_asked_first(running, call):
        if not killed:
            killed.append(running.pid)
            running.kill()
            running.wait()
        return ask(running, call)

    monkeypatch.setattr(job_process, "_ask", die_on_being_asked_first)
    assert opened(process.run(GOOD, None, LONG)) == 2
    assert len(killed) == 1


def test_a_job_whose_process_dies_has_failed(process):
    failure = process.run(packed(misbehave, "dies"), None, LONG)
    assert "ended with code -9" in failure.reason
    assert not failure.is_late


@needs_proc
def test_a_process_ends_with_its_owner():
    process = JobProcess()
    process.run(GOOD, None, LONG)
    pid = process._process.pid
    del process
    assert not is_alive(pid)


@needs_proc
def test_a_process_ends_with_the_one_that_started_it():
    code = (
        "from grandag.executors.process import JobProcess; from tests.executors.test_process import ENDLESS\n"
        "JobProcess().run(ENDLESS, None, 600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    wait_for(lambda: children(parent.pid))
    (child,) = children(parent.pid)
    parent.kill()
    parent.wait()
    wait_for(lambda: not is_alive(child))
