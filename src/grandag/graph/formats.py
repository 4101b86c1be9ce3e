"""Graphs as text and files. Every writer takes anything that the library calls a graph; readers return (matrix, names).

An undirected edge is `dir=none` in DOT, `--` in dagitty's text and in edge tables, a pair of opposite edges marked
`undirected` in GML, GraphML and JSON, and both entries in an adjacency table.
"""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np

from grandag.graph.algebra import undirected_part
from grandag.graph.boundary import GraphError, Named, as_graph, as_named, as_networkx, from_networkx, unique
from grandag.graph.dot import Edge, parse
from grandag.incoming import MOST_VARIABLES, read_array, read_content, reason_of
from grandag.overview import draw
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
        numbers = {name: f"{value:.6g}" for name, value in attributes.items() if isinstance(value, float)}
        labels += [f"{_bare_or_quoted(name)}={_bare_or_quoted(number)}" for name, number in numbers.items()]
        label = f" [{', '.join(labels)}]" if labels else ""
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{label};")
    return "\n".join(["digraph {", *lines, "}", ""])


def _lines(graph: nx.DiGraph[str]) -> Iterable[tuple[str, str, dict[str, Any]]]:
    """The edges, each undirected one once."""
    position = {node: k for k, node in enumerate(graph)}
    for source, target, attributes in graph.edges(data=True):
        if not attributes.get("undirected") or position[source] < position[target]:
            yield source, target, attributes


_BARE = re.compile(
    r"(?!(?:strict|graph|digraph|subgraph|node|edge)$)[a-z_]\w*|-?(?:\.\d+|\d+(?:\.\d*)?)", re.ASCII | re.I
)
"""What Graphviz reads without quotes: words but its own, and numbers without an exponent."""

_ENTITY = re.compile(r"&(?:#\d+|#x[\da-f]+|[a-z]\w*);", re.ASCII | re.I)
"""What Graphviz takes for one character, as in HTML."""


def _bare_or_quoted(text: str) -> str:
    return text if _BARE.fullmatch(text) else _quoted(text)


def _quoted(name: str) -> str:
    """A name for Graphviz: entities are to be read as they stand, and a percent sign first would make it anonymous."""
    escaped = _ENTITY.sub(lambda entity: "&amp;" + entity[0][1:], name.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{re.sub("^%", "&#37;", escaped)}"'


def from_dot(text: str) -> Named:
    """A graph from Graphviz text, `digraph` or `graph`: nodes, chains of edges, `dir`; other attributes are ignored."""
    _, nodes, edges = parse(text, kinds=("digraph", "graph"), escaped='"\\')
    return _from_arrows([_unescaped(node) for node in nodes], [_with_direction(edge) for edge in edges])


def _unescaped(name: str) -> str:
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), name)


_DIRECTIONS = {"forward": "->", "back": "<-", "none": "--", "both": "<->"}


def _with_direction(edge: Edge) -> Edge:
    arrow = _DIRECTIONS.get(edge.attributes.get("dir", ""), edge.arrow)
    return edge._replace(source=_unescaped(edge.source), arrow=arrow, target=_unescaped(edge.target))


def _from_arrows(nodes: Sequence[str], edges: Iterable[Edge]) -> Named:
    position = {node: k for k, node in enumerate(unique(nodes))}
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
        graph = nx.parse_gml(text)
    except Exception as error:  # networkx has no error of its own for most of what can be wrong
        raise GraphError(f"The text is not GML: {reason_of(error)}.") from None
    return from_networkx(graph)


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
        graph = nx.parse_graphml(text)
    except Exception as error:  # networkx has no error of its own for most of what can be wrong
        raise GraphError(f"The text is not GraphML: {reason_of(error)}.") from None
    return from_networkx(graph)


