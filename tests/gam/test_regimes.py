"""Additive regressions of tables with interventions: the rows that do not target a column are its rows."""

import math

import numpy as np
import pytest

from grandag.gam import SplineTable
from grandag.table import as_table


@pytest.fixture
def values(rng):
    a, b = rng.normal(size=(2, 300))
    c = np.sin(2 * a) + 0.5 * b + 0.3 * rng.normal(size=300)
    return np.column_stack([a, b, c])


def with_targets(values, targets):
    return SplineTable(as_table(values, interventions=targets), depends_on_units=False)


def test_a_regression_is_that_of_the_rows_that_do_not_target_it(values, rng):
    """Copies of the parents, with anything in the place of the target, have the same bases and say nothing new."""
    forced = values + [0.0, 0.0, 7.0] * rng.normal(size=(300, 1))
    both = with_targets(np.vstack([values, forced]), [""] * 300 + ["X2"] * 300)
    alone = SplineTable(values, depends_on_units=False).regress(2, [0, 1])
    fit = both.regress(2, [0, 1])
    assert (fit.n_rows, alone.n_rows) == (300, 300)
    for name in ("gcv", "sigma2", "residual_variance", "residual_df"):
        assert getattr(fit, name) == pytest.approx(getattr(alone, name), rel=1e-6)
    np.testing.assert_allclose(fit.edf, alone.edf, rtol=1e-5)
    np.testing.assert_allclose(fit.p_values(), alone.p_values(), rtol=1e-3)
    np.testing.assert_allclose(fit.predict(values), alone.predict(values), atol=1e-6)
    assert both.regress(0, [1]).n_rows == 600


def test_penalised_least_squares_by_hand(values, rng):
    """Rows with other means and spreads of the parents: functions are not centred over the rows of a regression."""
    forced = values * [1.0, 3.0, 1.0] + [2.0, -1.0, 0.0]
    forced[:, 2] = rng.normal(size=300)
    others = values[:200] * [0.5, 1.0, 1.0] + [1.0, 0.0, 3.0]
    others[:, 2] += 0.1 * rng.normal(size=200)
    rows = np.vstack([values, forced, others])
    table = with_targets(rows, [""] * 300 + ["X2"] * 300 + ["X0"] * 200)
    fit = table.regress("X2", ["X0", "X1"])
    free = np.r_[0:300, 600:800]
    bases = table.products(10).bases
    design = np.hstack([np.ones((500, 1)), *(bases[i](rows[free, i]) for i in (0, 1))])
    weights = np.repeat(np.exp(fit.log_smoothing), [len(bases[i].penalty) for i in (0, 1)])
    penalty = np.concatenate([[0.0], weights * np.concatenate([bases[i].penalty for i in (0, 1)])])
    system = design.T @ design + 500 * np.diag(penalty)
    beta = np.linalg.solve(system, design.T @ rows[free, 2])
    np.testing.assert_allclose(fit.predict(rows[free]), design @ beta, atol=1e-6)
    squares = ((rows[free, 2] - design @ beta) ** 2).sum()
    left = 500 - np.trace(np.linalg.solve(system, design.T @ design))
    assert fit.gcv == pytest.approx(500 * squares / left**2, rel=1e-6)
    assert fit.residual_variance == pytest.approx(squares / 499, rel=1e-6)
    curves = sum(fit.term_curve(i)(rows[free, i]) for i in (0, 1))
    np.testing.assert_allclose(fit.intercept + curves, design @ beta, atol=1e-6)
    assert fit.intercept == pytest.approx(rows[free, 2].mean())


def test_smoothing_is_the_best_for_these_rows(values, rng):
    """Another smoothing parameter has a larger criterion, also where another regime would want it."""
    forced = np.column_stack([values[:, 0], values[:, 1], rng.normal(size=300)])
    table = with_targets(np.vstack([values, forced]), [""] * 300 + ["X2"] * 300)
    fit = table.regress(2, [0])
    for step in (-0.3, 0.3):
        other = table.products(10).problem(2, (0,), 300, np.array([True, False]))
        from grandag.gam.regression import _solve

        assert math.log(_solve(other, fit.log_smoothing + step).gcv) > math.log(_solve(other, fit.log_smoothing).gcv)
