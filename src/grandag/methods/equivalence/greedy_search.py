"""Greedy search over Markov equivalence classes: GES (Chickering 2002, with the turning of Hauser and Buehlmann 2012).

The state is a class, as its CPDAG. A step applies the operator that raises the score most; with Pa, Ne and Adj for
parents, neighbours (undirected) and all adjacent nodes, N = Ne(y) & Adj(x), and a clique C in Ne(y):

    insert x -> y   N <= C, all semi-directed paths from y to x meet C
                    gain = s(y, Pa(y) + C + x) - s(y, Pa(y) + C)
    delete x -> y   C <= N                    (or x - y)
                    gain = s(y, Pa(y) + C - x) - s(y, Pa(y) + C + x)
    turn   y -> x   N <= C, all other semi-directed paths from y to x meet C or Ne(x)
                    gain = s(y, Pa(y) + C + x) - s(y, Pa(y) + C) + s(x, Pa(x) - y) - s(x, Pa(x))
    turn   y - x    C - N is not empty, and C & N separates it from N - C in the graph of Ne(y)
                    gain = s(y, Pa(y) + C + x) - s(y, Pa(y) + C) + s(x, Pa(x) + (C & N)) - s(x, Pa(x) + (C & N) + y)

Gains and cliques depend on the surroundings of x and y only, so a step leaves most of them as they were. The best
operator of each y waits in a heap, and paths are looked at only for operators that come to its top; one that a path
forbids comes back when an edge of that path has changed. A score that says at once what each variable would add to a
regression makes this the search of Ramsey et al. (2017, FGES), for thousands of variables: all of its work is by the
edges there are, but for the gains of insertions. Sets of nodes are bits of whole numbers.

Background knowledge narrows a class to the DAGs that it allows (`restricted_class`). Operators that would direct an
edge against it, or after which no DAG is left, are not applied.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from grandag.graph import restricted_class, skeleton
from grandag.methods.equivalence.class_state import ClassState, bits, sets
from grandag.progress import Listener, Progress

__all__ = ["PHASES", "CachedScore", "Found", "LocalScore", "OneMoreParent", "Step", "greedy_search"]

_LEAST_GAIN = 1e-6
"""Smaller differences of a score (a log-likelihood) are rounding."""


class LocalScore(Protocol):
    """A score of DAGs that is a sum over the nodes, higher is better."""

    n_variables: int

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """The part of one node, given its parents in ascending order."""
        ...


@runtime_checkable
class OneMoreParent(Protocol):
    """A score that tries many variables as a further parent at once, in a fraction of the time."""

    def gain_of_each(self, node: int, parents: tuple[int, ...], candidates: np.ndarray) -> np.ndarray:
        """(k,) how much each of the candidates (k,) would add to the part of one node, given its parents."""
        ...


class Step(NamedTuple):
    """An operator that was applied: its phase, its nodes, the clique C, its gain, and the new number of edges."""

    phase: str
    source: int
    target: int
    clique: tuple[int, ...]
    gain: float
    n_edges: int


class Found(NamedTuple):
    """The class as a (d, d) graph, the steps that led there, and whether there were cliques that nobody looked at."""

    graph: np.ndarray
    steps: list[Step]
    is_cut: bool


class CachedScore:
    """A local score by sets of bits; every value is computed once."""

    def __init__(self, score: LocalScore) -> None:
        self._score = score
        self._many = score if isinstance(score, OneMoreParent) else None
        self._known: list[dict[int, float]] = [{} for _ in range(score.n_variables)]

    def __call__(self, node: int, parents: int) -> float:
        """The part of one node."""
        known = self._known[node]
        if parents not in known:
            known[parents] = self._score.local(node, tuple(bits(parents)))
        return known[parents]

    def gains(self, node: int, parents: int, candidates: np.ndarray) -> np.ndarray:
        """How much each of the candidates would add to the part of one node."""
        if self._many is not None:
            return self._many.gain_of_each(node, tuple(bits(parents)), candidates)
        before = self(node, parents)
        return np.array([self(node, parents | 1 << x) - before for x in candidates.tolist()])

    def total(self, dag: np.ndarray) -> float:
        """The score of a DAG."""
        return sum(self(node, parents) for node, parents in enumerate(sets(dag.T)))


def greedy_search(
    score: CachedScore,
    allowed: np.ndarray,
    required: np.ndarray,
    *,
    phases: Sequence[str],
    repeat: bool,
    max_parents: int | None = None,
    max_degree: int | None = None,
    listener: Listener | None = None,
) -> Found:
    """The class that no operator of the phases improves, and how it was found.

    Starts from the required edges. `phases` are names in `PHASES`; with `repeat` they start again until a whole round
    changes nothing. Required edges may exceed the limits on parents and on adjacent nodes.
    """
    start = restricted_class(required, allowed) if required.any() else required
    state, steps = ClassState(start, allowed), list[Step]()
    limits = Limits(*(len(allowed) if limit is None else limit for limit in (max_parents, max_degree)))
    kinds = [PHASES[phase](score, allowed, required, limits) for phase in phases]
    rounds = {state.digest(state.graph)}
    while True:
        for kind in kinds:
            _Phase(kind, state, listener).run(steps)
        digest = state.digest(state.graph)
        if not repeat or digest in rounds:
            return Found(state.graph, steps, state.is_cut)
        rounds.add(digest)


class Limits(NamedTuple):
    """Largest numbers of parents, and of adjacent nodes, that a step may lead to."""

    max_parents: int
    max_degree: int


Operator = tuple[float, int, int]
"""Gain, x and clique of an operator on x and some y."""


class _Kind:
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


class _Insert(_Kind):
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
        return
    gain, x, place = (np.concatenate(part) for part in (gains, sources, places))
    order = np.lexsort((place, x, -gain))
    gain, x, place = gain[order], x[order].astype(np.int32), place[order].astype(np.int32)
    for k in range(len(order)):
        yield float(gain[k]), int(x[k]), cliques[place[k]]


class _Delete(_Kind):
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


class _Turn(_Kind):
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


PHASES: dict[str, type[_Kind]] = {kind.name: kind for kind in (_Insert, _Delete, _Turn)}
"""What the search can do, by name."""

_Entry = tuple[float, int, int, int, int]
"""-gain, x, y, clique and version of an operator in the heap."""


class _Phase:
    """All operators of one kind, the best of which is applied until none gains anything."""

    def __init__(self, kind: _Kind, state: ClassState, listener: Listener | None) -> None:
        self.kind, self.state, self.listener = kind, state, listener
        d = len(state.graph)
        self.heap: list[_Entry] = []
        self.others: list[Iterator[Operator]] = [iter(()) for _ in range(d)]
        self.version = [0] * d
        self.forbidden: set[_Entry] = set()
        self.forbidden_at: defaultdict[int, list[_Entry]] = defaultdict(list)
        self.seen = {state.digest(state.graph)}
        for y in range(d):
            self._renew(y)
            self._tell("score", y + 1, d)

    def run(self, steps: list[Step]) -> None:
        """Change the state until no operator gains anything; the steps are appended."""
        while (found := self._best()) is not None:
            gain, x, y, clique, graph = found
            changed, joined = self.state.move_to(graph)
            n_edges = int(self.state.n_adjacent.sum()) // 2
            steps.append(Step(self.kind.name, x, y, tuple(bits(clique)), gain, n_edges))
            for target in self.kind.targets(self.state, changed, joined):
                self._renew(target)
            self._release(changed)
            self._tell(self.kind.name, len(steps), 0, n_edges)

    def _best(self) -> tuple[float, int, int, int, np.ndarray] | None:
        """The best operator that can be applied, and the graph after it. No class is visited twice in a phase."""
        impossible, found = [], None
        while self.heap and found is None:
            entry = heapq.heappop(self.heap)
            loss, x, y, clique, version = entry
            if version != self.version[y]:
                continue
            self._push_next(y)
            if not self.kind.is_open(self.state, x, y):
                continue
            path = self.kind.obstacle(self.state, x, y, clique)
            if len(path):
                self._forbid(entry, path.tolist())
                continue
            graph = self.kind.apply(self.state, x, y, clique)
            if graph is None or (digest := self.state.digest(graph)) in self.seen:
                impossible.append(entry)
            else:
                self.seen.add(digest)
                found = -loss, x, y, clique, graph
        for entry in impossible:
            heapq.heappush(self.heap, entry)
        return found

    def _renew(self, y: int) -> None:
        """Compute the operators on y anew."""
        self.version[y] += 1
        self.others[y] = self.kind.operators(self.state, y)
        self._push_next(y)

    def _push_next(self, y: int) -> None:
        """The best of the operators on y that are not in the heap yet."""
        operator = next(self.others[y], None)
        if operator is not None:
            gain, x, clique = operator
            heapq.heappush(self.heap, (-gain, x, y, clique, self.version[y]))

    def _forbid(self, entry: _Entry, path: list[int]) -> None:
        """Put an operator aside for as long as the path is as it is."""
        self.forbidden.add(entry)
        for node in path:
            self.forbidden_at[node].append(entry)

    def _release(self, changed: list[int]) -> None:
        """Back into the heap with operators that a path through changed edges has forbidden."""
        for node in changed:
            for entry in self.forbidden_at.pop(node, ()):
                if entry in self.forbidden:
                    self.forbidden.remove(entry)
                    if entry[-1] == self.version[entry[2]]:
                        heapq.heappush(self.heap, entry)

    def _tell(self, stage: str, step: int, n_steps: int, n_edges: int | None = None) -> None:
        if self.listener is not None:
            self.listener(Progress(stage, step, n_steps, n_edges=n_edges))


def _direct(graph: np.ndarray, node: int, parents: int) -> None:
    """Direct the undirected edges of a node: towards it from these parents, away from it to all others."""
    becomes_parent = np.zeros(len(graph), dtype=bool)
    becomes_parent[list(bits(parents))] = True
    neighbours = graph[node] & graph[:, node]
    graph[node, neighbours & becomes_parent] = False
    graph[neighbours & ~becomes_parent, node] = False
