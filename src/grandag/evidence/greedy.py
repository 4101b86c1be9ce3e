"""Greedy search: the edge that is added, taken out or turned round with the greatest gain, again and again.

For scores whose fits take long: a move changes one or two children, everything else is known from before. Tests that
take no fit (Rao's of further parents, Wald's of present ones) say which moves are worth one. Where no single edge
brings anything, an edge is turned round and both of its ends choose anew: in a dense graph they share parents, and
which of them needs which depends on the direction between them. From a graph that training or selection has made, few
moves are needed; `search.py` looks further, and takes many more fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from grandag.evidence.interface import Parents, Scores
from grandag.evidence.plans import Knowledge, Order
from grandag.evidence.search import Searched

__all__ = ["climb"]

_LEAST_GAIN = 0.05
"""Nats that a move has to bring: what fits of the same parents may differ by."""
_SLACK = 10.0
"""Nats by which the tests may speak against a move that is tried nevertheless."""
_MOST_TRIED = 3
"""Further parents that are tried at a time when a child chooses anew: the most promising ones."""


class _Step(NamedTuple):
    """A move: the child that is named for it, and all new sets of parents."""

    node: int
    changes: dict[int, Parents]


def climb(scores: Scores, knowledge: Knowledge, parents: list[Parents], report: Callable[[Searched], None]) -> Searched:
    """The graph that no edge improves, neither by itself nor when it is turned round and both of its ends choose anew.

    Ctrl-C ends the search with the best so far.
    """
    state = Searched(list(parents), sum(scores.score(j, some) for j, some in enumerate(parents)))
    try:
        while _change_edge(scores, knowledge, state) or _turn_edge(scores, knowledge, state):
            report(state)
    except KeyboardInterrupt:
        state.was_interrupted = True
    return state


def _change_edge(scores: Scores, knowledge: Knowledge, state: Searched) -> bool:
    """Make the single change that gains most, if any gains."""
    gains = [(_gain(scores, state.parents, step), step) for step in _steps(scores, knowledge, state.parents)]
    gain, step = max(gains, key=lambda pair: pair[0], default=(0.0, _Step(0, {})))
    if gain <= _LEAST_GAIN:
        return False
    state.change(step.node, step.changes, gain)
    return True


def _turn_edge(scores: Scores, knowledge: Knowledge, state: Searched) -> bool:
    """Turn the most promising edge round that gains once both of its ends have chosen anew, if any does."""
    promise, order = _promise(scores, state.parents), Order(state.parents)
    edges = [(i, j) for j, some in enumerate(state.parents) for i in some]
    possible = [edge for edge in edges if _may_turn(knowledge, order, state.parents, *edge)]
    for i, j in sorted(possible, key=lambda edge: -_hope(scores, promise, state.parents, *edge)):
        changes = _turned(scores, knowledge, state.parents, i, j)
        gain = _gain(scores, state.parents, _Step(j, changes))
        if gain > _LEAST_GAIN:
            state.change(j, changes, gain)
            return True
    return False


def _turned(scores: Scores, knowledge: Knowledge, parents: list[Parents], i: int, j: int) -> dict[int, Parents]:
    """Parents of both ends of i -> j after i has chosen with j among its parents, and then j without i."""
    new = list(parents)
    new[j] = _without(parents[j], i)
    new[i] = _with(parents[i], j)
    for child in (i, j):
        new[child] = _chosen(scores, knowledge, new, child)
    return {i: new[i], j: new[j]}


def _chosen(scores: Scores, knowledge: Knowledge, parents: list[Parents], child: int) -> Parents:
    """A child's parents after the best additions and removals, one at a time, that close no cycle."""
    order, chosen = Order(parents), parents[child]
    possible = [i for i in np.flatnonzero(knowledge.allowed[:, child]) if not order.is_ancestor(child, int(i))]
    while True:
        promise = scores.promise(child, chosen)
        likeliest = sorted((i for i in possible if promise[i] > scores.promising), key=lambda i: -promise[i])
        nearby = [_with(chosen, int(i)) for i in likeliest[:_MOST_TRIED]]
        nearby += [_without(chosen, i) for i in _hardly_missed(scores, knowledge, child, chosen)]
        best = max(nearby, key=lambda some: scores.score(child, some), default=chosen)
        if scores.score(child, best) - scores.score(child, chosen) <= _LEAST_GAIN:
            return chosen
        chosen = best


def _gain(scores: Scores, parents: list[Parents], step: _Step) -> float:
    return sum(scores.score(j, new) - scores.score(j, parents[j]) for j, new in step.changes.items())


def _steps(scores: Scores, knowledge: Knowledge, parents: list[Parents]) -> Iterator[_Step]:
    """The moves that close no cycle, respect knowledge, and that the tests do not speak against."""
    d, order, promise = len(parents), Order(parents), _promise(scores, parents)
    for j, some in enumerate(parents):
        for i in _hardly_missed(scores, knowledge, j, some):
            yield _Step(j, {j: _without(some, i)})
        for i in some:
            if _may_turn(knowledge, order, parents, i, j) and _hope(scores, promise, parents, i, j) > -_SLACK:
                yield _Step(i, {j: _without(some, i), i: _with(parents[i], j)})
        for i in range(d):
            is_new = i != j and i not in some and knowledge.allowed[i, j]
            if is_new and promise[i, j] > scores.promising and not order.is_ancestor(j, i):
                yield _Step(j, {j: _with(some, i)})


def _promise(scores: Scores, parents: list[Parents]) -> np.ndarray:
    """(d, d) what i promises as a further parent of j, in standard deviations."""
    return np.array([scores.promise(j, some) for j, some in enumerate(parents)]).T


def _hope(scores: Scores, promise: np.ndarray, parents: list[Parents], i: int, j: int) -> float:
    """Nats that turning i -> j round may gain, by tests."""
    return float(np.square(max(promise[j, i], 0.0)) / 2 - scores.loss(j, parents[j], (i,)))


def _hardly_missed(scores: Scores, knowledge: Knowledge, child: int, parents: Parents) -> list[int]:
    """Parents whose removal Wald's test does not clearly speak against."""
    optional = (i for i in parents if not knowledge.required[i, child])
    return [i for i in optional if scores.loss(child, parents, (i,)) - scores.edge_cost(child) < _SLACK]


def _may_turn(knowledge: Knowledge, order: Order, parents: list[Parents], i: int, j: int) -> bool:
    """May i -> j be turned round? Not if a path other than the edge leads from i to j: it would close a cycle."""
    has_detour = any(k != i and order.is_ancestor(i, k) for k in parents[j])
    return bool(knowledge.allowed[j, i]) and not knowledge.required[i, j] and not has_detour


def _without(parents: Parents, parent: int) -> Parents:
    return tuple(other for other in parents if other != parent)


def _with(parents: Parents, parent: int) -> Parents:
    return tuple(sorted((*parents, parent)))
