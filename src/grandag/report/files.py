"""A result as files: what `grandag fit --output` writes."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd

from grandag.graph import no_formula, to_dot, to_json, write_graph
from grandag.report.facts import FitSummary, headline
from grandag.resampling import Confidence
from grandag.showing import edge_table, explanations
from grandag.wording import visible
from grandag.writing import replacing_directory

__all__ = ["write_confidence", "write_edges", "write_results"]

_MARKUP = re.compile(r"[\\`*\[\]]")


def write_results(fit: FitSummary, directory: Path, write_more: Callable[[Path], None] | None = None) -> None:
    """Write report.md, edges.csv, graph.{json,dot,gml,svg}, the model, and run.json with configuration and seed.

    All of it, with what `write_more` writes, takes the place of an earlier result at once.
    """
    with replacing_directory(directory) as new:
        _write(fit, new)
        if write_more is not None:
            write_more(new)


def write_edges(edges: pd.DataFrame, path: Path) -> None:
    """Write a table of edges as CSV; spreadsheets, too, take its names for what they are."""
    edges.assign(**{end: edges[end].map(no_formula) for end in ("source", "target")}).to_csv(path, index=False)


def write_confidence(refits: Confidence, directory: Path) -> None:
    """Write what refits have in common: confidence.csv and the consensus graph."""
    write_edges(refits.edges(), directory / "confidence.csv")
    for name in ("consensus.svg", "consensus.json"):
        write_graph(refits.consensus_graph(), directory / name)


def _write(fit: FitSummary, directory: Path) -> None:
    graph = fit.model.graph_
    write_edges(fit.edges, directory / "edges.csv")
    nx.write_gml(graph, directory / "graph.gml")
    fit.model.save(directory / "model.npz")
    check = fit.learned.values.get("intervention_check")
    if check is not None:
        names = {column: check[column].map(no_formula) for column in ("regime", "variable")}
        check.assign(**names).to_csv(directory / "intervention_check.csv", index=False)
    run = {name: value for name, value in fit.facts.items() if name not in {"nodes", "edges"}}
    texts = {
        "graph.json": to_json(graph),
        "graph.dot": to_dot(graph),
        "graph.svg": fit.svg,
        "report.md": _report(fit.facts),
        "run.json": json.dumps(run, indent=2, ensure_ascii=False) + "\n",
    }
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")


def _plain(text: str) -> str:
    """A text that may come from a file, without HTML, links or pictures that a viewer of Markdown would show."""
    return _MARKUP.sub(r"\\\g<0>", html.escape(visible(text).replace("\n", " "), quote=False))


def _report(facts: dict[str, Any]) -> str:
    """The result as a page of Markdown."""
    lines = [
        f"# Graph learned from {_plain(facts['data'])}",
        "",
        f"{headline(facts)}.",
        "",
        "![The graph](graph.svg)",
        "",
    ]
    if facts["warnings"]:
        lines += ["## Reasons to doubt the graph", ""]
        lines += [*(f"- **{concern['kind']}**: {_plain(concern['message'])}" for concern in facts["warnings"]), ""]
    if facts["notes"]:
        lines += ["## Notes", "", *(f"- {_plain(note)}" for note in facts["notes"]), ""]
    header, rows = edge_table(facts["edges"])
    lines += ["## Edges", "", f"| {' | '.join(header)} |", f"|---|---|{'---:|' * (len(header) - 2)}"]
    lines += [f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    lines += [text for explanation in explanations(header) for text in ("", explanation)]
    lines += ["", "## Configuration", "", f"grandag {facts['grandag']}, method {facts['method']}", ""]
    lines += [f"- {name}: {_plain(repr(value))}" for name, value in facts["parameters"].items()]
    return "\n".join([*lines, ""])
