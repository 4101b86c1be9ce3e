"""Gaussian processes as conditionals: against scikit-learn's, which factorises the covariance of all rows."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

from grandag.methods.stages.gaussian_process import fit_processes
from grandag.model import CausalModel
from grandag.table import Scaling, as_table


def interaction(rng, n):
    """Rows of two causes and an effect, which is neither linear nor additive."""
    a, b = rng.normal(size=(2, n))
    return np.column_stack([a, b, np.sin(a) * b + 0.3 * rng.normal(size=n)])


CHAIN = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)


def exact(conditional, z, target):
    """The same process with all rows in the place of landmarks."""
    kernel = conditional.kernel
    covariance = ConstantKernel(kernel.linear) * DotProduct(0.0, "fixed")
    covariance += ConstantKernel(kernel.interaction) * RBF(kernel.length_scales)
    covariance += ConstantKernel(kernel.additive) * RBF([kernel.length_scales[0], 1e6])
    covariance += ConstantKernel(kernel.additive) * RBF([1e6, kernel.length_scales[1]])
    covariance += WhiteKernel(conditional.noise)
    return GaussianProcessRegressor(covariance, optimizer=None).fit(z, target)


def test_mean_and_scale_are_those_of_the_exact_process(rng):
    rows = interaction(rng, 150) * [1, 1000, 0.01] + [5, 0, 0]
    conditional = fit_processes(as_table(rows), CHAIN, rng, 1).conditionals[2]
    z = Scaling.standard(rows).apply(rows, "float64")
    process = exact(conditional, z[:, :2], z[:, 2])
    new = interaction(rng, 50) * [1, 1000, 0.01] + [5, 0, 0]
    new_z = (new - rows.mean(axis=0)) / rows.std(axis=0)
    mean, deviation = process.predict(new_z[:, :2], return_std=True)
    found = conditional.given(new[:, :2])
    unit = rows[:, 2].std()
    np.testing.assert_allclose(found.mean, rows[:, 2].mean() + unit * mean, atol=0.02 * unit)
    np.testing.assert_allclose(found.scale, unit * np.sqrt(conditional.calibration) * deviation, rtol=0.02)


def test_rows_are_left_out_one_at_a_time(rng):
    rows = interaction(rng, 60)
    fitted = fit_processes(as_table(rows), CHAIN, rng, 1)
    conditional = fitted.conditionals[2]
    z = Scaling.standard(rows).apply(rows, "float64")[fitted.rows]
    expected, squares = [], []
    for k in range(len(z)):
        others = np.arange(len(z)) != k
        process = exact(conditional, z[others, :2], z[others, 2])
        mean, deviation = (float(found[0]) for found in process.predict(z[k : k + 1, :2], return_std=True))
        squares.append(((z[k, 2] - mean) / deviation) ** 2)
        deviation *= np.sqrt(conditional.calibration)
        expected.append(norm.logpdf(z[k, 2], mean, deviation) - np.log(rows[:, 2].std()))
    assert conditional.calibration == pytest.approx(np.mean(squares), rel=0.02)
    np.testing.assert_allclose(fitted.left_out[:, 2], expected, atol=0.05)


def test_without_parents_it_is_the_columns_own_normal_distribution(rng):
    rows = 3 + interaction(rng, 60)
    fitted = fit_processes(as_table(rows), CHAIN, rng, 1)
    found = fitted.conditionals[0].given(np.empty((4, 0)))
    mean, scale = found.mean, found.scale
    np.testing.assert_allclose(mean, rows[:, 0].mean())
    np.testing.assert_allclose(scale, rows[:, 0].std())
    np.testing.assert_allclose(fitted.left_out[:, 0], norm.logpdf(rows[fitted.rows, 0], mean[0], scale[0]))


def test_lines_go_on_as_lines(rng):
    cause = rng.normal(size=500)
    rows = np.column_stack([cause, 3 * cause + 0.5 * rng.normal(size=500)])
    conditional = fit_processes(as_table(rows), np.array([[0, 1], [0, 0]], dtype=bool), rng, 1).conditionals[1]
    found = conditional.given(np.array([[0.0], [10.0]]))
    mean, scale = found.mean, found.scale
    assert mean[1] - mean[0] == pytest.approx(30, rel=0.05)
    assert scale[0] == pytest.approx(0.5, rel=0.1)
    assert scale[1] > scale[0]


@pytest.mark.parametrize("n", [40, 400])
def test_a_column_without_noise_has_a_bounded_density(rng, n):
    """The sum of two others, as one-hot columns are: a new row that breaks the rule costs something, not everything."""
    rows = interaction(rng, n)
    rows[:, 2] = rows[:, 0] + rows[:, 1]
    fitted = fit_processes(as_table(rows), CHAIN, rng, 1)
    model = CausalModel(("a", "b", "c"), CHAIN, fitted.conditionals)
    assert model.log_densities(rows)["c"].max() < 8
    broken = rows[:5].copy()
    broken[:, 2] += 0.01
    assert model.log_densities(broken)["c"].min() > -100


def test_of_a_long_table_some_rows_are_used(rng):
    rows = interaction(rng, 30_000)
    fitted = fit_processes(as_table(rows), CHAIN, rng, 1)
    assert fitted.left_out.shape == (10_000, 3)
    found = fitted.conditionals[2].given(np.array([[1.0, 2.0], [-1.0, 1.0]]))
    mean, scale = found.mean, found.scale
    np.testing.assert_allclose(mean, [np.sin(1) * 2, np.sin(-1)], atol=0.1)
    np.testing.assert_allclose(scale, 0.3, atol=0.02)


def test_threads_change_nothing(rng):
    rows = interaction(rng, 100)
    one, two = (fit_processes(as_table(rows), CHAIN, np.random.default_rng(1), n_threads) for n_threads in (1, 2))
    np.testing.assert_array_equal(one.left_out, two.left_out)
    np.testing.assert_array_equal(one.conditionals[2].weights, two.conditionals[2].weights)


def test_under_interventions_each_variable_is_fitted_to_the_rows_that_leave_it_alone(rng):
    """In the rows that set x1 it says nothing about its own conditional, and all there is to say about that of x2."""
    values = rng.normal(size=(300, 3))
    values[:, 1] = np.where(np.arange(300) < 200, np.sin(values[:, 0]), 3.0) + 0.2 * values[:, 1]
    values[:, 2] = values[:, 1] + 0.2 * values[:, 2]
    adjacency = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    table = as_table(values, interventions=[""] * 200 + ["X1"] * 100)
    fits = [fit_processes(table, adjacency, np.random.default_rng(1), n) for n in (1, 2)]
    np.testing.assert_array_equal(fits[0].left_out, fits[1].left_out)
    found = fits[0]
    np.testing.assert_array_equal(np.isnan(found.left_out), ~table.regimes.free[found.rows])
    alone = fit_processes(as_table(values[:200]), adjacency, np.random.default_rng(1), 1)
    grid = np.linspace(-2, 2, 9)[:, None]
    own, other = (fit.conditionals[1].given(grid) for fit in (found, alone))
    np.testing.assert_allclose(own.mean, other.mean, atol=0.02)
    np.testing.assert_allclose(own.scale, other.scale, rtol=0.05)
    assert found.conditionals[2].given(np.array([[3.0]])).scale[0] < 0.3
