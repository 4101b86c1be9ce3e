"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["CONFIDENCE", "DATA", "OUTPUT", "AsJson", "Quiet", "Seed"]

DATA, CONFIDENCE, OUTPUT = "Data", "Confidence", "Output"
"""Panels of the help."""

Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=OUTPUT)]
