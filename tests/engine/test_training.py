"""One iteration and its parts against finite differences and against plain numpy."""

import math
from itertools import pairwise

import numpy as np
import pytest

from grandag.engine.connectivity import add_connectivity_gradient
from grandag.engine.density import DENSITIES, log_density
from grandag.engine.network import (
    ACTIVATIONS,
    DENSITY,
    OWNER,
    Variable,
    constants_of,
    initialise,
    layer_size,
    shape_of,
    weights_of,
)
from grandag.engine.optimiser import rmsprop
from grandag.engine.random import draw_rows, new_state
from grandag.engine.training import (
    ACYCLIC,
    FINISHED,
    NOT_FINITE,
    Objective,
    Pool,
    Trainer,
    constraint,
    expected_jacobian,
    fill_adjacency,
    fill_column_slope,
    fill_likelihood_gradient,
    first_variable,
    load_batch,
    mean_log_likelihood,
    update_components,
    weighted_adjacency,
)

D = 5
KINDS = ("additive-gaussian", "gaussian", "mixed")
LABELS = 3


def mixed_variables():
    """A number, one with heavy tails, 0 or 1, a label and a count; the last three are read in other columns."""
    starts = {
        "additive-gaussian": (range(1), [0.0], [0.0]),
        "student-t": (range(1, 2), [0.1], [0.0, 1.0]),
        "bernoulli": (range(5, 6), [-0.3], []),
        "categorical": (range(6, 6 + LABELS), [0.2, -0.2, 0.0], []),
        "negative-binomial": (range(9, 10), [1.0], [-0.5]),
    }
    return [Variable(density, *start) for density, start in starts.items()]


def mixed_rows(rng, n):
    """Rows for `mixed_variables`."""
    code, label, count = rng.integers(2, size=n), rng.integers(LABELS, size=n), rng.integers(9, size=n)
    indicators = 2.0 * (label[:, None] == np.arange(LABELS)) - 0.5
    return np.column_stack([rng.normal(size=(n, 2)), code, label, count, 2 * code - 1, indicators, np.log1p(count)])


def rows_for(density, rng, n):
    return mixed_rows(rng, n) if density == "mixed" else rng.normal(size=(n, D))


def new_networks(rng, *, d=D, n_layers=2, n_units=4, activation="leaky-relu", density="gaussian", dtype="float64",
                 mask=None, path_scale=1.0, division=None):  # fmt: skip
    mask = ~np.eye(d, dtype=bool) if mask is None else mask
    networks = initialise(
        mask, n_layers=n_layers, n_units=n_units, activation=activation, dtype=dtype, rng=rng, path_scale=path_scale,
        density=mixed_variables() if density == "mixed" else density, division=division,
    )  # fmt: skip
    networks.parameters[:] *= 0.6  # moderate variances, so that differences are exact enough
    for j in range(len(networks.parameters)):  # biases and constants that are not zero
        for layer in range(n_layers + 1):
            weights = weights_of(shape_of(networks, j), networks.parameters[j], networks.n_reads[j], layer)
            weights[:, 0] = 0.1 * rng.normal(size=len(weights))
        constants = constants_of(shape_of(networks, j), networks.parameters[j])
        constants[:] = 0.1 * rng.normal(size=len(constants))
    return networks


def parameter_positions(networks, j):
    """Where the parameters in use of network j are (not the padding)."""
    used, shape, n_reads = (
        np.zeros(networks.parameters.shape[1], dtype=bool),
        shape_of(networks, j),
        networks.n_reads[j],
    )
    for layer in range(shape.n_layers + 1):
        n_in = n_reads if layer == 0 else layer_size(shape, layer)[1]
        weights_of(shape, used, n_reads, layer)[:, : n_in + 1] = True
    constants_of(shape, used)[:] = True
    return np.flatnonzero(used)


def dense_h(networks):
    """tr(e^A) - d by a long series."""
    A = weighted_adjacency(networks)
    power, total = np.eye(len(A)), 0.0
    for k in range(1, 60):
        power = power @ A / k
        total += np.trace(power)
    return total


