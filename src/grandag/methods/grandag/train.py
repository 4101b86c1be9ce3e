"""The augmented Lagrangian method over networks and graph (section 3.3 and appendix A.1 of the paper).

    max_phi  E sum_j log p_j(X_j | X_(-j); phi_(j))    subject to    h(phi) = tr(e^(A_phi)) - d = 0

(for many variables with an h that counts cycles, `engine/cycles.py`) by a sequence of subproblems (t = 0, 1, ...), each
approximately solved by RMSprop until the held-out objective stops improving:

    min_phi  - 1/d E sum_j log p_j + lambda_t h + mu_t / 2 h^2 + alpha / d sum_ij A_ij
    lambda_(t+1) = lambda_t + mu_t h;      mu_(t+1) = 10 mu_t  if  h > 0.9 * (h at the end of subproblem t - 1)

The last term is ours, for many variables: without it networks of many inputs learn the rows by heart. With it nothing
is masked in the first subproblem: networks that have learned nothing yet need no input.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grandag.engine.network import Division, Networks, Variable, initialise
from grandag.engine.training import (
    ACYCLIC,
    NOT_FINITE,
    Objective,
    Pool,
    Trainer,
    mean_log_likelihood,
    weighted_adjacency,
)
from grandag.methods.stages.augmented_lagrangian import Multipliers
from grandag.progress import Listener, Progress

__all__ = ["NetworkConfig", "Outcome", "Trace", "TrainConfig", "TrainResult", "train"]


@dataclass(frozen=True)
class NetworkConfig:
    """The conditional of each variable (appendix A.6: two hidden layers of 10 leaky ReLUs)."""

    n_layers: int = 2
    n_units: int = 10
    activation: str = "leaky-relu"
    density: str | Sequence[Variable] = "additive-gaussian"  # one for all, or variables with one of their own each
    dtype: str = "float32"
    path_scale: float = 1.0  # the released program; section 3.1 has the number of paths
    division: Division | None = None  # of rows of several regimes; None: there is one

    def initialise(self, mask: np.ndarray, rng: np.random.Generator, first: np.ndarray | None = None) -> Networks:
        """Fresh networks that may use the inputs of the mask, some of them listed first."""
        return initialise(
            mask,
            first=first,
            n_layers=self.n_layers,
            n_units=self.n_units,
            activation=self.activation,
            density=self.density,
            dtype=self.dtype,
            rng=rng,
            path_scale=self.path_scale,
            division=self.division,
        )


@dataclass(frozen=True)
class TrainConfig:
    """How the constrained problem is solved. Values are the released program's unless a comment says otherwise."""

    learning_rate: float = 1e-2  # appendix A.6, first subproblem
    later_learning_rate: float = 1e-3  # ours; appendix A.6 has 1e-4
    batch_size: int = 64  # appendix A.6
    by_cycles: bool = False  # ours, for many variables; section 3.2 has tr(e^A) - d
    mask_threshold: float = 1e-4  # epsilon, section 3.4
    sparsity: float = 0.0  # alpha, ours
    tolerance: float = 1e-8  # on h, appendix A.1
    max_iterations: int = 100_000
    evaluate_every: int = 100
    subproblem_tolerance: float = 1e-4  # change of the held-out objective per iteration
    initial_penalty: float = 1e-3  # mu_0, appendix A.1
    penalty_growth: float = 10.0  # eta, appendix A.1
    sufficient_decrease: float = 0.9  # gamma, appendix A.1


class Outcome(enum.Enum):
    """How training ended."""

    CONVERGED = "converged"
    OUT_OF_ITERATIONS = "out of iterations"
    NOT_FINITE = "not finite"


class Trace(NamedTuple):
    """One row per evaluation."""

    iteration: int
    h: float
    lagrange_multiplier: float
    penalty: float
    train_log_likelihood: float  # mean per row over the batches since the last evaluation
    held_out_log_likelihood: float  # mean per row
    n_edges: int  # inputs still allowed


@dataclass(frozen=True)
class TrainResult:
    """Networks whose graph is acyclic up to the tolerance, unless the outcome says otherwise."""

    networks: Networks
    A_phi: np.ndarray
    outcome: Outcome
    n_iterations: int
    n_subproblems: int
    trace: list[Trace]
    A_phi_trace: list[np.ndarray]  # one per evaluation, if asked for


