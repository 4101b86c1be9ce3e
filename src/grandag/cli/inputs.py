"""What the arguments of commands stand for: tables and graphs, in files or bundled with the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_data", "read_truth", "the_graph"]


def read_data(data: str, columns: str | None) -> pd.DataFrame:
    """The table behind an argument: a bundled data set by name, or a file."""
    from grandag import datasets
    from grandag.table import TableError, read_table

    frame = datasets.load(data).data if data in datasets.DATASETS else read_table(data)
    if columns is None:
        return frame
    wanted = [name.strip() for name in columns.split(",")]
    unknown = [name for name in wanted if name not in frame.columns]
    if unknown:
        raise TableError(f"{data!r} has no column {unknown[0]!r}: it has {', '.join(map(str, frame.columns))}.")
    return frame[wanted]


def the_graph(argument: str, other: Any = None) -> Any:
    """The graph behind an argument. Nodes that a table of edges leaves out are taken from the other graph."""
    from grandag import datasets
    from grandag.graph import as_graph, read_graph

    if argument in datasets.DATASETS:
        dataset = datasets.load(argument)
        return dataset.adjacency, dataset.names
    if Path(argument).suffix == ".npz":
        from grandag.methods.storage import load

        return load(argument)
    names = None if other is None else as_graph(other)[1]
    return read_graph(argument, names or ())


def read_truth(data: str, names: tuple[str, ...], report: Path | None, truth: str | None) -> Any:
    """The true graph for a report: as given, or that of a bundled data set if all its columns are there."""
    if report is None:
        if truth is not None:
            raise typer.BadParameter("is for the page of --report, which was not asked for.", param_hint="--truth")
        return None
    import networkx as nx

    from grandag import datasets
    from grandag.metrics.matching import matched

    if truth is None:
        is_known = data in datasets.DATASETS and names == datasets.load(data).names
        return the_graph(data) if is_known else None
    nodes: nx.DiGraph[str] = nx.DiGraph()
    nodes.add_nodes_from(names)
    graph = the_graph(truth, nodes)
    matched(graph, nodes)
    return graph
