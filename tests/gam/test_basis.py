"""The basis against its definition with dense matrices."""

import numpy as np
import pytest
from scipy.linalg import null_space

from grandag.gam.basis import MAX_KNOTS, spline_basis


def dense_basis(x, k):
    """[U D Z, 1, x] and the penalty Z'DZ, as defined, over the rows of x."""
    distinct, position = np.unique(x, return_inverse=True)
    centred = distinct - x.mean()
    E = np.abs(centred[:, None] - centred) ** 3 / 12
    values, vectors = np.linalg.eigh(E)
    largest = np.argsort(-np.abs(values))[:k]
    values, vectors = values[largest], vectors[:, largest]
    T = np.column_stack([np.ones(len(distinct)), centred])
    Z = null_space(T.T @ vectors)
    return np.column_stack([vectors * values @ Z, T])[position], Z.T @ (values[:, None] * Z)


def roughness(design, penalty, y):
    """The smallest penalty of a function of the basis with the values y."""
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    bending = coefficients[: len(penalty)]
    return bending @ penalty @ bending


@pytest.mark.parametrize(("n", "k"), [(30, 10), (500, 10), (500, 4), (1000, 7)])
def test_same_functions_and_penalty_as_the_definition(rng, n, k):
    x = 3 + 2 * rng.normal(size=n)
    basis, (design, penalty) = spline_basis(x, k), dense_basis(x, k)
    columns = basis(x)
    assert columns.shape == (n, k - 1)
    orthonormal, _ = np.linalg.qr(design)
    np.testing.assert_allclose(orthonormal @ (orthonormal.T @ columns), columns, atol=1e-7)
    bending = [roughness(design, penalty, column) for column in columns.T[:-1]]
    unit = bending[0] / basis.penalty[0]
    np.testing.assert_allclose(bending, unit * basis.penalty[:-1], rtol=1e-4)
    both = roughness(design, penalty, columns[:, 0] + columns[:, 1])  # no cross terms
    np.testing.assert_allclose(both, unit * (basis.penalty[0] + basis.penalty[1]), rtol=1e-3)


def test_columns_are_orthonormal_and_the_last_is_the_standardised_column(rng):
    x = rng.exponential(size=800) * 1e5
    columns = spline_basis(x, 10)(x)
    np.testing.assert_allclose(columns.T @ columns / len(x), np.eye(9), atol=1e-8)
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(columns[:, -1], (x - x.mean()) / x.std(), atol=1e-8)


@pytest.mark.parametrize(("n_distinct", "width"), [(2, 1), (3, 2), (5, 4), (40, 9)])
def test_few_distinct_values(rng, n_distinct, width):
    x = rng.integers(n_distinct, size=500).astype(float)
    basis = spline_basis(x, 10)
    assert basis(x).shape == (500, width)
    assert (basis.penalty[:-1] > 0).all()
    assert basis.penalty[-1] == 0


def test_many_rows_use_representatives(rng):
    x = rng.normal(size=20_000)
    basis = spline_basis(x, 10)
    assert len(basis.functions.knots) == MAX_KNOTS
    orthonormal, _ = np.linalg.qr(np.column_stack([np.ones(20_000), basis(x)]))
    y = np.sin(1.5 * x)
    assert np.std(y - orthonormal @ (orthonormal.T @ y)) < 0.03


def test_ties_and_new_values(rng):
    x = np.round(rng.normal(size=300), 1)
    basis = spline_basis(x, 8)
    grid = np.linspace(x.min() - 1, x.max() + 1, 1001)
    columns = basis(grid)
    second = np.diff(columns, 2, axis=0)
    assert np.abs(np.diff(second, axis=0)).max() < 1e-3  # smooth, also between and beyond the data
    outside = grid > x.max()
    np.testing.assert_allclose(np.diff(columns[outside], 2, axis=0), 0, atol=1e-8)  # straight lines beyond
