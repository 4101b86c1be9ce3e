"""Rows of several regimes: networks that count in some of them, and variables with several networks."""

import numpy as np
import pytest

from grandag.engine.network import OWNER, Division
from grandag.engine.training import Objective, Trainer, expected_jacobian, mean_log_likelihood, weighted_adjacency
from tests.engine.test_training import KINDS, D, check_gradient, dense_h, new_networks, rows_for

TARGETS = np.zeros((3, D), dtype=bool)  # observational, one target, two
TARGETS[1, 2] = TARGETS[2, [2, 3]] = True

PERFECT = Division(np.arange(D), ~TARGETS.T)
IMPERFECT = Division(np.array([*range(D), 2, 2, 3]), np.concatenate([~TARGETS.T, np.eye(3, dtype=bool)[[1, 2, 2]]]))
EVERYTHING = Division(np.arange(D), np.ones((D, 3), dtype=bool))
DIVISIONS = pytest.mark.parametrize("division", [PERFECT, IMPERFECT], ids=["perfect", "imperfect"])


def rows_with_regimes(density, rng, n):
    """Rows whose last column is the regime."""
    return np.column_stack([rows_for(density, rng, n), np.arange(n) % 3])


@DIVISIONS
@pytest.mark.parametrize("density", [*KINDS, "student-t"])
def test_gradient_of_augmented_lagrangian(rng, density, division):
    networks = new_networks(rng, density=density, division=division, activation="squareplus")
    check_gradient(networks, rows_with_regimes(density, rng, 23), sparsity=0.5)


def alone(networks, k):
    """The k-th network as that of its variable, on plain rows."""
    j = int(networks.sizes[k, OWNER])
    parts = [array.copy()[:D] for array in networks[1:]]
    for part, whole in zip(parts, networks[1:], strict=True):
        part[j] = whole[k]
    return networks._replace(**dict(zip(networks._fields[1:], parts, strict=True)))._replace(
        counts=np.ones((D, 3), dtype=bool)
    )


@DIVISIONS
@pytest.mark.parametrize("density", KINDS)
def test_likelihood_and_jacobian_are_those_of_the_rows_that_count(rng, density, division):
    networks, rows = new_networks(rng, density=density, division=division), rows_with_regimes(density, rng, 150)
    likelihood, jacobian = np.zeros(D), np.zeros((D, D))
    for k, j in enumerate(division.owner):
        own = rows[division.counts[k, rows[:, -1].astype(int)]]
        likelihood[j] += len(own) / len(rows) * mean_log_likelihood(alone(networks, k), own)[j]
        if density != "mixed":  # where shares of labels are those of all rows
            jacobian[:, j] += len(own) / len(rows) * expected_jacobian(alone(networks, k), own)[:, j]
    np.testing.assert_allclose(mean_log_likelihood(networks, rows), likelihood, rtol=1e-12)
    if density != "mixed":
        np.testing.assert_allclose(expected_jacobian(networks, rows), jacobian, rtol=1e-12)


def test_changes_of_labels_count_in_the_rows_that_count(rng):
    rows = rows_with_regimes("mixed", rng, 150)
    networks = new_networks(rng, density="mixed", division=PERFECT)
    found = expected_jacobian(networks, rows)
    is_free = ~TARGETS[rows[:, -1].astype(int), 2]
    frozen = rows.copy()
    frozen[~is_free, 2] = 1 - rows[~is_free, 2]  # values of variable 2 where it is a target say nothing about it
    np.testing.assert_array_equal(expected_jacobian(networks, frozen)[:, 2], found[:, 2])
    everywhere = expected_jacobian(networks._replace(counts=EVERYTHING.counts), rows)
    assert (everywhere[3, 2] > found[3, 2]) and (found[3, 2] > 0)


def test_values_of_a_target_do_not_reach_its_network(rng):
    """Whatever they are, also in training."""
    rows = rows_with_regimes("gaussian", rng, 90)
    changed = rows.copy()
    is_target = TARGETS[rows[:, -1].astype(int), 2]
    changed[is_target, 2] = 1e3 * rng.normal(size=int(is_target.sum()))
    mask = np.zeros((D, D), dtype=bool)
    mask[[0, 1], 2] = True  # nothing reads variable 2
    start = new_networks(rng, mask=mask, division=PERFECT)
    fits = []
    for some in (rows, changed):
        fits.append(start.copy())
        Trainer(fits[-1], some, 30, np.random.default_rng(1)).run(Objective(0, 0, 1e-2, 0, 0, False), 50)
    assert (fits[0].parameters[2] != start.parameters[2]).any()
    np.testing.assert_array_equal(fits[0].parameters, fits[1].parameters)


