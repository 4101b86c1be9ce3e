"""An equivalence class as the state of the greedy search: sets of bits to read, and what a change would make of it."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from grandag.graph import directed_part, skeleton, undirected_part
from grandag.methods.equivalence.completion import changed_nodes, complete, copy_edges, extend, find_path, has_cycle

__all__ = ["MOST_CLIQUES", "ClassState", "bits", "sets"]

MOST_CLIQUES = 256
"""Cliques C to look at for each x and y, small ones first: k neighbours that are all joined have 2^k."""

_ROOM = 8
"""Adjacent nodes per node that there is room for at first."""

Change = Callable[[np.ndarray], None]


class ClassState:
    """The graph of a class as sets of bits, one of each kind for every node; `move_to` changes it in place.

    Memory is five boolean matrices, and a step costs time by the edges there are. `allowed` and `groups` say which of
    its DAGs knowledge and interventions leave together (`complete`).
    """

    def __init__(self, graph: np.ndarray, allowed: np.ndarray, groups: np.ndarray | None = None) -> None:
        self.graph, self.is_cut = graph.copy(), False
        self._allowed = allowed
        self._groups = np.zeros(len(graph), dtype=np.int64) if groups is None else groups
        directed, adjacent = directed_part(graph), skeleton(graph)
        self.parents, self.children = sets(directed.T), sets(directed)
        self.neighbours, self.adjacent = sets(undirected_part(graph)), sets(adjacent)
        self.n_adjacent = adjacent.sum(axis=1)
        self._degree = np.zeros(len(graph), dtype=np.int64)
        self._lists = np.zeros((len(graph), _ROOM), dtype=np.int32)
        for x, y in np.argwhere(np.triu(adjacent)).tolist():
            self._list(x, y)
        self._draft, self._dag, self._result = (np.zeros_like(graph) for _ in range(3))
        self._extra: tuple[int, int] | None = None  # a pair that is listed without an edge

    def after(self, x: int, y: int, change: Change, undo: Change | None) -> np.ndarray | None:
        """The graph of the class after a change of x, y and their surroundings, until the next call; None: no class.

        With `undo`, changing the edge of x and y back in a DAG of that class must lead to this one.
        """
        self._make_room_for(x, y)
        copy_edges(self.graph, self._lists, self._degree, self._draft)
        change(self._draft)
        if not extend(self._draft, self._lists, self._degree, self._dag):
            return None
        complete(self._dag, self._lists, self._degree, self._allowed, self._groups, self._result)
        if undo is not None:
            undo(self._dag)
            if has_cycle(self._dag, self._lists, self._degree):
                return None
            complete(self._dag, self._lists, self._degree, self._allowed, self._groups, self._draft)
            if len(changed_nodes(self.graph, self._draft, self._lists, self._degree)):
                return None
        return self._result

    def move_to(self, graph: np.ndarray) -> tuple[list[int], list[int]]:
        """Take the graph that `after` has found.

        Returns the ends of all changed edges, and those of the one that is new or gone.
        """
        changed = changed_nodes(self.graph, graph, self._lists, self._degree).tolist()
        joined = []
        copy_edges(graph, self._lists, self._degree, self.graph)
        for node in changed:
            before = self.adjacent[node]
            self._read(node)
            if self.adjacent[node] != before:
                joined.append(node)
                self.n_adjacent[node] = self.adjacent[node].bit_count()
        if joined:
            x, y = joined
            self._extra = None if self.adjacent[x] >> y & 1 else (x, y)
        return changed, joined

    def digest(self, graph: np.ndarray) -> bytes:
        """A short name of a graph that `after` has found, or of the state's own."""
        sources = np.repeat(np.arange(len(graph)), self._degree)
        targets = self._lists[np.arange(self._lists.shape[1]) < self._degree[:, None]]
        is_edge = graph[sources, targets]
        edges = np.sort(sources[is_edge] * len(graph) + targets[is_edge])
        return hashlib.blake2b(edges.tobytes(), digest_size=16).digest()

    def path(self, start: int, goal: int, blocked: int) -> np.ndarray:
        """The nodes of a semi-directed path, other than an edge between the two, that meets no blocked node, if any."""
        nodes = np.fromiter(bits(blocked), dtype=np.int64)
        return find_path(self.graph, self._lists, self._degree, start, goal, nodes)

    def is_clique(self, nodes: int) -> bool:
        """Are they all adjacent to each other?"""
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

    def _read(self, node: int) -> None:
        """The sets of a node, from the graph."""
        parents = children = neighbours = 0
        for other in self._lists[node, : self._degree[node]].tolist():
            into, out = self.graph[other, node], self.graph[node, other]
            if into and out:
                neighbours |= 1 << other
            elif into:
                parents |= 1 << other
            elif out:
                children |= 1 << other
        self.parents[node], self.children[node], self.neighbours[node] = parents, children, neighbours
        self.adjacent[node] = parents | children | neighbours

    def _make_room_for(self, x: int, y: int) -> None:
        """List x and y as a pair, if they are not, in place of the extra pair of the last change."""
        if self._extra is not None:
            for a, b in (self._extra, self._extra[::-1]):
                row = self._lists[a, : self._degree[a]]
                row[row == b] = row[-1]
                self._degree[a] -= 1
                self._draft[a, b] = self._dag[a, b] = self._result[a, b] = False
            self._extra = None
        if not self.adjacent[x] >> y & 1:
            self._list(x, y)
            self._extra = x, y

    def _list(self, x: int, y: int) -> None:
        if max(self._degree[x], self._degree[y]) == self._lists.shape[1]:
            self._lists = np.hstack([self._lists, np.zeros_like(self._lists)])
        for a, b in ((x, y), (y, x)):
            self._lists[a, self._degree[a]] = b
            self._degree[a] += 1


def bits(number: int) -> Iterator[int]:
    """The positions of the ones, ascending.

    >>> list(bits(0b1101))
    [0, 2, 3]
    """
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def sets(matrix: np.ndarray) -> list[int]:
    """Each row as a set of bits."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(matrix, axis=1, bitorder="little")]
