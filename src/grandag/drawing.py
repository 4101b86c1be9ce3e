"""Directed graphs as self-contained SVG drawings: causes above effects, by the layered method of Sugiyama."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import networkx as nx
import numpy as np

from grandag.writing import replacing, write_text

__all__ = [
    "BOX_HEIGHT",
    "WIDTHS",
    "Box",
    "Drawing",
    "Edge",
    "Picture",
    "box_width",
    "edges_of",
    "node_boxes",
    "picture",
    "to_png",
    "to_svg",
]

Vertex = str | tuple[int, int]
"""A node's name, or an edge's number and a layer that the edge passes through."""

Vertices = list[Vertex]
"""One layer from left to right, or one edge's chain from top to bottom."""

Neighbours = dict[Vertex, Vertices]

BOX_HEIGHT, BOX_PADDING, BOX_GAP, LINE_GAP, LAYER_GAP = 30.0, 12.0, 28.0, 14.0, 40.0
PORT_GAP, PORTS_WIDEST, ROW_WIDEST, GRAPH_WIDEST, MARGIN = 10.0, 160.0, 720.0, 1600.0, 24.0
HEAD_LENGTH, HEAD_HALF, FONT_SIZE, TITLE_SIZE, LEGEND_SIZE = 8.0, 3.5, 13.0, 16.0, 12.0
DASHES = "5 3"
MOST_PIXELS = 50_000_000
"""Of a PNG file, which take a third of a gigabyte while they are drawn."""
NAMESPACE = "http://www.w3.org/2000/svg"
INK, LINE, ACCENT, TINT = "#0f172a", "#475569", "#1d4ed8", "#eef4ff"
FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', 'Noto Sans', "
    "'DejaVu Sans', sans-serif"
)


class Edge(NamedTuple):
    """One line of the drawing."""

    source: str
    target: str
    directed: bool
    weight: float | None
    doubt: str = ""  # why the line is dashed


class Box(NamedTuple):
    """A node's rectangle: its left upper corner and its width."""

    x: float
    y: float
    width: float


class _Layout(NamedTuple):
    """Where everything goes."""

    edges: list[Edge]
    downwards: list[bool]
    starts: list[int]  # each edge's first layer
    lines: list[list[float]]  # each edge's horizontal places, from its first layer on
    tops: list[float]  # of the layers
    boxes: dict[str, Box]

    @property
    def frame(self) -> tuple[float, float, float]:
        """Left, right and bottom; the top is 0."""
        places = [place for line in self.lines for place in line]
        left = min([*places, *(box.x for box in self.boxes.values())], default=0.0)
        right = max([*places, *(box.x + box.width for box in self.boxes.values())], default=0.0)
        return left, right, max((box.y + BOX_HEIGHT for box in self.boxes.values()), default=0.0)

    def moved(self, x: float, y: float) -> _Layout:
        """The same in another place."""
        return self._replace(
            lines=[[place + x for place in line] for line in self.lines],
            tops=[top + y for top in self.tops],
            boxes={name: Box(box.x + x, box.y + y, box.width) for name, box in self.boxes.items()},
        )


WIDTHS = ("frequency", "evidence", "explained")
"""What the width of a line shows, if it is known: the first of these; otherwise the method's own strength."""

_LEGENDS = {"evidence": "evidence, up to {:.3g} nats", "explained": "share of variance explained, up to {:.0%}"}


def to_svg(
    graph: nx.DiGraph[str], *, title: str | None = None, width_by: str = "strength", marked: str | None = None
) -> str:
    """Draw a directed graph, causes above effects, as the text of an SVG file.

    Args:
        graph: Nodes are strings. An edge with `undirected=True` and its opposite are one line without an arrow head.
            Loops are left out.
        title: A heading, also the drawing's label for screen readers.
        width_by: The attribute of edges that sets a line's width, relative to the largest, as a legend says; a
            "frequency" is relative to 1, and "evidence" counts by its logarithm.
        marked: A node whose box stands out.

    Returns:
        The same text for the same graph, in whatever order its nodes and edges were added.
    """
    return _document(_pack(graph, width_by), title, width_by, marked)


