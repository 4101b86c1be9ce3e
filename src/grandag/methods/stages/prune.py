"""Pruning by significance (section 3.4 of the paper): drop parents that an additive model can do without.

Each variable is regressed on smooth functions of all its parents; a parent stays if the p-value of its term is below
the cutoff. Uses all rows, and is the pruning of CAM (Buehlmann, Peters, Ernest 2014).

Under perfect interventions it uses the rows that leave the variable alone. Under imperfect ones a variable has a
regression of its own in each regime that targets it, too: the p-value of a parent is the smallest of them all, times
how many there are (Bonferroni), so that a parent stays which matters in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from grandag.gam import LikelihoodTable, SplineTable
from grandag.interventions import Regimes
from grandag.parameters import boolean, parameter, probability
from grandag.progress import Listener, Progress
from grandag.table import constant_columns

__all__ = ["PruneConfig", "PruneResult", "prune"]

_ROWS_PER_PARENT = 9
"""A regime with fewer rows cannot have the smallest basis, and is not asked."""


@dataclass(frozen=True, kw_only=True)
class PruneConfig:
    """Whether and how edges are pruned."""

    prune: bool = parameter(
        True,
        boolean,
        "Drop edges that are not significant in an additive regression of each variable on its parents; not with "
        "`refine`.",
        source="appendix DAG Pruning",
        unused_with="refine",
        paper=True,
    )
    prune_cutoff: float = parameter(
        0.001,
        probability,
        "Edges with a p-value below this are kept; not with `refine`.",
        source="appendix DAG Pruning",
        unused_with="refine",
        paper=0.001,
    )


@dataclass(frozen=True)
class PruneResult:
    """The edges that are left, and the tests of all that were there; NaN where there was no edge to test."""

    adjacency: np.ndarray
    p_values: np.ndarray
    degrees_of_freedom: np.ndarray
    note: str

    @property
    def edge_facts(self) -> dict[str, np.ndarray]:
        """What the tests say of each edge."""
        return {"p_value": self.p_values, "degrees_of_freedom": self.degrees_of_freedom}


def prune(
    table: SplineTable | LikelihoodTable,
    adjacency: np.ndarray,
    cutoff: float = 0.001,
    *,
    required: np.ndarray | None = None,
    listener: Listener | None = None,
) -> PruneResult:
    """Keep i -> j where the p-value of i in the regression of j on all its parents is below the cutoff, or required."""
    d = len(adjacency)
    kept = np.zeros_like(adjacency) if required is None else adjacency & required
    p_values, degrees_of_freedom = np.full((d, d), np.nan), np.full((d, d), np.nan)
    for j in range(d):
        parents = np.flatnonzero(adjacency[:, j])
        if len(parents):
            tests = list(_tests(table, j, parents.tolist()))
            smallest = np.min([own for own, _ in tests], axis=0)
            p_values[parents, j], degrees_of_freedom[parents, j] = np.minimum(len(tests) * smallest, 1.0), tests[0][1]
            kept[parents, j] |= p_values[parents, j] < cutoff
        if listener is not None:
            listener(Progress("prune", j + 1, d, n_edges=int(kept[:, : j + 1].sum())))
    n_dropped, n_edges = int((adjacency & ~kept).sum()), int(adjacency.sum())
    note = f"Pruning dropped {n_dropped:,} of {n_edges:,} edges (p-value {cutoff:g} or more)."
    return PruneResult(kept, p_values, degrees_of_freedom, note)


def _tests(table: SplineTable | LikelihoodTable, j: int, parents: list[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """P-values and degrees of freedom of the parents in each regression of a variable; the first has its free rows."""
    if table.regimes is None:
        fit = table.regress(j, parents)
        yield fit.p_values(), fit.edf
        return
    for regimes in _groups(table.regimes, j, len(parents)):
        if isinstance(table, SplineTable):
            part = table.values[regimes[table.regimes.of_row]][:, [j, *parents]]
            if not constant_columns(part).any():
                splines = table.regress(j, parents, regimes=regimes)
                yield splines.p_values(), splines.edf
        else:
            yield _test_within(table, regimes[table.regimes.of_row], j, parents)


def _groups(regimes: Regimes, j: int, n_parents: int) -> Iterator[np.ndarray]:
    """Masks of the regimes whose rows are regressed together: those that leave j alone; if imperfect, others by one."""
    yield ~regimes.targets[:, j]
    if regimes.kind == "imperfect":
        for number in np.flatnonzero(regimes.targets[:, j] & (regimes.counts >= _ROWS_PER_PARENT * n_parents)):
            yield np.arange(len(regimes.targets)) == number


def _test_within(table: LikelihoodTable, rows: np.ndarray, j: int, parents: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The regression in some rows; parents that do not vary in them, or all if j does not, explain nothing."""
    values = table.values[rows]
    varies = ~constant_columns(values)
    used = np.array([varies[parent] and varies[j] for parent in parents])
    p_values, edf = np.ones(len(parents)), np.zeros(len(parents))
    if used.any():
        columns = [j, *np.array(parents)[used].tolist()]
        part = LikelihoodTable(values[:, columns], [table.kinds[column] for column in columns])
        fit = part.regress(0, range(1, len(columns)))
        p_values[used], edf[used] = fit.p_values(), fit.edf
    return p_values, edf
