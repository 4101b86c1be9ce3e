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

Gains and cliques depend on the surroundings of x and y only, so a step leaves most of them as they were; they wait in a
heap, and paths are looked at only for operators that come to its top. Sets of nodes are bits of whole numbers.

Background knowledge narrows a class to the DAGs that it allows (`restricted_class`). Operators that would direct an
edge against it, or after which no DAG is left, are not applied.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from grandag.graph import GraphError, directed_part, restricted_class, skeleton, to_dag, undirected_part
from grandag.progress import Listener, Progress

__all__ = ["MOST_CLIQUES", "PHASES", "CachedScore", "Found", "LocalScore", "Step", "bits", "greedy_search"]

MOST_CLIQUES = 256
"""Cliques C to look at for each x and y, small ones first: k neighbours that are all joined have 2^k."""

_LEAST_GAIN = 1e-6
"""Smaller differences of a score (a log-likelihood) are rounding."""


class LocalScore(Protocol):
    """A score of DAGs that is a sum over the nodes, higher is better."""

    n_variables: int

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """The part of one node, given its parents in ascending order."""
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
        self._known: list[dict[int, float]] = [{} for _ in range(score.n_variables)]

    def __call__(self, node: int, parents: int) -> float:
        """The part of one node."""
        known = self._known[node]
        if parents not in known:
            known[parents] = self._score.local(node, tuple(bits(parents)))
        return known[parents]

    def total(self, dag: np.ndarray) -> float:
        """The score of a DAG."""
        return sum(self(node, parents) for node, parents in enumerate(_sets(dag.T)))


def greedy_search(
    score: CachedScore,
    allowed: np.ndarray,
    required: np.ndarray,
    *,
    phases: Sequence[str],
    repeat: bool,
    max_parents: int | None = None,
    listener: Listener | None = None,
) -> Found:
    """The class that no operator of the phases improves, and how it was found.

    Starts from the required edges. `phases` are names in `PHASES`; with `repeat` they start again until a whole round
    changes nothing.
    """
    graph = restricted_class(required, allowed)
    steps, is_cut = list[Step](), False
    limit = len(allowed) if max_parents is None else max_parents
    rounds = {graph.tobytes()}
    while True:
        for phase in phases:
            search = _Phase(PHASES[phase](score, allowed, required, limit), graph, listener)
            graph = search.run(steps)
            is_cut |= search.is_cut
        if not repeat or graph.tobytes() in rounds:
            return Found(graph, steps, is_cut)
        rounds.add(graph.tobytes())


class _State:
    """A graph as sets of bits, one of each kind for every node."""

    def __init__(self, graph: np.ndarray) -> None:
        self.graph, self.is_cut = graph, False
        directed = directed_part(graph)
        self.parents, self.children = _sets(directed.T), _sets(directed)
        self.neighbours, self.adjacent = _sets(undirected_part(graph)), _sets(skeleton(graph))

    def leads(self, start: int, goal: int, blocked: int) -> bool:
        """Is there a semi-directed path, other than an edge between the two, that meets no blocked node?"""
        closed = blocked | 1 << start
        frontier = (self.children[start] | self.neighbours[start]) & ~(closed | 1 << goal)
        while frontier:
            closed |= frontier
            reached = 0
            for node in bits(frontier):
                reached |= self.children[node] | self.neighbours[node]
            if reached >> goal & 1:
                return True
            frontier = reached & ~closed
        return False

    def is_clique(self, nodes: int) -> bool:
        return all(not nodes & ~(self.adjacent[node] | 1 << node) for node in bits(nodes))

    def cliques(self, core: int, others: int) -> Iterator[int]:
        """Cliques that contain the core and, beyond it, some of the others: the smallest `MOST_CLIQUES`."""
        if not self.is_clique(core):
            return
        for node in bits(core):
            others &= self.adjacent[node]
        waiting = deque([(core, others)])
        for _ in range(MOST_CLIQUES):
            if not waiting:
                return
            clique, others = waiting.popleft()
            yield clique
            while others:
                node = others.bit_length() - 1
                others ^= 1 << node
                waiting.append((clique | 1 << node, others & self.adjacent[node]))
        self.is_cut |= bool(waiting)


