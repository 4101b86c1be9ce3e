"""All metrics of one pair of graphs as plain values, for the command line and for tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from grandag.graph.algebra import skeleton, undirected_part
from grandag.graph.boundary import GraphError
from grandag.metrics.adjustment import ancestor_aid, oset_aid, parent_aid
from grandag.metrics.edge_errors import edge_errors
from grandag.metrics.edge_scores import EdgeScores, adjacency_scores, direction_scores
from grandag.metrics.matching import matched
from grandag.metrics.shd import shd
from grandag.metrics.shd_cpdag import shd_cpdag
from grandag.metrics.sid import sid
from grandag.metrics.sid_bounds import sid_bounds

__all__ = ["score"]


def score(truth: Any, estimate: Any) -> dict[str, Any]:
    """Every metric by name; None where it is not defined, with the reason in `notes`.

    `sid` is None for an estimate with undirected edges, which has bounds (`sid_lower`, `sid_upper`) instead.

    >>> import numpy as np
    >>> facts = score(np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]]))
    >>> facts["shd"], facts["shd_cpdag"], facts["sid"], facts["reversed"]
    (1, 0, 2, 1)
    """
    pair = matched(truth, estimate)
    graphs = ((pair.truth, pair.names), (pair.estimate, pair.names))
    is_directed = not undirected_part(pair.estimate).any()
    undefined: dict[str, list[str]] = {}

    def defined(metric: Callable[[Any, Any], Any]) -> Any:
        """The metric's value; None if it is not defined, and the reason is kept."""
        try:
            return metric(*graphs)
        except GraphError as error:
            undefined.setdefault(str(error), []).append(metric.__name__)
            return None

    bounds = defined(sid_bounds)
    facts: dict[str, Any] = {
        "n_nodes": len(pair.names),
        "n_true_edges": int(skeleton(pair.truth).sum()) // 2,
        "n_estimated_edges": int(skeleton(pair.estimate).sum()) // 2,
        "shd": shd(*graphs),
        "shd_cpdag": defined(shd_cpdag),
        "sid": defined(sid) if is_directed else None,
        "sid_lower": bounds and bounds.lower,
        "sid_upper": bounds and bounds.upper,
        **edge_errors(*graphs)._asdict(),
        "adjacency": _without_nan(adjacency_scores(*graphs)),
        "direction": _without_nan(direction_scores(*graphs)),
        **{metric.__name__: defined(metric) for metric in (parent_aid, ancestor_aid, oset_aid)},
    }
    facts["notes"] = [f"Not defined: {', '.join(names)}. {reason}" for reason, names in undefined.items()]
    return facts


def _without_nan(scores: EdgeScores) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in scores._asdict().items()}
