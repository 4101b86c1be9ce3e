"""The files that `grandag fit --output` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx

from grandag.drawing import to_svg
from grandag.graph import to_dot, to_json
from grandag.methods.base import StructureLearner
from grandag.report.facts import edge_table, headline

__all__ = ["write_results"]


def write_results(model: StructureLearner, directory: Path, facts: dict[str, Any]) -> None:
    """Write report.md, edges.csv, graph.{json,dot,gml,svg}, the model, and run.json with configuration and seed."""
    directory.mkdir(parents=True, exist_ok=True)
    graph = model.graph_
    model.edges_.to_csv(directory / "edges.csv", index=False)
    (directory / "graph.json").write_text(to_json(graph), encoding="utf-8")
    (directory / "graph.dot").write_text(to_dot(graph), encoding="utf-8")
    nx.write_gml(graph, directory / "graph.gml")
    width_by = "frequency" if hasattr(model, "frequency_") else "strength"
    (directory / "graph.svg").write_text(to_svg(graph, width_by=width_by), encoding="utf-8")
    model.save(directory / "model.npz")
    (directory / "report.md").write_text(_report(facts), encoding="utf-8")
    run = {name: value for name, value in facts.items() if name not in {"nodes", "edges"}}
    (directory / "run.json").write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _report(facts: dict[str, Any]) -> str:
    """The result as a page of Markdown."""
    lines = [f"# Graph learned from {facts['data']}", "", f"{headline(facts)}.", "", "![The graph](graph.svg)", ""]
    if facts["warnings"]:
        lines += ["## What speaks against this graph", ""]
        lines += [*(f"- **{concern['kind']}**: {concern['message']}" for concern in facts["warnings"]), ""]
    if facts["notes"]:
        lines += ["## Notes", "", *(f"- {note}" for note in facts["notes"]), ""]
    header, rows = edge_table(facts["edges"])
    lines += ["## Edges", "", f"| {' | '.join(header)} |", f"|---|---|{'---:|' * (len(header) - 2)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    lines += ["", "## Configuration", "", f"grandag {facts['grandag']}, method {facts['method']}", ""]
    lines += [f"- {name}: {value!r}" for name, value in facts["parameters"].items()]
    return "\n".join([*lines, ""])