class _Kind:
    """One kind of operator: where it can be, what it gains, and what it does."""

    name: str

    def __init__(self, score: CachedScore, allowed: np.ndarray, required: np.ndarray, max_parents: int) -> None:
        self.score, self.allowed, self.max_parents = score, allowed, max_parents
        self.allowed_sources = _sets(allowed.T)
        self.required_with = _sets(skeleton(required))
        self.is_free = not required.any() and int(allowed.sum()) == len(allowed) * (len(allowed) - 1)

    def sources(self, state: _State, y: int) -> int:
        """The x of operators on x and y."""
        raise NotImplementedError

    def candidates(self, state: _State, x: int, y: int) -> Iterator[tuple[float, int]]:
        """Gain and clique of all operators that the surroundings of x and y allow."""
        raise NotImplementedError

    def is_valid(self, state: _State, x: int, y: int, clique: int) -> bool:
        """Do the paths of the graph allow it, too?"""
        return True

    def change(self, graph: np.ndarray, x: int, y: int, clique: int) -> None:
        """Turn a class's graph into one whose extensions are DAGs of the new class, with the parents scored."""
        raise NotImplementedError

    def undo(self, dag: np.ndarray, x: int, y: int) -> None:
        """Change the edge of x and y in a DAG of the new class back."""
        raise NotImplementedError

    def apply(self, state: _State, x: int, y: int, clique: int) -> np.ndarray | None:
        """The class after the operator; None if knowledge leaves no DAG."""
        if not self.is_valid(state, x, y, clique):
            return None
        graph = state.graph.copy()
        self.change(graph, x, y, clique)
        try:
            dag = to_dag(graph)
            return restricted_class(dag, self.allowed) if self._comes_from(state, dag, x, y) else None
        except GraphError:
            return None

    def _comes_from(self, state: _State, dag: np.ndarray, x: int, y: int) -> bool:
        """Is the DAG one edge away from the state? Without knowledge it always is; with it there is no such theorem."""
        if self.is_free:
            return True
        before = dag.copy()
        self.undo(before, x, y)
        return bool(np.array_equal(restricted_class(before, self.allowed), state.graph))


class _Insert(_Kind):
    name = "forward"

    def sources(self, state: _State, y: int) -> int:
        return self.allowed_sources[y] & ~state.adjacent[y]

    def candidates(self, state: _State, x: int, y: int) -> Iterator[tuple[float, int]]:
        core = state.neighbours[y] & state.adjacent[x]
        for clique in state.cliques(core, state.neighbours[y] & ~core):
            given = state.parents[y] | clique
            if given.bit_count() < self.max_parents:
                yield self.score(y, given | 1 << x) - self.score(y, given), clique

    def is_valid(self, state: _State, x: int, y: int, clique: int) -> bool:
        return not state.leads(y, x, clique)

    def change(self, graph: np.ndarray, x: int, y: int, clique: int) -> None:
        _direct(graph, y, clique)
        graph[x, y] = True

    def undo(self, dag: np.ndarray, x: int, y: int) -> None:
        dag[x, y] = False


class _Delete(_Kind):
    name = "backward"

    def sources(self, state: _State, y: int) -> int:
        return (state.parents[y] | state.neighbours[y]) & ~self.required_with[y]

    def candidates(self, state: _State, x: int, y: int) -> Iterator[tuple[float, int]]:
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

    def sources(self, state: _State, y: int) -> int:
        return (state.children[y] | state.neighbours[y]) & self.allowed_sources[y]

    def candidates(self, state: _State, x: int, y: int) -> Iterator[tuple[float, int]]:
        near = state.neighbours[y] & ~(1 << x)
        common, before = near & state.adjacent[x], state.parents[x] & ~(1 << y)
        is_directed = not state.neighbours[y] >> x & 1
        for clique in state.cliques(common if is_directed else 0, near & ~common if is_directed else near):
            if not is_directed and (not clique & ~common or self._is_joined(state, clique, common, near)):
                continue
            given = state.parents[y] | clique
            if given.bit_count() < self.max_parents:
                other = before if is_directed else before | clique & common
                gain = self.score(y, given | 1 << x) - self.score(y, given)
                yield gain + self.score(x, other) - self.score(x, other | 1 << y), clique

    @staticmethod
    def _is_joined(state: _State, clique: int, common: int, near: int) -> bool:
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

    def is_valid(self, state: _State, x: int, y: int, clique: int) -> bool:
        is_directed = not state.neighbours[y] >> x & 1
        return not (is_directed and state.leads(y, x, clique | state.neighbours[x]))

    def change(self, graph: np.ndarray, x: int, y: int, clique: int) -> None:
        common = skeleton(graph)[x] & undirected_part(graph)[y]
        is_undirected = graph[x, y]
        graph[y, x], graph[x, y] = False, True
        _direct(graph, y, clique)
        _direct(graph, x, clique & _sets(common[None])[0] if is_undirected else 0)

    def undo(self, dag: np.ndarray, x: int, y: int) -> None:
        dag[x, y], dag[y, x] = False, True


