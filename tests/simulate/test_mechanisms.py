"""Mechanisms: distributions of noise, coefficients, links and ranges, on the functions that are known."""

import numpy as np
import pytest
from scipy import stats

from grandag.parameters import ParameterError
from grandag.simulate import draw_scenario, erdos_renyi
from grandag.simulate.functions import Linear
from grandag.simulate.mechanisms import KINDS, Mechanism, Noise, draw_mechanism

ONE_LAYER = np.zeros((40, 40), dtype=bool)
ONE_LAYER[:20, 20:] = np.eye(20, dtype=bool)  # 20 roots with one child each
TWO_PARENTS = np.zeros((30, 30), dtype=bool)
TWO_PARENTS[:20, 20:] = np.kron(np.eye(10, dtype=bool), np.ones((2, 1), dtype=bool))


def residuals(scenario, node):
    """The variable minus its true function (additive links)."""
    parents = scenario.data.to_numpy()[:, scenario.adjacency[:, node]]
    return scenario.data.to_numpy()[:, node] - scenario.mechanisms[node].function(parents)


def is_within(values, low, high, slack):
    return min(values) > low - slack and max(values) < high + slack and np.ptp(values) > 0.5 * (high - low)


@pytest.mark.parametrize(
    ("kind", "distributions", "low", "high"),
    [
        ("gauss-anm", "released", 0.04, 0.08),
        ("gauss-anm", "text", 0.4, 0.8),
        ("lin", "released", 0.04, 0.08),
        ("add-func", "released", 0.04, 0.08),
        ("mlp", "released", 1, 1),
        ("mim", "released", 1, 1),
        ("sigmoid", "released", 0.04, 0.08),
        ("sigmoid-mix", "released", 0.04, 0.08),
    ],
)
def test_additive_noise(kind, distributions, low, high):
    """Given the true function: Gaussian residuals, independent of the parents, of each other, and of the right size."""
    scenario = draw_scenario(kind, TWO_PARENTS, 2000, 7, distributions=distributions)
    noise = np.column_stack([residuals(scenario, node) for node in range(20, 30)])
    assert is_within(noise.var(axis=0), low, high, 5 * high * np.sqrt(2 / 2000))
    assert min(stats.normaltest(column).pvalue for column in noise.T) > 1e-3
    everything = np.column_stack([noise, scenario.data.iloc[:, :20]])
    correlations = np.corrcoef(np.column_stack([everything, np.abs(noise)]), rowvar=False)
    off = correlations[:30, :30][np.triu_indices(30, 1)]
    assert np.abs(off).max() < 5 / np.sqrt(2000)
    assert np.abs(correlations[10:30, 30:]).max() < 5 / np.sqrt(2000)  # the size of the noise depends on no parent


@pytest.mark.parametrize(
    ("kind", "standard"),  # of mean 0 and variance 1
    [
        ("lin-uniform", stats.uniform(-np.sqrt(3), 2 * np.sqrt(3))),
        ("lin-laplace", stats.laplace(0, np.sqrt(0.5))),
        ("lin-exponential", stats.expon(-1, 1)),
    ],
)
def test_noise_that_is_not_gaussian(kind, standard):
    """Given the true function: mean 0, the variances of LIN, and the distribution of the name; roots as LIN's."""
    scenario = draw_scenario(kind, TWO_PARENTS, 4000, 7)
    noise = np.column_stack([residuals(scenario, node) for node in range(20, 30)])
    assert is_within(noise.var(axis=0), 0.04, 0.08, 0.012)
    assert np.abs(noise.mean(axis=0)).max() < 5 * np.sqrt(0.08 / 4000)
    for column, node in zip(noise.T, range(20, 30), strict=True):
        noise_of = scenario.mechanisms[node].noise
        deviation = noise_of.scale * {"uniform": 12**-0.5, "laplace": 2**0.5, "exponential": 1}[noise_of.distribution]
        assert 0.04 <= deviation**2 <= 0.08
        assert stats.kstest(column / deviation, standard.cdf).pvalue > 1e-3
    root = scenario.data.iloc[:, 0]
    assert stats.kstest(root, stats.uniform(-1, 2).cdf).pvalue > 1e-3


