"""Every family against its distribution in scipy, and its derivatives against finite differences."""

import numpy as np
import pytest
from scipy import stats

from grandag.gam.families import FAMILIES

THETA = {"continuous": [0.3], "heavy-tailed": [0.5, -0.2], "binary": [], "categorical": [], "count": [0.7]}
STEP = 1e-5


def example(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A target of ten rows, predictors and parameters."""
    eta = rng.normal(size=(10, 3 if kind == "categorical" else 1))
    y = {
        "continuous": 2 * rng.normal(size=10),
        "heavy-tailed": 3 * rng.standard_t(2, size=10),
        "binary": np.arange(10) % 2.0,
        "categorical": np.arange(10) % 4,
        "count": rng.poisson(4, size=10).astype(float),
    }[kind]
    return y, eta, np.array(THETA[kind])


@pytest.mark.parametrize("kind", FAMILIES)
def test_log_likelihood_is_the_distributions(kind, rng):
    y, eta, theta = example(kind, rng)
    odds = np.exp(np.column_stack([np.zeros(10), eta]))
    expected = {
        "continuous": lambda: stats.norm.logpdf(y, eta[:, 0], np.exp(theta[0] / 2)),
        "heavy-tailed": lambda: stats.t.logpdf(y, 3 + np.exp(theta[0]), eta[:, 0], np.exp(theta[1])),
        "binary": lambda: stats.bernoulli.logpmf(y, 1 / (1 + np.exp(-eta[:, 0]))),
        "categorical": lambda: np.log(odds[np.arange(10), y] / odds.sum(axis=1)),
        "count": lambda: stats.nbinom.logpmf(y, np.exp(theta[0]), 1 / (1 + np.exp(eta[:, 0] - theta[0]))),
    }[kind]().sum()
    family = FAMILIES[kind]
    np.testing.assert_allclose(family.log_likelihood(y, eta, theta), expected, rtol=1e-12)
    np.testing.assert_allclose(family.derivatives(y, eta, theta).log_likelihood, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", FAMILIES)
def test_derivatives_in_the_predictors(kind, rng):
    """One row's predictor changes one row's likelihood: slopes, weights, and the contraction of their derivatives."""
    y, eta, theta = example(kind, rng)
    family, m = FAMILIES[kind], eta.shape[1]
    at = family.derivatives(y, eta, theta)
    leverage = rng.normal(size=(10, m, m))
    leverage += leverage.transpose(0, 2, 1)
    contracted = family.contract(at, eta, leverage)
    for k in range(m):
        above, below = eta.copy(), eta.copy()
        above[:, k] += STEP
        below[:, k] -= STEP
        sides = [family.derivatives(y, side, theta) for side in (above, below)]
        total = (sides[0].log_likelihood - sides[1].log_likelihood) / (2 * STEP)
        np.testing.assert_allclose(at.slope[:, k].sum(), total, rtol=1e-6, atol=1e-8)
        second = (sides[0].slope - sides[1].slope) / (2 * STEP)
        np.testing.assert_allclose(at.weights[:, k], -second, rtol=1e-6, atol=1e-8)
        third = (sides[0].weights - sides[1].weights) / (2 * STEP)
        np.testing.assert_allclose(contracted[:, k], (leverage * third).sum(axis=(1, 2)), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["continuous", "heavy-tailed", "count"])
def test_derivatives_in_the_parameters(kind, rng):
    y, eta, theta = example(kind, rng)
    family = FAMILIES[kind]
    at = family.derivatives(y, eta, theta)
    for r in range(len(theta)):
        change = STEP * (np.arange(len(theta)) == r)
        above, below = (family.derivatives(y, eta, theta + sign * change) for sign in (1, -1))
        by_theta = (above.log_likelihood - below.log_likelihood) / (2 * STEP)
        np.testing.assert_allclose(at.by_theta[r], by_theta, rtol=1e-6, atol=1e-8)
        slopes, weights = ((getattr(above, name) - getattr(below, name)) for name in ("slope", "weights"))
        np.testing.assert_allclose(at.slope_by_theta[r], slopes[:, 0] / (2 * STEP), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(at.weights_by_theta[r], weights[:, 0, 0] / (2 * STEP), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", FAMILIES)
def test_expected_weights_are_the_means_of_the_weights(kind, rng):
    """Over very many targets of one predictor, drawn from the family."""
    n = 400_000
    eta, theta = np.full((n, 3 if kind == "categorical" else 1), 0.4), np.array(THETA[kind])
    draw = {
        "continuous": lambda: 0.4 + rng.normal(size=n) * np.exp(theta[0] / 2),
        "heavy-tailed": lambda: 0.4 + np.exp(theta[1]) * rng.standard_t(3 + np.exp(theta[0]), size=n),
        "binary": lambda: (rng.random(n) < 1 / (1 + np.exp(-0.4))).astype(float),
        "categorical": lambda: np.minimum(rng.integers(5, size=n), 3),
        "count": lambda: rng.negative_binomial(np.exp(theta[0]), 1 / (1 + np.exp(0.4 - theta[0])), size=n),
    }[kind]
    at = FAMILIES[kind].derivatives(draw(), eta, theta)
    np.testing.assert_allclose(at.weights.mean(axis=0), at.expected[0], rtol=0.01)


def test_a_negative_binomial_of_large_size_is_a_poisson_distribution(rng):
    y, eta, _ = example("count", rng)
    poisson = stats.poisson.logpmf(y, np.exp(eta[:, 0])).sum()
    np.testing.assert_allclose(FAMILIES["count"].log_likelihood(y, eta, np.array([12.0])), poisson, rtol=1e-4)
