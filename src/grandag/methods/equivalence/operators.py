"""The operators of the greedy search: where each can be, what it gains, and what it does to the graph of a class.

`greedy_search` has their conditions and gains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from grandag.graph import skeleton
from grandag.methods.equivalence.class_state import ClassState, bits, sets
from grandag.methods.equivalence.local_score import CachedScore

__all__ = ["PHASES", "Kind", "Limits", "Operator"]

_LEAST_GAIN = 1e-6
"""Smaller differences of a score (a log-likelihood) are rounding."""


class Limits(NamedTuple):
    """Largest numbers of parents, and of adjacent nodes, that a step may lead to."""

    max_parents: int
    max_degree: int


Operator = tuple[float, int, int]
"""Gain, x and clique of an operator on x and some y."""


class Kind:
    """One kind of operator: where it can be, what it gains, and what it does."""

    name: str

    def __init__(self, score: CachedScore, allowed: np.ndarray, required: np.ndarray, limits: Limits) -> None:
        self.score, self.limits = score, limits
        self.allowed_sources = sets(allowed.T)
        self.required_with = sets(skeleton(required))
        self.is_free = not required.any() and int(allowed.sum()) == len(allowed) * (len(allowed) - 1)

    def operators(self, state: ClassState, y: int) -> Iterator[Operator]:
        """Those that gain something and that the surroundings of x and y allow, the best first."""
        found = (
            (gain, x, clique)
            for x in bits(self.sources(state, y))
            for gain, clique in self.candidates(state, x, y)
            if gain > _LEAST_GAIN
        )
        return iter(sorted(found, key=lambda operator: (-operator[0], *operator[1:])))

    def sources(self, state: ClassState, y: int) -> int:
        """The x of operators on x and y."""
        raise NotImplementedError

    def candidates(self, state: ClassState, x: int, y: int) -> Iterator[tuple[float, int]]:
        """Gain and clique of all operators that the surroundings of x and y allow."""
        raise NotImplementedError

    def targets(self, state: ClassState, changed: list[int], joined: list[int]) -> set[int]:
        """The y whose operators are others after a step: the ends of changed edges, and who looks at them.

        A pair that a step joins or parts is in N or in a clique of all that have one of the two as neighbour.
        """
        return {*changed, *(y for node in joined for y in bits(state.neighbours[node]))}

    def is_open(self, state: ClassState, x: int, y: int) -> bool:
        """May x still have an operator with y? Once it may not, it never may again in this phase."""
        return True

    def obstacle(self, state: ClassState, x: int, y: int, clique: int) -> np.ndarray:
        """The nodes of a path that forbids it, if there is one."""
        return np.empty(0, dtype=np.int64)

    def change(self, graph: np.ndarray, x: int, y: int, clique: int) -> None:
        """Turn a class's graph into one whose extensions are DAGs of the new class, with the parents scored."""
        raise NotImplementedError

    def undo(self, dag: np.ndarray, x: int, y: int) -> None:
        """Change the edge of x and y in a DAG of the new class back."""
        raise NotImplementedError

    def apply(self, state: ClassState, x: int, y: int, clique: int) -> np.ndarray | None:
        """The graph of the class after the operator, until the next one is tried; None if knowledge leaves no DAG.

        Without knowledge a DAG of the new class is one edge away from the old one; with it there is no such theorem.
        """
        change = partial(self.change, x=x, y=y, clique=clique)
        return state.after(x, y, change, None if self.is_free else partial(self.undo, x=x, y=y))


class _Insert(Kind):
    name = "forward"

    def __init__(self, score: CachedScore, allowed: np.ndarray, required: np.ndarray, limits: Limits) -> None:
        super().__init__(score, allowed, required, limits)
        self.is_source = np.ascontiguousarray(allowed.T)

    def operators(self, state: ClassState, y: int) -> Iterator[Operator]:
        """As above: the x with the same N = Ne(y) & Adj(x), which is nothing for most of them, are scored together."""
        gains, sources, cliques, places = list[np.ndarray](), list[np.ndarray](), list[int](), list[np.ndarray]()
        for core, candidates in self._by_core(state, y):
            for clique in state.cliques(core, state.neighbours[y] & ~core):
                given = state.parents[y] | clique
                if given.bit_count() < self.limits.max_parents:
                    gain = self.score.gains(y, given, candidates)
                    is_better = gain > _LEAST_GAIN
                    gains.append(gain[is_better])
                    sources.append(candidates[is_better])
                    places.append(np.full(len(gains[-1]), len(cliques)))
                    cliques.append(clique)
        return _sorted(gains, sources, places, cliques)

    def _by_core(self, state: ClassState, y: int) -> list[tuple[int, np.ndarray]]:
        """The x that may be joined to y, by N."""
        is_possible = self.is_source[y] & (state.n_adjacent < self.limits.max_degree)
        is_possible[[*bits(state.adjacent[y]), y]] = False
        if not self.is_open(state, y, y):
            return []
        core_of = defaultdict[int, int](int)
        for neighbour in bits(state.neighbours[y]):
            for x in bits(state.adjacent[neighbour]):
                core_of[x] |= 1 << neighbour
        with_core = defaultdict[int, list[int]](list)
        for x, core in core_of.items():
            if is_possible[x]:
                with_core[core].append(x)
        is_possible[list(core_of)] = False
        others = [(core, np.array(sorted(nodes))) for core, nodes in with_core.items()]
        return [(0, np.flatnonzero(is_possible)), *others]

    def is_open(self, state: ClassState, x: int, y: int) -> bool:
        return bool(max(state.n_adjacent[x], state.n_adjacent[y]) < self.limits.max_degree)

    def obstacle(self, state: ClassState, x: int, y: int, clique: int) -> np.ndarray:
        return state.path(y, x, clique)

    def change(self, graph: np.ndarray, x: int, y: int, clique: int) -> None:
        _direct(graph, y, clique)
        graph[x, y] = True

    def undo(self, dag: np.ndarray, x: int, y: int) -> None:
        dag[x, y] = False