@dataclass(frozen=True, repr=False)
class Drawing:
    """A drawing: notebooks show it, `save` writes it."""

    svg: str

    def __repr__(self) -> str:
        return f"<Drawing: {len(self.svg):,} characters of SVG; save('graph.svg') writes it>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write an SVG file, or a PNG file (see `to_png`), by the ending of its name."""
        path = Path(path)
        if path.suffix == ".svg":
            write_text(path, self.svg)
        elif path.suffix == ".png":
            with replacing(path) as stream:
                stream.write(to_png(self.svg))
        else:
            raise ValueError(f"{path.name!r} does not end in .svg or .png: choose the format by the ending.")


def to_png(svg: str, zoom: float | None = None) -> bytes:
    """A drawing as the content of a PNG file of at most 50 million pixels.

    `zoom` is the number of pixels for each unit of the drawing: by default 2, and less for a drawing that is too large
    for that, down to 1. Needs resvg, `pip install 'grandag[png]'`, and a font on the machine.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise ValueError("PNG needs resvg: pip install 'grandag[png]', or write the drawing as .svg.") from None
    zoom = _zoom(svg, zoom)
    if "</text>" in svg and svg_to_bytes(svg_string=_texts(svg)) == svg_to_bytes(svg_string=_texts("")):
        raise ValueError("This machine has no font for the names: install one (DejaVu Sans), or write it as .svg.")
    return bytes(svg_to_bytes(svg_string=svg, zoom=zoom))


def _zoom(svg: str, wanted: float | None) -> float:
    """The zoom of a picture that memory holds; what is drawn beyond that ends the process, or does not end."""
    frame = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', svg)
    if frame is None:
        raise ValueError("The drawing does not begin with its width and height, as those of to_svg do.")
    width, height = map(float, frame.groups())
    largest = math.sqrt(MOST_PIXELS / (width * height))
    zoom = wanted or min(2.0, max(1.0, largest))
    if zoom > largest:
        raise ValueError(
            f"The picture would have {zoom * width:,.0f} x {zoom * height:,.0f} pixels, and more than "
            f"{MOST_PIXELS:,} are not drawn: write it as .svg, or draw a part of the graph."
        )
    return zoom


def _texts(svg: str) -> str:
    """All texts of a drawing, in one small place."""
    texts = (f'<text y="20">{text}</text>' for text in re.findall("<text.*?>(.*?)</text>", svg))
    return f'<svg xmlns="{NAMESPACE}" width="200" height="30" font-family="{FONTS}">{"".join(texts)}</svg>'


def node_boxes(graph: nx.DiGraph[str]) -> dict[str, Box]:
    """The places of the nodes in such a drawing, for whoever draws other lines between them; y grows downwards.

    Made for pages of many graphs: it looks for fewer crossings less long than `to_svg`.
    """
    return _lay_out(graph, "strength", n_starts=3).boxes


class Picture(NamedTuple):
    """A drawing as shapes, for whoever draws them with means of their own; y grows downwards."""

    boxes: dict[str, Box]
    lines: list[tuple[Edge, str, str]]  # each with its path and the corners of its head, as SVG's attributes take them
    frame: tuple[float, float, float, float]  # left, top, width, height
    doubt: str  # what dashes mean, where there are any


def picture(graph: nx.DiGraph[str], *, width_by: str = "strength") -> Picture:
    """The shapes of `to_svg`."""
    layouts = _pack(graph, width_by)
    lefts, rights, bottoms = zip(*(layout.frame for layout in layouts), strict=True)
    lines = [
        (edge, *_edge_geometry(edge, line, layout.tops[start:], downwards=downwards))
        for layout in layouts
        for edge, downwards, start, line in zip(*layout[:4], strict=True)
    ]
    boxes = {name: box for layout in layouts for name, box in layout.boxes.items()}
    size = max(rights) - min(lefts) + 2 * MARGIN, max(bottoms) + 2 * MARGIN
    doubts = sorted({edge.doubt for edge, *_ in lines if edge.doubt})
    return Picture(boxes, lines, (min(lefts) - MARGIN, -MARGIN, *size), "; ".join(doubts))


def _lay_out(graph: nx.DiGraph[str], width_by: str, n_starts: int = 20) -> _Layout:
    """Find the layers, the order in each, and the places of boxes and lines."""
    edges = edges_of(graph, width_by)
    layer_of, chains = _assign_layers(edges)
    layers = _order_layers(layer_of, chains, n_starts)
    widths, ports = _size_boxes(layers, chains)
    x = _place_vertices(layers, chains, widths, ports)
    lines = [
        [x[chain[0]] + start, *(x[vertex] for vertex in chain[1:-1]), x[chain[-1]] + end]
        for chain, (start, end) in zip(chains, ports, strict=True)
    ]
    starts = [layer_of[chain[0]] for chain in chains]
    tops = _place_layers(starts, lines)
    boxes = {name: Box(x[name] - width / 2, tops[layer_of[name]], width) for name, width in widths.items()}
    boxes |= _place_isolated(sorted(set(graph.nodes) - set(boxes)), list(boxes.values()))
    downwards = [chain[0] == edge.source for edge, chain in zip(edges, chains, strict=True)]
    return _Layout(edges, downwards, starts, lines, tops, boxes)


def _pack(graph: nx.DiGraph[str], width_by: str) -> list[_Layout]:
    """Lay out a graph; if it gets wide, its components on their own, the tallest first, in rows below each other.

    Nodes without edges are one block at the end.
    """
    whole = _lay_out(graph, width_by)
    left, right, _ = whole.frame
    if right - left <= GRAPH_WIDEST:
        return [whole]
    parts = [sorted(part) for part in nx.weakly_connected_components(graph) if len(part) > 1]
    blocks = [_lay_out(graph.subgraph(part), width_by) for part in sorted(parts)]
    blocks.sort(key=lambda block: -block.frame[2])
    isolated = [name for name in graph if set(graph.pred[name]) | set(graph.succ[name]) <= {name}]
    blocks += [_lay_out(graph.subgraph(isolated), width_by)] if isolated else []
    x, top, below = 0.0, 0.0, 0.0
    placed = []
    for block in blocks:
        left, right, bottom = block.frame
        if x > 0 and (x + right - left > GRAPH_WIDEST or block.edges == []):
            x, top = 0.0, below + 1.5 * LAYER_GAP
        placed.append(block.moved(x - left, top))
        x, below = x + right - left + 2 * BOX_GAP, max(below, top + bottom)
    return placed


def edges_of(graph: nx.DiGraph[str], width_by: str) -> list[Edge]:
    """Sort the edges by name; an undirected pair becomes one edge with the larger of its two weights."""
    found: dict[tuple[str, str, bool], float | None] = {}
    doubts: dict[tuple[str, str, bool], str] = {}
    for source, target, data in graph.edges(data=True):
        if source != target:
            directed = not data.get("undirected", False)
            key = (source, target, True) if directed else (min(source, target), max(source, target), False)
            known = [float(value) for value in (data.get(width_by), found.get(key)) if value is not None]
            found[key] = max(filter(math.isfinite, known), default=None)
            if directed:
                doubts[key] = _doubt(data)
    return [Edge(*key, found[key], doubts.get(key, "")) for key in sorted(found)]


def _doubt(data: Mapping[str, Any]) -> str:
    """What refits say against an edge or, where there were none, halves of the rows."""
    if "frequency" in data:
        return "refits prefer the other direction" if data.get("reverse_frequency", 0.0) > data["frequency"] else ""
    return "at most half of the halves of the rows keep it" if data.get("kept", 1.0) <= 0.5 else ""


def _causal_order(edges: list[Edge]) -> list[str]:
    """Put sources first; where only cycles are left, the node with the largest surplus of children (Eades et al.)."""
    rest: nx.DiGraph[str] = nx.DiGraph()
    rest.add_nodes_from(name for edge in edges for name in edge[:2])
    rest.add_edges_from(edge[:2] for edge in edges if edge.directed)
    order: list[str] = []
    while rest:
        keys = ((parents > 0, parents - rest.out_degree(name), name) for name, parents in rest.in_degree)
        order.append(min(keys)[2])
        rest.remove_node(order[-1])
    return order


def _assign_layers(edges: list[Edge]) -> tuple[dict[Vertex, int], list[Vertices]]:
    """Find each vertex's layer, and each edge's vertices from top to bottom, one per layer.

    A node's layer is its longest path from a source; but a node with more children than parents moves down to them.
    Every edge points down in the causal order, so that a cycle does no harm.
    """
    order = _causal_order(edges)
    rank = {name: index for index, name in enumerate(order)}
    ends = [(min(edge[:2], key=rank.__getitem__), max(edge[:2], key=rank.__getitem__)) for edge in edges]
    down: nx.DiGraph[str] = nx.DiGraph(ends)
    layer_of: dict[Vertex, int] = {}
    for name in order:
        layer_of[name] = max((layer_of[parent] + 1 for parent in down.pred[name]), default=0)
    for name in reversed(order):
        if down.out_degree(name) > down.in_degree(name):
            layer_of[name] = min(layer_of[child] for child in down.succ[name]) - 1
    chains: list[Vertices] = []
    for number, (upper, lower) in enumerate(ends):
        bends: dict[Vertex, int] = {(number, i): i for i in range(layer_of[upper] + 1, layer_of[lower])}
        layer_of |= bends
        chains.append([upper, *bends, lower])
    return layer_of, chains


def _order_layers(layer_of: dict[Vertex, int], chains: list[Vertices], n_starts: int) -> list[Vertices]:
    """Reduce the crossings from several starts, the first one by name, and keep the order with the fewest."""
    segments = nx.DiGraph([segment for chain in chains for segment in pairwise(chain)])
    above = {vertex: list(segments.pred[vertex]) for vertex in layer_of}
    below = {vertex: list(segments.succ[vertex]) for vertex in layer_of}
    random, start = Random(0), list(dict.fromkeys(vertex for chain in chains for vertex in chain))
    best: list[Vertices] = []
    fewest = math.inf
    for _ in range(max(1, min(n_starts, 3000 // (len(start) + 1)))):
        layers: list[Vertices] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
        for vertex in start:
            layers[layer_of[vertex]].append(vertex)
        for sweep in range(16):
            _sort_layers(*((layers[::-1], below, above) if sweep % 2 else (layers, above, below)))
            crossings = _count_crossings(layers, below)
            if crossings < fewest:
                best, fewest = [list(layer) for layer in layers], crossings
        random.shuffle(start)
    return best


def _positions(layers: list[Vertices]) -> dict[Vertex, int]:
    """Return each vertex's place in its layer."""
    return {vertex: place for layer in layers for place, vertex in enumerate(layer)}


