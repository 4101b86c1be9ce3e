"""What other packages call a graph, without importing them.

package       convention                                                   to_* returns
lingam        B[i, j] != 0 means j -> i (transposed), DAGs only            the matrix B of 0.0 and 1.0
causal-learn  ends[i, j] is the mark at i of the edge between i and j:     the matrix of end marks
              -1 a tail, 1 an arrow head, so i -> j is ends[i, j] = -1, ends[j, i] = 1
pgmpy         DAG(edges), PDAG(directed, undirected), then add_nodes_from  (directed edges, undirected edges)
dowhy         a string in GML, DAGs only                                   the string
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from grandag.graph.algebra import directed_part, is_acyclic, undirected_part
from grandag.graph.boundary import GraphError, Named, as_named, from_networkx
from grandag.graph.formats import from_gml, to_gml

__all__ = [
    "from_causal_learn",
    "from_dowhy",
    "from_lingam",
    "from_pgmpy",
    "to_causal_learn",
    "to_dowhy",
    "to_lingam",
    "to_pgmpy",
]

_TAIL, _ARROW = -1, 1


def to_lingam(graph: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """lingam's `adjacency_matrix_` with 1 for every edge: B[i, j] = 1 if and only if j -> i.

    >>> to_lingam(np.array([[0, 1], [0, 0]], dtype=bool))
    array([[0., 0.],
           [1., 0.]])
    """
    adjacency, _ = _dag(graph, names, "lingam")
    return adjacency.T.astype(float)


def from_lingam(weights: np.ndarray, names: Sequence[str] | None = None) -> Named:
    """A graph from lingam's `adjacency_matrix_` (of any weights)."""
    weights = np.asarray(weights, dtype=float)
    if np.isnan(weights).any():
        i, j = np.argwhere(np.isnan(weights))[0]
        raise GraphError(f"B[{i}, {j}] is NaN, lingam's mark for a hidden common cause: graphs here have none.")
    return as_named(weights.T != 0, names)


def to_causal_learn(graph: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """causal-learn's `GeneralGraph.graph`: ends[i, j] = -1 and ends[j, i] = 1 for i -> j, both -1 for i - j.

    >>> to_causal_learn(np.array([[0, 1], [0, 0]], dtype=bool))
    array([[ 0, -1],
           [ 1,  0]])
    """
    adjacency, _ = as_named(graph, names)
    return np.where(adjacency, _TAIL, np.where(adjacency.T, _ARROW, 0))


def from_causal_learn(ends: np.ndarray, names: Sequence[str] | None = None) -> Named:
    """A graph from causal-learn's `GeneralGraph.graph` of a DAG or CPDAG; two heads and circles are refused."""
    ends = np.asarray(ends)
    is_edge = (ends == _TAIL) & np.isin(ends.T, (_TAIL, _ARROW))
    unknown = np.argwhere(((ends != 0) | (ends.T != 0)) & ~(is_edge | is_edge.T))
    if len(unknown):
        i, j = unknown[0]
        raise GraphError(
            f"The end marks {ends[i, j]} and {ends[j, i]} between nodes {i} and {j} make no edge of ours: "
            "graphs here have no hidden common causes and no unknown ends."
        )
    return as_named(is_edge, names)


Edges = list[tuple[str, str]]


def to_pgmpy(graph: Any, names: Sequence[str] | None = None) -> tuple[Edges, Edges]:
    """(directed edges, undirected edges) by name: `DAG(directed)` or `PDAG(directed, undirected)` in pgmpy.

    Nodes without edges are not in it: add them with `add_nodes_from(names)`.

    >>> to_pgmpy(nx.DiGraph([("rain", "wet")]))
    ([('rain', 'wet')], [])
    """
    adjacency, names = as_named(graph, names)

    def edges(part: np.ndarray) -> Edges:
        return [(names[i], names[j]) for i, j in np.argwhere(part)]

    return edges(directed_part(adjacency)), edges(np.triu(undirected_part(adjacency)))


def from_pgmpy(model: nx.DiGraph[Any]) -> Named:
    """A graph from pgmpy's DAG, PDAG or a model that derives from them: a networkx DiGraph with edges as ours."""
    return from_networkx(model)


def to_dowhy(graph: Any, names: Sequence[str] | None = None) -> str:
    """A GML string that dowhy's `CausalModel(..., graph=...)` accepts.

    dowhy takes a string with ".txt", ".dot" or ".gml" in it for the name of a file, and one with braces for DOT.
    """
    adjacency, names = _dag(graph, names, "dowhy")
    for name in names:
        if re.search(r"\.(txt|dot|gml)|[{}]", name):
            raise GraphError(f"dowhy takes {name!r} in a graph for a file or for DOT: rename the node.")
    return to_gml(adjacency, names).replace("\n", " ")


def from_dowhy(text: str) -> Named:
    """A graph from a GML string for dowhy."""
    return from_gml(text)


def _dag(graph: Any, names: Sequence[str] | None, package: str) -> Named:
    adjacency, names = as_named(graph, names)
    if not is_acyclic(adjacency):
        raise GraphError(f"{package} takes DAGs only; this graph has a cycle or an undirected edge.")
    return adjacency, names