def _sorted(
    gains: list[np.ndarray], sources: list[np.ndarray], places: list[np.ndarray], cliques: list[int]
) -> Iterator[Operator]:
    """One operator after the other, the best first; `places` are those of their cliques."""
    if not gains:
        return iter(())
    gain, x, place = (np.concatenate(part) for part in (gains, sources, places))
    order = np.lexsort((place, x, -gain))
    gain, x, place = gain[order], x[order].astype(np.int32), place[order].astype(np.int32)
    return ((float(gain[k]), int(x[k]), cliques[place[k]]) for k in range(len(order)))


class _Delete(Kind):
    name = "backward"

    def sources(self, state: ClassState, y: int) -> int:
        return (state.parents[y] | state.neighbours[y]) & ~self.required_with[y]

    def candidates(self, state: ClassState, x: int, y: int) -> Iterator[tuple[float, int]]:
        common = state.neighbours[y] & state.adjacent[x]
        for clique in state.cliques(0, common):
            given = (state.parents[y] | clique) & ~(1 << x)
            yield self.score(y, given) - self.score(y, given | 1 << x), clique

    def change(self, graph: np.ndarray, x: int, y: int, clique: int) -> None:
        graph[x, y] = graph[y, x] = False
        _direct(graph, y, clique)
        graph[graph[x] & graph[y], x] = False

    def undo(self, dag: np.ndarray, x: int, y: int) -> None:
        dag[x, y] = True


class _Turn(Kind):
    name = "turning"

    def sources(self, state: ClassState, y: int) -> int:
        return (state.children[y] | state.neighbours[y]) & self.allowed_sources[y]

    def candidates(self, state: ClassState, x: int, y: int) -> Iterator[tuple[float, int]]:
        near = state.neighbours[y] & ~(1 << x)
        common, before = near & state.adjacent[x], state.parents[x] & ~(1 << y)
        is_directed = not state.neighbours[y] >> x & 1
        for clique in state.cliques(common if is_directed else 0, near & ~common if is_directed else near):
            if not is_directed and (not clique & ~common or self._is_joined(state, clique, common, near)):
                continue
            given = state.parents[y] | clique
            if given.bit_count() < self.limits.max_parents:
                other = before if is_directed else before | clique & common
                gain = self.score(y, given | 1 << x) - self.score(y, given)
                yield gain + self.score(x, other) - self.score(x, other | 1 << y), clique

    @staticmethod
    def _is_joined(state: ClassState, clique: int, common: int, near: int) -> bool:
        """Is there a path from clique - common to common - clique in `near` that does not meet what they share?"""
        closed, goal = clique & common, common & ~clique
        frontier = clique & ~common
        while frontier:
            closed |= frontier
            reached = 0
            for node in bits(frontier):
                reached |= state.adjacent[node]
            frontier = reached & near & ~closed
            if frontier & goal:
                return True
        return False

    def targets(self, state: ClassState, changed: list[int], joined: list[int]) -> set[int]:
        """As above; a gain is that of y and x."""
        return {*changed, *(y for node in changed for y in bits(state.adjacent[node]))}

    def obstacle(self, state: ClassState, x: int, y: int, clique: int) -> np.ndarray:
        if state.neighbours[y] >> x & 1:
            return super().obstacle(state, x, y, clique)
        return state.path(y, x, clique | state.neighbours[x])

    def change(self, graph: np.ndarray, x: int, y: int, clique: int) -> None:
        common = (graph[x] | graph[:, x]) & graph[y] & graph[:, y]
        is_undirected = graph[x, y]
        graph[y, x], graph[x, y] = False, True
        _direct(graph, y, clique)
        _direct(graph, x, clique & sets(common[None])[0] if is_undirected else 0)

    def undo(self, dag: np.ndarray, x: int, y: int) -> None:
        dag[x, y], dag[y, x] = False, True


PHASES: dict[str, type[Kind]] = {kind.name: kind for kind in (_Insert, _Delete, _Turn)}
"""What the search can do, by name."""


def _direct(graph: np.ndarray, node: int, parents: int) -> None:
    """Direct the undirected edges of a node: towards it from these parents, away from it to all others."""
    becomes_parent = np.zeros(len(graph), dtype=bool)
    becomes_parent[list(bits(parents))] = True
    neighbours = graph[node] & graph[:, node]
    graph[node, neighbours & becomes_parent] = False
    graph[neighbours & ~becomes_parent, node] = False
