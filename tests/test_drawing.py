from __future__ import annotations

import random
import re
import sys
from itertools import combinations, pairwise
from types import SimpleNamespace
from typing import NamedTuple
from xml.etree import ElementTree

import networkx as nx
import pytest

from grandag.drawing import MOST_PIXELS, picture, to_png, to_svg

SVG = "{http://www.w3.org/2000/svg}"
PROTEINS = ["Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk"]
ARGUMENTS = {"M": 2, "V": 1, "C": 6}


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


class Line(NamedTuple):
    title: str
    path: str
    width: float
    head: list[tuple[float, float]]


def parse(graph: nx.DiGraph, title: str | None = None, width_by: str = "strength") -> ElementTree.Element:
    return ElementTree.fromstring(to_svg(graph, title=title, width_by=width_by))


def groups(root: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == kind]


def rectangle(element: ElementTree.Element) -> Box:
    x, y, width, height = (float(element.attrib[key]) for key in ("x", "y", "width", "height"))
    return Box(x, y, x + width, y + height)


def boxes_of(root: ElementTree.Element) -> dict[str, Box]:
    return {group.findtext(f"{SVG}text", ""): rectangle(group.find(f"{SVG}rect")) for group in groups(root, "node")}


def lines_of(root: ElementTree.Element) -> list[Line]:
    lines = []
    for group in groups(root, "edge"):
        (path,) = group.findall(f"{SVG}path")
        head = group.find(f"{SVG}polygon")
        numbers = [] if head is None else [float(number) for number in head.attrib["points"].split()]
        corners = list(zip(numbers[::2], numbers[1::2], strict=True))
        lines.append(
            Line(group.findtext(f"{SVG}title", ""), path.attrib["d"], float(group.attrib["stroke-width"]), corners)
        )
    return lines


def ends_of(line: Line) -> tuple[str, str]:
    source, target = re.split(" [→—] ", re.split(", (?:strength|evidence)", line.title)[0])
    return source, target


def trace(path: str, steps: int = 12) -> list[tuple[float, float]]:
    """Points along a path of M, V and C commands."""
    points: list[tuple[float, float]] = []
    for command, text in re.findall(r"([A-Z])([^A-Z]*)", path):
        values = [float(number) for number in text.split()]
        assert len(values) == ARGUMENTS[command]
        if command == "M":
            points.append((values[0], values[1]))
            continue
        start = points[-1]
        flat = [start[0], values[0]] * 3 if command == "V" else values
        control = [start, *zip(flat[::2], flat[1::2], strict=True)]
        for step in range(1, steps + 1):
            t = step / steps
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            x, y = (sum(w * point[axis] for w, point in zip(weights, control, strict=True)) for axis in (0, 1))
            points.append((round(x, 6), round(y, 6)))
    return points


def random_dag(names: list[str], n_edges: int, seed: int) -> nx.DiGraph:
    generator = random.Random(seed)
    order = generator.sample(names, len(names))
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for source, target in generator.sample(list(combinations(order, 2)), n_edges):
        graph.add_edge(source, target, strength=generator.expovariate(1.0))
    return graph


DAGS = {
    "empty": random_dag([f"X{i}" for i in range(5)], 0, 0),
    "proteins": random_dag(PROTEINS, 30, 1),
    "complete": random_dag(PROTEINS, 55, 2),
    "sparse": random_dag([f"X{i}" for i in range(20)], 24, 3),
    "dense": random_dag([f"X{i}" for i in range(20)], 100, 4),
    "long names": random_dag([f"a_long_variable_name_{i:04d}" for i in range(12)], 20, 5),
    "mixed lengths": random_dag(["x" * (1 + 3 * i) for i in range(14)], 30, 6),
    "large": random_dag([f"V{i}" for i in range(100)], 400, 7),
    "many parts": nx.union(
        nx.DiGraph([*((f"cause {i}", f"effect {i}") for i in range(35)), *pairwise("wxyz")]),
        nx.empty_graph([f"alone {i}" for i in range(2)], nx.DiGraph),
    ),
    "star": nx.DiGraph([("hub", f"leaf {i}") for i in range(40)]),
}


@pytest.fixture(params=DAGS, scope="module")
def dag(request: pytest.FixtureRequest) -> nx.DiGraph:
    return DAGS[request.param]


