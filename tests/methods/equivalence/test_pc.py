"""PC against brute force, against true graphs with exact correlations, and with tests that contradict each other."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm, pearsonr

from grandag import PC
from grandag.graph import is_cpdag, skeleton, to_cpdag, v_structures
from grandag.methods.equivalence.conditioning import conditional_variance
from grandag.methods.equivalence.pc import CorrelationTests, Skeleton, find_skeleton, orient_skeleton
from tests.methods.linear import linear_data


def everything(d):
    return ~np.eye(d, dtype=bool)


def nothing(d):
    return np.zeros((d, d), dtype=bool)


def by_inversion(correlation, i, j, given):
    """The partial correlation from the inverse of the correlation matrix."""
    nodes = [i, j, *given]
    precision = np.linalg.inv(correlation[np.ix_(nodes, nodes)])
    return -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])


def brute_force(correlation, n, alpha):
    """The stable skeleton, straight from its definition."""
    d = len(correlation)
    adjacent, smallest = everything(d), np.full((d, d), np.inf)
    for m in range(d - 1):
        before = adjacent.copy()
        for i, j in combinations(range(d), 2):
            if not before[i, j]:
                continue
            for centre in (i, j):
                others = [k for k in np.flatnonzero(before[centre]) if k not in (i, j)]
                for given in combinations(others, m):
                    z = np.sqrt(n - m - 3) * np.arctanh(abs(by_inversion(correlation, i, j, given)))
                    smallest[i, j] = smallest[j, i] = min(smallest[i, j], z)
                    if 2 * norm.sf(z) >= alpha:
                        adjacent[i, j] = adjacent[j, i] = False
    return adjacent, smallest


def test_skeleton_and_tests(rng):
    for _ in range(10):
        values, _, _ = linear_data(rng, d=7, n_edges=12, n=80)
        correlation = np.corrcoef(values, rowvar=False)
        found = find_skeleton(CorrelationTests(correlation, 80), 80, 0.05, everything(7), nothing(7))
        adjacent, smallest = brute_force(correlation, 80, 0.05)
        np.testing.assert_array_equal(found.adjacent, adjacent)
        np.testing.assert_allclose(found.z[everything(7)], smallest[everything(7)], rtol=1e-6, atol=1e-9)
        for i, j in np.argwhere(~adjacent & everything(7)):
            given = found.separators[i, j][found.separators[i, j] >= 0]
            z = np.sqrt(80 - len(given) - 3) * np.arctanh(abs(by_inversion(correlation, i, j, given)))
            assert z == pytest.approx(found.z[i, j], rel=1e-6, abs=1e-9)


def test_p_values_are_those_of_correlated_residuals(rng):
    values = rng.normal(size=(200, 3)) @ np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1.0]])
    model = PC().fit(values)
    first, second = (values[:, j] - np.polyval(np.polyfit(values[:, 1], values[:, j], 1), values[:, 1]) for j in (0, 2))
    z = np.sqrt(200 - 1 - 3) * np.arctanh(pearsonr(first, second).statistic)
    assert model.p_values_[0, 2] == pytest.approx(max(2 * norm.sf(abs(z)), 0), rel=1e-6)


def test_conditional_variance(rng):
    covariance = np.cov(rng.normal(size=(50, 5)) @ rng.normal(size=(5, 5)), rowvar=False)
    schur = covariance[4, 4] - covariance[4, :4] @ np.linalg.solve(covariance[:4, :4], covariance[:4, 4])
    assert conditional_variance(covariance, np.array([2, 0, 3, 1, 4])) == pytest.approx(schur)
    doubled = covariance[np.ix_([0, 0, 1], [0, 0, 1])]
    once = covariance[1, 1] - covariance[0, 1] ** 2 / covariance[0, 0]
    assert conditional_variance(doubled, np.array([0, 1, 2])) == pytest.approx(once)  # the copy adds nothing


def test_exact_correlations_give_the_true_class(rng):
    """The correlations of a linear model and, in effect, infinitely many rows: PC is then an oracle's."""
    for _ in range(30):
        _, truth, weights = linear_data(rng, d=8, n_edges=10, n=1)
        through = np.linalg.inv(np.eye(8) - weights)
        covariance = through.T @ through
        scale = np.sqrt(np.diagonal(covariance))
        tests = CorrelationTests(covariance / np.outer(scale, scale), 10**12)
        found = find_skeleton(tests, 10**12, 1e-6, everything(8), nothing(8))
        oriented = orient_skeleton(found, everything(8), nothing(8))
        np.testing.assert_array_equal(oriented.adjacency, to_cpdag(truth))
        assert oriented.n_left_out == oriented.n_new == 0


