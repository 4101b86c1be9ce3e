"""Boosting in cross-products against boosting over the rows."""

import numpy as np
from scipy.interpolate import BSpline

from grandag.gam.boosting import _smoother, _splines, boosting_shares


def test_splines_are_a_partition_of_unity_with_local_support(rng):
    x = np.append(rng.uniform(size=200), [0.0, 1.0])
    design = _splines(x)
    assert design.shape == (202, 24)
    np.testing.assert_allclose(design.sum(axis=1), 1)
    assert ((design > 0).sum(axis=1) <= 4).all()


def test_smoother_has_four_degrees_of_freedom(rng):
    for x in (rng.uniform(size=300), rng.normal(size=300), rng.exponential(size=300) ** 2):
        design = _splines((x - x.min()) / np.ptp(x))
        S = design @ _smoother(design.T @ design, 300) @ design.T
        np.testing.assert_allclose(np.trace(2 * S - S @ S), 4, rtol=1e-4)
        np.testing.assert_allclose(S @ np.ones(300), 1, atol=1e-4)
        np.testing.assert_allclose(S @ x, x, atol=1e-4 * x.std())  # a straight line is not penalised


def test_a_binary_column_is_a_step(rng):
    x = (rng.uniform(size=100) < 0.3).astype(float)
    design = _splines(x)
    fit = design @ _smoother(design.T @ design, 100) @ design.T @ x
    np.testing.assert_allclose(fit, x, atol=1e-4)


def rowwise_choices(values, target, n_steps):
    """The inputs chosen, from residuals and explicit smoothing matrices."""
    smoothers = {}
    for i in range(values.shape[1]):
        if i != target:
            x = values[:, i]
            knots = x.min() + np.ptp(x) * np.arange(-3, 25) / 21
            inside = np.clip(x, knots[3], knots[-4])
            B = np.column_stack([BSpline(knots, row, 3, extrapolate=False)(inside) for row in np.eye(24)])
            smoothers[i] = B @ _smoother(B.T @ B, len(x)) @ B.T
    u, chosen = values[:, target] - values[:, target].mean(), []
    for _ in range(n_steps):
        errors = {i: np.sum((u - S @ u) ** 2) for i, S in smoothers.items()}
        best = min(errors, key=errors.get)
        chosen.append(best)
        u = u - 0.1 * smoothers[best] @ u
    return chosen


def test_same_choices_as_over_the_rows(rng):
    a, b, c = rng.normal(size=(3, 200))
    values = np.column_stack([a, b, c, np.sin(2 * a) + 0.5 * b + 0.3 * rng.normal(size=200), 1e3 * (a - c)])
    shares = boosting_shares(values, n_steps=40)
    for target in range(5):
        chosen = rowwise_choices(values, target, 40)
        np.testing.assert_allclose(shares[:, target], np.bincount(chosen, minlength=5) / 40)


def test_units_do_not_matter(rng):
    values = rng.normal(size=(150, 4)) @ rng.normal(size=(4, 4))
    np.testing.assert_array_equal(boosting_shares(values * [1, 1e5, 1e-4, 3] + 10), boosting_shares(values))
