"""What the page of a large graph has beside the drawing: the neighbourhood of any variable, and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
from markupsafe import Markup

from grandag.drawing import BOX_HEIGHT, box_width, to_svg
from grandag.overview import Cluster, cluster_graph, clusters, is_readable
from grandag.report.facts import FitSummary
from grandag.report.page import as_json
from grandag.showing import edge_table
from grandag.wording import counted

__all__ = ["large_graph"]

_MOST_CLUSTERS, _MOST_HUBS, _MOST_JOINED = 50, 3, 5
"""In the table of clusters: rows, variables that stand for one, and other clusters that it is joined to."""


def large_graph(fit: FitSummary) -> dict[str, Any] | None:
    """Data for the neighbourhood of every variable, and the clusters; None for a graph that is drawn as a whole."""
    graph = fit.learned.graph
    if is_readable(graph):
        return None
    found = clusters(graph)
    between = cluster_graph(found)
    return {
        "names": sorted(graph),
        "data": as_json(_neighbour_data(fit, graph)),
        "drawing": Markup(to_svg(between, title="The largest clusters, and edges between them", width_by="edges")),
        "clusters": [_cluster_row(number, cluster) for number, cluster in enumerate(found[:_MOST_CLUSTERS], 1)],
        "n_hidden": max(0, len(found) - _MOST_CLUSTERS),
        "n_isolated": nx.number_of_isolates(graph),
    }


def _neighbour_data(fit: FitSummary, graph: nx.DiGraph[str]) -> dict[str, Any]:
    """Names and widths of boxes, edges with their facts, strongest first, and the variable with the most edges."""
    names = list(graph)
    position = {name: number for number, name in enumerate(names)}
    header, rows = edge_table(fit.facts["edges"])
    return {
        "names": names,
        "widths": [round(box_width(name), 1) for name in names],
        "height": BOX_HEIGHT,
        "columns": header[2:],
        "edges": [
            [position[source], position[target], int(not graph.has_edge(target, source)), *texts]
            for source, target, *texts in rows
        ],
        "start": position[max(names, key=graph.degree)],
    }


def _cluster_row(number: int, cluster: Cluster) -> dict[str, Any]:
    return {
        "number": number,
        "size": len(cluster.nodes),
        "n_edges": cluster.n_edges,
        "hubs": ", ".join(cluster.nodes[:_MOST_HUBS]),
        "others": ", ".join(cluster.nodes[_MOST_HUBS:]),
        "joined": _joined(list(cluster.joined.items())),
    }


def _joined(joined: Sequence[tuple[int, int]]) -> str:
    """Other clusters by their numbers in the table, those with the most edges first."""
    shown = ", ".join(f"{other + 1} ({counted(count, 'edge')})" for other, count in joined[:_MOST_JOINED])
    return f"{shown} and {len(joined) - _MOST_JOINED} more" if len(joined) > _MOST_JOINED else shown