def test_order_and_units_of_the_columns_do_not_matter(rng):
    """Also of what tests contradict each other about."""
    n_contradictions = 0
    for _ in range(10):
        values, _, _ = linear_data(rng, d=9, n_edges=18, n=60)
        order = rng.permutation(9)
        model, other = PC(alpha=0.1).fit(values), PC(alpha=0.1).fit(values[:, order] * rng.uniform(0.1, 10, 9))
        np.testing.assert_array_equal(skeleton(other.adjacency_), skeleton(model.adjacency_)[np.ix_(order, order)])
        n_contradictions += any("contradict" in note for note in model.notes_)
        if not any("No DAG" in note for note in model.notes_):
            np.testing.assert_array_equal(other.adjacency_, model.adjacency_[np.ix_(order, order)])
    assert n_contradictions > 0


def square(d, edges, separated):
    """A skeleton with the given edges and, by pair, the nodes that parted it."""
    adjacent, separators, z = nothing(d), np.full((d, d, d), -1), np.full((d, d), 5.0)
    for i, j in edges:
        adjacent[i, j] = adjacent[j, i] = True
    for (i, j), (given, value) in separated.items():
        separators[i, j, : len(given)] = separators[j, i, : len(given)] = given
        z[i, j] = z[j, i] = value
    return Skeleton(adjacent, z, separators, 0, 0)


def test_contradictory_v_structures():
    """0 -> 1 <- 2 and 1 -> 2 <- 3 both want the edge of 1 and 2; the more independent pair decides."""
    edges, independent = [(0, 1), (1, 2), (2, 3)], {(0, 3): ([1, 2], 0.1)}
    for first, second in ((0.5, 1.0), (1.0, 0.5)):
        found = square(4, edges, {(0, 2): ([], first), (1, 3): ([], second), **independent})
        oriented = orient_skeleton(found, everything(4), nothing(4))
        assert v_structures(oriented.adjacency) == [(0, 1, 2)] if first < second else [(1, 2, 3)]
        assert oriented.n_left_out == 1
        assert is_cpdag(oriented.adjacency)


def test_a_skeleton_of_no_dag():
    """A square without v-structures: one has to be made."""
    found = square(4, [(0, 1), (1, 2), (2, 3), (3, 0)], {(0, 2): ([1, 3], 0.5), (1, 3): ([0, 2], 0.5)})
    oriented = orient_skeleton(found, everything(4), nothing(4))
    assert oriented.n_new == 1
    assert is_cpdag(oriented.adjacency)
    np.testing.assert_array_equal(skeleton(oriented.adjacency), found.adjacent)


def test_knowledge_that_forces_a_cycle_takes_its_weakest_edge():
    found = square(3, [(0, 1), (1, 2), (0, 2)], {})
    found.z[0, 2] = found.z[2, 0] = 3.0
    allowed = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=bool)
    oriented = orient_skeleton(found, allowed, nothing(3))
    np.testing.assert_array_equal(oriented.adjacency, [[0, 1, 0], [0, 0, 1], [0, 0, 0]])


def test_levels(rng):
    values, _, _ = linear_data(rng, d=6, n_edges=9, n=500)
    assert not PC(alpha=0.0).fit(values).adjacency_.any()
    assert PC(alpha=1.0).fit(values).adjacency_.sum() == 30  # complete, and all DAGs on it are equivalent
    assert PC(max_conditions=0).fit(values).n_tests_ == 15