def to_json(graph: Any, names: Sequence[str] | None = None) -> str:
    """`{"nodes": [names], "edges": [{"source": ..., "target": ..., attributes}]}`"""
    graph = as_networkx(graph, names)
    edges = [{"source": source, "target": target, **data} for source, target, data in graph.edges(data=True)]
    return json.dumps({"nodes": list(graph), "edges": edges}, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> Named:
    """A graph from the JSON that `to_json` writes."""
    try:
        content = json.loads(text)
        nodes = [str(node) for node in _list(content["nodes"])]
        edges = [
            (str(edge["source"]), str(edge["target"]), edge.get("undirected", False))
            for edge in _list(content["edges"])
        ]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise GraphError(
            'The text is not a graph in JSON, {"nodes": [...], "edges": [{"source": ..., "target": ...}]}: '
            f"{error!r}"
        ) from None
    _check_known(nodes, edges)
    return _from_arrows(nodes, [Edge(source, "--" if mark else "->", target, {}) for source, target, mark in edges])


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    return value


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


_ENDS = (("source", "target"), ("cause", "effect"), ("from", "to"), ("parent", "child"))
"""What people call the two columns of an edge table, in small or capital letters."""


def from_edge_table(table: pd.DataFrame, names: Sequence[str] | None = None) -> Named:
    """A graph from columns source, target and, if there are undirected edges, type (-> or --).

    Source and target may also be called cause and effect, from and to, or parent and child. `names` are all nodes in
    their order; without them the nodes are those that have an edge, in order of appearance.
    """
    ends = _ends(table.columns)
    if ends is None:
        found = ", ".join(map(str, table.columns))
        raise GraphError(f"An edge table has columns source and target; this one has {found}: rename them.")
    columns = {str(column).strip().lower(): column for column in table.columns}
    arrows = table[columns["type"]] if "type" in columns else ["->"] * len(table)
    sources, targets = (table[columns[end]] for end in ends)
    edges = [(str(s), str(t), str(arrow)) for s, t, arrow in zip(sources, targets, arrows, strict=True)]
    if names is None:
        nodes = list(dict.fromkeys(name for source, target, _ in edges for name in (source, target)))
    else:
        nodes = list(names)
        _check_known(nodes, edges)
    return _from_arrows(nodes, [Edge(source, arrow, target, {}) for source, target, arrow in edges])


def _ends(columns: Iterable[Any]) -> tuple[str, str] | None:
    """What the columns of an edge table are called, if these are columns of one."""
    known = {str(column).strip().lower() for column in columns}
    return next((ends for ends in _ENDS if known.issuperset(ends)), None)


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
_DRAWINGS = (".svg", ".png")
_ENDINGS = ", ".join([*_FORMATS, *_SEPARATORS, ".npy"])


def write_graph(graph: Any, path: str | Path) -> None:
    """Write a graph in the format of the file's ending.

    .dot .gv (Graphviz), .dagitty .txt (dagitty), .gml, .graphml, .json, .csv .tsv (adjacency table with names), .npy
    (the matrix alone); .svg and .png are drawings, which cannot be read again and
    show the strongest edges of a graph with more than 100 nodes or 200 edges. PNG needs `pip install 'grandag[png]'`.
    """
    path = Path(path)
    check_ending(path)
    if path.suffix in _DRAWINGS:
        _draw(graph, path)
    elif path.suffix in _FORMATS:
        write_text(path, _FORMATS[path.suffix].to_text(graph))
    elif path.suffix in _SEPARATORS:
        write_text(path, to_adjacency_table(graph).to_csv(sep=_SEPARATORS[path.suffix]))
    else:
        with replacing(path) as stream:
            np.save(stream, as_named(graph)[0], allow_pickle=False)


def check_ending(path: str | Path) -> None:
    """Raise if no format for graphs has this ending."""
    if Path(path).suffix not in {*_FORMATS, *_SEPARATORS, *_DRAWINGS, ".npy"}:
        endings = ", ".join([_ENDINGS, *_DRAWINGS])
        raise GraphError(f"{Path(path).name!r} does not end in one of {endings}: choose the format by the ending.")


def _draw(graph: Any, path: Path) -> None:
    try:
        draw(as_networkx(graph)).save(path)
    except ValueError as error:
        raise GraphError(str(error)) from None


def read_graph(path: str | Path, nodes: Sequence[str] = ()) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Matrix and names (None for .npy) from a file in any of the formats that `write_graph` writes, by its ending.

    A table (.csv, .tsv) with columns source and target (or cause and effect, from and to, parent and child) is an edge
    table, any other an adjacency table. An edge table leaves out nodes without edges: `nodes` are added to it, if it
    has not got them.
    """
    path = Path(path)
    if not path.exists():
        raise GraphError(f"There is no file {str(path)!r}: check the path.")
    try:
        if path.suffix in _FORMATS:
            return _FORMATS[path.suffix].from_text(read_content(path).decode())
        if path.suffix in _SEPARATORS:
            return _read_table(path, _SEPARATORS[path.suffix], nodes)
        if path.suffix == ".npy":
            return as_graph(read_array(path))
    except Exception as error:  # whatever a stranger's file brings up
        raise GraphError(f"{path.name!r} could not be read as a graph: {reason_of(error)}.") from None
    raise GraphError(f"{path.name!r} does not end in one of {_ENDINGS}: convert the file or rename it.")


def _read_table(path: Path, separator: str, nodes: Sequence[str]) -> Named:
    """Cells are read as text, so that no name is taken for a number or a missing value."""
    import pandas as pd

    text = read_content(path).decode("utf-8-sig")
    if text.partition("\n")[0].count(separator) > MOST_VARIABLES:
        raise GraphError(f"{path.name!r} has more than {MOST_VARIABLES:,} columns, which is the most.")
    rows = pd.read_csv(io.StringIO(text), sep=separator, header=None, dtype=str, keep_default_na=False)
    header, cells = rows.iloc[0].tolist(), rows.iloc[1:].reset_index(drop=True)
    if header[0] != "" and _ends(header) is not None:
        edges = cells.set_axis(header, axis=1)
        edges = edges.map(_without_mark)
        _, names = from_edge_table(edges)
        return from_edge_table(edges, [*names, *(node for node in nodes if node not in set(names))])
    if header[0] == "" or sorted(cells[0]) == sorted(header[1:]):
        cells = cells.set_index(0)
        header = header[1:]
    elif not cells.stack().str.fullmatch("[01.]+|True|False").all():
        raise GraphError(
            f"The columns {', '.join(header)} are neither those of an adjacency table, which holds 0 and 1, nor those "
            "of an edge table: name them source and target, the cause first."
        )
    return from_adjacency_table(cells.set_axis(header, axis=1).replace({"True": "1", "False": "0"}))
