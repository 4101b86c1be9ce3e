"""Large graphs: what is shown of them, and that it says so."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from grandag import RandomGraph
from grandag.graph import GraphError, write_graph
from grandag.overview import (
    MOST_EDGES,
    MOST_NODES,
    cluster_graph,
    clusters,
    draw,
    is_readable,
    neighbourhood,
    strongest_part,
)
from grandag.table import TableError


def large_graph(d=300, n_edges=330, seed=0, **facts):
    """A random DAG whose edges have different strengths."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(np.ones((d, d)), 1))
    graph = nx.DiGraph()
    graph.add_nodes_from(f"G{node}" for node in range(d))
    for i, j in rng.permutation(pairs)[:n_edges]:
        graph.add_edge(f"G{i}", f"G{j}", strength=float(rng.exponential()), **facts)
    return graph


def n_drawn(svg):
    return svg.count('class="node"'), svg.count('class="edge"')


def test_a_small_graph_is_drawn_as_a_whole():
    graph = large_graph(MOST_NODES, MOST_EDGES)
    assert is_readable(graph)
    assert n_drawn(draw(graph).svg) == (MOST_NODES, MOST_EDGES)
    assert not is_readable(large_graph(MOST_NODES + 1, 10))
    assert not is_readable(large_graph(MOST_NODES, MOST_EDGES + 1))


def test_the_strongest_edges_are_shown_with_all_edges_between_their_nodes():
    graph = large_graph()
    part, caption = strongest_part(graph, by="strength")
    assert MOST_NODES - 1 <= len(part) <= MOST_NODES
    assert set(part.edges) == {edge for edge in graph.edges if set(edge) <= set(part)}
    ranked = sorted(graph.edges, key=lambda edge: -graph.edges[edge]["strength"])
    left_out = next(edge for edge in ranked if edge not in part.edges)
    strongest = {node for edge in ranked[: ranked.index(left_out)] for node in edge}
    assert strongest == set(part)
    assert caption == f"The strongest of 330 edges: {part.number_of_edges()}, between {len(part)} of 300 nodes"
    svg = draw(graph).svg
    assert n_drawn(svg) == (len(part), part.number_of_edges())
    assert svg.count(caption) == 2  # as a heading, and for screen readers


def test_dense_parts_stay_readable():
    part = strongest_part(large_graph(120, 5000), by="strength").graph
    assert len(part) < MOST_NODES
    assert MOST_EDGES - len(part) < part.number_of_edges() <= MOST_EDGES


def test_undirected_edges_count_once():
    graph = nx.DiGraph()
    for k in range(0, 240, 2):
        for pair in ((f"A{k:03}", f"A{k + 1:03}"), (f"A{k + 1:03}", f"A{k:03}")):
            graph.add_edge(*pair, undirected=True, strength=float(k))
    part, caption = strongest_part(graph, by="strength")
    assert set(part) == {f"A{k:03}" for k in range(140, 240)}
    assert caption == "The strongest of 120 edges: 50, between 100 of 240 nodes"


def test_without_strengths_the_first_edges_are_shown():
    graph = nx.DiGraph((f"A{k:03}", f"B{k:03}") for k in range(150))
    part, caption = strongest_part(graph, by="strength")
    assert set(part) == {f"{side}{k:03}" for side in "AB" for k in range(50)}
    assert caption == "The first of 150 edges: 50, between 100 of 300 nodes"


def test_nodes_without_edges_are_left_out_of_a_large_drawing():
    part, caption = strongest_part(large_graph(500, 20), by="strength")
    assert part.number_of_edges() == 20
    assert caption == f"All 20 edges, between {len(part)} of 500 nodes"
    assert n_drawn(draw(large_graph(500, 0)).svg) == (0, 0)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_neighbourhood_is_what_is_within_so_many_steps(depth):
    graph = large_graph(80, 60)
    node = max(graph, key=graph.degree)
    near = nx.ego_graph(graph.to_undirected(), node, radius=depth)
    part, caption = neighbourhood(graph, node, by="strength", depth=depth)
    assert set(part) == set(near)
    assert set(part.edges) == {edge for edge in graph.edges if set(edge) <= set(near)}
    steps = "" if depth == 1 else f", up to {depth} steps"
    assert caption == f"Around {node}{steps}: {len(near) - 1} nodes"


