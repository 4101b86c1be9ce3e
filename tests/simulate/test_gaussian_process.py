"""Drawn functions: covariance at fixed inputs, both ways of drawing, evaluation at new inputs."""

import numpy as np
import pytest

from grandag.simulate import gaussian_process
from grandag.simulate.gaussian_process import draw_function, kernel


def fixed_inputs(n_inputs):
    return np.random.default_rng(5).normal(size=(12, n_inputs))


def reference(inputs, additive):
    """The kernel, written out."""
    squares = (inputs[:, None, :] - inputs) ** 2
    return np.exp(-squares / 2).sum(axis=2) if additive else np.exp(-squares.sum(axis=2) / 2)


def test_kernel():
    inputs = fixed_inputs(3)
    np.testing.assert_allclose(kernel(inputs, inputs), reference(inputs, False), rtol=1e-12)


@pytest.mark.parametrize("additive", [False, True])
@pytest.mark.parametrize("n_inputs", [1, 3])
@pytest.mark.parametrize("exact_rows", [3000, 0], ids=["Cholesky", "features"])
def test_covariance_at_fixed_inputs(monkeypatch, rng, exact_rows, n_inputs, additive):
    """Both ways have the kernel as covariance and mean 0: errors of 2,000 draws are within 5 standard errors."""
    monkeypatch.setattr(gaussian_process, "EXACT_ROWS", exact_rows)
    inputs = fixed_inputs(n_inputs)
    draws = np.array([draw_function(inputs, rng, additive=additive)[1] for _ in range(2000)])
    expected = reference(inputs, additive)
    variance = np.diagonal(expected)
    error = np.sqrt((variance[:, None] * variance + expected**2) / 2000)
    assert (np.abs(draws.T @ draws / 2000 - expected) < 5 * error).all()
    assert (np.abs(draws.mean(axis=0)) < 5 * np.sqrt(variance / 2000)).all()


def test_covariance_with_new_inputs(rng):
    """Old and new values together are a draw of the process: a new row has the same distribution as the first ones."""
    inputs = fixed_inputs(2)
    joint = []
    for _ in range(2000):
        function, values = draw_function(inputs[:8], rng)
        joint.append(np.r_[values, function(inputs[8:])])
    joint = np.array(joint)
    expected = reference(inputs, False)
    assert (np.abs(joint.T @ joint / 2000 - expected) < 5 * np.sqrt((1 + expected**2) / 2000)).all()


@pytest.mark.parametrize("n_inputs", [1, 9])
def test_variance_is_kept_between_the_inputs(rng, n_inputs):
    """With 9 parents new inputs are far from the old ones; the variance of the function is still 1."""
    old, new = rng.normal(size=(300, n_inputs)), rng.normal(size=(300, n_inputs))
    pairs = [draw_function(old, rng) for _ in range(25)]
    first = np.mean([np.mean(values**2) for _, values in pairs])
    later = np.mean([np.mean(function(new) ** 2) for function, _ in pairs])
    assert first == pytest.approx(1, abs=0.35)
    assert later == pytest.approx(first, abs=0.15)


@pytest.mark.parametrize("additive", [False, True])
def test_values_are_those_of_the_function(rng, additive):
    inputs = rng.normal(size=(400, 3))
    function, values = draw_function(inputs, rng, additive=additive)
    np.testing.assert_allclose(function(inputs), values, atol=1e-6)
    np.testing.assert_allclose(function(inputs[:5]), values[:5], atol=1e-6)
    np.testing.assert_array_equal(function(inputs), function(inputs))


def test_additive_functions_are_sums_of_functions_of_one_input(rng):
    function, _ = draw_function(rng.normal(size=(100, 2)), rng, additive=True)
    corners = np.array([[a, b] for a in (-1.0, 0.5) for b in (0.0, 1.5)])
    values = function(corners)
    assert values[0] + values[3] == pytest.approx(values[1] + values[2], abs=1e-9)
    np.testing.assert_allclose(function.component(0, corners) + function.component(1, corners), values)
    assert function.component(0, corners)[0] == pytest.approx(function.component(0, corners)[1])


def test_functions_are_smooth(rng):
    """E f'^2 = 1 for unit bandwidth, also between the inputs."""
    grid = np.linspace(-1, 1, 401)[:, None]
    slopes = []
    for _ in range(300):
        function, _ = draw_function(rng.normal(size=(50, 1)), rng)
        slopes.append(np.diff(function(grid)) / np.diff(grid[:, 0]))
    assert np.mean(np.square(slopes)) == pytest.approx(1, abs=0.25)


def test_way_of_drawing_depends_on_the_rows(rng, monkeypatch):
    monkeypatch.setattr(gaussian_process, "EXACT_ROWS", 20)
    assert draw_function(rng.normal(size=(20, 1)), rng)[0].method == "Cholesky"
    assert draw_function(rng.normal(size=(21, 1)), rng)[0].method == "random Fourier features"


def test_repeated_and_close_inputs_are_safe(rng):
    inputs = np.repeat(rng.normal(size=(50, 1)), 20, axis=0) + 1e-9 * rng.normal(size=(1000, 1))
    function, values = draw_function(inputs, rng)
    assert np.isfinite(values).all()
    assert np.ptp(values.reshape(50, 20), axis=1).max() < 1e-3
    assert np.isfinite(function(10 * inputs)).all()
