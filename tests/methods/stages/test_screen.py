"""Screening: against the formula, what it finds, and what does not matter."""

import numpy as np
import pytest

from grandag.methods.stages.screen import dependence, most_dependent


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(500, 6))


def test_dependence_is_that_of_the_formula(values):
    strength = dependence(values)
    x = (values - values.mean(axis=0)) / values.std(axis=0)
    v = (x**2 - 1) / (x**2).std(axis=0)
    for i in range(6):
        parts = np.array_split(np.argsort(values[:, i]), 10)
        for j in range(6):
            by_mean, by_spread = (sum(len(rows) * y[rows, j].mean() ** 2 for rows in parts) for y in (x, v))
            assert strength[i, j] == pytest.approx(max(by_mean, by_spread), rel=1e-3)


def test_independent_columns_show_what_chance_does(values):
    """The larger of two chi-squared values with nine degrees of freedom: beyond 30 in one of a thousand."""
    strength = dependence(values)[~np.eye(6, dtype=bool)]
    assert 8 < np.median(strength) < 14
    assert strength.max() < 30


def test_mean_and_spread_are_both_seen(values):
    values[:, 1] = np.cos(2 * values[:, 0]) + 0.5 * values[:, 1]  # no correlation
    values[:, 2] *= 0.2 + np.abs(values[:, 3])  # the mean does not depend on it
    strength = dependence(values)
    assert strength[0, 1] > 100
    assert strength[3, 2] > 60
    found = most_dependent(values, 1)
    assert found[1].tolist() == [0]
    assert found[2].tolist() == [3]


def test_units_and_order_of_columns_do_not_matter(values):
    values[:, 1] += values[:, 0] ** 2
    order = [3, 1, 5, 0, 2, 4]
    rescaled = dependence(7 - values * np.logspace(-8, 8, 6, base=2))
    np.testing.assert_allclose(dependence(values), rescaled, rtol=0.15)  # bins are counted from the other end
    np.testing.assert_allclose(dependence(values)[np.ix_(order, order)], dependence(values[:, order]), rtol=1e-5)


def test_few_values_and_constants(values):
    values[:, 0] = np.arange(500) % 2
    values[:, 1] += 2 * values[:, 0]
    values[:, 2] = 1.0
    strength = dependence(values)
    assert np.isfinite(strength).all()
    assert strength[0, 1] > 100
    assert strength[2].max() < 1e-3
    assert strength[:, 2].max() < 1e-3
