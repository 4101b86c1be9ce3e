"""The files that `grandag fit --output` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx

from grandag.graph import to_dot, to_json
from grandag.report.facts import FitSummary, headline
from grandag.showing import edge_table

__all__ = ["write_results"]


def write_results(fit: FitSummary, directory: Path) -> None:
    """Write report.md, edges.csv, graph.{json,dot,gml,svg}, the model, and run.json with configuration and seed."""
    directory.mkdir(parents=True, exist_ok=True)
    graph = fit.model.graph_
    fit.edges.to_csv(directory / "edges.csv", index=False)
    nx.write_gml(graph, directory / "graph.gml")
    fit.model.save(directory / "model.npz")
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


def _report(facts: dict[str, Any]) -> str:
    """The result as a page of Markdown."""
    lines = [f"# Graph learned from {facts['data']}", "", f"{headline(facts)}.", "", "![The graph](graph.svg)", ""]
    if facts["warnings"]:
        lines += ["## Reasons to doubt the graph", ""]
        lines += [*(f"- **{concern['kind']}**: {concern['message']}" for concern in facts["warnings"]), ""]
    if facts["notes"]:
        lines += ["## Notes", "", *(f"- {note}" for note in facts["notes"]), ""]
    header, rows = edge_table(facts["edges"])
    lines += ["## Edges", "", f"| {' | '.join(header)} |", f"|---|---|{'---:|' * (len(header) - 2)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    lines += ["", "## Configuration", "", f"grandag {facts['grandag']}, method {facts['method']}", ""]
    lines += [f"- {name}: {value!r}" for name, value in facts["parameters"].items()]
    return "\n".join([*lines, ""])
