"""From nearly acyclic networks to a DAG by the expected Jacobian (appendix A.2 of the paper).

    J_ij = E |d log p_j(X_j | X_(-j)) / d X_i|

The paper removes edges from the weakest up until no cycle is left: one strong cycle costs every weaker edge, and among
many variables there is nearly always one. `without_cycles`, ours, leaves out no edge but those that would close a
cycle. The log-density, not the density that the text writes, is what the released program differentiates.
"""

from __future__ import annotations

import numpy as np

from grandag.graph import ancestors, is_acyclic

__all__ = ["threshold", "without_cycles"]

_MARGIN = 1e-8
"""Entries are kept when they exceed the threshold by more than this, so that zeros always go."""


def threshold(expected_jacobian: np.ndarray, mask: np.ndarray, required: np.ndarray | None = None) -> np.ndarray:
    """adjacency[i, j] = mask[i, j] and J_ij > t + 1e-8, t the smallest of the values of J that leaves no cycle.

    Required edges, which must have no cycle, stay whatever their J. Removing more edges cannot make a cycle, so the
    smallest value is found by bisection.
    """
    always = np.zeros_like(mask) if required is None else required
    values = np.unique(np.append(expected_jacobian[mask & ~always], 0.0))
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        if is_acyclic(always | (mask & (expected_jacobian > values[middle] + _MARGIN))):
            high = middle
        else:
            low = middle + 1
    return np.asarray(always | (mask & (expected_jacobian > values[low] + _MARGIN)))


def without_cycles(expected_jacobian: np.ndarray, mask: np.ndarray, required: np.ndarray | None = None) -> np.ndarray:
    """The edges of the mask, from the strongest down, but for those that close a cycle with stronger ones.

    Required edges, which must have no cycle, come first.

    >>> strength = np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 2.0], [1.0, 0.5, 0.0]])
    >>> np.argwhere(without_cycles(strength, strength > 0)).tolist()
    [[0, 1], [1, 2]]
    """
    adjacency = np.zeros_like(mask) if required is None else required.copy()
    is_ancestor = ancestors(adjacency)
    edges = np.argwhere(mask & ~adjacency & (expected_jacobian > _MARGIN))
    strongest_first = np.argsort(-expected_jacobian[tuple(edges.T)], kind="stable")
    for i, j in edges[strongest_first].tolist():
        if is_ancestor[j, i]:
            continue
        adjacency[i, j] = True
        if not is_ancestor[i, j]:
            is_ancestor[is_ancestor[:, i]] |= is_ancestor[j]
    return adjacency
