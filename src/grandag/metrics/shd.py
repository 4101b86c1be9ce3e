"""Structural Hamming distance (SHD): in how many pairs of nodes do two graphs differ?

A pair {i, j} has no edge, i -> j, j -> i, or i - j; any difference counts 1. It is defined for DAGs and CPDAGs alike.
"""

from __future__ import annotations

from typing import Any

from grandag.metrics.edge_errors import edge_errors
from grandag.parameters import ParameterError

__all__ = ["shd"]


def shd(truth: Any, estimate: Any, *, reversal: int = 1) -> int:
    """Structural Hamming distance; `reversal=2` counts i -> j against j -> i as two errors, a deletion and an addition.

    >>> import numpy as np
    >>> shd(np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]]))
    1
    """
    if reversal not in (1, 2):
        raise ParameterError("reversal", f"must be 1 or 2; got {reversal!r}.")
    errors = edge_errors(truth, estimate)
    return sum(errors) + (reversal - 1) * errors.reversed
