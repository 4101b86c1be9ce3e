"""Where commands write: looked at before anything is computed, so that no result is lost for want of a place."""

from __future__ import annotations

from pathlib import Path

import typer

from grandag.cli import interruption
from grandag.writing import check_directory, check_file, is_same_file

__all__ = ["RESULT_FILES", "check_output_directory", "check_output_file"]

RESULT_FILES = (
    "edges.csv", "graph.gml", "graph.json", "graph.dot", "graph.svg", "model.npz", "report.md", "run.json",
    "confidence.csv", "consensus.svg", "consensus.json", "trials.csv", "best.json", "methods.csv",
)  # fmt: skip
"""What `fit`, `tune` and `compare` write to their directory."""


def check_output_directory(directory: Path | None, *inputs: str | Path | None, option: str = "--output") -> None:
    """Refuse a directory that cannot be written, or in which a result would replace an input of the command."""
    if directory is None:
        return
    try:
        check_directory(directory)
    except OSError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    for path in inputs:
        if path is not None and any(is_same_file(directory / name, path) for name in RESULT_FILES):
            raise typer.BadParameter(f"a result would replace {str(path)!r}; name another place.", param_hint=option)
    interruption.may_write(directory)


def check_output_file(path: Path | None, *inputs: str | Path | None, option: str = "--output") -> None:
    """Refuse a file that cannot be written, or that is an input of the command."""
    if path is None:
        return
    try:
        check_file(path)
    except OSError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if any(other is not None and is_same_file(path, other) for other in inputs):
        raise typer.BadParameter(f"would replace {str(path)!r}, an input; name another file.", param_hint=option)
    interruption.may_write(path)