class _Subproblem:
    """State of the outer loop: multipliers, held-out objectives, and the constraint at the end of subproblems."""

    def __init__(self, config: TrainConfig) -> None:
        self.config = config
        self.multipliers = Multipliers(penalty=config.initial_penalty)
        self.held_out_objectives: list[float] = []
        self.final_h: list[float] = []

    def objective(self) -> Objective:
        config, is_first = self.config, not self.final_h
        rate = config.learning_rate if is_first else config.later_learning_rate
        epsilon = 0.0 if is_first and config.sparsity > 0 else config.mask_threshold
        lagrange_multiplier, penalty = self.multipliers.lagrange_multiplier, self.multipliers.penalty
        return Objective(lagrange_multiplier, penalty, rate, epsilon, config.tolerance, True, config.sparsity)

    def has_converged(self) -> bool:
        """Has the held-out objective levelled off, or begun to rise, over the last two windows?

        Where it went up and down within them there is no decision.
        """
        start, middle, end = self.held_out_objectives[-3:]
        if not min(start, end) < middle < max(start, end):
            return False
        slope = (end - start) / self.config.evaluate_every
        return abs(slope) < self.config.subproblem_tolerance or slope > 0

    def next(self, h: float) -> None:
        """Update the multipliers; the last held-out objective is expressed in the new ones."""
        before = self.multipliers.terms(h)
        self.multipliers.raise_lagrange_multiplier(h)
        if self.final_h and h > self.config.sufficient_decrease * self.final_h[-1]:
            self.multipliers.penalty *= self.config.penalty_growth
        self.final_h.append(h)
        self.held_out_objectives[-1] += self.multipliers.terms(h) - before


def train(
    rows: np.ndarray | Pool,
    held_out: np.ndarray,
    mask: np.ndarray,
    network: NetworkConfig,
    config: TrainConfig,
    rng: np.random.Generator,
    *,
    required: np.ndarray | None = None,
    n_threads: int = 1,
    record_A_phi: bool = False,
    listener: Listener | None = None,
) -> TrainResult:
    """Learn networks on `rows` (n, d) with inputs within `mask` (mask[i, j]: may i be an input of j?).

    Inputs that are `required`, a part of the mask, are never masked.
    """
    d = len(mask)
    networks = network.initialise(mask, rng, first=required)
    n_kept = None if required is None else required.sum(axis=0)
    trainer = Trainer(networks, rows, config.batch_size, rng, n_threads, n_kept=n_kept, by_cycles=config.by_cycles)
    held_out = np.ascontiguousarray(held_out, dtype=networks.parameters.dtype)
    subproblem = _Subproblem(config)
    trace: list[Trace] = []
    A_phi_trace: list[np.ndarray] = []
    done, outcome = 0, Outcome.OUT_OF_ITERATIONS
    while done < config.max_iterations:
        n = min(-done % config.evaluate_every + 1, config.max_iterations - done)
        ended, n_done, h, batches = trainer.run(subproblem.objective(), n)
        done += n_done
        value = float(mean_log_likelihood(networks, held_out, n_threads).mean())
        n_edges = networks.n_edges
        multipliers = subproblem.multipliers
        per_row = d * batches, d * value
        trace.append(Trace(done - 1, h, multipliers.lagrange_multiplier, multipliers.penalty, *per_row, n_edges))
        if record_A_phi:
            A_phi_trace.append(weighted_adjacency(networks))
        if listener is not None:
            listener(Progress("train", done, config.max_iterations, h, d * value, n_edges))
        if ended == NOT_FINITE or not np.isfinite(value):
            outcome = Outcome.NOT_FINITE
            break
        if ended == ACYCLIC:
            outcome = Outcome.CONVERGED
            break
        sparsity = config.sparsity / d * trainer.sum_of_weights()
        subproblem.held_out_objectives.append(multipliers.terms(h) + sparsity - value)
        if done > 1 and (done - 1) % (2 * config.evaluate_every) == 0 and subproblem.has_converged():
            subproblem.next(h)
            trainer.restart_optimiser()
    return TrainResult(
        networks,
        weighted_adjacency(networks),
        outcome,
        n_iterations=done,
        n_subproblems=len(subproblem.final_h) + 1,
        trace=trace,
        A_phi_trace=A_phi_trace,
    )
