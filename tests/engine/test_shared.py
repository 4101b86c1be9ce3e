"""One network for all variables: its gradient against differences, its steps against plain numpy."""

import numpy as np
import pytest

from grandag.engine.shared import SharedTrainer, new_shared, part_of_gates, spread, sum_of_groups
from grandag.engine.training import FINISHED, Objective, Trainer, weighted_adjacency
from tests.engine.test_training import KINDS, D, engine_gradient, lagrangian, new_networks, rows_for

OPEN = ~np.eye(D, dtype=bool)


def new_pair(rng, density="gaussian", n_layers=2, mask=OPEN, dtype="float64"):
    """Networks and what they share, all weights and gates of moderate sizes."""
    networks = new_networks(rng, n_layers=n_layers, density=density, mask=mask, dtype=dtype)
    shared = new_shared(networks, rng)
    shared.first[:, : networks.shape.n_columns + 1] *= 0.6
    shared.hidden[:] *= 0.6
    shared.first[:, networks.shape.n_columns] = rng.normal(0, 0.3, len(shared.first))
    shared.hidden[:, :, 0] = rng.normal(0, 0.3, shared.hidden.shape[:2])
    shared.gates[:, :D] *= rng.uniform(0.5, 1.5, (D, D)) * rng.choice([-1, 1], (D, D))
    spread_all(networks, shared)
    return networks, shared


def spread_all(networks, shared):
    for j in range(D):
        spread(networks, shared, j)


def shared_gradient(networks, shared, rows):
    """As `iterate_shared` puts it together from the gradients of the groups."""
    shared.gradients[:] = engine_gradient(networks, rows, 0.7, 3.0)
    for j in range(D):
        part_of_gates(networks, shared, j)
    for unit in range(networks.shape.n_units):
        sum_of_groups(networks, shared, unit)
    return {"first": shared.first_gradient, "hidden": shared.hidden_gradient, "gates": shared.gates_gradient}


@pytest.mark.parametrize("density", KINDS)
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_gradient(rng, density, n_layers):
    mask = (rng.random((D, D)) < 0.8) & OPEN
    networks, shared = new_pair(rng, density, n_layers, mask)
    rows, step = rows_for(density, rng, 23), 1e-6
    for name, gradient in shared_gradient(networks, shared, rows).items():
        weights = getattr(shared, name)
        assert np.count_nonzero(gradient) >= 0.3 * min(weights.size, np.count_nonzero(weights))
        for position in np.ndindex(weights.shape):
            value = weights[position]
            if value == 0:  # padding, or the gate of an input that is masked
                assert gradient[position] == 0
                continue
            objectives = []
            for moved in (value + step, value - step):
                weights[position] = moved
                spread_all(networks, shared)
                objectives.append(lagrangian(networks, rows, 0.7, 3.0))
            weights[position] = value
            difference = (objectives[0] - objectives[1]) / (2 * step)
            np.testing.assert_allclose(gradient[position], difference, rtol=2e-5, atol=2e-8)


def test_adjacency_is_the_sum_over_paths_through_gates(rng):
    networks, shared = new_pair(rng)
    head = [np.abs(networks.layers(j)[-1][:, 1:]).sum(axis=0) for j in range(D)]
    hidden, first = np.abs(shared.hidden[0, :, 1:5]), np.abs(shared.first[:, :D])
    expected = np.array([head[j] @ hidden @ first * np.abs(shared.gates[j, :D]) for j in range(D)]).T / (2 * 4**2)
    np.testing.assert_allclose(weighted_adjacency(networks), expected * OPEN, rtol=1e-12)


def test_no_output_reads_its_own_variable(rng):
    networks, _ = new_pair(rng, "mixed")
    rows = rows_for("mixed", rng, 7)
    for j in range(D):
        assert j not in networks.inputs[j, 1 : networks.n_inputs[j] + 1]
        assert j not in networks.reads[j, 1 : networks.n_reads[j] + 1]
    assert rows.shape[1] == networks.shape.n_columns


def test_steps_are_rmsprop_on_what_is_shared(rng):
    """Three iterations with batches of all rows, against the gradients above in plain numpy."""
    networks, rows = new_networks(rng, density="gaussian", mask=OPEN), rows_for("gaussian", rng, 16)
    trainer = SharedTrainer(networks, rows, len(rows), np.random.default_rng(0))
    ours, shared = networks.copy(), new_shared(networks.copy(), np.random.default_rng(0))
    squares = {name: np.zeros_like(getattr(shared, name)) for name in ("first", "hidden", "gates")}
    head = np.zeros_like(ours.parameters, dtype=bool)
    head[:, -32:] = True  # two outputs that read four units each, padded to 16
    square = np.zeros_like(ours.parameters)
    for _ in range(3):
        gradients = shared_gradient(ours, shared, rows)
        square = 0.99 * square + 0.01 * shared.gradients**2
        ours.parameters[:] -= np.where(head, 1e-2 * shared.gradients / (np.sqrt(square) + 1e-8), 0)
        for name, gradient in gradients.items():
            squares[name] = 0.99 * squares[name] + 0.01 * gradient**2
            getattr(shared, name)[:] -= 1e-2 * gradient / (np.sqrt(squares[name]) + 1e-8)
        spread_all(ours, shared)
    outcome, *_ = trainer.run(Objective(0.7, 3.0, 1e-2, 0.0, 0.0, True), 3)
    assert outcome == FINISHED
    np.testing.assert_allclose(trainer.shared.gates, shared.gates, rtol=1e-9)
    np.testing.assert_allclose(networks.parameters, ours.parameters, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_give_the_same_bits(rng, n_threads):
    results = []
    rows = rows_for("mixed", rng, 200)
    for threads in (1, n_threads):
        networks, _ = new_pair(np.random.default_rng(3), "mixed", dtype="float32")
        trainer = SharedTrainer(networks, rows, 16, np.random.default_rng(0), threads)
        trainer.run(Objective(0.1, 1.0, 1e-2, 0.02, 0.0, True), 30)
        results.append((networks, trainer.shared))
    (one, of_one), (several, of_several) = results
    assert (one.n_inputs < D - 1).any()
    np.testing.assert_array_equal(one.parameters, several.parameters)
    np.testing.assert_array_equal(of_one.gates, of_several.gates)


def test_required_inputs_stay(rng):
    networks, _ = new_pair(rng, dtype="float32")
    rows = rows_for("gaussian", rng, 100)
    n_kept = np.array([1, 0, 0, 0, 0])
    trainer = SharedTrainer(networks, rows, 16, np.random.default_rng(0), n_kept=n_kept)
    trainer.run(Objective(0.0, 0.0, 1e-2, 1e3, -1.0, True), 5)
    assert networks.n_inputs.tolist() == [1, 0, 0, 0, 0]


def test_restarted_optimiser(rng):
    networks, rows = new_networks(rng, mask=OPEN), rows_for("gaussian", rng, 16)
    trainer = SharedTrainer(networks, rows, 16, np.random.default_rng(0))
    trainer.run(Objective(0.7, 3.0, 1e-2, 0.0, 0.0, True), 2)
    squares = trainer.shared.first_square, trainer.shared.hidden_square, trainer.shared.gates_square
    assert all(square.any() for square in squares)
    trainer.restart_optimiser()
    assert not any(square.any() for square in (*squares, trainer.state.mean_square))
    assert isinstance(trainer, Trainer)
