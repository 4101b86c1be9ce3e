"""Conventions of other packages, by their documentation; tests/interop has them with the packages themselves."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from grandag import graph as g
from grandag.graph import GraphError
from tests.graph.strategies import NAMES, dags, graphs

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
CPDAG = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=bool)
"""a - b <- c, and d alone."""


def assert_same(found, adjacency, names):
    np.testing.assert_array_equal(found[0], adjacency)
    assert found[1] == tuple(names)


@given(dags(6, 6), NAMES)
def test_lingam_round_trip(adjacency, names):
    assert_same(g.from_lingam(g.to_lingam(adjacency, names), names), adjacency, names)


def test_lingam():
    """From its documentation: x3 -> x0 with coefficient 3.0 is B[0, 3] = 3.0."""
    weights = np.zeros((4, 4))
    weights[0, 3] = 3.0
    adjacency, names = g.from_lingam(weights)
    assert np.argwhere(adjacency).tolist() == [[3, 0]]
    assert names == ("X0", "X1", "X2", "X3")
    with pytest.raises(GraphError, match="hidden common cause"):
        g.from_lingam(np.full((2, 2), np.nan))
    with pytest.raises(GraphError, match="lingam takes DAGs only"):
        g.to_lingam(CPDAG)


@given(graphs(), NAMES)
def test_causal_learn_round_trip(adjacency, names):
    assert_same(g.from_causal_learn(g.to_causal_learn(adjacency, names), names), adjacency, names)


def test_causal_learn():
    """From its documentation: i --> j is G[j, i] = 1 and G[i, j] = -1; i --- j is both -1; i <-> j is both 1."""
    ends = g.to_causal_learn(CPDAG)
    assert (ends[2, 1], ends[1, 2]) == (-1, 1)
    assert (ends[0, 1], ends[1, 0]) == (-1, -1)
    assert not ends[3].any()
    for i_end, j_end in ((1, 1), (2, 1), (2, 2), (-1, 2), (-1, 0)):
        with pytest.raises(GraphError, match=f"end marks {i_end} and {j_end} between nodes 0 and 1"):
            g.from_causal_learn(np.array([[0, i_end], [j_end, 0]]))


@given(graphs(), NAMES)
def test_pgmpy_round_trip(adjacency, names):
    """pgmpy's PDAG is a networkx DiGraph with undirected edges in both directions."""
    directed, undirected = g.to_pgmpy(adjacency, names)
    model = nx.DiGraph()
    model.add_nodes_from(names)
    model.add_edges_from([*directed, *undirected, *((target, source) for source, target in undirected)])
    assert_same(g.from_pgmpy(model), adjacency, names)


def test_pgmpy():
    assert g.to_pgmpy(CPDAG, "abcd") == ([("c", "b")], [("a", "b")])


@given(dags(6, 6), NAMES)
def test_dowhy_round_trip(adjacency, names):
    names = [f"{name}{k}".translate(str.maketrans("{}.", "()_")) for k, name in enumerate(names)]
    text = g.to_dowhy(adjacency, names)
    assert "\n" not in text
    assert_same(g.from_dowhy(text), adjacency, names)


def test_dowhy():
    with pytest.raises(GraphError, match=r"dowhy takes 'my\.txt' in a graph for a file"):
        g.to_dowhy(CHAIN, ["a", "my.txt", "c"])
    with pytest.raises(GraphError, match="dowhy takes DAGs only"):
        g.to_dowhy(CPDAG)
