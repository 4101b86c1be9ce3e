"""DAG-GNN's objective and gradient against the plain formulas."""

import numpy as np
import pytest

from grandag.engine.autoencoder import Autoencoder, loss_and_gradient, train_epoch

D, ENCODER, DECODER, ROWS = 4, 7, 5, 30


def network(parameters, values):
    n = len(parameters) // 3
    hidden = np.maximum(values[..., None] * parameters[:n] + parameters[n : 2 * n], 0)
    return hidden @ parameters[2 * n : 3 * n] + parameters[3 * n]


def parts(model):
    first = D * D + 1
    second = first + 3 * ENCODER + 1
    p = model.parameters
    return np.sinh(3 * p[: D * D].reshape(D, D)) * model.allowed, p[D * D], p[first:second], p[second:]


def plain_loss(model, X, lagrange_multiplier, penalty):
    """The released program's formulas, with both networks unit by unit and the inverse of I - A formed."""
    A, w, encoder, decoder = parts(model)
    identity = np.eye(D)
    Z = (network(encoder, X) + w) @ (identity - A) - w
    decoded = network(decoder, (Z + w) @ np.linalg.inv(identity - A) - w)
    bound = ((X - decoded) ** 2).sum() / (2 * len(X)) + (Z**2).sum() / (2 * len(X))
    h = np.trace(np.linalg.matrix_power(identity + A * A / D, D)) - D
    constraint = lagrange_multiplier * h + 0.5 * penalty * h**2 + 100 * np.trace(A * A)
    return bound, h, bound + constraint


@pytest.fixture
def model(rng):
    allowed = np.ones((D, D), dtype=bool)
    allowed[0, 1] = allowed[2, 2] = False
    n_parameters = D * D + 1 + 3 * ENCODER + 1 + 3 * DECODER + 1
    parameters = 0.2 * rng.normal(size=n_parameters)
    parameters[D * D + 1] = parameters[D * D + 3] = 0  # units without a kink: one always on, one always off
    parameters[D * D + 1 + ENCODER], parameters[D * D + 3 + ENCODER] = 0.5, -0.5
    return Autoencoder(parameters, allowed, ENCODER)


def test_value_and_gradient(rng, model):
    X = rng.normal(size=(ROWS, D))
    gradient = np.empty_like(model.parameters)
    reconstruction, divergence, h = loss_and_gradient(model.parameters, gradient, X, model.allowed, ENCODER, 0.7, 3.0)
    bound, expected_h, _ = plain_loss(model, X, 0.7, 3.0)
    np.testing.assert_allclose((reconstruction + divergence, h), (bound, expected_h))
    np.testing.assert_allclose((model.h, model.evidence_lower_bound(X)), (h, -bound))
    numeric = np.empty_like(gradient)
    for k in range(len(numeric)):
        values = []
        for sign in (1, -1):
            moved = model.parameters.copy()
            moved[k] += sign * 1e-6
            values.append(plain_loss(model._replace(parameters=moved), X, 0.7, 3.0)[2])
        numeric[k] = (values[0] - values[1]) / 2e-6
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)


def test_prediction_is_decoded_from_the_parents(rng, model):
    X = rng.normal(size=(ROWS, D))
    A, w, encoder, decoder = parts(model)
    np.testing.assert_allclose(model.predict(X), network(decoder, (network(encoder, X) + w) @ A))


def test_epoch_is_adam_over_the_batches(rng, model):
    """Adam as Kingma and Ba (2015) write it; the last batch is smaller."""
    X = rng.normal(size=(25, D))
    parameters, first, second, losses = model.parameters.copy(), 0.0, 0.0, []
    for t, start in enumerate((0, 10, 20), start=1):
        gradient = np.empty_like(parameters)
        batch = X[start : start + 10]
        reconstruction, divergence, _ = loss_and_gradient(parameters, gradient, batch, model.allowed, ENCODER, 1.0, 2.0)
        losses.append(reconstruction + divergence)
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        parameters -= 0.01 * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
    state = np.zeros(2 * len(parameters) + 1)
    np.testing.assert_allclose(train_epoch(model, state, X, 10, 1.0, 2.0, 0.01), np.mean(losses))
    np.testing.assert_allclose(model.parameters, parameters, rtol=1e-9, atol=1e-12)
    assert model.weights[0, 1] == 0
