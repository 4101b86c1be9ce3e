"""Plans: the places at which a node could be put back, as few rows see them.

Optimal reinsertion (Moore and Wong 2003), along an order: with node k taken out, the others stand in an order in which
k's ancestors come first and its descendants last. At each place in it, k may have parents among those before it and
children among those after it: the ones it has, and those that promise something. The children that now stand before k
lose it and choose again. Reversals, additions, deletions and swaps in the order are special cases. Only nodes that
could become its parents or children tell places apart, so that a plan costs as much as k has of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from grandag.evidence.interface import Parents, Scores

__all__ = ["Knowledge", "Order", "Plan", "as_adjacency", "plans"]

_SLACK = 3.0
"""Nats (of all rows) that few rows may speak against a place that all rows are still asked about."""


class Knowledge(NamedTuple):
    """Edges that the graph may have and those that it must have, [i, j] for i -> j."""

    allowed: np.ndarray
    required: np.ndarray


class Order:
    """The nodes of a DAG, parents before children, and which are whose ancestors.

    After a move it stays as near as it can to what it was `before`: where nothing changed, few rows have nothing new to
    say.
    """

    def __init__(self, parents: list[Parents], before: Order | None = None) -> None:
        self.children: list[list[int]] = [[] for _ in parents]
        for j, some in enumerate(parents):
            for i in some:
                self.children[i].append(j)
        priority = list(range(len(parents))) if before is None else before._place
        self.nodes = self._sorted([len(some) for some in parents], priority)
        self._place: list[int] = np.argsort(self.nodes).tolist()
        self._ancestors = [0] * len(parents)  # bit i of number j: is i an ancestor of j?
        for j in self.nodes:
            for i in parents[j]:
                self._ancestors[j] |= self._ancestors[i] | 1 << i

    def _sorted(self, n_missing: list[int], priority: list[int]) -> list[int]:
        """Parents before children; of those whose parents all stand, the first by priority."""
        ready = [(priority[j], j) for j, n in enumerate(n_missing) if n == 0]
        heapq.heapify(ready)
        nodes = []
        while ready:
            _, node = heapq.heappop(ready)
            nodes.append(node)
            for child in self.children[node]:
                n_missing[child] -= 1
                if n_missing[child] == 0:
                    heapq.heappush(ready, (priority[child], child))
        return nodes

    def is_ancestor(self, i: int, j: int) -> bool:
        """Is there a directed path from i to j?"""
        return bool(self._ancestors[j] >> i & 1)

    def around(self, node: int, others: Iterable[int]) -> list[int]:
        """Other nodes in the order, but ancestors of this one first, and its descendants last."""
        return sorted(others, key=lambda j: (self.is_ancestor(node, j) - self.is_ancestor(j, node), self._place[j]))


class Plan(NamedTuple):
    """A node's new place: candidates for the parents of every node that changes."""

    promise: float
    node: int
    after: frozenset[int]
    """Nodes that stand after it, of those that tell places apart."""
    candidates: dict[int, Parents]

    @property
    def signature(self) -> frozenset[tuple[int, Parents]]:
        """What tells plans apart: the candidates."""
        return frozenset(self.candidates.items())

    def places(self, order: Order) -> np.ndarray:
        """Where each node would stand; this one as late as it may, so that it can choose among the most."""
        others = order.around(self.node, (j for j in order.nodes if j != self.node))
        place = next((k for k, j in enumerate(others) if j in self.after), len(others))
        return np.argsort([*others[:place], self.node, *others[place:]])


def plans(
    scores: Scores,
    parents: list[Parents],
    order: Order,
    node: int,
    promising: np.ndarray,
    knowledge: Knowledge,
) -> list[Plan]:
    """The places of a node that few rows do not speak against, best first."""
    required, allowed = knowledge.required, knowledge.allowed
    children = set(order.children[node])
    wanted = {*parents[node], *np.flatnonzero(promising[:, node]).tolist(), *(j for j in children if allowed[j, node])}
    gaining = {*np.flatnonzero(promising[node]).tolist(), *(j for j in parents[node] if allowed[node, j])} - children
    with_node = {j: _changed(parents[j], add=node) for j in gaining}
    without_node = {j: _changed(parents[j], drop=node) for j in children}
    gains = {j: _most_gained(scores, parents[j], j, new, -_SLACK) for j, new in with_node.items()}
    losses = {j: _most_gained(scores, parents[j], j, new) for j, new in without_node.items()}
    others = order.around(node, wanted | children | gaining)
    found = []
    for place in range(len(others) + 1):
        before, after = others[:place], others[place:]
        if any(required[node, j] for j in before) or any(required[j, node] for j in after):
            continue
        candidates = {j: without_node[j] for j in before if j in children}
        candidates |= {j: with_node[j] for j in after if gains.get(j, -np.inf) > -_SLACK}
        new = tuple(sorted(wanted.intersection(before)))
        if new != parents[node]:
            candidates[node] = new
        if not candidates:
            continue
        is_addition = candidates.keys() == {node} and set(parents[node]) < set(new)
        if is_addition and place < len(others) and others[place] not in children:
            continue  # the next place offers as much, or more
        gain = sum(losses[j] for j in before if j in children) + sum(max(gains.get(j, 0.0), 0.0) for j in after)
        gain += _most_gained(scores, parents[node], node, new, -np.inf if is_addition else -_SLACK - gain)
        if gain > -_SLACK or is_addition:
            found.append(Plan(gain, node, frozenset(after), candidates))
    return sorted(found, key=lambda plan: -plan.promise)


def _most_gained(scores: Scores, parents: Parents, child: int, new: Parents, least: float = -np.inf) -> float:
    """What few rows say that a child would gain at most by choosing among new parents: it may take one of them only.

    Where that is less than the `least` that matters, -inf.
    """
    n_fewer = len(set(parents) - set(new)) - (not set(new) <= set(parents))
    saved = scores.edge_cost(child) * n_fewer
    return scores.scale * scores.few_gain(child, new, parents, (least - saved) / scores.scale) + saved


def _changed(parents: Parents, *, add: int | None = None, drop: int | None = None) -> Parents:
    return tuple(sorted({*parents} - {drop} | ({add} if add is not None else set())))


def as_adjacency(parents: list[Parents]) -> np.ndarray:
    """(d, d), [i, j] for i -> j."""
    adjacency = np.zeros((len(parents), len(parents)), dtype=bool)
    for j, some in enumerate(parents):
        adjacency[list(some), j] = True
    return adjacency
