"""NOTEARS for linear models (Zheng, Aragam, Ravikumar, Xing 2018): least squares with L1, subject to acyclicity.

    min_W  1 / (2 n) |X - X W|^2 + lambda |W|_1    subject to    h(W) = tr(e^(W o W)) - d = 0

for centred X, by the augmented Lagrangian method: subproblems with alpha h + rho / 2 h^2 added, then
alpha <- alpha + rho h; rho grows tenfold until h has fallen to a quarter. The rows enter only through the covariance
matrix S: the loss is 1/2 tr((I - W)' S (I - W)) and its gradient S (W - I).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.linalg
from threadpoolctl import threadpool_limits

from grandag.methods.base import TrainingError
from grandag.methods.notears.orthantwise import minimise
from grandag.methods.stages.linear_gaussian import LinearGaussian, about_zero, least_squares, moments
from grandag.methods.weighted import RULES, WeightedLearner
from grandag.parameters import boolean, number
from grandag.progress import Listener, Progress

__all__ = ["NOTEARS", "NotearsConfig", "NotearsResult", "NotearsTrace", "acyclicity", "loss", "notears"]


@dataclass(frozen=True)
class NotearsConfig:
    """The released program's values."""

    sparsity: float = 0.1  # lambda
    tolerance: float = 1e-8  # on h
    max_penalty: float = 1e16  # of rho
    max_subproblems: int = 100
    penalty_growth: float = 10.0
    sufficient_decrease: float = 0.25


class NotearsTrace(NamedTuple):
    """One row per subproblem."""

    h: float
    lagrange_multiplier: float
    penalty: float
    objective: float  # least squares and L1, without the constraint
    n_evaluations: int
    n_edges: int


class NotearsResult(NamedTuple):
    """weights[i, j]: the coefficient of i in the equation of j, before thresholding."""

    weights: np.ndarray
    converged: bool
    trace: list[NotearsTrace]


def loss(weights: np.ndarray, covariance: np.ndarray) -> tuple[float, np.ndarray]:
    """1/2 tr((I - W)' S (I - W)) and its gradient."""
    difference = weights - np.eye(len(weights))
    gradient = covariance @ difference
    return 0.5 * float(np.vdot(difference, gradient)), gradient


def acyclicity(weights: np.ndarray) -> tuple[float, np.ndarray]:
    """h = tr(e^(W o W)) - d and its gradient 2 W o (e^(W o W))'. Weights beyond all bounds have an infinite h."""
    exponential = scipy.linalg.expm(weights * weights)
    h = float(np.trace(exponential)) - len(weights)
    return (h if math.isfinite(h) else math.inf), 2 * weights * exponential.T


