"""Markov equivalence: DAGs with the same adjacencies and the same v-structures imply the same independences.

The CPDAG of such a class has i -> j where all its DAGs have i -> j, and an undirected edge where they differ. It is
found from the v-structures by Meek's rules ("Causal inference and causal explanation with background knowledge",
1995); a DAG of the class by Dor and Tarsi's algorithm ("A simple algorithm to construct a consistent extension of a
partially oriented graph", 1992).

Interventions tell more of its DAGs apart: those that agree in the direction of every edge of which some regime targets
one end and not the other remain together. What they share is the interventional essential graph (Hauser and Buehlmann,
"Characterization and greedy learning of interventional Markov equivalence classes of directed acyclic graphs", 2012).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from grandag.graph.algebra import compose, directed_part, is_acyclic, skeleton, undirected_part
from grandag.graph.boundary import GraphError

__all__ = ["interventional_essential_graph", "is_cpdag", "members", "nearest_dag", "orient", "restricted_class",
           "target_groups", "to_cpdag", "to_dag", "v_structures"]  # fmt: skip


def v_structures(adjacency: np.ndarray) -> list[tuple[int, int, int]]:
    """All (i, k, j), i < j, with i -> k <- j and no edge between i and j.

    >>> v_structures(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    [(0, 2, 1)]
    """
    directed, adjacent = directed_part(adjacency), skeleton(adjacency)
    return [
        (int(i), k, int(j))
        for k in range(len(adjacency))
        for i, j in combinations(np.flatnonzero(directed[:, k]), 2)
        if not adjacent[i, j]
    ]


def to_cpdag(adjacency: np.ndarray) -> np.ndarray:
    """The CPDAG of a DAG: its v-structures, and what they imply.

    >>> to_cpdag(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).astype(int)  # no v-structure in a chain
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    if not is_acyclic(adjacency):
        raise GraphError("Only a DAG has a CPDAG; this graph has a cycle or an undirected edge.")
    compelled = adjacency & compose(_apart(adjacency), adjacency)
    return orient(skeleton(adjacency) & ~compelled.T)


def restricted_class(dag: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The part of a DAG's equivalence class that has allowed edges only, which the DAG must have itself.

    Its CPDAG with the DAG's direction where just that one is allowed, and what this implies by Meek's rules. Where all
    is allowed, the CPDAG.

    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> allowed = np.array([[0, 1, 1], [0, 0, 1], [1, 1, 0]], dtype=bool)  # not 1 -> 0
    >>> restricted_class(chain, allowed).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    cpdag = to_cpdag(dag)
    forced = undirected_part(cpdag) & ~allowed
    return orient(cpdag & ~forced) if forced.any() else cpdag


def interventional_essential_graph(dag: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """What all DAGs share that perfect interventions on these targets do not tell from a DAG.

    They have its adjacencies and v-structures, before and after each of the interventions, which cut the edges into
    their targets (Hauser and Buehlmann 2012, theorem 10). So an edge with one end among the targets of a regime has its
    direction in all of them; this, and what it implies by Meek's rules, is added to the CPDAG. The directed edges are
    the strongly protected arrows of their theorem 18, and the undirected ones have chordal components.

    Args:
        dag: (d, d) bool.
        targets: (regimes, d) bool, the targets of each regime; one without any is observational. Every variable must be
            left alone by some regime.

    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> interventional_essential_graph(chain, np.array([[0, 0, 0], [0, 0, 1]], dtype=bool)).astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 0, 0]])
    """
    if targets.all(axis=0).any():
        raise GraphError("Every variable must be left alone by some regime; here all regimes target one of them.")
    groups = target_groups(targets)
    return restricted_class(dag, dag | (groups[:, None] == groups))


def target_groups(targets: np.ndarray) -> np.ndarray:
    """(d,) the same number for variables that are targets of the same regimes of `targets` (regimes, d).

    An edge between variables of different groups has one end among the targets of some regime and not the other.

    >>> target_groups(np.array([[0, 0, 0, 0], [1, 0, 0, 1]], dtype=bool))
    array([1, 0, 0, 1])
    """
    _, groups = np.unique(targets, axis=1, return_inverse=True)
    return groups.reshape(-1)


def orient(adjacency: np.ndarray) -> np.ndarray:
    """Direct undirected edges by Meek's four rules until none applies.

    The graph must have a DAG extension (`to_dag` tells). With a, b, c, d for nodes:

    1. a -> b - c, a and c apart: b -> c, or there would be a new v-structure;
    2. a -> b -> c, a - c: a -> c, or there would be a cycle;
    3. a - b, a - c -> b, a - d -> b, c and d apart: a -> b;
    4. a - b, a - c -> d -> b, a and d adjacent, b and c apart: a -> b.
    """
    adjacency, apart = adjacency.copy(), _apart(adjacency)
    while True:
        directed, undirected = directed_part(adjacency), undirected_part(adjacency)
        implied = undirected & (compose(directed.T, apart) | compose(directed, directed))
        if not implied.any():
            implied = _rules_3_and_4(adjacency, directed, undirected, apart)
        if not implied.any():
            return adjacency
        adjacency &= ~implied.T


def _rules_3_and_4(
    adjacency: np.ndarray, directed: np.ndarray, undirected: np.ndarray, apart: np.ndarray
) -> np.ndarray:
    """implied[a, b]: does one of the rules on four nodes direct a - b to a -> b?"""
    implied, adjacent = np.zeros_like(adjacency), skeleton(adjacency)
    c_of_rule_3 = directed & compose(apart, directed)
    c_of_rule_4 = apart & compose(directed, directed)
    for a, b in np.argwhere(undirected & compose(undirected, c_of_rule_3 | c_of_rule_4)):
        into_b = undirected[a] & directed[:, b]
        before = undirected[a] & apart[:, b]
        between = adjacent[a] & directed[:, b]
        implied[a, b] = apart[np.ix_(into_b, into_b)].any() or directed[np.ix_(before, between)].any()
    return implied


def _apart(adjacency: np.ndarray) -> np.ndarray:
    """The pairs of different nodes that are not adjacent, as a symmetric matrix."""
    return np.asarray(~(skeleton(adjacency) | np.eye(len(adjacency), dtype=bool)))


def to_dag(adjacency: np.ndarray) -> np.ndarray:
    """A DAG with the directed edges, adjacencies and v-structures of a CPDAG (or of any graph that has such a DAG).

    Sinks are removed one by one: nodes without children whose undirected neighbours are adjacent to all its other
    neighbours. Of several the last in column order is taken, so that edges point forwards where they can.
    """
    return _extend(adjacency, is_exact=True)


def nearest_dag(adjacency: np.ndarray) -> np.ndarray:
    """A DAG with the directed edges and adjacencies of a graph, and with few v-structures that the graph has not.

    Like `to_dag`, but for graphs without an exact extension, such as a skeleton with directions from contradictory
    tests: where no node can be last without a new v-structure, the one that makes the fewest is.
    """
    return _extend(adjacency, is_exact=False)


def _extend(adjacency: np.ndarray, *, is_exact: bool) -> np.ndarray:
    """See above. A node that can be the sink remains so; others are looked at again when a neighbour has gone."""
    remaining, dag = adjacency.copy(), directed_part(adjacency)
    n_children, is_left = dag.sum(axis=1), np.ones(len(adjacency), dtype=bool)
    is_ready = np.zeros(len(adjacency), dtype=bool)
    ready, unknown = list[int](), list(range(len(adjacency)))
    while is_left.any():
        for node in unknown:
            if not n_children[node] and not _new_v_structures(remaining, node):
                heapq.heappush(ready, -node)
                is_ready[node] = True
        if ready:
            sink = -heapq.heappop(ready)
        elif not is_exact and (childless := np.flatnonzero(is_left & (n_children == 0))).size:
            sink = min(reversed(childless.tolist()), key=lambda node: _new_v_structures(remaining, node))
        else:
            raise GraphError(
                "The graph has no DAG extension: its directed edges have a cycle, or its undirected edges cannot be "
                "directed without a new v-structure or a cycle."
            )
        into, out = remaining[:, sink].copy(), remaining[sink].copy()
        dag[into, sink] = True
        n_children[into & ~out] -= 1
        remaining[sink] = remaining[:, sink] = is_left[sink] = False
        unknown = [node for node in np.flatnonzero(into).tolist() if not is_ready[node]]
    return dag


def _new_v_structures(adjacency: np.ndarray, node: int) -> int:
    """How many pairs (an undirected neighbour, another neighbour) are apart? Undirected pairs count twice."""
    neighbours = np.flatnonzero(adjacency[:, node])
    is_joined = skeleton(adjacency[np.ix_(neighbours, neighbours)]) | np.eye(len(neighbours), dtype=bool)
    return int((~is_joined[adjacency[node, neighbours]]).sum())


def is_cpdag(adjacency: np.ndarray) -> bool:
    """Is this the CPDAG of some DAG?"""
    try:
        return bool(np.array_equal(to_cpdag(to_dag(adjacency)), adjacency))
    except GraphError:
        return False


def members(adjacency: np.ndarray, limit: int | None = 100_000) -> Iterator[np.ndarray]:
    """All DAGs of an equivalence class, one at a time, from its CPDAG or its interventional essential graph.

    Classes grow faster than exponentially with the number of nodes. Each DAG is found when it is asked for, without
    dead ends; one more than `limit` (None: no limit) is an error. A graph that is not a CPDAG but can be extended to
    DAGs (background knowledge on some edges) yields these.

    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> [np.argwhere(dag).tolist() for dag in members(chain)]
    [[[0, 1], [1, 2]], [[1, 0], [1, 2]], [[1, 0], [2, 1]]]
    """
    to_dag(adjacency)
    return _members(adjacency, limit)


def _members(adjacency: np.ndarray, limit: int | None) -> Iterator[np.ndarray]:
    n_found, unfinished = 0, [orient(adjacency)]
    while unfinished:
        graph = unfinished.pop()
        undirected = np.argwhere(undirected_part(graph))
        if len(undirected):
            i, j = undirected[0]
            for source, target in ((j, i), (i, j)):
                branch = graph.copy()
                branch[target, source] = False
                unfinished.append(orient(branch))
            continue
        if n_found == limit:
            raise GraphError(
                f"The equivalence class has more than {limit:,} DAGs: raise `limit`, or take the first ones with "
                "itertools.islice."
            )
        n_found += 1
        yield graph
