"""Greedy search: the edge that is added, taken out or turned round with the greatest gain, again and again.

For scores whose fits take long: a move changes one or two children, everything else is known from before. Tests that
take no fit (Rao's of further parents, Wald's of present ones) say which moves are worth one. From a graph that training
or selection has made, few moves are needed; `search.py` looks further, and takes many more fits.
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


class _Step(NamedTuple):
    """A move: the child that is named for it, and all new sets of parents."""

    node: int
    changes: dict[int, Parents]


def climb(scores: Scores, knowledge: Knowledge, parents: list[Parents], report: Callable[[Searched], None]) -> Searched:
    """The graph that no single edge improves; Ctrl-C ends the search with the best so far."""
    state = Searched(list(parents), sum(scores.score(j, some) for j, some in enumerate(parents)))
    try:
        while True:
            gains = [(_gain(scores, state.parents, step), step) for step in _steps(scores, knowledge, state.parents)]
            if not gains:
                break
            gain, step = max(gains, key=lambda pair: pair[0])
            if gain <= _LEAST_GAIN:
                break
            state.change(step.node, step.changes, gain)
            report(state)
    except KeyboardInterrupt:
        state.was_interrupted = True
    return state


def _gain(scores: Scores, parents: list[Parents], step: _Step) -> float:
    return sum(scores.score(j, new) - scores.score(j, parents[j]) for j, new in step.changes.items())


def _steps(scores: Scores, knowledge: Knowledge, parents: list[Parents]) -> Iterator[_Step]:
    """The moves that close no cycle, respect knowledge, and that the tests do not speak against."""
    d, order = len(parents), Order(parents)
    promise = np.array([scores.promise(j, some) for j, some in enumerate(parents)]).T  # [i, j]: i for j
    for j, some in enumerate(parents):
        losses = {i: scores.loss(j, some, (i,)) for i in some if not knowledge.required[i, j]}
        for i, loss in losses.items():
            fewer = _without(some, i)
            if loss - scores.cost_per_edge < _SLACK:
                yield _Step(j, {j: fewer})
            gained = np.square(max(promise[j, i], 0.0)) / 2
            if knowledge.allowed[j, i] and gained - loss > -_SLACK and not _has_detour(order, parents, i, j):
                yield _Step(i, {j: fewer, i: _with(parents[i], j)})
        for i in range(d):
            is_new = i != j and i not in some and knowledge.allowed[i, j]
            if is_new and promise[i, j] > scores.promising and not order.is_ancestor(j, i):
                yield _Step(j, {j: _with(some, i)})


def _has_detour(order: Order, parents: list[Parents], i: int, j: int) -> bool:
    """Does a path other than the edge lead from i to j? The edge turned round would then close a cycle."""
    return any(k != i and order.is_ancestor(i, k) for k in parents[j])


def _without(parents: Parents, parent: int) -> Parents:
    return tuple(other for other in parents if other != parent)


def _with(parents: Parents, parent: int) -> Parents:
    return tuple(sorted((*parents, parent)))
