"""A graph judged and improved by its evidence: select parents, search, and say what each edge is worth.

The score of a graph is sum_j log p(x_j | x_P(j)) minus a cost per edge; see `scores.py`. Everything is a function of
the table, the graph to start from, a config and a generator, and the same for any number of threads. Tables with labels
or counts, by `kinds`, have the scores of `additive.py`, all others those of `scores.py`; groups of rows under
interventions those of `grouped.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from grandag.blas import one_blas_thread
from grandag.evidence.additive import is_mixed
from grandag.evidence.config import EvidenceConfig
from grandag.evidence.greedy import climb
from grandag.evidence.grouped import GroupedScores, make_scores
from grandag.evidence.interface import Parents
from grandag.evidence.plans import Knowledge
from grandag.evidence.scores import MOST_CANDIDATES, Fit, LocalScores
from grandag.evidence.search import Move, Search, Searched
from grandag.evidence.selection import choose, loss
from grandag.evidence.transform import some_rows, standardise
from grandag.graph import ancestors, is_acyclic, topological_order
from grandag.progress import Listener, Progress
from grandag.table import spread

__all__ = ["Refined", "evaluate", "refine", "select"]

_ROWS_FOR_ORDER = 1000
"""Rows by which columns are ordered; more are never needed to tell them apart."""

_FAMILIES = "The evidence is that of additive regressions, each with the family of its variable's kind."


class Refined(NamedTuple):
    """A graph with its evidence."""

    adjacency: np.ndarray
    """(d, d), [i, j] for i -> j."""
    evidence: float
    """sum_j log p(x_j | x_P(j)) in nats, without the cost of edges: of the standardised columns, or, with labels or
    counts, of the columns as they are."""
    score: float
    """Evidence minus the cost of the edges: what was maximised."""
    edge_evidence: np.ndarray
    """(d, d): nats lost when the edge is taken out; 0 where there is no edge.

    The child's fit is made anew, on all rows or, where more than 25 nats are lost, on few: then it is an estimate.
    """
    log_parameters: list[np.ndarray]
    """For each variable: log length scales of its parents, in ascending order, then log s_f, log s_a, log noise.

    Nothing for tables with labels or counts.
    """
    moves: tuple[Move, ...]
    notes: tuple[str, ...]
    was_interrupted: bool


def refine(
    values: np.ndarray,
    adjacency: np.ndarray,
    *,
    kinds: Sequence[str] | None = None,
    allowed: np.ndarray | None = None,
    required: np.ndarray | None = None,
    config: EvidenceConfig | None = None,
    rng: np.random.Generator | None = None,
    n_threads: int = 1,
    names: Sequence[str] | None = None,
    are_free: np.ndarray | None = None,
    listener: Listener | None = None,
) -> Refined:
    """The best graph that selection and search find from a DAG.

    `values` is (n, d), with the `kinds` of the columns (None: all are numbers) and `names` for the notes; `allowed` and
    `required` bind every move. A variable is scored on the rows that `are_free` (n, d) of interventions on it, None: on
    all; of several groups of its rows (groups, n, d), each with a regression of its own, it has the sum. Ctrl-C ends
    the search with the best graph so far.

    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=200)
    >>> values = np.column_stack([np.sin(2 * cause) + 0.2 * rng.normal(size=200), cause])
    >>> np.argwhere(refine(values, np.zeros((2, 2), dtype=bool)).adjacency).tolist()
    [[1, 0]]
    """
    table = _Table(values, kinds, are_free, allowed, required, config, rng, n_threads, names, listener)
    with one_blas_thread():
        found = table.selected(adjacency)
        if not found.was_interrupted:
            if table.is_mixed:
                found = climb(table.scores, table.knowledge, found.parents, table.report)
            else:
                found = Search(table.scores, table.knowledge, table.rng, table.report).run(found.parents)
        return table.result(found)


def select(
    values: np.ndarray,
    adjacency: np.ndarray,
    *,
    kinds: Sequence[str] | None = None,
    allowed: np.ndarray | None = None,
    required: np.ndarray | None = None,
    config: EvidenceConfig | None = None,
    rng: np.random.Generator | None = None,
    n_threads: int = 1,
    names: Sequence[str] | None = None,
    are_free: np.ndarray | None = None,
    listener: Listener | None = None,
) -> Refined:
    """The edges of a DAG that the evidence needs, and those it lacks in the same order; no edge is turned round."""
    table = _Table(values, kinds, are_free, allowed, required, config, rng, n_threads, names, listener)
    with one_blas_thread():
        found = table.selected(adjacency)
        return table.result(found)


def evaluate(
    values: np.ndarray,
    adjacency: np.ndarray,
    *,
    kinds: Sequence[str] | None = None,
    config: EvidenceConfig | None = None,
    rng: np.random.Generator | None = None,
    n_threads: int = 1,
    names: Sequence[str] | None = None,
    are_free: np.ndarray | None = None,
) -> Refined:
    """A DAG as it is, with its evidence: graphs of the same table compare by `score`."""
    table = _Table(values, kinds, are_free, None, None, config, rng, n_threads, names, None)
    with one_blas_thread():
        parents = _parents(table.inside(adjacency))
        table.scores.each(lambda j: table.scores.full(j, parents[j]), range(len(parents)))
        return table.result(Searched(parents, 0.0))


class _Table:
    """A table ready to be scored, with its background knowledge.

    Inside, columns stand in an order that their values give, so that a permuted table has the same graph.
    """

    def __init__(
        self,
        values: np.ndarray,
        kinds: Sequence[str] | None = None,
        are_free: np.ndarray | None = None,
        allowed: np.ndarray | None = None,
        required: np.ndarray | None = None,
        config: EvidenceConfig | None = None,
        rng: np.random.Generator | None = None,
        n_threads: int = 1,
        names: Sequence[str] | None = None,
        listener: Listener | None = None,
    ) -> None:
        config = EvidenceConfig() if config is None else config
        mixed = kinds if kinds is not None and is_mixed(kinds) else None
        self.is_mixed = mixed is not None
        n_rows = len(values)
        values = some_rows(values, config.max_rows if mixed is None else config.max_mixed_rows)
        columns, is_heavy = standardise(values, config.heavy_tails if mixed is None else np.inf)
        varies = np.asarray(columns.any(axis=0))
        self.order = np.lexsort(columns[_ROWS_FOR_ORDER::-1])
        knowledge = _knowledge(allowed, required, varies)
        self.knowledge = Knowledge(*(matrix[np.ix_(self.order, self.order)] for matrix in knowledge))
        self.rng = np.random.default_rng(0) if rng is None else rng
        free = None if are_free is None else are_free[..., spread(n_rows, len(values)), :][..., self.order]
        own_kinds = None if mixed is None else [mixed[int(j)] for j in self.order]
        self.scores = make_scores(
            values[:, self.order], columns[:, self.order], own_kinds, free, config, self.rng, n_threads
        )
        names = [f"X{j}" for j in range(len(varies))] if names is None else names
        limit = (f"The evidence is that of {len(values):,} of the {n_rows:,} rows, evenly spread.",)
        families = (_FAMILIES,) if mixed is not None else ()
        self.notes = (
            *(limit if len(values) < n_rows else ()), *families,
            *_notes(varies, is_heavy, self.scores.n_blocks, names),
        )  # fmt: skip
        self.listener = listener

    def report(self, state: Searched) -> None:
        """Tell the listener about the search."""
        if self.listener is not None:
            n_edges = sum(map(len, state.parents))
            self.listener(Progress("refine", len(state.moves), 0, evidence=state.total, n_edges=n_edges))

    def inside(self, adjacency: np.ndarray) -> np.ndarray:
        """A given DAG in the order of columns here."""
        inside: np.ndarray = _checked(adjacency, len(self.order))[np.ix_(self.order, self.order)]
        return inside

    def selected(self, adjacency: np.ndarray) -> Searched:
        """Selection from the graph; after Ctrl-C, variables that were not reached keep their required parents only."""
        d = self.scores.n_variables
        start = _compatible(self.inside(adjacency), self.knowledge)
        place = np.argsort(topological_order(start))
        further = self.knowledge.allowed & (place[:, None] < place)
        candidates = _parents(start)
        parents = _parents(self.knowledge.required)
        required = [frozenset(some) for some in parents]
        was_interrupted = False

        def keep(child: int, chosen: Parents) -> None:
            parents[child] = chosen
            if self.listener is not None:
                self.listener(Progress("select", child + 1, d, n_edges=sum(map(len, parents))))

        try:
            self.scores.each(
                lambda j: choose(self.scores, j, candidates[j], further[:, j], required[j], ()),
                range(d),
                keep,
                cost=lambda j: len(candidates[j]),
            )
        except KeyboardInterrupt:
            was_interrupted = True
        total = sum(self.scores.score(j, some) for j, some in enumerate(parents))
        return Searched(parents, total, was_interrupted=was_interrupted)

    def result(self, found: Searched) -> Refined:
        """The graph with what its edges are worth, in the order of columns outside."""
        d = self.scores.n_variables
        adjacency, edge_evidence = np.zeros((d, d), dtype=bool), np.zeros((d, d))
        all_worths = self.scores.each(self._worths(found.parents), range(d), cost=lambda j: len(found.parents[j]))
        for j, parents, worths in zip(self.order, found.parents, all_worths, strict=True):
            adjacency[self.order[list(parents)], j] = True
            edge_evidence[self.order[list(parents)], j] = worths
        evidence = float(sum(self.scores.full(j, parents) for j, parents in enumerate(found.parents)))
        return Refined(
            adjacency,
            evidence,
            evidence - sum(self.scores.edge_cost(j) * len(parents) for j, parents in enumerate(found.parents)),
            edge_evidence,
            self._log_parameters(found.parents),
            tuple(map(self._outside, found.moves)),
            self.notes,
            found.was_interrupted,
        )

    def _outside(self, move: Move) -> Move:
        return move if move.node is None else move._replace(node=int(self.order[move.node]))

    def _log_parameters(self, parents: list[Parents]) -> list[np.ndarray]:
        """Those of the fits, with the length scales in the order of columns outside."""
        if self.is_mixed:
            return []
        outside = [np.argsort(self.order[list(some)]) for some in parents]
        fits = [self._fit(j, some) for j, some in enumerate(parents)]
        return [fits[j].log_parameters[[*outside[j], -3, -2, -1]] for j in np.argsort(self.order)]

    def _fit(self, child: int, parents: Parents) -> Fit:
        """Of several groups of rows that of the first."""
        scores = self.scores.groups[child][0] if isinstance(self.scores, GroupedScores) else self.scores
        assert isinstance(scores, LocalScores)
        return scores.fit(child, parents)

    def _worths(self, parents: list[Parents]) -> Callable[[int], list[float]]:
        return lambda child: [loss(self.scores, child, parents[child], parent) for parent in parents[child]]


def _knowledge(allowed: np.ndarray | None, required: np.ndarray | None, varies: np.ndarray) -> Knowledge:
    """Constant columns have no edges but required ones."""
    d = len(varies)
    possible = varies[:, None] & varies & ~np.eye(d, dtype=bool)
    must_be = np.zeros((d, d), dtype=bool) if required is None else _square(required, d, "required")
    if not is_acyclic(must_be):
        raise ValueError("required: these edges form a cycle; leave at least one of them out.")
    may_be = possible if allowed is None else possible & _square(allowed, d, "allowed")
    return Knowledge(may_be | must_be, must_be)


def _square(matrix: np.ndarray, d: int, name: str) -> np.ndarray:
    matrix = np.asarray(matrix, dtype=bool)
    if matrix.shape != (d, d):
        raise ValueError(f"{name}: expected a matrix of shape ({d}, {d}), got {matrix.shape}.")
    return matrix


def _checked(adjacency: np.ndarray, d: int) -> np.ndarray:
    adjacency = _square(adjacency, d, "adjacency")
    if not is_acyclic(adjacency):
        raise ValueError("adjacency: the graph has a cycle; only a DAG has an evidence.")
    return adjacency


def _compatible(adjacency: np.ndarray, knowledge: Knowledge) -> np.ndarray:
    """The required edges, and of the graph's those that are allowed and close no cycle with them."""
    both: np.ndarray = adjacency & knowledge.allowed | knowledge.required
    if is_acyclic(both):
        return both
    both = knowledge.required.copy()
    for i, j in np.argwhere(adjacency & knowledge.allowed):
        if not ancestors(both)[j, i]:
            both[i, j] = True
    return both


def _parents(adjacency: np.ndarray) -> list[Parents]:
    return [tuple(np.flatnonzero(column).tolist()) for column in adjacency.T]


def _notes(varies: np.ndarray, is_heavy: np.ndarray, n_blocks: int, names: Sequence[str]) -> tuple[str, ...]:
    notes = []
    if is_heavy.any():
        notes.append(f"Columns with heavy tails are replaced by their normal scores: {_listed(is_heavy, names)}.")
    if not varies.all():
        notes.append(f"Constant columns have no edges: {_listed(~varies, names)}.")
    if len(varies) > MOST_CANDIDATES:
        notes.append(
            f"Of {len(varies):,} variables, the {MOST_CANDIDATES} likeliest are asked as further parents at a time."
        )
    if n_blocks > 1:
        notes.append(f"The evidence is the sum over {n_blocks} blocks of rows with common hyper-parameters.")
    return tuple(notes)


def _listed(mask: np.ndarray, names: Sequence[str]) -> str:
    return ", ".join(repr(names[int(j)]) for j in np.flatnonzero(mask))
