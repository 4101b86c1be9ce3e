"""Graphs as text and files. Every writer takes anything that the library calls a graph; readers return (matrix, names).

An undirected edge is `dir=none` in DOT, `--` in dagitty's text and in edge tables, a pair of opposite edges marked
`undirected` in GML, GraphML and JSON, and both entries in an adjacency table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree.ElementTree import ParseError

import networkx as nx
import numpy as np

from grandag.graph.algebra import undirected_part
from grandag.graph.boundary import GraphError, Named, as_graph, as_named, as_networkx, from_networkx
from grandag.graph.dot import Edge, parse
from grandag.writing import replacing, write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "check_ending",
    "from_adjacency_table",
    "from_dagitty",
    "from_dot",
    "from_edge_table",
    "from_gml",
    "from_graphml",
    "from_json",
    "no_formula",
    "read_graph",
    "to_adjacency_table",
    "to_dagitty",
    "to_dot",
    "to_edge_table",
    "to_gml",
    "to_graphml",
    "to_json",
    "write_graph",
]


def to_dot(graph: Any, names: Sequence[str] | None = None) -> str:
    """A graph as Graphviz text.

    >>> print(to_dot(nx.DiGraph([("rain", "wet")])), end="")
    digraph {
      "rain";
      "wet";
      "rain" -> "wet";
    }
    """
    graph = as_networkx(graph, names)
    lines = [f"  {_quoted(node)};" for node in graph]
    for source, target, attributes in _lines(graph):
        labels = ["dir=none"] if attributes.get("undirected") else []
        labels += [f"{name}={value:.6g}" for name, value in attributes.items() if isinstance(value, float)]
        label = f" [{', '.join(labels)}]" if labels else ""
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{label};")
    return "\n".join(["digraph {", *lines, "}", ""])


def _lines(graph: nx.DiGraph[str]) -> Iterable[tuple[str, str, dict[str, Any]]]:
    """The edges, each undirected one once."""
    position = {node: k for k, node in enumerate(graph)}
    for source, target, attributes in graph.edges(data=True):
        if not attributes.get("undirected") or position[source] < position[target]:
            yield source, target, attributes


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def from_dot(text: str) -> Named:
    """A graph from Graphviz text, `digraph` or `graph`: nodes, chains of edges, `dir`; other attributes are ignored."""
    _, nodes, edges = parse(text, kinds=("digraph", "graph"), escaped='"\\')
    return _from_arrows(nodes, [_with_direction(edge) for edge in edges])


_DIRECTIONS = {"forward": "->", "back": "<-", "none": "--", "both": "<->"}


def _with_direction(edge: Edge) -> Edge:
    return edge._replace(arrow=_DIRECTIONS.get(edge.attributes.get("dir", ""), edge.arrow))


def _from_arrows(nodes: Sequence[str], edges: Iterable[Edge]) -> Named:
    position = {node: k for k, node in enumerate(nodes)}
    adjacency = np.zeros((len(nodes), len(nodes)), dtype=bool)
    for source, arrow, target, _ in edges:
        i, j = position[source], position[target]
        if arrow not in {"->", "<-", "--"}:
            raise GraphError(
                f"The edge {source} {arrow} {target} is neither directed nor undirected: graphs here have no hidden "
                "common causes and no unknown ends."
            )
        adjacency[i, j] |= arrow != "<-"
        adjacency[j, i] |= arrow != "->"
    return as_named(adjacency, nodes)


def to_dagitty(graph: Any, names: Sequence[str] | None = None) -> str:
    r"""A graph as the text that dagitty reads: `dag { ... }`, or `pdag { ... }` if there are undirected edges.

    >>> to_dagitty(nx.DiGraph([("rain", "wet")]))
    'dag {\n"rain"\n"wet"\n"rain" -> "wet"\n}\n'
    """
    adjacency, names = as_named(graph, names)
    quoted = []
    for name in names:
        if re.search(r'\\("|$)', name):
            raise GraphError(
                f"dagitty cannot read a backslash before a quote or at the end, as in {name!r}: rename it."
            )
        quoted.append('"' + name.replace('"', '\\"') + '"')
    undirected = undirected_part(adjacency)
    lines = [
        f"{quoted[i]} {'--' if undirected[i, j] else '->'} {quoted[j]}"
        for i, j in np.argwhere(adjacency)
        if i < j or not undirected[i, j]
    ]
    kind = "pdag" if undirected.any() else "dag"
    return "\n".join([f"{kind} {{", *quoted, *lines, "}", ""])


def from_dagitty(text: str) -> Named:
    """A graph from dagitty's text; positions, exposures and outcomes are ignored."""
    _, nodes, edges = parse(text, kinds=("dag", "pdag", "digraph", "graph"), escaped='"')
    return _from_arrows(nodes, edges)