PHASES: dict[str, type[_Kind]] = {kind.name: kind for kind in (_Insert, _Delete, _Turn)}
"""What the search can do, by name."""


class _Phase:
    """All operators of one kind, the best of which is applied until none gains anything."""

    def __init__(self, kind: _Kind, graph: np.ndarray, listener: Listener | None) -> None:
        self.kind, self.state, self.listener = kind, _State(graph), listener
        self.heap: list[tuple[float, int, int, int, int]] = []  # -gain, x, y, clique, version
        d = len(graph)
        self.version = np.zeros((d, d), dtype=np.int64)
        self.seen = {graph.tobytes()}
        self.is_cut = False
        for y in range(d):
            self._push_all(y, step=y + 1)

    def run(self, steps: list[Step]) -> np.ndarray:
        """The graph after the phase; its steps are appended."""
        while (found := self._best()) is not None:
            gain, x, y, clique, graph = found
            steps.append(Step(self.kind.name, x, y, tuple(bits(clique)), gain, int(skeleton(graph).sum()) // 2))
            self.seen.add(graph.tobytes())
            self._move_to(graph)
            self._tell(self.kind.name, len(steps), 0, steps[-1].n_edges)
        return self.state.graph

    def _best(self) -> tuple[float, int, int, int, np.ndarray] | None:
        """The best operator that can be applied, and the graph after it. No class is visited twice in a phase."""
        impossible, found = [], None
        while self.heap and found is None:
            entry = heapq.heappop(self.heap)
            loss, x, y, clique, version = entry
            if version != self.version[x, y]:
                continue
            graph = self.kind.apply(self.state, x, y, clique)
            if graph is None or graph.tobytes() in self.seen:
                impossible.append(entry)
            else:
                found = -loss, x, y, clique, graph
        for entry in impossible:
            heapq.heappush(self.heap, entry)
        return found

    def _move_to(self, graph: np.ndarray) -> None:
        """Take the new state, and compute anew the operators whose surroundings have changed."""
        old, self.state = self.state, _State(graph)
        new, d = self.state, len(graph)
        changed = {v for v in range(d) if old.parents[v] != new.parents[v] or old.neighbours[v] != new.neighbours[v]}
        joined = {v for v in range(d) if old.adjacent[v] != new.adjacent[v]}
        ends = sum(1 << v for v in joined)
        targets = changed | {v for v in range(d) if ends and new.neighbours[v] & ends == ends}
        sources = changed if self.kind.name == "turning" else joined
        self.version[:, list(targets)] += 1
        self.version[list(sources), :] += 1
        is_source = sum(1 << v for v in sources)
        for y in range(d):
            possible = self.kind.sources(new, y)
            for x in bits(possible if y in targets else possible & is_source):
                self._push(x, y)

    def _push_all(self, y: int, step: int) -> None:
        for x in bits(self.kind.sources(self.state, y)):
            self._push(x, y)
        self._tell("score", step, len(self.state.graph))

    def _push(self, x: int, y: int) -> None:
        for gain, clique in self.kind.candidates(self.state, x, y):
            if gain > _LEAST_GAIN:
                heapq.heappush(self.heap, (-gain, x, y, clique, int(self.version[x, y])))
        self.is_cut |= self.state.is_cut

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


def bits(number: int) -> Iterator[int]:
    """The positions of the ones, ascending.

    >>> list(bits(0b1101))
    [0, 2, 3]
    """
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _sets(matrix: np.ndarray) -> list[int]:
    """Each row as a set of bits."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(matrix, axis=1, bitorder="little")]
