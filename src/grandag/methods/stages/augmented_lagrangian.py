"""The augmented Lagrangian method: minimise f subject to h = 0 by a sequence of subproblems.

    min f + lambda h + mu / 2 h^2;    then lambda <- lambda + mu h, and mu grows while h does not fall fast enough

GraN-DAG, NOTEARS and DAG-GNN share the multipliers; the last two also share the loop (Zheng et al. 2018), in which mu
grows until h has fallen to a quarter, before lambda is updated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Multipliers", "Solved", "minimise_subject_to_h"]


@dataclass
class Multipliers:
    """lambda and mu."""

    lagrange_multiplier: float = 0.0
    penalty: float = 1.0

    def terms(self, h: float) -> float:
        """lambda h + mu / 2 h^2"""
        return self.lagrange_multiplier * h + 0.5 * self.penalty * h * h

    def slope(self, h: float) -> float:
        """The derivative of the terms by h."""
        return self.lagrange_multiplier + self.penalty * h

    def raise_lagrange_multiplier(self, h: float) -> None:
        """lambda <- lambda + mu h"""
        self.lagrange_multiplier += self.penalty * h


class Solved(NamedTuple):
    """The end of a subproblem: h, and whether a larger penalty would make things worse."""

    h: float
    is_stuck: bool = False


def minimise_subject_to_h(
    solve: Callable[[Multipliers], Solved],
    *,
    tolerance: float,
    max_penalty: float,
    max_subproblems: int = 100,
    penalty_growth: float = 10.0,
    sufficient_decrease: float = 0.25,
) -> bool:
    """Solve subproblems until h is at most the tolerance (True), or mu or the updates of lambda reach their limit.

    `solve` goes on from where it stopped the last time.
    """
    multipliers, h = Multipliers(), math.inf
    for _ in range(max_subproblems):
        h_before = h
        h, is_stuck = solve(multipliers)
        while not (h <= sufficient_decrease * h_before or is_stuck or multipliers.penalty >= max_penalty):
            multipliers.penalty *= penalty_growth
            h, is_stuck = solve(multipliers)
        if h <= tolerance or multipliers.penalty >= max_penalty:
            break
        multipliers.raise_lagrange_multiplier(h)
    return h <= tolerance