class _Problem:
    """The augmented Lagrangian over the allowed entries of W."""

    def __init__(self, covariance: np.ndarray, allowed: np.ndarray) -> None:
        self.covariance, self.allowed = covariance, allowed
        self.lagrange_multiplier, self.penalty = 0.0, 1.0

    def matrix(self, entries: np.ndarray) -> np.ndarray:
        weights = np.zeros(self.allowed.shape)
        weights[self.allowed] = entries
        return weights

    def smooth_part(self, entries: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient of everything but the L1 term."""
        weights = self.matrix(entries)
        value, gradient = loss(weights, self.covariance)
        h, h_gradient = acyclicity(weights)
        gradient += (self.lagrange_multiplier + self.penalty * h) * h_gradient
        return value + self.lagrange_multiplier * h + 0.5 * self.penalty * h * h, gradient[self.allowed]


def notears(
    covariance: np.ndarray, allowed: np.ndarray, config: NotearsConfig, *, listener: Listener | None = None
) -> NotearsResult:
    """Solve the problem over the entries of W that are allowed (allowed[i, j]: may i be a parent of j?)."""
    problem = _Problem(covariance, allowed & ~np.eye(len(allowed), dtype=bool))
    entries, h = np.zeros(int(problem.allowed.sum())), math.inf
    trace: list[NotearsTrace] = []
    with threadpool_limits(1, "blas"), np.errstate(over="ignore", invalid="ignore"):
        for _ in range(config.max_subproblems):
            entries, h = _reduce_h(problem, entries, h, config, trace, listener)
            if h <= config.tolerance or problem.penalty >= config.max_penalty:
                break
            problem.lagrange_multiplier += problem.penalty * h
    return NotearsResult(problem.matrix(entries), h <= config.tolerance, trace)


def _reduce_h(
    problem: _Problem,
    start: np.ndarray,
    h_before: float,
    config: NotearsConfig,
    trace: list[NotearsTrace],
    listener: Listener | None,
) -> tuple[np.ndarray, float]:
    """Solve subproblems with a growing penalty until h is a quarter of what it was, or the penalty at its limit."""
    while True:
        minimum = minimise(problem.smooth_part, start, config.sparsity)
        weights = problem.matrix(minimum.x)
        h, _ = acyclicity(weights)
        objective = loss(weights, problem.covariance)[0] + config.sparsity * float(np.abs(weights).sum())
        n_edges = int(np.count_nonzero(weights))
        multipliers = problem.lagrange_multiplier, problem.penalty
        trace.append(NotearsTrace(h, *multipliers, objective, minimum.n_evaluations, n_edges))
        if listener is not None:
            n_steps = round(math.log10(config.max_penalty))
            listener(Progress("train", round(math.log10(problem.penalty)), n_steps, h, None, n_edges))
        if h <= config.sufficient_decrease * h_before or problem.penalty >= config.max_penalty:
            return minimum.x, h
        problem.penalty *= config.penalty_growth


class NOTEARS(WeightedLearner):
    """Learn a linear DAG by continuous optimisation with an algebraic constraint of acyclicity.

    The rows are used once, for the covariance matrix; after that one million cost no more than one thousand. Neighbour
    selection and pruning, which the published program does not have, are those of GraN-DAG, and off by default.
    `NOTEARS.preset("paper")` has what the paper's tables must have been made with: no intercepts and lambda = 0.01
    (docs/baselines.md).

    Args:
        sparsity: Weight lambda of the L1 term.
        intercept: Let the regressions have an intercept, that is centre the columns first.
        weight_threshold: Edges with a smaller absolute weight are dropped. If a cycle is left, the weakest edges go
            until there is none.
        tolerance: On h = tr(e^(W o W)) - d.
        max_penalty: Where the penalty of the augmented Lagrangian method ends.
        standardise: Scale columns to variance 1 first. The published program does not: with equal noise variances the
            scale of the columns tells the order of causes.
        neighbour_selection: Select candidate parents by trees first: True, False, or "auto": from 50 variables on.
        neighbour_threshold: Candidates have at least this multiple of the mean importance.
        n_trees: Trees per variable for that.
        prune: Drop edges that are not significant in an additive regression of each variable on its parents.
        prune_cutoff: Edges with a p-value below this stay.
        knowledge: Edges that cannot or must be: a `Knowledge`, its fields in a dictionary, or a file with them.
        missing: "error", or "drop" rows with missing or infinite values.
        n_jobs: Threads of neighbour selection, -1 for all cores. Results do not depend on it.
        random_state: Seed of neighbour selection; there is no chance in the rest.
        verbose: Show a progress line on a terminal.

    Attributes:
        adjacency_: (d, d) bool, adjacency_[i, j] if and only if i -> j. Always a DAG.
        graph_: The same as a networkx DiGraph with the column names and what is known of each edge.
        edges_: The same as a pandas data frame: source, target, strength; p_value, degrees_of_freedom if pruned.
        weights_: (d, d) coefficients W before thresholding; `strength_` is their absolute value.
        coefficients_: (d, d) coefficients of the final graph, by least squares, in the units of the table.
        objective_: Least squares plus lambda |W|_1, before thresholding.
        converged_: Was the constraint met?
        n_iter_: Evaluations of the objective.
        trace_: Data frame with one row per subproblem.
        causal_order_: Names, parents before children.
        notes_: What a reader of the result should know.

    Example:
        >>> from grandag import NOTEARS, datasets
        >>> model = NOTEARS(standardise=True, weight_threshold=0.2).fit(datasets.load_sachs().data)
        >>> model.converged_
        True
    """

    presets = {"default": {}, "paper": {"intercept": False, "sparsity": 0.01}}  # noqa: RUF012 (typed in the base class)
    _rules = {  # noqa: RUF012 (typed in the base class)
        **RULES,
        "sparsity": number(0),
        "intercept": boolean,
    }
    method = "notears"

    def __init__(
        self,
        *,
        sparsity: float = 0.1,
        intercept: bool = True,
        weight_threshold: float = 0.3,
        tolerance: float = 1e-8,
        max_penalty: float = 1e16,
        standardise: bool = False,
        neighbour_selection: bool | str = False,
        neighbour_threshold: float = 0.75,
        n_trees: int = 500,
        prune: bool = False,
        prune_cutoff: float = 0.001,
        knowledge: Any = None,
        missing: str = "error",
        n_jobs: int | None = -1,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.sparsity = sparsity
        self.intercept = intercept
        self.weight_threshold = weight_threshold
        self.tolerance = tolerance
        self.max_penalty = max_penalty
        self.standardise = standardise
        self.neighbour_selection = neighbour_selection
        self.neighbour_threshold = neighbour_threshold
        self.n_trees = n_trees
        self.prune = prune
        self.prune_cutoff = prune_cutoff
        self.knowledge = knowledge
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def coefficients_(self) -> np.ndarray:
        """Least-squares coefficients of the final graph, in the units of the table."""
        scale = self._scaling_.scale
        return self._for_all_columns(self._conditionals_.weights * scale / scale[:, None])

    def _learn_weights(
        self, values: np.ndarray, allowed: np.ndarray, rng: np.random.Generator, listener: Listener | None
    ) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            self._moments = moments(values)
            fitted = self._moments if self.intercept else about_zero(self._moments)
        if not np.isfinite(fitted.covariance).all():
            raise TrainingError("The squares of the columns are too large for a computer: use standardise=True.")
        config = NotearsConfig(self.sparsity, self.tolerance, self.max_penalty)
        result = notears(fitted.covariance, allowed, config, listener=listener)
        self.trace_ = pd.DataFrame(result.trace, columns=list(NotearsTrace._fields))
        self.n_iter_ = int(self.trace_["n_evaluations"].sum())
        self.objective_ = float(self.trace_["objective"].iloc[-1])
        self._keep_convergence(result.converged, float(self.trace_["h"].iloc[-1]), "max_penalty")
        return result.weights

    def _retrain(self, values: np.ndarray, adjacency: np.ndarray, rng: np.random.Generator) -> None:
        self._conditionals_ = least_squares(self._moments, adjacency)

    def _log_density(self, values: np.ndarray) -> float:
        return self._conditionals_.log_density(values)

    def _model_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays = {"trace": self.trace_.to_numpy(dtype=np.float64), **self._conditionals_._asdict()}
        return arrays, {}

    def _restore_model(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        self.trace_ = pd.DataFrame(arrays["trace"], columns=list(NotearsTrace._fields)).astype(
            {"n_evaluations": int, "n_edges": int}
        )
        self.objective_ = float(self.trace_["objective"].iloc[-1])
        self._conditionals_ = LinearGaussian(*(arrays[name] for name in LinearGaussian._fields))
