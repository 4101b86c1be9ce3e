"""NOTEARS for linear models (Zheng, Aragam, Ravikumar, Xing 2018): least squares with L1, subject to acyclicity.

    min_W  1 / (2 n) |X - X W|^2 + lambda |W|_1    subject to    h(W) = tr(e^(W o W)) - d = 0

for centred X, by the augmented Lagrangian method: subproblems with alpha h + rho / 2 h^2 added, then
alpha <- alpha + rho h; rho grows tenfold until h has fallen to a quarter. The rows enter only through the covariance
matrix S: the loss is 1/2 tr((I - W)' S (I - W)) and its gradient S (W - I). With interventions, column j of I - W has
a matrix S_j of its own: that of the rows that do not target j, times their share of all rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.linalg

from grandag.blas import one_blas_thread
from grandag.knowledge import Masks
from grandag.learned import Convergence, Learned
from grandag.methods.estimator import StochasticLearner, estimator
from grandag.methods.notears.orthantwise import minimise
from grandag.methods.stages.augmented_lagrangian import Multipliers, Solved, minimise_subject_to_h
from grandag.methods.stages.linear_gaussian import FreeMoments, Moments, about_zero, free_moments, least_squares
from grandag.methods.stages.weights import WeightsConfig, cut_weights, open_edges
from grandag.parameters import Choice, boolean, number, parameter, redeclared
from grandag.progress import Listener, Progress
from grandag.table import Table

__all__ = ["NOTEARS", "NotearsConfig", "NotearsResult", "NotearsTrace", "acyclicity", "learn", "loss", "notears"]


@dataclass(frozen=True, kw_only=True)
class NotearsConfig(WeightsConfig):
    """Parameters of NOTEARS; the defaults are the released program's."""

    sparsity: float = parameter(
        0.1,
        number(0),
        "Weight lambda of the L1 term.",
        source="released program; the paper's tables must have had 0.01 (docs/baselines.md)",
        search=Choice((0.001, 0.005, 0.01, 0.05, 0.1, 0.5)),
        paper=0.01,
    )
    intercept: bool = parameter(
        True,
        boolean,
        "Let the regressions have an intercept, that is, centre the columns first.",
        source="the paper's tables had none (docs/baselines.md)",
        paper=False,
    )
    max_penalty: float = parameter(
        1e16, number(1), "Largest penalty of the augmented Lagrangian method.", source="released program"
    )
    weight_threshold: float = redeclared(
        WeightsConfig, "weight_threshold", 0.3, search=Choice((0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0))
    )
    tolerance: float = redeclared(WeightsConfig, "tolerance", 1e-8, search=Choice((1e-6, 1e-8, 1e-10)))


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
    """1/2 tr((I - W)' S (I - W)) and its gradient; S (d, d, d) is that of each column of I - W."""
    difference = weights - np.eye(len(weights))
    gradient = covariance @ difference if covariance.ndim == 2 else (covariance @ difference.T[..., None])[..., 0].T
    return 0.5 * float(np.vdot(difference, gradient)), gradient


def acyclicity(weights: np.ndarray) -> tuple[float, np.ndarray]:
    """h = tr(e^(W o W)) - d and its gradient 2 W o (e^(W o W))'. Weights beyond all bounds have an infinite h."""
    exponential = scipy.linalg.expm(weights * weights)
    h = float(np.trace(exponential)) - len(weights)
    return (h if math.isfinite(h) else math.inf), 2 * weights * exponential.T


class _Problem:
    """The augmented Lagrangian over the allowed entries of W, and where its minimisation has got to."""

    def __init__(
        self, covariance: np.ndarray, allowed: np.ndarray, config: NotearsConfig, listener: Listener | None
    ) -> None:
        self.covariance, self.allowed = covariance, allowed & ~np.eye(len(allowed), dtype=bool)
        self.config, self.listener = config, listener
        self.entries = self.start = np.zeros(int(self.allowed.sum()))
        self.lagrange_multiplier = 0.0
        self.trace: list[NotearsTrace] = []

    def matrix(self, entries: np.ndarray) -> np.ndarray:
        weights = np.zeros(self.allowed.shape)
        weights[self.allowed] = entries
        return weights

    def smooth_part(self, entries: np.ndarray, multipliers: Multipliers) -> tuple[float, np.ndarray]:
        """Value and gradient of everything but the L1 term."""
        weights = self.matrix(entries)
        value, gradient = loss(weights, self.covariance)
        h, h_gradient = acyclicity(weights)
        gradient += multipliers.slope(h) * h_gradient
        return value + multipliers.terms(h), gradient[self.allowed]

    def solve(self, multipliers: Multipliers) -> Solved:
        """Minimise a subproblem; while only the penalty grows, all start where the first of them did."""
        if multipliers.lagrange_multiplier != self.lagrange_multiplier:
            self.start, self.lagrange_multiplier = self.entries, multipliers.lagrange_multiplier
        sparsity = self.config.sparsity
        minimum = minimise(lambda entries: self.smooth_part(entries, multipliers), self.start, sparsity)
        self.entries = minimum.x
        weights = self.matrix(minimum.x)
        h, _ = acyclicity(weights)
        objective = loss(weights, self.covariance)[0] + sparsity * float(np.abs(weights).sum())
        n_edges = int(np.count_nonzero(weights))
        penalty = multipliers.penalty
        self.trace.append(NotearsTrace(h, self.lagrange_multiplier, penalty, objective, minimum.n_evaluations, n_edges))
        if self.listener is not None:
            n_steps = round(math.log10(self.config.max_penalty))
            self.listener(Progress("train", round(math.log10(penalty)), n_steps, h, None, n_edges))
        return Solved(h)


