"""CAM, causal additive models (Buehlmann, Peters, Ernest 2014): a greedy search, then pruning.

    score = - sum_j log var(x_j given its parents)

by additive spline regressions. Preselection by boosting limits the candidates; the search then inserts, one by one, the
edge that raises the score most and closes no cycle, until the graph is complete; pruning drops what is not significant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from grandag.gam import AdditiveFit, Curve, SplineTable
from grandag.gam.boosting import boosting_shares
from grandag.methods.generative import GenerativeLearner
from grandag.parameters import boolean, integer, knowledge, number, one_of, optional
from grandag.progress import Listener, Progress
from grandag.table import Table

__all__ = ["CAM", "AdditiveConditional", "Insertion", "greedy_search", "preselect"]

_PRESELECTION_FROM = 30
"""Number of variables from which candidates are selected first."""

_PRESETS: dict[str, dict[str, Any]] = {"default": {}, "paper": {"preselection": True}}

_RULES = {
    "preselection": one_of("auto", True, False),
    "max_parents": optional(integer(0)),
    "prune": boolean,
    "prune_cutoff": number(0, 1),
    "knowledge": knowledge,
    "missing": one_of("error", "drop"),
    "verbose": boolean,
}


def preselect(
    values: np.ndarray, *, min_share: float = 0.02, max_candidates: int = 10, listener: Listener | None = None
) -> np.ndarray:
    """mask[i, j]: is i a candidate parent of j? Inputs that boosting chooses in more than 2 % of its steps.

    At most ten: those chosen more often than the eleventh.
    """
    shares = boosting_shares(values, listener=listener)
    if len(shares) <= max_candidates:
        return np.asarray(shares > min_share)
    eleventh = np.sort(shares, axis=0)[::-1][max_candidates]
    return np.asarray(shares > np.maximum(eleventh, min_share))


class Insertion(NamedTuple):
    """One step of the search: an edge, by how much it raised the score, and the score from then on."""

    source: int
    target: int
    gain: float
    score: float


def greedy_search(
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
        """- sum_j log var(x_j given its parents)"""
        return -sum(math.log(fit.residual_variance) for fit in self.fits)

    def _propose_parents(self, j: int) -> None:
        """Find the gains of all open edges into j."""
        for i in np.flatnonzero(self.is_open[:, j]).tolist():
            self._propose(i, j)

    def _propose(self, i: int, j: int) -> None:
        """Regress j on its parents and i; what was found before is where to start."""
        fit, before = self.fits[j], self.proposed.get((i, j))
        start = None if before is None else np.append(fit.log_smoothing, before.log_smoothing[-1])
        self.proposed[i, j] = self.table.regress(j, [*fit.parents, i], log_smoothing=start)
        self.gain[i, j] = math.log(fit.residual_variance / self.proposed[i, j].residual_variance)

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

    def mean_and_scale(self, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation given rows of the parents."""
        mean = np.full(len(parents), self.intercept)
        for curve, column in zip(self.curves, parents.T, strict=True):
            mean += curve(column)
        return mean, np.full(len(parents), self.scale)


def _to_arrays(conditionals: Sequence[AdditiveConditional]) -> dict[str, np.ndarray]:
    """Conditionals as arrays: curves one after the other, in the order of the conditionals."""
    curves = [curve for conditional in conditionals for curve in conditional.curves]
    lines = [(curve.intercept, curve.slope, curve.centre, curve.scale) for curve in curves]
    return {
        "conditionals": np.array([(c.intercept, c.scale, len(c.curves)) for c in conditionals]),
        "curve_sizes": np.array([len(curve.knots) for curve in curves], dtype=np.int64),
        "curve_lines": np.array(lines, dtype=np.float64).reshape(-1, 4),
        "curve_knots": np.concatenate([np.zeros(0), *(curve.knots for curve in curves)]),
        "curve_weights": np.concatenate([np.zeros(0), *(curve.weights for curve in curves)]),
    }


def _from_arrays(arrays: Mapping[str, np.ndarray]) -> list[AdditiveConditional]:
    """The conditionals that `_to_arrays` wrote."""
    ends = np.cumsum(arrays["curve_sizes"])[:-1]
    parts = zip(np.split(arrays["curve_knots"], ends), np.split(arrays["curve_weights"], ends), strict=True)
    lines = arrays["curve_lines"].tolist()
    curves = iter([Curve(knots, weights, *line) for (knots, weights), line in zip(parts, lines, strict=False)])
    return [
        AdditiveConditional(intercept, tuple(itertools.islice(curves, int(n_curves))), scale)
        for intercept, scale, n_curves in arrays["conditionals"].tolist()
    ]


