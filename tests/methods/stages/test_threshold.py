"""Bisection against trying every threshold in turn, as the released program does; edges that close cycles."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grandag.graph import ancestors, is_acyclic
from grandag.methods.stages.threshold import threshold, without_cycles


def threshold_one_by_one(jacobian, mask):
    for value in np.unique(np.append(jacobian[mask], 0)):
        adjacency = mask & (jacobian > value + 1e-8)
        if is_acyclic(adjacency):
            return adjacency
    raise AssertionError("the empty graph is acyclic")


@settings(max_examples=200)
@given(arrays(np.float64, (6, 6), elements=st.floats(0, 1)), arrays(np.bool_, (6, 6)))
def test_smallest_threshold(jacobian, mask):
    mask = mask & ~np.eye(6, dtype=bool)
    adjacency = threshold(jacobian, mask)
    np.testing.assert_array_equal(adjacency, threshold_one_by_one(jacobian, mask))


def test_acyclic_graph_loses_only_zeros(rng):
    jacobian = np.triu(rng.random((5, 5)), 1)
    jacobian[0, 1] = 1e-9
    mask = np.triu(np.ones((5, 5), dtype=bool), 1)
    expected = mask.copy()
    expected[0, 1] = False
    np.testing.assert_array_equal(threshold(jacobian, mask), expected)


def test_weakest_edge_of_the_cycle_goes():
    jacobian = np.array([[0, 3, 0], [0, 0, 2], [1, 0, 0]], float)
    np.testing.assert_array_equal(threshold(jacobian, jacobian > 0), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])


@settings(max_examples=200)
@given(arrays(np.float64, (6, 6), elements=st.floats(0, 1)), arrays(np.bool_, (6, 6)))
def test_only_edges_that_close_a_cycle_with_stronger_ones_are_left_out(jacobian, mask):
    mask = mask & ~np.eye(6, dtype=bool)
    adjacency = without_cycles(jacobian, mask)
    assert is_acyclic(adjacency)
    assert (adjacency <= (mask & (jacobian > 1e-8))).all()
    for i, j in np.argwhere(mask & ~adjacency & (jacobian > 1e-8)):
        stronger = adjacency & (jacobian >= jacobian[i, j])
        assert ancestors(stronger)[j, i]


def test_required_edges_stay_however_weak():
    jacobian = np.array([[0, 3, 0], [0, 0, 2], [1e-12, 0, 0]], float)
    required = np.zeros((3, 3), dtype=bool)
    required[2, 0] = True
    expected = [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_array_equal(without_cycles(jacobian, jacobian > 0, required), expected)


def test_one_strong_cycle_does_not_cost_the_weak_edges_elsewhere():
    """What the paper's threshold does."""
    jacobian = np.zeros((4, 4))
    jacobian[0, 1], jacobian[1, 0], jacobian[2, 3] = 5.0, 4.0, 1.0
    assert without_cycles(jacobian, jacobian > 0)[2, 3]
    assert not threshold(jacobian, jacobian > 0)[2, 3]