def counted_h(networks):
    """Short cycles, and the spectral radius for long ones; all of A is one component."""
    A = weighted_adjacency(networks)
    radius = np.abs(np.linalg.eigvals(A)).max()
    long = sum(radius**k / math.factorial(k) for k in range(5, 40))
    return sum(np.trace(np.linalg.matrix_power(A, k)) / math.factorial(k) for k in (2, 3, 4)) + long


def lagrangian(networks, rows, lagrange_multiplier, penalty, by_cycles=False, sparsity=0.0):
    h = counted_h(networks) if by_cycles else dense_h(networks)
    sum_of_weights = sparsity / len(networks.mask) * weighted_adjacency(networks).sum()
    return -mean_log_likelihood(networks, rows).mean() + lagrange_multiplier * h + 0.5 * penalty * h**2 + sum_of_weights


def engine_gradient(networks, rows, lagrange_multiplier, penalty, by_cycles=False, sparsity=0.0):
    """The gradient as `iterate` puts it together, for a batch of all rows."""
    n, d = len(rows), len(networks.mask)
    trainer = Trainer(networks, rows, n, np.random.default_rng(0), by_cycles=by_cycles)
    state, worker = trainer.state, trainer.workers[0]
    for j in range(d):
        fill_adjacency(networks, state, j)
    update_components(networks, state, 0)
    for _ in range(200 if by_cycles else 1):  # until the eigenvectors are found
        h = constraint(networks, state, 0, 1)
    load_batch(trainer.rows, np.arange(n, dtype=np.int32), worker.workspace.batch)
    gradient, scale = np.zeros_like(networks.parameters), 1 / (n * d)
    for j, variable in enumerate(networks.sizes[:, OWNER]):
        worker.gradient[:] = 0  # so that what is never written can be told
        fill_likelihood_gradient(networks, worker.workspace, worker.gradient, n, j)
        factor = -(lagrange_multiplier + penalty * h) / scale
        fill_column_slope(networks, state, factor, -sparsity * n, variable, worker.column_slope)
        add_connectivity_gradient(networks, state.left[j], worker.column_slope, worker.right, worker.gradient, j)
        gradient[j] = -scale * worker.gradient
    return gradient


