"""Functions by constants: the equations written out, with the described constants, and how these are distributed."""

from math import cos, exp, sin, tanh

import numpy as np
import pytest
from scipy import stats

from grandag.simulate import draw_scenario, erdos_renyi
from grandag.simulate.functions import IndexModel, MixedSigmoid, NeuralNetwork, Sigmoids

DRAWS = [NeuralNetwork.draw, IndexModel.draw, Sigmoids.draw, MixedSigmoid.draw]


def weighted(weights, row):
    return sum(weight * value for weight, value in zip(weights, row, strict=True))


def softsign(t):
    return t / (1 + abs(t))


def mlp(c, row):
    hidden = [1 / (1 + exp(-weighted(weights, row))) for weights in zip(*c["hidden_weights"], strict=True)]
    return weighted(c["output_weights"], hidden)


def mim(c, row):
    first, second, third = c["weights"]
    return tanh(weighted(first, row)) + cos(weighted(second, row)) + sin(weighted(third, row))


def sigmoid(c, row):
    terms = zip(c["amplitudes"], c["slopes"], c["shifts"], row, strict=True)
    return sum(a * b * (x + shift) / (1 + abs(b * (x + shift))) for a, b, shift, x in terms)


def sigmoid_mix(c, row):
    return c["amplitude"] * softsign(weighted(c["weights"], row) + c["shift"])


@pytest.mark.parametrize(
    ("kind", "equation"), [("mlp", mlp), ("mim", mim), ("sigmoid", sigmoid), ("sigmoid-mix", sigmoid_mix)]
)
def test_equations(kind, equation):
    """From the described constants alone, on a graph whose order is not that of the columns."""
    adjacency = erdos_renyi(8, 16, 3)
    assert np.triu(adjacency).any()
    assert np.tril(adjacency).any()
    scenario = draw_scenario(kind, adjacency, 60, 3)
    data = scenario.data.to_numpy()
    for node in np.flatnonzero(adjacency.any(axis=0)):
        mechanism, parents = scenario.mechanisms[node], data[:, adjacency[:, node]]
        by_hand = [equation(mechanism.describe(), row) for row in parents]
        np.testing.assert_allclose(mechanism.function(parents), by_hand, atol=1e-9)
        np.testing.assert_allclose(mechanism.value(parents, np.full(60, 0.5)), np.array(by_hand) + 0.5, atol=1e-9)


def test_network_has_a_hundred_hidden_units(rng):
    network = NeuralNetwork.draw(3, rng)
    assert network.hidden_weights.shape == (3, 100)
    assert network.output_weights.shape == (100,)


@pytest.mark.parametrize(
    ("draw", "constants"),
    [
        (NeuralNetwork.draw, "hidden_weights"),
        (NeuralNetwork.draw, "output_weights"),
        (IndexModel.draw, "weights"),
        (Sigmoids.draw, "slopes"),
        (MixedSigmoid.draw, "weights"),
    ],
)
def test_weights_are_uniform_away_from_zero(draw, constants, rng):
    weights = np.concatenate([np.ravel(getattr(draw(4, rng), constants)) for _ in range(200)])
    assert stats.kstest(np.abs(weights), stats.uniform(0.5, 1.5).cdf).pvalue > 1e-3
    assert stats.binomtest(int((weights > 0).sum()), len(weights)).pvalue > 1e-3
    assert abs(np.corrcoef(np.abs(weights), weights > 0)[0, 1]) < 4 / np.sqrt(len(weights))


@pytest.mark.parametrize(
    ("draw", "amplitudes", "shifts"),
    [(Sigmoids.draw, "amplitudes", "shifts"), (MixedSigmoid.draw, "amplitude", "shift")],
)
def test_amplitudes_and_shifts_are_those_of_cam(draw, amplitudes, shifts, rng):
    functions = [draw(4, rng) for _ in range(500)]
    drawn = np.hstack([np.ravel(getattr(function, amplitudes)) for function in functions])
    assert stats.kstest(drawn - 1, stats.expon(scale=1 / 4).cdf).pvalue > 1e-3
    drawn = np.hstack([np.ravel(getattr(function, shifts)) for function in functions])
    assert stats.kstest(drawn, stats.uniform(-2, 4).cdf).pvalue > 1e-3


def interaction(function):
    """f(2, 2) - f(2, 0) - f(0, 2) + f(0, 0), which is 0 for every sum of functions of one variable."""
    return float(np.dot(function(np.array([[2, 2], [2, 0], [0, 2], [0, 0]])), [1, -1, -1, 1]))


@pytest.mark.parametrize("draw", DRAWS)
def test_interactions(draw, rng):
    found = [abs(interaction(draw(2, rng))) for _ in range(20)]
    if draw == Sigmoids.draw:
        assert max(found) < 1e-12
    else:
        assert np.median(found) > 0.1


@pytest.mark.parametrize("draw", DRAWS)
def test_far_away_values_are_finite(draw, rng):
    assert np.isfinite(draw(2, rng)(np.array([[1e6, 1e6], [-1e6, 1e6], [0, 0]]))).all()
