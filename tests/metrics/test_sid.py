"""SID and its bounds: R's values, the paper's example, and brute force over equivalence classes."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandag.graph import members, to_cpdag
from grandag.metrics import shd, sid, sid_bounds, wrong_effects
from grandag.parameters import ParameterError
from tests.graph.strategies import cpdags, dags, essential_graphs
from tests.reference import graph_pairs

G = np.zeros((5, 5), dtype=bool)
G[0, 1:] = G[1, 2:] = True
"""The true graph of the examples in Peters and Bühlmann (2015): X1 and X2 cause Y1, Y2, Y3, and X1 causes X2."""


@pytest.fixture(scope="module")
def reference():
    """440 pairs of random graphs with the results of R's SID 1.1."""
    return graph_pairs()


def pairs(reference, *columns):
    for pair in reference:
        yield tuple(pair[name] for name in ("true", "est", *columns))


def test_sid_against_r(reference):
    values = [
        (sid(truth, estimate), expected)
        for truth, estimate, is_dag, expected in pairs(reference, "est_is_dag", "sid")
        if is_dag
    ]
    assert len(values) == 341
    assert all(found == expected for found, expected in values)


def test_bounds_against_r(reference):
    for truth, estimate, *expected in pairs(reference, "sidLowerBound", "sidUpperBound"):
        assert sid_bounds(truth, estimate) == tuple(expected)


def test_wrong_effects_against_r(reference):
    for truth, estimate, incorrect, n_incorrect in pairs(reference, "incorrect", "sid"):
        wrong = wrong_effects(truth, estimate).to_numpy()
        np.testing.assert_array_equal(wrong, incorrect)
        assert wrong.sum() == n_incorrect


def test_example_of_the_paper():
    """Both estimates have SHD 1. H1 has an edge too many, which costs nothing; H2 reverses X1 -> X2, SID 8."""
    H1, H2 = G.copy(), G.copy()
    H1[2, 3] = True
    H2[0, 1], H2[1, 0] = False, True
    assert (shd(G, H1), sid(G, H1)) == (1, 0)
    assert (shd(G, H2), sid(G, H2)) == (1, 8)
    wrong = wrong_effects((G, ["X1", "X2", "Y1", "Y2", "Y3"]), H2)
    assert wrong.loc["X1"].tolist() == [False, True, True, True, True]
    assert wrong.loc["X2"].tolist() == [True, False, True, True, True]
    assert sid_bounds(G, H2) == (8, 8)


@given(dags(5, 5), cpdags(5, 5) | essential_graphs(5, 5))
def test_bounds_are_those_of_the_class(truth, graph):
    """Of what observations, or interventions, do not tell apart."""
    distances = [sid(truth, dag) for dag in members(graph)]
    assert sid_bounds(truth, graph) == (min(distances), max(distances))
    is_wrong = np.any([wrong_effects(truth, dag).to_numpy() for dag in members(graph)], axis=0)
    np.testing.assert_array_equal(wrong_effects(truth, graph).to_numpy(), is_wrong)


@given(dags(), st.data())
def test_wrong_effects_add_up_to_the_sid(truth, data):
    estimate = data.draw(dags(len(truth), len(truth)))
    assert wrong_effects(truth, estimate).to_numpy().sum() == sid(truth, estimate)
    assert sid_bounds(truth, estimate) == (sid(truth, estimate),) * 2


@given(dags())
def test_complete_dag_in_a_true_order_has_sid_0(truth):
    order = list(nx.topological_sort(nx.from_numpy_array(truth, create_using=nx.DiGraph)))
    complete = np.argsort(order)[:, None] < np.argsort(order)
    assert sid(truth, complete) == 0
    assert sid_bounds(truth, complete) == (0, 0)


def tree(n, rng):
    """A random tree, whose CPDAG is the tree without directions: n DAGs, one per root."""
    adjacency = np.zeros((n, n), dtype=bool)
    for node in range(1, n):
        adjacency[rng.integers(node), node] = True
    return adjacency


def test_large_components(rng):
    """R's fall-back gives wider bounds; without the limit they are those of the class."""
    truth, estimate = np.triu(rng.random((12, 12)) < 0.2, 1), to_cpdag(tree(12, rng))
    distances = [sid(truth, dag) for dag in members(estimate)]
    assert len(distances) == 12
    exact, as_in_r = sid_bounds(truth, estimate, largest_component=None), sid_bounds(truth, estimate)
    assert exact == (min(distances), max(distances))
    assert as_in_r.lower <= exact.lower
    assert as_in_r.upper > exact.upper


@pytest.mark.parametrize("size", [0, 2.5, "8"])
def test_size_is_a_number(size):
    with pytest.raises(ParameterError, match="'largest_component' must be None or a whole number, at least 1; got"):
        sid_bounds(G, G, largest_component=size)


def test_large_chordal_component(rng):
    truth = np.triu(rng.random((10, 10)) < 0.3, 1)
    band = np.eye(10, k=1, dtype=bool) | np.eye(10, k=2, dtype=bool)
    distances = [sid(truth, dag) for dag in members(to_cpdag(band))]
    assert sid_bounds(truth, to_cpdag(band), largest_component=None) == (min(distances), max(distances))


def test_directed_edge_inside_a_component():
    """1 -> 2 within 0 - 1, 0 - 2: no CPDAG, so each node takes any of its neighbours as parents."""
    estimate = np.array([[0, 1, 1], [1, 0, 1], [1, 0, 0]], dtype=bool)
    truth = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    choices = {0: [[], [1], [2], [1, 2]], 1: [[], [0]], 2: [[1], [0, 1]]}
    lower = upper = 0
    for node, sets in choices.items():
        wrong = []
        for parents in sets:
            alone = np.zeros((3, 3), dtype=bool)
            alone[parents, node] = True
            wrong.append(int(wrong_effects(truth, alone).to_numpy()[node].sum()))
        lower, upper = lower + min(wrong), upper + max(wrong)
    assert sid_bounds(truth, estimate) == (lower, upper)


def test_exponential_work_is_announced():
    star = np.zeros((18, 18), dtype=bool)
    star[0, 1:] = True
    with pytest.warns(UserWarning, match=r"'X0' has 17 undirected neighbours: 2\^17 parent sets"):
        bounds = sid_bounds(star, to_cpdag(star))
    assert bounds.lower == 0
    distances = [sid(star, dag) for dag in members(to_cpdag(star))]
    assert sid_bounds(star, to_cpdag(star), largest_component=None) == (min(distances), max(distances))
    complete = ~np.eye(18, dtype=bool)
    with pytest.raises(UserWarning, match=r"clique of 18 nodes: more than 2\^17 parent sets"):
        sid_bounds(star, complete, largest_component=None)
