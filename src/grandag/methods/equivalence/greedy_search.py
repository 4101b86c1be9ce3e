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
edges there are, but for the gains of insertions. Threads share the variables whose operators a phase begins with; each
step after that depends on the last. Sets of nodes are bits of whole numbers.

Background knowledge narrows a class to the DAGs that it allows (`restricted_class`). Operators that would direct an
edge against it, or after which no DAG is left, are not applied.

With interventions the state is the interventional essential graph, and this is GIES (Hauser and Buehlmann 2012): a
chain graph with chordal components as well, with the same operators, conditions and gains. All that differs is which
edges of a class are directed.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from grandag.graph import restricted_class
from grandag.methods.equivalence.class_state import ClassState, bits
from grandag.methods.equivalence.local_score import CachedScore
from grandag.methods.equivalence.operators import PHASES, Kind, Limits, Operator
from grandag.progress import Listener, Progress

__all__ = ["Found", "Step", "greedy_search"]

_SHARE = 128
"""Variables whose operators a thread computes at a time; so few are left to one thread."""

_OperatorsOf = Callable[[int], Iterator[Operator]]


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


def greedy_search(
    score: CachedScore,
    allowed: np.ndarray,
    required: np.ndarray,
    *,
    phases: Sequence[str],
    repeat: bool,
    max_parents: int | None = None,
    max_degree: int | None = None,
    groups: np.ndarray | None = None,
    n_threads: int = 1,
    listener: Listener | None = None,
) -> Found:
    """The class that no operator of the phases improves, and how it was found.

    Starts from the required edges. `phases` are names in `PHASES`; with `repeat` they start again until a whole round
    changes nothing. Required edges may exceed the limits on parents and on adjacent nodes. Interventions tell the
    direction of edges between different `groups` (d,), which are those of `target_groups`; None: there are none. The
    result does not depend on the number of threads.
    """
    groups = np.zeros(len(allowed), dtype=np.int64) if groups is None else groups
    state, steps = ClassState(_start(allowed, required, groups), allowed, groups), list[Step]()
    limits = Limits(*(len(allowed) if limit is None else limit for limit in (max_parents, max_degree)))
    kinds = [PHASES[phase](score, allowed, required, limits) for phase in phases]
    rounds = {state.digest(state.graph)}
    while True:
        for kind in kinds:
            _Phase(kind, state, n_threads, listener).run(steps)
        digest = state.digest(state.graph)
        if not repeat or digest in rounds:
            return Found(state.graph, steps, state.is_cut)
        rounds.add(digest)


def _start(allowed: np.ndarray, required: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The class of the required edges."""
    if not required.any():
        return required
    return restricted_class(required, allowed & (required | (groups[:, None] == groups)))


def _at_once(operators: _OperatorsOf, d: int, n_threads: int) -> Iterator[Iterator[Operator]]:
    """The operators on every variable in turn; threads take `_SHARE` variables at a time."""

    def of_some(first: int) -> list[Iterator[Operator]]:
        return [operators(y) for y in range(first, min(first + _SHARE, d))]

    if n_threads == 1 or d <= _SHARE:
        yield from map(operators, range(d))
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="grandag") as pool:
        yield from chain.from_iterable(pool.map(of_some, range(0, d, _SHARE)))


_Entry = tuple[float, int, int, int, int]
"""-gain, x, y, clique and version of an operator in the heap."""


class _Phase:
    """All operators of one kind, the best of which is applied until none gains anything."""

    def __init__(self, kind: Kind, state: ClassState, n_threads: int = 1, listener: Listener | None = None) -> None:
        self.kind, self.state, self.listener = kind, state, listener
        d = len(state.graph)
        self.heap: list[_Entry] = []
        self.others: list[Iterator[Operator]] = [iter(()) for _ in range(d)]
        self.version = [0] * d
        self.forbidden: set[_Entry] = set()
        self.forbidden_at: defaultdict[int, list[_Entry]] = defaultdict(list)
        self.seen = {state.digest(state.graph)}
        for y, operators in enumerate(_at_once(partial(kind.operators, state), d, n_threads)):
            self._take(y, operators)
            self._tell("score", y + 1, d)

    def run(self, steps: list[Step]) -> None:
        """Change the state until no operator gains anything; the steps are appended."""
        while (found := self._best()) is not None:
            gain, x, y, clique, graph = found
            changed, joined = self.state.move_to(graph)
            n_edges = int(self.state.n_adjacent.sum()) // 2
            steps.append(Step(self.kind.name, x, y, tuple(bits(clique)), gain, n_edges))
            for y in self.kind.targets(self.state, changed, joined):
                self._take(y, self.kind.operators(self.state, y))
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

    def _take(self, y: int, operators: Iterator[Operator]) -> None:
        """These are the operators on y from now on."""
        self.version[y] += 1
        self.others[y] = operators
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
