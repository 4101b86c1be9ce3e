import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grandag.graph import (
    ancestors,
    directed_part,
    is_acyclic,
    skeleton,
    topological_order,
    undirected_components,
    undirected_part,
)
from tests.graph.strategies import graphs


@given(arrays(np.bool_, st.integers(1, 6).map(lambda n: (n, n))))
def test_acyclicity_against_networkx(adjacency):
    graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
    assert is_acyclic(adjacency) == nx.is_directed_acyclic_graph(graph)
    if is_acyclic(adjacency):
        order = topological_order(adjacency)
        position = {node: k for k, node in enumerate(order)}
        assert sorted(order) == list(range(len(adjacency)))
        assert all(position[i] < position[j] for i, j in np.argwhere(adjacency))
    else:
        with pytest.raises(ValueError, match="cycle"):
            topological_order(adjacency)


@given(graphs())
def test_ancestors_against_networkx(adjacency):
    graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
    expected = [[i == j or nx.has_path(graph, i, j) for j in graph] for i in graph]
    np.testing.assert_array_equal(ancestors(adjacency), expected)


def test_ancestors_on_a_long_chain():
    assert (ancestors(np.eye(100, k=1, dtype=bool)) == np.triu(np.ones((100, 100), dtype=bool))).all()


@given(graphs())
def test_parts(adjacency):
    directed, undirected = directed_part(adjacency), undirected_part(adjacency)
    assert (directed ^ undirected == adjacency).all()
    assert not (directed & directed.T).any()
    assert (undirected == undirected.T).all()
    assert (skeleton(adjacency) == directed | directed.T | undirected).all()


@given(graphs())
def test_undirected_components_against_networkx(adjacency):
    graph = nx.from_numpy_array(undirected_part(adjacency))
    expected = sorted(sorted(component) for component in nx.connected_components(graph))
    assert sorted(component.tolist() for component in undirected_components(adjacency)) == expected