class CAM(GenerativeLearner):
    """Learn a DAG with additive functions and Gaussian noise by a greedy search over additive spline regressions.

    The paper's strongest competitor, as R's package CAM has it. `CAM.preset("paper")` selects candidates at every size,
    as the paper's tables did.

    Args:
        preselection: Select candidate parents by boosting first: True, False, or "auto": from 30 variables on.
        max_parents: Of one variable; None for one per 20 rows.
        prune: Drop edges that are not significant; without it the graph is complete, up to preselection.
        prune_cutoff: Edges with a p-value below this stay.
        knowledge: Edges that cannot or must be: a `Knowledge`, its fields in a dictionary, or a file with them.
        missing: "error", or "drop" rows with missing or infinite values.
        verbose: Show a progress line on a terminal.

    Attributes:
        adjacency_: (d, d) bool, adjacency_[i, j] if and only if i -> j. Always a DAG.
        graph_: The same as a networkx DiGraph with the column names and what is known of each edge.
        edges_: The same as a pandas data frame: source, target, strength, p_value, degrees_of_freedom.
        strength_: (d, d) how much an edge raised the score when it was inserted, at least 0.
        p_values_: (d, d) of the edges that pruning tested, NaN elsewhere.
        degrees_of_freedom_: (d, d) effective ones of their curves; 1 is a straight line.
        search_: Data frame of the search: source, target, gain and score after each insertion.
        score_: Minus the sum of the logarithms of the residual variances, before pruning.
        causal_order_: Names, parents before children.
        notes_: What a reader of the result should know.
        warnings_: What speaks against trusting the graph: a list of records with kind, variables, numbers and message.
        model_: Graph and additive regressions as a `CausalModel`, whose methods the estimator has, too: `sample`,
            `intervene`, `average_effect`, `log_prob`, `residuals`, `check_noise`, `predict`.

    Example:
        >>> from grandag import CAM, datasets
        >>> model = CAM().fit(datasets.load_sachs().data)
        >>> len(model.search_), len(model.edges_)  # a complete graph of 11 nodes, and what pruning left
        (55, 11)
    """

    presets = _PRESETS
    _rules = _RULES
    method = "cam"

    def __init__(
        self,
        *,
        preselection: bool | str = "auto",
        max_parents: int | None = None,
        prune: bool = True,
        prune_cutoff: float = 0.001,
        knowledge: Any = None,
        missing: str = "error",
        verbose: bool = False,
    ) -> None:
        self.preselection = preselection
        self.max_parents = max_parents
        self.prune = prune
        self.prune_cutoff = prune_cutoff
        self.knowledge = knowledge
        self.missing = missing
        self.verbose = verbose

    def _learn(self, table: Table, listener: Listener | None) -> None:
        values = self._varying_values(table)
        self._warn_of_copies(values)
        splines = SplineTable(values)
        allowed, required = self._knowledge()
        candidates = self._candidates(values, listener) & allowed
        limit = min(len(candidates) - 1, round(len(values) / 20))
        max_parents = limit if self.max_parents is None else min(self.max_parents, len(candidates) - 1)
        insertions = greedy_search(splines, candidates, max_parents, required=required, listener=listener)
        adjacency, strength = np.zeros_like(candidates), np.zeros(candidates.shape)
        for insertion in insertions:
            adjacency[insertion.source, insertion.target] = True
            strength[insertion.source, insertion.target] = max(insertion.gain, 0.0)
        self._keep_search(insertions, values)
        if self.prune:
            adjacency = self._prune(splines, adjacency, self.prune_cutoff, listener)
        fits = (splines.regress(j, np.flatnonzero(parents).tolist()) for j, parents in enumerate(adjacency.T))
        self._conditionals_ = [AdditiveConditional.of(fit) for fit in fits]
        self.strength_ = self._for_all_columns(strength)
        self.adjacency_ = self._for_all_columns(adjacency)

    def _varying_conditionals(self) -> list[AdditiveConditional]:
        return self._conditionals_

    def _candidates(self, values: np.ndarray, listener: Listener | None) -> np.ndarray:
        d = values.shape[1]
        is_asked = d >= _PRESELECTION_FROM if self.preselection == "auto" else self.preselection
        if not is_asked or d < 2:
            return ~np.eye(d, dtype=bool)
        candidates = preselect(values, listener=listener)
        self.notes_.append(f"Preselection left {int(candidates.sum()):,} of {d * (d - 1):,} possible edges open.")
        return candidates

    def _keep_search(self, insertions: list[Insertion], values: np.ndarray) -> None:
        names = [name for name, varies in zip(self.names_, self._varying_, strict=True) if varies]
        rows = [(names[step.source], names[step.target], step.gain, step.score) for step in insertions]
        self.search_ = pd.DataFrame(rows, columns=["source", "target", "gain", "score"])
        self.score_ = insertions[-1].score if insertions else -float(np.log(values.var(axis=0, ddof=1)).sum())

    def _fitted_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        search = self.search_.to_dict(orient="list")
        arrays = {"varying": self._varying_, "constants": self._constants_, **_to_arrays(self._conditionals_)}
        return arrays, {"search": search, "score": self.score_, "notes": self.notes_}

    def _restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        self._varying_, self._constants_ = arrays["varying"], arrays["constants"]
        self._conditionals_ = _from_arrays(arrays)
        self.search_ = pd.DataFrame(values["search"], columns=["source", "target", "gain", "score"])
        self.score_, self.notes_ = values["score"], values["notes"]
