"""Directed graphs as boolean matrices with names: adjacency[i, j] is true if and only if i -> j."""

from __future__ import annotations

import heapq
import json
from collections.abc import Sequence

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

__all__ = ["is_acyclic", "to_dot", "to_json", "to_networkx", "topological_order"]


def is_acyclic(adjacency: np.ndarray) -> bool:
    """Is the graph a DAG? (Every strongly connected component is a single node without a loop.)"""
    n_components, _ = connected_components(csr_array(adjacency), directed=True, connection="strong")
    return bool(n_components == len(adjacency) and not np.diagonal(adjacency).any())


def topological_order(adjacency: np.ndarray) -> list[int]:
    """Nodes with every parent before its children; of several possible next nodes the first in column order."""
    n_parents = adjacency.sum(axis=0)
    ready = [int(node) for node in np.flatnonzero(n_parents == 0)]
    order = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for child in np.flatnonzero(adjacency[node]):
            n_parents[child] -= 1
            if n_parents[child] == 0:
                heapq.heappush(ready, int(child))
    if len(order) < len(adjacency):
        raise ValueError("the graph has a cycle, so its nodes have no topological order")
    return order


def to_networkx(adjacency: np.ndarray, names: Sequence[str], strength: np.ndarray | None = None) -> nx.DiGraph:
    """The graph with its names; edges carry `strength` if it is given."""
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for i, j in np.argwhere(adjacency):
        attributes = {} if strength is None else {"strength": float(strength[i, j])}
        graph.add_edge(names[i], names[j], **attributes)
    return graph


def to_dot(graph: nx.DiGraph) -> str:
    """Graphviz text."""
    lines = [f"  {_quoted(node)};" for node in graph]
    for source, target, attributes in graph.edges(data=True):
        label = f" [strength={attributes['strength']:.6g}]" if "strength" in attributes else ""
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{label};")
    return "\n".join(["digraph {", *lines, "}", ""])


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def to_json(graph: nx.DiGraph) -> str:
    """`{"nodes": [names], "edges": [{"source": ..., "target": ..., attributes}]}`"""
    edges = [{"source": source, "target": target, **data} for source, target, data in graph.edges(data=True)]
    return json.dumps({"nodes": list(graph), "edges": edges}, indent=2, ensure_ascii=False) + "\n"
