"""Precision, recall and F1 of edges.

With T true edges, E estimated ones and B in both: precision B / E, recall B / T, F1 2 B / (E + T). A share of
nothing is NaN.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from grandag.graph.algebra import directed_part, skeleton
from grandag.metrics.matching import matched

__all__ = ["EdgeScores", "adjacency_scores", "direction_scores"]


class EdgeScores(NamedTuple):
    """Shares between 0 and 1, NaN where they are not defined."""

    precision: float
    recall: float
    f1: float


def adjacency_scores(truth: Any, estimate: Any) -> EdgeScores:
    """Scores of adjacencies: which pairs of nodes have an edge, in whatever direction?"""
    true, estimated, _ = matched(truth, estimate)
    return _scores(np.triu(skeleton(true)), np.triu(skeleton(estimated)))


def direction_scores(truth: Any, estimate: Any) -> EdgeScores:
    """Scores of directed edges. Undirected edges, of either graph, are not counted.

    >>> direction_scores(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]]), np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]]))
    EdgeScores(precision=0.5, recall=0.5, f1=0.5)
    """
    true, estimated, _ = matched(truth, estimate)
    return _scores(directed_part(true), directed_part(estimated))


def _scores(true: np.ndarray, estimated: np.ndarray) -> EdgeScores:
    n_true, n_estimated, n_both = int(true.sum()), int(estimated.sum()), int((true & estimated).sum())
    return EdgeScores(_ratio(n_both, n_estimated), _ratio(n_both, n_true), _ratio(2 * n_both, n_estimated + n_true))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
