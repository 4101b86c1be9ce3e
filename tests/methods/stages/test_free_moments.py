"""Moments and regressions of tables with interventions."""

import numpy as np
import pytest

from grandag.methods.notears.notears import loss
from grandag.methods.stages.linear_gaussian import FreeMoments, free_moments, least_squares, moments
from grandag.table import as_table

TARGETS = np.repeat(["", "X1", "X0|X2", "X1"], [30, 20, 25, 10])


@pytest.fixture
def table(rng):
    values = rng.normal(size=(85, 3)) @ rng.normal(size=(3, 3)) + [3.0, 0.0, -5.0]
    values[TARGETS == "X1", 1] += 10
    return as_table(values, interventions=TARGETS)


def test_each_variable_has_the_moments_of_the_rows_that_do_not_target_it(table):
    data = free_moments(table)
    for j, name in enumerate(table.names):
        rows = table.values[[name not in target for target in TARGETS]]
        np.testing.assert_allclose(data.of(j).mean, rows.mean(axis=0))
        np.testing.assert_allclose(data.of(j).covariance, np.cov(rows, rowvar=False, bias=True))
        assert data.share[j] == pytest.approx(len(rows) / 85)


def test_without_interventions_all_have_the_same(table):
    plain = as_table(table.values)
    for found, expected in zip(free_moments(plain), moments(table.values), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_regressions_are_those_of_the_same_rows(table):
    adjacency = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    found = least_squares(free_moments(table), adjacency)
    for j, name in enumerate(table.names):
        rows = table.values[[name not in target for target in TARGETS]]
        parents = np.flatnonzero(adjacency[:, j])
        design = np.column_stack([np.ones(len(rows)), rows[:, parents]])
        expected, _, _, _ = np.linalg.lstsq(design, rows[:, j], rcond=None)
        np.testing.assert_allclose([found.intercept[j], *found.weights[parents, j]], expected)
        assert found.deviation[j] == pytest.approx((rows[:, j] - design @ expected).std())


def test_loss_of_notears_is_that_of_the_rows(table, rng):
    """1 / (2 n) the sum over columns of the squared residuals of their rows, and its gradient."""
    data = free_moments(table)
    assert isinstance(data, FreeMoments)
    S, W = data.share[:, None, None] * data.covariance[data.groups], rng.normal(size=(3, 3))
    value, gradient = loss(W, S)
    expected = 0.0
    for j, name in enumerate(table.names):
        rows = table.values[[name not in target for target in TARGETS]]
        centred = rows - rows.mean(axis=0)
        expected += ((centred[:, j] - centred @ W[:, j]) ** 2).sum() / (2 * 85)
    assert value == pytest.approx(expected)
    step = 1e-6 * rng.normal(size=(3, 3))
    slope = (loss(W + step, S)[0] - loss(W - step, S)[0]) / 2
    assert slope == pytest.approx(float((gradient * step).sum()), rel=1e-6)


@pytest.mark.parametrize("d", [5, 12, 21])
def test_threads_share_pieces_of_the_matrix(d, rng, monkeypatch):
    """The same to the bit for any number of threads, and what numpy says."""
    monkeypatch.setattr("grandag.methods.stages.linear_gaussian._PIECE", 8)
    values = rng.normal(3, 2, size=(9000, d)) @ rng.normal(size=(d, d))  # more than one block of rows
    one, *others = (moments(values, n_threads=n) for n in (1, 2, 5))
    np.testing.assert_allclose(one.covariance, np.cov(values, rowvar=False, bias=True))
    np.testing.assert_array_equal(one.covariance, one.covariance.T)
    for other in others:
        np.testing.assert_array_equal(other.covariance, one.covariance)
