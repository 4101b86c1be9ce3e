"""Interventions on the command line."""

import json

import networkx as nx
import pandas as pd
import pytest

from grandag import judge, refine, simulate
from grandag.interventions import INTERVENTION_KINDS
from tests.command import run


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    scenario = simulate.draw_scenario("lin", simulate.erdos_renyi(4, 4, random_state=1), 240, 1)
    regimes = simulate.draw_regimes(scenario, 2, random_state=1)
    path = tmp_path_factory.mktemp("data") / "table.csv"
    regimes.data.assign(junk=1.0, target=list(regimes.interventions)).to_csv(path, index=False)
    return path


CAM = ("--method", "cam", "--interventions", "target", "--exclude", "junk")


def test_fit_reads_the_targets_from_a_column(file):
    facts = json.loads(run("fit", file, *CAM, "--json").stdout)
    assert facts["nodes"] == ["X0", "X1", "X2", "X3"]
    assert any("120 of 240 rows are from 2 regimes of perfect interventions" in note for note in facts["notes"])


def test_columns_may_be_chosen_without_the_targets(file):
    targets = set(pd.read_csv(file)["target"].dropna())
    columns = ",".join([*targets, next(name for name in ("X0", "X1", "X2") if name not in targets)])
    facts = json.loads(run("fit", file, "--columns", columns, "--interventions", "target", "--method", "cam",
                           "--json").stdout)  # fmt: skip
    assert set(facts["nodes"]) == set(columns.split(","))
    without_a_target = run("fit", file, "--exclude", f"{min(targets)},junk", *CAM[:4])
    assert without_a_target.returncode == 1
    assert f"has the intervention target {min(targets)!r}, which is no column" in without_a_target.stderr


def test_methods_without_interventions_say_which_have_them(file):
    result = run("fit", file, "--method", "pc", "--interventions", "target")
    assert result.returncode == 1
    assert "PC cannot learn from perfect interventions; methods that can are" in result.stderr
    result = run("fit", file, *CAM, "--intervention-kind", "imperfect")
    assert "CAM cannot learn from imperfect interventions" in result.stderr
    result = run("fit", file, "--method", "cam", "--interventions", "targets")
    assert "no column 'targets'" in result.stderr and "did you mean 'target'" in result.stderr


def test_regimes_are_left_out_and_predicted(file, tmp_path):
    arguments = ("--check-interventions", "--n-jobs", 1, "--resamples", 0)
    result = run("fit", file, *CAM, *arguments, "-o", tmp_path / "out", "--report", tmp_path / "page.html")
    assert result.returncode == 0, result.stderr
    assert "means off by" in result.stdout
    check = pd.read_csv(tmp_path / "out" / "intervention_check.csv")
    assert len(check) == 2 * 3
    assert "left out, and predicted" in (tmp_path / "page.html").read_text()
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [row["regime"] for row in facts["intervention_check"]] == [*check["regime"].unique(), "all"]
    result = run("fit", file, "--method", "cam", "--check-interventions")
    assert result.returncode == 2
    assert "--check-interventions" in result.stderr and "needs the column" in result.stderr


def test_other_commands_take_them_too(file, tmp_path):
    compared = json.loads(run("compare", file, "--methods", "notears,pc", *CAM[2:], "--json").stdout)
    assert [row["method"] for row in compared["methods"] if row["edges"] is not None] == ["notears"]
    names = pd.read_csv(file).columns[:2]
    effect = json.loads(run("effect", file, "--of", names[0], "--on", names[1], *CAM, "--resamples", 2, "--n-jobs", 1,
                            "--json").stdout)  # fmt: skip
    assert any("of perfect interventions" in note for note in effect["notes"])
    tuned = json.loads(run("tune", file, *CAM, "--trials", 1, "--n-jobs", 1, "--json").stdout)
    assert any("of perfect interventions" in note for note in tuned["notes"])


def test_refine_asks_the_rows_that_tell_the_causes_of_a_variable(file, tmp_path):
    """Fewer of them after perfect interventions, all of them after imperfect ones: not the same evidence."""
    (tmp_path / "drawn.csv").write_text("source,target\nX0,X1\n")
    table = pd.read_csv(file).drop(columns="junk")
    graph = nx.DiGraph([("X0", "X1")])
    graph.add_nodes_from(["X2", "X3"])
    found = {}
    for kind in INTERVENTION_KINDS:
        options = ("--interventions", "target", "--intervention-kind", kind, "--exclude", "junk", "--n-jobs", 1)
        facts = json.loads(run("refine", tmp_path / "drawn.csv", file, *options, "--json").stdout)
        same = {"interventions": "target", "intervention_kind": kind, "n_jobs": 1}
        found[kind] = [facts["evidence_before"], facts["evidence"]]
        expected = [function(graph, table, **same).values["evidence"] for function in (judge, refine)]
        assert found[kind] == pytest.approx(expected)
    assert found["imperfect"][0] < found["perfect"][0] - 50


def test_bundled_data_with_interventions(tmp_path):
    assert "sachs-interventions: 5846 rows, 11 columns, 17 reference edges" in run("datasets").stdout
    facts = json.loads(run("fit", "sachs-interventions", "--columns", "PKC,PIP2,PIP3,Akt,Mek", "--interventions",
                           "intervention", "--method", "notears", "--resamples", 0, "--json").stdout)  # fmt: skip
    assert any(note.startswith("4,091 of 5,846 rows are from 5 regimes") for note in facts["notes"])
