"""The inner loops against numpy, for sizes on both sides of every tile."""

import numpy as np
import pytest
from numba import njit

from grandag.engine.vectors import (
    COLUMNS,
    LANES,
    add_absolute,
    add_signed,
    dot,
    multiply,
    multiply_transposed,
    padded,
    view,
)

PRECISION = {"float32": 2e-5, "float64": 1e-13}


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize(("n_out", "n_rows", "width"), [(1, 1, 16), (4, 3, 32), (5, 7, 48), (11, 20, 64), (23, 2, 80)])
def test_multiply(rng, dtype, n_out, n_rows, width):
    left = rng.normal(size=(n_out, n_rows + 3)).astype(dtype)
    right = rng.normal(size=(30, width)).astype(dtype)
    rows = rng.choice(30, n_rows, replace=False).astype(np.int32)
    expected = left[:, :n_rows] @ right[rows]
    out = np.full((n_out, width), np.nan, dtype)
    multiply(out, left, right, rows)
    np.testing.assert_allclose(out, expected, atol=PRECISION[dtype])
    multiply(out, np.asfortranarray(left), right, rows)
    np.testing.assert_allclose(out, expected, atol=PRECISION[dtype])


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize(("n_out", "n_rows", "width"), [(1, COLUMNS, 16), (5, 8, 64), (13, 12, 48)])
def test_multiply_transposed(rng, dtype, n_out, n_rows, width):
    left = rng.normal(size=(n_out, width)).astype(dtype)
    right = rng.normal(size=(30, width)).astype(dtype)
    rows = rng.choice(30, n_rows, replace=False).astype(np.int32)
    out = np.full((n_out, n_rows + 2), 7, dtype)
    multiply_transposed(out, left, right, rows)
    np.testing.assert_allclose(out[:, :n_rows], left @ right[rows].T, atol=PRECISION[dtype])
    assert (out[:, n_rows:] == 7).all()


@njit
def call_dot(a, b):
    return dot(a, b)


@njit
def call_add_signed(gradient, weights, below, factor):
    return add_signed(gradient, weights, below, factor)


@njit
def call_add_absolute(sums, weights, factor):
    add_absolute(sums, weights, factor)


@pytest.mark.parametrize("dtype", PRECISION)
def test_rows_of_weights(rng, dtype):
    weights, below, gradient, sums = rng.normal(size=(4, 3 * LANES)).astype(dtype)
    weights[[0, 5]] = 0
    tolerance = {"atol": PRECISION[dtype], "rtol": PRECISION[dtype]}
    np.testing.assert_allclose(call_dot(weights, below), weights @ below, **tolerance)
    expected_gradient, expected_sums = gradient + 0.5 * np.sign(weights) * below, sums + 0.5 * np.abs(weights)
    total = call_add_signed(gradient, weights, below, weights.dtype.type(0.5))
    np.testing.assert_allclose(total, np.abs(weights) @ below, **tolerance)
    np.testing.assert_allclose(gradient, expected_gradient, **tolerance)
    call_add_absolute(sums, weights, weights.dtype.type(0.5))
    np.testing.assert_allclose(sums, expected_sums, **tolerance)


@njit
def double_part(array, start, n_rows, n_columns):
    part = view(array, start, (n_rows, n_columns))
    for r in range(n_rows):
        for c in range(n_columns):
            part[r, c] *= 2


def test_view_shares_memory(rng):
    array = np.arange(24.0).reshape(4, 6)
    expected = array.copy()
    expected.reshape(-1)[5:17] *= 2
    double_part(array, 5, 3, 4)
    np.testing.assert_array_equal(array, expected)


def test_padded():
    assert [padded(n) for n in (1, 16, 17, 100)] == [16, 16, 32, 112]
