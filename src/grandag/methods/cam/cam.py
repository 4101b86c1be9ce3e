"""CAM, causal additive models (Buehlmann, Peters, Ernest 2014): a greedy search, then pruning.

    score = - sum_j n_j / n log var(x_j given its parents)

by additive spline regressions; all n rows say something about x_j but for those of interventions on it, so that
n_j = n without any. Preselection by boosting limits the candidates; the search then inserts, one by one, the
edge that raises the score most and closes no cycle, until the graph is complete; pruning drops what is not significant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from grandag.distributions import Gaussian
from grandag.gam import AdditiveFit, Curve, SplineTable
from grandag.gam.boosting import boosting_shares
from grandag.knowledge import Masks
from grandag.learned import Learned
from grandag.methods.estimator import StructureLearner, estimator
from grandag.methods.stages.final_edges import FinalEdgesConfig, final_edges
from grandag.methods.stages.prune import PruneConfig
from grandag.parameters import PowerOfTen, integer, one_of, optional, parameter, redeclared
from grandag.progress import Listener, Progress
from grandag.table import Table

__all__ = ["CAM", "AdditiveConditional", "CamConfig", "Insertion", "insert_edges", "learn", "preselect"]

_PRESELECTION_FROM = 30
"""Number of variables from which candidates are selected first."""


@dataclass(frozen=True, kw_only=True)
class CamConfig(FinalEdgesConfig):
    """Parameters of CAM."""

    preselection: bool | str = parameter(
        "auto",
        one_of("auto", True, False),
        "Select candidate parents by boosting first; 'auto': from 30 variables on.",
        source="the paper's tables: at every size",
        paper=True,
    )
    max_parents: int | None = parameter(
        None, optional(integer(0)), "Maximum number of parents per variable; None: one per 20 rows.", source="R's CAM"
    )
    prune_cutoff: float = redeclared(PruneConfig, "prune_cutoff", 0.001, search=PowerOfTen(-6, 0), paper=0.001)


def preselect(
    table: Table, *, min_share: float = 0.02, max_candidates: int = 10, listener: Listener | None = None
) -> np.ndarray:
    """mask[i, j]: is i a candidate parent of j? Inputs that boosting chooses in more than 2 % of its steps.

    At most ten: those chosen more often than the eleventh.
    """
    shares = _shares(table, listener)
    if len(shares) <= max_candidates:
        return np.asarray(shares > min_share)
    eleventh = np.sort(shares, axis=0)[::-1][max_candidates]
    return np.asarray(shares > np.maximum(eleventh, min_share))


def _shares(table: Table, listener: Listener | None) -> np.ndarray:
    """What boosting chooses for each column, in the rows that do not target it."""
    if table.regimes is None:
        return boosting_shares(table.values, listener=listener)
    shares = np.zeros((len(table.names),) * 2)
    rows, of_column = np.unique(table.regimes.targets, axis=1, return_inverse=True)  # columns of the same rows
    for number in range(rows.shape[1]):
        columns = np.flatnonzero(of_column == number)
        shares[:, columns] = boosting_shares(table.values[table.regimes.are_free(columns[0])])[:, columns]
        if listener is not None:
            listener(Progress("preselect", number + 1, rows.shape[1]))
    return shares


class Insertion(NamedTuple):
    """One step of the search: an edge, by how much it raised the score, and the score from then on."""

    source: int
    target: int
    gain: float
    score: float


def insert_edges(
    table: SplineTable,
    candidates: np.ndarray,
    max_parents: int,
    *,
    required: np.ndarray | None = None,
    listener: Listener | None = None,
) -> list[Insertion]:
    """The edges in the order of their insertion, until no candidate is left that closes no cycle.

    Required edges come first. Never ends on a negative gain: pruning, not the search, decides how many edges there are.
    """
    search = _Search(table, candidates, max_parents, listener)
    insertions = [] if required is None else [search.insert(int(i), int(j)) for i, j in np.argwhere(required)]
    search.propose_all()
    while search.is_open.any():
        insertions.append(search.insert_best())
    return insertions


class _Search:
    """The graph so far, and the regressions that one more edge would give."""

    def __init__(self, table: SplineTable, candidates: np.ndarray, max_parents: int, listener: Listener | None) -> None:
        d = table.n_columns
        self.table, self.max_parents, self.listener = table, max_parents, listener
        self.is_open = candidates & ~np.eye(d, dtype=bool)
        if max_parents < 1:
            self.is_open[:] = False
        self.is_ancestor = np.eye(d, dtype=bool)  # [i, j]: a path leads from i to j, which may be i itself
        self.fits = [table.regress(j, []) for j in range(d)]
        self.proposed: dict[tuple[int, int], AdditiveFit] = {}
        self.gain = np.full((d, d), -np.inf)
        self.n_edges, self.n_possible = 0, int((self.is_open | self.is_open.T).sum()) // 2

    def propose_all(self) -> None:
        """Find the gains of all open edges."""
        for j in range(self.table.n_columns):
            self._propose_parents(j)
            self._tell(j + 1, self.table.n_columns, "score")

    def insert_best(self) -> Insertion:
        """Insert the open edge of the largest gain, and refit its target's other candidates."""
        i, j = (int(index) for index in np.unravel_index(self.gain.argmax(), self.gain.shape))
        insertion = self.insert(i, j)
        self._propose_parents(j)
        return insertion

    def insert(self, i: int, j: int) -> Insertion:
        """Insert an edge, and close those that it forbids."""
        if (i, j) not in self.proposed:
            self._propose(i, j)
        gain = float(self.gain[i, j])
        self.fits[j] = self.proposed[i, j]
        self.is_ancestor |= np.outer(self.is_ancestor[:, i], self.is_ancestor[j])
        self.is_open &= ~self.is_ancestor.T
        self.is_open[i, j] = False
        if len(self.fits[j].parents) >= self.max_parents:
            self.is_open[:, j] = False
        self.gain[~self.is_open] = -np.inf
        self.n_edges += 1
        self._tell(self.n_edges, self.n_possible, "search")
        return Insertion(i, j, gain, self.score)

    @property
    def score(self) -> float:
        """- sum_j n_j / n log var(x_j given its parents)"""
        n = self.table.n_rows
        return -sum(fit.n_rows / n * math.log(fit.residual_variance) for fit in self.fits)

    def _propose_parents(self, j: int) -> None:
        """Find the gains of all open edges into j."""
        for i in np.flatnonzero(self.is_open[:, j]).tolist():
            self._propose(i, j)

    def _propose(self, i: int, j: int) -> None:
        """Regress j on its parents and i; what was found before is where to start."""
        fit, before = self.fits[j], self.proposed.get((i, j))
        start = None if before is None else np.append(fit.log_smoothing, before.log_smoothing[-1])
        self.proposed[i, j] = self.table.regress(j, [*fit.parents, i], log_smoothing=start)
        share = fit.n_rows / self.table.n_rows
        self.gain[i, j] = share * math.log(fit.residual_variance / self.proposed[i, j].residual_variance)

    def _tell(self, step: int, n_steps: int, stage: str) -> None:
        if self.listener is not None:
            self.listener(Progress(stage, step, max(n_steps, step), n_edges=self.n_edges))