def test_regimes_without_targets_change_nothing(rng):
    """Up to rounding: sums are in another order."""
    rows = rows_with_regimes("gaussian", rng, 90)
    fits = []
    for division, some in ((None, rows[:, :-1]), (EVERYTHING, rows)):
        fits.append(new_networks(np.random.default_rng(3), division=division))
        trainer = Trainer(fits[-1], some, 30, np.random.default_rng(1))
        trainer.run(Objective(0.1, 1.0, 1e-3, 1e-3, 1e-8, True), 50)
    np.testing.assert_allclose(fits[0].parameters, fits[1].parameters, rtol=1e-9)
    np.testing.assert_array_equal(fits[0].mask, fits[1].mask)


def test_adjacency_is_the_sum_over_networks_of_a_variable(rng):
    networks = new_networks(rng, division=IMPERFECT)
    expected = sum(
        np.where(np.arange(D) == j, weighted_adjacency(alone(networks, k)), 0.0) for k, j in enumerate(IMPERFECT.owner)
    )
    np.testing.assert_allclose(weighted_adjacency(networks), expected, rtol=1e-12)
    trainer = Trainer(networks, rows_with_regimes("gaussian", rng, 40), 40, rng)
    _, _, h, _ = trainer.run(Objective(0, 0, 0.0, 0.0, 0, True), 1)
    np.testing.assert_allclose(h, dense_h(networks), rtol=1e-9)
    np.testing.assert_allclose(trainer.state.A, expected, rtol=1e-9)


def test_an_input_is_masked_when_all_networks_of_the_variable_are_below_epsilon(rng):
    networks = new_networks(rng, division=IMPERFECT, density="additive-gaussian")
    parts = [np.zeros((D, D)) for _ in range(4)]
    for k, j in enumerate(IMPERFECT.owner):
        place = int((IMPERFECT.owner[:k] == j).sum())
        parts[place][:, j] = weighted_adjacency(alone(networks, k))[:, j]
    largest = np.max(parts, axis=0)
    epsilon = float(np.median(largest[:, 2][largest[:, 2] > 0]))
    assert ((sum(parts) > epsilon) & (largest <= epsilon))[:, 2].any()  # the sum alone would keep more
    Trainer(networks, rows_with_regimes("gaussian", rng, 40), 40, rng).run(Objective(0, 1, 1e-4, epsilon, 0, True), 1)
    np.testing.assert_array_equal(networks.mask, largest > epsilon)
    for k, j in enumerate(IMPERFECT.owner):
        n = networks.n_inputs[k]
        np.testing.assert_array_equal(networks.inputs[k, 1 : n + 1], networks.inputs[j, 1 : n + 1])
        assert (n, networks.n_reads[k]) == (networks.n_inputs[j], networks.n_reads[j])


@DIVISIONS
@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_give_the_same_bits(rng, n_threads, division):
    rows = rows_with_regimes("gaussian", rng, 200).astype(np.float32)
    start = new_networks(rng, dtype="float32", n_units=10, division=division)
    results = []
    for n in (1, n_threads):
        networks = start.copy()
        trainer = Trainer(networks, rows, 64, np.random.default_rng(5), n)
        outcome = [trainer.run(Objective(0.1, 1.0, 1e-2, 2e-2, 1e-8, True), 50) for _ in range(4)]
        values = mean_log_likelihood(networks, rows, n), expected_jacobian(networks, rows, n)
        results.append((outcome, networks, values))
    (outcome, networks, values), (outcome_threads, networks_threads, values_threads) = results
    assert outcome == outcome_threads
    assert 0 < networks.n_edges < D * (D - 1)
    for own, other in zip((*networks[1:], *values), (*networks_threads[1:], *values_threads), strict=True):
        np.testing.assert_array_equal(own, other)
