"""HSIC against its definition on kernel matrices, and its p-values against permutations."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from grandag.methods.resit.hsic import Centred, Dependence, Independence, log_gamma_tail, null_moments


def kernel_matrix(column):
    """exp(-(a - b)^2 / (2 w^2)) with 2 w^2 the median squared distance of different values, centred in both ways."""
    squares = (column[:, None] - column) ** 2
    width = np.median(squares[np.triu_indices(len(column), 1)][squares[np.triu_indices(len(column), 1)] > 0])
    kernel = np.exp(-squares / width)
    return kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()


def direct(x, y):
    """n^2 HSIC, in O(n^2) memory."""
    return float((kernel_matrix(x) * kernel_matrix(y)).sum())


def statistic(x, y):
    return float(np.square(x.values.astype(float).T @ y.values.astype(float)).sum())


@pytest.fixture
def pair(rng):
    x = rng.normal(size=400)
    return x, np.sin(2 * x) + rng.exponential(size=400)


def test_statistic_is_that_of_the_kernel_matrices(pair, rng):
    x, y = pair
    fx, fy = Centred.of(x, rng), Centred.of(y, rng)
    assert statistic(fx, fy) == pytest.approx(direct(x, y), rel=1e-4)
    K = kernel_matrix(x)
    assert fx.trace == pytest.approx(np.trace(K), rel=1e-4)
    assert fx.square == pytest.approx((K**2).sum(), rel=1e-4)
    assert fx.diagonal_square == pytest.approx((np.diagonal(K) ** 2).sum(), rel=1e-4)


def test_independence_has_the_same_statistic(pair, rng):
    """The share is tr(K L) relative to what Cauchy and Schwarz allow."""
    x, y = pair
    found = Independence(np.column_stack([x, rng.normal(size=400)]), rng).test(y)
    K, L = kernel_matrix(x), kernel_matrix(y)
    assert found.share[0] == pytest.approx((K * L).sum() / math.sqrt((K**2).sum() * (L**2).sum()), rel=1e-3)


def test_features_of_many_rows_are_near_the_kernel_matrix(rng):
    """Landmarks are then among 1,000 rows drawn at random."""
    x = rng.standard_t(3, size=1500)
    y = x**2 + rng.normal(size=1500)
    assert statistic(Centred.of(x, rng), Centred.of(y, rng)) == pytest.approx(direct(x, y), rel=0.05)


def test_mean_and_variance_over_all_pairings(rng):
    """Six rows have 720 of them."""
    x, y = rng.normal(size=6), rng.exponential(size=6)
    K, L = kernel_matrix(x), kernel_matrix(y)
    all_values = [(K * L[np.ix_(order, order)]).sum() for order in map(list, itertools.permutations(range(6)))]
    mean, variance = null_moments(Centred.of(x, rng), Centred.of(y, rng))
    assert mean == pytest.approx(np.mean(all_values), rel=1e-4)
    assert variance == pytest.approx(np.var(all_values), rel=1e-3)


@pytest.mark.parametrize("strength", [0.0, 0.15, 0.3])
def test_p_value_is_that_of_permutations(strength):
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    y = strength * np.abs(x) + rng.laplace(size=200)
    found = math.exp(Independence(x[:, None], rng).test(y).log_p_value[0])
    K, L = kernel_matrix(x), kernel_matrix(y)
    permuted = [(K * L[np.ix_(order, order)]).sum() for order in (rng.permutation(200) for _ in range(1000))]
    expected = np.mean(np.array(permuted) >= (K * L).sum())
    assert found == pytest.approx(expected, abs=4 * math.sqrt(max(expected, 0.002) / 1000) + 0.01)


def test_p_values_of_independent_variables_are_uniform():
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(15):
        independence = Independence(rng.exponential(size=(150, 20)), rng)
        p_values.extend(np.exp(independence.test(rng.uniform(size=150)).log_p_value))
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_logarithm_of_the_tail_goes_on_where_the_tail_ends():
    shape = np.array([0.7, 3.0, 20.0])
    for x in (10.0, 300.0, 601.0, 650.0):
        np.testing.assert_allclose(log_gamma_tail(shape, np.full(3, x)), stats.gamma.logsf(x, shape), rtol=2e-4)
    x = 5000.0  # of a whole number a it is the logarithm of e^-x (1 + x + ... + x^(a - 1) / (a - 1)!)
    far = log_gamma_tail(np.array([1.0, 3.0]), np.full(2, x))
    np.testing.assert_allclose(far, [-x, math.log(1 + x + x**2 / 2) - x], rtol=1e-9)
    assert np.isfinite(log_gamma_tail(np.array([5000.0]), np.array([9000.0]))).all()


def test_smallest_p_value_is_corrected():
    found = Dependence(np.log([0.001, 0.5, 0.02]), np.zeros(3))
    assert found.on([0, 1, 2]) == pytest.approx(math.log(0.003))
    assert found.on([1]) == pytest.approx(math.log(0.5))
    assert found.on([1, 1, 1]) == 0.0
    assert found.on([]) == 0.0
    assert found.total([0, 2]) == pytest.approx(math.log(0.00002))


def test_nothing_depends_on_nothing(rng):
    independence = Independence(rng.normal(size=(100, 3)), rng)
    assert (independence.test(np.zeros(100)).log_p_value == 0).all()


def test_column_that_the_drawn_rows_do_not_see_vary(rng):
    x = np.zeros(5000)
    x[[7, 4000]] = 1.0
    found = Independence(x[:, None], rng).test(rng.normal(size=5000))
    assert np.isfinite(found.log_p_value).all()
