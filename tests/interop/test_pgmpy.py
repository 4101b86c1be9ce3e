"""Graphs of ours as pgmpy's own objects, what these say about them, and back."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from pgmpy import base
from pgmpy.models import DiscreteBayesianNetwork, LinearGaussianBayesianNetwork

from grandag import graph as g
from tests.interop.examples import CONFOUNDING, CPDAG, DAG, EFFECT, NAMES, rows


def in_order(named, names):
    """The matrix with its nodes in this order: pgmpy lists nodes as they come in edges."""
    adjacency, found = named
    assert sorted(found) == sorted(names)
    order = [found.index(name) for name in names]
    return adjacency[np.ix_(order, order)]


@pytest.mark.parametrize("kind", [base.DAG, DiscreteBayesianNetwork, LinearGaussianBayesianNetwork])
def test_round_trip_of_a_dag(kind):
    directed, undirected = g.to_pgmpy(DAG, NAMES)
    assert undirected == []
    model = kind(directed)
    model.add_nodes_from(NAMES)
    assert sorted(model.get_parents("outcome")) == ["confounder", "treatment"]
    assert model.get_parents("treatment") == ["confounder"]
    np.testing.assert_array_equal(in_order(g.from_pgmpy(model), NAMES), DAG)


def test_separations_are_ours():
    """pgmpy reads the same independences from its graph as networkx from ours."""
    chain = np.eye(4, k=1, dtype=bool)
    model, ours = base.DAG(g.to_pgmpy(chain, "abcd")[0]), g.to_networkx(chain, "abcd")
    for given in (set(), {"b"}, {"c"}):
        for node in {"c", "d"} - given:
            is_separated = nx.is_d_separator(ours, {"a"}, {node}, given)
            assert model.is_dconnected("a", node, observed=list(given)) is not is_separated


def test_round_trip_of_a_class():
    names = list("abcde")
    model = base.PDAG(*g.to_pgmpy(CPDAG, names))
    assert set(model.directed_edges) == {("b", "d"), ("c", "d"), ("d", "e")}
    assert {frozenset(edge) for edge in model.undirected_edges} == {frozenset("ab")}
    np.testing.assert_array_equal(in_order(g.from_pgmpy(model), names), CPDAG)


def test_pgmpy_finds_the_same_class():
    names = list("abcde")
    member = g.to_dag(CPDAG)
    theirs = base.DAG(g.to_pgmpy(member, names)[0]).to_pdag()
    np.testing.assert_array_equal(in_order(g.from_pgmpy(theirs), names), CPDAG)
    extension = base.PDAG(*g.to_pgmpy(CPDAG, names)).to_dag()
    np.testing.assert_array_equal(g.to_cpdag(in_order(g.from_pgmpy(extension), names)), CPDAG)


def test_a_gaussian_network_on_our_graph_finds_the_coefficients(rng):
    model = LinearGaussianBayesianNetwork(g.to_pgmpy(DAG, NAMES)[0])
    model.add_nodes_from(NAMES)
    model.fit(rows(rng))
    conditional = model.get_cpds("outcome")
    slopes = dict(zip(conditional.evidence, conditional.beta[1:], strict=True))
    assert slopes["treatment"] == pytest.approx(EFFECT, abs=0.1)
    assert slopes["confounder"] == pytest.approx(CONFOUNDING, abs=0.1)


def test_a_discrete_network_on_our_graph_finds_the_probabilities(rng):
    cause = rng.random(4000) < 0.3
    effect = rng.random(4000) < np.where(cause, 0.9, 0.2)
    model = DiscreteBayesianNetwork(g.to_pgmpy(np.array([[0, 1], [0, 0]]), ["cause", "effect"])[0])
    model.fit(pd.DataFrame({"cause": cause.astype(int), "effect": effect.astype(int)}))
    conditional = model.get_cpds("effect")
    assert conditional.variables == ["effect", "cause"]
    np.testing.assert_allclose(conditional.get_values()[1], [0.2, 0.9], atol=0.05)
