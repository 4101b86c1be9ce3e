import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grandag.graph import is_acyclic, to_dot, to_json, to_networkx, topological_order

ADJACENCY = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
NAMES = ["a b", 'say "hi" \\', "c"]


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


def test_networkx():
    graph = to_networkx(ADJACENCY, NAMES, np.arange(9.0).reshape(3, 3))
    assert list(graph) == NAMES
    assert set(graph.edges) == {("a b", "c"), (NAMES[1], "a b"), (NAMES[1], "c")}
    assert graph.edges["a b", "c"]["strength"] == 2.0
    assert to_networkx(ADJACENCY, NAMES).edges["a b", "c"] == {}


def test_dot():
    graph = to_networkx(ADJACENCY, NAMES, np.arange(9.0).reshape(3, 3))
    assert to_dot(graph).splitlines() == [
        "digraph {",
        '  "a b";',
        '  "say \\"hi\\" \\\\";',
        '  "c";',
        '  "a b" -> "c" [strength=2];',
        '  "say \\"hi\\" \\\\" -> "a b" [strength=3];',
        '  "say \\"hi\\" \\\\" -> "c" [strength=5];',
        "}",
    ]


def test_json():
    content = json.loads(to_json(to_networkx(ADJACENCY, NAMES, ADJACENCY * 0.5)))
    assert content["nodes"] == NAMES
    assert content["edges"][0] == {"source": "a b", "target": "c", "strength": 0.5}
    assert len(content["edges"]) == 3
