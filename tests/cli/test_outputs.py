"""Results never destroy what was there: neither an input, nor an earlier result, whenever a run dies."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag.cli.outputs import RESULT_FILES
from grandag.report.facts import FitSummary
from grandag.report.files import write_results
from tests.command import run


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "edges.csv"
    pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc")).to_csv(path, index=False)
    return path


def fit(*arguments):
    return run("fit", *arguments, "--method", "ges", "--quiet")


def test_an_output_that_is_an_input_is_refused(table, tmp_path):
    before = table.read_text()
    (tmp_path / "link.html").symlink_to(table)
    (tmp_path / "knowledge.toml").write_text('forbidden = [["a", "b"]]\n')
    for arguments in (
        ["--report", table],
        ["--report", tmp_path / "link.html"],
        ["--output", tmp_path],
        ["--knowledge", tmp_path / "knowledge.toml", "--report", tmp_path / "knowledge.toml"],
        ["--output", tmp_path / "new", "--report", tmp_path / "new" / "run.json"],
    ):
        process = fit(table, *arguments)
        assert process.returncode == 2
        assert "would replace" in " ".join(process.stderr.replace("│", " ").split())
    assert table.read_text() == before
    assert not (tmp_path / "new").exists()
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps({"nodes": ["a", "b", "c"], "edges": []}))
    assert run("refine", graph, table, "--output", graph).returncode == 2


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_an_unusable_output_is_noticed_before_the_fit(table, tmp_path, monkeypatch, option):
    def learned_in_vain(*arguments, **more):
        raise AssertionError("the fit was begun")

    monkeypatch.setattr(grandag.GES, "fit", learned_in_vain)
    for place in (table / "below", "/proc/grandag/new"):
        assert fit(table, option, place).returncode == 2


def test_an_ending_is_looked_at_before_the_search(table, tmp_path, monkeypatch):
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps({"nodes": [{"id": name} for name in "abc"], "links": []}))
    monkeypatch.setattr("grandag.refinement.judge", None)
    process = run("refine", graph, table, "--output", tmp_path / "graph.strange")
    assert process.returncode == 1
    assert "does not end in one of" in process.stderr


def test_all_names_of_results_are_known(table, tmp_path):
    """An input of such a name would be replaced."""
    place = ("--output", tmp_path / "new", "--quiet")
    assert run("fit", table, "--method", "ges", "--resamples", 2, *place).returncode == 0
    assert run("compare", table, "--methods", "ges,pc", *place).returncode == 0
    assert run("tune", table, "--method", "ges", "--trials", 1, *place).returncode == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(RESULT_FILES)


def write_for_ever(model, directory, saved, first_is_written):
    for version in range(10**9):
        write_results(FitSummary(model, f"version {version}"), directory)
        model.save(saved)
        first_is_written.set()


def test_killed_while_writing(table, tmp_path):
    """Old or new, never neither: the directory is of one version, and every model loads."""
    model = grandag.GES().fit(pd.read_csv(table))
    rng = np.random.default_rng(19)
    directory, saved = tmp_path / "result", tmp_path / "model.npz"
    write_results(FitSummary(model, "old"), directory)
    model.save(saved)
    fork = multiprocessing.get_context("fork")
    for number in range(20):
        first_is_written = fork.Event()
        writer = fork.Process(target=write_for_ever, args=(model, directory, saved, first_is_written))
        writer.start()
        first_is_written.wait()
        time.sleep(rng.uniform(0.0, 0.2))
        os.kill(writer.pid, signal.SIGKILL if number % 2 else signal.SIGTERM)
        writer.join()
        version = json.loads((directory / "run.json").read_text())["data"]
        assert f"# Graph learned from {version}\n" in (directory / "report.md").read_text()
        assert {path.name for path in directory.iterdir()} == set(RESULT_FILES) - {
            "confidence.csv", "consensus.json", "consensus.svg", "trials.csv", "best.json", "methods.csv",
        }  # fmt: skip
        assert grandag.load(directory / "model.npz").names_ == model.names_
        assert grandag.load(saved).names_ == model.names_


WATCH = """
import os, sys

notes = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND)

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
        os.write(notes, f"{event} {os.path.abspath(arguments[0])}\\n".encode())
    elif event in ("socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        os.write(notes, f"{event} {arguments}\\n".encode())

sys.addaudithook(watch)
"""

COMMANDS = """
fit edges.csv --method ges --resamples 2 --n-jobs 2 --output fitted --report fitted.html --quiet
compare edges.csv --methods ges,pc --output compared --report compared.html --quiet
tune edges.csv --method ges --trials 1 --output tuned --quiet
simulate lin --n-rows 50 --output simulated --quiet
refine simulated/truth.json simulated/data.csv --output refined.svg --quiet
paper table1 --methods random --graphs ER1 --nodes 10 --datasets 1 --n-jobs 1 --output paper --quiet
"""

RUN = """
import sys
from unittest import mock
from grandag.cli import main

for command in sys.argv[1].strip().splitlines():
    with mock.patch.object(sys, "argv", ["grandag", *command.split()]):
        try:
            main()
        except SystemExit as end:
            assert not end.code, (command, end.code)
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """What all commands did, in all their processes: files that they opened for writing, and addresses they asked."""
    place, watcher = tmp_path_factory.mktemp("watched"), tmp_path_factory.mktemp("watcher")
    pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc")).to_csv(place / "edges.csv")
    (watcher / "sitecustomize.py").write_text(WATCH)
    (watcher / "notes").touch()
    paths = [str(watcher), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "NOTES": str(watcher / "notes"), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-W", "ignore", "-c", RUN, COMMANDS]
    process = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return place, [line.split(" ", 1) for line in (watcher / "notes").read_text().splitlines()]


def test_every_command_writes_beside_and_renames(watched):
    """No file is opened for writing in its own place: it, or the directory that it is in, ends in .part."""
    place, notes = watched
    opened = {Path(path) for event, path in notes if event == "open"}
    parts = {path.relative_to(place).parts[0] for path in opened if path.is_relative_to(place)}
    assert {part for part in parts if not part.endswith(".part")} == set()
    written = {part.split(".")[1] for part in parts}
    assert written >= {"fitted", "compared", "tuned", "simulated", "refined", "paper"}


def test_no_command_asks_the_network(watched):
    """Processes talk through pipes."""
    _, notes = watched
    assert [note for note in notes if note[0].startswith("socket.")] == []
