"""The page of a comparison: a table of methods, a matrix of edges by methods, and the drawing of each."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from grandag.comparison import Comparison
from grandag.report.environment import environment as this_environment
from grandag.report.page import fixed, render

__all__ = ["compare_page"]

_WORDS = {"->": "→", "<-": "←", "--": "—", "": ""}


def compare_page(
    comparison: Comparison, *, data: str = "the table", environment: Mapping[str, str] | None = None
) -> str:
    """One HTML file about a comparison, as text.

    Args:
        comparison: What `grandag.compare` returned.
        data: The name of the table.
        environment: Versions and machine as text by name; by default those of now.

    Example:
        >>> from grandag import compare, datasets
        >>> compare_page(compare(datasets.load_sachs().data, ["cam", "pc"])).startswith("<!DOCTYPE html>")
        True
    """
    results, edges = comparison.results, comparison.edges()
    rows = [
        {
            "method": row["method"],
            "cells": [
                str(row["edges"]),
                fixed(row["held_out"], 3),
                fixed(row["seconds"], 1),
                "-" if row["agreement"] != row["agreement"] else f"{row['agreement']:.0%}",
                "yes" if row["converged"] else "no",
            ],
        }
        for row in comparison.table().to_dict(orient="records")
        if row["method"] in results
    ]
    matrix = [
        {
            "pair": f"{edge['source']} → {edge['target']}",
            "marks": [_WORDS[edge[method]] for method in results],
            "methods": edge["methods"],
        }
        for edge in edges.to_dict(orient="records")
    ]
    return render(
        "compare.html",
        data=data,
        methods=list(results),
        rows=rows,
        matrix=matrix,
        drawings={method: Markup(learned.plot().svg) for method, learned in results.items()},
        concerns={method: [concern.message for concern in learned.concerns] for method, learned in results.items()},
        notes=comparison.notes(),
        failures={entry.method: entry.failure for entry in comparison.entries if entry.failure},
        environment=this_environment() if environment is None else environment,
    )
