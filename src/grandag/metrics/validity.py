"""Is adjusting for a set right? One set Z and one node i at a time, all j at once.

The effect of i on j, estimated by adjusting for Z, is right in the true DAG if and only if (Peters and Bühlmann 2015)

- j is in Z (so the estimate says that there is no effect) and i is no ancestor of j; or j is not in Z and
- no node of Z descends from a child of i that lies on a directed path from i to j (the child included), and
- every path between i and j that is not directed from i to j is blocked by Z.

Many pairs (i, Z) are treated together, as rows of matrices: the nodes that an open path reaches grow step by step by
multiplications with the adjacency matrix.
"""

from __future__ import annotations

import numpy as np

from grandag.graph.algebra import compose

__all__ = ["wrong_adjustments"]


def wrong_adjustments(
    adjacency: np.ndarray, is_ancestor: np.ndarray, causes: np.ndarray, adjusted: np.ndarray
) -> np.ndarray:
    """wrong[t, j]: is the effect of i = causes[t] on j wrong if adjusted for adjusted[t], a boolean row?"""
    has_adjusted_descendant = compose(adjusted, is_ancestor.T)
    wrong = compose(adjacency[causes] & has_adjusted_descendant, is_ancestor)
    wrong |= _open_nondirected_path(adjacency, causes, adjusted)
    wrong = np.where(adjusted, is_ancestor[causes], wrong)
    wrong[np.arange(len(causes)), causes] = False
    return wrong


def _open_nondirected_path(adjacency: np.ndarray, causes: np.ndarray, adjusted: np.ndarray) -> np.ndarray:
    """reached[t, j]: does a path that is not directed lead from causes[t] to j, open given adjusted[t]?

    Three ways to arrive at a node: along edges only (`along`), that is on a directed path; against an edge (`against`);
    along an edge after having gone against one (`again`). From an adjusted node, paths go on only against an edge after
    arriving along one (a collider); from others, in all other ways. A walk that turns at an adjusted descendant of a
    collider and comes back stands for the path that turns at the collider: it reaches more than paths do only where
    Z has a descendant of a child on the directed path, which is wrong anyway.
    """
    is_free = ~adjusted
    is_free[np.arange(len(causes)), causes] = False
    along, against = adjacency[causes], adjacency[:, causes].T
    again = np.zeros_like(along)
    new_along, new_against, new_again = along, against, again
    while new_along.any() or new_against.any() or new_again.any():
        turning = (new_along | new_again) & adjusted
        next_against = compose((new_against & is_free) | turning, adjacency.T)
        next_again = compose((new_against | new_again) & is_free, adjacency)
        next_along = compose(new_along & is_free, adjacency)
        new_along, new_against, new_again = next_along & ~along, next_against & ~against, next_again & ~again
        along, against, again = along | new_along, against | new_against, again | new_again
    return np.asarray(against | again)
