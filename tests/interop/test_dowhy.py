"""Graphs of ours in dowhy: it finds the adjustment set by them, and with that the effect."""

import dowhy
import networkx as nx
import numpy as np
import pandas as pd
import pytest

from grandag import CAM
from grandag import graph as g
from tests.interop.examples import DAG, EFFECT, NAMES, rows

EDGES = {("confounder", "treatment"), ("confounder", "outcome"), ("treatment", "outcome")}


def estimated(data, graph):
    """dowhy's model of a graph, its adjustment set, and the effect of one unit of treatment."""
    model = dowhy.CausalModel(data, treatment="treatment", outcome="outcome", graph=graph)
    estimand = model.identify_effect()
    effect = model.estimate_effect(estimand, method_name="backdoor.linear_regression")
    return model, estimand.get_backdoor_variables(), effect.value


@pytest.mark.parametrize("to_format", [g.to_dowhy, g.to_networkx, g.to_gml, g.to_dot])
def test_effect(rng, to_format):
    model, adjustment, effect = estimated(rows(rng), to_format(DAG, NAMES))
    assert set(model._graph._graph.edges) == EDGES
    assert adjustment == ["confounder"]
    assert effect == pytest.approx(EFFECT, abs=0.1)


def test_the_direction_decides(rng):
    """With treatment -> confounder -> outcome there is nothing to adjust for, and the estimate is the plain slope."""
    reversed_edge = DAG.copy()
    reversed_edge[1, 0], reversed_edge[0, 1] = False, True
    _, adjustment, effect = estimated(rows(rng), g.to_dowhy(reversed_edge, NAMES))
    assert adjustment == []
    assert effect == pytest.approx(EFFECT - 1, abs=0.1)


def test_back(rng):
    model, _, _ = estimated(rows(rng), g.to_dowhy(DAG, NAMES))
    adjacency, names = g.from_networkx(model._graph._graph)
    order = [names.index(name) for name in NAMES]
    np.testing.assert_array_equal(adjacency[np.ix_(order, order)], DAG)
    text = " ".join(nx.generate_gml(model._graph._graph))
    assert set(g.to_networkx(*g.from_dowhy(text)).edges) == EDGES


@pytest.mark.parametrize("name", ["with space", "x.1", "é", "a-b", 'quoted "q"', "1"])
def test_names(rng, name):
    data = rows(rng, 200).rename(columns={"confounder": name})
    model, adjustment, _ = estimated(data, g.to_dowhy(DAG, list(data.columns)))
    assert adjustment == [name]
    assert set(model._graph._graph.predecessors("outcome")) == {"treatment", name}


@pytest.mark.parametrize("name", ["my.txt", "{a}"])
def test_names_that_dowhy_takes_for_something_else(name):
    """We refuse them, and this is why: the same text with such a name is no graph to dowhy, or another one."""
    text = g.to_gml(DAG, (*NAMES[:3], name)).replace("\n", " ")
    with pytest.raises(Exception):  # noqa: B017 - of whatever kind
        assert name in dowhy.causal_graph.CausalGraph("treatment", "outcome", graph=text)._graph
    with pytest.raises(g.GraphError, match="rename the node"):
        g.to_dowhy(DAG, (*NAMES[:3], name))


def test_learned_graph(rng):
    """From a table to a graph to an effect."""
    x = rng.normal(size=1000)
    y = np.sin(2 * x) + 0.3 * rng.normal(size=1000)
    data = pd.DataFrame({"treatment": x, "outcome": y})
    model = CAM().fit(data)
    assert list(model.graph_.edges) == [("treatment", "outcome")]
    _, adjustment, effect = estimated(data, g.to_dowhy(model))
    assert adjustment == []
    assert effect == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-6)