def _sort_layers(layers: list[Vertices], before: Neighbours, after: Neighbours) -> None:
    """Sort each layer by its vertices' mean place in the layer before, then swap neighbours that cross less so."""
    position = _positions(layers)

    def crossings(left: Vertex, right: Vertex) -> int:
        return sum(position[a] > position[b] for side in (before, after) for a in side[left] for b in side[right])

    for layer in layers:
        mean = {v: sum(position[w] for w in before[v]) / len(before[v]) for v in layer if before[v]}
        ranked = iter(sorted(mean, key=lambda vertex: (mean[vertex], position[vertex])))
        layer[:] = [next(ranked) if vertex in mean else vertex for vertex in layer]
        for place in range(len(layer) - 1):
            left, right = layer[place : place + 2]
            if crossings(right, left) < crossings(left, right):
                layer[place : place + 2] = right, left
        position.update(_positions([layer]))


def _count_crossings(layers: list[Vertices], below: Neighbours) -> int:
    """Count, between each two layers, the pairs of lines whose upper and lower ends are in opposite order."""
    position, total = _positions(layers), 0
    for layer in layers:
        pairs = [(position[upper], position[lower]) for upper in layer for lower in below[upper]]
        ends = np.array(pairs).reshape(-1, 2)
        total += int(np.count_nonzero(np.prod(ends[:, None] - ends, axis=2) < 0)) // 2
    return total


