"""LiNGAM (Shimizu et al. 2006, 2011): a linear model whose noise is not Gaussian has only one DAG.

    x_j = b_0j + sum over parents i of b_ij x_i + e_j,    e_j independent, at most one of them Gaussian

The order of the variables is found first, by comparing pairs (`direct`) or from independent components (`ica`), then
the parents of each variable among those before it (`parents`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from grandag.diagnostics import Concern
from grandag.graph import ancestors
from grandag.knowledge import Masks
from grandag.learned import Learned
from grandag.methods.estimator import StructureLearner, estimator
from grandag.methods.lingam.direct import direct_order
from grandag.methods.lingam.ica import IcaOrder, ica_order
from grandag.methods.lingam.parents import loss_without, parents_in_order
from grandag.methods.stages.linear_gaussian import least_squares, moments
from grandag.methods.stages.straight_lines import Lines, curve_concerns
from grandag.parameters import PowerOfTen, integer, number, one_of, parameter
from grandag.progress import Listener
from grandag.table import Table
from grandag.wording import counted

__all__ = ["LiNGAM", "LingamConfig", "learn", "must_precede"]

_GAUSSIAN_P_VALUE = 0.05
"""From here on, the test of Shapiro and Wilk does not tell noise from Gaussian noise."""

_CURVES = (
    "LiNGAM assumes lines, so that their directions may be wrong: use a method for curves (GraN-DAG, CAM, RESIT), or "
    "transform the columns."
)


@dataclass(frozen=True, kw_only=True)
class LingamConfig:
    """Parameters of LiNGAM."""

    algorithm: str = parameter(
        "direct",
        one_of("direct", "ica"),
        "How to find the order: by comparing pairs of variables, or from independent components.",
    )
    penalty: float = parameter(
        1.0,
        number(0),
        "Multiple of the extended BIC's price of an edge, log(n) + 2 log(number of candidate parents); larger values "
        "give sparser graphs.",
        search=PowerOfTen(-2, 2),
    )
    max_iterations: int = parameter(
        1000, integer(1), "Maximum number of iterations of independent component analysis (algorithm='ica')."
    )


def must_precede(knowledge: Masks) -> np.ndarray:
    """[i, j]: must i come before j in the order? A strict partial order.

    Either a path of required edges leads from i to j, or allowed edges may lead from i to j, but not back: of two
    tiers, the first comes first. That i -> j is forbidden does not put j first, since i may cause j by way of others.
    """
    required, possible = ancestors(knowledge.required), ancestors(knowledge.allowed)
    order = ancestors(required | (possible & ~possible.T))
    return np.asarray(order & ~np.eye(len(order), dtype=bool))


def learn(
    table: Table,
    knowledge: Masks,
    config: LingamConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """The order, the parents of each variable, and their regressions."""
    allowed, required = knowledge
    scaling, n_rows = table.scaling, len(table.values)
    found = _order(scaling.apply(table.values, "float64"), knowledge, config, listener)
    data = moments(table.values, scaling)
    adjacency = parents_in_order(data.covariance, found.order, allowed, required, n_rows, config.penalty)
    strength = np.zeros(adjacency.shape)
    for j in np.flatnonzero(adjacency.any(axis=0)):
        parents = np.flatnonzero(adjacency[:, j])
        strength[parents, j] = n_rows / 2 * loss_without(data.covariance, int(j), parents.tolist())
    final = least_squares(data, adjacency)
    in_units = final.in_units(scaling)
    conditionals = in_units.conditionals(adjacency)
    lines = Lines.of(table, adjacency, conditionals)
    return Learned(
        table.names,
        adjacency,
        strength,
        matrices={"coefficients": in_units.weights},
        values={"search": pd.DataFrame({"variable": [table.names[node] for node in found.order]})},
        conditionals=conditionals,
        concerns=(
            *_unfinished(found, config),
            *_gaussian_concerns(lines.noise, adjacency, table.names),
            *curve_concerns(lines, _CURVES),
        ),
    )


def _order(values: np.ndarray, knowledge: Masks, config: LingamConfig, listener: Listener | None) -> IcaOrder:
    precedes = must_precede(knowledge)
    if config.algorithm == "direct":
        return IcaOrder(direct_order(values, precedes, listener), converged=True)
    return ica_order(values, knowledge.allowed, precedes, config.max_iterations)


def _unfinished(found: IcaOrder, config: LingamConfig) -> list[Concern]:
    """A concern, if independent component analysis did not end."""
    if found.converged:
        return []
    message = (
        f"Independent component analysis did not converge in {counted(config.max_iterations, 'iteration')}: the order "
        "of the variables may be wrong. Raise max_iterations, or choose algorithm='direct'."
    )
    return [Concern("not converged", (), {"iterations": config.max_iterations}, message, is_urgent=True)]


def _gaussian_concerns(noise: np.ndarray, adjacency: np.ndarray, names: tuple[str, ...]) -> list[Concern]:
    """A concern about edges between variables whose noises both look Gaussian: the data do not tell their direction."""
    deviation = noise.std(axis=0)
    p_values = np.array(
        [stats.shapiro(column).pvalue if size > 1e-6 else 0.0 for column, size in zip(noise.T, deviation, strict=True)]
    )
    is_gaussian = p_values >= _GAUSSIAN_P_VALUE
    guessed = adjacency & is_gaussian[:, None] & is_gaussian
    if not guessed.any():
        return []
    variables = tuple(names[node] for node in np.flatnonzero(guessed.any(axis=0) | guessed.any(axis=1)))
    edges = [f"{names[i]} -> {names[j]}" for i, j in np.argwhere(guessed)]
    shown = ", ".join(edges[:5]) + (", ..." if len(edges) > 5 else "")
    message = (
        f"The noise of both ends of {counted(len(edges), 'edge')} of {int(adjacency.sum())} looks Gaussian ({shown}): "
        "LiNGAM tells directions by noise that is not, so that these are a guess. Use a method for equivalence classes "
        "(GES, PC), more rows, or background knowledge."
    )
    numbers = {"edges": len(edges), "p_values": {name: float(p_values[names.index(name)]) for name in variables}}
    return [Concern("Gaussian noise", variables, numbers, message)]


@estimator
class LiNGAM(StructureLearner, LingamConfig):
    """Learn a linear DAG from noise that is not Gaussian: its directions, too, are then in the data.

    `algorithm="direct"` compares all pairs of variables; `"ica"` takes all coefficients from independent components.
    Neither depends on chance or on units. Parents are chosen among the variables that come before, by stepwise
    regression with the extended BIC. The conditionals of `model_` are Gaussian: means and effects are those of the
    linear model, samples have noise of the right variance but not of the right shape.

    Attributes:
        search_: Data frame of the order that was found, causes first: variable.
        coefficients_: (d, d) coefficients of the final graph, by least squares, in the units of the table.
        strength_: (d, d) by how much the Gaussian log-likelihood falls without the edge.

    Example:
        >>> import numpy as np
        >>> from grandag import LiNGAM
        >>> cause, noise = np.random.default_rng(0).uniform(-1, 1, (2, 500))
        >>> LiNGAM().fit(np.column_stack([cause + noise, cause])).causal_order_
        ['X1', 'X0']
    """

    learn = staticmethod(learn)
    checks_noise = False
    quick_up_to = 20

    @property
    def causal_order_(self) -> list[str]:
        """The names in the order that was found, causes first; constant columns have no place in it."""
        return list(self._fitted().values["search"]["variable"])