@pytest.mark.parametrize("density", KINDS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(("n_layers", "path_scale"), [(0, 1.0), (1, 1.0), (2, 1.0), (2, 2.5), (3, 1.0)])
def test_gradient_of_augmented_lagrangian(rng, density, activation, n_layers, path_scale):
    mask = (rng.random((D, D)) < 0.8) & ~np.eye(D, dtype=bool)
    networks = new_networks(
        rng, n_layers=n_layers, activation=activation, density=density, mask=mask, path_scale=path_scale
    )
    check_gradient(networks, rows_for(density, rng, 23))


def test_gradient_with_counted_cycles(rng):
    for density in ("gaussian", "mixed"):
        networks = new_networks(rng, density=density, path_scale=4.0)
        assert 0.01 < counted_h(networks) < 3
        check_gradient(networks, rows_for(density, rng, 23), by_cycles=True)


def test_gradient_with_a_penalty_on_weights(rng):
    mask = np.triu(np.ones((D, D), dtype=bool), 1)
    mask[1, 0] = True  # inputs on cycles and others
    for density in ("gaussian", "mixed"):
        check_gradient(new_networks(rng, density=density, mask=mask), rows_for(density, rng, 23), sparsity=2.0)


def check_gradient(networks, rows, by_cycles=False, sparsity=0.0):
    """The engine's against differences of the augmented Lagrangian."""
    gradient = engine_gradient(networks, rows, 0.7, 3.0, by_cycles, sparsity)
    step = 1e-6
    for j in range(len(gradient)):
        for k in parameter_positions(networks, j):
            value = networks.parameters[j, k]
            networks.parameters[j, k] = value + step
            above = lagrangian(networks, rows, 0.7, 3.0, by_cycles, sparsity)
            networks.parameters[j, k] = value - step
            below = lagrangian(networks, rows, 0.7, 3.0, by_cycles, sparsity)
            networks.parameters[j, k] = value
            np.testing.assert_allclose(gradient[j, k], (above - below) / (2 * step), rtol=2e-5, atol=2e-8)
        unused = np.setdiff1d(np.arange(gradient.shape[1]), parameter_positions(networks, j))
        assert (gradient[j, unused] == 0).all()


def test_float32_gradient_is_the_float64_one(rng):
    double = new_networks(rng, d=12, density="additive-gaussian", n_units=10)
    single = double._replace(parameters=double.parameters.astype(np.float32))
    rows = rng.normal(size=(64, 12))
    expected = engine_gradient(double, rows, 0.7, 3.0)
    np.testing.assert_allclose(engine_gradient(single, rows, 0.7, 3.0), expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("n_layers", "path_scale"), [(0, 1.0), (1, 1.0), (2, 1.0), (2, 16.0), (3, 1.0)])
@pytest.mark.parametrize("density", KINDS)
def test_weighted_adjacency_is_the_mean_over_paths(rng, n_layers, density, path_scale):
    """Or any multiple of it: with one output, 16 is their sum. Of a label, all indicators count."""
    networks = new_networks(rng, n_layers=n_layers, density=density, path_scale=path_scale)
    A = weighted_adjacency(networks)
    owner = {**{j: j for j in range(D)}, 5: 2, 6: 3, 7: 3, 8: 3, 9: 4}
    for j in range(D):
        shape, n_reads = shape_of(networks, j), networks.n_reads[j]
        product = np.eye(shape.n_outputs)
        for layer in range(n_layers, -1, -1):
            weights = np.abs(weights_of(shape, networks.parameters[j], n_reads, layer))
            n_in = layer_size(shape, layer)[1] if layer else n_reads
            product = product @ weights[:, 1 : n_in + 1]
        expected = np.zeros(D)
        for column, paths in zip(networks.reads[j, 1 : n_reads + 1], product.sum(axis=0), strict=True):
            expected[owner[column]] += path_scale * paths / (shape.n_outputs * 4**n_layers)
        np.testing.assert_allclose(A[:, j], expected, rtol=1e-12)


def predict(networks, j, x):
    """theta_(j) for rows x, in plain numpy."""
    units = x[:, networks.reads[j, 1 : networks.n_reads[j] + 1]]
    for layer in range(networks.shape.n_layers + 1):
        weights = weights_of(shape_of(networks, j), networks.parameters[j], networks.n_reads[j], layer)
        units = units @ weights[:, 1 : units.shape[1] + 1].T + weights[:, 0]
        if layer < networks.shape.n_layers:
            if networks.shape.activation == ACTIVATIONS["leaky-relu"]:
                units = np.where(units > 0, units, 0.01 * units)
            else:
                units = (units + np.sqrt(units**2 + 4)) / 2
    return units


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("n_rows", [1, 64, 150])
def test_mean_log_likelihood(rng, activation, n_rows):
    networks = new_networks(rng, activation=activation, density="gaussian")
    rows = rng.normal(size=(n_rows, D))
    expected = []
    for j in range(D):
        mean, log_sigma = predict(networks, j, rows).T
        expected.append(
            np.mean(-0.5 * ((rows[:, j] - mean) / np.exp(log_sigma)) ** 2 - log_sigma - 0.5 * np.log(2 * np.pi))
        )
    np.testing.assert_allclose(mean_log_likelihood(networks, rows), expected, rtol=1e-12)
    np.testing.assert_array_equal(mean_log_likelihood(networks, rows, 2), mean_log_likelihood(networks, rows))


def log_densities(networks, j, x, inputs):
    """log p_j of the values x of all variables, given columns that the network reads."""
    law = next(law for law in DENSITIES.values() if law.code == networks.sizes[j, DENSITY])
    log_p = np.zeros(len(x))
    theta = np.ascontiguousarray(predict(networks, j, inputs).T)
    log_density(law.code, np.ascontiguousarray(x[:, j]), theta, networks.constants(j), len(x), log_p)
    return log_p


@pytest.mark.parametrize("density", KINDS)
def test_expected_jacobian(rng, density):
    """Finite differences through the inputs, the own argument of x_j held fixed; labels are exchanged."""
    mask = (rng.random((D, D)) < 0.7) & ~np.eye(D, dtype=bool)
    mask[3, [0, 1, 2, 4]] = True
    networks = new_networks(rng, activation="squareplus", density=density, mask=mask)
    rows = rows_for(density, rng, 80)
    step, expected = 1e-6, np.zeros((D, D))
    column_of = [0, 1, 5, None, 9] if density == "mixed" else range(D)
    for i, column in enumerate(column_of):
        for j in range(D):
            if column is None:
                expected[i, j] = mean_change_of_labels(networks, rows, j) if i != j else 0
                continue
            shift = np.eye(rows.shape[1])[column] * step
            above, below = (log_densities(networks, j, rows, rows + sign * shift) for sign in (1, -1))
            expected[i, j] = np.abs((above - below) / (2 * step)).mean()
    np.testing.assert_allclose(expected_jacobian(networks, rows), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(expected_jacobian(networks, rows, 2), expected_jacobian(networks, rows))


def mean_change_of_labels(networks, rows, j):
    """E |log p_j(x_j | label of another row) - log p_j(x_j | own label)| over all pairs of rows."""
    own, total = log_densities(networks, j, rows, rows), 0.0
    for other in rows:
        exchanged = rows.copy()
        exchanged[:, 6 : 6 + LABELS] = other[6 : 6 + LABELS]
        total += np.abs(log_densities(networks, j, rows, exchanged) - own).mean()
    return total / len(rows)


def test_a_label_that_no_row_has_changes_nothing(rng):
    """Nor does a column of one label only."""
    networks = new_networks(rng, density="mixed")
    rows = mixed_rows(rng, 80)
    two = rows[rows[:, 3] < 2]
    expected = [mean_change_of_labels(networks, two, j) for j in (0, 1, 2, 4)]
    np.testing.assert_allclose(expected_jacobian(networks, two)[3, [0, 1, 2, 4]], expected, rtol=1e-9)
    assert (expected_jacobian(networks, rows[rows[:, 3] == 1])[3] == 0).all()


def permuted(networks, order, labels):
    """The same networks of variables in another order, and with other numbers for the labels of variable 3."""
    variables = mixed_variables()
    columns, start = {}, D
    for place, old in enumerate(order):
        n = len(variables[old].columns)
        columns[old] = range(place, place + 1) if variables[old].columns.stop <= D else range(start, start + n)
        start += 0 if variables[old].columns.stop <= D else n
    moved = [variables[old]._replace(columns=columns[old]) for old in order]
    new = initialise(
        networks.mask[np.ix_(order, order)], n_layers=2, n_units=4, activation="leaky-relu", density=moved,
        dtype="float64", rng=np.random.default_rng(0),
    )  # fmt: skip
    new_column = {}
    for old, variable in enumerate(variables):
        for k, column in enumerate(variable.columns):
            new_column[column] = columns[old][labels[k] if old == 3 else k]
    for j, old in enumerate(order):
        new.parameters[j] = networks.parameters[old]
        shape, n_reads = shape_of(new, j), new.n_reads[j]
        first_old = weights_of(shape, networks.parameters[old], n_reads, 0)
        first_new = weights_of(shape, new.parameters[j], n_reads, 0)
        place = {column: p + 1 for p, column in enumerate(new.reads[j, 1 : n_reads + 1])}
        for p, column in enumerate(networks.reads[old, 1 : n_reads + 1]):
            first_new[:, place[new_column[column]]] = first_old[:, p + 1]
        if old == 3:
            last_old, last_new = (
                weights_of(shape, a, n_reads, 2) for a in (networks.parameters[old], new.parameters[j])
            )
            last_new[labels] = last_old
    return new, new_column


def test_order_of_variables_and_labels_does_not_matter(rng):
    mask = (rng.random((D, D)) < 0.8) & ~np.eye(D, dtype=bool)
    networks, rows = new_networks(rng, density="mixed", mask=mask), mixed_rows(rng, 60)
    order, labels = np.array([3, 0, 4, 2, 1]), np.array([2, 0, 1])
    moved, new_column = permuted(networks, order, labels)
    moved_rows = np.empty_like(rows)
    moved_rows[:, :D] = rows[:, order]
    moved_rows[:, list(new_column.values())] = rows[:, list(new_column)]
    moved_rows[:, 0] = labels[rows[:, 3].astype(int)]
    np.testing.assert_allclose(
        weighted_adjacency(moved), weighted_adjacency(networks)[np.ix_(order, order)], rtol=1e-12
    )
    np.testing.assert_allclose(mean_log_likelihood(moved, moved_rows), mean_log_likelihood(networks, rows)[order])
    jacobian = expected_jacobian(networks, rows)[np.ix_(order, order)]
    np.testing.assert_allclose(expected_jacobian(moved, moved_rows), jacobian, rtol=1e-9)


def test_rmsprop(rng):
    weights, gradient = rng.normal(size=(2, 16))
    mean_square = np.zeros(16)
    expected, v = weights.copy(), np.zeros(16)
    for _ in range(3):
        rmsprop(weights, gradient, 2.0, mean_square, 1e-2)
        v = 0.99 * v + 0.01 * (2 * gradient) ** 2
        expected -= 1e-2 * 2 * gradient / (np.sqrt(v) + 1e-8)
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


def test_rmsprop_survives_huge_gradients():
    weights, gradient = np.ones(16, np.float32), np.full(16, -1e30, np.float32)
    mean_square = np.zeros(16, np.float32)
    rmsprop(weights, gradient, 1.0, mean_square, 1e-2)
    assert np.isfinite(mean_square).all()
    np.testing.assert_allclose(weights, 1 + 1e-2 / np.sqrt(0.01), rtol=1e-5)


def test_iterations_are_rmsprop_steps_on_the_gradient(rng):
    """Three iterations over a batch of all rows, step by step outside the engine."""
    networks = new_networks(rng, density="additive-gaussian", n_layers=1)
    reference, rows = networks.copy(), rng.normal(size=(32, D))
    v = np.zeros_like(reference.parameters)
    for _ in range(3):
        gradient = engine_gradient(reference, rows, 0.5, 2.0)
        v = 0.99 * v + 0.01 * gradient**2
        reference.parameters[:] -= 1e-2 * gradient / (np.sqrt(v) + 1e-8)
    trainer = Trainer(networks, rows, 32, rng)
    ended, n_done, h, _ = trainer.run(Objective(0.5, 2.0, 1e-2, 0.0, 0.0, is_constrained=True), 3)
    assert (ended, n_done) == (FINISHED, 3)
    assert h > 0
    np.testing.assert_allclose(networks.parameters, reference.parameters, rtol=1e-8, atol=1e-10)


def test_a_label_is_masked_as_a_whole(rng):
    """All indicators go at once, when their sum is small."""
    rows, start = mixed_rows(rng, 50), new_networks(rng, density="mixed")
    for j in (0, 1, 2, 4):
        shape = shape_of(start, j)
        first = weights_of(shape, start.parameters[j], start.n_reads[j], 0)
        of_label = np.flatnonzero(np.isin(start.reads[j, 1 : start.n_reads[j] + 1], [6, 7, 8]))
        first[:, 1 + of_label] *= 1e-6
    A = weighted_adjacency(start)
    epsilon = 2 * A[3].max()
    assert A[[0, 1, 2, 4]][A[[0, 1, 2, 4]] > 0].min() > epsilon
    networks = start.copy()
    Trainer(networks, rows, 50, rng).run(Objective(0, 1, 1e-3, epsilon, 0, True), 2)
    expected = ~np.eye(D, dtype=bool)
    expected[3] = False
    np.testing.assert_array_equal(networks.mask, expected)
    for j in (0, 1, 2, 4):
        n = networks.n_reads[j]
        assert n == 3
        assert not np.isin(networks.reads[j, 1 : n + 1], [6, 7, 8]).any()
        assert (networks.reads[j, n + 1 :] == 11).all()
        kept = np.flatnonzero(~np.isin(start.reads[j, 1 : start.n_reads[j] + 1], [6, 7, 8]))
        old = weights_of(shape_of(start, j), start.parameters[j], start.n_reads[j], 0)[:, 1 + kept]
        new = weights_of(shape_of(start, j), networks.parameters[j], n, 0)
        np.testing.assert_allclose(new[:, 1 : n + 1], old, atol=0.021)
        assert (new[:, n + 1 :] == 0).all()
    assert networks.n_reads[3] == 4


def test_inputs_are_masked_by_the_adjacency_before_the_step(rng):
    networks = new_networks(rng, d=20, density="additive-gaussian")
    before, A = networks.copy(), weighted_adjacency(networks)
    epsilon = float(np.median(A[A > 0]))
    Trainer(networks, rng.normal(size=(50, 20)), 50, rng).run(Objective(0, 1, 1e-3, epsilon, 0, True), 1)
    np.testing.assert_array_equal(networks.mask, epsilon < A)
    # The columns that stay belong to the same inputs as before: one small step changes no weight by much.
    for j in range(20):
        kept = np.isin(before.inputs[j, 1 : before.n_inputs[j] + 1], networks.inputs[j, 1 : networks.n_inputs[j] + 1])
        old = weights_of(before.shape, before.parameters[j], before.n_inputs[j], 0)[:, 1 : before.n_inputs[j] + 1]
        new = weights_of(networks.shape, networks.parameters[j], networks.n_inputs[j], 0)
        np.testing.assert_allclose(new[:, 1 : networks.n_inputs[j] + 1], old[:, kept], atol=0.011)
        assert (new[:, networks.n_inputs[j] + 1 :] == 0).all()
        assert (np.diff(networks.inputs[j, 1 : networks.n_inputs[j] + 1]) > 0).all()


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_give_the_same_bits_for_mixed_networks(rng, n_threads):
    """Also in the part of the parameters that a network with few outputs does not use."""
    rows, start = (
        mixed_rows(rng, 200).astype(np.float32),
        new_networks(rng, density="mixed", dtype="float32", n_units=10),
    )
    results = []
    for n in (1, n_threads):
        networks = start.copy()
        trainer = Trainer(networks, rows, 64, np.random.default_rng(5), n)
        outcome = [trainer.run(Objective(0.1, 1.0, 1e-2, 2e-2, 1e-8, is_constrained=True), 50) for _ in range(4)]
        results.append((outcome, networks))
    (outcome, networks), (outcome_threads, networks_threads) = results
    assert outcome == outcome_threads
    for own, other in zip(networks[1:], networks_threads[1:], strict=True):
        np.testing.assert_array_equal(own, other)
    for j in range(D):
        unused = np.setdiff1d(np.arange(networks.parameters.shape[1]), parameter_positions(start, j))
        assert (networks.parameters[j, unused] == 0).all()


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_give_the_same_bits(rng, n_threads):
    rows = rng.normal(size=(200, 24)).astype(np.float32)
    start = new_networks(rng, d=24, density="additive-gaussian", dtype="float32", n_units=10)
    results = []
    for n in (1, n_threads):
        networks = start.copy()
        trainer = Trainer(networks, rows, 64, np.random.default_rng(5), n)
        objective = Objective(0.1, 1.0, 1e-2, 2e-2, 1e-8, is_constrained=True)
        outcome = [trainer.run(objective, 50) for _ in range(4)]
        results.append((outcome, networks.parameters.copy(), networks.mask))
    (outcome, parameters, mask), (outcome_threads, parameters_threads, mask_threads) = results
    assert outcome == outcome_threads
    assert 0 < mask.sum() < 24 * 23
    np.testing.assert_array_equal(mask, mask_threads)
    np.testing.assert_array_equal(parameters, parameters_threads)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_have_networks_of_about_the_same_work(rng, n_threads):
    networks = new_networks(rng, d=24, mask=np.triu(np.ones((24, 24), dtype=bool), 1))  # 0, 1, 2, ... open inputs
    firsts = [first_variable(networks, thread, n_threads) for thread in range(n_threads + 1)]
    work = networks.n_inputs + networks.shape.n_units
    shares = [work[first:last].sum() for first, last in pairwise(firsts)]
    assert (firsts[0], firsts[-1]) == (0, 24)
    assert np.abs(np.array(shares) - work.sum() / n_threads).max() <= work.max()


def test_stops_when_acyclic(rng):
    networks = new_networks(rng, mask=np.triu(np.ones((D, D), dtype=bool), 1))
    trainer = Trainer(networks, rng.normal(size=(40, D)), 20, rng)
    ended, n_done, h, _ = trainer.run(Objective(0, 1, 1e-3, 0, 1e-8, is_constrained=True), 10)
    assert (ended, n_done, h) == (ACYCLIC, 1, 0)


def test_stops_when_not_finite(rng):
    rows = rng.normal(size=(40, D))
    rows[:, 2] = 1e300
    trainer = Trainer(new_networks(rng), rows, 20, rng)
    ended, n_done, _, _ = trainer.run(Objective(0, 1, 1e-3, 0, 1e-8, is_constrained=True), 10)
    assert (ended, n_done) == (NOT_FINITE, 1)


def test_fixed_mask_without_constraint(rng):
    networks = new_networks(rng)
    mask = networks.mask
    trainer = Trainer(networks, rng.normal(size=(40, D)), 20, rng)
    ended, n_done, h, _ = trainer.run(Objective(0, 0, 1e-2, 1e9, 0, is_constrained=False), 10)
    assert (ended, n_done, h) == (FINISHED, 10, 0)
    np.testing.assert_array_equal(networks.mask, mask)


def test_initial_weights(rng):
    """Xavier uniform: variance bound^2 / 3 with bound^2 = 2 / (1 + 0.01^2) * 6 / (fan-in + fan-out)."""
    d = 200
    networks = initialise(
        ~np.eye(d, dtype=bool), n_layers=2, n_units=10, activation="leaky-relu", density="additive-gaussian",
        dtype="float64", rng=rng,
    )  # fmt: skip
    for layer, (fan_in, fan_out) in enumerate([(d, 10), (10, 10), (10, 1)]):
        n_in = d - 1 if layer == 0 else 10
        weights = np.array([weights_of(networks.shape, networks.parameters[j], d - 1, layer) for j in range(d)])
        drawn, bound = weights[:, :, 1 : n_in + 1], np.sqrt(2 / 1.0001 * 6 / (fan_in + fan_out))
        assert np.abs(drawn).max() <= bound
        np.testing.assert_allclose(drawn.var(), bound**2 / 3, rtol=0.05)
        assert (weights[:, :, 0] == 0).all()
    assert (networks.parameters[:, -1] == 0).all()


def test_batches_are_uniform_without_replacement(rng):
    state, permutation = new_state(rng), np.arange(50, dtype=np.int32)
    counts, pairs, n_draws = np.zeros(50), 0, 20_000
    for _ in range(n_draws):
        draw_rows(state, permutation, 10)
        drawn = permutation[:10]
        assert len(set(drawn.tolist())) == 10
        counts[drawn] += 1
        pairs += 0 in drawn and 1 in drawn
    np.testing.assert_allclose(counts / n_draws, 0.2, atol=5 * np.sqrt(0.2 * 0.8 / n_draws))
    np.testing.assert_allclose(pairs / n_draws, 10 / 50 * 9 / 49, atol=5 * np.sqrt(0.037 / n_draws))
    assert sorted(permutation.tolist()) == list(range(50))


def test_the_rows_of_a_pool_are_replaced_when_as_many_have_been_drawn(rng):
    """400 rows are 20 batches of 20: in 50 iterations they are replaced twice, however the iterations are cut."""
    objective = Objective(0.0, 0.0, 1e-2, 0.0, 0.0, is_constrained=False)
    values = rng.normal(size=(3, 400, D))

    def trained(*lengths):
        parts = iter(values[1:])
        networks = new_networks(np.random.default_rng(1))
        trainer = Trainer(networks, Pool(values[0], lambda: next(parts)), 20, np.random.default_rng(2))
        for length in lengths:
            trainer.run(objective, length)
        return networks.parameters, len(list(parts)), trainer.rows

    whole, n_left, rows = trained(50)
    assert n_left == 0
    np.testing.assert_array_equal(rows, values[2])
    np.testing.assert_array_equal(trained(7, 13, 30)[0], whole)
    assert trained(20)[1] == 2
    alone = Trainer(networks := new_networks(np.random.default_rng(1)), values[0], 20, np.random.default_rng(2))
    alone.run(objective, 20)
    np.testing.assert_array_equal(trained(20)[0], networks.parameters)