def _size_boxes(layers: list[Vertices], chains: list[Vertices]) -> tuple[dict[str, float], list[tuple[float, float]]]:
    """Fit boxes to names and numbers of lines; spread the lines' ends along the borders in their neighbours' order."""
    position = _positions(layers)
    borders: dict[tuple[str, int], list[int]] = {}
    for end, neighbour in ((0, 1), (-1, -2)):
        for number in sorted(range(len(chains)), key=lambda number: position[chains[number][neighbour]]):
            borders.setdefault((str(chains[number][end]), end), []).append(number)
    widths: dict[str, float] = {}
    for (name, _), numbers in sorted(borders.items()):
        room = min(PORTS_WIDEST, PORT_GAP * (len(numbers) - 1)) + 2 * BOX_PADDING
        widths[name] = max(widths.get(name, 0.0), box_width(name), room)
    offsets: dict[tuple[int, int], float] = {}
    for (name, end), numbers in borders.items():
        gap = min(1.6 * PORT_GAP, (widths[name] - 2 * BOX_PADDING) / max(1, len(numbers) - 1))
        offsets |= {(n, end): gap * (place - (len(numbers) - 1) / 2) for place, n in enumerate(numbers)}
    return widths, [(offsets[number, 0], offsets[number, -1]) for number in range(len(chains))]