@pytest.mark.parametrize("kind", ["gauss-anm", "sigmoid", "sigmoid-mix"])
def test_gaussian_roots(kind):
    data = draw_scenario(kind, np.zeros((100, 100), dtype=bool), 2000, 1).data.to_numpy()
    assert is_within(data.var(axis=0), 1, 2, 0.15)
    assert stats.kstest(data.var(axis=0), stats.uniform(1, 1).cdf).pvalue > 0.01
    assert stats.kstest(data[:, 0] / data[:, 0].std(), "norm").pvalue > 0.001


@pytest.mark.parametrize("kind", ["mlp", "mim"])
def test_standard_normal_roots(kind):
    data = draw_scenario(kind, np.zeros((3, 3), dtype=bool), 3000, 1).data.to_numpy()
    for column in data.T:
        assert stats.kstest(column, "norm").pvalue > 1e-3


@pytest.mark.parametrize(("kind", "low", "high"), [("lin", -1, 1), ("add-func", -1, 1), ("pnl-mult", 0, 2)])
def test_uniform_roots(kind, low, high):
    data = draw_scenario(kind, np.zeros((3, 3), dtype=bool), 3000, 2, distributions="text").data.to_numpy()
    for column in data.T:
        assert stats.kstest(column, stats.uniform(low, high - low).cdf).pvalue > 1e-3


def test_linear_coefficients_by_regression():
    scenario = draw_scenario("lin", erdos_renyi(15, 30, 3), 5000, 3)
    data, all_coefficients = scenario.data.to_numpy(), []
    for node in np.flatnonzero(scenario.adjacency.any(axis=0)):
        parents = data[:, scenario.adjacency[:, node]]
        estimate = np.linalg.lstsq(parents, data[:, node], rcond=None)[0]
        true = scenario.mechanisms[node].function.coefficients
        error = np.sqrt(0.08 * np.diagonal(np.linalg.inv(parents.T @ parents)))
        assert (np.abs(estimate - true) < 4.5 * error).all()
        all_coefficients.extend(true)
    assert min(all_coefficients) >= 0
    assert max(all_coefficients) <= 1
    assert stats.kstest(all_coefficients, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("distributions", "highest"), [("released", 0.5), ("text", 1.0)])
def test_pnl_gp_noise_is_laplace_behind_the_sigmoid(distributions, highest):
    scenario = draw_scenario("pnl-gp", ONE_LAYER, 1000, 5, distributions=distributions)
    scales = []
    for node in range(20, 40):
        mechanism = scenario.mechanisms[node]
        inside = scenario.data.iloc[:, node] * mechanism.scale + mechanism.offset
        assert inside.between(0, 1).all()
        noise = np.log(inside / (1 - inside)) - mechanism.function(scenario.data.iloc[:, [node - 20]].to_numpy())
        assert stats.kstest(noise / mechanism.noise.scale, "laplace").pvalue > 1e-4
        scales.append(np.abs(noise).mean())
    assert is_within(scales, 0, highest, 0.1 * highest)


def test_pnl_gp_released_is_standardised_and_text_is_not():
    released = draw_scenario("pnl-gp", ONE_LAYER, 500, 5).data
    np.testing.assert_allclose(released.mean(), 0, atol=1e-12)
    np.testing.assert_allclose(released.std(ddof=0), 1)
    text = draw_scenario("pnl-gp", ONE_LAYER, 500, 5, distributions="text").data.to_numpy()
    assert text[:, 20:].min() > 0
    assert text[:, 20:].max() < 1


