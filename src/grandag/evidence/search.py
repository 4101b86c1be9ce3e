"""Search: node after node is taken out of the graph and put back where the evidence is greatest.

Few rows say which places are worth a look (`plans.py`), all rows decide. When no single node improves the graph, one
that little explains chooses among everything that may come before it: many parents together may show what none shows
alone. Then the search starts again nearby: a stretch of the order is shuffled, what stands there chooses its parents
afresh, and the best graph of all is kept. It does so where that takes a second or where moves were rejected by a hair,
as on most real tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from grandag.evidence.choices import Choices
from grandag.evidence.interface import Parents, Scores
from grandag.evidence.plans import Knowledge, Order, Plan, as_adjacency, plans
from grandag.evidence.selection import hides_more
from grandag.graph import topological_order

__all__ = ["Move", "Search", "Searched"]

_AT_ONCE = 4
"""Plans that are tried together, for several threads; the same for any number of them."""
_LEAST_GAIN = 0.05
"""Nats that a move has to bring: what fits of the same parents may differ by."""
_MOST_HIDDEN = 50
"""Candidates that are fitted together, at most, to see whether parents hide among them."""
_HAIR = 10.0
"""Nats by which a move may have been rejected for the search to start again nearby."""
_WINDOWS = (4, 10)
"""How many places of the order are shuffled for another start, at least and at most."""
_IN_VAIN = 20
"""Starts in a row without a better graph after which the search ends."""
_CLEAR_WORK, _CLOSE_WORK = 2e10, 3e11
"""What further starts may take: a second or two, and some thirty if it is close (`Scores.work`)."""
_FITS_PER_NODE = 3
"""Fits that another start takes, typically."""


class Move(NamedTuple):
    """One step of the search: a node reinserted, or None for several at once by another start."""

    node: int | None
    gain: float
    total: float


@dataclass
class Searched:
    """Where the search stands; at its end, the result."""

    parents: list[Parents]
    total: float
    moves: list[Move] = field(default_factory=list)
    was_interrupted: bool = False
    close: set[int] = field(default_factory=set)
    """Nodes of which a move was rejected by a hair."""

    def change(self, node: int | None, changes: dict[int, Parents], gain: float) -> None:
        """Make a move."""
        for child, new in changes.items():
            self.parents[child] = new
        self.total += gain
        self.moves.append(Move(node, gain, self.total))


class Search:
    """The search for the graph with the greatest score; the same for any number of threads."""

    def __init__(
        self,
        scores: Scores,
        knowledge: Knowledge,
        rng: np.random.Generator,
        report: Callable[[Searched], None],
    ) -> None:
        """`report` is called with the best graph so far."""
        self._scores, self._knowledge, self._rng, self._report = scores, knowledge, rng, report
        self._choices = Choices(scores, knowledge)

    def run(self, parents: list[Parents]) -> Searched:
        """The best graph found from this one and from others near it; Ctrl-C ends the search with the best so far."""
        best, scores = self._state(parents), self._scores
        try:
            self._climb(best, lambda: self._report(best))
            most_work = scores.work + (_CLOSE_WORK if best.close else _CLEAR_WORK)
            work_per_start, in_vain = _FITS_PER_NODE * len(parents) * scores.work_per_fit, 0
            while in_vain < _IN_VAIN and scores.work + work_per_start < most_work:
                found = self._state(self._shuffled(best))
                self._climb(found, lambda: self._report(best), most_work)
                in_vain += 1
                if found.total > best.total + _LEAST_GAIN:
                    best.change(None, dict(enumerate(found.parents)), found.total - best.total)
                    in_vain = 0
                    self._report(best)
        except KeyboardInterrupt:
            best.was_interrupted = True
        return best

    def _state(self, parents: list[Parents]) -> Searched:
        return Searched(list(parents), sum(self._scores.score(j, some) for j, some in enumerate(parents)))

    def _climb(self, state: Searched, report: Callable[[], None], most_work: float = np.inf) -> None:
        """Improve the graph node by node until nothing brings anything, or the work is done."""
        rejected: set[frozenset[tuple[int, Parents]]] = set()
        order = Order(state.parents)
        while self._scores.work < most_work and (self._reinsert(state, order, rejected) or self._reveal(state, order)):
            order = Order(state.parents, order)
            report()

    def _reinsert(self, state: Searched, order: Order, rejected: set[frozenset[tuple[int, Parents]]]) -> bool:
        """Make the first of the most promising reinsertions that improves the evidence, if any does."""
        scores = self._scores
        nodes = range(len(state.parents))
        scores.each(lambda j: scores.few(j, state.parents[j]), nodes)
        promise = np.array(scores.each(lambda j: scores.promise(j, state.parents[j]), nodes)).T
        promising = (promise > scores.promising) & self._knowledge.allowed
        found = scores.each(lambda k: plans(scores, state.parents, order, k, promising, self._knowledge), nodes)
        best_first = sorted((plan for some in found for plan in some), key=lambda plan: -plan.promise)
        untried = [plan for plan in best_first if plan.signature not in rejected]
        for first in range(0, len(untried), _AT_ONCE):
            some = untried[first : first + _AT_ONCE]
            for plan, changes in zip(some, self._carry_out(state.parents, order, some), strict=True):
                gain = self._gain(state.parents, changes)
                if gain > _LEAST_GAIN:
                    state.change(plan.node, changes, gain)
                    return True
                if gain > -_HAIR and any(new != state.parents[j] for j, new in changes.items()):
                    state.close.add(plan.node)
                rejected.add(plan.signature)
        return False

    def _carry_out(self, parents: list[Parents], order: Order, some: list[Plan]) -> list[dict[int, Parents]]:
        """The parents that the nodes of each plan choose among the candidates, by all rows."""
        places = [plan.places(order) for plan in some]

        def chosen(child: int) -> dict[int, Parents]:
            return {
                k: self._choices.choose(child, plan.candidates[child], place < place[child], parents[child])
                for k, (plan, place) in enumerate(zip(some, places, strict=True))
                if child in plan.candidates
            }

        children = sorted({child for plan in some for child in plan.candidates})
        n_candidates = {j: sum(len(plan.candidates.get(j, ())) for plan in some) for j in children}
        by_child = dict(zip(children, self._scores.each(chosen, children, cost=n_candidates.__getitem__), strict=True))
        return [{child: by_child[child][k] for child in plan.candidates} for k, plan in enumerate(some)]

    def _reveal(self, state: Searched, order: Order) -> bool:
        """Give a node that little explains the parents that all candidates together reveal, if any node gains."""
        nodes = range(len(state.parents))
        found = self._scores.each(lambda j: self._revealed(j, state.parents[j], order), nodes)
        gains = [self._gain(state.parents, {j: new}) for j, new in enumerate(found)]
        best = int(np.argmax(gains))
        if gains[best] > _LEAST_GAIN:
            state.change(best, {best: found[best]}, gains[best])
        return gains[best] > _LEAST_GAIN

    def _revealed(self, node: int, parents: Parents, order: Order) -> Parents:
        scores = self._scores
        if not scores.may_hide(node, parents):
            return parents
        promise = scores.promise(node, parents)
        candidates = np.flatnonzero(self._knowledge.allowed[:, node]).tolist()
        may_precede = [i for i in candidates if not order.is_ancestor(node, i)]
        most = sorted(may_precede, key=lambda i: -promise[i])[:_MOST_HIDDEN]
        everything = tuple(sorted({*parents, *most}))
        if not hides_more(scores, node, everything, parents):
            return parents
        return self._choices.choose(node, everything, np.zeros(len(promise), dtype=bool), parents)

    def _shuffled(self, best: Searched) -> list[Parents]:
        """A graph nearby: some places of the order shuffled, new choices among neighbours where an edge would turn."""
        parents, d = best.parents, self._scores.n_variables
        adjacency = as_adjacency(parents)
        order = topological_order(adjacency)
        window = self._window(order, best.close)
        order[window] = self._random_order(order[window])
        place = np.argsort(order)
        may_be = (adjacency | adjacency.T) & self._knowledge.allowed & (place[:, None] < place)
        candidates = [tuple(np.flatnonzero(column).tolist()) for column in may_be.T]
        changed = [j for j in range(d) if candidates[j] != parents[j]]
        chosen = self._scores.each(
            lambda j: self._choices.choose(j, candidates[j], place < place[j], parents[j]), changed
        )
        new = dict(zip(changed, chosen, strict=True))
        return [new.get(j, parents[j]) for j in range(d)]

    def _window(self, order: list[int], close: set[int]) -> slice:
        """Some places of the order, with a node among them of which a move was rejected by a hair, if there is one."""
        size = int(self._rng.integers(*_WINDOWS, endpoint=True))
        node = int(self._rng.choice(sorted(close) or order))
        first = order.index(node) - int(self._rng.integers(size))
        first = min(max(first, 0), max(len(order) - size, 0))
        return slice(first, first + size)

    def _random_order(self, nodes: list[int]) -> list[int]:
        """These nodes in a random order that no required edge contradicts."""
        order, rest = [], list(nodes)
        while rest:
            free = [j for j in rest if not self._knowledge.required[rest, j].any()]
            order.append(free[self._rng.integers(len(free))])
            rest.remove(order[-1])
        return order

    def _gain(self, parents: list[Parents], changes: dict[int, Parents]) -> float:
        return sum(self._scores.score(j, new) - self._scores.score(j, parents[j]) for j, new in changes.items())
