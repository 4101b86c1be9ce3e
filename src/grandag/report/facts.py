"""The facts of a fit as plain values and texts, which terminal, files and pages show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from grandag import __version__
from grandag.methods.base import StructureLearner
from grandag.parameters import plain

__all__ = ["edge_table", "headline", "summary"]


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


def headline(facts: dict[str, Any]) -> str:
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
