"""The constraint by cycles against matrix powers and eigenvalues of each component (numpy, float64)."""

import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.sparse.csgraph import connected_components

from grandag.engine.acyclicity import find_components, new_components
from grandag.engine.cycles import follow_eigenvectors, list_children, long_cycles, new_cycles, short_cycles
from grandag.graph import is_acyclic


def constraint(A, n_calls=300):
    """h and dh / dA_ij of the entries that are not 0, after some calls."""
    d, mask = len(A), A > 0
    inputs, n_inputs = np.full((d, d + 1), d + 1, np.int32), mask.sum(axis=0)
    for j in range(d):
        inputs[j, 1 : n_inputs[j] + 1] = np.flatnonzero(mask[:, j])
    components, cycles = new_components(d), new_cycles(d, int(mask.sum()), 1, A.dtype)
    find_components(inputs, n_inputs, components)
    list_children(inputs, n_inputs, components.label, cycles)
    n_components = components.n_components[0]
    for _ in range(n_calls):
        follow_eigenvectors(A, components.label, n_components, cycles)
    gradient = np.zeros((d, d))
    for j in range(d):
        short_cycles(inputs, n_inputs, A, components.label, cycles, 0, j)
        gradient[inputs[j, 1 : n_inputs[j] + 1], j] = cycles.slope[j, 1 : n_inputs[j] + 1]
    assert not cycles.two_steps.any()
    return cycles.short.sum() + long_cycles(cycles.radius, n_components), gradient


def reference(A):
    """The definition, component by component."""
    h = sum(np.trace(np.linalg.matrix_power(A, k)) / math.factorial(k) for k in (2, 3, 4))
    n_components, label = connected_components(A > 0, connection="strong")
    for c in range(n_components):
        inside = A[np.ix_(label == c, label == c)]
        radius = np.abs(np.linalg.eigvals(inside)).max()
        h += sum(radius**k / math.factorial(k) for k in range(5, 60))
    return h


def random_adjacency(rng, d, density, scale):
    A = scale * (0.2 + rng.random((d, d))) * (rng.random((d, d)) < density)
    np.fill_diagonal(A, 0)
    return A


@pytest.mark.parametrize(("d", "density", "scale"), [(2, 1, 1), (6, 0.4, 0.6), (15, 0.15, 0.8), (30, 0.08, 0.5)])
def test_value_and_gradient(rng, d, density, scale):
    A = random_adjacency(rng, d, density, scale)
    h, gradient = constraint(A)
    assert h == pytest.approx(reference(A), rel=1e-6)
    step = 1e-6
    for i, j in np.argwhere(A > 0)[:60]:
        up, down = A.copy(), A.copy()
        up[i, j] += step
        down[i, j] -= step
        assert gradient[i, j] == pytest.approx((reference(up) - reference(down)) / (2 * step), rel=1e-4, abs=1e-8)


def test_zero_if_and_only_if_acyclic(rng):
    outcomes = set()
    for _ in range(200):
        A = random_adjacency(rng, 6, 0.2, 0.1)
        h, gradient = constraint(A.astype(np.float32), n_calls=1)
        assert (h == 0) == is_acyclic(A > 0)
        assert (gradient == 0).all() == is_acyclic(A > 0)
        outcomes.add(h == 0)
    assert outcomes == {True, False}


@pytest.mark.parametrize("length", [2, 3, 5, 9])
def test_one_cycle(length):
    """Its eigenvalues are roots of unity times the weight: power iteration alone would go round for ever."""
    A = 0.5 * np.roll(np.eye(length), 1, axis=1)
    h, gradient = constraint(A, n_calls=200)
    assert h == pytest.approx(reference(A), rel=1e-6)
    on_cycle = gradient[A > 0]
    assert on_cycle == pytest.approx(np.full(length, on_cycle[0]))


def test_close_to_the_exponential_where_cycles_are_weak(rng):
    A = random_adjacency(rng, 20, 0.2, 0.05)
    exact = expm(A)
    h, gradient = constraint(A)
    assert h == pytest.approx(np.trace(exact) - 20, rel=1e-3)
    np.testing.assert_allclose(gradient[A > 0], exact.T[A > 0], rtol=0.01, atol=1e-5)


def test_eigenvectors_are_followed(rng):
    """Few steps from the vectors of a slightly different matrix do."""
    A = random_adjacency(rng, 12, 0.3, 0.5)
    h, _ = constraint(A, n_calls=40)
    assert h == pytest.approx(reference(A), rel=1e-5)