@dataclass(frozen=True)
class AdditiveConditional:
    """N(intercept + the sum over the parents of their curves, scale^2)."""

    intercept: float
    curves: tuple[Curve, ...]
    scale: float

    @classmethod
    def of(cls, fit: AdditiveFit) -> AdditiveConditional:
        """The conditional of a regression."""
        curves = tuple(fit.term_curve(parent) for parent in fit.parents)
        return cls(fit.intercept, curves, math.sqrt(fit.sigma2))

    def given(self, parents: np.ndarray) -> Gaussian:
        """The distribution given rows of the parents."""
        mean = np.full(len(parents), self.intercept)
        for curve, column in zip(self.curves, parents.T, strict=True):
            mean += curve(column)
        return Gaussian(mean, np.full(len(parents), self.scale))

    def is_consistent(self, n_parents: int) -> bool:
        """One curve per parent."""
        return len(self.curves) == n_parents and all(curve.is_consistent for curve in self.curves) and self.scale > 0


def learn(
    table: Table,
    knowledge: Masks,
    config: CamConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """Preselection, insertion of edges, pruning, and the regressions of the final graph."""
    allowed, required = knowledge
    splines = SplineTable(table, depends_on_units=False)
    candidates, notes = _candidates(table, config, listener)
    insertions = insert_edges(
        splines, candidates & allowed, _most_parents(splines, config), required=required, listener=listener
    )
    adjacency, strength = np.zeros_like(candidates), np.zeros(candidates.shape)
    for insertion in insertions:
        adjacency[insertion.source, insertion.target] = True
        strength[insertion.source, insertion.target] = max(insertion.gain, 0.0)
    final = final_edges(table, adjacency, strength, knowledge, config, rng, listener, splines=splines)
    fits = (splines.regress(j, np.flatnonzero(parents).tolist()) for j, parents in enumerate(final.adjacency.T))
    return Learned(
        table.names,
        final.adjacency,
        final.strength,
        edge_facts=final.edge_facts,
        values={**_search_values(insertions, splines), **final.values},
        conditionals=tuple(AdditiveConditional.of(fit) for fit in fits),
        notes=(*notes, *final.notes),
        concerns=final.concerns,
    )


def _most_parents(table: SplineTable, config: CamConfig) -> int:
    """Maximum number of parents: as asked for, or one per 20 rows; never more than there are other columns."""
    n_rows = min(map(table.n_free, range(table.n_columns)))
    return min(table.n_columns - 1, round(n_rows / 20) if config.max_parents is None else config.max_parents)


def _candidates(table: Table, config: CamConfig, listener: Listener | None) -> tuple[np.ndarray, list[str]]:
    """Candidate parents, and a note if boosting selected them."""
    d = len(table.names)
    is_asked = d >= _PRESELECTION_FROM if config.preselection == "auto" else config.preselection
    if not is_asked or d < 2:
        return ~np.eye(d, dtype=bool), []
    candidates = preselect(table, listener=listener)
    return candidates, [f"Preselection left {int(candidates.sum()):,} of {d * (d - 1):,} possible edges open."]


def _search_values(insertions: Sequence[Insertion], table: SplineTable) -> dict[str, Any]:
    """The steps of the search with names, and the score of the graph at its end."""
    rows = [(table.names[step.source], table.names[step.target], step.gain, step.score) for step in insertions]
    nothing = np.zeros((table.n_columns,) * 2, dtype=bool)
    score = insertions[-1].score if insertions else _Search(table, nothing, 0, None).score
    return {"search": pd.DataFrame(rows, columns=["source", "target", "gain", "score"]), "score": score}


@estimator
class CAM(StructureLearner, CamConfig):
    """Learn a DAG with additive functions and Gaussian noise by a greedy search over additive spline regressions.

    The paper's strongest competitor, as R's package CAM has it. `CAM.preset("paper")` selects candidates at every size,
    as the paper's tables did. CAM is deterministic and takes no seed.

    Attributes:
        strength_: (d, d) how much an edge raised the score when it was inserted, at least 0.
        p_values_: (d, d) p-values of the edges that pruning tested, NaN elsewhere.
        degrees_of_freedom_: (d, d) effective degrees of freedom of their curves; 1 is a straight line.
        search_: Data frame of the search: source, target, gain and score after each insertion.
        score_: Minus the sum of the logarithms of the residual variances, before pruning.

    Example:
        >>> from grandag import CAM, datasets
        >>> model = CAM().fit(datasets.load_sachs().data)
        >>> len(model.search_), len(model.edges_)  # a complete graph of 11 nodes, and what pruning left
        (55, 11)
    """

    learn = staticmethod(learn)
    takes_interventions = frozenset({"perfect"})
    conditional = AdditiveConditional
    quick_up_to = 12
