"""Greedy search over DAGs with the BIC of linear models of one noise variance (Peters and Buehlmann 2014).

    BIC(G) = -n d / 2 (log(2 pi v) + 1) - penalty / 2 log(n) (|G| + d + 1),    v = 1/d sum_j Var(x_j | its parents)

No sum over the variables, but a function of one: of all moves that add as many edges the best is the one that leaves
the smallest sum of conditional variances. A move adds, deletes or reverses an edge. What it leaves of a variable
depends on that variable's parents only, so that it changes what is known of one variable, or of two.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from grandag.graph.algebra import ancestors, compose
from grandag.knowledge import Masks
from grandag.progress import Listener, Progress

__all__ = ["CommonVarianceBIC", "Found", "climb", "conditional_parts", "greedy_search"]

_DETERMINED = 1e-10
"""Part of a variance that rounding may leave of nothing."""

_ROUNDING = 1e-9
"""A score has to rise by more than this, relative to the number of values, or a search might go in circles."""

_SHAKEN = 0.25
"""Random moves away from the best graph before the next search, as a part of its edges; at least two."""


class CommonVarianceBIC(NamedTuple):
    """The score as a function of the sum of conditional variances and the number of edges.

    Variances are in units of one square for all columns, e^`log_unit`: which one does not matter to the graph.
    """

    correlation: np.ndarray  # (d, d)
    variance: np.ndarray  # (d,) of the columns
    log_unit: float
    n_rows: int
    penalty: float = 1.0

    @classmethod
    def of(cls, correlation: np.ndarray, deviation: np.ndarray, n_rows: int, penalty: float = 1.0) -> CommonVarianceBIC:
        """From deviations of the columns in any unit."""
        unit = float(deviation.max())
        return cls(correlation, (deviation / unit) ** 2, 2 * math.log(unit), n_rows, penalty)

    @property
    def n_values(self) -> int:
        """n d"""
        return self.n_rows * len(self.variance)

    @property
    def price(self) -> float:
        """What an edge costs."""
        return 0.5 * self.penalty * math.log(self.n_rows)

    def score(self, total: float, n_edges: int) -> float:
        """BIC(G) of the sum of the conditional variances."""
        d = len(self.variance)
        log_variance = math.log(total / d) + self.log_unit
        return -0.5 * self.n_values * (math.log(2 * math.pi) + log_variance + 1) - self.price * (n_edges + d + 1)


class Parts(NamedTuple):
    """Variances of a variable given its parents: those it has, and one more or less. Its own variance is 1."""

    now: float
    added: np.ndarray  # (d,) with each other variable as a further parent
    dropped: np.ndarray  # (d,) without each parent; where there is none, as it is


def conditional_parts(correlation: np.ndarray, target: int, parents: np.ndarray) -> Parts:
    """One step of a Cholesky factorisation per parent conditions all variables on it; at least 1e-10 is left."""
    d = len(correlation)
    factor = np.zeros((len(parents), d))
    variance, covariance = np.ones(d), correlation[:, target].copy()
    for k, parent in enumerate(parents):
        if variance[parent] > _DETERMINED:  # else it follows from the parents before it, and leaves all as it was
            factor[k] = (correlation[parent] - factor[:k, parent] @ factor[:k]) / math.sqrt(variance[parent])
            covariance -= factor[k] * factor[k, target]
            variance -= factor[k] ** 2
    now = max(float(variance[target]), _DETERMINED)
    explained = np.where(variance > _DETERMINED, covariance**2 / np.maximum(variance, _DETERMINED), 0.0)
    explained[target] = explained[parents] = 0.0
    dropped = np.full(d, now)
    if len(parents):
        inverse = np.linalg.pinv(correlation[np.ix_(parents, parents)], rcond=1e-12, hermitian=True)
        slopes = inverse @ correlation[parents, target]
        dropped[parents] += slopes**2 / np.maximum(np.diagonal(inverse), 1e-300)
    return Parts(now, np.maximum(now - explained, _DETERMINED), np.minimum(dropped, 1.0))


class Found(NamedTuple):
    """A DAG and its score."""

    adjacency: np.ndarray
    score: float


class _Graph:
    """A DAG, and what every move would leave of the conditional variances."""

    def __init__(self, bic: CommonVarianceBIC, adjacency: np.ndarray) -> None:
        d = len(adjacency)
        self.bic, self.adjacency = bic, adjacency.copy()
        self.now = np.zeros(d)
        self.added, self.dropped = np.zeros((d, d)), np.zeros((d, d))  # [i, j]: changes of the sum by i -> j
        for j in range(d):
            self._renew(j)

    def _renew(self, j: int) -> None:
        parts = conditional_parts(self.bic.correlation, j, np.flatnonzero(self.adjacency[:, j]))
        unit = self.bic.variance[j]
        self.now[j] = unit * parts.now
        self.added[:, j], self.dropped[:, j] = unit * (parts.added - parts.now), unit * (parts.dropped - parts.now)

    @property
    def total(self) -> float:
        return float(self.now.sum())

    @property
    def score(self) -> float:
        return self.bic.score(self.total, int(self.adjacency.sum()))

    def moves(self, knowledge: Masks, max_parents: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Of each kind of move: edges more, the legal ones (d, d) and what they change."""
        A = self.adjacency
        reaches = ancestors(A)
        has_room = A.sum(axis=0) < max_parents
        is_free = A & ~knowledge.required
        has_other_path = compose(A, reaches & ~np.eye(len(A), dtype=bool))  # by a child that leads to the same end
        can_add = knowledge.allowed & ~A & ~reaches.T & has_room
        can_reverse = is_free & knowledge.allowed.T & ~has_other_path & has_room[:, None]
        return [(1, can_add, self.added), (-1, is_free, self.dropped), (0, can_reverse, self.dropped + self.added.T)]

    def make(self, edges_more: int, i: int, j: int) -> None:
        """Add, delete or reverse i -> j."""
        self.adjacency[i, j] = edges_more == 1
        self._renew(j)
        if edges_more == 0:
            self.adjacency[j, i] = True
            self._renew(i)

    def gain(self, edges_more: int, change: float) -> float:
        """By how much a move raises the score."""
        left = max(1 + change / self.total, _DETERMINED)
        return -0.5 * self.bic.n_values * math.log(left) - self.bic.price * edges_more


