"""Options that several commands have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from grandag.wording import visible

__all__ = [
    "CONFIDENCE",
    "DATA",
    "KINDS_HELP",
    "OUTPUT",
    "AsJson",
    "Cluster",
    "Kinds",
    "KnowledgeFile",
    "Missing",
    "Outliers",
    "Quiet",
    "Seed",
    "json_text",
    "visible",
]

DATA, CONFIDENCE, OUTPUT = "Data", "Confidence", "Output"
"""Panels of the help."""

Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
KnowledgeFile = Annotated[
    Path | None,
    typer.Option(help="Forbidden and required edges: a file in TOML or Tetrad's format.", rich_help_panel=DATA),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="[error|drop]",
        help="Rows with missing or infinite values: stop with an error, or drop them.",
        rich_help_panel=DATA,
    ),
]
KINDS_HELP = (
    "What columns hold (continuous, heavy-tailed, binary, categorical, count), where it shall not be decided from "
    "their values: pairs, as 'smoker=binary,q*=categorical', or a file of them in TOML or JSON."
)
Kinds = Annotated[str | None, typer.Option(metavar="FILE_OR_PAIRS", help=KINDS_HELP, rich_help_panel=DATA)]
Outliers = Annotated[
    str,
    typer.Option(
        metavar="[auto|keep]",
        help="Rows with gross outliers: leave them out, or take them as they are.",
        rich_help_panel=DATA,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler, whose workers do the independent fits, one thread each."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=OUTPUT)]


def json_text(facts: Any) -> str:
    """Facts as JSON for a terminal or a program: what is not to be shown, such as control characters, is escaped."""
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)
