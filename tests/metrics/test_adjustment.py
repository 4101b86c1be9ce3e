import numpy as np
import pytest
from hypothesis import given

from grandag.graph import GraphError
from grandag.metrics import ancestor_aid, oset_aid, parent_aid, sid
from tests.graph.strategies import cpdags, dags

ALL = [ancestor_aid, oset_aid, parent_aid]
CHAIN = np.eye(3, k=1, dtype=bool)


@given(dags(5, 5), dags(5, 5))
def test_parents_between_dags_give_the_sid(truth, estimate):
    assert parent_aid(truth, estimate) == sid(truth, estimate)


@given(dags(5, 5), cpdags(5, 5))
def test_true_class_is_only_wrong_where_the_effect_is_not_identified(truth, cpdag):
    for metric in ALL:
        assert metric(cpdag, cpdag) == 0
        assert 0 <= metric(truth, cpdag) <= 20


@pytest.mark.parametrize("metric", ALL)
def test_counted_by_hand(metric):
    """True 0 -> 1: reversed, both effects are wrong; as 0 - 1, both are not identified; both are right as 0 -> 1."""
    truth = np.array([[0, 1], [0, 0]], dtype=bool)
    assert metric(truth, truth) == 0
    assert metric(truth, truth.T) == 2
    assert metric(truth, truth | truth.T) == 2


@pytest.mark.parametrize("metric", ALL)
def test_only_dags_and_cpdags(metric):
    square = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], dtype=bool)
    empty = np.zeros((4, 4), dtype=bool)
    with pytest.raises(GraphError, match=r"The estimate must be a DAG or a CPDAG\. It has undirected edges but is no"):
        metric(empty, square)
    with pytest.raises(GraphError, match="The true graph must be a DAG or a CPDAG"):
        metric(square, empty)
    with pytest.raises(GraphError, match=r"must be a DAG or a CPDAG\. It has a cycle: X0 -> X1 -> X2 -> X0"):
        metric(CHAIN, np.roll(np.eye(3, dtype=bool), 1, axis=1))
