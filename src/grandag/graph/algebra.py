"""What a boolean matrix says about its graph: acyclicity, orders, ancestors, and its directed and undirected parts."""

from __future__ import annotations

import heapq

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

__all__ = [
    "ancestors",
    "compose",
    "directed_part",
    "edge_mark",
    "is_acyclic",
    "skeleton",
    "topological_order",
    "undirected_components",
    "undirected_part",
]


def edge_mark(adjacency: np.ndarray, source: int, target: int) -> str:
    """How a graph has a pair of nodes: -> (source to target), <-, -- (undirected), or nothing."""
    there, back = bool(adjacency[source, target]), bool(adjacency[target, source])
    return {(True, True): "--", (True, False): "->", (False, True): "<-", (False, False): ""}[there, back]


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


def compose(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The boolean matrix product: is there a k with first[i, k] and second[k, j]?"""
    return np.asarray(first.astype(np.float32) @ second.astype(np.float32) > 0)


def ancestors(adjacency: np.ndarray) -> np.ndarray:
    """is_ancestor[i, j]: is there a directed path from i to j? Every node is an ancestor of itself.

    >>> ancestors(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    """
    reached = adjacency | np.eye(len(adjacency), dtype=bool)
    while True:
        further = compose(reached, reached)
        if np.array_equal(further, reached):
            return reached
        reached = further


def directed_part(adjacency: np.ndarray) -> np.ndarray:
    """The directed edges: those without their opposite."""
    return np.asarray(adjacency & ~adjacency.T)


def undirected_part(adjacency: np.ndarray) -> np.ndarray:
    """The undirected edges: those with their opposite."""
    return np.asarray(adjacency & adjacency.T)


def skeleton(adjacency: np.ndarray) -> np.ndarray:
    """The pairs of adjacent nodes, whatever the direction of their edge, as a symmetric matrix."""
    return np.asarray(adjacency | adjacency.T)


def undirected_components(adjacency: np.ndarray) -> list[np.ndarray]:
    """The sets of nodes that undirected edges connect, single nodes included, each in column order."""
    n_components, labels = connected_components(csr_array(undirected_part(adjacency)), directed=False)
    return [np.flatnonzero(labels == label) for label in range(n_components)]
