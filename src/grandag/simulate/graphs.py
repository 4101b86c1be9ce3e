"""Random DAGs of the paper: Erdos-Renyi and scale-free, and the two extremes, complete and empty.

All return a boolean adjacency[i, j], true if and only if i -> j, with nodes in random order. No loop runs over nodes:
10,000 nodes take seconds, most of them for the 100 MB of the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grandag.parameters import ParameterError, as_generator, check_parameters, integer, number, one_of

__all__ = ["GRAPHS", "complete", "draw_graph", "empty", "erdos_renyi", "scale_free"]


def erdos_renyi(n_nodes: int, n_edges: float, random_state: Any = None, *, exact: bool = False) -> np.ndarray:
    """An Erdos-Renyi DAG: each forward edge of a random order has probability p = 2 e / (d^2 - d), independently.

    `n_edges` is the expected number e. The number of edges is drawn first (binomial), then that many distinct pairs:
    the same distribution as d (d - 1) / 2 coins, at a cost that depends on the edges alone. With `exact=True` there are
    e edges, a whole number, in every graph, and every set of e forward edges is equally likely.

    >>> int(erdos_renyi(4, 6).sum())  # p = 1
    6
    """
    check_parameters({"n_nodes": n_nodes, "n_edges": n_edges}, {"n_nodes": integer(1), "n_edges": number(0)})
    rng = as_generator(random_state)
    n_pairs = n_nodes * (n_nodes - 1) // 2
    if n_edges > n_pairs:
        raise ParameterError("n_edges", f"must be at most {n_pairs}, a complete graph of {n_nodes}; got {n_edges}.")
    if exact and n_edges % 1:
        raise ParameterError("n_edges", f"must be a whole number if it is exact; got {n_edges}.")
    n_drawn = int(n_edges) if exact or n_pairs == 0 else rng.binomial(n_pairs, n_edges / n_pairs)
    pairs = rng.choice(n_pairs, n_drawn, replace=False, shuffle=False) if n_drawn else np.zeros(0, dtype=np.int64)
    later = ((1 + np.sqrt(1.0 + 8.0 * pairs)) / 2).astype(np.int64)
    return _relabelled(n_nodes, pairs - later * (later - 1) // 2, later, rng)


def scale_free(
    n_nodes: int, n_attachments: int, random_state: Any = None, *, hubs: str = "sinks", attraction: float = 1.5
) -> np.ndarray:
    """A scale-free DAG by Barabasi and Albert's preferential attachment: new nodes attach to earlier ones.

    Each new node makes `n_attachments` draws *with replacement* among the earlier nodes, with probability proportional
    to (attachments received + `attraction`), for the first node, which has attached to nothing, to the attachments
    received alone; repeated draws make one edge. So 10 nodes have 9 edges with one attachment and about 20 with four,
    as the authors' SF1 and SF4 files do (docs/simulate.md). With `hubs="sinks"`, as in those files, the new node points
    to the old one; with "sources" the other way round.

    A draw is either a uniform choice among the earlier nodes but the first (weight `attraction` each) or a copy of a
    uniformly chosen earlier draw (weight 1 each). Following all copies back at once by pointer doubling takes a few
    passes.
    """
    check_parameters(
        {"n_nodes": n_nodes, "n_attachments": n_attachments, "hubs": hubs, "attraction": attraction},
        {
            "n_nodes": integer(1),
            "n_attachments": integer(1),
            "hubs": one_of("sinks", "sources"),
            "attraction": number(0, open_minimum=True),
        },
    )
    rng = as_generator(random_state)
    new = np.repeat(np.arange(1, n_nodes), n_attachments)
    n_draws_before = (new - 1) * n_attachments
    is_copy = rng.random(new.size) * (n_draws_before + attraction * (new - 1)) < n_draws_before
    origin = np.where(is_copy, (rng.random(new.size) * n_draws_before).astype(np.int64), np.arange(new.size))
    while not np.array_equal(origin[origin], origin):
        origin = origin[origin]
    any_but_first = 1 + (rng.random(new.size) * (new - 1)).astype(np.int64)
    old = np.minimum(any_but_first, new - 1)[origin]  # the second node has the first alone
    sources, targets = (new, old) if hubs == "sinks" else (old, new)
    return _relabelled(n_nodes, sources, targets, rng)


def complete(n_nodes: int, random_state: Any = None) -> np.ndarray:
    """A complete DAG: every earlier node of a random order points to every later one."""
    check_parameters({"n_nodes": n_nodes}, {"n_nodes": integer(1)})
    place = as_generator(random_state).permutation(n_nodes)
    adjacency: np.ndarray = place[:, None] < place
    return adjacency


def empty(n_nodes: int) -> np.ndarray:
    """A graph without edges."""
    check_parameters({"n_nodes": n_nodes}, {"n_nodes": integer(1)})
    return np.zeros((n_nodes, n_nodes), dtype=bool)


def _relabelled(n_nodes: int, sources: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    label = rng.permutation(n_nodes)
    adjacency = np.zeros((n_nodes, n_nodes), dtype=bool)
    adjacency[label[sources], label[targets]] = True
    return adjacency


def _scale_free_by_edges(n_nodes: int, n_edges: float, random_state: Any) -> np.ndarray:
    """SF1, SF4: the paper counts n_edges / n_nodes attachments per node."""
    if n_edges % n_nodes or n_edges < n_nodes:
        raise ParameterError(
            "n_edges", f"must be a multiple of the {n_nodes} nodes for a scale-free graph; got {n_edges:g}."
        )
    return scale_free(n_nodes, int(n_edges) // n_nodes, random_state)


GRAPHS: dict[str, Callable[[int, float, Any], np.ndarray]] = {
    "er": erdos_renyi,
    "er-exact": lambda n_nodes, n_edges, random_state: erdos_renyi(n_nodes, n_edges, random_state, exact=True),
    "sf": _scale_free_by_edges,
    "complete": lambda n_nodes, n_edges, random_state: complete(n_nodes, random_state),
    "empty": lambda n_nodes, n_edges, random_state: empty(n_nodes),
}
"""Graphs by the name on the command line, as functions of nodes, edges and random state."""


def draw_graph(kind: str, n_nodes: int, n_edges: float, random_state: Any = None) -> np.ndarray:
    """A graph by name: "er", "er-exact", "sf" (n_edges / n_nodes attachments each), "complete", "empty" (no edges)."""
    check_parameters(
        {"graph": kind, "n_nodes": n_nodes, "n_edges": n_edges},
        {"graph": one_of(*GRAPHS), "n_nodes": integer(1), "n_edges": number(0)},
    )
    return GRAPHS[kind](n_nodes, n_edges, as_generator(random_state))
