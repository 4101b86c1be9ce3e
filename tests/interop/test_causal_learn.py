"""Graphs of ours as causal-learn's, built from its own nodes and edges, learned by it, and back."""

import numpy as np
import pytest
from causallearn.graph.Dag import Dag
from causallearn.graph.Edge import Edge
from causallearn.graph.Endpoint import Endpoint
from causallearn.graph.GeneralGraph import GeneralGraph
from causallearn.graph.GraphNode import GraphNode
from causallearn.search.ConstraintBased.PC import pc
from causallearn.search.ScoreBased.ExactSearch import bic_exact_search
from causallearn.utils.DAG2CPDAG import dag2cpdag

from grandag import PC, ExactSearch
from grandag import graph as g
from tests.interop.examples import CPDAG, DAG, NAMES
from tests.methods.linear import linear_data

CLASS_NAMES = tuple("abcde")


def built(adjacency, names):
    """The graph made through causal-learn's own calls, edge by edge, in no convention of ours."""
    nodes = [GraphNode(name) for name in names]
    graph = GeneralGraph(nodes)
    for i, j in np.argwhere(adjacency):
        if not adjacency[j, i]:
            graph.add_directed_edge(nodes[i], nodes[j])
        elif i < j:
            graph.add_edge(Edge(nodes[i], nodes[j], Endpoint.TAIL, Endpoint.TAIL))
    return graph


def filled(adjacency, names):
    """The graph with our matrix of end marks put in."""
    graph = GeneralGraph([GraphNode(name) for name in names])
    graph.graph = g.to_causal_learn(adjacency, names)
    graph.reconstitute_dpath(graph.get_graph_edges())
    return graph


GRAPHS = pytest.mark.parametrize(("adjacency", "names"), [(DAG, NAMES), (CPDAG, CLASS_NAMES)], ids=["dag", "cpdag"])


@GRAPHS
def test_there(adjacency, names):
    np.testing.assert_array_equal(g.to_causal_learn(adjacency, names), built(adjacency, names).graph)


@GRAPHS
def test_back(adjacency, names):
    graph = built(adjacency, names)
    found, found_names = g.from_causal_learn(graph.graph, graph.get_node_names())
    np.testing.assert_array_equal(found, adjacency)
    assert found_names == names


@GRAPHS
def test_causal_learn_reads_our_marks_as_we_mean_them(adjacency, names):
    graph = filled(adjacency, names)
    for i, source in enumerate(graph.get_nodes()):
        for j, target in enumerate(graph.get_nodes()):
            is_directed = adjacency[i, j] and not adjacency[j, i]
            assert bool(graph.is_directed_from_to(source, target)) == is_directed
            assert bool(graph.is_undirected_from_to(source, target)) == (adjacency[i, j] and adjacency[j, i])
            assert bool(graph.is_adjacent_to(source, target)) == (adjacency[i, j] or adjacency[j, i])
    edge = graph.get_edge(graph.get_nodes()[1], graph.get_nodes()[2 if adjacency is DAG else 3])
    assert str(edge) in ("confounder --> outcome", "b --> d")


def test_class_of_a_dag():
    member = g.to_dag(CPDAG)
    nodes = [GraphNode(name) for name in CLASS_NAMES]
    dag = Dag(nodes)
    for i, j in np.argwhere(member):
        dag.add_directed_edge(nodes[i], nodes[j])
    found, names = g.from_causal_learn(dag2cpdag(dag).graph, CLASS_NAMES)
    np.testing.assert_array_equal(found, CPDAG)
    assert names == CLASS_NAMES


def test_a_learned_class_is_ours(rng):
    """Their PC and ours on the same rows: a - b -> d <- c, d -> e in both conventions."""
    a, *noise = rng.normal(size=(5, 3000))
    b = a + noise[0]
    c = noise[1]
    d = b + c + 0.5 * noise[2]
    rows = np.column_stack([a, b, c, d, d + noise[3]])
    theirs, _ = g.from_causal_learn(pc(rows, alpha=0.001, show_progress=False).G.graph)
    np.testing.assert_array_equal(theirs, CPDAG)
    np.testing.assert_array_equal(PC(alpha=0.001).fit(rows).adjacency_, theirs)


@pytest.mark.parametrize(
    ("left", "right"), [(Endpoint.ARROW, Endpoint.ARROW), (Endpoint.CIRCLE, Endpoint.ARROW), (Endpoint.CIRCLE,) * 2]
)
def test_hidden_causes_and_unknown_ends_are_refused(left, right):
    nodes = [GraphNode("a"), GraphNode("b")]
    graph = GeneralGraph(nodes)
    graph.add_edge(Edge(nodes[0], nodes[1], left, right))
    with pytest.raises(g.GraphError, match="make no edge of ours"):
        g.from_causal_learn(graph.graph)


@pytest.mark.parametrize("search_method", ["astar", "dp"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_parents", [None, 2])
def test_exact_search_finds_the_same_class(search_method, seed, max_parents):
    """Its score has no intercepts, so that columns are centred."""
    values, _, _ = linear_data(np.random.default_rng(seed), d=6, n_edges=9, n=300)
    values -= values.mean(axis=0)
    theirs, _ = bic_exact_search(values, search_method=search_method, max_parents=max_parents)
    ours = ExactSearch(max_parents=max_parents).fit(values)
    np.testing.assert_array_equal(ours.adjacency_, g.to_cpdag(theirs.astype(bool)))
