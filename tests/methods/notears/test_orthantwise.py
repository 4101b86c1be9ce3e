"""The solver for smooth functions with an L1 term, against conditions of optimality and scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from grandag.methods.notears.orthantwise import minimise


def quadratic(rng, n=30):
    root = rng.normal(size=(n, n))
    matrix, vector = root @ root.T + 0.1 * np.eye(n), rng.normal(size=n)
    return matrix, lambda x: (0.5 * x @ matrix @ x - vector @ x, matrix @ x - vector)


@pytest.mark.parametrize("l1", [0.0, 0.1, 0.5])
def test_lasso_meets_the_conditions_of_optimality(rng, l1):
    _, function = quadratic(rng)
    minimum = minimise(function, np.zeros(30), l1, tolerance=0, gradient_tolerance=1e-6)
    _, gradient = function(minimum.x)
    is_zero = minimum.x == 0
    assert is_zero.any() == (l1 > 0)
    np.testing.assert_allclose(gradient[~is_zero], -l1 * np.sign(minimum.x[~is_zero]), atol=1e-5)
    assert (np.abs(gradient[is_zero]) <= l1 + 1e-5).all()


def test_value_as_low_as_scipy_on_split_variables(rng):
    _, function = quadratic(rng)

    def split(x):
        value, gradient = function(x[:30] - x[30:])
        return value + 0.3 * x.sum(), np.concatenate([gradient + 0.3, 0.3 - gradient])

    expected = scipy_minimize(split, np.zeros(60), jac=True, method="L-BFGS-B", bounds=[(0, None)] * 60).fun
    minimum = minimise(function, np.zeros(30), 0.3)
    assert minimum.value <= expected + 1e-6
    np.testing.assert_allclose(minimum.value, function(minimum.x)[0] + 0.3 * np.abs(minimum.x).sum())


def test_steps_into_infinity_are_taken_back():
    """-log(1 - x^2) is infinite beyond 1; its minimum with 3 (x - 2)^2 lies inside."""

    def function(x):
        if abs(x[0]) >= 1:
            return np.inf, np.array([np.nan])
        return -np.log1p(-(x[0] ** 2)) + 3 * (x[0] - 2) ** 2, np.array([2 * x[0] / (1 - x[0] ** 2) + 6 * (x[0] - 2)])

    x = minimise(function, np.zeros(1), 0.0, tolerance=0).x
    assert abs(function(x)[1][0]) < 1e-4


def test_a_strong_l1_term_leaves_the_start():
    minimum = minimise(lambda x: (float(((x - 1) ** 2).sum()), 2 * (x - 1)), np.zeros(3), 5.0)
    assert not minimum.x.any()
    assert minimum.n_evaluations == 1


def test_nothing_to_search():
    assert minimise(lambda x: (7.0, x), np.zeros(0), 1.0).value == 7
