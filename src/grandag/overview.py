"""What a person can read of a large graph: its strongest edges, the neighbourhood of a node, and its clusters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import networkx as nx

from grandag.drawing import WIDTHS, Drawing, Edge, edges_of, to_svg
from grandag.table import TableError, suggestion
from grandag.wording import counted

__all__ = ["MOST_NODES", "Cluster", "Part", "cluster_graph", "clusters", "draw", "is_readable", "neighbourhood",
           "strongest_part"]  # fmt: skip

MOST_NODES, MOST_EDGES = 100, 200
"""Of a drawing in which names can be read and lines be followed."""

_MOST_CLUSTERS, _SMALLEST_CLUSTER = 12, 3
"""In a drawing of clusters."""


class Part(NamedTuple):
    """A part of a graph, and how much it is of the whole."""

    graph: nx.DiGraph[str]
    caption: str


class Cluster(NamedTuple):
    """Nodes with many edges among them and few to others."""

    nodes: tuple[str, ...]  # those with the most edges first
    n_edges: int  # among them
    joined: dict[int, int]  # numbers of edges to other clusters by their places in the list, most first


def is_readable(graph: nx.DiGraph[str]) -> bool:
    """Is the graph small enough to be drawn as a whole?"""
    return len(graph) <= MOST_NODES and len(edges_of(graph, "")) <= MOST_EDGES


def draw(graph: nx.DiGraph[str], *, width_by: str | None = None, around: str | None = None, depth: int = 1) -> Drawing:
    """A drawing of what can be read: the whole of a small graph, the strongest edges of a large one.

    With `around`, the neighbourhood of that node. A heading says how much is left out. By default lines are as wide as
    edges are frequent over refits, or else by what else is known of their strength.
    """
    width_by = width_by or _known_width(graph)
    if around is not None:
        part = neighbourhood(graph, around, by=width_by, depth=depth)
        return Drawing(to_svg(part.graph, title=part.caption, width_by=width_by, marked=around))
    if is_readable(graph):
        return Drawing(to_svg(graph, width_by=width_by))
    part = strongest_part(graph, by=width_by)
    return Drawing(to_svg(part.graph, title=part.caption, width_by=width_by))


def _known_width(graph: nx.DiGraph[str]) -> str:
    known = {name for *_, attributes in graph.edges(data=True) for name in attributes}
    return next((fact for fact in WIDTHS if fact in known), "strength")


def strongest_part(graph: nx.DiGraph[str], *, by: str) -> Part:
    """The strongest edges, as many as can be read, their nodes, and all other edges between these.

    Where no strength is known, the first ones by name.
    """
    edges = edges_of(graph, by)
    ranked = sorted(edges, key=_weight, reverse=True)
    part = graph.subgraph(_readable_nodes(graph, (edge[:2] for edge in ranked)))
    shown, total = len(edges_of(part, by)), counted(len(edges), "edge")
    which = "strongest" if any(edge.weight is not None for edge in edges) else "first"
    amount = f"All {total}" if shown == len(edges) else f"The {which} of {total}: {shown:,}"
    return Part(part, f"{amount}, between {len(part):,} of {len(graph):,} nodes")


def neighbourhood(graph: nx.DiGraph[str], name: str, *, by: str, depth: int = 1) -> Part:
    """The nodes within `depth` steps of one node, along edges of any direction, and the edges between them.

    Of more than can be read, the nearest, and of these the ones that the strongest edges join.
    """
    if name not in graph:
        raise TableError(f"The graph has no node {name!r}{suggestion(name, list(graph)) or '.'}")
    if depth < 1:
        raise TableError(f"A neighbourhood has a depth of at least 1; got {depth}.")
    near = [name, *_by_distance(graph, name, by, depth)]
    part = graph.subgraph(_readable_nodes(graph, ((node,) for node in near)))
    where = f"Around {name}" if depth == 1 else f"Around {name}, up to {depth} steps"
    found, shown = len(near) - 1, len(part) - 1
    which = "" if shown == found else f"the nearest and strongest {shown:,} of "
    return Part(part, f"{where}: {which}{counted(found, 'node')}")


def _by_distance(graph: nx.DiGraph[str], name: str, by: str, depth: int) -> Iterator[str]:
    """The nodes within `depth` steps, nearest first, and at one distance by their strongest edge to a nearer node."""
    links: dict[str, dict[str, float]] = {node: {} for node in graph}
    for edge in edges_of(graph, by):
        for one, other in (edge[:2], edge[1::-1]):
            links[one][other] = max(_weight(edge), links[one].get(other, -math.inf))
    known, layer = {name}, [name]
    for _ in range(depth):
        reached: dict[str, float] = {}
        for node in layer:
            for other in links[node].keys() - known:
                reached[other] = max(links[node][other], reached.get(other, -math.inf))
        layer = sorted(reached, key=lambda node: (-reached[node], node))
        known |= reached.keys()
        yield from layer


def _weight(edge: Edge) -> float:
    """The weight of an edge; one that is not known counts least."""
    return -math.inf if edge.weight is None else edge.weight


def _readable_nodes(graph: nx.DiGraph[str], groups: Iterable[Sequence[str]]) -> set[str]:
    """Nodes of the first groups, all those for which nodes and the edges between them stay within the limits."""
    chosen: set[str] = set()
    n_edges = 0
    for group in groups:
        larger = set(chosen)
        for node in group:
            if node not in larger:
                n_edges += len((set(graph.pred[node]) | set(graph.succ[node])) & larger)
                larger.add(node)
        if len(larger) > MOST_NODES or n_edges > MOST_EDGES:
            break
        chosen = larger
    return chosen


def clusters(graph: nx.DiGraph[str]) -> list[Cluster]:
    """Groups of nodes with many edges among them and few to others, largest first; nodes without edges are in none."""
    links = nx.Graph((one, other) for one, other in graph.edges if one != other)
    groups = _communities(links)
    cluster_of = {name: number for number, group in enumerate(groups) for name in group}
    n_between: list[Counter[int]] = [Counter() for _ in groups]
    for one, other in links.edges:
        ends = cluster_of[one], cluster_of[other]
        for own, joined in {ends, ends[::-1]}:
            n_between[own][joined] += 1
    return [
        Cluster(
            tuple(sorted(group, key=lambda name: (-links.degree[name], name))),
            counts.pop(number, 0),
            dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        )
        for number, (group, counts) in enumerate(zip(groups, n_between, strict=True))
    ]


def _communities(links: nx.Graph[str]) -> list[list[str]]:
    """Greedy modularity (Clauset, Newman and Moore 2004), whatever the strength of edges.

    Where two groups might be joined as well as two others, the order of names decides, not that of columns or edges.
    """
    names = sorted(links)
    place = {name: number for number, name in enumerate(names)}
    numbered: nx.Graph[int] = nx.Graph((place[one], place[other]) for one, other in links.edges)
    found = nx.community.greedy_modularity_communities(numbered) if names else []
    return sorted(
        ([names[number] for number in sorted(group)] for group in found), key=lambda group: (-len(group), group)
    )


def cluster_graph(found: Sequence[Cluster]) -> nx.DiGraph[str]:
    """The largest clusters as nodes, counted from 1; `edges` of a line are the edges between two of them."""
    shown = [cluster for cluster in found[:_MOST_CLUSTERS] if len(cluster.nodes) >= _SMALLEST_CLUSTER]
    labels = [f"{k}: {cluster.nodes[0]} and {len(cluster.nodes) - 1:,} more" for k, cluster in enumerate(shown, 1)]
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(labels)
    for label, cluster in zip(labels, shown, strict=True):
        for other, count in cluster.joined.items():
            if other < len(shown):
                graph.add_edge(label, labels[other], undirected=True, edges=count)
    return graph
