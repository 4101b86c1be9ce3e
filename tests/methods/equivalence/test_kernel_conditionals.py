import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

from grandag.methods.equivalence.kernel_conditionals import kernel_conditionals
from grandag.methods.equivalence.kernel_features import gaussian_kernel, kernel_width
from grandag.model import CausalModel
from tests.conftest import nonlinear_chain

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def log_density(values: np.ndarray, graph: np.ndarray, new: np.ndarray, **options) -> np.ndarray:
    """log p_j (n, d) of new rows by regressions on other rows."""
    model = CausalModel(("a", "b", "c")[: len(graph)], graph, kernel_conditionals(values, graph, **options))
    return model.log_densities(new).to_numpy()


def centred(kernel: np.ndarray, training_kernel: np.ndarray) -> np.ndarray:
    """Of features from which their means over the training rows were taken."""
    return kernel - kernel.mean(axis=1)[:, None] - training_kernel.mean(axis=0) + training_kernel.mean()


@pytest.mark.parametrize("regulariser", [0.01, 0.3])
def test_means_are_those_of_kernel_ridge_regression(rng, regulariser):
    values, new = nonlinear_chain(rng, 150), nonlinear_chain(rng, 40)
    both = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    fitted = kernel_conditionals(values, both, regulariser=regulariser, tolerance=1e-8)
    widths = [kernel_width(column, 2.0) for column in values[:, :2].T]
    points, new_points = values[:, :2] / widths, new[:, :2] / widths
    kernel = gaussian_kernel(points, points)
    ridge = KernelRidge(alpha=150 * regulariser, kernel="precomputed").fit(
        centred(kernel, kernel), values[:, 2] - values[:, 2].mean()
    )
    means = values[:, 2].mean() + ridge.predict(centred(gaussian_kernel(new_points, points), kernel))
    found = fitted[2].given(new[:, :2])
    assert found.mean == pytest.approx(means, rel=1e-6, abs=1e-6)
    residuals = values[:, 2] - fitted[2].given(values[:, :2]).mean
    assert found.scale == pytest.approx(np.sqrt((residuals**2).mean()), rel=1e-6)
    assert fitted[0].given(new[:, :0]).mean == pytest.approx(values[:, 0].mean())


def test_density_is_gaussian_and_in_the_units_of_the_table(rng):
    values, new = nonlinear_chain(rng, 200), nonlinear_chain(rng, 50)
    log_p = log_density(values, CHAIN, new)
    for j, conditional in enumerate(kernel_conditionals(values, CHAIN)):
        found = conditional.given(new[:, CHAIN[:, j]])
        assert log_p[:, j] == pytest.approx(norm(found.mean, found.scale).logpdf(new[:, j]))
    units = np.array([1000.0, 0.01, 3.0])
    in_other_units = log_density(values * units, CHAIN, new * units)
    assert in_other_units == pytest.approx(log_p - np.log(units), abs=1e-6)


def test_held_out_rows_tell_graphs_apart(rng):
    values, new = nonlinear_chain(rng, 400), nonlinear_chain(rng, 400)
    empty, reverse = np.zeros_like(CHAIN), CHAIN.T

    def held_out(graph, **options):
        return log_density(values, graph, new, **options).sum(axis=1).mean()

    assert held_out(CHAIN) > held_out(reverse) > held_out(empty)
    assert held_out(CHAIN) > held_out(CHAIN, regulariser=1.0)


def test_held_out_density_comes_near_to_that_of_a_gaussian_process(rng):
    values, new = nonlinear_chain(rng, 300), nonlinear_chain(rng, 300)
    process = GaussianProcessRegressor(RBF(0.5), alpha=0.04, optimizer=None).fit(values[:, :1], values[:, 1])
    expected = norm(process.predict(new[:, :1]), 0.2).logpdf(new[:, 1]).mean()
    found = log_density(values, CHAIN, new, regulariser=1e-5)[:, 1].mean()
    assert found == pytest.approx(expected, abs=0.1)


def test_a_copy_has_a_density(rng):
    column = rng.normal(size=100)
    twice = np.column_stack([column, column])
    assert np.isfinite(log_density(twice, np.array([[0, 1], [0, 0]], dtype=bool), twice)).all()
