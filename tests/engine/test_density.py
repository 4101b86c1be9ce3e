"""Densities against scipy, their derivatives against finite differences, and where both end."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, gammaln, log_softmax

from grandag.engine.densities.gamma import digamma_difference, log_gamma_ratio
from grandag.engine.density import DENSITIES, log_density, log_density_slope

N, LABELS = 16, 4


def evaluate(law, x, outputs, constants):
    log_p = np.zeros(N, x.dtype)
    log_density(law.code, x, outputs, constants, N, log_p)
    return log_p


def evaluate_slope(law, x, outputs, constants):
    slope, constant_slope = np.zeros((len(outputs), N), x.dtype), np.zeros(law.n_constants, x.dtype)
    log_density_slope(law.code, x, outputs, constants, N, slope, constant_slope)
    return slope, constant_slope


@pytest.fixture
def point(rng, name):
    """Values of the variable, outputs and constants."""
    law = DENSITIES[name]
    values = {
        "bernoulli": rng.integers(2, size=N),
        "categorical": rng.integers(LABELS, size=N),
        "negative-binomial": rng.integers(30, size=N),
    }
    x = values.get(name, rng.normal(size=N)).astype(float)
    outputs = 0.5 * rng.normal(size=(law.n_outputs or LABELS, N))
    return x, outputs, np.array([-0.3, 0.4])[: law.n_constants]


def expected(name, x, outputs, constants):
    if name == "additive-gaussian":
        return stats.norm.logpdf(x, outputs[0], np.exp(constants[0]))
    if name == "gaussian":
        return stats.norm.logpdf(x, outputs[0], np.exp(outputs[1]))
    if name == "student-t":
        return stats.t.logpdf(x, 2 + np.exp(constants[1]), outputs[0], np.exp(constants[0]))
    if name == "bernoulli":
        return stats.bernoulli.logpmf(x, 1 / (1 + np.exp(-outputs[0])))
    if name == "categorical":
        return log_softmax(outputs, axis=0)[x.astype(int), np.arange(N)]
    size = np.exp(-constants[0])
    return stats.nbinom.logpmf(x, size, size / (size + np.exp(outputs[0])))


@pytest.mark.parametrize("name", DENSITIES)
def test_against_scipy(point, name):
    np.testing.assert_allclose(evaluate(DENSITIES[name], *point), expected(name, *point), rtol=1e-10)


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("factor", [1.0, 6.0])
def test_derivatives(point, name, factor):
    """Also far from the middle, where an output is several times larger."""
    law, step = DENSITIES[name], 1e-6
    x, outputs, constants = point
    outputs, constants = outputs * factor, constants * factor
    slope, constant_slope = evaluate_slope(law, x, outputs, constants)
    for k in range(len(outputs)):
        shift = np.zeros_like(outputs)
        shift[k] = step
        above, below = (evaluate(law, x, outputs + sign * shift, constants) for sign in (1, -1))
        np.testing.assert_allclose(slope[k], (above - below) / (2 * step), rtol=1e-6, atol=1e-7)
    for k in range(law.n_constants):
        shift = np.eye(law.n_constants)[k] * step
        above, below = (evaluate(law, x, outputs, constants + sign * shift) for sign in (1, -1))
        np.testing.assert_allclose(constant_slope[k], (above - below).sum() / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("name", DENSITIES)
def test_padding_stays_zero(point, name):
    law = DENSITIES[name]
    x, outputs, constants = point
    log_p, slope = np.zeros(N), np.zeros(outputs.shape)
    log_density(law.code, x, outputs, constants, 10, log_p)
    log_density_slope(law.code, x, outputs, constants, 10, slope, np.zeros(law.n_constants))
    assert (log_p[10:] == 0).all()
    assert (slope[:, 10:] == 0).all()
    assert (slope[:, :10] != 0).all()


EXTREMES = {  # values, outputs and constants in single precision that a network far off may give
    "student-t": ([-1e4, 0, 1e4], [-1e4, 0, 1e4], ([-20, -30], [-20, 60], [20, -60], [0, 60])),
    "bernoulli": ([0, 1], [-1e30, -200, 0, 200, 1e30], ([],)),
    "categorical": ([0, 3], [-1e30, -200, 0, 200, 1e30], ([],)),
    "negative-binomial": ([0, 1, 1e6], [1e4, -1e4, 0, 200, 39], ([-90], [-10], [0], [90])),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_in_single_precision(name):
    law = DENSITIES[name]
    values, levels, all_constants = EXTREMES[name]
    x, first = (grid.ravel() for grid in np.meshgrid(values, levels))
    x, first = np.resize(x, 32).astype(np.float32)[:N], np.resize(first, 32).astype(np.float32)[:N]
    outputs = np.zeros((law.n_outputs or LABELS, N), np.float32)
    outputs[0] = first
    for constants in all_constants:
        numbers = np.array(constants, np.float32)
        assert np.isfinite(evaluate(law, x, outputs, numbers)).all()
        slope, constant_slope = evaluate_slope(law, x, outputs, numbers)
        assert np.isfinite(slope).all()
        assert np.isfinite(constant_slope).all()


def test_single_precision_is_the_double_one(rng):
    """In the middle of the Poisson limit, where gamma functions of 1e8 would be useless in single precision."""
    law, x = DENSITIES["negative-binomial"], rng.integers(40, size=N).astype(np.float32)
    outputs, constants = rng.normal(2, 1, size=(1, N)).astype(np.float32), np.array([-18], np.float32)
    double = [part.astype(float) for part in (x, outputs, constants)]
    np.testing.assert_allclose(evaluate(law, x, outputs, constants), evaluate(law, *double), rtol=1e-5)
    np.testing.assert_allclose(evaluate(law, *double), stats.poisson.logpmf(x, np.exp(double[1][0])), rtol=1e-5)


def test_limits(rng):
    """No dispersion is the Poisson distribution, many degrees of freedom are the Gaussian."""
    counts, outputs = rng.integers(20, size=N).astype(float), rng.normal(1, 1, size=(1, N))
    poisson = evaluate(DENSITIES["negative-binomial"], counts, outputs, np.array([-28.0]))
    np.testing.assert_allclose(poisson, stats.poisson.logpmf(counts, np.exp(outputs[0])), rtol=1e-9)
    x = rng.normal(size=N)
    gaussian = evaluate(DENSITIES["student-t"], x, outputs, np.array([0.2, 25.0]))
    np.testing.assert_allclose(gaussian, stats.norm.logpdf(x, outputs[0], np.exp(0.2)), rtol=1e-8)


@pytest.mark.parametrize("r", [1e-6, 0.3, 1.0, 7.5, 300.0])
@pytest.mark.parametrize("x", [0.0, 0.5, 1.0, 12.0, 5000.0])
def test_gamma_functions(r, x):
    assert log_gamma_ratio(r, x) == pytest.approx(gammaln(r + x) - gammaln(r) - x * np.log(r), rel=1e-9, abs=1e-11)
    assert digamma_difference(r, x) == pytest.approx(digamma(r + x) - digamma(r), rel=1e-9, abs=1e-11)


def fitted(name, values, n_labels=0):
    """Mean log-likelihood of the start and of nearby parameters."""
    law, x = DENSITIES[name], np.resize(values, len(values)).astype(float)
    outputs, constants = law.start(x, n_labels)

    def value(shift):
        log_p = np.zeros(len(x))
        moved = np.repeat(np.add(outputs, shift)[:, None], len(x), axis=1)
        log_density(law.code, x, moved, np.array(constants), len(x), log_p)
        return log_p.mean()

    return value, len(outputs)


@pytest.mark.parametrize("name", ["student-t", "bernoulli", "categorical", "negative-binomial"])
def test_training_starts_at_about_the_best_constants(rng, name):
    """Moving any output by 0.3 makes the likelihood of the values worse."""
    values = {
        "student-t": 3 + rng.standard_t(3, size=400),
        "bernoulli": rng.random(400) < 0.2,
        "categorical": rng.choice(3, p=[0.1, 0.3, 0.6], size=400),
        "negative-binomial": rng.negative_binomial(2, 0.1, size=400),
    }[name]
    value, n = fitted(name, values, n_labels=3)
    for k in range(n):
        for shift in (-0.3, 0.3):
            assert value(shift * np.eye(n)[k]) < value(np.zeros(n))


def test_a_start_needs_no_row_of_a_label():
    for name, values in (("bernoulli", np.zeros(5)), ("categorical", np.zeros(5)), ("negative-binomial", np.zeros(5))):
        outputs, constants = DENSITIES[name].start(values, 3)
        assert np.isfinite([*outputs, *constants]).all()
    outputs, constants = DENSITIES["student-t"].start(np.repeat([0.0, 1.0], [9, 1]), 0)
    assert np.isfinite([*outputs, *constants]).all()
