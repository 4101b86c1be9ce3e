import json
import shutil
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from grandag import GraNDAG
from grandag import graph as g
from grandag.drawing import to_svg
from grandag.graph import GraphError, read_graph, to_networkx, write_graph
from tests.graph.strategies import NAMES, graphs

ADJACENCY = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
NAMES_3 = ["a b", 'say "hi" \\', "c"]
CPDAG = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=bool)
"""a - b <- c, and d alone."""

TEXTS = [(g.to_dot, g.from_dot), (g.to_gml, g.from_gml), (g.to_graphml, g.from_graphml), (g.to_json, g.from_json)]
ENDINGS = [".dot", ".gv", ".dagitty", ".txt", ".gml", ".graphml", ".json", ".csv", ".tsv"]


def assert_same(found, adjacency, names):
    np.testing.assert_array_equal(found[0], adjacency)
    assert found[1] == tuple(names)


@pytest.mark.parametrize(("write", "read"), TEXTS, ids=["DOT", "GML", "GraphML", "JSON"])
@settings(max_examples=50)
@given(adjacency=graphs(), names=NAMES)
def test_round_trip_of_text(write, read, adjacency, names):
    assert_same(read(write(adjacency, names)), adjacency, names)


@settings(max_examples=50)
@given(graphs(), NAMES)
def test_round_trip_of_dagitty(adjacency, names):
    if any("\\" in name for name in names):
        names = [name.replace("\\", "/") + str(k) for k, name in enumerate(names)]
    assert_same(g.from_dagitty(g.to_dagitty(adjacency, names)), adjacency, names)


@settings(max_examples=50)
@given(graphs(), NAMES)
def test_round_trip_of_tables(adjacency, names):
    assert_same(g.from_edge_table(g.to_edge_table(adjacency, names), names), adjacency, names)
    assert_same(g.from_adjacency_table(g.to_adjacency_table(adjacency, names)), adjacency, names)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=20)
@given(adjacency=graphs(), names=NAMES)
def test_round_trip_of_files(tmp_path_factory, ending, adjacency, names):
    names = [f"{name}{k}".replace("\\", "/") for k, name in enumerate(names)]
    path = tmp_path_factory.mktemp("graph") / f"graph{ending}"
    write_graph((adjacency, names), path)
    assert_same(read_graph(path), adjacency, names)


def test_matrix_alone(tmp_path):
    write_graph(CPDAG, tmp_path / "graph.npy")
    adjacency, names = read_graph(tmp_path / "graph.npy")
    np.testing.assert_array_equal(adjacency, CPDAG)
    assert names is None


