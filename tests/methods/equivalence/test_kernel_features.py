import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from grandag.methods.equivalence.kernel_features import gaussian_kernel, incomplete_cholesky, kernel_width


@pytest.mark.parametrize("n", [2, 3, 50, 51])
@pytest.mark.parametrize("kind", ["normal", "counts", "heavy tails"])
def test_width_is_from_the_median_distance_of_different_values(rng, n, kind):
    draws = {"normal": rng.normal(size=n), "counts": rng.poisson(1.0, n), "heavy tails": rng.standard_cauchy(n)}
    column = np.append(draws[kind].astype(float)[:-1], 7.5)  # never constant
    squares = np.subtract.outer(column, column)[np.triu_indices(n, 1)] ** 2
    expected = 2.5 * np.sqrt(0.5 * np.median(squares[squares > 0]))
    assert kernel_width(column, 2.5) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_width_in_extreme_units(rng, unit):
    column = rng.normal(size=40)
    assert kernel_width(unit * column, 2.0) == pytest.approx(unit * kernel_width(column, 2.0), rel=1e-12)


def test_kernel_is_gaussian(rng):
    points, others = rng.normal(size=(20, 3)), rng.normal(size=(7, 3))
    assert gaussian_kernel(points, others) == pytest.approx(rbf_kernel(points, others, gamma=0.5))
    assert (gaussian_kernel(points[:, :0], others[:, :0]) == 1).all()


@pytest.mark.parametrize("n_columns", [0, 1, 2, 4])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_features_span_the_kernel_up_to_the_tolerance(rng, n_columns, tolerance):
    points = rng.normal(size=(150, n_columns))
    features, pivots = incomplete_cholesky(points, tolerance, 150)
    remainder = gaussian_kernel(points, points) - features @ features.T
    assert np.linalg.eigvalsh(remainder).min() > -1e-10
    assert 0 <= np.trace(remainder) / 150 + 1e-12 <= tolerance + 1e-12
    fewer = features[:, :-1]
    assert 1 - (fewer**2).sum() / 150 > tolerance  # no feature too many
    assert np.abs(np.triu(features[pivots], 1)).max(initial=0.0) < 1e-6


def test_features_are_limited(rng):
    points = rng.normal(size=(100, 3))
    assert incomplete_cholesky(points, 1e-9, 12).values.shape == (100, 12)


def test_as_many_features_as_different_rows(rng):
    points = rng.integers(0, 2, size=(100, 2)).astype(float)
    features, _ = incomplete_cholesky(points, 1e-15, 100)
    assert features.shape == (100, 4)
    assert features @ features.T == pytest.approx(gaussian_kernel(points, points))


def test_order_of_rows_does_not_matter(rng):
    points, order = rng.normal(size=(80, 2)), rng.permutation(80)
    features = incomplete_cholesky(points, 1e-3, 80).values
    assert incomplete_cholesky(points[order], 1e-3, 80).values == pytest.approx(features[order], abs=1e-8)
