"""The compiled algorithms on sparse graphs against the matrix algebra of `grandag.graph`, and against networkx."""

import networkx as nx
import numpy as np
import pytest

from grandag.graph import (
    GraphError,
    interventional_essential_graph,
    is_acyclic,
    restricted_class,
    skeleton,
    target_groups,
    to_dag,
)
from grandag.methods.equivalence.class_state import ClassState
from grandag.methods.equivalence.completion import complete, extend, find_path, has_cycle


def listed(adjacency):
    """Adjacent nodes, and some that are not, as the compiled code wants them."""
    pairs = skeleton(adjacency)
    pairs[0, -1] = pairs[-1, 0] = True
    lists = np.zeros(pairs.shape, dtype=np.int32)
    for node, row in enumerate(pairs):
        lists[node, : row.sum()] = np.flatnonzero(row)[::-1]
    return lists, pairs.sum(axis=1)


def random_dag(rng, d, density):
    order = rng.permutation(d)
    return np.triu(rng.random((d, d)) < density, 1)[np.ix_(order, order)]


def test_the_class_of_a_dag(rng):
    n_undirected, n_forced = 0, 0
    for _ in range(500):
        d = int(rng.integers(3, 9))
        dag = random_dag(rng, d, rng.choice([0.3, 0.5, 0.8]))
        no_groups = np.zeros(d, dtype=np.int64)
        for allowed in (~np.eye(d, dtype=bool), (rng.random((d, d)) < 0.7) | dag):
            expected, graph = restricted_class(dag, allowed), np.zeros_like(dag)
            complete(dag, *listed(dag), allowed, no_groups, graph)
            np.testing.assert_array_equal(graph, expected)
            n_undirected += bool((graph & graph.T).any())
            n_forced += not np.array_equal(graph, restricted_class(dag, np.ones_like(dag)))
    assert n_undirected > 200
    assert n_forced > 100


def test_the_class_of_a_dag_by_interventions(rng):
    n_told = 0
    for _ in range(300):
        d = int(rng.integers(3, 9))
        dag, targets = random_dag(rng, d, rng.choice([0.3, 0.5, 0.8])), rng.random((3, d)) < 0.2
        targets[0] = False
        expected, graph = interventional_essential_graph(dag, targets), np.zeros_like(dag)
        complete(dag, *listed(dag), ~np.eye(d, dtype=bool), target_groups(targets), graph)
        np.testing.assert_array_equal(graph, expected)
        n_told += not np.array_equal(graph, restricted_class(dag, np.ones_like(dag)))
    assert n_told > 100


def test_a_dag_of_a_graph(rng):
    n_without = 0
    for _ in range(1000):
        d = int(rng.integers(3, 8))
        graph = (rng.random((d, d)) < rng.choice([0.2, 0.4])) & ~np.eye(d, dtype=bool)
        dag = np.zeros_like(graph)
        has_one = extend(graph, *listed(graph), dag)
        try:
            expected = to_dag(graph)
        except GraphError:
            n_without += 1
            assert not has_one
        else:
            assert has_one
            np.testing.assert_array_equal(dag, expected)
    assert 100 < n_without < 900


def test_cycles(rng):
    found = []
    for _ in range(300):
        graph = (rng.random((6, 6)) < 0.2) & ~np.eye(6, dtype=bool)
        found.append(has_cycle(graph, *listed(graph)))
        assert found[-1] != is_acyclic(graph)
    assert 50 < sum(found) < 250


def test_paths(rng):
    """The length is that of networkx, without blocked nodes and without the edge itself."""
    n_found = 0
    for _ in range(300):
        graph = (rng.random((8, 8)) < 0.2) & ~np.eye(8, dtype=bool)
        blocked = rng.choice(np.arange(2, 8), size=2, replace=False)
        path = find_path(graph, *listed(graph), 0, 1, blocked)
        other = nx.DiGraph(graph)
        other.remove_nodes_from(blocked)
        other.remove_edges_from([(0, 1)])
        if nx.has_path(other, 0, 1):
            n_found += 1
            nodes = path[::-1].tolist()
            assert nx.is_path(other, nodes)
            assert (nodes[0], nodes[-1], len(nodes)) == (0, 1, 1 + nx.shortest_path_length(other, 0, 1))
        else:
            assert not len(path)
    assert 50 < n_found < 250


@pytest.mark.parametrize("n_leaves", [3, 30])
def test_a_state_that_moves_is_one_made_anew(n_leaves, rng):
    """Edges come and go, at a node with more of them than there was room for."""
    d = n_leaves + 2
    everything = ~np.eye(d, dtype=bool)
    state = ClassState(np.zeros((d, d), dtype=bool), everything)
    dag = np.zeros((d, d), dtype=bool)
    for leaf in [*rng.permutation(np.arange(1, d)), *rng.permutation(np.arange(1, d))]:
        dag[leaf, 0] = not dag[leaf, 0]
        rejected = int(rng.integers(1, d - 1))
        state.after(rejected, rejected + 1, lambda graph, x=rejected: graph.__setitem__((x, x + 1), True), None)
        graph = state.after(0, leaf, lambda graph: graph.__setitem__(..., dag), None)
        np.testing.assert_array_equal(graph, restricted_class(dag, everything))
        _, joined = state.move_to(graph)
        assert joined == [0, leaf]
        anew = ClassState(restricted_class(dag, everything), everything)
        for kind in ("parents", "children", "neighbours", "adjacent"):
            assert getattr(state, kind) == getattr(anew, kind)
        np.testing.assert_array_equal(state.n_adjacent, anew.n_adjacent)
        assert state.digest(state.graph) == anew.digest(anew.graph)
