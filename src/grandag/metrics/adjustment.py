"""Adjustment identification distances (AID): the SID's idea with other ways to choose what is adjusted for.

Henckel, Würtzen and Weichwald ("Adjustment identification distance: a gadjid for causal structure learning", 2024): for
how many ordered pairs (i, j) is the effect of i on j, as the estimate says to identify it (by the parents of i, its
ancestors, or the optimal set), wrong in the truth? Both graphs can be DAGs or CPDAGs. Computed by gadjid. Between DAGs
`parent_aid` is the SID; for a CPDAG it is one number that is *not* a bound of the SID.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grandag.graph.algebra import directed_part, undirected_part
from grandag.graph.boundary import GraphError
from grandag.graph.equivalence import is_cpdag
from grandag.metrics.matching import check_dag, matched

__all__ = ["ancestor_aid", "oset_aid", "parent_aid"]


def ancestor_aid(truth: Any, estimate: Any) -> int:
    """Number of wrong effects if one adjusts for the estimated ancestors."""
    return _distance("ancestor_aid", truth, estimate)


def oset_aid(truth: Any, estimate: Any) -> int:
    """Number of wrong effects if one adjusts for the optimal set, the parents of paths from i to j; slow if dense."""
    return _distance("oset_aid", truth, estimate)


def parent_aid(truth: Any, estimate: Any) -> int:
    """Number of wrong effects if one adjusts for the estimated parents; between DAGs, the SID."""
    return _distance("parent_aid", truth, estimate)


def _distance(name: str, truth: Any, estimate: Any) -> int:
    import gadjid

    true, estimated, names = matched(truth, estimate)
    coded = [_coded(true, names, "true graph"), _coded(estimated, names, "estimate")]
    if len(names) == 1:
        return 0  # gadjid does not take a single node
    _, distance = getattr(gadjid, name)(*coded, edge_direction="from row to column")
    return int(distance)


def _coded(adjacency: np.ndarray, names: tuple[str, ...], what: str) -> np.ndarray:
    """gadjid's convention: 1 for a directed edge, 2 for an undirected one."""
    undirected = undirected_part(adjacency)
    if not undirected.any():
        check_dag(adjacency, names, f"The {what} must be a DAG or a CPDAG.")
    elif not is_cpdag(adjacency):
        raise GraphError(f"The {what} must be a DAG or a CPDAG. It has undirected edges but is no CPDAG.")
    return np.asarray(directed_part(adjacency) + 2 * undirected, dtype=np.int8)
