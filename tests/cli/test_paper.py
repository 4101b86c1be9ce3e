"""`grandag paper` as a person types it."""

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from grandag.cli.app import app_for
from grandag.reproduction.jobs import failure
from grandag.reproduction.run import Execution
from grandag.reproduction.tasks import work

FEW = ["--methods", "random", "--graphs", "ER1", "--datasets", "2"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Execution, "run", lambda _, jobs: ((job, work(job)) for job in jobs))

    def invoke(*arguments):
        words = ["paper", *map(str, arguments)]
        return CliRunner().invoke(app_for(words), words)

    return invoke


def test_list(run):
    result = run("list")
    lines = result.stdout.splitlines()
    assert len(lines) == 25
    assert lines[0] == "table1   Gauss-ANM, 10 nodes: ER1, ER4, SF1, SF4"


def test_a_table(run, tmp_path):
    result = run("table1", *FEW, "--output", "results")
    assert result.exit_code == 0, result.output
    assert "26.3±9.8" in result.stdout
    assert (tmp_path / "grandag-results.sqlite").exists()
    assert (tmp_path / "results" / "table1.tex").exists()


def test_columns_that_the_authors_did_not_release_are_left_out_of_all(run, authors):
    few = ["--methods", "random", "--nodes", "10", "--graphs", "ER1", "--datasets", "1", "--trials", "1"]
    result = run("all", *few, "--authors-data", authors)
    assert result.exit_code == 0, result.output
    notice = "Left out, since the authors released no data for them: table12 (10 nodes ER1); table13 (10 nodes ER1)."
    assert result.stderr.count(notice) == 1
    assert "Table 1: " in result.stdout
    assert "Table 14: " in result.stdout
    assert "Table 12: " not in result.stdout


def test_estimate_runs_nothing(run, monkeypatch):
    assert run("table1", *FEW).exit_code == 0
    monkeypatch.setattr(Execution, "run", lambda *_: pytest.fail("a job was run"))
    result = run("table1", *FEW[:-1], "7", "--estimate", "100")
    assert result.exit_code == 0, result.output
    assert re.match(r"7 jobs: .+ of CPU time, .+ on 100 cores", result.stdout)


def test_quiet(run):
    result = run("table1", *FEW, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_failed_jobs_are_never_silent(run, monkeypatch):
    def failing(_, jobs):
        return ((job, failure(job, "for a reason")) for job in jobs)

    monkeypatch.setattr(Execution, "run", failing)
    result = run("table1", *FEW, "--quiet")
    assert result.exit_code == 1
    assert "jobs failed; --retry runs them again." in result.stderr
    assert result.stdout == ""


def test_spaces_need_no_run(run):
    assert "Log(Pruning cutoff) ~ U[-6, 0]" in run("table24").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel1"], "The paper has no 'tabel1'; did you mean 'table1'? There are table1, table2"),
        (["table1", "--methods", "nothing"], "table1 has no method 'nothing': it has GraN-DAG,"),
        (["table1", "--graphs", "er1,ER7"], "table1 has no graph 'ER7': it has ER1, ER4, SF1, SF4."),
        (["table10", "--nodes", "10,30"], "table10 has no number of nodes 30: it has 10, 20, 50, 100."),
        (["table7", "--rows", "500,600"], "table7 has no number of rows 600: it has 500, 1000, 5000, 10000."),
        (["table24", "--graphs", "ER1"], "table24 has no graph 'ER1': it has none to choose from."),
        (["table3", "--nodes", "11", "--rows", "500"], "it has data of 11 nodes Sachs 853 rows"),
        (["table12", "--methods", "random", "--authors-data", "."], "released no data sets of lin"),
        (["table1", *FEW, "--store", "no/where.sqlite"], "no directory"),
    ],
)
def test_bad_input_is_one_sentence(run, arguments, message):
    result = run(*arguments)
    assert isinstance(result.exception, ValueError | OSError)
    assert message in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nodes", "ten"], "must be whole numbers"),
        (["--n-jobs", "2", "--cluster", "tcp://x"], "is for this machine"),
    ],
)
def test_wrong_usage(run, arguments, message):
    result = run("table1", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_interrupted(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(Execution, "run", interrupted)
    result = run("table1", *FEW)
    assert result.exit_code == 130
    assert "continues from there" in result.output


def test_help_imports_nothing_heavy():
    code = "import sys, grandag.cli; print([name for name in ('numpy', 'pandas', 'numba') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
