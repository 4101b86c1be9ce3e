"""h and its gradient against a dense matrix exponential (scipy, float64)."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.sparse.csgraph import connected_components

from grandag.engine.acyclicity import acyclicity, find_components, new_components, new_powers
from grandag.engine.threads import new_barrier, run_together


def inputs_of(mask):
    """Lists of inputs as the networks hold them: the row of ones, the active inputs, the row of zeros."""
    d = len(mask)
    inputs = np.full((d, d + 1), d + 1, np.int32)
    inputs[:, 0] = d
    for j in range(d):
        active = np.flatnonzero(mask[:, j])
        inputs[j, 1 : len(active) + 1] = active
    return inputs, mask.sum(axis=0)


def components_of(mask):
    components = new_components(len(mask))
    find_components(*inputs_of(mask), components)
    return components


def constraint(A, n_threads=1):
    """h, and d h / d A_ij for the entries of A that are not 0."""
    d = len(A)
    components, powers = components_of(A > 0), new_powers(d, A.dtype)
    exponential, barrier = np.zeros((d, d), A.dtype), new_barrier()

    def run(thread, n_threads, _):
        return acyclicity(A, components, powers, exponential, barrier, thread, n_threads)

    return run_together(run, [None] * n_threads), exponential.T


def random_adjacency(rng, d, density, scale):
    A = scale * rng.random((d, d)) * (rng.random((d, d)) < density)
    np.fill_diagonal(A, 0)
    return A


def check(A, rtol):
    h, gradient = constraint(A)
    exact = expm(A.astype(np.float64))
    np.testing.assert_allclose(h, np.trace(exact) - len(A), rtol=rtol)
    matters = (A > 0) & (exact.T > 1e-12)
    np.testing.assert_allclose(gradient[matters], exact.T[matters], rtol=rtol, atol=1e-12)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 3e-6), ("float64", 1e-11)])
@pytest.mark.parametrize(
    ("d", "density", "scale"), [(2, 1, 1), (5, 0.5, 0.3), (17, 0.2, 0.5), (40, 1, 0.05), (60, 1, 1)]
)
def test_against_dense_exponential(rng, dtype, rtol, d, density, scale):
    check(random_adjacency(rng, d, density, scale).astype(dtype), rtol)


@pytest.mark.parametrize("d", [2, 3, 10, 20])
def test_resolves_tiny_constraints_in_float32(rng, d):
    """Near the tolerance: a strong order plus weak edges against it, h of about 1e-8."""
    A = np.triu(0.1 * rng.random((d, d)), 1) + np.tril(1e-7 * rng.random((d, d)) / d, -1)
    exact = np.trace(expm(A)) - d
    assert 1e-10 < exact < 1e-6
    check(A.astype(np.float32), 1e-5)


@pytest.mark.parametrize("length", [2, 3, 7, 10])
def test_one_long_cycle(length):
    """h of a single cycle is length * w^length / length! to leading order: nothing but the highest power."""
    A = 0.5 * np.roll(np.eye(length), 1, axis=1)
    exact = sum(length * 0.5 ** (length * k) / np.prod(np.arange(1.0, length * k + 1)) for k in (1, 2, 3))
    h, _ = constraint(A.astype(np.float32))
    np.testing.assert_allclose(h, exact, rtol=1e-5)


def test_acyclic_is_exactly_zero(rng):
    order = rng.permutation(30)
    A = np.triu(rng.random((30, 30)), 1)[np.ix_(order, order)].astype(np.float32)
    h, gradient = constraint(A)
    assert h == 0
    assert (gradient == 0).all()


def test_zero_between_components(rng):
    A = random_adjacency(rng, 12, 0.4, 0.5)
    A[6:, :6] = 0
    label = components_of(A > 0).label
    _, gradient = constraint(A)
    between = (A > 0) & (label[:, None] != label)
    assert between.any()
    assert (gradient[between] == 0).all()


def test_permutation_and_transpose(rng):
    A = random_adjacency(rng, 15, 0.3, 0.6)
    order = rng.permutation(15)
    h, gradient = constraint(A)
    h_permuted, gradient_permuted = constraint(A[np.ix_(order, order)])
    h_transposed, gradient_transposed = constraint(np.ascontiguousarray(A.T))
    np.testing.assert_allclose([h_permuted, h_transposed], h, rtol=1e-12)
    used = A > 0
    np.testing.assert_allclose(
        gradient_permuted[used[np.ix_(order, order)]],
        gradient[np.ix_(order, order)][used[np.ix_(order, order)]],
        rtol=1e-10,
        atol=1e-14,
    )
    np.testing.assert_allclose(gradient_transposed.T[used], gradient[used], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("density", [0.02, 0.05, 0.1, 0.5])
def test_components_against_scipy(rng, density):
    for _ in range(20):
        mask = random_adjacency(rng, 25, density, 1) > 0
        components = components_of(mask)
        n, label = connected_components(mask, directed=True, connection="strong")
        count = components.n_components[0]
        assert count == n
        pairs = set(zip(label.tolist(), components.label.tolist(), strict=True))
        assert len(pairs) == n
        groups = [components.members[components.starts[k] : components.starts[k + 1]] for k in range(count)]
        assert sorted(np.concatenate(groups).tolist()) == list(range(25))
        assert all(len(set(label[group])) == 1 for group in groups)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_give_the_same_bits(rng, n_threads):
    A = random_adjacency(rng, 43, 0.4, 0.2).astype(np.float32)
    h, gradient = constraint(A)
    h_threads, gradient_threads = constraint(A, n_threads)
    assert h == h_threads
    np.testing.assert_array_equal(gradient, gradient_threads)
