"""Plans: the places at which a node could be put back, as few rows see them.

Optimal reinsertion (Moore and Wong 2003), along an order: with node k taken out, the others stand in an order in which
k's ancestors come first and its descendants last. At each place in it, k may have parents among those before it and
children among those after it: the ones it has, and those that promise something. The children that now stand before k
lose it and choose again. Reversals, additions, deletions and swaps in the order are special cases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grandag.evidence.scores import LocalScores, Parents
from grandag.graph import topological_order

__all__ = ["Knowledge", "Plan", "as_adjacency", "plans"]

_SLACK = 3.0
"""Nats (of all rows) that few rows may speak against a place that all rows are still asked about."""


class Knowledge(NamedTuple):
    """Edges that the graph may have and those that it must have, [i, j] for i -> j."""

    allowed: np.ndarray
    required: np.ndarray


class Plan(NamedTuple):
    """A node's new place: candidates for the parents of every node that changes."""

    promise: float
    node: int
    order: tuple[int, ...]
    candidates: dict[int, Parents]

    @property
    def signature(self) -> frozenset[tuple[int, Parents]]:
        """What tells plans apart: the candidates."""
        return frozenset(self.candidates.items())


def plans(
    scores: LocalScores, parents: list[Parents], node: int, promising: np.ndarray, knowledge: Knowledge
) -> list[Plan]:
    """The places of a node that few rows do not speak against, best first."""
    others = _order_around(parents, node)
    required, allowed = knowledge.required, knowledge.allowed
    children = {j for j in others if node in parents[j]}
    wanted = {*parents[node], *np.flatnonzero(promising[:, node]).tolist(), *(j for j in children if allowed[j, node])}
    gaining = {j for j in others if promising[node, j] or (j in parents[node] and allowed[node, j])}
    with_node = {j: _changed(parents[j], add=node) for j in gaining}
    without_node = {j: _changed(parents[j], drop=node) for j in children}
    gains = {j: _most_gained(scores, parents[j], j, new) for j, new in with_node.items()}
    losses = {j: _most_gained(scores, parents[j], j, new) for j, new in without_node.items()}
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
        gain = _most_gained(scores, parents[node], node, new)
        gain += sum(losses[j] for j in before if j in children) + sum(max(gains.get(j, 0.0), 0.0) for j in after)
        if gain > -_SLACK or (candidates.keys() == {node} and set(parents[node]) < set(new)):
            found.append(Plan(gain, node, (*before, node, *after), candidates))
    return sorted(found, key=lambda plan: -plan.promise)


def _most_gained(scores: LocalScores, parents: Parents, child: int, new: Parents) -> float:
    """What few rows say that a child would gain at most by choosing among new parents: it may take one of them only."""
    evidence = scores.few(child, new, parents) - scores.few(child, parents)
    n_fewer = len(set(parents) - set(new)) - (not set(new) <= set(parents))
    return scores.scale * evidence + scores.cost_per_edge * n_fewer


def _changed(parents: Parents, *, add: int | None = None, drop: int | None = None) -> Parents:
    return tuple(sorted({*parents} - {drop} | ({add} if add is not None else set())))


def _order_around(parents: list[Parents], node: int) -> tuple[int, ...]:
    """All other nodes, parents before children; the node's ancestors come first, its descendants last."""
    order = topological_order(as_adjacency(parents))
    ancestors: set[int] = set()
    for j in reversed(order):
        if j == node or j in ancestors:
            ancestors.update(parents[j])
    descendants: set[int] = set()
    for j in order:
        if any(i == node or i in descendants for i in parents[j]):
            descendants.add(j)
    rest = [j for j in order if j != node and j not in ancestors and j not in descendants]
    return (*(j for j in order if j in ancestors), *rest, *(j for j in order if j in descendants))


def as_adjacency(parents: list[Parents]) -> np.ndarray:
    """(d, d), [i, j] for i -> j."""
    adjacency = np.zeros((len(parents), len(parents)), dtype=bool)
    for j, some in enumerate(parents):
        adjacency[list(some), j] = True
    return adjacency
