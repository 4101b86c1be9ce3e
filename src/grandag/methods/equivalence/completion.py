"""Equivalence classes of large sparse graphs, compiled: a DAG of a graph, the class of a DAG, and paths.

The same as `to_dag` and `restricted_class` of `grandag.graph`, at a cost that grows with the edges and not with the
square or the cube of the nodes: the greedy search needs both at every step. A graph is a boolean (d, d) matrix, in
which a pair is looked up, and `adjacent` (d, most), of which the first `degree[v]` in row v are the nodes that may have
an edge with v; elsewhere the matrix is False, and nothing is read or written there.
"""

from __future__ import annotations

import heapq

import numpy as np

from grandag.engine.compiled import compiled

__all__ = ["changed_nodes", "complete", "copy_edges", "extend", "find_path", "has_cycle"]


@compiled
def copy_edges(graph: np.ndarray, adjacent: np.ndarray, degree: np.ndarray, copy: np.ndarray) -> None:
    """Write the edges of a graph into another matrix."""
    for b in range(degree.size):
        for k in range(degree[b]):
            a = adjacent[b, k]
            copy[a, b] = graph[a, b]


@compiled
def changed_nodes(graph: np.ndarray, other: np.ndarray, adjacent: np.ndarray, degree: np.ndarray) -> np.ndarray:
    """The ends of the edges that two graphs do not share, ascending."""
    is_changed = np.zeros(degree.size, np.bool_)
    for b in range(degree.size):
        for k in range(degree[b]):
            a = adjacent[b, k]
            if graph[a, b] != other[a, b]:
                is_changed[a] = is_changed[b] = True
    return np.flatnonzero(is_changed)


@compiled
def extend(graph: np.ndarray, adjacent: np.ndarray, degree: np.ndarray, dag: np.ndarray) -> bool:
    """Write a DAG with the directed edges, adjacencies and v-structures of a graph, as `to_dag`; False: there is none.

    A node that can be last remains so while others are removed, hence each is looked at once and again whenever one of
    its neighbours has gone.
    """
    d = degree.size
    is_left, is_ready = np.ones(d, np.bool_), np.zeros(d, np.bool_)
    ready = [0][:0]
    for node in range(d):
        for k in range(degree[node]):
            a = adjacent[node, k]
            dag[a, node] = graph[a, node] and not graph[node, a]
        if _can_be_last(graph, adjacent, degree, is_left, node):
            is_ready[node] = True
            heapq.heappush(ready, -node)
    n_left = d
    while len(ready) > 0:
        sink = -heapq.heappop(ready)
        is_left[sink] = False
        n_left -= 1
        for k in range(degree[sink]):
            a = adjacent[sink, k]
            if is_left[a] and graph[a, sink]:
                dag[a, sink] = True
            if is_left[a] and not is_ready[a] and _can_be_last(graph, adjacent, degree, is_left, a):
                is_ready[a] = True
                heapq.heappush(ready, -a)
    return n_left == 0


@compiled
def _can_be_last(graph: np.ndarray, adjacent: np.ndarray, degree: np.ndarray, is_left: np.ndarray, node: int) -> bool:
    """Has the node no children, and are its undirected neighbours adjacent to all its other neighbours?"""
    for k in range(degree[node]):
        a = adjacent[node, k]
        if not is_left[a] or not graph[node, a]:
            continue
        if not graph[a, node]:
            return False
        for m in range(degree[node]):
            b = adjacent[node, m]
            if b != a and is_left[b] and graph[b, node] and not (graph[a, b] or graph[b, a]):
                return False
    return True


@compiled
def complete(
    dag: np.ndarray,
    adjacent: np.ndarray,
    degree: np.ndarray,
    allowed: np.ndarray,
    groups: np.ndarray,
    graph: np.ndarray,
) -> None:
    """Write the part of a DAG's class that has allowed edges only, as `restricted_class`.

    Edges between different groups (d,) have the DAG's direction: interventions tell, as in
    `interventional_essential_graph`.
    """
    queue = np.empty((degree.sum() + 1, 2), np.int64)  # the directed edges, in the order in which they were found
    n_open = np.zeros(degree.size, np.int64)  # undirected edges of each node
    n = 0
    for b in range(degree.size):
        for k in range(degree[b]):
            a = adjacent[b, k]
            graph[a, b] = dag[a, b] or dag[b, a]
            n_open[b] += graph[a, b]
    for b in range(degree.size):
        for k in range(degree[b]):
            a = adjacent[b, k]
            if dag[a, b] and _has_parent_apart(dag, adjacent, degree, a, b):
                n = _direct(graph, n_open, a, b, queue, n)
    n = _follow(graph, adjacent, degree, n_open, queue, 0, n)
    first = n
    for b in range(degree.size):
        for k in range(degree[b]):
            a = adjacent[b, k]
            if not allowed[b, a] or (dag[a, b] and groups[a] != groups[b]):
                n = _direct(graph, n_open, a, b, queue, n)
    _follow(graph, adjacent, degree, n_open, queue, first, n)


@compiled
def _has_parent_apart(dag: np.ndarray, adjacent: np.ndarray, degree: np.ndarray, a: int, b: int) -> bool:
    """Is a -> b part of a v-structure?"""
    for k in range(degree[b]):
        c = adjacent[b, k]
        if c != a and dag[c, b] and not (dag[a, c] or dag[c, a]):
            return True
    return False


