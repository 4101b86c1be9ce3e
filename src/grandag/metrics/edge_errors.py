"""What is wrong with the edges of an estimate: missing, extra, reversed, or directed in one graph only."""

from __future__ import annotations

from typing import Any, NamedTuple

from grandag.graph.algebra import directed_part, skeleton, undirected_part
from grandag.metrics.matching import matched

__all__ = ["EdgeErrors", "edge_errors"]


class EdgeErrors(NamedTuple):
    """Pairs of nodes by the kind of error. Their sum is the SHD."""

    missing: int
    """Adjacent in the truth only."""
    extra: int
    """Adjacent in the estimate only."""
    reversed: int
    """i -> j in one graph, j -> i in the other."""
    mixed: int
    """Directed in one graph, undirected in the other. Always 0 between DAGs."""


def edge_errors(truth: Any, estimate: Any) -> EdgeErrors:
    """Count the errors by kind.

    >>> import numpy as np
    >>> edge_errors(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]]))
    EdgeErrors(missing=1, extra=1, reversed=1, mixed=0)
    """
    true, estimated, _ = matched(truth, estimate)
    missing = skeleton(true) & ~skeleton(estimated)
    extra = skeleton(estimated) & ~skeleton(true)
    opposite = directed_part(true) & directed_part(estimated).T
    mixed = skeleton(true) & skeleton(estimated) & (undirected_part(true) ^ undirected_part(estimated))
    return EdgeErrors(int(missing.sum()) // 2, int(extra.sum()) // 2, int(opposite.sum()), int(mixed.sum()) // 2)
