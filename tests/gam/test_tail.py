"""Tail probabilities against numerical integration."""

import math

import numpy as np
import pytest
from scipy.stats import chi2, f

from grandag.gam.tail import fractional_rank_tail


def weights(rank):
    kappa = math.floor(rank)
    nu = rank - kappa
    a = (nu + 1 + math.sqrt((nu + 1) * (1 - nu))) / 2
    return kappa, a, nu + 1 - a


def nodes(n, low, high):
    """Gauss-Legendre nodes and weights on an interval."""
    x, w = np.polynomial.legendre.leggauss(n)
    return low + (high - low) * (x + 1) / 2, w * (high - low) / 2


def reference(stat, rank, m):
    """Integrate over the denominator's chi-square, and over the two single ones in polar coordinates.

    With angle t and an exponential radius, a chi2_1 + b chi2_1 is (a cos^2 t + b sin^2 t) chi2_2.
    """
    kappa, a, b = weights(rank)
    y, y_weight = nodes(400, chi2.ppf(1e-12, m) * 0.5, chi2.isf(1e-12, m))
    angle, angle_weight = nodes(60, 0, math.pi / 2)
    x, w = (stat * y / m)[:, None], (a * np.cos(angle) ** 2 + b * np.sin(angle) ** 2)[None]
    if kappa == 1:
        inner = np.exp(-x / (2 * w))
    else:
        s, s_weight = nodes(120, 0, 1)
        inner = chi2.sf(x, kappa - 1) + sum(
            weight * 2 * x * node * chi2.pdf(x * node**2, kappa - 1) * np.exp(-x * (1 - node**2) / (2 * w))
            for node, weight in zip(s, s_weight, strict=True)
        )
    return (y_weight * chi2.pdf(y, m)) @ inner @ angle_weight / (math.pi / 2)


@pytest.mark.parametrize("rank", [1.003, 1.5, 2.2, 3.9])
@pytest.mark.parametrize("stat", [1.0, 12.0, 45.0])
def test_fractional_ranks(stat, rank):
    np.testing.assert_allclose(fractional_rank_tail(stat, rank, 200), reference(stat, rank, 200), rtol=1e-4)


@pytest.mark.parametrize("rank", [3.004, 3.012, 3.03])
@pytest.mark.parametrize(("stat", "m"), [(50.0, 500), (80.0, 2000)])
def test_a_small_weight_far_out(stat, m, rank):
    """The first members of the mixture are below the smallest number there is; the sum is not."""
    np.testing.assert_allclose(fractional_rank_tail(stat, rank, m), reference(stat, rank, m), rtol=1e-4)


@pytest.mark.parametrize("rank", [1.0, 2.0, 7.0, 0.4])
@pytest.mark.parametrize("stat", [0.1, 5.0, 60.0, 2000.0])
def test_whole_ranks_are_f_tests(stat, rank):
    n = max(1, round(rank))
    np.testing.assert_allclose(fractional_rank_tail(stat, rank, 950.5), f.sf(stat / n, n, 950.5), rtol=1e-9)


def test_continuous_in_the_rank():
    for stat in (5.0, 40.0):
        for rank in (2.0, 5.0):
            near = [fractional_rank_tail(stat, rank + step, 500) for step in (0, 1e-9, 1e-6, 1e-5)]
            np.testing.assert_allclose(near, near[0], rtol=2e-3)
        for b_edge in (3.0097, 3.0098, 3.0099, 3.0100):  # where the smallest weight crosses 0.005
            here, there = (fractional_rank_tail(stat, b_edge + step, 500) for step in (0, 1e-6))
            np.testing.assert_allclose(here, there, rtol=1e-4)


def test_far_out_and_close_in():
    values = [fractional_rank_tail(stat, 4.3, 900) for stat in (0, 1e-9, 1, 10, 100, 1e3, 1e4, 1e6)]
    assert values[0] == 1
    assert all(0 <= value <= 1 for value in values)
    assert values == sorted(values, reverse=True)
    around = [fractional_rank_tail(stat, 4.3, 900) for stat in np.linspace(105, 125, 400)]  # through 1e-20
    assert (np.diff(np.log(around)) < 0).all()
    assert np.abs(np.diff(np.log(around), 2)).max() < 0.1