def _text_width(text: str, size: float = FONT_SIZE) -> float:
    """Estimate a text's width, on the wide side because the viewer's font is unknown."""
    total = 0.0
    for character in text:
        if unicodedata.east_asian_width(character) in "WF" or character in "mwMW@%":
            total += size
        elif not unicodedata.combining(character):
            total += size * (0.34 if character in "iljI|.,:;'! " else 0.66)
    return total


def box_width(name: str) -> float:
    """Return the width that a name needs."""
    return max(2 * BOX_PADDING, _text_width(name)) + 2 * BOX_PADDING


def _straight_blocks(layers: list[Vertices], chains: list[Vertices]) -> dict[Vertex, int]:
    """Number the vertices so that the bends of a long edge share a number, except where two such edges cross.

    One number means one horizontal place. Lines that do not cross cannot each be left of the other, so that the
    numbers' order from left to right has no cycle.
    """
    position = _positions(layers)
    depth = {vertex: index for index, layer in enumerate(layers) for vertex in layer}
    first = {vertex: vertex for vertex in depth}
    straight: list[list[tuple[int, int]]] = [[] for _ in layers]
    for chain in sorted(chains, key=len, reverse=True):
        for upper, lower in pairwise(chain[1:-1]):
            start, end = position[upper], position[lower]
            if all((start - a) * (end - b) > 0 for a, b in straight[depth[upper]]):
                straight[depth[upper]].append((start, end))
                first[lower] = first[upper]
    number = {vertex: index for index, vertex in enumerate(dict.fromkeys(first.values()))}
    return {vertex: number[first[vertex]] for vertex in first}


