"""What a fit leaves on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import networkx as nx

from grandag import __version__
from grandag.drawing import to_svg
from grandag.graph import to_dot, to_json
from grandag.methods.base import StructureLearner
from grandag.methods.parameters import plain

__all__ = ["edge_table", "outcome", "summary", "write_results"]


def summary(model: StructureLearner, *, data: str, seconds: float | None) -> dict[str, Any]:
    """The facts of a run as plain values: configuration, seed, outcome, edges; the time if it was taken."""
    facts: dict[str, Any] = {
        "data": data,
        "method": model.method,
        "grandag": __version__,
        "parameters": {name: plain(value) for name, value in model.get_params(deep=False).items()},
        "seconds": None if seconds is None else round(seconds, 2),
        "notes": getattr(model, "notes_", []),
        "warnings": [asdict(concern) for concern in getattr(model, "warnings_", [])],
    }
    for name in ("converged", "n_iter", "held_out_log_likelihood"):
        if hasattr(model, f"{name}_"):
            facts[name] = getattr(model, f"{name}_")
    facts["nodes"] = list(model.names_)
    facts["edges"] = model.edges_.to_dict(orient="records")
    return facts


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


def outcome(facts: dict[str, Any]) -> str:
    """One line on how a run went."""
    parts = [f"{len(facts['nodes'])} nodes, {len(facts['edges'])} edges"]
    if "converged" in facts:
        parts.append(
            f"{'converged' if facts['converged'] else 'did not converge'} after {facts['n_iter']:,} iterations"
        )
    if "held_out_log_likelihood" in facts:
        parts.append(f"held-out log-likelihood {facts['held_out_log_likelihood']:.3f}")
    if facts["seconds"] is not None:
        parts.append(f"{facts['seconds']:.1f} s")
    return "; ".join(parts)


def edge_table(edges: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the edges as text, with the columns that are known."""
    formats: dict[str, Callable[[Any], str]] = {
        "type": str,
        "strength": "{:.3f}".format,
        "p_value": _p_value_text,
        "degrees_of_freedom": "{:.1f}".format,
        "frequency": "{:.2f}".format,
        "reverse_frequency": "{:.2f}".format,
        "adjacency_frequency": "{:.2f}".format,
    }
    known = [name for name in formats if edges and name in edges[0]]
    header = ["source", "target", *(name.replace("_", " ") for name in known)]
    rows = [[edge["source"], edge["target"], *(formats[name](edge[name]) for name in known)] for edge in edges]
    return header, rows


def _p_value_text(p_value: float) -> str:
    return f"{p_value:.1e}" if p_value > 1e-300 else "< 1e-300"


def _report(facts: dict[str, Any]) -> str:
    """The result as a page of Markdown."""
    lines = [f"# Graph learned from {facts['data']}", "", f"{outcome(facts)}.", "", "![The graph](graph.svg)", ""]
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
