"""The DAG with the best score: dynamic programming over subsets or A*, whatever the score.

1. Sets of parents are scored and pruned (`parent_sets.py`).
2. The variables fall into groups that cannot be parents of each other in a circle, the strongly connected components of
   "is in a set of parents of": each is a problem of its own, with everything outside of it at hand.
3. A few climbs from random orders give a good DAG at once: what there is if the search is stopped, and what spares A*
   most of its states. They are always the same ones.
4. Up to `exhaustive_up_to` variables, the tails of all subsets are filled in: the first entry of the order follows from
   the last. Beyond, A* has the tails of two groups or more for its bound.

The bound on the best score is what the search has proven when it ends: the score itself, unless it was stopped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from grandag.knowledge import Masks
from grandag.methods.equivalence.local_score import LocalScore
from grandag.methods.exact.parent_sets import (
    MOST_VARIABLES,
    ParentSets,
    count_sets,
    find_parent_sets,
    largest_level,
)
from grandag.methods.exact.subsets import (
    FOUND,
    FULL,
    States,
    bounds,
    climb,
    expand,
    fill_tail,
    first_within,
    hold_more,
    last_of,
    new_states,
    reduced,
    shared_gain,
)
from grandag.parameters import ParameterError
from grandag.progress import Listener, Progress
from grandag.table import TableError

__all__ = ["Memory", "Optimum", "check_memory", "exact_search", "memory_needed"]

_CLIMBS = 30
"""Random orders to climb from."""

_AT_ONCE = 1 << 14
"""Subsets or states between two looks at the keyboard."""

_BYTES_PER_SET = 48
"""Set and score, while they are put together and numbered anew."""

_FIRST_PLACES = 1 << 16
_BYTES_PER_PLACE = 33
"""Of a state of A*: its set, g, the last variable, and an entry of the heap."""


class Memory(NamedTuple):
    """Bytes that a search needs before it starts; A* takes more as it goes, up to its limit."""

    parent_sets: int
    tails: int

    @property
    def total(self) -> int:
        """Both."""
        return self.parent_sets + self.tails


class Optimum(NamedTuple):
    """The best DAG that was found, its score, and a bound that no DAG exceeds: the score itself, if the search ended.

    It ends early by Ctrl-C or for lack of memory.
    """

    adjacency: np.ndarray
    score: float
    bound: float
    n_parent_sets: int
    was_interrupted: bool = False
    is_out_of_memory: bool = False

    @property
    def gap(self) -> float | None:
        """How much better another DAG could be; None if nothing is known."""
        return self.bound - self.score if math.isfinite(self.bound) else None


def memory_needed(knowledge: Masks, max_parents: int | None, exhaustive_up_to: int) -> Memory:
    """Sets of parents: those of one variable and size, and all of them if none is pruned. Subsets: 8 bytes each."""
    d = len(knowledge.allowed)
    width = 5 + 2 * min(d, d if max_parents is None else max_parents)
    sizes = _group_sizes(d, exhaustive_up_to)
    parent_sets = 8 * width * largest_level(knowledge, max_parents)
    parent_sets += _BYTES_PER_SET * count_sets(knowledge, max_parents)
    return Memory(parent_sets, 8 * sum(1 << size for size in sizes))


def check_memory(knowledge: Masks, max_parents: int | None, exhaustive_up_to: int, max_memory: float) -> Memory:
    """What the search needs, or an error that says what to do if that is more than allowed (in GB)."""
    d = len(knowledge.allowed)
    if d > MOST_VARIABLES:
        raise TableError(
            f"Exact search takes at most {MOST_VARIABLES} variables, the table has {d}: leave some out, or use "
            "greedy search (GES)."
        )
    needed = memory_needed(knowledge, max_parents, exhaustive_up_to)
    if needed.total > max_memory * 1e9:
        are_sets = needed.parent_sets > needed.tails
        name, advice = ("max_parents", "set it to 4, say") if are_sets else ("exhaustive_up_to", "lower it")
        raise ParameterError(
            name,
            f"makes the search of {d} variables need {needed.total / 1e9:,.1f} GB (sets of parents "
            f"{needed.parent_sets / 1e9:,.1f} GB, subsets {needed.tails / 1e9:,.1f} GB), and max_memory is "
            f"{max_memory:g} GB: {advice}, or raise max_memory.",
        )
    return needed


def exact_search(
    score: LocalScore,
    knowledge: Masks,
    *,
    max_parents: int | None = None,
    exhaustive_up_to: int = 22,
    max_memory: float = 2.0,
    listener: Listener | None = None,
) -> Optimum:
    """The DAG with the best score among those that knowledge allows, with at most `max_parents` per variable.

    `score` is anything with `n_variables` and `local(node, parents) -> float`. Ctrl-C ends the search with the best DAG
    so far, and so does `max_memory` (GB).

    >>> from grandag.knowledge import Masks
    >>> class Score:
    ...     n_variables = 3
    ...     def local(self, node, parents):
    ...         return float(node in parents) - abs(len(parents) - node)
    >>> allowed = ~np.eye(3, dtype=bool)
    >>> found = exact_search(Score(), Masks(allowed, np.zeros((3, 3), dtype=bool)))
    >>> found.score, found.bound, found.adjacency.sum(axis=0).tolist()
    (0.0, 0.0, [0, 1, 2])
    """
    check_memory(knowledge, max_parents, exhaustive_up_to, max_memory)
    found = find_parent_sets(score, knowledge, max_parents, listener)
    d = len(knowledge.allowed)
    adjacency, total, bound = np.zeros((d, d), dtype=bool), 0.0, 0.0 if found.is_complete else math.inf
    was_interrupted, is_out_of_memory = not found.is_complete, False
    for nodes in _components(found):
        sizes = _group_sizes(len(nodes), exhaustive_up_to)
        problem = _Problem(found, nodes, sizes, knowledge.required, max_memory, listener)
        if not was_interrupted:
            try:
                problem.climb()
                problem.solve()
            except KeyboardInterrupt:
                was_interrupted = True
        is_out_of_memory |= problem.is_out_of_memory
        for child, parents in problem.parents().items():
            adjacency[parents, child] = True
        total += problem.score
        bound += problem.bound
    return Optimum(adjacency, total, max(bound, total), len(found.sets), was_interrupted, is_out_of_memory)


def _components(found: ParentSets) -> list[np.ndarray]:
    """Groups of variables with no circle of possible parents between them."""
    n_groups, group = connected_components(found.candidates(), connection="strong")
    return [np.flatnonzero(group == k) for k in range(n_groups)]


def _group_sizes(d: int, largest: int) -> list[int]:
    """The sizes of as few groups as can be, as equal as can be."""
    n_groups = -(-d // largest)
    return [d // n_groups + (k < d % n_groups) for k in range(n_groups)]


class _Problem:
    """The search within one component: its variables with numbers of their own, its best order, and a bound."""

    def __init__(
        self,
        found: ParentSets,
        nodes: np.ndarray,
        sizes: Sequence[int],
        required: np.ndarray,
        max_memory: float,
        listener: Listener | None,
    ) -> None:
        self.found, self.sizes, self.required = found, sizes, required
        self.max_memory, self.listener = max_memory, listener
        self.is_out_of_memory = False
        self._rng = np.random.default_rng(0)
        self._renumber(nodes)
        if len(sizes) > 1:
            self._renumber(nodes[self._grouped()])
        self.order = self._random_order()
        self.score = float(climb(*self.arrays, self.order))
        self.bound = float(sum(self.parts.scores[first] for first in self.parts.start[:-1]))  # all others at hand

    def _renumber(self, nodes: np.ndarray) -> None:
        """Take these numbers for the variables, and sets without what lies outside, which is always at hand."""
        self.nodes, found = nodes, self.found
        sets, self.places = [], []
        for j in nodes:
            places = np.arange(found.start[j], found.start[j + 1])
            inside = sum((found.sets[places] >> int(node) & 1) << k for k, node in enumerate(nodes))
            reaches_out = len(nodes) < len(found.start) - 1
            kept = reduced(np.asarray(inside)) if reaches_out else np.ones(len(places), dtype=bool)
            sets.append(np.asarray(inside)[kept])
            self.places.append(places[kept])
        self.parts = ParentSets.of(sets, [found.scores[places] for places in self.places])

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What compiled code reads."""
        return self.parts.sets, self.parts.scores, self.parts.start

    def climb(self) -> None:
        """Take the best order of some climbs; what is found without them is found anyway by dynamic programming."""
        for _ in range(_CLIMBS if len(self.nodes) > 2 else 0):
            order = self._random_order()
            score = float(climb(*self.arrays, order))
            if score > self.score:
                self.score, self.order = score, order

    def _random_order(self) -> np.ndarray:
        """Numbers of the variables in an order that required edges allow."""
        order, rest = list[int](), self._rng.permutation(len(self.nodes)).tolist()
        required = self.required[np.ix_(self.nodes, self.nodes)]
        while rest:
            order.append(next(j for j in rest if not required[rest, j].any()))
            rest.remove(order[-1])
        return np.array(order)

    def solve(self) -> None:
        """Find the best order; the bound falls as the search proves more."""
        tails = self._tails()
        if len(self.sizes) == 1:
            self.score = self.bound = float(tails[-1])
            self.order = self._follow(tails)
        else:
            self._best_first(tails, np.cumsum([0, *self.sizes[:-1]]), np.array(self.sizes))

    def _grouped(self) -> list[int]:
        """The variables in an order in which those of a group follow each other, and belong together.

        Each group begins with the pair that would lose most by being apart, and takes what loses most without it.
        """
        gain, order = shared_gain(*self.arrays), list[int]()
        gain = np.where(np.isinf(gain), gain[np.isfinite(gain)].max(initial=1.0), gain)
        for size in self.sizes:
            rest = [j for j in range(len(self.nodes)) if j not in order]
            group = [rest[int(gain[np.ix_(rest, rest)].sum(axis=1).argmax())]]
            while len(group) < size:
                rest.remove(group[-1])
                group.append(rest[int(gain[np.ix_(rest, group)].sum(axis=1).argmax())])
            order += group
        return order

    def _tails(self) -> np.ndarray:
        """H(T) of the subsets T of each group, one group after the other."""
        tails, offset, place = np.empty(sum(1 << size for size in self.sizes)), 0, 0
        for size in self.sizes:
            tail = tails[place : place + (1 << size)]
            for first in range(0, 1 << size, _AT_ONCE):
                last = min(first + _AT_ONCE, 1 << size)
                fill_tail(*self.arrays, offset, tail, first, last)
                self._tell(place + last, len(tails))
            offset, place = offset + size, place + (1 << size)
        return tails

    def _follow(self, tail: np.ndarray) -> np.ndarray:
        """The order whose tails are the best: what comes next is what makes the rest as good as promised."""
        order, rest = list[int](), len(tail) - 1
        while rest:
            pool = len(tail) - 1 & ~rest
            members = [j for j in range(len(self.nodes)) if rest >> j & 1]
            values = [self._score(j, pool) + tail[rest & ~(1 << j)] for j in members]
            order.append(members[int(np.argmax(values))])
            rest &= ~(1 << order[-1])
        return np.array(order)

    def _score(self, j: int, pool: int) -> float:
        place = first_within(self.parts.sets, self.parts.start, j, pool)
        return float(self.parts.scores[place]) if place >= 0 else -math.inf

    def _best_first(self, tails: np.ndarray, offsets: np.ndarray, sizes: np.ndarray) -> None:
        """A*, until the best order is known, or the memory is used up."""
        d = len(self.nodes)
        states = new_states(_FIRST_PLACES)
        self.bound = float(bounds(tails, offsets, sizes, d, 0))
        while True:
            ended = expand(*self.arrays, tails, offsets, sizes, tuple(states), self.score, _AT_ONCE)
            if ended == FOUND:
                break
            self.bound = max(float(states.heap_f[0]), self.score)
            if ended == FULL:
                needed = 3 * len(states.keys) * _BYTES_PER_PLACE + 8 * len(tails)  # the old states and the new ones
                if needed > self.max_memory * 1e9:
                    self.is_out_of_memory = True
                    return
                states = hold_more(states)
            self._tell(int(states.counts[2]), 0)
        if states.counts[1] and states.heap_key[0] == (1 << d) - 1:
            self.score = float(states.heap_f[0])
            self.order = self._backwards(states)
        self.bound = self.score

    def _backwards(self, states: States) -> np.ndarray:
        """The order that led to the last state."""
        order, state = list[int](), (1 << len(self.nodes)) - 1
        while state:
            order.append(int(last_of(states.keys, states.last, state)))
            state &= ~(1 << order[-1])
        return np.array(order[::-1])

    def parents(self) -> dict[int, list[int]]:
        """The best parents of each variable in the order that was found, in the numbers of all variables."""
        chosen, pool = dict[int, list[int]](), 0
        for j in self.order.tolist():
            place = int(first_within(self.parts.sets, self.parts.start, j, pool)) - int(self.parts.start[j])
            parents = int(self.found.sets[self.places[j][place]])
            chosen[int(self.nodes[j])] = [i for i in range(MOST_VARIABLES) if parents >> i & 1]
            pool |= 1 << j
        return chosen

    def _tell(self, step: int, n_steps: int) -> None:
        if self.listener is not None:
            self.listener(Progress("subsets", step, n_steps))
