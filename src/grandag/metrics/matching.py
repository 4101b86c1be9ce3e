"""Two graphs on the same nodes: the estimate in the order of the truth, or one clear sentence."""

from __future__ import annotations

from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from grandag.graph.algebra import directed_part, is_acyclic, undirected_part
from grandag.graph.boundary import GraphError, as_graph, listed, to_networkx

__all__ = ["Pair", "check_dag", "find_cycle", "matched"]


class Pair(NamedTuple):
    """Adjacency matrices in one order of nodes."""

    truth: np.ndarray
    estimate: np.ndarray
    names: tuple[str, ...]


def matched(truth: Any, estimate: Any) -> Pair:
    """Match nodes by name, or by position if one graph has no names; a truth with a directed cycle is refused."""
    true, true_names = as_graph(truth)
    estimated, estimated_names = as_graph(estimate)
    if len(true) != len(estimated) and (true_names is None or estimated_names is None):
        raise GraphError(f"The true graph has {len(true)} nodes but the estimate {len(estimated)}.")
    names = true_names or estimated_names or tuple(f"X{k}" for k in range(len(true)))
    if true_names is not None and estimated_names is not None:
        _check_same_nodes(true_names, estimated_names)
        position = {name: k for k, name in enumerate(estimated_names)}
        order = [position[name] for name in true_names]
        estimated = estimated[np.ix_(order, order)]
    cycle = find_cycle(true, names)
    if cycle is not None:
        raise GraphError(f"The true graph has a cycle, {cycle}: only an acyclic truth can be compared with.")
    return Pair(true, estimated, names)


def _check_same_nodes(true_names: tuple[str, ...], estimated_names: tuple[str, ...]) -> None:
    missing = [name for name in true_names if name not in set(estimated_names)]
    unknown = [name for name in estimated_names if name not in set(true_names)]
    if missing or unknown:
        found = [f"the estimate has no {listed(missing)}"] if missing else []
        found += [f"the true graph has no {listed(unknown)}"] if unknown else []
        raise GraphError(f"The graphs have different nodes: {'; '.join(found)}. Give both the same names.")


def find_cycle(adjacency: np.ndarray, names: tuple[str, ...]) -> str | None:
    """A cycle of directed edges as text (opposite edges are one undirected edge), or None."""
    directed = directed_part(adjacency)
    if is_acyclic(directed):
        return None
    edges = nx.find_cycle(to_networkx(directed, names))
    return " -> ".join([*(source for source, _ in edges), edges[0][0]])


def check_dag(adjacency: np.ndarray, names: tuple[str, ...], message: str) -> None:
    """Refuse a graph with an undirected edge or a cycle; `message` is what to do."""
    undirected = np.argwhere(undirected_part(adjacency))
    if len(undirected):
        i, j = undirected[0]
        raise GraphError(f"{message} It has an undirected edge (or a cycle of two): {names[i]} - {names[j]}.")
    cycle = find_cycle(adjacency, names)
    if cycle is not None:
        raise GraphError(f"{message} It has a cycle: {cycle}.")
