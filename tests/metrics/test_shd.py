import numpy as np
import pytest
from hypothesis import given

from grandag.graph import interventional_essential_graph, to_cpdag
from grandag.metrics import edge_errors, shd, shd_cpdag
from grandag.parameters import ParameterError
from tests.graph.strategies import cpdags, dags
from tests.reference import graph_pairs

DIRECTED = np.array([[0, 1], [0, 0]], dtype=bool)
EMPTY = np.zeros((2, 2), dtype=bool)
UNDIRECTED = ~np.eye(2, dtype=bool)


@pytest.mark.parametrize(
    ("truth", "estimate", "distance", "reversal_twice", "errors"),
    [
        (DIRECTED, DIRECTED, 0, 0, (0, 0, 0, 0)),
        (DIRECTED, EMPTY, 1, 1, (1, 0, 0, 0)),
        (EMPTY, DIRECTED, 1, 1, (0, 1, 0, 0)),
        (DIRECTED, DIRECTED.T, 1, 2, (0, 0, 1, 0)),
        (DIRECTED, UNDIRECTED, 1, 1, (0, 0, 0, 1)),
        (UNDIRECTED, DIRECTED, 1, 1, (0, 0, 0, 1)),
        (UNDIRECTED, EMPTY, 1, 1, (1, 0, 0, 0)),
        (EMPTY, UNDIRECTED, 1, 1, (0, 1, 0, 0)),
        (UNDIRECTED, UNDIRECTED, 0, 0, (0, 0, 0, 0)),
    ],
)
def test_kinds_of_edges(truth, estimate, distance, reversal_twice, errors):
    assert shd(truth, estimate) == distance
    assert shd(truth, estimate, reversal=2) == reversal_twice
    assert edge_errors(truth, estimate) == errors


def test_reversal_is_1_or_2():
    with pytest.raises(ParameterError, match="'reversal' must be 1 or 2; got 3"):
        shd(DIRECTED, DIRECTED, reversal=3)


@given(dags(5, 5) | cpdags(5, 5), dags(5, 5) | cpdags(5, 5), dags(5, 5) | cpdags(5, 5))
def test_shd_is_a_metric(one, two, three):
    assert shd(one, two) == shd(two, one)
    assert shd(one, three) <= shd(one, two) + shd(two, three)
    assert (shd(one, two) == 0) == np.array_equal(one, two)


@given(dags(5, 5), dags(5, 5))
def test_reversal_twice_counts_entries(one, two):
    assert shd(one, two, reversal=2) == (one != two).sum()


@given(dags(5, 5), dags(5, 5))
def test_shd_cpdag_compares_classes(truth, estimate):
    distance = shd(to_cpdag(truth), to_cpdag(estimate))
    assert shd_cpdag(truth, estimate) == distance
    assert shd_cpdag(truth, to_cpdag(estimate)) == distance
    assert shd_cpdag(to_cpdag(truth), estimate) == distance


@given(dags(5, 5), dags(5, 5))
def test_shd_cpdag_forgets_what_only_interventions_tell(truth, estimate):
    """Else a graph with more of the true directions would be further away."""
    essential = interventional_essential_graph(estimate, np.eye(2, 5, k=-1, dtype=bool))  # none; 0
    assert shd_cpdag(truth, essential) == shd_cpdag(truth, estimate)


def test_shd_cpdag_takes_a_graph_of_no_dag_as_it_is():
    square = np.zeros((4, 4), dtype=bool)
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
        square[a, b] = square[b, a] = True
    assert shd_cpdag(np.zeros((4, 4), dtype=bool), square) == 4


def test_markov_equivalent_chains():
    chain = np.eye(4, k=1, dtype=bool)
    assert shd_cpdag(chain, chain.T) == 0
    collider = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool)
    assert shd_cpdag(collider, np.eye(3, k=1, dtype=bool)) == 2


def test_against_r():
    """R's SID 1.1, hammingDist."""
    pairs = graph_pairs()
    assert len(pairs) == 440
    for pair in pairs:
        assert shd(pair["true"], pair["est"]) == pair["shd"]