@pytest.fixture(scope="module")
def drawn(dag: nx.DiGraph) -> ElementTree.Element:
    return parse(dag)


def test_every_node_and_every_edge_is_drawn_once(dag: nx.DiGraph, drawn: ElementTree.Element) -> None:
    assert len(groups(drawn, "node")) == len(dag)
    assert set(boxes_of(drawn)) == set(dag.nodes)
    assert sorted(ends_of(line) for line in lines_of(drawn)) == sorted(dag.edges)


def test_edges_go_down_from_border_to_border(drawn: ElementTree.Element) -> None:
    boxes = boxes_of(drawn)
    for line in lines_of(drawn):
        source, target = (boxes[name] for name in ends_of(line))
        assert source.bottom < target.top
        points = trace(line.path)
        heights = [y for _, y in points]
        assert heights == sorted(heights)
        assert points[0][1] == pytest.approx(source.bottom, abs=0.11)
        assert source.left < points[0][0] < source.right
        tip, *base = line.head
        assert tip[1] == pytest.approx(target.top, abs=0.11)
        assert target.left < tip[0] < target.right
        assert points[-1] == pytest.approx((tip[0], base[0][1]), abs=0.11)


def test_boxes_do_not_overlap(drawn: ElementTree.Element) -> None:
    for one, other in combinations(boxes_of(drawn).values(), 2):
        apart_sideways = one.right < other.left or other.right < one.left
        assert apart_sideways or one.bottom < other.top or other.bottom < one.top


def test_no_line_runs_through_a_box(drawn: ElementTree.Element) -> None:
    boxes = boxes_of(drawn)
    for line in lines_of(drawn):
        for x, y in trace(line.path):
            inside = [
                n for n, box in boxes.items() if box.left < x < box.right and box.top + 0.2 < y < box.bottom - 0.2
            ]
            assert not inside, (line.title, inside)


def test_everything_is_inside_the_view_box(drawn: ElementTree.Element) -> None:
    left, top, width, height = (float(number) for number in drawn.attrib["viewBox"].split())
    assert (drawn.attrib["width"], drawn.attrib["height"]) == tuple(drawn.attrib["viewBox"].split()[2:])
    rectangles = [rectangle(element) for element in drawn.iter(f"{SVG}rect")]
    corners = [corner for box in rectangles for corner in (box[:2], box[2:])]
    points = [point for line in lines_of(drawn) for point in [*trace(line.path), *line.head]]
    for x, y in corners + points:
        assert left - 0.11 <= x <= left + width + 0.11
        assert top - 0.11 <= y <= top + height + 0.11


def test_same_text_whatever_the_insertion_order(dag: nx.DiGraph) -> None:
    nodes, edges = list(dag.nodes), list(dag.edges(data=True))
    random.Random(0).shuffle(nodes)
    random.Random(1).shuffle(edges)
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from(nodes)
    shuffled.add_edges_from(edges)
    assert to_svg(shuffled) == to_svg(dag) == to_svg(dag)


def test_coordinates_have_at_most_one_decimal(drawn: ElementTree.Element) -> None:
    for line in lines_of(drawn):
        assert not re.search(r"\.\d\d|e|nan|inf", line.path)


def test_layers_follow_the_longest_path() -> None:
    boxes = boxes_of(parse(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("b", "d")])))
    tops = [boxes[name].top for name in "abcd"]
    assert len(set(tops)) == 4
    assert tops == sorted(tops)


