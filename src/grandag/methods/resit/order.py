"""The two phases of RESIT: an order of the variables, and their parents along it (Peters et al. 2014, algorithm 1).

1. Of the variables that are left, the one whose residual, given all others, depends on them least (the largest sum of
   the logarithms of p-values) is a sink: it comes last. The search goes on without it, until none is left.
2. Each variable is regressed on those before it, and then without each of them in turn. One without which the residual
   is still independent of all that come before is no parent.

The residual of a variable changes only when one of its candidate parents leaves, and its dependence on others not at
all. Without its sinks a DAG is that of the other variables: who is no neighbour in the whole is none in the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grandag.methods.resit.hsic import Dependence, Independence
from grandag.methods.resit.residuals import Residuals
from grandag.progress import Listener, Progress

__all__ = ["Ordered", "Tester", "eliminate", "sinks"]


class Tester:
    """Dependence of residuals on all columns of the standardised table."""

    def __init__(self, residuals: Residuals, independence: Independence) -> None:
        self._residuals, self._independence = residuals, independence

    def __call__(self, target: int, parents: tuple[int, ...]) -> Dependence:
        """Of a column given others."""
        return self._independence.test(self._residuals(target, parents))


class Ordered(NamedTuple):
    """The variables, causes first, each with the logarithm of its p-value when it was taken as a sink."""

    order: list[int]
    log_p_values: list[float]


def sinks(test: Tester, candidates: np.ndarray, precedes: np.ndarray, listener: Listener | None = None) -> Ordered:
    """Phase 1. candidates[i, j]: may i be a parent of j? precedes[i, j], a strict partial order: i comes before j."""
    d = len(candidates)
    left, found = np.ones(d, dtype=bool), list[tuple[int, float]]()
    known: dict[int, tuple[tuple[int, ...], Dependence]] = {}
    while left.any():
        can_be_last = np.flatnonzero(left & ~precedes[:, left].any(axis=1)).tolist()
        for j in can_be_last:
            parents = _among(candidates[:, j], left)
            if j not in known or known[j][0] != parents:
                known[j] = parents, test(j, parents)
        others = {j: [i for i in np.flatnonzero(left).tolist() if i != j] for j in can_be_last}
        sink = max(can_be_last, key=lambda j: known[j][1].total(others[j]))
        found.append((sink, known[sink][1].on(others[sink])))
        left[sink] = False
        if listener is not None:
            listener(Progress("sinks", len(found), d))
    order, log_p_values = zip(*reversed(found), strict=True)
    return Ordered(list(order), list(log_p_values))


def _among(column: np.ndarray, left: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(column & left).tolist())


def eliminate(
    test: Tester, target: int, parents: list[int], before: list[int], log_alpha: float, required: np.ndarray
) -> list[int]:
    """Phase 2, of one variable: those of its candidate parents that it cannot do without.

    They are tried in the given order: the least important first. Required ones (d,) stay.
    """
    kept = list(parents)
    for parent in parents:
        rest = [other for other in kept if other != parent]
        if not required[parent] and test(target, tuple(sorted(rest))).on(before) >= log_alpha:
            kept = rest
    return kept