def to_gml(graph: Any, names: Sequence[str] | None = None) -> str:
    """A graph as GML text."""
    return "\n".join([*nx.generate_gml(as_networkx(graph, names)), ""])


def from_gml(text: str) -> Named:
    """A graph from GML text; nodes are called by their labels."""
    try:
        return from_networkx(nx.parse_gml(text))
    except nx.NetworkXError as error:
        raise GraphError(f"The text is not GML: {error}") from None


def to_graphml(graph: Any, names: Sequence[str] | None = None) -> str:
    """A graph as GraphML text; names with control characters, which XML does not have, are refused."""
    named = as_networkx(graph, names)
    for name in named.nodes:
        if _NOT_IN_XML.search(str(name)):
            raise GraphError(f"GraphML cannot hold the name {name!r}: rename the column, or write .json.")
    return "\n".join([*nx.generate_graphml(named), ""])


def from_graphml(text: str) -> Named:
    """A graph from GraphML text; nodes are called by their ids."""
    try:
        return from_networkx(nx.parse_graphml(text))
    except (nx.NetworkXError, ParseError) as error:
        raise GraphError(f"The text is not GraphML: {error}") from None


def to_json(graph: Any, names: Sequence[str] | None = None) -> str:
    """`{"nodes": [names], "edges": [{"source": ..., "target": ..., attributes}]}`"""
    graph = as_networkx(graph, names)
    edges = [{"source": source, "target": target, **data} for source, target, data in graph.edges(data=True)]
    return json.dumps({"nodes": list(graph), "edges": edges}, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> Named:
    """A graph from the JSON that `to_json` writes."""
    try:
        content = json.loads(text)
        nodes = [str(node) for node in content["nodes"]]
        edges = [(str(edge["source"]), str(edge["target"]), edge.get("undirected", False)) for edge in content["edges"]]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise GraphError(
            'The text is not a graph in JSON, {"nodes": [...], "edges": [{"source": ..., "target": ...}]}: '
            f"{error!r}"
        ) from None
    _check_known(nodes, edges)
    return _from_arrows(nodes, [Edge(source, "--" if mark else "->", target, {}) for source, target, mark in edges])


def _check_known(nodes: Sequence[str], edges: Iterable[tuple[str, str, Any]]) -> None:
    known = set(nodes)
    for source, target, _ in edges:
        for name in (source, target):
            if name not in known:
                raise GraphError(f"The edge {source!r} to {target!r} has a node {name!r} that is not among the nodes.")


def to_edge_table(graph: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """A graph as a table with one row per edge: source, type (-> or --), target. Nodes without edges are not in it.

    >>> to_edge_table(nx.DiGraph([("rain", "wet")])).to_dict(orient="records")
    [{'source': 'rain', 'type': '->', 'target': 'wet'}]
    """
    import pandas as pd

    graph = as_networkx(graph, names)
    rows = [(source, "--" if data.get("undirected") else "->", target) for source, target, data in _lines(graph)]
    return pd.DataFrame(rows, columns=["source", "type", "target"], dtype=str)


def from_edge_table(table: pd.DataFrame, names: Sequence[str] | None = None) -> Named:
    """A graph from columns source, target and, if there are undirected edges, type (-> or --).

    `names` are all nodes in their order; without them the nodes are those that have an edge, in order of appearance.
    """
    for column in ("source", "target"):
        if column not in table.columns:
            found = ", ".join(map(str, table.columns))
            raise GraphError(f"An edge table has columns source and target; this one has {found}: rename them.")
    arrows = table["type"] if "type" in table.columns else ["->"] * len(table)
    edges = [(str(s), str(t), str(arrow)) for s, t, arrow in zip(table["source"], table["target"], arrows, strict=True)]
    if names is None:
        nodes = list(dict.fromkeys(name for source, target, _ in edges for name in (source, target)))
    else:
        nodes = list(names)
        _check_known(nodes, edges)
    return _from_arrows(nodes, [Edge(source, arrow, target, {}) for source, target, arrow in edges])


def to_adjacency_table(graph: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """A graph as a table of 0 and 1 with the names as rows (sources) and columns (targets)."""
    import pandas as pd

    adjacency, names = as_named(graph, names)
    return pd.DataFrame(adjacency.astype(int), index=list(names), columns=list(names))


def from_adjacency_table(table: pd.DataFrame) -> Named:
    """A graph from a matrix with the names as rows and columns."""
    return as_named(table)


def no_formula(name: str) -> str:
    """A name for a table that spreadsheets open: they would run one that begins like a formula."""
    return f"'{name}" if _FORMULA.match(name) else name


def _without_mark(name: str) -> str:
    """The name that `no_formula` was given."""
    return name[1:] if name.startswith("'") and _FORMULA.match(name[1:]) else name


class _Format(NamedTuple):
    to_text: Callable[[Any], str]
    from_text: Callable[[str], Named]


_FORMATS = {
    ".dot": _Format(to_dot, from_dot),
    ".gv": _Format(to_dot, from_dot),
    ".dagitty": _Format(to_dagitty, from_dagitty),
    ".txt": _Format(to_dagitty, from_dagitty),
    ".gml": _Format(to_gml, from_gml),
    ".graphml": _Format(to_graphml, from_graphml),
    ".json": _Format(to_json, from_json),
}
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_ENDINGS = ", ".join([*_FORMATS, *_SEPARATORS, ".npy"])


def write_graph(graph: Any, path: str | Path) -> None:
    """Write a graph in the format of the file's ending.

    .dot .gv (Graphviz), .dagitty .txt (dagitty), .gml, .graphml, .json, .csv .tsv (adjacency table with names), .npy
    (the matrix alone).
    """
    path = Path(path)
    check_ending(path)
    if path.suffix in _FORMATS:
        write_text(path, _FORMATS[path.suffix].to_text(graph))
    elif path.suffix in _SEPARATORS:
        write_text(path, to_adjacency_table(graph).to_csv(sep=_SEPARATORS[path.suffix]))
    else:
        with replacing(path) as stream:
            np.save(stream, as_named(graph)[0], allow_pickle=False)


def check_ending(path: str | Path) -> None:
    """Raise if no format for graphs has this ending."""
    if Path(path).suffix not in {*_FORMATS, *_SEPARATORS, ".npy"}:
        raise GraphError(f"{Path(path).name!r} does not end in one of {_ENDINGS}: choose the format by the ending.")


def read_graph(path: str | Path, nodes: Sequence[str] = ()) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Matrix and names (None for .npy) from a file in any of the formats that `write_graph` writes, by its ending.

    A table (.csv, .tsv) with columns source and target is an edge table, any other an adjacency table. An edge table
    leaves out nodes without edges: `nodes` are added to it, if it has not got them.
    """
    path = Path(path)
    if not path.exists():
        raise GraphError(f"There is no file {str(path)!r}: check the path.")
    try:
        if path.suffix in _FORMATS:
            return _FORMATS[path.suffix].from_text(path.read_text(encoding="utf-8"))
        if path.suffix in _SEPARATORS:
            return _read_table(path, _SEPARATORS[path.suffix], nodes)
        if path.suffix == ".npy":
            return as_graph(np.load(path, allow_pickle=False))
    except (OSError, ValueError) as error:
        raise GraphError(f"{path.name!r} could not be read as a graph: {error}") from None
    raise GraphError(f"{path.name!r} does not end in one of {_ENDINGS}: convert the file or rename it.")


def _read_table(path: Path, separator: str, nodes: Sequence[str]) -> Named:
    """Cells are read as text, so that no name is taken for a number or a missing value."""
    import pandas as pd

    rows = pd.read_csv(path, sep=separator, header=None, dtype=str, keep_default_na=False)
    header, cells = rows.iloc[0].tolist(), rows.iloc[1:].reset_index(drop=True)
    if {"source", "target"} <= set(header):
        edges = cells.set_axis(header, axis=1)
        edges[["source", "target"]] = edges[["source", "target"]].map(_without_mark)
        _, names = from_edge_table(edges)
        return from_edge_table(edges, [*names, *(node for node in nodes if node not in set(names))])
    if header[0] == "" or sorted(cells[0]) == sorted(header[1:]):
        cells = cells.set_index(0)
        header = header[1:]
    return from_adjacency_table(cells.set_axis(header, axis=1).replace({"True": "1", "False": "0"}))