def test_networks_on_standardised_parents():
    """By hand, in the order of causes: networks of columns that have mean 0 and variance 1, and noise N(0, 0.25)."""
    adjacency = erdos_renyi(12, 30, 2, exact=True)
    scenario = draw_scenario("mlp-standard", adjacency, 3000, 8)
    data = scenario.data.to_numpy()
    np.testing.assert_allclose(data.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.std(axis=0), 1)
    signal_variances = []
    for node in range(12):
        mechanism = scenario.mechanisms[node]
        signal = mechanism.function(data[:, adjacency[:, node]])
        noise = data[:, node] * mechanism.scale + mechanism.offset - signal
        assert stats.kstest(noise, stats.norm(0, 0.5).cdf).pvalue > 1e-3
        if adjacency[:, node].any():
            assert mechanism.function.hidden_weights.shape == (adjacency[:, node].sum(), 100)
            signal_variances.append(signal.var())
    assert np.median(signal_variances) > 4  # far more signal than noise in most families, though not in all


@pytest.mark.parametrize(("distributions", "noise"), [("released", "uniform"), ("text", "halfnorm")])
def test_pnl_mult_noise(distributions, noise):
    scenario = draw_scenario("pnl-mult", TWO_PARENTS, 1000, 6, distributions=distributions)
    scales = []
    for node in range(20, 30):
        mechanism = scenario.mechanisms[node]
        total = scenario.data.to_numpy()[:, TWO_PARENTS[:, node]].sum(axis=1)
        ratio = np.log((scenario.data.to_numpy()[:, node] * mechanism.scale + mechanism.offset) / total)
        assert ratio.min() > -1e-9
        assert stats.kstest(ratio / mechanism.noise.scale, noise).pvalue > 1e-4
        scales.append(mechanism.noise.scale)
    assert max(scales) < (0.5 if distributions == "released" else 1)
    if distributions == "released":
        np.testing.assert_allclose(scenario.data.min(), 0, atol=1e-12)
        np.testing.assert_allclose(scenario.data.std(ddof=0), 1)


@pytest.mark.parametrize("kind", ["pnl-gp", "pnl-mult"])
@pytest.mark.parametrize("distributions", ["released", "text"])
def test_post_nonlinear_values_grow_with_the_noise(kind, distributions, rng):
    parents = rng.random((50, 2)) + 0.1
    mechanism, _ = draw_mechanism(KINDS[kind][distributions], parents, rng)
    levels = np.linspace(0, 2, 9)
    values = np.array([mechanism.value(parents, np.full(50, level)) for level in levels])
    assert (np.diff(values, axis=0) > 0).all()


def test_pnl_mult_is_what_the_paper_writes(rng):
    """exp(log(sum of parents) + |N|)."""
    parents, noise = rng.random((20, 3)), np.abs(rng.normal(size=20))
    mechanism = Mechanism(Linear(np.ones(3)), Noise("half-normal", 1.0), "multiplicative")
    np.testing.assert_allclose(mechanism.value(parents, noise), np.exp(np.log(parents.sum(axis=1)) + noise))


def test_pnl_gp_is_what_the_paper_writes(rng):
    parents, noise = rng.random((20, 1)), rng.normal(size=20)
    mechanism = Mechanism(Linear(np.array([2.0])), Noise("laplace", 1.0), "sigmoid")
    np.testing.assert_allclose(mechanism.value(parents, noise), 1 / (1 + np.exp(-(2 * parents[:, 0] + noise))))


def test_add_func_has_no_interactions():
    scenario = draw_scenario("add-func", TWO_PARENTS, 200, 4)
    corners = np.array([[a, b] for a in (-0.8, 0.3) for b in (-0.2, 0.9)])
    for node in range(20, 30):
        values = scenario.mechanisms[node].function(corners)
        assert values[0] + values[3] == pytest.approx(values[1] + values[2], abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_describe_names_every_constant(kind):
    facts = draw_scenario(kind, ONE_LAYER, 50, 0).mechanisms[25].describe()
    assert {"link", "noise", "offset", "scale", "function"} <= facts.keys()
    assert (facts["function"] == "linear") == (kind.startswith("lin") or kind == "pnl-mult")


def test_unknown_names():
    with pytest.raises(ParameterError, match=r"'mechanism' must be one of 'gauss-anm', 'lin'.*got 'anm'"):
        draw_scenario("anm", ONE_LAYER)
    with pytest.raises(ParameterError, match="'distributions' must be one of 'released', 'text'; got 'paper'"):
        draw_scenario("lin", ONE_LAYER, distributions="paper")
