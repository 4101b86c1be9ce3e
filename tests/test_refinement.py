"""Graphs judged and improved by their evidence, through Python, the command line and the option of methods."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import grandag
from grandag.graph import GraphError, write_graph
from grandag.knowledge import KnowledgeError
from grandag.parameters import ParameterError
from tests.command import run


@pytest.fixture(scope="module")
def frame():
    """a and b cause c by their product, which no additive regression sees; c causes d."""
    rng = np.random.default_rng(3)
    a, b, noise, more = rng.normal(size=(4, 300))
    c = a * b + 0.3 * noise
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": np.sin(2 * c) + 0.2 * more})


TRUE = {("a", "c"), ("b", "c"), ("c", "d")}


def edges(learned):
    return {tuple(pair) for pair in learned.edges()[["source", "target"]].to_numpy()}


def drawing(*pairs):
    graph = nx.DiGraph()
    graph.add_nodes_from("dcba")
    graph.add_edges_from(pairs)
    return graph


def test_refine_finds_what_additive_pruning_cannot(frame):
    refined = grandag.refine(drawing(("d", "c"), ("d", "a")), frame)
    assert edges(refined) == TRUE
    assert edges(grandag.CAM(refine=True).fit(frame).learned_) == TRUE
    assert edges(grandag.CAM().fit(frame).learned_) != TRUE


def test_evidence_of_graphs_compares(frame):
    right, wrong = grandag.judge(drawing(*TRUE), frame), grandag.judge(drawing(("a", "c")), frame)
    assert edges(right) == TRUE
    assert right.values["evidence"] > wrong.values["evidence"] + 100
    table = right.edges()
    assert table["evidence"].tolist() == table["strength"].tolist()
    assert (table["evidence"] > 50).all()


def test_knowledge_binds(frame):
    refined = grandag.refine(drawing(*TRUE), frame, knowledge={"forbidden": [["a", "c"]], "required": [["d", "b"]]})
    assert ("a", "c") not in edges(refined)
    assert ("d", "b") in edges(refined)


@pytest.mark.parametrize("method", ["GraNDAG", "NOTEARS", "CAM"])
def test_option_of_methods(frame, method):
    parameters = {"random_state": 1} if method != "CAM" else {}
    model = getattr(grandag, method)(refine=True, **parameters).fit(frame)
    assert edges(model.learned_) == TRUE
    assert list(model.edges_.columns[:3]) == ["source", "target", "strength"]
    assert (model.edges_["evidence"] > 50).all()
    assert "p_value" not in model.edges_
    assert model.evidence_ == pytest.approx(grandag.judge(model, frame).values["evidence"], abs=1.0)
    assert any(note.startswith("Refinement by evidence kept") for note in model.notes_)


def test_on_the_command_line(frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    write_graph(drawing(("c", "d"), ("a", "c"), ("d", "b")), tmp_path / "drawn.json")
    given = ("refine", tmp_path / "drawn.json", tmp_path / "table.csv")
    shown = run(*given, "--output", tmp_path / "refined.json")
    assert shown.returncode == 0, shown.stderr
    assert "Evidence in nats" in shown.stdout
    assert "dropped" in shown.stdout
    facts = json.loads(run(*given, "--json").stdout)
    assert {(edge["source"], edge["target"]) for edge in facts["edges"]} == TRUE
    assert facts["evidence"] > facts["evidence_before"]
    assert run("score", tmp_path / "refined.json", tmp_path / "refined.json", "--json").returncode == 0


def test_graphs_that_do_not_fit(frame, tmp_path):
    with pytest.raises(GraphError, match="'dd' is in the graph only; did you mean 'd'"):
        grandag.refine(nx.relabel_nodes(drawing(*TRUE), {"d": "dd"}), frame.rename(columns={"d": "d"}))
    with pytest.raises(GraphError, match="has a cycle"):
        grandag.judge(drawing(("a", "b"), ("b", "a")), frame)
    with pytest.raises(GraphError, match="3 nodes without names"):
        grandag.judge(np.zeros((3, 3)), frame)


def test_constant_columns_have_no_evidence(frame):
    """Neither for nor against anything: the same totals as without them."""
    with_constant = frame.assign(same=1.0)
    drawn = drawing(*TRUE)
    drawn.add_edge("d", "same")
    judged = grandag.judge(drawn, with_constant)
    assert judged.values["evidence"] == pytest.approx(grandag.judge(drawing(*TRUE), frame).values["evidence"], abs=0.1)
    assert edges(judged) == TRUE
    assert "Left out 1 edge of constant columns." in judged.notes
    assert [concern.kind for concern in judged.concerns] == ["constant columns"]
    with pytest.raises(KnowledgeError, match="is constant"):
        grandag.refine(drawn, with_constant, knowledge={"required": [["d", "same"]]})


def test_strengths_of_refined_edges_are_their_evidence(frame):
    model = grandag.NOTEARS(refine=True).fit(frame)
    assert model.edges_["strength"].tolist() == model.edges_["evidence"].tolist()


@pytest.fixture(scope="module")
def labelled():
    """The weather decides about the number of visits, not the weekday."""
    rng = np.random.default_rng(0)
    weather = rng.choice(["rain", "sun", "snow"], 400)
    mean = np.select([weather == "rain", weather == "sun"], [3.0, 9.0], 1.0)
    day = rng.choice(["Mon", "Tue", "Wed"], 400)
    return pd.DataFrame({"weather": weather, "visits": rng.poisson(mean), "day": day})


def test_labels_and_counts_have_evidence(labelled):
    drawn = nx.DiGraph([("day", "visits")])
    drawn.add_node("weather")
    refined = grandag.refine(drawn, labelled)
    assert {frozenset(edge) for edge in edges(refined)} == {frozenset(("weather", "visits"))}
    assert [column.kind for column in refined.columns] == ["categorical", "count", "categorical"]
    as_number = grandag.judge(refined.graph, labelled, kinds={"visits": "continuous"})
    assert as_number.columns[1].kind == "continuous"
    assert as_number.values["evidence"] != grandag.judge(refined.graph, labelled).values["evidence"]


def test_kinds_on_the_command_line(labelled, tmp_path):
    labelled.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "drawn.csv").write_text("source,target\nweather,visits\n")
    given = ("refine", tmp_path / "drawn.csv", tmp_path / "table.csv", "--json")
    totals = [
        json.loads(run(*given, *kinds).stdout)["evidence_before"] for kinds in ((), ("--kinds", "visits=continuous"))
    ]
    assert totals[0] != totals[1]


def test_gaps_are_not_filled_in(frame):
    with pytest.raises(ParameterError, match=r"completed\(seed\)"):
        grandag.judge(drawing(*TRUE), frame, missing="impute")
    for command in (("refine", "sachs", "sachs"), ("compare", "sachs")):
        refused = run(*command, "--missing", "impute")
        assert (refused.returncode, "`grandag fit` alone" in refused.stderr) == (2, True), refused.stderr


def test_wrong_arguments(frame):
    with pytest.raises(ParameterError, match="'missing' must be one of"):
        grandag.judge(drawing(*TRUE), frame, missing="Drop")
    refused = run("refine", "sachs", "sachs", "--missing", "foo")
    assert (refused.returncode, refused.stderr.startswith("Error: --missing must be one of")) == (2, True)


def test_rows_of_interventions_say_nothing_about_their_targets(rng):
    """Whatever c was set to leaves the evidence of its parents as it was; without being told, it does not."""
    a = rng.normal(size=160)
    c = np.sin(2 * a) + 0.2 * rng.normal(size=160)
    c[100:] = rng.normal(size=60)
    table = pd.DataFrame({"a": a, "c": c})
    targets = [""] * 100 + ["c"] * 60
    graph = np.array([[False, True], [False, False]])
    told = grandag.judge(graph, table, interventions=targets, n_jobs=1)
    alone = grandag.judge(graph, table[:100], n_jobs=1)
    blind = grandag.judge(graph, table, n_jobs=1)
    worth = [learned.edges()["evidence"][0] for learned in (told, alone, blind)]
    assert worth[0] == pytest.approx(worth[1], rel=0.1)
    assert worth[2] < worth[0] / 2
    found = grandag.refine(graph.T, table, interventions=targets, n_jobs=1)
    assert edges(found) == {("a", "c")}


@pytest.mark.parametrize("function", [grandag.judge, grandag.refine])
def test_targets_of_imperfect_interventions_keep_their_parents(function, rng):
    """Where c was a target it follows a the other way round: these rows have a regression of their own."""
    a = rng.normal(size=160)
    c = np.repeat([1, -1], [100, 60]) * np.sin(2 * a) + 0.2 * rng.normal(size=160)
    table = pd.DataFrame({"a": a, "c": c})
    targets = [""] * 100 + ["c"] * 60
    graph = np.array([[False, True], [False, False]])

    def worth(rows=slice(None), **interventions):
        return function(graph, table[rows], n_jobs=1, **interventions).edges()["evidence"][0]

    apart = [worth(slice(100)), worth(slice(100, None))]
    assert worth(interventions=targets) == pytest.approx(apart[0], rel=0.1)
    assert worth(interventions=targets, intervention_kind="imperfect") == pytest.approx(sum(apart), rel=0.1)


def test_gross_outliers_are_left_out_and_named(frame, tmp_path):
    """As in a fit: a few values far off would decide about everything."""
    wrong = frame.copy()
    wrong.loc[::30, "d"] = 99.0
    clean = wrong.drop(index=wrong.index[::30])
    found, refined = grandag.judge(drawing(*TRUE), wrong), grandag.refine(drawing(*TRUE), wrong)
    assert [concern.kind for concern in found.concerns] == ["gross outliers"]
    assert [concern.kind for concern in refined.concerns] == ["gross outliers"]
    assert found.values["evidence"] == grandag.judge(drawing(*TRUE), clean).values["evidence"]
    kept = grandag.judge(drawing(*TRUE), wrong, outliers="keep")
    assert kept.concerns == ()
    assert kept.values["evidence"] < found.values["evidence"] - 100
    with pytest.raises(ParameterError, match="'outliers' must be one of 'auto', 'keep'"):
        grandag.judge(drawing(*TRUE), wrong, outliers="drop")
    wrong.to_csv(tmp_path / "table.csv", index=False)
    write_graph(drawing(*TRUE), tmp_path / "drawn.json")
    given = ("refine", tmp_path / "drawn.json", tmp_path / "table.csv", "--json", "--outliers", "keep")
    assert json.loads(run(*given).stdout)["warnings"] == []
