"""The double precision forward pass against the engine's."""

import numpy as np
import pytest
from scipy.stats import norm

from grandag.engine.network import initialise
from grandag.engine.training import mean_log_likelihood
from grandag.methods.grandag.conditionals import least_deviations, network_conditionals
from grandag.table import Scaling, as_table


@pytest.mark.parametrize("density", ["additive-gaussian", "gaussian"])
@pytest.mark.parametrize(("n_layers", "activation"), [(0, "leaky-relu"), (1, "squareplus"), (2, "leaky-relu")])
def test_log_likelihood_is_the_engines(rng, density, n_layers, activation):
    """Inputs that are listed first are out of column order, and units are not those of training."""
    mask = np.triu(np.ones((6, 6), dtype=bool), k=1)[:, rng.permutation(6)] & ~np.eye(6, dtype=bool)
    first = mask & (rng.random((6, 6)) < 0.5)
    networks = initialise(
        mask,
        n_layers=n_layers,
        n_units=7,
        activation=activation,
        density=density,
        dtype="float32",
        rng=rng,
        first=first,
    )
    networks.parameters[:, -1] += 0.3 * rng.normal(size=6).astype(
        np.float32
    )  # log sigma, or a weight of the last layer
    scaled = rng.normal(size=(200, 6)).astype(np.float32)
    scaling = Scaling(rng.normal(size=6), np.exp(rng.normal(size=6)))
    values = scaling.mean + scaling.scale * scaled.astype(np.float64)
    for j, conditional in enumerate(network_conditionals(networks, scaling, 1e-3 * scaling.scale)):
        found = conditional.given(values[:, mask[:, j]])
        log_likelihood = norm.logpdf(values[:, j], found.mean, found.scale).mean() + np.log(scaling.scale[j])
        assert log_likelihood == pytest.approx(mean_log_likelihood(networks, scaled)[j], rel=1e-4), j


def test_the_noise_is_at_least_what_the_rows_can_show(rng):
    """A thousandth of what varies; of a nearly constant column, 1 / sqrt(k + 1) of it for k rows that differ."""
    values = rng.normal(size=(400, 4)) * [1, 10, 1, 1]
    values[:, 2] = np.arange(400) < 3
    values[:, 3] = 5 + 2 * (np.arange(400) < 399)
    least = least_deviations(as_table(values))
    np.testing.assert_allclose(least / values.std(axis=0), [1e-3, 1e-3, 1 / 2, 1 / np.sqrt(2)])
    mask = np.zeros((4, 4), dtype=bool)
    networks = initialise(
        mask, n_layers=0, n_units=1, activation="leaky-relu", density="additive-gaussian", dtype="float32", rng=rng
    )
    networks.parameters[:, -1] = [-0.5, -20, -20, 0.25]  # log sigma of the scaled columns
    scaling = Scaling(np.zeros(4), np.array([1, 10, 1, 2.0]))
    scales = [found.given(np.empty((1, 0))).scale[0] for found in network_conditionals(networks, scaling, least)]
    np.testing.assert_allclose(scales, [np.exp(-0.5), least[1], least[2], 2 * np.exp(0.25)], rtol=1e-6)