def _climb(graph: _Graph, knowledge: Masks, max_parents: int) -> None:
    """Make the best move for as long as it raises the score."""
    while True:
        best, largest = None, _ROUNDING * graph.bic.n_values
        for edges_more, legal, change in graph.moves(knowledge, max_parents):
            place = int(np.where(legal, change, np.inf).argmin())
            i, j = divmod(place, len(legal))
            if legal[i, j] and graph.gain(edges_more, float(change[i, j])) > largest:
                best, largest = (edges_more, i, j), graph.gain(edges_more, float(change[i, j]))
        if best is None:
            return
        graph.make(*best)


def climb(bic: CommonVarianceBIC, start: np.ndarray, knowledge: Masks, max_parents: int) -> Found:
    """The DAG that no single move improves, from one to start with."""
    graph = _Graph(bic, start)
    _climb(graph, knowledge, max_parents)
    return Found(graph.adjacency, graph.score)


def _shaken(
    bic: CommonVarianceBIC, start: np.ndarray, knowledge: Masks, max_parents: int, rng: np.random.Generator
) -> np.ndarray:
    """A DAG some random moves away; each kind of move is as likely as the others."""
    graph = _Graph(bic, start)
    for _ in range(max(2, round(_SHAKEN * int(start.sum())))):
        moves = [move for move in graph.moves(knowledge, max_parents) if move[1].any()]
        if not moves:
            break
        edges_more, legal, _ = moves[int(rng.integers(len(moves)))]
        edges = np.argwhere(legal)
        i, j = edges[int(rng.integers(len(edges)))]
        graph.make(edges_more, int(i), int(j))
    return graph.adjacency


def greedy_search(
    bic: CommonVarianceBIC,
    knowledge: Masks,
    max_parents: int,
    n_restarts: int,
    rng: np.random.Generator,
    *,
    start: np.ndarray | None = None,
    listener: Listener | None = None,
) -> Found:
    """The best DAG of several searches: from the required edges alone, from `start`, and from near the best so far."""
    starts = [knowledge.required] if start is None else [knowledge.required, start]
    best = max((climb(bic, first, knowledge, max_parents) for first in starts), key=lambda found: found.score)
    for number in range(n_restarts):
        shaken = _shaken(bic, best.adjacency, knowledge, max_parents, rng)
        best = max(best, climb(bic, shaken, knowledge, max_parents), key=lambda found: found.score)
        if listener is not None:
            listener(Progress("restarts", number + 1, n_restarts, n_edges=int(best.adjacency.sum())))
    return best