def _place_vertices(
    layers: list[Vertices], chains: list[Vertices], widths: dict[str, float], ports: list[tuple[float, float]]
) -> dict[Vertex, float]:
    """Find the horizontal places from differences: neighbours' must be large enough, lines' should be zero.

    Rounding hides the last digits, which differ between machines, before they can decide a later rounding.
    """
    block = _straight_blocks(layers, chains)
    least: dict[tuple[int, int], float] = {}
    for left, right in (pair for layer in layers for pair in pairwise(layer)):
        inside = [widths[vertex] for vertex in (left, right) if isinstance(vertex, str)]
        pair = block[left], block[right]
        least[pair] = max(least.get(pair, 0.0), sum(inside) / 2 + (BOX_GAP if len(inside) == 2 else LINE_GAP))
    wanted = [
        (block[upper], block[lower], start * (upper == chain[0]) - end * (lower == chain[-1]))
        for chain, (start, end) in zip(chains, ports, strict=True)
        for upper, lower in pairwise(chain)
        if block[upper] != block[lower]
    ]
    places = _solve([(*pair, gap) for pair, gap in least.items()], wanted, len(set(block.values())))
    return {vertex: round(float(places[index]), 3) for vertex, index in block.items()}


def _solve(least: list[tuple[int, int, float]], wanted: list[tuple[int, int, float]], n_blocks: int) -> np.ndarray:
    """Minimise the sum of |x_j - x_i - wanted|, subject to x_j - x_i >= least, by ADMM.

    The absolute value makes lines exactly straight wherever they can be; a little of the square centres what that
    leaves open. What the iterations still lack of the least differences is added at the end.
    """
    left, right, offset = np.array([*least, *wanted]).reshape(-1, 3).T
    left, right = left.astype(int), right.astype(int)
    demanded = np.arange(len(offset)) < len(least)
    incidence = np.eye(n_blocks)[right] - np.eye(n_blocks)[left]
    inverse = np.linalg.inv(incidence.T @ incidence + 1e-3 * np.eye(n_blocks))
    slack, dual, places = np.zeros(len(offset)), np.zeros(len(offset)), np.zeros(n_blocks)
    for _ in range(800):
        goal = slack - dual + offset
        places = inverse @ (np.bincount(right, goal, n_blocks) - np.bincount(left, goal, n_blocks))
        value = places[right] - places[left] - offset + dual
        slack = np.where(demanded, np.maximum(value, 0.0), (value - np.clip(value, -4.0, 4.0)) / 1.01)
        dual = value - slack
    left, right, offset = left[demanded], right[demanded], offset[demanded]
    while np.any(places[right] < places[left] + offset - 1e-6):
        np.maximum.at(places, right, places[left] + offset)
    return places


def _place_layers(starts: list[int], lines: list[list[float]]) -> list[float]:
    """Stack the layers, further apart where a line has to go far sideways."""
    gaps: dict[int, float] = {}
    for start, line in zip(starts, lines, strict=True):
        for layer, (here, there) in enumerate(pairwise(line), start):
            gaps[layer] = max(gaps.get(layer, 0.0), LAYER_GAP + min(0.12 * abs(here - there), 3 * LAYER_GAP))
    tops = [0.0]
    for layer in range(len(gaps)):
        tops.append(tops[-1] + BOX_HEIGHT + gaps[layer])
    return tops


def _place_isolated(names: list[str], others: list[Box]) -> dict[str, Box]:
    """Put the nodes without edges below all others, in as many centred rows as they need."""
    left, right = min((b.x for b in others), default=0.0), max((b.x + b.width for b in others), default=0.0)
    top = max((box.y + BOX_HEIGHT + LAYER_GAP for box in others), default=0.0)
    rows: list[list[str]] = [[]]
    for name in names:
        if rows[-1] and sum(BOX_GAP + box_width(other) for other in [*rows[-1], name]) > max(ROW_WIDEST, right - left):
            rows.append([])
        rows[-1].append(name)
    placed: dict[str, Box] = {}
    for number, row in enumerate(rows):
        x = (left + right + BOX_GAP - sum(BOX_GAP + box_width(name) for name in row)) / 2
        for name in row:
            placed[name] = Box(x, top + number * (BOX_HEIGHT + BOX_GAP / 2), box_width(name))
            x += placed[name].width + BOX_GAP
    return placed


