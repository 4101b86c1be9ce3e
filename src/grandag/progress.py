"""What a running method tells whoever listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Listener", "Progress"]


class Progress(NamedTuple):
    """One moment of a run; what a stage does not know is None, or 0 steps."""

    stage: str
    step: int
    n_steps: int
    h: float | None = None
    held_out: float | None = None
    n_edges: int | None = None


Listener = Callable[[Progress], None]
"""Called from the fitting thread a few times per second; an exception that it raises ends the fit."""
