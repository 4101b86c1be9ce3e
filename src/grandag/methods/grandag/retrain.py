"""Maximum likelihood of the conditionals given the graph, with early stopping.

The graph is fixed, so there is no constraint: parameters start anew and those of the best held-out likelihood stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grandag.engine.network import Networks
from grandag.engine.training import NOT_FINITE, Objective, Pool, Trainer, mean_log_likelihood
from grandag.methods.grandag.train import NetworkConfig, Outcome
from grandag.progress import Listener, Progress

__all__ = ["RetrainConfig", "RetrainResult", "retrain"]


@dataclass(frozen=True)
class RetrainConfig:
    """The released program's values."""

    learning_rate: float = 1e-2
    batch_size: int = 64
    max_iterations: int = 100_000
    evaluate_every: int = 1000
    patience: int = 10


@dataclass(frozen=True)
class RetrainResult:
    """The conditionals of the graph."""

    networks: Networks
    held_out_log_likelihood: float  # mean per row
    outcome: Outcome
    n_iterations: int


def retrain(
    rows: np.ndarray | Pool,
    held_out: np.ndarray,
    adjacency: np.ndarray,
    network: NetworkConfig,
    config: RetrainConfig,
    rng: np.random.Generator,
    *,
    n_threads: int = 1,
    listener: Listener | None = None,
) -> RetrainResult:
    """Fit p_j(x_j | parents of j) for all j; stop after `patience` evaluations without improvement."""
    networks = network.initialise(adjacency, rng)
    trainer = Trainer(networks, rows, config.batch_size, rng, n_threads)
    held_out = np.ascontiguousarray(held_out, dtype=networks.parameters.dtype)
    objective = Objective(0.0, 0.0, config.learning_rate, 0.0, 0.0, is_constrained=False)
    best, best_value, since_best, done = networks.copy(), -np.inf, 0, 0
    outcome = Outcome.OUT_OF_ITERATIONS
    while done < config.max_iterations and since_best < config.patience:
        n = min(config.evaluate_every, config.max_iterations - done)
        ended, n_done, _, _ = trainer.run(objective, n)
        done += n_done
        value = float(mean_log_likelihood(networks, held_out, n_threads).sum())
        if listener is not None:
            listener(Progress("retrain", done, config.max_iterations, None, value, int(adjacency.sum())))
        if np.isfinite(value) and value > best_value:
            best, best_value, since_best = networks.copy(), value, 0
        else:
            since_best += 1
        if ended == NOT_FINITE or not np.isfinite(value):
            outcome = Outcome.NOT_FINITE
            break
        if since_best == config.patience:
            outcome = Outcome.CONVERGED
    return RetrainResult(best, best_value, outcome, done)
