"""GraN-DAG: neighbours -> train -> threshold -> refine or prune -> conditionals, each in its own file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from grandag.diagnostics import Concern, overfitting_concerns, spread_rows
from grandag.engine.network import ACTIVATIONS, Division, Networks, Variable
from grandag.engine.training import expected_jacobian
from grandag.graph import is_acyclic
from grandag.interventions import INTERVENTION_KINDS, Regimes
from grandag.kinds import KINDS
from grandag.knowledge import Masks
from grandag.learned import Convergence, Learned, TrainingError
from grandag.methods.estimator import StochasticLearner, estimator
from grandag.methods.grandag.columns import Encoding, densities_of, density_rule, encode
from grandag.methods.grandag.conditionals import (
    NetworkConditional,
    has_one_scale,
    least_deviations,
    network_conditionals,
)
from grandag.methods.grandag.data import Data, DataConfig, prepare
from grandag.methods.grandag.regimes import divide
from grandag.methods.grandag.retrain import RetrainConfig, RetrainResult, retrain
from grandag.methods.grandag.train import NetworkConfig, Outcome, Trace, TrainConfig, TrainResult, train
from grandag.methods.stages.conditionals_by_kind import conditionals_by_kind
from grandag.methods.stages.family_conditionals import FamilyConditional
from grandag.methods.stages.final_edges import FinalEdgesConfig, final_edges
from grandag.methods.stages.gaussian_process import ProcessConditional, fit_processes
from grandag.methods.stages.neighbours import IMPLEMENTATIONS, Groups, NeighboursConfig, Selection, select_neighbours
from grandag.methods.stages.prune import PruneConfig
from grandag.methods.stages.refine import RefineConfig
from grandag.methods.stages.threshold import threshold, without_cycles
from grandag.model import CausalModel, Conditional
from grandag.parameters import (
    Choice,
    PowerOfTen,
    boolean,
    count,
    integer,
    number,
    one_of,
    optional,
    parameter,
    positive,
    redeclared,
)
from grandag.progress import Listener, Progress
from grandag.table import Table, TableError, constant_columns

__all__ = ["GraNDAG", "GraNDAGConfig", "learn"]

_VARIABLES_PER_THREAD = 8
"""Below this, synchronisation costs more than threading saves."""

_EVERYTHING = 10**9
"""More rows than any table has."""

_LATER_RATE, _SLOWER_RATE, _SLOWER_FROM = 1e-3, 1e-4, 50
"""Learning rates after the first subproblem, and the number of variables from which the slower one keeps more edges."""

_MANY = 150
"""Number of variables from which the constraint counts cycles, since the exponential's cost grows with its third power,
and from which training is sparse and leaves the last cycles to the threshold."""

_SPARSITY, _LOOSE_TOLERANCE, _TOLERANCE = 2.0, 1e-5, 1e-8
"""The weight of A_phi in the objective, and the tolerance on h, for many variables; the tolerance for others."""

_HYPERPARAMETERS, _RELEASED = "appendix Hyperparameters", "released program"


@dataclass(frozen=True, kw_only=True)
class GraNDAGConfig(NeighboursConfig, FinalEdgesConfig):
    """Parameters of GraN-DAG; defaults differ from the paper where that was measured to be better (docs/method.md)."""

    density: str | Mapping[str, str] = parameter(
        "auto",
        density_rule,
        "Conditional density of numbers: 'additive-gaussian' (GraN-DAG: one noise variance per variable), 'gaussian' "
        "(GraN-DAG++: mean and variance depend on the parents) or 'student-t' (heavy tails); other columns have that "
        "of their kind, 'bernoulli', 'categorical' or 'negative-binomial'. 'auto': all by kind, numbers "
        "'additive-gaussian'. Or one per column, by name or pattern: a dictionary, or pairs, 'age=student-t, q*=auto'.",
        source="section Experiments",
        paper="additive-gaussian",
    )
    n_layers: int = parameter(
        2,
        integer(0),
        "Number of hidden layers of each network; 0 is a linear model.",
        source=_HYPERPARAMETERS,
        search=Choice((1, 2, 3)),
        paper=2,
    )
    n_units: int = parameter(
        10, count, "Number of units per hidden layer.", source=_HYPERPARAMETERS, search=Choice((4, 8, 16, 32)), paper=10
    )
    activation: str = parameter(
        "leaky-relu",
        one_of(*ACTIVATIONS),
        "Activation of hidden units: 'leaky-relu', or the smooth 'squareplus'.",
        source=_HYPERPARAMETERS,
        paper="leaky-relu",
    )
    learning_rate: float = parameter(
        1e-2,
        positive,
        "Learning rate of the first subproblem and of retraining.",
        source=_HYPERPARAMETERS,
        search=PowerOfTen(-3, -2),
        paper=1e-2,
    )
    later_learning_rate: float | None = parameter(
        None,
        optional(positive),
        "Learning rate of all other subproblems; None: 1e-3, from 50 variables on 1e-4.",
        source=_HYPERPARAMETERS,
        search=PowerOfTen(-4, -3),
        fast=1e-3,
        paper=1e-4,
    )
    batch_size: int = parameter(64, count, "Rows per iteration.", source=_HYPERPARAMETERS, paper=64)
    mask_threshold: float = parameter(
        1e-4,
        number(0),
        "Inputs whose entry of A_phi falls to this value (epsilon) are masked for good.",
        source="section Thresholding",
        search=Choice((1e-3, 1e-4, 1e-5)),
        paper=1e-4,
    )
    weight_threshold: float = parameter(
        0.0,
        number(0),
        "After training, edges with a smaller entry of A_phi are dropped before any other. The paper's ablation has "
        "0.3 in place of neighbour selection and pruning.",
        source="table 5",
        paper=0.0,
    )
    threshold_all: bool = parameter(
        False,
        boolean,
        "Break cycles that training left by removing all edges from the weakest up, as the paper does, and not only "
        "those that close a cycle with stronger ones.",
        source="appendix Thresholding to ensure acyclicity",
        fast=True,
        paper=True,
    )
    path_scale: float = parameter(
        1.0,
        positive,
        "A_phi is this multiple of the mean over paths of products of absolute weights. The released program has 1, "
        "the paper's text the number of paths.",
        source=_RELEASED,
        paper=1.0,
    )
    acyclicity: str = parameter(
        "auto",
        one_of("auto", "exponential", "cycles"),
        "Constraint h: 'exponential', tr(e^A) - d, or 'cycles', which counts short cycles, bounds long ones, and costs "
        "what the open inputs cost; 'auto': cycles from 150 variables on.",
        source="ours (docs/method.md)",
        paper="exponential",
    )
    sparsity: float | None = parameter(
        None,
        optional(number(0)),
        "Weight (alpha) of the sum of A_phi, divided by the number of variables, in the objective; None: 0, from 150 "
        "variables on 2.",
        source="ours (docs/method.md)",
        fast=0.0,
        paper=0.0,
    )
    tolerance: float | None = parameter(
        None,
        optional(number(0)),
        "Training ends when h is at most this; None: 1e-8, from 150 variables on 1e-5.",
        source="appendix Optimization",
        search=Choice((1e-6, 1e-8, 1e-10)),
        fast=1e-8,
        paper=1e-8,
    )
    subproblem_tolerance: float = parameter(
        1e-4,
        number(0),
        "A subproblem ends when the held-out objective changes by less than this per iteration.",
        source=_RELEASED,
        paper=1e-4,
    )
    max_iterations: int = parameter(
        100_000, count, "Maximum number of iterations of training, and of retraining.", source=_RELEASED, paper=100_000
    )
    neighbour_threshold: float | None = redeclared(
        NeighboursConfig, "neighbour_threshold", None, search=Choice((0.5, 0.75, 1.0, 2.0)), fast=0.75, paper=0.75
    )
    n_trees: int | None = redeclared(NeighboursConfig, "n_trees", None, fast=500, paper=500)
    neighbour_trees: str = parameter(
        "compiled",
        one_of(*IMPLEMENTATIONS),
        "Trees of neighbour selection: 'compiled', or the reference 'scikit-learn', which grows all trees and is far "
        "slower; both select the same (docs/neighbours.md).",
        paper="compiled",
    )
    max_neighbour_rows: int = parameter(
        20_000, integer(2), "Maximum number of rows in neighbour selection.", source=_RELEASED, paper=_EVERYTHING
    )
    refine: bool = redeclared(RefineConfig, "refine", True, fast=False, paper=False)
    prune_cutoff: float = redeclared(
        PruneConfig, "prune_cutoff", 0.001, search=Choice((1e-5, 1e-4, 1e-3, 1e-2, 1e-1)), paper=0.001
    )
    retrain: bool = parameter(
        True,
        boolean,
        "Fit the conditionals of the final graph, which scores, samples and effects need: of a refined graph Gaussian "
        "processes, and additive regressions for labels and counts; otherwise, or with other densities, networks.",
    )
    standardise: bool = parameter(
        True,
        boolean,
        "Scale columns of numbers, and what networks read of labels and counts, to mean 0 and variance 1, so that "
        "units do not matter.",
        source=_RELEASED,
        paper=False,
    )
    held_out_fraction: float = parameter(
        0.2,
        number(0, 0.9, open_minimum=True),
        "Share of the rows that decides when to stop and is not trained on; ignored if `fit` is given such rows.",
        source=_RELEASED,
        paper=0.2,
    )
    max_held_out: int = parameter(5000, count, "Maximum number of rows held out.", source=_RELEASED, paper=_EVERYTHING)
    max_jacobian_rows: int = parameter(
        20_000,
        count,
        "Maximum number of training rows in the expected Jacobian.",
        source=_RELEASED,
        paper=_EVERYTHING,
    )
    dtype: str = parameter(
        "float32", one_of("float32", "float64"), "Precision of training.", source=_RELEASED, paper="float32"
    )
    record_A_phi: bool = parameter(False, boolean, "Keep all of A_phi at every evaluation, in `A_phi_trace_`.")

    def data(self) -> DataConfig:
        """The part of splitting."""
        return DataConfig(self.held_out_fraction, self.max_held_out, self.dtype)

    def networks(self, variables: Sequence[Variable], division: Division | None = None) -> NetworkConfig:
        """The networks' part."""
        return NetworkConfig(
            self.n_layers, self.n_units, self.activation, variables, self.dtype, self.path_scale, division
        )

    def training(self, n_variables: int) -> TrainConfig:
        """The part of training, for so many variables."""
        is_large = n_variables >= _MANY
        rate = _LATER_RATE if n_variables < _SLOWER_FROM else _SLOWER_RATE
        sparsity, tolerance = (_SPARSITY, _LOOSE_TOLERANCE) if is_large else (0.0, _TOLERANCE)
        return TrainConfig(
            by_cycles=is_large if self.acyclicity == "auto" else self.acyclicity == "cycles",
            learning_rate=self.learning_rate,
            later_learning_rate=self.later_learning_rate or rate,
            batch_size=self.batch_size,
            mask_threshold=self.mask_threshold,
            sparsity=sparsity if self.sparsity is None else self.sparsity,
            tolerance=tolerance if self.tolerance is None else self.tolerance,
            max_iterations=self.max_iterations,
            subproblem_tolerance=self.subproblem_tolerance,
        )

    def has_processes(self, densities: Sequence[str]) -> bool:
        """Are the conditionals Gaussian processes? Their noise has one variance, as the evidence assumes."""
        return self.refine and set(densities) == {"additive-gaussian"}

    def n_threads(self, n_variables: int) -> int:
        """Threads that pay for so many networks."""
        return max(1, min(int(effective_n_jobs(self.n_jobs)), n_variables // _VARIABLES_PER_THREAD))


def learn(
    table: Table,
    knowledge: Masks,
    config: GraNDAGConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """The whole path from a table to a DAG with conditionals."""
    split_rng, neighbours_rng, train_rng, retrain_rng, refine_rng = rng.spawn(5)
    encoding = encode(table, densities_of(config.density, table, strict=False), standardise=config.standardise)
    data = prepare(table, encoding, config.data(), split_rng, held_out)
    n_threads = config.n_threads(len(table.names))
    selected = _select(data, config, neighbours_rng, listener, uses_held_out=held_out is None)
    mask = (selected.mask & knowledge.allowed) | knowledge.required
    division = None if data.regimes is None else divide(data.regimes, data.regimes.kind)
    networks, training = config.networks(encoding.variables, division), config.training(len(table.names))
    trained = train(
        data.pool, data.held_out, mask, networks, training, train_rng, required=knowledge.required,
        n_threads=n_threads, record_A_phi=config.record_A_phi, listener=listener,
    )  # fmt: skip
    if trained.outcome is Outcome.NOT_FINITE:
        raise TrainingError(
            f"Training produced numbers that are not finite at iteration {trained.n_iterations}: lower "
            "learning_rate, and leave standardise=True unless the columns are on a common scale near 1."
            f"{_constant_in_training(table.names, data)}"
        )
    convergence = _convergence(trained, training.tolerance)
    jacobian_rows = data.rows[: config.max_jacobian_rows]
    jacobian = expected_jacobian(trained.networks, jacobian_rows, n_threads)
    strong = trained.networks.mask & (trained.A_phi >= config.weight_threshold)
    break_cycles = threshold if config.threshold_all else without_cycles
    thresholded = break_cycles(jacobian, strong, knowledge.required)
    notes = [
        *data.notes,
        *_regime_notes(data.regimes),
        *selected.notes,
        *_row_notes("The expected Jacobian is", jacobian_rows, data.n_rows),
    ]
    edges = final_edges(table, thresholded, jacobian, knowledge, config, refine_rng, listener)
    model = _Model()
    if config.retrain and config.has_processes(encoding.densities):
        model = _processes(table, edges.adjacency, config, retrain_rng, listener)
    elif config.retrain and config.refine and config.density == "auto" and data.regimes is None:
        model = _by_kind(table, edges.adjacency, config, retrain_rng, listener)
    elif config.retrain:
        model = _retrained(table, data, edges.adjacency, config, retrain_rng, n_threads, listener)
    if is_acyclic(mask):
        source = "from retraining" if model.networks else "that of untrained networks: it says nothing"
        notes.append(f"The inputs open to begin with had no cycle: the expected Jacobian is {source}.")
        jacobian = expected_jacobian(model.networks or trained.networks, jacobian_rows, n_threads)
    return Learned(
        table.names,
        edges.adjacency,
        edges.strength if config.refine else jacobian,
        edge_facts=edges.edge_facts,
        matrices=_matrices(trained, jacobian, thresholded, config),
        values={**model.values, **edges.values},
        conditionals=model.conditionals,
        convergence=convergence,
        trace=pd.DataFrame(trained.trace, columns=list(Trace._fields)),
        notes=(*notes, *edges.notes, *model.notes),
        concerns=(*convergence.concerns(), *edges.concerns, *model.concerns),
    )


def _select(
    data: Data, config: GraNDAGConfig, rng: np.random.Generator, listener: Listener | None, *, uses_held_out: bool
) -> Selection:
    most, is_part = config.max_neighbour_rows, len(data.rows) < data.n_rows
    rows = np.concatenate([data.rows, data.held_out]) if uses_held_out and not is_part else data.rows
    rows = rows[:most] if is_part else rows
    columns, are_free = _without_regimes(rows, data.regimes)
    selected = select_neighbours(
        columns, config, rng, groups=_groups(data.encoding), are_free=are_free, trees=config.neighbour_trees,
        max_rows=most, listener=listener,
    )  # fmt: skip
    limit = _row_notes("Neighbours are", rows, data.n_rows) if is_part and selected.notes else ()
    return selected._replace(notes=(*limit, *selected.notes))


def _without_regimes(rows: np.ndarray, regimes: Regimes | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows without the number of their regime, and (n, d) which of them tell the causes of each variable.

    All of them do, unless interventions cut a variable off from its causes.
    """
    if regimes is None:
        return rows, None
    are_free = ~regimes.targets[rows[:, -1].astype(int)] if regimes.kind == "perfect" else None
    return rows[:, :-1], are_free


def _regime_notes(regimes: Regimes | None) -> tuple[str, ...]:
    if regimes is None or regimes.kind == "perfect":
        return ()
    n_networks = int((regimes.targets & (regimes.counts > 0)[:, None]).sum())
    return (
        f"There were {n_networks:,} further networks, one per target and regime; the conditionals of the model are "
        "those of the rows that leave a variable alone.",
    )


def _groups(encoding: Encoding) -> Groups | None:
    """What trees see of each variable; None: the columns as they are."""
    if not encoding.is_apart.any():
        return None
    columns = [list(variable.columns) for variable in encoding.variables]
    return Groups(columns, np.square(encoding.reading.scaling.scale))


def _convergence(trained: TrainResult, tolerance: float) -> Convergence:
    return Convergence(
        trained.outcome is Outcome.CONVERGED,
        trained.n_iterations,
        float(trained.trace[-1].h),
        tolerance,
        "Raise max_iterations, or subproblem_tolerance,",
    )


def _row_notes(what: str, used: np.ndarray, n_rows: int) -> tuple[str, ...]:
    return (f"{what} from {len(used):,} of {n_rows:,} rows.",) if len(used) < n_rows else ()


def _matrices(
    trained: TrainResult, jacobian: np.ndarray, thresholded: np.ndarray, config: GraNDAGConfig
) -> dict[str, np.ndarray]:
    matrices = {
        "A_phi": trained.A_phi,
        "mask": trained.networks.mask,
        "expected_jacobian": jacobian,
        "thresholded": thresholded,
    }
    if config.record_A_phi:
        matrices["A_phi_trace"] = np.array(trained.A_phi_trace)
    return matrices


class _Model(NamedTuple):
    """The conditionals of the final graph, if they were fitted."""

    networks: Networks | None = None
    conditionals: tuple[Conditional, ...] | None = None
    values: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    notes: tuple[str, ...] = ()
    concerns: tuple[Concern, ...] = ()


def _processes(
    table: Table, adjacency: np.ndarray, config: GraNDAGConfig, rng: np.random.Generator, listener: Listener | None
) -> _Model:
    """Gaussian processes; no rows are held out, since each can be left out in turn."""
    if listener is not None:
        listener(Progress("conditionals", 0, 1, n_edges=int(adjacency.sum())))
    fitted = fit_processes(table, adjacency, rng, int(effective_n_jobs(config.n_jobs)))
    model = CausalModel(table.names, adjacency, fitted.conditionals)
    seen = table.take(spread_rows(fitted.rows))
    training = _of_free_rows(model.log_densities(seen.values).to_numpy(), seen)
    held_out = float(np.nansum(fitted.left_out, axis=1).mean())
    return _Model(
        conditionals=fitted.conditionals,
        values={"held_out_log_likelihood": held_out},
        notes=_row_notes("The conditionals are", fitted.rows, len(table.values)),
        concerns=tuple(overfitting_concerns(training, fitted.left_out, table.names)),
    )


def _by_kind(
    table: Table, adjacency: np.ndarray, config: GraNDAGConfig, rng: np.random.Generator, listener: Listener | None
) -> _Model:
    """Gaussian processes and additive regressions."""
    if listener is not None:
        listener(Progress("conditionals", 0, 1, n_edges=int(adjacency.sum())))
    fitted = conditionals_by_kind(table, adjacency, rng, int(effective_n_jobs(config.n_jobs)))
    n_rows = len(table.values)
    return _Model(
        conditionals=fitted.conditionals,
        values={"held_out_log_likelihood": fitted.held_out_log_likelihood},
        notes=(f"The conditionals are from {fitted.n_rows:,} of {n_rows:,} rows.",) if fitted.n_rows < n_rows else (),
        concerns=fitted.concerns,
    )


def _constant_in_training(names: tuple[str, ...], data: Data) -> str:
    """A sentence on columns that differ in held-out rows only, if there are any: the likelihood has no bound then."""
    found = [repr(names[j]) for j in np.flatnonzero(constant_columns(data.rows[:, : len(names)]))]
    return f" The rows that are trained on have one value only in {', '.join(found)}: leave it out." if found else ""


def _retrained(
    table: Table,
    data: Data,
    adjacency: np.ndarray,
    config: GraNDAGConfig,
    rng: np.random.Generator,
    n_threads: int,
    listener: Listener | None,
) -> _Model:
    retraining = RetrainConfig(config.learning_rate, config.batch_size, config.max_iterations)
    division = None if data.regimes is None else divide(data.regimes, "perfect")
    networks = config.networks(data.encoding.variables, division)
    result = retrain(
        data.pool, data.held_out, adjacency, networks, retraining, rng, n_threads=n_threads, listener=listener
    )
    retrained = _model(result, data, table)
    model = CausalModel(table.names, adjacency, retrained.conditionals or ())
    training, held_out = (_of_free_rows(model.log_densities(rows.values).to_numpy(), rows) for rows in data.examples)
    values = retrained.values
    if _has_more_noise(retrained.conditionals or (), result.networks, data.encoding):  # than networks were trained for
        values = {**values, "held_out_log_likelihood": float(np.nansum(held_out, axis=1).mean())}
    concerns = (*retrained.concerns, *overfitting_concerns(training, held_out, table.names))
    return retrained._replace(values=values, concerns=concerns)


def _of_free_rows(log_densities: np.ndarray, table: Table) -> np.ndarray:
    """NaN where an intervention set the variable: such a row says nothing about its conditional."""
    if table.regimes is None:
        return log_densities
    return np.where(table.regimes.targets[table.regimes.of_row], np.nan, log_densities)


def _has_more_noise(conditionals: Sequence[Conditional], networks: Networks, encoding: Encoding) -> bool:
    return any(
        isinstance(conditional, NetworkConditional)
        and (
            conditional.constants[0] > networks.constants(j)[0]
            if has_one_scale(encoding.densities[j])
            else encoding.densities[j] in ("bernoulli", "categorical")  # no label has less than a certain probability
        )
        for j, conditional in enumerate(conditionals)
    )


def _model(retrained: RetrainResult, data: Data, table: Table) -> _Model:
    """The conditionals in the units of the table; raises if there are none to keep."""
    n_iterations, held_out = retrained.n_iterations, retrained.held_out_log_likelihood
    if not np.isfinite(held_out):
        raise TrainingError(
            f"Retraining produced numbers that are not finite at iteration {n_iterations}: lower learning_rate, or "
            f"leave it out with retrain=False.{_constant_in_training(table.names, data)}"
        )
    concerns: tuple[Concern, ...] = ()
    if retrained.outcome is Outcome.NOT_FINITE:
        message = (
            f"Retraining broke down at iteration {n_iterations:,}; its best conditionals are kept. Lower "
            f"learning_rate before you use them.{_constant_in_training(table.names, data)}"
        )
        concerns = (Concern("retraining broke down", (), {"iterations": n_iterations}, message, is_urgent=True),)
    networks = retrained.networks
    counted: float | np.ndarray = 1.0
    if data.regimes is not None:
        counted = 1 - data.regimes.targets[data.held_out[:, -1].astype(int)].mean(axis=0)
    joint = held_out - float((counted * np.log(data.encoding.scaling.scale)).sum())  # in the units of the table
    conditionals = tuple(network_conditionals(networks, data.encoding, least_deviations(table), len(table.values)))
    return _Model(networks, conditionals, {"held_out_log_likelihood": joint}, concerns=concerns)


def _check_free_rows(table: Table) -> None:
    """Refuse a variable that varies by interventions only: of its noise nothing is known, and its density unbounded."""
    if table.regimes is None:
        return
    free, is_constant = table.regimes.free, constant_columns(table.values)
    for j in np.flatnonzero(~is_constant):
        own = table.values[free[:, j], j]
        if (own == own[0]).all():
            raise TableError(
                f"Column {table.names[int(j)]!r} has one value in all rows that do not intervene on it, so nothing "
                "can be learned about its causes: add rows in which it varies by itself, or leave the column out."
            )


def _fits(learned: Learned, j: int) -> bool:
    """Does the network of a variable, if it has one, fit the kinds of its column and those of its parents?"""
    conditional = learned.conditionals[j] if learned.conditionals else None
    parents = [learned.columns[int(i)] for i in np.flatnonzero(learned.dag[:, j])]
    return not isinstance(conditional, NetworkConditional) or conditional.fits(learned.columns[j], parents)


@estimator
class GraNDAG(StochasticLearner, GraNDAGConfig):
    """Learn a DAG and its conditional distributions by gradient-based neural DAG learning.

    One small network per variable gives the parameters of its conditional density; the graph is in the weights, and
    tr(e^A) - d = 0 makes it acyclic (Lachapelle, Brouillard, Deleu, Lacoste-Julien: Gradient-Based Neural DAG
    Learning, ICLR 2020). What training finds is then refined by its evidence, which is ours, not the paper's
    (docs/evidence.md); `GraNDAG.preset("fast")` prunes it instead, as the paper does. `GraNDAG.preset("paper")` is the
    authors' released recipe to the letter.

    Attributes:
        evidence_: Log marginal likelihood of the graph in nats, with `refine`; (d, d) in `edges_`: what is lost when
            an edge is taken out, which is then its strength.
        p_values_: (d, d) p-values of the edges that pruning tested, NaN elsewhere; without `refine`.
        degrees_of_freedom_: (d, d) effective degrees of freedom of their curves; 1 is a straight line.
        expected_jacobian_: (d, d) mean of |d log p_j / d x_i|, without `refine` the strength of i -> j.
        A_phi_: (d, d) weighted adjacency matrix at the end of training.
        mask_: (d, d) bool, inputs that training left open.
        thresholded_: (d, d) bool, the DAG that thresholding made of them: what refinement or pruning started from.
        n_iter_: Iterations of training.
        trace_: Data frame with one row per evaluation.
        A_phi_trace_: (evaluations, d, d) with `record_A_phi=True`.
        held_out_log_likelihood_: Mean log-density per row, in the units of the table, of rows that were held out; of
            Gaussian processes, of all rows, each left out in turn.

    Example:
        >>> from grandag import GraNDAG, datasets
        >>> model = GraNDAG(n_layers=1, max_iterations=2000, random_state=1)  # 2,000 iterations: only an example
        >>> import warnings; warnings.simplefilter("ignore")
        >>> model.fit(datasets.load_sachs().data).graph_
        <networkx.classes.digraph.DiGraph object at ...>
    """

    learn = staticmethod(learn)
    conditional = NetworkConditional | ProcessConditional | FamilyConditional
    takes = frozenset(KINDS)
    takes_interventions = frozenset(INTERVENTION_KINDS)
    presets = ("default", "fast", "paper")
    recorded_for_reports = {"record_A_phi": True}  # noqa: RUF012 (typed in the base class)

    def _usable(self, table: Table) -> Table:
        """The table as it is, if the densities fit its columns."""
        densities_of(self.density, table)
        _check_free_rows(table)
        return super()._usable(table)

    @classmethod
    def is_consistent(cls, learned: Learned) -> bool:
        """Has the trace its matrices A_phi, if they were kept, is the score a number, and do networks fit the kinds?"""
        history, trace = learned.matrices.get("A_phi_trace"), learned.trace
        is_history = history is None or (
            trace is not None and "iteration" in trace and history.shape[:-2] == (len(trace),)
        )
        is_history &= history is None or history.dtype.kind == "f"
        is_number = isinstance(learned.values.get("held_out_log_likelihood", 0.0), float)
        return is_history and is_number and all(_fits(learned, j) for j in range(len(learned.names)))
