"""A result for people: its edges as texts, and the whole of it as HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import networkx as nx
from markupsafe import Markup, escape

from grandag.overview import draw
from grandag.wording import counted

__all__ = ["edge_table", "explanations", "result_html"]

_MOST_ROWS = 1000
"""Of the table of edges in a notebook, the strongest."""

_EXPLANATIONS = {
    "strength": "Strength is the method's own measure; those of two methods cannot be compared.",
    "explained": "Explained is the share of the target's variance that the edge explains beyond the other parents, by "
    "functions that add up; it means the same for all methods.",
    "kept": "Kept is the share of four halves of the rows that do not want the edge away or turned round.",
    "frequency": "Frequency is the share of the refits that have the edge in this direction, reverse frequency of "
    "those that have it the other way round, and adjacency frequency of those that join the two at all; an undirected "
    "edge counts only there.",
    "evidence": "Evidence is what the log marginal likelihood loses, in nats, when the edge is taken out. In "
    "simulations it joined the right two in half of the cases from 5 to 10 nats, in three of four from 10 to 25, and "
    "nearly always above 100; it does not speak for the direction.",
}
"""What the reader of a table has to know of a column."""

_UNCHECKED = (
    "How far these edges depend on the sample is not known: refits count how often each comes back (--resamples 20; "
    "grandag.confidence in Python)."
)
"""Where neither halves of the rows nor refits were asked."""

_FORMATS: dict[str, Callable[[Any], str]] = {
    "type": str,
    "strength": "{:.3f}".format,
    "explained": "{:.1%}".format,
    "p_value": lambda p_value: f"{p_value:.1e}" if p_value > 1e-300 else "< 1e-300",
    "degrees_of_freedom": "{:.1f}".format,
    "evidence": "{:.1f}".format,
    "kept": "{:.0%}".format,
    "frequency": "{:.2f}".format,
    "reverse_frequency": "{:.2f}".format,
    "adjacency_frequency": "{:.2f}".format,
}


def edge_table(edges: Sequence[Mapping[Any, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the edges as text, with the columns that are known; evidence stands for the strength."""
    columns = list(edges[0]) if edges else []
    left_out = {"source", "target", *(["strength"] if "evidence" in columns else [])}
    known = [name for name in columns if name not in left_out]
    header = ["source", "target", *(name.replace("_", " ") for name in known)]
    rows = [[edge["source"], edge["target"], *(_text(name, edge[name]) for name in known)] for edge in edges]
    return header, rows


def explanations(header: Sequence[str]) -> list[str]:
    """What the reader of a table with this header has to know."""
    known = [_EXPLANATIONS[name] for name in header if name in _EXPLANATIONS]
    return known if {"kept", "frequency"} & {*header} or not known else [*known, _UNCHECKED]


def _text(name: str, value: Any) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "-"
    return _FORMATS.get(name, "{:.3g}".format)(value)


def result_html(
    title: str,
    graph: nx.DiGraph[str],
    edges: Sequence[Mapping[Any, Any]],
    *,
    width_by: str,
    warnings: Iterable[str],
    notes: Iterable[str],
) -> str:
    """A result in a cell of a notebook: the graph, reasons to doubt it, and the edges, folded up."""
    parts = [Markup("<p><b>{}</b></p>").format(title)]
    drawing = Markup(draw(graph, width_by=width_by).svg)  # it escapes names itself
    parts.append(Markup('<div style="max-width: 100%; overflow-x: auto">{}</div>').format(drawing))
    parts += [Markup('<p style="color: #b45309">⚠ {}</p>').format(message) for message in warnings]
    parts += [Markup("<p><small>{}</small></p>").format(note) for note in notes]
    if edges:
        which = "" if len(edges) <= _MOST_ROWS else f", of which the strongest {_MOST_ROWS:,}"
        summary = Markup("<summary>{}{}</summary>").format(counted(len(edges), "edge"), which)
        header, rows = edge_table(edges[:_MOST_ROWS])
        said = Markup("").join(Markup("<p><small>{}</small></p>").format(text) for text in explanations(header))
        parts.append(Markup("<details>{}{}{}</details>").format(summary, _html_table(header, rows), said))
    return str(Markup('<div class="grandag-result">{}</div>').format(Markup("").join(parts)))


def _html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in header)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(escape(cell)) for cell in row))
        for row in rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)
