import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

from grandag import GraNDAG
from grandag.graph import GraphError, as_graph, from_networkx, to_networkx
from tests.graph.strategies import NAMES, graphs

ADJACENCY = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
NAMES_3 = ("a b", 'say "hi" \\', "c")


class Fitted:
    """What the boundary asks of an estimator."""

    adjacency_, names_ = ADJACENCY, NAMES_3

    def fit(self, X):
        return self


@pytest.mark.parametrize(
    "graph",
    [
        (ADJACENCY, NAMES_3),
        (ADJACENCY.astype(float), list(NAMES_3)),
        pd.DataFrame(ADJACENCY, index=NAMES_3, columns=NAMES_3),
        pd.DataFrame(ADJACENCY.astype(int), index=NAMES_3, columns=NAMES_3).iloc[[2, 0, 1]],
        pd.DataFrame(ADJACENCY, columns=NAMES_3),
        pl.DataFrame(ADJACENCY, schema=list(NAMES_3)),
        to_networkx(ADJACENCY, NAMES_3),
        Fitted(),
    ],
    ids=["pair", "numbers", "table", "rows in another order", "rows without names", "polars", "networkx", "estimator"],
)
def test_what_a_graph_is(graph):
    adjacency, names = as_graph(graph)
    assert adjacency.dtype == bool
    np.testing.assert_array_equal(adjacency, ADJACENCY)
    assert names == NAMES_3


def test_array_has_no_names():
    adjacency, names = as_graph(ADJACENCY.astype(int).tolist())
    np.testing.assert_array_equal(adjacency, ADJACENCY)
    assert names is None


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.zeros((2, 3)), r"square; this one has shape \(2, 3\)"),
        (nx.DiGraph(), "no nodes"),
        (np.array([[0, 0.4], [0, 0]]), "holds 0.4: say which weights are edges"),
        (np.array([[0, np.nan], [0, 0]]), "holds nan"),
        (np.array([["a", "b"], ["c", "d"]]), "holds text"),
        (np.eye(2, dtype=bool), "Node 0 has an edge to itself"),
        (nx.DiGraph([("a", "a")]), "Node 'a' has an edge to itself"),
        ((ADJACENCY, ["a", "b"]), "3 nodes but 2 names"),
        ((ADJACENCY, ["a", "b", "a"]), "Two nodes have the name 'a'"),
        (nx.DiGraph([(1, "1")]), "Two nodes have the name '1'"),
        (
            pd.DataFrame(ADJACENCY, index=["x", "y", "z"], columns=NAMES_3),
            "rows .* 'x', 'y', 'z' but its columns 'a b'",
        ),
        (GraNDAG(), "This GraNDAG is not fitted"),
    ],
)
def test_what_no_graph_is(graph, message):
    with pytest.raises(GraphError, match=message):
        as_graph(graph)


def test_names_are_given_once():
    for graph in (nx.DiGraph([("a", "b")]), pd.DataFrame(ADJACENCY, columns=list("abc")), Fitted()):
        with pytest.raises(GraphError, match="names of its own"):
            as_graph(graph, ["x", "y", "z"])


def test_networkx():
    graph = to_networkx(ADJACENCY, NAMES_3, np.arange(9.0).reshape(3, 3))
    assert list(graph) == list(NAMES_3)
    assert set(graph.edges) == {("a b", "c"), (NAMES_3[1], "a b"), (NAMES_3[1], "c")}
    assert graph.edges["a b", "c"]["strength"] == 2.0
    assert to_networkx(ADJACENCY, NAMES_3).edges["a b", "c"] == {}


def test_undirected_edges_of_networkx():
    graph = to_networkx(np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]], dtype=bool), "abc")
    assert dict(graph.edges) == {("a", "b"): {"undirected": True}, ("a", "c"): {}, ("b", "a"): {"undirected": True}}
    one_way = nx.DiGraph()
    one_way.add_edge("a", "b", undirected=True)
    for same in (one_way, nx.Graph([("a", "b")])):
        assert from_networkx(same)[0].tolist() == [[False, True], [True, False]]


@given(graphs(), NAMES)
def test_networkx_round_trip(adjacency, names):
    again, names_again = from_networkx(to_networkx(adjacency, names))
    np.testing.assert_array_equal(again, adjacency)
    assert names_again == tuple(names)
