"""Densities against scipy, and their derivatives against finite differences."""

import numpy as np
import pytest
from scipy.stats import norm

from grandag.engine.density import DENSITIES, log_density, log_density_slope

N = 16


def evaluate(law, x, outputs, constants):
    log_p = np.zeros(N)
    log_density(law.code, x, outputs, constants, N, log_p)
    return log_p


@pytest.fixture
def point(rng):
    return rng.normal(size=N), 0.5 * rng.normal(size=(2, N)), np.array([-0.3])


def test_against_scipy(point):
    x, outputs, constants = point
    additive = evaluate(DENSITIES["additive-gaussian"], x, outputs[:1], constants)
    np.testing.assert_allclose(additive, norm.logpdf(x, outputs[0], np.exp(-0.3)), rtol=1e-12)
    full = evaluate(DENSITIES["gaussian"], x, outputs, constants[:0])
    np.testing.assert_allclose(full, norm.logpdf(x, outputs[0], np.exp(outputs[1])), rtol=1e-12)


@pytest.mark.parametrize("name", DENSITIES)
def test_derivatives(point, name):
    law = DENSITIES[name]
    x, outputs, constants = point
    outputs, constants = outputs[: law.n_outputs].copy(), constants[: law.n_constants].copy()
    slope, constant_slope = np.zeros((law.n_outputs, N)), np.zeros(law.n_constants)
    log_density_slope(law.code, x, outputs, constants, N, slope, constant_slope)
    step = 1e-6
    for k in range(law.n_outputs):
        shift = np.zeros_like(outputs)
        shift[k] = step
        above, below = (evaluate(law, x, outputs + sign * shift, constants) for sign in (1, -1))
        np.testing.assert_allclose(slope[k], (above - below) / (2 * step), rtol=1e-6, atol=1e-8)
    for k in range(law.n_constants):
        shift = np.eye(law.n_constants)[k] * step
        above, below = (evaluate(law, x, outputs, constants + sign * shift) for sign in (1, -1))
        np.testing.assert_allclose(constant_slope[k], (above - below).sum() / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("name", DENSITIES)
def test_padding_stays_zero(point, name):
    law = DENSITIES[name]
    x, outputs, constants = point
    log_p, slope = np.zeros(N), np.zeros((law.n_outputs, N))
    log_density(law.code, x, outputs[: law.n_outputs], constants[: law.n_constants], 10, log_p)
    log_density_slope(
        law.code, x, outputs[: law.n_outputs], constants[: law.n_constants], 10, slope, np.zeros(law.n_constants)
    )
    assert (log_p[10:] == 0).all()
    assert (slope[:, 10:] == 0).all()
    assert (slope[:, :10] != 0).all()
