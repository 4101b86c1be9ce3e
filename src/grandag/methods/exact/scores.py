"""The scores that exact search takes by name, each with the conditional distributions that belong to it.

    bic          linear Gaussian models: -n/2 (log(2 pi v) + 1) - penalty/2 log(n) p with p = |P| + 2 parameters
    additive     the same of additive spline regressions, p their effective degrees of freedom and one for the variance
    generalised  cross-validated kernel regressions (generalised_score.py)

The BIC does not tell the DAGs of a class apart, and the generalised score hardly does: their answer is a CPDAG. The
additive score does, and its answer is a DAG.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grandag.gam import SplineTable
from grandag.methods.cam.cam import AdditiveConditional
from grandag.methods.equivalence.generalised_score import GeneralisedScore
from grandag.methods.equivalence.ges import GaussianScore
from grandag.methods.equivalence.kernel_conditionals import kernel_conditionals
from grandag.methods.equivalence.local_score import LocalScore
from grandag.methods.stages.linear_gaussian import FreeMoments, free_moments, least_squares
from grandag.model import Conditional
from grandag.table import InterventionError, Table, note_of_rows, rows_of, spread

__all__ = ["SCORES", "AdditiveScore", "Scored"]

_MAX_ROWS = 20_000
"""Rows that the generalised score looks at."""


class Scored(NamedTuple):
    """A score of a table, whether its answer is a class of DAGs, and the conditionals of a DAG that go with it."""

    score: LocalScore
    is_class: bool
    conditionals: Callable[[np.ndarray], tuple[Conditional, ...]]
    notes: tuple[str, ...] = ()
    groups: np.ndarray | None = None  # (d,) variables that the same interventions target; None: there are none


class AdditiveScore:
    """The BIC of additive spline regressions."""

    def __init__(self, splines: SplineTable, penalty: float = 1.0) -> None:
        self.n_variables, self._splines, self._penalty = splines.n_columns, splines, penalty

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """The part of one node of the score."""
        fit = self._splines.regress(node, list(parents))
        n = fit.n_rows
        variance = fit.residual_variance * (n - 1) / n
        n_parameters = n - fit.residual_df + 1
        price = self._penalty / 2 * math.log(self._splines.n_rows)
        return float(-n / 2 * (math.log(2 * math.pi * variance) + 1) - price * n_parameters)


class _ScoreByGroup:
    """The BIC with interventions: each variable by the moments of the rows that do not target it."""

    def __init__(self, data: FreeMoments, n_rows: int, penalty: float) -> None:
        self.n_variables = len(data.share)
        n_free = np.rint(data.share * n_rows).astype(int)
        self._of = [GaussianScore(data.of(j), int(n_free[j]), penalty, n_in_all=n_rows) for j in range(len(n_free))]

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """The part of one node of the score."""
        return self._of[node].local(node, parents)

    def local_of_each(self, node: int, parents: np.ndarray) -> np.ndarray:
        """(k,) the same for each row of parents (k, p)."""
        return self._of[node].local_of_each(node, parents)


def _bic(table: Table, penalty: float) -> Scored:
    data, n_rows = free_moments(table), len(table.values)
    score: LocalScore
    if isinstance(data, FreeMoments):
        score = _ScoreByGroup(data, n_rows, penalty)
    else:
        score = GaussianScore(data, n_rows, penalty)
    groups = data.groups if isinstance(data, FreeMoments) else None
    return Scored(
        score, is_class=True, conditionals=lambda dag: least_squares(data, dag).conditionals(dag), groups=groups
    )


def _additive(table: Table, penalty: float) -> Scored:
    splines = SplineTable(table, depends_on_units=False)

    def conditionals(dag: np.ndarray) -> tuple[Conditional, ...]:
        fits = (splines.regress(j, np.flatnonzero(parents).tolist()) for j, parents in enumerate(dag.T))
        return tuple(AdditiveConditional.of(fit) for fit in fits)

    return Scored(AdditiveScore(splines, penalty), is_class=False, conditionals=conditionals)


def _generalised(table: Table, _penalty: float) -> Scored:
    if table.regimes is not None:
        raise InterventionError(
            "The generalised score makes no use of interventions: choose local_score='bic' or 'additive', or fit to "
            "the observational rows alone."
        )
    used = spread(len(table.values), _MAX_ROWS)
    values = rows_of(table.values, used)
    return Scored(
        GeneralisedScore(values),
        is_class=True,
        conditionals=lambda dag: kernel_conditionals(values, dag),
        notes=note_of_rows("The generalised score is that of", used, table),
    )


SCORES: dict[str, Callable[[Table, float], Scored]] = {
    "bic": _bic,
    "additive": _additive,
    "generalised": _generalised,
}
"""By name, from a table and the multiple of the BIC's penalty."""
