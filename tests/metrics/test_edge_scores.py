import numpy as np
from hypothesis import given

from grandag.metrics import EdgeScores, adjacency_scores, direction_scores
from tests.graph.strategies import dags

EMPTY = np.zeros((3, 3), dtype=bool)
CHAIN = np.eye(3, k=1, dtype=bool)


def test_counted_by_hand():
    """True 0 -> 1 -> 2; estimated 1 -> 0, 0 -> 2, 1 -> 2: adjacencies 2 of 3 right, directions 1 of 3."""
    estimate = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
    assert adjacency_scores(CHAIN, estimate) == EdgeScores(2 / 3, 1.0, 4 / 5)
    assert direction_scores(CHAIN, estimate) == EdgeScores(1 / 3, 1 / 2, 2 / 5)


def test_undirected_edges_have_no_direction():
    assert adjacency_scores(CHAIN, CHAIN | CHAIN.T) == (1.0, 1.0, 1.0)
    np.testing.assert_equal(direction_scores(CHAIN, CHAIN | CHAIN.T), (np.nan, 0.0, 0.0))


def test_nothing_over_nothing():
    np.testing.assert_equal(adjacency_scores(CHAIN, EMPTY), (np.nan, 0.0, 0.0))
    np.testing.assert_equal(direction_scores(EMPTY, CHAIN), (0.0, np.nan, 0.0))
    np.testing.assert_equal(adjacency_scores(EMPTY, EMPTY), (np.nan, np.nan, np.nan))


@given(dags(5, 5), dags(5, 5))
def test_exchange_of_graphs_exchanges_precision_and_recall(one, two):
    for metric in (adjacency_scores, direction_scores):
        precision, recall, f1 = metric(one, two)
        np.testing.assert_equal(metric(two, one), (recall, precision, f1))
