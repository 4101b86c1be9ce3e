"""Ctrl-C at defined moments: never a traceback, exit code 130, and what was finished is kept."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

NOTHING = "Interrupted; nothing was written.\n"


def interrupt(moment, number, *arguments, **environment):
    """The command in a group of processes of its own, to which Ctrl-C goes."""
    return subprocess.run(
        [sys.executable, "-m", "tests.cli.interrupted", moment, str(number), *map(str, arguments)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("module", ["typer", "numba", "sklearn", "pandas"])
def test_while_importing(module):
    process = interrupt(f"import:{module}", 1, "fit", "sachs", "--method", "cam")
    assert (process.returncode, process.stdout, process.stderr) == (130, "", NOTHING)


def test_while_compiling(tmp_path):
    """Into an empty cache, the second function."""
    process = interrupt("compile", 2, "fit", "sachs", "--method", "cam", NUMBA_CACHE_DIR=str(tmp_path))
    assert (process.returncode, process.stdout) == (130, "")
    assert process.stderr.splitlines()[-1] + "\n" == NOTHING
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(
    ("moment", "arguments"),
    [
        ("grandag.methods.estimator:StructureLearner.fit", ("fit", "sachs", "--method", "pc")),
        ("grandag.methods.registry:build", ("compare", "sachs", "--methods", "pc,random")),
        (
            "grandag.learned:Learned.check_not_interrupted",
            ("effect", "sachs", "--method", "pc", "--of", "PKA", "--on", "Akt"),
        ),
        ("grandag.graph:read_graph", ("score", "sachs", "sachs.json")),
        ("grandag.simulate.files:draw_scenario", ("simulate", "mlp", "--output", "never-made")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_commands_with_nothing_to_keep(moment, arguments):
    process = interrupt(f"call:{moment}", 1, *arguments)
    assert (process.returncode, process.stdout) == (130, "")
    assert process.stderr.endswith(NOTHING)
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_refits_that_are_done_are_kept(tmp_path, n_jobs):
    """When the third arrives, two are kept."""
    command = ("fit", "sachs", "--method", "pc", "--resamples", 12, "--n-jobs", n_jobs, "-o", tmp_path / "results")
    process = interrupt("call:grandag.learned:Learned.check_not_interrupted", 3, *command)
    assert process.returncode == 130, process.stderr
    assert "from 2 refits on bootstrap samples; interrupted before all 12 were done" in " ".join(process.stdout.split())
    assert set(pd.read_csv(tmp_path / "results" / "confidence.csv")["frequency"]) <= {0.5, 1.0}
    assert "Traceback" not in process.stderr


def test_the_graph_is_kept_when_no_refit_is_done(tmp_path):
    command = ("fit", "sachs", "--method", "pc", "--resamples", 12, "--n-jobs", 1, "-o", tmp_path / "results")
    process = interrupt("call:grandag.resampling:_Refit", 1, *command)
    assert process.returncode == 130
    assert process.stderr.startswith("Interrupted before the first refit was done: the graph is without frequencies.\n")
    assert (tmp_path / "results" / "edges.csv").exists()
    assert not (tmp_path / "results" / "confidence.csv").exists()


def test_the_best_graph_so_far_is_kept(tmp_path):
    command = ("fit", "sachs", "--method", "exact", "-o", tmp_path / "results")
    process = interrupt("call:grandag.methods.exact.search:_Problem.solve", 1, *command)
    assert process.returncode == 130, process.stderr
    assert "the graph is the best one found until then" in " ".join(process.stderr.split())
    assert (tmp_path / "results" / "edges.csv").exists()
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(
    ("moment", "arguments"),
    [
        ("grandag.cli.terminal:print_result", ("fit", "sachs", "--method", "pc")),
        ("grandag.cli.terminal:print_comparison", ("compare", "sachs", "--methods", "pc,random")),
        ("grandag.simulate.files:headline", ("simulate", "lin", "--n-rows", 20)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_files_that_are_in_place_are_named(tmp_path, moment, arguments):
    """When the result is shown, it has been written; what the command has not come to is not named."""
    place = tmp_path / "results"
    report = ("--report", tmp_path / "page.html") if arguments[0] == "fit" else ()
    process = interrupt(f"call:{moment}", 1, *arguments, "--output", place, *report)
    assert process.returncode == 130, process.stderr
    assert process.stderr.splitlines()[-1] == f"Interrupted; {str(place)!r} had been written."
    assert list(place.iterdir())


def test_an_older_result_is_none_of_this_run(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "edges.csv").write_text("older")
    command = ("fit", "sachs", "--method", "pc", "--output", tmp_path / "results")
    process = interrupt("call:grandag.methods.estimator:StructureLearner.fit", 1, *command)
    assert (process.returncode, process.stderr.splitlines()[-1] + "\n") == (130, NOTHING)
    assert (tmp_path / "results" / "edges.csv").read_text() == "older"


def test_the_papers_tables_that_are_in_place_are_named(tmp_path):
    store, place = tmp_path / "store.sqlite", tmp_path / "results"
    command = ("paper", "table1", "--methods", "random", "--graphs", "ER1", "--nodes", 10, "--datasets", 1)
    process = interrupt("call:grandag.cli.paper:_print", 1, *command, "--store", store, "--output", place)
    assert process.returncode == 130
    assert process.stderr.splitlines()[-1] == (
        f"Interrupted; {str(place)!r} had been written. Finished jobs are in {str(store)!r}; the same command "
        "continues from there."
    )
