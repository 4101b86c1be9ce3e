"""Minimise a smooth function plus lambda |x|_1 by orthant-wise quasi-Newton steps (Andrew and Gao 2007, OWL-QN).

Within an orthant the objective is smooth. Each iteration takes the L-BFGS direction of the pseudo-gradient (the
steepest of the one-sided derivatives), without the components that point against it, and a step that stops where a
coordinate would change its sign: so zeros are exact, and there is no need to split x into two halves with bounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["Minimum", "minimise"]

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]

_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_STEP = 1e-12


class Minimum(NamedTuple):
    """Where the search ended."""

    x: np.ndarray
    value: float
    n_evaluations: int


class _State(NamedTuple):
    x: np.ndarray
    value: float  # with the L1 term
    gradient: np.ndarray  # of the smooth part


class _Curvature:
    """Changes of x and of the gradient in the last steps: an approximation of the inverse Hessian."""

    def __init__(self, memory: int) -> None:
        self.pairs: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=memory)

    def add(self, step: np.ndarray, change: np.ndarray) -> None:
        """Remember a step along which the function is convex."""
        product = float(step @ change)
        if product > 1e-10 * float(np.sqrt((step @ step) * (change @ change))):
            self.pairs.append((step, change, product))

    def solve(self, vector: np.ndarray) -> np.ndarray:
        """The inverse Hessian times a vector, by the two-loop recursion."""
        result = vector.copy()
        coefficients = []
        for step, change, product in reversed(self.pairs):
            coefficients.append(float(step @ result) / product)
            result -= coefficients[-1] * change
        if self.pairs:
            _, change, product = self.pairs[-1]
            result *= product / float(change @ change)
        for (step, change, product), coefficient in zip(self.pairs, reversed(coefficients), strict=True):
            result += (coefficient - float(change @ result) / product) * step
        return result


def minimise(
    function: Function,
    start: np.ndarray,
    l1: float,
    *,
    tolerance: float = 2.2e-9,
    gradient_tolerance: float = 1e-5,
    max_evaluations: int = 15_000,
    memory: int = 10,
) -> Minimum:
    """Minimise function(x) + l1 |x|_1; `function` returns value and gradient, and may overflow to infinity.

    Ends when a step lowers the value by less than `tolerance` (relative, or absolute below 1), or when no one-sided
    derivative exceeds `gradient_tolerance`. The tolerances are those of scipy's L-BFGS-B.
    """
    state, n_evaluations = _evaluate(function, start, l1), 1
    curvature = _Curvature(memory)
    while n_evaluations < max_evaluations:
        slope = _pseudo_gradient(state, l1)
        if len(slope) == 0 or np.abs(slope).max() <= gradient_tolerance:
            break
        trial, n = _line_search(function, state, slope, curvature, l1)
        n_evaluations += n
        if trial is None:
            if not curvature.pairs:
                break
            curvature = _Curvature(memory)
            continue
        curvature.add(trial.x - state.x, trial.gradient - state.gradient)
        decrease, scale = state.value - trial.value, max(abs(state.value), abs(trial.value), 1.0)
        state = trial
        if decrease <= tolerance * scale:
            break
    return Minimum(state.x, state.value, n_evaluations)


def _evaluate(function: Function, x: np.ndarray, l1: float) -> _State:
    value, gradient = function(x)
    return _State(x, value + l1 * float(np.abs(x).sum()), gradient)


def _pseudo_gradient(state: _State, l1: float) -> np.ndarray:
    """The derivative within the orthant; at 0 the one-sided derivative that is downhill, or 0."""
    sign = np.where(state.x == 0, -np.sign(state.gradient), np.sign(state.x))
    slope: np.ndarray = state.gradient + l1 * sign
    slope[(state.x == 0) & (np.abs(state.gradient) <= l1)] = 0
    return slope


def _line_search(
    function: Function, state: _State, slope: np.ndarray, curvature: _Curvature, l1: float
) -> tuple[_State | None, int]:
    """The first of the steps 1, 1/2, 1/4 ... that lowers the value enough, or None; and the number of evaluations."""
    direction = -curvature.solve(slope)
    direction[direction * slope >= 0] = 0
    orthant = np.where(state.x == 0, -np.sign(slope), np.sign(state.x))
    length = 1.0 if curvature.pairs else min(1.0, 1 / float(np.abs(slope).sum()))
    n_evaluations = 0
    while length > _SMALLEST_STEP and direction.any():
        x = state.x + length * direction
        x[x * orthant < 0] = 0
        trial = _evaluate(function, x, l1)
        n_evaluations += 1
        if trial.value <= state.value + _SUFFICIENT_DECREASE * float(slope @ (x - state.x)):
            return trial, n_evaluations
        length /= 2
    return None, n_evaluations
