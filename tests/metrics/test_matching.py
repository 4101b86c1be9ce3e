"""What all metrics have in common: nodes are matched by name, and a truth must be acyclic."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandag import metrics
from grandag.graph import GraphError, to_networkx
from tests.graph.strategies import cpdags, dags

NAMES = ("a", "b", "c", "d", "e", "f")
ALL = [
    metrics.adjacency_scores,
    metrics.ancestor_aid,
    metrics.direction_scores,
    metrics.edge_errors,
    metrics.oset_aid,
    metrics.parent_aid,
    metrics.score,
    metrics.shd,
    metrics.shd_cpdag,
    metrics.sid,
    metrics.sid_bounds,
]
FOR_CPDAGS = [metric for metric in ALL if metric is not metrics.sid]

chain = np.eye(3, k=1, dtype=bool)
cycle = np.roll(np.eye(3, dtype=bool), 1, axis=1)


def shuffled(adjacency, order):
    return adjacency[np.ix_(order, order)], [NAMES[k] for k in order]


@pytest.mark.parametrize("metric", ALL)
@settings(max_examples=25)
@given(truth=dags(6), estimate=dags(6), order=st.permutations(range(6)), other=st.permutations(range(6)))
def test_order_of_nodes_changes_nothing(metric, truth, estimate, order, other):
    expected = metric(truth, estimate)
    np.testing.assert_equal(metric(shuffled(truth, order), shuffled(estimate, other)), expected)
    np.testing.assert_equal(metric(truth[np.ix_(order, order)], estimate[np.ix_(order, order)]), expected)


@pytest.mark.parametrize("metric", FOR_CPDAGS)
@settings(max_examples=25)
@given(truth=dags(6), estimate=cpdags(6), order=st.permutations(range(6)), other=st.permutations(range(6)))
def test_order_of_nodes_changes_nothing_for_cpdags(metric, truth, estimate, order, other):
    expected = metric(truth, estimate)
    np.testing.assert_equal(metric(shuffled(truth, order), shuffled(estimate, other)), expected)


@pytest.mark.parametrize("metric", [metrics.shd, metrics.shd_cpdag, metrics.sid, *ALL[4:6], metrics.ancestor_aid])
@given(graph=dags())
def test_identical_graphs_have_distance_0(metric, graph):
    assert metric(graph, graph) == 0


@pytest.mark.parametrize("metric", ALL)
def test_kinds_of_graphs(metric):
    """One pair of graphs in all forms that have names, in different orders."""
    estimate = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    expected = metric(chain, estimate)
    table = pd.DataFrame(estimate, index=list("abc"), columns=list("abc"))
    for form in (to_networkx(estimate, "abc"), table, table.loc[list("cab"), list("cab")], (estimate, "abc"), estimate):
        assert metric((chain, "abc"), form) == expected
        assert metric(nx.DiGraph([("b", "c"), ("a", "b")]), to_networkx(estimate, "abc")) == expected


@pytest.mark.parametrize("metric", [*ALL, metrics.wrong_effects])
def test_what_cannot_be_compared(metric):
    with pytest.raises(GraphError, match="The true graph has a cycle, X0 -> X1 -> X2 -> X0"):
        metric(cycle, chain)
    with pytest.raises(GraphError, match="different nodes: the estimate has no 'c'; the true graph has no 'x'"):
        metric((chain, "abc"), (chain, "abx"))
    with pytest.raises(GraphError, match="The true graph has 3 nodes but the estimate 2"):
        metric((chain, "abc"), np.zeros((2, 2), dtype=bool))


@pytest.mark.parametrize("metric", [metrics.sid, metrics.sid_bounds, metrics.wrong_effects])
def test_sid_needs_a_true_dag(metric):
    with pytest.raises(GraphError, match=r"The SID needs a true DAG\. It has an undirected edge .*: X0 - X1"):
        metric(chain | chain.T, chain)
    with pytest.raises(GraphError, match=r"It has a cycle: X0 -> X1 -> X2 -> X0\."):
        metric(chain, cycle)


def test_sid_needs_an_estimated_dag():
    with pytest.raises(GraphError, match=r"sid_bounds takes CPDAGs\. It has an undirected edge"):
        metrics.sid(chain, chain | chain.T)


def test_shd_cpdag_needs_classes():
    with pytest.raises(GraphError, match=r"this graph has none\. It has a cycle: X0 -> X1 -> X2 -> X0"):
        metrics.shd_cpdag(chain, cycle)
