"""Linear models with equal noise variances (Peters and Buehlmann 2014): they have only one DAG, even if Gaussian.

    x_j = b_0j + sum over parents i of b_ij x_i + e_j,    e_j independent, all of the same variance

Directions are in the sizes of the variances: an effect has those of its causes on top of its own noise. Standardised
columns have lost them, and therefore nothing is standardised here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from grandag.diagnostics import Concern, spread_rows
from grandag.knowledge import Masks
from grandag.learned import Learned
from grandag.methods.equal_variance.search import CommonVarianceBIC, Found, climb, conditional_parts, greedy_search
from grandag.methods.equal_variance.top_down import top_down_order
from grandag.methods.estimator import StochasticLearner, estimator
from grandag.methods.lingam.lingam import must_precede
from grandag.methods.stages.linear_gaussian import least_squares, moments
from grandag.parameters import PowerOfTen, count, integer, number, one_of, optional, parameter
from grandag.progress import Listener
from grandag.table import Table
from grandag.wording import counted

__all__ = ["EqualVariance", "EqualVarianceConfig", "learn"]

_UNITS = (
    "Columns are taken in their units and never standardised: the method tells causes from effects by the sizes of "
    "their variances, so that the graph depends on the units."
)

_ROWS_PER_PARENT = 5
"""With fewer, a regression describes the rows, not the variable."""

_SAME_SCALE = 0.005
"""Standard deviations or ranges of all columns that differ by less than this part have been made equal."""

_SIGNIFICANT, _CLEARLY = 0.001, 2.0
"""P-value of the test of equal variances, and ratio of the largest to the smallest: both are needed for a concern."""


@dataclass(frozen=True, kw_only=True)
class EqualVarianceConfig:
    """Parameters of equal-variance models."""

    algorithm: str = parameter(
        "greedy",
        one_of("greedy", "top-down"),
        "How to search: greedily over DAGs, or in the order of the conditional variances, which is quicker.",
    )
    penalty: float = parameter(
        1.0,
        number(0),
        "Multiple of the BIC's penalty, log(n) / 2 per edge; larger values give sparser graphs.",
        search=PowerOfTen(-2, 2),
    )
    max_parents: int | None = parameter(
        None, optional(count), "Maximum number of parents per variable; None: one per 5 rows."
    )
    restarts: int = parameter(
        10, integer(0), "Number of further searches, each from near the best graph so far (algorithm='greedy')."
    )


def learn(
    table: Table,
    knowledge: Masks,
    config: EqualVarianceConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """The DAG of the best common-variance BIC that is found, and its regressions."""
    scaling, n_rows = table.scaling, len(table.values)
    data = moments(table.values, scaling)
    bic = CommonVarianceBIC.of(data.covariance, scaling.scale, n_rows, config.penalty)
    found = _search(bic, knowledge, config, rng, listener)
    final = least_squares(data, found.adjacency)
    rows = (spread_rows(table.values) - scaling.mean) / scaling.scale
    noise = (rows - final.intercept - rows @ final.weights) * (scaling.scale / scaling.scale.max())
    in_units = final.in_units(scaling)
    concerns = (
        *_rescaled_concerns(table, found.adjacency),
        *_unequal_concerns(noise, table.names),
    )
    return Learned(
        table.names,
        found.adjacency,
        _losses(bic, found.adjacency),
        matrices={"coefficients": in_units.weights},
        values={"score": found.score},
        conditionals=in_units.conditionals(found.adjacency),
        notes=(_UNITS,),
        concerns=concerns,
    )


def _search(
    bic: CommonVarianceBIC,
    knowledge: Masks,
    config: EqualVarianceConfig,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Found:
    """The fast option first: its graph is one to start the other from."""
    max_parents = max(bic.n_rows // _ROWS_PER_PARENT, 1) if config.max_parents is None else config.max_parents
    order = top_down_order(bic.correlation, bic.variance, must_precede(knowledge), bic.n_rows)
    rank = np.argsort(order)
    forwards = knowledge._replace(allowed=knowledge.allowed & (rank[:, None] < rank))
    ordered = climb(bic, knowledge.required, forwards, max_parents)
    if config.algorithm == "top-down":
        return ordered
    return greedy_search(bic, knowledge, max_parents, config.restarts, rng, start=ordered.adjacency, listener=listener)


def _losses(bic: CommonVarianceBIC, adjacency: np.ndarray) -> np.ndarray:
    """(d, d) by how much the log-likelihood falls without each edge: n d / 2 log(sum without / sum)."""
    parts = [conditional_parts(bic.correlation, j, np.flatnonzero(parents)) for j, parents in enumerate(adjacency.T)]
    now = bic.variance * np.array([part.now for part in parts])
    dropped = bic.variance * np.column_stack([part.dropped for part in parts])
    return np.where(adjacency, 0.5 * bic.n_values * np.log1p(np.maximum(dropped - now, 0.0) / now.sum()), 0.0)


def _rescaled_concerns(table: Table, adjacency: np.ndarray) -> list[Concern]:
    """A concern, if all columns have been given the same standard deviation or the same range."""
    ranges = table.values.max(axis=0).astype(np.float64) - table.values.min(axis=0)
    measures = {"standard deviation": table.scaling.scale, "range": ranges}
    for what, sizes in measures.items():
        if adjacency.any() and sizes.max() <= (1 + _SAME_SCALE) * sizes.min():
            message = (
                f"All columns have the same {what}: they look rescaled. Causes are told from effects by the sizes of "
                "their variances, which rescaling removes, so that directions are a guess. Give the columns in their "
                "original units, or use a method that does without (GES, LiNGAM, GraN-DAG)."
            )
            numbers = {what: {name: float(size) for name, size in zip(table.names, sizes, strict=True)}}
            return [Concern("rescaled columns", table.names, numbers, message)]
    return []


def _unequal_concerns(noise: np.ndarray, names: tuple[str, ...]) -> list[Concern]:
    """A concern, if the noises clearly do not have the same variance, by the test of Brown and Forsythe."""
    variance = noise.var(axis=0)
    smallest, largest = int(variance.argmin()), int(variance.argmax())
    if variance[largest] <= _CLEARLY * variance[smallest] or len(names) < 2:
        return []
    p_value = float(stats.levene(*noise.T, center="median").pvalue)
    if not p_value < _SIGNIFICANT:
        return []
    deviation = np.sqrt(variance)
    times = deviation[largest] / deviation[smallest] if deviation[smallest] > 0 else np.inf
    message = (
        f"The noises do not have the same variance: the standard deviation of {names[largest]!r} is "
        f"{times:.3g} times that of {names[smallest]!r} ({counted(len(names), 'variable')}). Directions rest on "
        "equal variances, in the units of the table: if units are arbitrary, use a method that does without (GES, "
        "LiNGAM, GraN-DAG)."
    )
    numbers = {"p_value": p_value, "ratio": float(variance[largest] / max(variance[smallest], 1e-300))}
    return [Concern("unequal variances", (names[largest], names[smallest]), numbers, message)]


@estimator
class EqualVariance(StochasticLearner, EqualVarianceConfig):
    """Learn a linear DAG whose noises all have the same variance: its directions, too, are then in the data.

    `algorithm="greedy"` searches over DAGs with the BIC of one common variance: it adds, deletes and reverses edges,
    and starts again from near the best graph so far. `"top-down"` orders the variables by their variance given those
    before, and chooses parents along the order; no seed matters to it. Columns are never standardised: that would
    remove what tells causes from effects. A common factor for all units does not matter.

    Attributes:
        coefficients_: (d, d) coefficients of the final graph, by least squares, in the units of the table.
        strength_: (d, d) by how much the log-likelihood falls without the edge.
        score_: The common-variance BIC of the graph; higher is better.

    Example:
        >>> import numpy as np
        >>> from grandag import EqualVariance
        >>> cause, noise = np.random.default_rng(0).normal(size=(2, 500))
        >>> model = EqualVariance(random_state=0).fit(np.column_stack([cause + noise, cause]))
        >>> model.causal_order_
        ['X1', 'X0']
    """

    learn = staticmethod(learn)
    quick_up_to = 20
