"""Search: node after node is taken out of the graph and put back where the evidence is greatest.

Optimal reinsertion (Moore and Wong 2003), along an order: with node k taken out, the others stand in an order in which
k's ancestors come first and its descendants last. At each place in it, k may have parents among those before it and
children among those after it: the ones it has, and those that promise something. The children that now stand before k
lose it and choose again. Reversals, additions, deletions and swaps in the order are special cases.

Few rows say which places are worth a look, all rows decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from grandag.evidence.scores import LocalScores, Parents
from grandag.evidence.selection import choose
from grandag.graph import topological_order

__all__ = ["Knowledge", "Move", "Searched", "climb"]

_SLACK = 3.0
"""Nats (of all rows) that few rows may speak against a place that all rows are still asked about."""
_AT_ONCE = 4
"""Plans that are tried together, for several threads; the same for any number of them."""
_LEAST_GAIN = 0.05
"""Nats that a move has to bring: what fits of the same parents may differ by."""


class Knowledge(NamedTuple):
    """Edges that the graph may have and those that it must have, [i, j] for i -> j."""

    allowed: np.ndarray
    required: np.ndarray


class Move(NamedTuple):
    """One step of the search."""

    node: int
    gain: float
    total: float


@dataclass
class Searched:
    """Where the search stands; at its end, the result."""

    parents: list[Parents]
    total: float
    moves: list[Move] = field(default_factory=list)
    was_interrupted: bool = False


class _Plan(NamedTuple):
    """A node's new place: candidates for the parents of every node that changes."""

    promise: float
    node: int
    order: tuple[int, ...]
    candidates: dict[int, Parents]

    @property
    def signature(self) -> frozenset[tuple[int, Parents]]:
        return frozenset(self.candidates.items())


class _Choice(NamedTuple):
    """The parents that a child chose among candidates and further ones."""

    candidates: frozenset[int]
    further: frozenset[int]
    parents: Parents

    def answers(self, candidates: frozenset[int], further: frozenset[int]) -> bool:
        """Whether the choice is the same among fewer candidates: those it fell on are still there."""
        return candidates <= self.candidates and further.issuperset(self.parents) and further <= self.further


def climb(
    scores: LocalScores, parents: list[Parents], knowledge: Knowledge, report: Callable[[Searched], None]
) -> Searched:
    """Reinsert nodes until none brings anything; Ctrl-C ends the search with the best graph so far."""
    state = Searched(list(parents), sum(scores.score(j, p) for j, p in enumerate(parents)))
    rejected: set[frozenset[tuple[int, Parents]]] = set()
    choices: list[list[_Choice]] = [[] for _ in parents]
    try:
        while _improve(scores, state, knowledge, rejected, choices):
            report(state)
    except KeyboardInterrupt:
        state.was_interrupted = True
    return state


def _improve(
    scores: LocalScores,
    state: Searched,
    knowledge: Knowledge,
    rejected: set[frozenset[tuple[int, Parents]]],
    choices: list[list[_Choice]],
) -> bool:
    """Make the first of the most promising reinsertions that improves the evidence, if any does."""
    nodes = range(len(state.parents))
    scores.each(lambda j: scores.few(j, state.parents[j]), nodes)
    promise = np.array(scores.each(lambda j: scores.promise(j, state.parents[j]), nodes)).T
    promising = (promise > scores.promising) & knowledge.allowed
    plans = scores.each(lambda k: _plans(scores, state.parents, k, promising, knowledge), nodes)
    best_first = sorted((plan for some in plans for plan in some), key=lambda plan: -plan.promise)
    untried = [plan for plan in best_first if plan.signature not in rejected]
    for first in range(0, len(untried), _AT_ONCE):
        some = untried[first : first + _AT_ONCE]
        for plan, changes in zip(some, _carry_out(scores, state.parents, some, knowledge, choices), strict=True):
            gain = sum(scores.score(j, new) - scores.score(j, state.parents[j]) for j, new in changes.items())
            if gain > _LEAST_GAIN:
                for j, new in changes.items():
                    state.parents[j] = new
                state.total += gain
                state.moves.append(Move(plan.node, gain, state.total))
                return True
            rejected.add(plan.signature)
    return False


def _plans(
    scores: LocalScores, parents: list[Parents], node: int, promising: np.ndarray, knowledge: Knowledge
) -> list[_Plan]:
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
    plans = []
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
            plans.append(_Plan(gain, node, (*before, node, *after), candidates))
    return sorted(plans, key=lambda plan: -plan.promise)


def _most_gained(scores: LocalScores, parents: Parents, child: int, new: Parents) -> float:
    """What few rows say that a child would gain at most by choosing among new parents: it may take one of them only."""
    evidence = scores.few(child, new, parents) - scores.few(child, parents)
    n_fewer = len(set(parents) - set(new)) - (not set(new) <= set(parents))
    return scores.scale * evidence + scores.cost_per_edge * n_fewer


def _carry_out(
    scores: LocalScores,
    parents: list[Parents],
    plans: list[_Plan],
    knowledge: Knowledge,
    choices: list[list[_Choice]],
) -> list[dict[int, Parents]]:
    """The parents that the nodes of each plan choose among the candidates, by all rows."""
    places = [{j: k for k, j in enumerate(plan.order)} for plan in plans]

    def chosen(child: int) -> dict[int, Parents]:
        return {k: chosen_in(child, k) for k, plan in enumerate(plans) if child in plan.candidates}

    def chosen_in(child: int, k: int) -> Parents:
        candidates = frozenset(plans[k].candidates[child])
        allowed = np.flatnonzero(knowledge.allowed[:, child]).tolist()
        further = candidates.union(i for i in allowed if places[k][i] < places[k][child])
        for earlier in choices[child]:
            if earlier.answers(candidates, further):
                return earlier.parents
        required = frozenset(np.flatnonzero(knowledge.required[:, child]).tolist())
        found = choose(scores, child, plans[k].candidates[child], further, required, parents[child])
        choices[child].append(_Choice(candidates, further, found))
        return found

    children = sorted({child for plan in plans for child in plan.candidates})
    by_child = dict(zip(children, scores.each(chosen, children), strict=True))
    return [{child: by_child[child][k] for child in plan.candidates} for k, plan in enumerate(plans)]


def _changed(parents: Parents, *, add: int | None = None, drop: int | None = None) -> Parents:
    return tuple(sorted({*parents} - {drop} | ({add} if add is not None else set())))


def _order_around(parents: list[Parents], node: int) -> tuple[int, ...]:
    """All other nodes, parents before children; the node's ancestors come first, its descendants last."""
    order = topological_order(_adjacency(parents))
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


def _adjacency(parents: list[Parents]) -> np.ndarray:
    adjacency = np.zeros((len(parents), len(parents)), dtype=bool)
    for j, some in enumerate(parents):
        adjacency[list(some), j] = True
    return adjacency