def test_source_of_a_late_effect_stands_just_above_it() -> None:
    boxes = boxes_of(parse(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d"), ("late", "d")])))
    assert boxes["late"].top == boxes["c"].top


def test_chain_is_straight() -> None:
    root = parse(nx.DiGraph([("cause", "mediator"), ("mediator", "effect")]))
    assert len({x for line in lines_of(root) for x, _ in trace(line.path)}) == 1


def test_planar_order_is_found() -> None:
    root = parse(nx.DiGraph([("a", "z"), ("b", "y"), ("c", "x"), ("d", "w")]))
    boxes = boxes_of(root)
    above, below = ([boxes[name].left for name in names] for names in ("abcd", "zyxw"))
    assert sorted(range(4), key=above.__getitem__) == sorted(range(4), key=below.__getitem__)


AWKWARD = ["<b>&amp;</b>", "say \"x\" & 'y'", "größer ≥ 東京", "🎉", "", " ", "]]>", "a → b", "-->"]


def test_names_with_any_characters() -> None:
    graph = nx.DiGraph(list(pairwise(AWKWARD)))
    graph.add_node("alone <&>")
    root = parse(graph, title='<t> & "u"')
    assert set(boxes_of(root)) == set(graph.nodes)
    assert root.attrib["aria-label"] == '<t> & "u"'
    assert {f"{source} → {target}" for source, target in graph.edges} == {line.title for line in lines_of(root)}


def test_characters_that_xml_forbids_are_replaced() -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(["bell\x07", "lone\ud800", "tab\tend"])
    assert set(boxes_of(parse(graph))) == {"bell\ufffd", "lone\ufffd", "tab\tend"}


def test_boxes_grow_with_names() -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from("n" * length for length in (1, 10, 25, 60))
    widths = [box.right - box.left for _, box in sorted(boxes_of(parse(graph)).items())]
    assert widths == sorted(widths)
    assert all(width > 0.62 * 13 * length for width, length in zip(widths, (1, 10, 25, 60), strict=True))


def test_strength_widens_lines() -> None:
    graph = nx.DiGraph()
    strengths = {"b": 0.0, "c": 0.1, "d": 1.0, "e": 2.5, "f": 4.0}
    graph.add_edges_from(("a", target, {"strength": strength}) for target, strength in strengths.items())
    lines = {ends_of(line)[1]: line for line in lines_of(parse(graph))}
    widths = [lines[target].width for target in strengths]
    assert all(narrow < wide for narrow, wide in pairwise(widths))
    assert (widths[0], widths[-1]) == (0.8, 3.0)
    assert lines["e"].title == "a → e, strength 2.5"


@pytest.mark.parametrize("attributes", [{}, {"strength": 0.0}, {"strength": None}, {"strength": float("nan")}])
def test_width_is_uniform_without_strengths(attributes: dict[str, float | None]) -> None:
    graph = nx.DiGraph()
    graph.add_edges_from([("a", "b"), ("a", "c"), ("b", "c")], **attributes)
    assert len({line.width for line in lines_of(parse(graph))}) == 1


def test_evidence_widens_lines_by_its_logarithm() -> None:
    """5 and 50 nats are a doubtful edge and a certain one, also beside an edge of 5,000; evidence may be negative."""
    graph = nx.DiGraph()
    evidence = {"b": -2.0, "c": 0.0, "d": 5.0, "e": 50.0, "f": 5000.0}
    graph.add_edges_from(("a", target, {"evidence": nats, "strength": 1.0}) for target, nats in evidence.items())
    lines = {ends_of(line)[1]: line for line in lines_of(parse(graph, width_by="evidence"))}
    widths = [lines[target].width for target in evidence]
    assert widths[:2] == [0.8, 0.8]
    assert widths[4] == 3.0
    assert widths[2] > 1.2
    assert widths[3] > widths[2] + 0.4
    assert lines["d"].title == "a → d, evidence 5"


@pytest.mark.parametrize(
    ("width_by", "legend"),
    [
        ("strength", ["Line width: strength, up to 4"]),
        ("evidence", ["Line width: evidence, up to 87.3 nats"]),
        ("explained", ["Line width: share of variance explained, up to 46%"]),
        ("frequency", ["Line width: frequency, up to 1"]),
        ("something", []),
    ],
)
def test_legend(width_by: str, legend: list[str]) -> None:
    """Below everything else, and inside the drawing."""
    graph = nx.DiGraph()
    graph.add_edge("a", "b", strength=4.0, evidence=87.327, explained=0.456, frequency=0.3)
    root = parse(graph, width_by=width_by)
    texts = root.findall(f"{SVG}text")
    assert [text.text for text in texts] == legend
    for text in texts:
        left, top, width, height = (float(number) for number in root.attrib["viewBox"].split())
        assert max(box.bottom for box in boxes_of(root).values()) + 12 < float(text.attrib["y"]) < top + height
        assert width > 0.45 * 12 * len(text.text or "")
        assert float(text.attrib["x"]) == pytest.approx(left + width / 2, abs=0.1)


def undirected_cycle(names: list[str]) -> nx.DiGraph:
    graph = nx.DiGraph()
    for one, other in zip(names, [*names[1:], names[0]], strict=True):
        graph.add_edge(one, other, undirected=True, strength=1.0)
        graph.add_edge(other, one, undirected=True, strength=2.0)
    return graph


def test_undirected_pair_is_one_line_without_head() -> None:
    graph = nx.DiGraph([("x", "a"), ("y", "a")])
    graph.add_edge("a", "b", undirected=True)
    graph.add_edge("b", "a", undirected=True)
    lines = {line.title: line for line in lines_of(parse(graph))}
    assert set(lines) == {"x → a", "y → a", "a — b"}
    assert [bool(lines[title].head) for title in ("x → a", "y → a", "a — b")] == [True, True, False]


def test_undirected_cycle() -> None:
    lines = lines_of(parse(undirected_cycle(["a", "b", "c", "d", "e"])))
    assert sorted(line.title.split(",")[0] for line in lines) == ["a — b", "a — e", "b — c", "c — d", "d — e"]
    assert all(not line.head and line.title.endswith("strength 2") for line in lines)


def test_directed_edges_point_down_next_to_undirected_cycles() -> None:
    graph = undirected_cycle(["a", "b", "c"])
    graph.add_edges_from([("c", "d"), ("z", "a"), ("d", "e")])
    root = parse(graph)
    boxes = boxes_of(root)
    assert len(lines_of(root)) == 6
    for source, target in [("c", "d"), ("z", "a"), ("d", "e")]:
        assert boxes[source].bottom < boxes[target].top


def test_directed_cycle_has_a_head_at_every_target() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "c")])
    root = parse(graph)
    boxes = boxes_of(root)
    lines = lines_of(root)
    assert sorted(ends_of(line) for line in lines) == sorted(graph.edges)
    for line in lines:
        source, target = (boxes[name] for name in ends_of(line))
        border = target.top if source.bottom < target.top else target.bottom
        assert line.head[0][1] == pytest.approx(border, abs=0.11)