def test_of_many_neighbours_the_strongest_are_shown():
    graph = nx.DiGraph()
    for k in range(300):
        graph.add_edge("hub", f"leaf {k}", strength=float(k))
    graph.add_edge("leaf 299", "far", strength=1000.0)
    part, caption = neighbourhood(graph, "hub", by="strength", depth=2)
    assert set(part) == {"hub", *(f"leaf {k}" for k in range(300 - MOST_NODES + 1, 300))}
    assert caption == f"Around hub, up to 2 steps: the nearest and strongest {MOST_NODES - 1} of 301 nodes"


def test_the_node_in_the_middle_stands_out():
    svg = draw(large_graph(), around="G7").svg
    frames = [line for line in svg.splitlines() if 'stroke-width="2.4"' in line and "<rect" in line]
    assert [">G7<" in frame for frame in frames] == [True]


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(TableError, match="no node 'G300'; did you mean 'G30"):
        draw(large_graph(), around="G300")
    with pytest.raises(TableError, match="at least 1; got 0"):
        draw(large_graph(), around="G1", depth=0)


def test_models_and_files_draw_what_can_be_read(tmp_path):
    model = RandomGraph(n_edges=160, random_state=1).fit(np.random.default_rng(0).normal(size=(200, 150)))
    drawing = model.plot()
    assert "The strongest of 160 edges: " in drawing.svg
    assert "Line width: share of variance explained" in drawing.svg
    assert drawing.svg in model._repr_html_()
    write_graph(model, tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == drawing.svg
    source, target = model.edges_.iloc[0][["source", "target"]]
    around = model.plot(around=source).svg
    assert f">{target}<" in around
    assert around == model.learned_.plot(around=source).svg != model.plot(source, depth=2).svg
    with pytest.raises(GraphError, match="does not end in"):
        write_graph(model, tmp_path / "graph.pdf")


def planted(sizes=(30, 20, 10), seed=0):
    """Dense groups, each joined to the next by two edges."""
    rng = np.random.default_rng(seed)
    groups = [[f"{letter}{k}" for k in range(size)] for letter, size in zip("xyz", sizes, strict=True)]
    graph = nx.DiGraph()
    graph.add_nodes_from(["alone", "also alone"])
    for group in groups:
        graph.add_edges_from(pair for pair in combinations(group, 2) if rng.random() < 0.5)
    for one, other in (groups[:2], groups[1:]):
        graph.add_edges_from(zip(one[:2], other[:2], strict=True))
    return graph, groups


def test_clusters_are_the_groups_that_were_planted():
    graph, groups = planted()
    found = clusters(graph)
    assert [set(cluster.nodes) for cluster in found] == [set(group) for group in groups]
    assert [cluster.n_edges for cluster in found] == [graph.subgraph(group).number_of_edges() for group in groups]
    assert [cluster.joined for cluster in found] == [{1: 2}, {0: 2, 2: 2}, {1: 2}]
    degree = dict(graph.degree)
    assert [degree[cluster.nodes[0]] for cluster in found] == [max(degree[name] for name in group) for group in groups]


def test_clusters_as_a_graph():
    found = clusters(planted()[0])
    graph = cluster_graph(found)
    hubs = [cluster.nodes[0] for cluster in found]
    assert list(graph) == [f"1: {hubs[0]} and 29 more", f"2: {hubs[1]} and 19 more", f"3: {hubs[2]} and 9 more"]
    assert {data["edges"] for *_, data in graph.edges(data=True)} == {2}
    assert graph.number_of_edges() == 4  # two lines
    assert clusters(nx.DiGraph()) == clusters(nx.empty_graph(3, nx.DiGraph)) == []


def test_clusters_do_not_depend_on_the_order_of_columns_and_edges():
    graph = large_graph(100, 150)
    rng = np.random.default_rng(1)
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from(rng.permutation(list(graph)).tolist())
    shuffled.add_edges_from(rng.permutation(list(graph.edges)).tolist())
    assert clusters(shuffled) == clusters(graph)
