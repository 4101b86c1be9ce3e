"""Distributions against scipy's, and noise that goes there and back."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from grandag.distributions import Bernoulli, Categorical, Gaussian, NegativeBinomial, PointMass, StudentT

N = 4000
ROWS = np.random.default_rng(3)
MEAN, SCALE = ROWS.normal(size=N), np.exp(ROWS.normal(size=N))
P, RATE = ROWS.uniform(0.02, 0.98, N), np.exp(ROWS.normal(1, 1, N))
SHARES = ROWS.dirichlet([1, 2, 0.5, 1], N)


PAIRS = {
    "gaussian": (Gaussian(MEAN, SCALE), stats.norm(MEAN, SCALE)),
    "t": (StudentT(MEAN, SCALE, 3.5), stats.t(3.5, MEAN, SCALE)),
    "t of each row": (StudentT(MEAN, SCALE, 2 + RATE), stats.t(2 + RATE, MEAN, SCALE)),
    "bernoulli": (Bernoulli(P), stats.bernoulli(P)),
    "negative binomial": (NegativeBinomial(RATE, 0.7), stats.nbinom(1 / 0.7, 1 / (1 + 0.7 * RATE))),
    "hardly more than poisson": (NegativeBinomial(RATE, 1e-5), stats.nbinom(1e5, 1 / (1 + 1e-5 * RATE))),
    "poisson": (NegativeBinomial(RATE, 0.0), stats.poisson(RATE)),
}
DISCRETE = ("bernoulli", "negative binomial", "hardly more than poisson", "poisson")


@pytest.mark.parametrize("name", PAIRS)
def test_density_moments_and_quantiles_are_scipys(name, rng):
    ours, theirs = PAIRS[name]
    noise = rng.normal(size=N)
    rows = ours.from_normal(noise)
    expected = theirs.ppf(ndtr(noise))
    if name in DISCRETE:  # rounding may decide where a step is met
        assert (rows != expected).mean() < 1e-3
        np.testing.assert_allclose(ours.log_density(rows), theirs.logpmf(rows), rtol=1e-6, atol=1e-8)
    else:
        np.testing.assert_allclose(rows, expected, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(ours.log_density(rows), theirs.logpdf(rows), rtol=1e-9)
    np.testing.assert_allclose(ours.cdf(rows), theirs.cdf(rows), rtol=1e-6)
    np.testing.assert_allclose(ours.mean, theirs.mean(), rtol=1e-9)
    if not name.startswith("t"):
        np.testing.assert_allclose(ours.scale, theirs.std(), rtol=1e-6)


@pytest.mark.parametrize("found", [pair[0] for pair in PAIRS.values()] + [Categorical(SHARES)])
def test_noise_goes_there_and_back(found, rng):
    """Of a number exactly; of what can be counted, to noise that makes the same row, standard normal over all rows."""
    noise, uniform = rng.normal(size=N), rng.random(N)
    rows = found.from_normal(noise)
    back = found.to_normal(rows, uniform)
    if isinstance(found, Gaussian | StudentT):
        np.testing.assert_allclose(back, noise, atol=1e-8)
    else:
        assert stats.kstest(back, "norm").pvalue > 0.001
        np.testing.assert_array_equal(found.from_normal(back), rows)
    assert (found.from_normal(noise + 0.3) >= rows).all()


def test_a_gaussian_row_is_its_mean_and_scaled_noise_to_the_bit(rng):
    noise = rng.normal(size=N)
    np.testing.assert_array_equal(Gaussian(MEAN, SCALE).from_normal(noise), MEAN + SCALE * noise)
    np.testing.assert_array_equal(Gaussian(MEAN, SCALE).to_normal(MEAN, noise), np.zeros(N))


def test_categories(rng):
    found = Categorical(SHARES)
    rows = found.from_normal(rng.normal(size=N))
    for code in range(4):
        np.testing.assert_allclose(np.exp(found.log_density(np.full(N, float(code)))), SHARES[:, code])
        np.testing.assert_allclose(found.cdf(np.full(N, float(code))), np.cumsum(SHARES, axis=1)[:, code], atol=1e-12)
        assert (rows == code).mean() == pytest.approx(SHARES[:, code].mean(), abs=0.03)
    np.testing.assert_allclose(found.mean, SHARES @ np.arange(4))
    variance = SHARES @ np.arange(4) ** 2 - found.mean**2
    np.testing.assert_allclose(found.scale, np.sqrt(variance))
    np.testing.assert_array_equal(found.probabilities(), SHARES)


@pytest.mark.parametrize("found", [Bernoulli(P), Categorical(SHARES), NegativeBinomial(RATE, 0.3)])
@pytest.mark.parametrize("value", [-1.0, 0.5])
def test_what_cannot_be_has_no_probability(found, value):
    assert (found.log_density(np.full(N, value)) == -np.inf).all()
    assert (found.cdf(np.full(N, -1.0)) == 0).all()


def test_far_rows_have_finite_noise():
    """Outliers of a heavy-tailed column, and counts far above their mean."""
    far = StudentT(np.zeros(2), np.ones(2), 3.0).to_normal(np.array([-1e8, 1e8]), np.zeros(2))
    assert far[0] == -far[1] < -10
    assert np.isfinite(far).all()
    assert np.isfinite(NegativeBinomial(np.ones(1), 0.0).to_normal(np.array([1000.0]), np.array([0.5]))).all()


def test_a_point_mass_has_no_noise():
    found = PointMass(np.array([2.0, 3.0]))
    np.testing.assert_array_equal(found.from_normal(np.array([1.0, -1.0])), [2, 3])
    np.testing.assert_array_equal(found.log_density(np.array([5.0, 5.0])), [0, 0])
    np.testing.assert_array_equal(found.cdf(np.array([1.0, 3.0])), [0, 1])
    assert (found.scale == 0).all()
