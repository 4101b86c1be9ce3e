"""The outer loop: rules of the augmented Lagrangian, outcomes, what is recorded."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from grandag.engine.training import weighted_adjacency
from grandag.graph import is_acyclic
from grandag.methods.grandag.retrain import RetrainConfig, retrain
from grandag.methods.grandag.train import NetworkConfig, Outcome, TrainConfig, _Subproblem, train
from tests.conftest import nonlinear_chain

OPEN = ~np.eye(3, dtype=bool)


@pytest.fixture(scope="module")
def chain():
    values = nonlinear_chain(np.random.default_rng(1))
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    return values[:800], values[800:]


@pytest.fixture(scope="module")
def trained(chain):
    return train(*chain, OPEN, NetworkConfig(), TrainConfig(), np.random.default_rng(0), record_A_phi=True)


@pytest.mark.parametrize(
    ("objectives", "converged"),
    [
        ([3.0, 2.0, 1.0], False),  # still falling, by 0.02 per iteration
        ([3.0, 2.9999, 2.9995], True),  # falling by 5e-6 per iteration
        ([1.0, 2.0, 3.0], True),  # rising
        ([3.0, 1.0, 2.0], False),  # down and up: no decision
        ([1.0, 3.0, 2.0], False),  # up and down: no decision
        ([2.0, 2.0, 2.0], False),  # not strictly between
    ],
)
def test_subproblem_convergence(objectives, converged):
    subproblem = _Subproblem(TrainConfig())
    subproblem.held_out_objectives = [9.0, *objectives]
    assert subproblem.has_converged() is converged


def test_multipliers():
    subproblem = _Subproblem(TrainConfig())
    rates = []
    for h, (lagrange_multiplier, penalty) in zip(
        [0.5, 0.46, 0.1], [(0.5e-3, 1e-3), (0.5e-3 + 0.46e-3, 1e-2), (0.5e-3 + 0.46e-3 + 1e-3, 1e-2)], strict=True
    ):
        rates.append(subproblem.objective().learning_rate)
        subproblem.held_out_objectives.append(1.0)
        before = subproblem.multipliers.terms(h)
        subproblem.next(h)
        np.testing.assert_allclose(subproblem.multipliers.lagrange_multiplier, lagrange_multiplier)
        np.testing.assert_allclose(subproblem.multipliers.penalty, penalty)
        np.testing.assert_allclose(subproblem.held_out_objectives[-1], 1.0 + subproblem.multipliers.terms(h) - before)
    assert rates == [1e-2, 1e-3, 1e-3]


def test_converges_to_the_order_of_the_chain(trained):
    assert trained.outcome is Outcome.CONVERGED
    assert trained.trace[-1].h <= 1e-8
    mask = trained.networks.mask
    assert is_acyclic(mask)
    assert mask[0, 1]
    assert mask[1, 2]


def test_trace(trained):
    iterations = [row.iteration for row in trained.trace]
    assert iterations[:-1] == list(range(0, iterations[-2] + 1, 100))
    assert trained.n_iterations == iterations[-1] + 1
    assert trained.trace[0].n_edges == 6
    multipliers = [row.lagrange_multiplier for row in trained.trace]
    penalties = [row.penalty for row in trained.trace]
    assert multipliers == sorted(multipliers)
    assert penalties == sorted(penalties)
    for earlier, later in itertools.pairwise(trained.trace):
        if later.lagrange_multiplier != earlier.lagrange_multiplier:  # lambda grew by mu h of the evaluation before
            assert earlier.iteration % 200 == 0  # there is a decision at every other evaluation
            np.testing.assert_allclose(
                later.lagrange_multiplier - earlier.lagrange_multiplier, earlier.penalty * earlier.h, rtol=1e-6
            )
    assert len(trained.A_phi_trace) == len(trained.trace)
    np.testing.assert_array_equal(trained.A_phi_trace[-1], weighted_adjacency(trained.networks))
    np.testing.assert_array_equal(trained.A_phi, trained.A_phi_trace[-1])


def test_same_seed_same_bits(chain, trained):
    again = train(*chain, OPEN, NetworkConfig(), TrainConfig(), np.random.default_rng(0), n_threads=2)
    np.testing.assert_array_equal(again.networks.parameters, trained.networks.parameters)
    assert again.trace == trained.trace
    other = train(*chain, OPEN, NetworkConfig(), TrainConfig(max_iterations=50), np.random.default_rng(1))
    assert not np.array_equal(other.networks.parameters, trained.networks.parameters)


def test_mask_binds(chain):
    mask = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
    result = train(*chain, mask, NetworkConfig(), TrainConfig(max_iterations=500), np.random.default_rng(0))
    assert result.outcome is Outcome.CONVERGED
    assert result.n_iterations == 1
    assert not (result.networks.mask & ~mask).any()


def test_runs_out_of_iterations(chain):
    config = TrainConfig(max_iterations=250)
    result = train(*chain, OPEN, NetworkConfig(), config, np.random.default_rng(0))
    assert result.outcome is Outcome.OUT_OF_ITERATIONS
    assert result.n_iterations == 250


def test_not_finite(chain):
    config = TrainConfig(learning_rate=1e30)
    result = train(*chain, OPEN, NetworkConfig(), config, np.random.default_rng(0))
    assert result.outcome is Outcome.NOT_FINITE


def test_listener(chain):
    seen = []
    train(
        *chain, OPEN, NetworkConfig(), TrainConfig(max_iterations=301), np.random.default_rng(0), listener=seen.append
    )
    assert [progress.step for progress in seen] == [1, 101, 201, 301]
    assert all(progress.h is not None and progress.held_out is not None for progress in seen)


def test_exception_of_listener_ends_training(chain):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(*chain, OPEN, NetworkConfig(), TrainConfig(), np.random.default_rng(0), n_threads=2, listener=interrupt)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_retraining_finds_the_noise(chain, dtype):
    """The noise of X1 and X2 has standard deviation 0.2: the likelihood of the true graph is known."""
    adjacency = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    network = replace(NetworkConfig(), dtype=dtype)
    result = retrain(*chain, adjacency, network, RetrainConfig(), np.random.default_rng(0))
    np.testing.assert_array_equal(result.networks.mask, adjacency)
    raw = nonlinear_chain(np.random.default_rng(1))
    sigma = np.array([1, 0.2, 0.2]) / raw.std(axis=0)
    best = np.sum(-0.5 * np.log(2 * np.pi * np.e) - np.log(sigma))
    assert best - 0.45 < result.held_out_log_likelihood < best + 0.3
    assert result.n_iterations % 1000 == 0


def test_retraining_keeps_the_best_parameters(chain):
    adjacency = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    seen = []
    config = RetrainConfig(patience=3)
    result = retrain(*chain, adjacency, NetworkConfig(), config, np.random.default_rng(0), listener=seen.append)
    values = [progress.held_out for progress in seen]
    best = int(np.argmax(values))
    assert result.held_out_log_likelihood == values[best]
    assert len(values) == best + 1 + config.patience
