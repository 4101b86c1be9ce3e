"""The double precision forward pass against the engine's."""

import numpy as np
import pytest
from scipy.stats import norm

from grandag.engine.network import initialise
from grandag.engine.training import mean_log_likelihood
from grandag.methods.grandag.conditionals import network_conditionals
from grandag.table import Scaling


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
    for j, conditional in enumerate(network_conditionals(networks, scaling, scaled)):
        mean, scale = conditional.mean_and_scale(values[:, mask[:, j]])
        log_likelihood = norm.logpdf(values[:, j], mean, scale).mean() + np.log(scaling.scale[j])
        assert log_likelihood == pytest.approx(mean_log_likelihood(networks, scaled)[j], rel=1e-4), j