def test_drawings(tmp_path, monkeypatch):
    graph = to_networkx(ADJACENCY, NAMES_3, np.arange(9.0).reshape(3, 3))
    write_graph(graph, tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == to_svg(graph)
    nx.set_edge_attributes(graph, 0.5, "frequency")
    write_graph(graph, tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == to_svg(graph, width_by="frequency")
    with pytest.raises(GraphError, match="does not end in one of"):
        read_graph(tmp_path / "graph.svg")
    monkeypatch.setitem(
        sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=lambda svg_string, zoom=1: svg_string.encode())
    )
    write_graph(graph, tmp_path / "graph.png")
    assert (tmp_path / "graph.png").read_bytes() == to_svg(graph, width_by="frequency").encode()
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(GraphError, match=r"grandag\[png\]"):
        write_graph(graph, tmp_path / "graph.png")


def test_dot():
    graph = to_networkx(ADJACENCY, NAMES_3, np.arange(9.0).reshape(3, 3))
    assert g.to_dot(graph).splitlines() == [
        "digraph {",
        '  "a b";',
        '  "say \\"hi\\" \\\\";',
        '  "c";',
        '  "a b" -> "c" [strength=2];',
        '  "say \\"hi\\" \\\\" -> "a b" [strength=3];',
        '  "say \\"hi\\" \\\\" -> "c" [strength=5];',
        "}",
    ]


ODD_NAMES = [
    'say "hi"',
    "back\\slash",
    "end\\",
    "x\\N",
    "<b>",
    "R&D",
    "&lt;",
    "&#65;",
    "% fat",
    "ä→ß",
    "1e-3",
    "node",
    "a:b",
    "#",
]


def test_dot_is_what_graphviz_reads():
    """Every node once, under its own name, and every edge, with numbers of any size."""
    program = shutil.which("dot")
    if program is None:
        pytest.skip("no dot: DOT files are tested with Graphviz (Debian's package graphviz)")
    d = len(ODD_NAMES)
    graph = to_networkx(np.eye(d, k=1, dtype=bool), ODD_NAMES)
    for power, edge in enumerate(graph.edges.values()):
        edge.update({"p_value": 1.3e-222 * 10.0 ** (20 * power), "an odd name": -0.5, "node": 1.0})
    drawn = subprocess.run([program, "-Tsvg"], input=g.to_dot(graph), capture_output=True, text=True, check=False)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    groups = list(ElementTree.fromstring(drawn.stdout).iter("{http://www.w3.org/2000/svg}g"))
    nodes = [group.findtext("{*}text") for group in groups if group.get("class") == "node"]
    assert sorted(nodes) == sorted(ODD_NAMES)
    assert sum(group.get("class") == "edge" for group in groups) == d - 1


def test_dot_round_trip_of_odd_names():
    adjacency = np.eye(len(ODD_NAMES), k=1, dtype=bool)
    assert_same(g.from_dot(g.to_dot(adjacency, ODD_NAMES)), adjacency, ODD_NAMES)


def test_undirected_edges():
    assert g.to_dot(CPDAG, "abcd").splitlines()[5:] == ['  "a" -> "b" [dir=none];', '  "c" -> "b";', "}"]
    assert g.to_dagitty(CPDAG, "abcd") == 'pdag {\n"a"\n"b"\n"c"\n"d"\n"a" -- "b"\n"c" -> "b"\n}\n'
    assert json.loads(g.to_json(CPDAG, "abcd"))["edges"] == [
        {"source": "a", "target": "b", "undirected": True},
        {"source": "b", "target": "a", "undirected": True},
        {"source": "c", "target": "b"},
    ]
    assert g.to_edge_table(CPDAG, "abcd").to_numpy().tolist() == [["a", "--", "b"], ["c", "->", "b"]]


def test_dot_of_others():
    text = """
    // written by hand
    strict digraph "my graph" {
      rankdir = LR; node [shape=box, fontsize=10] edge [color="red"]
# a chain, a fan, and the ways to say a direction
      a -> b -> "c d";  /* one
      comment */
      {a, e} -> f [weight=2];
      f -> g [dir=back]; a -> g [dir=none]
    }"""
    adjacency, names = g.from_dot(text)
    assert names == ("a", "b", "c d", "e", "f", "g")
    found = {(names[i], names[j]) for i, j in np.argwhere(adjacency)}
    assert found == {("a", "b"), ("b", "c d"), ("a", "f"), ("e", "f"), ("g", "f"), ("a", "g"), ("g", "a")}
    assert g.from_dot("graph { a -- b }")[0].all(axis=None, where=~np.eye(2, dtype=bool))


def test_dagitty_of_others():
    """As dagitty.net exports a model."""
    text = 'dag {\nbb="0,0,1,1"\nX [exposure,pos="0.1,0.2"]\nY [outcome,pos="0.3,0.2"]\n"Z 1" -> {X Y}\nY <- X\n}'
    adjacency, names = g.from_dagitty(text)
    assert names == ("X", "Y", "Z 1")
    assert adjacency.tolist() == [[False, True, False], [False, False, False], [True, True, False]]


def test_backslashes_of_dagitty():
    assert_same(g.from_dagitty(g.to_dagitty(ADJACENCY, ["a\\b", "c", "d"])), ADJACENCY, ["a\\b", "c", "d"])
    with pytest.raises(GraphError, match="dagitty cannot read a backslash"):
        g.to_dagitty(ADJACENCY, NAMES_3)


def test_edge_table_without_names_has_nodes_in_order_of_appearance():
    adjacency, names = g.from_edge_table(pd.DataFrame({"source": ["b", "c"], "target": ["a", "a"], "strength": 1.0}))
    assert names == ("b", "a", "c")
    assert np.argwhere(adjacency).tolist() == [[0, 1], [2, 1]]


def test_files_of_tables(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text("source,target\nNA,1\n1,2\n")
    assert_same(read_graph(path), np.eye(3, k=1, dtype=bool), ["NA", "1", "2"])
    assert_same(read_graph(path, ["0", "1"]), np.eye(4, k=1, dtype=bool) & (np.arange(4) < 3), ["NA", "1", "2", "0"])
    path.write_text("a,b\nFalse,True\nFalse,False\n")
    assert_same(read_graph(path), np.eye(2, k=1, dtype=bool), ["a", "b"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.dot", "digraph { a -> }", "Line 1 has '}' where a name was expected"),
        ("g.dot", "digraph { a\n-> b", "Line 2 has the end of the text where"),
        ("g.dot", "digraph {a} b", "Line 1 has 'b' where the end of the text"),
        ("g.dot", "digraph { a:n }", "Line 1 has ':'"),
        ("g.dot", "tree { a -> b }", "starts with 'tree'; expected digraph or graph"),
        ("g.dot", "digraph { a -> b [dir=both] }", "a <-> b is neither directed nor undirected"),
        ("g.txt", "dag { a <-> b }", "a <-> b is neither directed nor undirected"),
        ("g.dot", "digraph { a -> a }", "'a' has an edge to itself"),
        ("g.gml", "graph", "not GML"),
        ("g.graphml", "<graphml>", "not GraphML"),
        ("g.json", "[]", "not a graph in JSON"),
        ("g.json", '{"nodes": ["a"], "edges": [{"source": "a", "target": "b"}]}', "a node 'b' that is not among"),
        ("g.csv", "a,b,c\n0,1,0\n0,0,1\n", "square"),
        ("g.csv", ",a,b\na,0,x\nb,0,0\n", "holds text"),
        ("g.csv", "gene,regulator\na,b\n", "columns gene, regulator are neither .* name them source and target"),
        ("g.csv", "", "could not be read as a graph"),
        ("g.npy", "no array", "could not be read as a graph"),
        ("g.xml", "", "does not end in one of .dot"),
    ],
)
def test_files_that_are_no_graphs(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(GraphError, match=message) as caught:
        read_graph(path)
    assert name in str(caught.value)


@pytest.mark.parametrize("header", ["source,target", "Cause,Effect", "From, to", "parent,CHILD", "effect,weight,cause"])
def test_edge_table_by_the_words_that_people_use(header, tmp_path):
    path = tmp_path / "edges.csv"
    line = "b,0.5,a" if "weight" in header else "a,b"
    path.write_text(f"{header}\n{line}\n{line.replace('b', 'c')}\n")
    adjacency, names = read_graph(path)
    assert {(names[i], names[j]) for i, j in np.argwhere(adjacency)} == {("a", "b"), ("a", "c")}


def test_adjacency_table_of_nodes_with_such_names(tmp_path):
    path = tmp_path / "graph.csv"
    write_graph((np.array([[0, 1], [0, 0]]), ["Cause", "Effect"]), path)
    assert_same(read_graph(path), [[0, 1], [0, 0]], ["Cause", "Effect"])


def test_wrong_arguments(tmp_path):
    with pytest.raises(GraphError, match="There is no file"):
        read_graph(tmp_path / "no.gml")
    with pytest.raises(GraphError, match="choose the format by the ending"):
        write_graph(ADJACENCY, tmp_path / "graph.xml")
    with pytest.raises(GraphError, match="columns source and target; this one has gene, regulator"):
        g.from_edge_table(pd.DataFrame({"gene": ["a"], "regulator": ["b"]}))
    with pytest.raises(GraphError, match="'c' that is not among the nodes"):
        g.from_edge_table(pd.DataFrame({"source": ["a"], "target": ["c"]}), names=["a", "b"])


def test_writers_take_estimators_and_keep_their_strengths(rng):
    model = GraNDAG(max_iterations=3, tolerance=1e9, retrain=False).fit(rng.normal(size=(50, 2)))
    assert g.to_json(model) == g.to_json(model.graph_)
    assert_same(g.from_dot(g.to_dot(model)), model.adjacency_, model.names_)


def test_writers_keep_attributes_of_networkx():
    graph = nx.DiGraph([("a", "b", {"strength": 0.5})])
    assert json.loads(g.to_json(graph))["edges"] == [{"source": "a", "target": "b", "strength": 0.5}]
    assert nx.parse_gml(g.to_gml(graph)).edges["a", "b"] == {"strength": 0.5}