def notears(
    covariance: np.ndarray, allowed: np.ndarray, config: NotearsConfig, *, listener: Listener | None = None
) -> NotearsResult:
    """Solve the problem over the entries of W that are allowed (allowed[i, j]: may i be a parent of j?)."""
    problem = _Problem(covariance, allowed, config, listener)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        converged = minimise_subject_to_h(problem.solve, tolerance=config.tolerance, max_penalty=config.max_penalty)
    return NotearsResult(problem.matrix(problem.entries), converged, problem.trace)


def learn(
    table: Table,
    knowledge: Masks,
    config: NotearsConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """Weights by continuous optimisation, thresholded; then least squares for the final graph."""
    neighbours_rng, _, _, refine_rng = rng.spawn(4)
    opened = open_edges(table, knowledge, config, neighbours_rng, listener)
    data = free_moments(table, opened.scaling)
    result = notears(_second_moments(data, config), opened.allowed, config, listener=listener)
    cut = cut_weights(result.weights, table, knowledge, config, refine_rng, listener)
    final = least_squares(data, cut.adjacency).in_units(opened.scaling)
    trace = pd.DataFrame(result.trace, columns=list(NotearsTrace._fields))
    convergence = Convergence(
        result.converged,
        int(trace["n_evaluations"].sum()),
        float(trace["h"].iloc[-1]),
        config.tolerance,
        "Raise max_penalty, or scale the columns with standardise=True,",
    )
    return Learned(
        table.names,
        cut.adjacency,
        cut.strength,
        edge_facts=cut.edge_facts,
        matrices={"weights": result.weights, "coefficients": final.weights},
        values={"objective": float(trace["objective"].iloc[-1]), **cut.values},
        conditionals=final.conditionals(cut.adjacency),
        convergence=convergence,
        trace=trace,
        notes=(*opened.notes, *cut.notes),
        concerns=(*convergence.concerns(), *cut.concerns),
    )


def _second_moments(data: Moments | FreeMoments, config: NotearsConfig) -> np.ndarray:
    """S, or S_j of each variable."""
    if isinstance(data, Moments):
        return data.covariance if config.intercept else about_zero(data).covariance
    return np.array([share * _second_moments(data.of(j), config) for j, share in enumerate(data.share)])


@estimator
class NOTEARS(StochasticLearner, NotearsConfig):
    """Learn a linear DAG by continuous optimisation with an algebraic constraint of acyclicity.

    The rows are used once, for the covariance matrix; after that one million cost no more than one thousand. Neighbour
    selection and pruning, which the published program does not have, are those of GraN-DAG, and off by default; the
    seed is for neighbour selection, the rest is deterministic. `NOTEARS.preset("paper")` has what the paper's tables
    must have been made with: no intercepts and lambda = 0.01 (docs/baselines.md).

    Attributes:
        weights_: (d, d) coefficients W before thresholding; `strength_` is their absolute value.
        coefficients_: (d, d) coefficients of the final graph, by least squares, in the units of the table.
        objective_: Least squares plus lambda |W|_1, before thresholding.
        n_iter_: Evaluations of the objective.
        trace_: Data frame with one row per subproblem.

    Example:
        >>> from grandag import NOTEARS, datasets
        >>> model = NOTEARS(standardise=True, weight_threshold=0.2).fit(datasets.load_sachs().data)
        >>> model.converged_
        True
    """

    learn = staticmethod(learn)
    takes_interventions = frozenset({"perfect"})
    checks_noise = False
    quick_up_to = 20
