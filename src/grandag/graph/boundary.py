"""The boundary for graphs: anything that the library calls a graph in, a boolean matrix with names out.

These are graphs: a boolean (or 0/1) adjacency array, whose nodes have no names; the pair (adjacency, names); an
adjacency table, that is a pandas or polars data frame with the names as columns; a networkx graph; a fitted estimator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from grandag.graph.algebra import undirected_part
from grandag.incoming import MOST_VARIABLES, InputError

__all__ = ["GraphError", "Named", "as_graph", "as_named", "as_networkx", "from_networkx", "listed",
           "to_networkx", "unique"]  # fmt: skip

Named = tuple[np.ndarray, tuple[str, ...]]
"""A boolean adjacency matrix and the names of its nodes."""


class GraphError(InputError):
    """The graph cannot be used; the message says which node or entry, what was found, and what to do."""


def as_graph(graph: Any, names: Sequence[str] | None = None) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """The adjacency matrix of a graph of any kind, and its names (None for an array without names).

    >>> adjacency, names = as_graph(nx.DiGraph([("rain", "wet")]))
    >>> adjacency.astype(int).tolist(), names
    ([[0, 1], [0, 0]], ('rain', 'wet'))
    """
    if isinstance(graph, tuple) and len(graph) == 2:
        graph, names = graph
    named = _with_own_names(graph)
    if named is None:
        names = None if names is None else unique(names)
        return _matrix(graph, names), names
    if names is not None:
        raise GraphError("This graph has names of its own: leave out `names`, or give an adjacency array with them.")
    return named


def _with_own_names(graph: Any) -> Named | None:
    """A graph of a kind that has names; None for others, which must be arrays."""
    if isinstance(graph, nx.Graph):
        return from_networkx(graph)
    if hasattr(graph, "fit"):
        if not hasattr(graph, "adjacency_"):
            raise GraphError(f"This {type(graph).__name__} is not fitted, so it has no graph: call fit first.")
        names = unique(graph.names_)
        return _matrix(graph.adjacency_, names), names
    if hasattr(graph, "columns") and hasattr(graph, "to_numpy"):
        return _from_frame(graph)
    return None


def as_named(graph: Any, names: Sequence[str] | None = None) -> Named:
    """The matrix and names of a graph; nodes without names become X0, X1, ... as the columns of a table would."""
    adjacency, found = as_graph(graph, names)
    return adjacency, found if found is not None else tuple(f"X{k}" for k in range(len(adjacency)))


def as_networkx(graph: Any, names: Sequence[str] | None = None) -> nx.DiGraph[str]:
    """A graph of any kind as a networkx DiGraph by our convention; it keeps its edge attributes."""
    converted = to_networkx(*as_named(graph, names))
    if hasattr(graph, "graph_"):
        fitted: nx.DiGraph[str] = graph.graph_
        return fitted
    if isinstance(graph, nx.Graph):
        attributes = {(str(source), str(target)): data for source, target, data in graph.edges(data=True)}
        for edge in converted.edges:
            converted.edges[edge].update(attributes.get(edge, {}))
    return converted


def to_networkx(adjacency: np.ndarray, names: Sequence[str], strength: np.ndarray | None = None) -> nx.DiGraph[str]:
    """The graph with its names; edges carry `strength` if it is given.

    An undirected edge is a pair of opposite edges with `undirected=True`.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    undirected = undirected_part(adjacency)
    for i, j in np.argwhere(adjacency):
        attributes: dict[str, Any] = {} if strength is None else {"strength": float(strength[i, j])}
        if undirected[i, j]:
            attributes["undirected"] = True
        graph.add_edge(names[i], names[j], **attributes)
    return graph


def from_networkx(graph: nx.Graph[Any]) -> Named:
    """Matrix and names of a networkx graph, nodes in its order.

    Edges of an undirected graph, and edges marked `undirected`, count in both directions.
    """
    names = unique(str(node) for node in graph)
    position = {node: k for k, node in enumerate(graph)}
    adjacency = np.zeros((len(names), len(names)), dtype=bool)
    for source, target, attributes in graph.edges(data=True):
        adjacency[position[source], position[target]] = True
        if attributes.get("undirected") or not graph.is_directed():
            adjacency[position[target], position[source]] = True
    return _matrix(adjacency, names), names


def _from_frame(frame: Any) -> Named:
    """A frame whose rows have the names of the columns is sorted by them; otherwise rows are in the columns' order."""
    names = unique(str(name) for name in frame.columns)
    rows = [str(name) for name in getattr(frame, "index", ())]
    values = frame.to_numpy()
    if rows and sorted(rows) == sorted(names):
        position = {name: k for k, name in enumerate(rows)}
        values = values[[position[name] for name in names]]
    elif rows and rows != [str(k) for k in range(len(rows))]:
        raise GraphError(
            f"The rows of the adjacency table are called {listed(rows)} but its columns {listed(names)}: "
            "rows and columns need the same names."
        )
    return _matrix(values, names), names


def _matrix(values: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """A square boolean matrix without loops."""
    values = np.asarray(values)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise GraphError(f"An adjacency matrix is square; this one has shape {values.shape}.")
    if not len(values):
        raise GraphError("The graph has no nodes.")
    if names is not None and len(names) != len(values):
        raise GraphError(f"The graph has {len(values)} nodes but {len(names)} names: give one name per node.")
    if values.dtype != bool:
        try:
            numbers = values.astype(float)
        except (TypeError, ValueError):
            raise GraphError("An adjacency matrix holds True and False, or 1 and 0; this one holds text.") from None
        other = numbers[(numbers != 0) & (numbers != 1)]
        if other.size:
            raise GraphError(
                f"An adjacency matrix holds True and False, or 1 and 0; this one holds {other[0]:g}: "
                "say which weights are edges, as in `abs(weights) > 0.3`."
            )
        values = numbers != 0
    loops = np.flatnonzero(np.diagonal(values))
    if loops.size:
        node = str(loops[0]) if names is None else repr(names[loops[0]])
        raise GraphError(f"Node {node} has an edge to itself: remove it.")
    return np.asarray(values)


def unique(names: Any) -> tuple[str, ...]:
    """Names that differ, of no more nodes than a matrix can have."""
    known: dict[str, None] = {}
    for name in map(str, names):
        if name in known:
            raise GraphError(f"Two nodes have the name {name!r}: rename one of them.")
        known[name] = None
    if len(known) > MOST_VARIABLES:
        raise GraphError(f"The graph has {len(known):,} nodes; {MOST_VARIABLES:,} is the most.")
    return tuple(known)


def listed(names: Sequence[str], most: int = 5) -> str:
    """A few names for a message."""
    shown = ", ".join(map(repr, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