def _edge_shapes(layout: _Layout) -> list[str]:
    return [
        _edge_shape(edge, line, layout.tops[start:], downwards=downwards)
        for edge, downwards, start, line in zip(*layout[:4], strict=True)
    ]


def _edge_shape(edge: Edge, line: list[float], tops: list[float], *, downwards: bool) -> str:
    path, corners = _edge_geometry(edge, line, tops, downwards=downwards)
    head = f'<polygon points="{corners}"/>' if corners else ""
    return f'<path fill="none" stroke="{LINE}" d="{path}"/>{head}'


def _edge_geometry(edge: Edge, line: list[float], tops: list[float], *, downwards: bool) -> tuple[str, str]:
    """Go straight through the layers and bend between them, so that no line touches a box; end in an arrow head.

    The path, and the corners of the head, if there is one.
    """
    first, last, head = tops[0] + BOX_HEIGHT, tops[len(line) - 1], ""
    if edge.directed:
        x, tip, base = (line[-1], last, last - HEAD_LENGTH) if downwards else (line[0], first, first + HEAD_LENGTH)
        first, last = (first, base) if downwards else (base, last)
        head = _points((x, tip), (x - HEAD_HALF, base), (x + HEAD_HALF, base))
    path = f"M{_points((line[0], first))}"
    for layer, (here, there) in enumerate(pairwise(line)):
        start, end = max(first, tops[layer] + BOX_HEIGHT), min(last, tops[layer + 1])
        if abs(here - there) >= 0.1:
            middle = (start + end) / 2
            path += f"V{_number(start)}" if start > first else ""
            path += f"C{_points((here, middle), (there, middle), (there, end))}"
    return f"{path}V{_number(last)}", head


def _document(layouts: list[_Layout], title: str | None, width_by: str, marked: str | None) -> str:
    """Write the file: a light background of its own, heading, lines from weak to strong, boxes, legend."""
    edges = [edge for layout in layouts for edge in layout.edges]
    boxes = {name: box for layout in layouts for name, box in layout.boxes.items()}
    largest = 1.0 if width_by == "frequency" else max((edge.weight or 0.0 for edge in edges), default=0.0)
    legend = _legend(edges, width_by, largest)
    lefts, rights, bottoms = zip(*(layout.frame for layout in layouts), strict=True)
    left, right, bottom = min(lefts), max(rights), max(bottoms) + MARGIN
    bottom += 2 * LEGEND_SIZE if legend else 0.0
    texts = _text_width(title or "", 1.1 * TITLE_SIZE), _text_width(legend, LEGEND_SIZE)
    width = max(right - left, *texts) + 2 * MARGIN
    left, top = (left + right - width) / 2, -MARGIN - (2 * TITLE_SIZE if title else 0.0)
    frame = f'width="{_number(width)}" height="{_number(bottom - top)}"'
    label = title or f"Directed graph (nodes: {len(boxes)}, edges: {len(edges)})"
    parts = [
        f'<svg xmlns="{NAMESPACE}" {frame} viewBox="{_points((left, top), (width, bottom - top))}" '
        f'role="img" aria-label="{_escape(label)}" class="grandag" font-family="{FONTS}" '
        f'font-size="{_number(FONT_SIZE)}" text-anchor="middle" fill="{INK}">',
        f"<style>.grandag .edge:hover{{fill:{ACCENT};fill-opacity:1;stroke-opacity:1}}"
        f".grandag .edge:hover path{{stroke:{ACCENT}}}</style>",
        f'<rect x="{_number(left)}" y="{_number(top)}" {frame} rx="12" fill="#fff"/>',
    ]
    middle = left + width / 2
    if title:
        parts.append(_line_of_text(title, middle, top + MARGIN + 0.75 * TITLE_SIZE, TITLE_SIZE, 'font-weight="600"'))
    shapes = [shape for layout in layouts for shape in _edge_shapes(layout)]
    by_weight = sorted(zip(edges, shapes, strict=True), key=lambda pair: pair[0].weight or 0.0)
    parts += [_edge_group(edge, shape, largest, width_by) for edge, shape in by_weight]
    linked = {name for edge in edges for name in edge[:2]}
    parts += [
        _node_group(name, box, linked=name in linked, marked=name == marked) for name, box in sorted(boxes.items())
    ]
    if legend:
        parts.append(_line_of_text(legend, middle, bottom - MARGIN, LEGEND_SIZE, f'fill="{LINE}"'))
    return "\n".join([*parts, "</svg>", ""])


