"""GES with interventions, which is GIES: against the package gies, and against what a class of DAGs is."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag import GES
from grandag.graph import (
    interventional_essential_graph,
    is_acyclic,
    is_cpdag,
    members,
    target_groups,
    to_dag,
    undirected_part,
)
from grandag.interventions import Regimes
from grandag.methods.equivalence.ges import GesConfig, _gaussian_score
from grandag.methods.equivalence.greedy_search import greedy_search
from grandag.methods.stages.linear_gaussian import free_moments
from grandag.table import TableError, as_table
from tests.graph.strategies import targets
from tests.reference.make_gies import table

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "gies.json").read_text())["results"]


def with_regimes(parts, family):
    """The rows of all regimes as one table."""
    d = parts[0].shape[1]
    of_row = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return replace(as_table(np.vstack(parts)), regimes=Regimes(of_row, targets(family, d)))


def score_of(rows):
    """The BIC as GES has it."""
    return _gaussian_score(rows, free_moments(rows), GesConfig())


@pytest.mark.parametrize("intercepts", ["centred", "pooled"])
@pytest.mark.parametrize("result", REFERENCE, ids=lambda result: f"{result['table'][0]}-{result['table'][-1]}")
def test_agrees_with_the_package(result, intercepts):
    parts, _ = table(*result["table"])
    if intercepts == "centred":
        parts = [rows - rows.mean(axis=0) for rows in parts]
    family = result["table"][2]
    found = GES().fit(with_regimes(parts, family))
    edges = np.argwhere(found.adjacency_).tolist()
    assert edges == result[intercepts]
    assert found.learned_.kind == ("essential" if any(family) else "cpdag")


def test_the_package_was_asked_something():
    """Its answers differ by how means are treated; interventions direct some edges of classes, and leave others."""
    assert any(result["centred"] != result["pooled"] for result in REFERENCE)
    n_narrowed = 0
    for result in REFERENCE:
        graph = np.zeros((result["table"][0],) * 2, dtype=bool)
        graph[tuple(np.array(result["pooled"]).T)] = True
        n_narrowed += bool(undirected_part(graph).any()) and not is_cpdag(graph)
    assert n_narrowed >= 3


def test_all_dags_of_a_class_have_its_score():
    rows = with_regimes(table(8, 50, [[], [0, 1], [2]], 3)[0], [(), (0, 1), (2,)])
    score, groups = score_of(rows)
    sizes = []
    for density in (0.2, 0.4, 1.0):
        dag = np.triu(np.random.default_rng(int(10 * density)).random((8, 8)) < density, 1)
        graph = interventional_essential_graph(dag, rows.regimes.targets)
        totals = [score.total(member) for member in members(graph)]
        np.testing.assert_allclose(totals, totals[0])
        sizes.append(len(totals))
    assert max(sizes) == 2 * 120  # of the complete DAG: any order within 0 and 1, and from 3 on
    assert len(set(groups.tolist())) == 3


def test_steps_add_up_to_the_score_with_knowledge(rng):
    """And knowledge binds, and the answer is the part of an interventional class that it allows."""
    for seed in range(8):
        parts, weights = table(7, 60, [[], [0, 3], [5]], seed)
        rows = with_regimes(parts, [(), (0, 3), (5,)])
        score, groups = score_of(rows)
        required = (weights != 0) & (rng.random((7, 7)) < 0.2)
        allowed = (rng.random((7, 7)) < 0.8) & ~np.eye(7, dtype=bool) | (weights != 0)
        found = greedy_search(
            score, allowed, required, phases=("forward", "backward", "turning"), repeat=True, groups=groups
        )
        total = score.total(to_dag(found.graph))
        assert total == pytest.approx(score.total(required) + sum(step.gain for step in found.steps))
        assert (required <= found.graph).all()
        assert not (found.graph & ~allowed).any()
        told = groups[:, None] != groups
        assert not (undirected_part(found.graph) & told).any()


def test_limit_on_degree():
    parts, _ = table(10, 150, [[], [2], [7, 8]], 5)
    rows = with_regimes(parts, [(), (2,), (7, 8)])
    free, limited = (GES(max_degree=limit).fit(rows).adjacency_ for limit in (None, 1))
    assert (free | free.T).sum(axis=0).max() > 1
    assert (limited | limited.T).sum(axis=0).max() == 1


@pytest.fixture(scope="module")
def frame():
    """A chain a -> b -> c, of which observations tell no direction, with interventions on b alone."""
    rng = np.random.default_rng(0)
    targets_of_rows = np.repeat(["", "b"], 300)
    a = rng.normal(size=600)
    b = np.where(targets_of_rows == "b", rng.normal(3, 1, 600), 1 + 0.9 * a + 0.6 * rng.normal(size=600))
    c = 2 - 0.8 * b + 0.6 * rng.normal(size=600)
    return pd.DataFrame({"a": a, "b": b, "c": c, "target": targets_of_rows})


def test_an_intervention_tells_a_direction(frame):
    model = GES().fit(frame, interventions="target")
    np.testing.assert_array_equal(model.adjacency_, np.eye(3, k=1, dtype=bool))
    assert not GES().fit(frame[:300].drop(columns="target")).is_dag_
    assert (GES().fit(frame[:300].drop(columns="target")).edges_["type"] == "--").all()


def test_conditionals_are_those_of_the_free_rows(frame):
    """b follows from a as the rows say that leave it alone."""
    model = GES().fit(frame, interventions="target")
    free = frame[frame["target"] == ""]
    slope, intercept = np.polyfit(free["a"], free["b"], 1)
    conditional = model.learned_.conditionals[1]
    np.testing.assert_allclose([conditional.intercept, *conditional.weights], [intercept, slope])
    of_all_rows = np.polyfit(frame["b"], frame["c"], 1)
    np.testing.assert_allclose([*model.learned_.conditionals[2].weights], of_all_rows[:1])


def test_saved_and_loaded(frame, tmp_path):
    model = GES().fit(frame, interventions="target")
    model.save(tmp_path / "model.npz")
    loaded = grandag.load(tmp_path / "model.npz")
    assert loaded.learned_.kind == "essential"
    np.testing.assert_array_equal(loaded.dag_, model.dag_)
    assert is_acyclic(loaded.dag_)


def test_rows_without_targets_are_observations(frame):
    """To the bit."""
    plain = GES().fit(frame.drop(columns="target"))
    same = GES().fit(frame.drop(columns="target"), interventions=[""] * 600)
    np.testing.assert_array_equal(same.strength_, plain.strength_)
    assert (same.score_, same.learned_.kind) == (plain.score_, "cpdag")
    assert same.learned_.conditionals[1].intercept == plain.learned_.conditionals[1].intercept


def test_a_column_that_is_constant_in_the_free_rows_of_another(rng):
    """a is 0 in all rows that leave b alone: it says nothing about b there, and nothing breaks."""
    where = np.repeat(["a", "b"], 50)
    a, noise = np.where(where == "a", 0.0, rng.normal(size=100)), rng.normal(size=(100, 2))
    b = np.where(where == "b", rng.normal(3, 1, 100), noise[:, 0])
    frame = pd.DataFrame({"a": a, "b": b, "c": a + b + noise[:, 1]})
    model = GES(knowledge={"required": [["a", "b"]]}).fit(frame, interventions=where.tolist())
    assert model.adjacency_.tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    assert np.isfinite(model.score_)
    assert all(np.isfinite([some.intercept, some.scale, *some.weights]).all() for some in model.learned_.conditionals)


def test_labels(frame):
    """Additive regressions, of free rows too."""
    with_labels = frame.assign(c=np.where(frame["c"] > frame["c"].median(), "high", "low"))
    model = GES().fit(with_labels, interventions="target")
    assert model.adjacency_[0, 1]
    assert not model.adjacency_[1, 0]
    assert model.learned_.kind == "essential"
    free = with_labels[with_labels["target"] == ""].drop(columns="target")
    alone = GES(knowledge={"required": [["a", "b"]], "forbidden": [["b", "a"]]}).fit(free)
    given = np.linspace(-1, 1, 5)[:, None]
    here, there = (some.learned_.conditionals[1].given(given).mean for some in (model, alone))
    np.testing.assert_allclose(here, there)
    stuck = with_labels.assign(a=np.where(with_labels["target"] == "b", with_labels["a"], 1.0))
    with pytest.raises(TableError, match="'a' holds one value in all rows that do not intervene on 'b'"):
        GES().fit(stuck, interventions="target")


def test_groups_of_regimes_without_rows_do_not_count(frame):
    """As after a split of the rows."""
    rows = as_table(frame, interventions="target").take(np.arange(300))
    assert target_groups(rows.regimes.targets).max() == 1
    assert free_moments(rows).groups.max() == 0