def test_isolated_nodes_stand_below_all_others() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    graph.add_nodes_from(["one", "two"])
    boxes = boxes_of(parse(graph))
    assert boxes["one"].top == boxes["two"].top > max(boxes[name].bottom for name in "abc")


def test_many_isolated_nodes_take_several_rows() -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(f"variable {i}" for i in range(60))
    root = parse(graph)
    assert not lines_of(root)
    assert 1 < len({box.top for box in boxes_of(root).values()}) < 20


def test_many_parts_take_several_rows_tallest_first_and_isolated_nodes_last() -> None:
    root = parse(DAGS["many parts"])
    boxes = boxes_of(root)
    assert 1000 < float(root.attrib["width"]) < 1700
    assert boxes["w"].top == min(box.top for box in boxes.values())
    assert len({box.top for name, box in boxes.items() if name.startswith("cause")}) > 2
    isolated = [box.top for name, box in boxes.items() if name.startswith("alone")]
    assert min(isolated) > max(box.bottom for name, box in boxes.items() if not name.startswith("alone"))


def test_single_node_and_no_node() -> None:
    graph = nx.DiGraph()
    assert not boxes_of(parse(graph))
    graph.add_node("only")
    assert list(boxes_of(parse(graph))) == ["only"]


def test_loop_is_left_out() -> None:
    root = parse(nx.DiGraph([("a", "a"), ("a", "b")]))
    assert [ends_of(line) for line in lines_of(root)] == [("a", "b")]


def test_heading_and_label() -> None:
    graph = nx.DiGraph([("a", "b")])
    plain, headed = parse(graph), parse(graph, title="A heading that is much wider than the graph below it")
    assert plain.attrib["role"] == "img"
    assert plain.attrib["aria-label"] == "Directed graph (nodes: 2, edges: 1)"
    assert [text.text for text in plain.findall(f"{SVG}text")] == []
    assert [text.text for text in headed.findall(f"{SVG}text")] == [headed.attrib["aria-label"]]
    assert float(headed.attrib["width"]) > float(plain.attrib["width"])
    assert float(headed.attrib["height"]) > float(plain.attrib["height"])


def test_graph_is_not_modified() -> None:
    graph = random_dag(PROTEINS, 20, 8)
    copy = graph.copy()
    to_svg(graph)
    assert nx.utils.graphs_equal(graph, copy)