def _legend(edges: list[Edge], width_by: str, largest: float) -> str:
    """What the width of a line means, and what dashes mean, where there are any."""
    is_known = any(edge.weight is not None for edge in edges)
    meaning = _LEGENDS.get(width_by, f"{width_by}, up to {{:.3g}}")
    sentences = [f"Line width: {meaning.format(largest)}"] if is_known else []
    sentences += [f"Dashed: {doubt}" for doubt in sorted({edge.doubt for edge in edges if edge.doubt})]
    return ". ".join(sentences)


def _line_of_text(text: str, x: float, y: float, size: float, look: str) -> str:
    return f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}" {look}>{_escape(text)}</text>'


def _edge_group(edge: Edge, shape: str, largest: float, width_by: str) -> str:
    """Add a line's width and its tooltip."""
    share = 0.35 if edge.weight is None or largest <= 0 else _share(edge.weight, largest, width_by)
    text = f"{edge.source} {'→' if edge.directed else '—'} {edge.target}"
    text += "" if edge.weight is None else f", {width_by} {edge.weight:.3g}"
    opacity = f"{0.6 + 0.3 * share:.2f}"  # of line and head by themselves: that of a group is five times as slow in PNG
    look = f'fill="{LINE}" stroke-width="{0.8 + 2.2 * share:.2f}" fill-opacity="{opacity}" stroke-opacity="{opacity}"'
    if edge.doubt:
        look += f' stroke-dasharray="{DASHES}"'
        text += f", {edge.doubt}"
    return f'<g class="edge" {look}><title>{_escape(text)}</title>{shape}</g>'


def _share(weight: float, largest: float, width_by: str) -> float:
    """A weight relative to the largest; nats by their logarithm, so that 5 and 50 differ beside 500."""
    weight = max(weight, 0.0)  # a required edge may have evidence against it
    return math.log1p(weight) / math.log1p(largest) if width_by == "evidence" else weight / largest


def _node_group(name: str, box: Box, *, linked: bool, marked: bool) -> str:
    """Draw a box with its name; a node without edges stays pale, the marked one has a frame of double width."""
    fill, stroke = (TINT, ACCENT) if linked else ("#f8fafc", "#94a3b8")
    frame = f'x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" height="{_number(BOX_HEIGHT)}"'
    middle = f'x="{_number(box.x + box.width / 2)}" y="{_number(box.y + BOX_HEIGHT / 2 + 0.35 * FONT_SIZE)}"'
    rectangle = f'<rect {frame} rx="7" fill="{fill}" stroke="{stroke}" stroke-width="{2.4 if marked else 1.2}"/>'
    return f'<g class="node"><title>{_escape(name)}</title>{rectangle}<text {middle}>{_escape(name)}</text></g>'


def _escape(text: str) -> str:
    """Make any text fit for XML; characters that XML cannot hold become the replacement character."""
    allowed = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
    return escape(allowed, {'"': "&quot;", "\r": "&#13;"})


def _number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _points(*points: tuple[float, float]) -> str:
    """Write points as SVG's attributes take them."""
    return " ".join(f"{_number(x)} {_number(y)}" for x, y in points)