@compiled
def _direct(graph: np.ndarray, n_open: np.ndarray, a: int, b: int, queue: np.ndarray, n: int) -> int:
    """Direct a - b to a -> b, if it is undirected, and note it in the queue; returns the queue's new length."""
    if graph[a, b] and graph[b, a]:
        graph[b, a] = False
        n_open[a] -= 1
        n_open[b] -= 1
        queue[n, 0], queue[n, 1] = a, b
        n += 1
    return n


@compiled
def _follow(
    graph: np.ndarray,
    adjacent: np.ndarray,
    degree: np.ndarray,
    n_open: np.ndarray,
    queue: np.ndarray,
    first: int,
    n: int,
) -> int:
    """Meek's four rules (`grandag.graph.orient` has them), for each directed edge of the queue in turn.

    A rule that applies does so when the last of the directed edges that it needs is looked at. Nodes without undirected
    edges (`n_open`), as are most in a graph with many v-structures, are passed over where a rule needs one at them.
    """
    while first < n:
        a, b = queue[first, 0], queue[first, 1]
        first += 1
        if n_open[a] + n_open[b] == 0:
            continue
        n = _follow_beyond(graph, adjacent, degree, n_open, a, b, queue, n)
        for k in range(degree[a] if n_open[b] > 0 else 0):
            c = adjacent[a, k]
            if n_open[c] > 0 and graph[c, a] and not graph[a, c]:
                n = _direct(graph, n_open, c, b, queue, n)  # rule 2, the edge is its second
                if not (graph[c, b] or graph[b, c]):
                    n = _direct_beside(graph, adjacent, degree, n_open, c, a, b, queue, n)
    return n


@compiled
def _follow_beyond(
    graph: np.ndarray,
    adjacent: np.ndarray,
    degree: np.ndarray,
    n_open: np.ndarray,
    a: int,
    b: int,
    queue: np.ndarray,
    n: int,
) -> int:
    """The rules for a -> b and an edge of b with another node."""
    for k in range(degree[b]):
        c = adjacent[b, k]
        if c == a or n_open[c] == 0 or not (graph[b, c] or graph[c, b]):
            continue
        is_apart = not (graph[a, c] or graph[c, a])
        if graph[b, c] and not graph[c, b]:
            if is_apart:
                n = _direct_beside(graph, adjacent, degree, n_open, a, b, c, queue, n)
            n = _direct(graph, n_open, a, c, queue, n)  # rule 2, the edge is its first
        elif is_apart:
            n = _direct(graph, n_open, b, c, queue, n)  # rule 1
        elif graph[b, c] and graph[a, c] and graph[c, a] and _meets_another(graph, adjacent, degree, a, b, c):
            n = _direct(graph, n_open, c, b, queue, n)  # rule 3
    return n


@compiled
def _meets_another(graph: np.ndarray, adjacent: np.ndarray, degree: np.ndarray, a: int, b: int, c: int) -> bool:
    """Rule 3: given a -> b and c - a, is there another node with c - other -> b that is apart from a?"""
    for k in range(degree[b]):
        other = adjacent[b, k]
        into = graph[other, b] and not graph[b, other]
        if into and graph[c, other] and graph[other, c] and not (graph[a, other] or graph[other, a]) and other != a:
            return True
    return False


@compiled
def _direct_beside(
    graph: np.ndarray,
    adjacent: np.ndarray,
    degree: np.ndarray,
    n_open: np.ndarray,
    c: int,
    d: int,
    b: int,
    queue: np.ndarray,
    n: int,
) -> int:
    """Rule 4: given c -> d -> b with b and c apart, a - b becomes a -> b where a - c and a and d are adjacent."""
    for k in range(degree[b]):
        a = adjacent[b, k]
        if a != d and graph[a, c] and graph[c, a] and (graph[a, d] or graph[d, a]):
            n = _direct(graph, n_open, a, b, queue, n)
    return n


@compiled
def has_cycle(directed: np.ndarray, adjacent: np.ndarray, degree: np.ndarray) -> bool:
    """Has a graph of directed edges a cycle?"""
    d = degree.size
    n_parents, order, n = np.zeros(d, np.int64), np.empty(d, np.int64), 0
    for b in range(d):
        for k in range(degree[b]):
            n_parents[b] += directed[adjacent[b, k], b]
        if n_parents[b] == 0:
            order[n] = b
            n += 1
    done = 0
    while done < n:
        a = order[done]
        done += 1
        for k in range(degree[a]):
            b = adjacent[a, k]
            if directed[a, b]:
                n_parents[b] -= 1
                if n_parents[b] == 0:
                    order[n] = b
                    n += 1
    return n < d


@compiled
def find_path(
    graph: np.ndarray, adjacent: np.ndarray, degree: np.ndarray, start: int, goal: int, blocked: np.ndarray
) -> np.ndarray:
    """A shortest semi-directed path, other than an edge between its ends, that meets no blocked node; empty: none.

    Semi-directed: no edge of it points backwards.
    """
    d = degree.size
    before, queue, n, done = np.full(d, -1, np.int64), np.empty(d, np.int64), 1, 0
    before[blocked] = d
    before[start], queue[0] = d, start
    while done < n:
        a = queue[done]
        done += 1
        for k in range(degree[a]):
            b = adjacent[a, k]
            if not graph[a, b] or before[b] >= 0 or (b == goal and a == start):
                continue
            before[b] = a
            if b == goal:
                length = 0
                while b < d:
                    queue[length] = b
                    length += 1
                    b = before[b]
                return queue[:length].copy()
            queue[n] = b
            n += 1
    return queue[:0]
