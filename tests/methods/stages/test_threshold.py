"""Bisection against trying every threshold in turn, as the released program does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grandag.graph import is_acyclic
from grandag.methods.stages.threshold import threshold


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