def test_png_has_the_drawing_and_its_names():
    pytest.importorskip("resvg_py", reason="resvg is in the extra png")
    plain, named = (to_svg(nx.DiGraph([(name, "b")])) for name in ("a", "c"))
    first, second = to_png(plain, zoom=3), to_png(named, zoom=3)
    assert first.startswith(b"\x89PNG")
    width, height = (int.from_bytes(first[start : start + 4]) for start in (16, 20))
    size = ElementTree.fromstring(plain).attrib
    assert (width, height) == tuple(round(3 * float(size[side])) for side in ("width", "height"))
    assert first != second, "the names are not drawn"


def test_png_of_a_large_drawing_is_smaller_or_refused(monkeypatch):
    """Pictures of more pixels take minutes and gigabytes, or end the process."""
    zooms = []

    def draw(svg_string, **options):
        zooms.append(options.get("zoom"))
        return svg_string.encode()

    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=draw))

    def zoom_of(width, height, zoom=None):
        to_png(f'<svg xmlns="{SVG[1:-1]}" width="{width}" height="{height}" />', zoom)
        return zooms[-1]

    assert zoom_of(4750, 2600) == 2
    assert 4750 * 3520 * zoom_of(4750, 3520) ** 2 == pytest.approx(MOST_PIXELS)
    assert zoom_of(7070, 7070) == pytest.approx(1, rel=1e-3)
    for arguments in ((8000, 7070), (4750, 3520, 2.0)):
        with pytest.raises(ValueError, match=r"pixels, and more than 50,000,000 are not drawn: write it as \.svg"):
            zoom_of(*arguments)
    with pytest.raises(ValueError, match="width and height"):
        to_png("<svg/>")


def test_png_needs_no_layer_for_each_edge():
    """The opacity of a group is one: of a hundred edges, each as large as the picture, minutes."""
    root = ElementTree.fromstring(to_svg(nx.DiGraph([("a", "b")])))
    assert [group.attrib for group in root.iter() if "opacity" in group.attrib] == []
    (edge,) = (group for group in root.iter(f"{SVG}g") if group.attrib["class"] == "edge")
    assert edge.attrib["fill-opacity"] == edge.attrib["stroke-opacity"] != "1"


def test_png_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ValueError, match=r"pip install 'grandag\[png\]'"):
        to_png("<svg/>")
    blank = SimpleNamespace(svg_to_bytes=lambda **options: b"no letters")
    monkeypatch.setitem(sys.modules, "resvg_py", blank)
    with pytest.raises(ValueError, match="no font for the names"):
        to_png(to_svg(nx.DiGraph([("a", "b")])))


def test_an_edge_against_the_refits_is_dashed_and_the_legend_says_why():
    graph = nx.DiGraph([("a", "b", {"frequency": 0.25, "reverse_frequency": 0.5}), ("b", "c", {"frequency": 0.75})])
    root = ElementTree.fromstring(to_svg(graph, width_by="frequency"))
    dashed = {group.findtext(f"{SVG}title"): "stroke-dasharray" in group.attrib for group in groups(root, "edge")}
    assert dashed == {"a → b, frequency 0.25, refits prefer the other direction": True, "b → c, frequency 0.75": False}
    (legend,) = root.findall(f"{SVG}text")
    assert legend.text == "Line width: frequency, up to 1. Dashed: refits prefer the other direction"


def test_a_picture_has_the_shapes_of_the_drawing():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", strength=2.0)
    graph.add_edge("b", "c", strength=1.0, kept=0.25)
    graph.add_edge("a", "c", strength=0.5)
    graph.add_edges_from([("c", "d"), ("d", "c")], undirected=True)
    graph.add_node("alone")
    drawn, svg = picture(graph), to_svg(graph)
    assert set(drawn.boxes) == set(graph)
    assert {edge[:3] for edge, *_ in drawn.lines} == {
        ("a", "b", True),
        ("b", "c", True),
        ("a", "c", True),
        ("c", "d", False),
    }
    for edge, path, head in drawn.lines:
        assert f'd="{path}"' in svg
        assert (f'points="{head}"' in svg) == edge.directed
    assert drawn.doubt == "at most half of the halves of the rows keep it"
    left, top, width, height = drawn.frame
    for box in drawn.boxes.values():
        assert left <= box.x and box.x + box.width <= left + width
        assert top <= box.y <= top + height
