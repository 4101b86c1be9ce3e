"""Maximisation of the evidence over its hyper-parameters: BFGS within bounds, compiled as a whole.

The problems are small (p + 3 numbers) and one evaluation is expensive, so the inverse Hessian is kept as a matrix and
handed on: from few rows to all of them, where it only shrinks with the number of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grandag.engine.compiled import compiled
from grandag.evidence.regression import block_evidence

__all__ = ["maximise"]

_LARGEST_STEP = 1.5
"""Of a logarithm: a factor of 4.5."""
_SUFFICIENT = 1e-3
"""Share of the predicted increase that a step has to bring (Armijo)."""

_OPTIMISM = 3.0
"""What a fit may still gain, in units of slope times step, which is twice what a parabola gains."""


@compiled
def maximise(
    inputs: Any,
    target: Any,
    start: Any,
    lower: Any,
    upper: Any,
    inverse_hessian: Any,
    n_blocks: int,
    workspace: Any,
    tolerance: float,
    max_evaluations: int,
    wanted: float,
) -> tuple[Any, Any, Any]:
    """Hyper-parameters of a local maximum, its evidence, and the number of evaluations.

    Ends when a step promises less than `tolerance` nats. Gives up, with evidence -inf, when what is `wanted` is out of
    reach. `inverse_hessian`, of minus the evidence, is updated in place.
    """
    at = np.minimum(np.maximum(start, lower), upper)
    value, gradient = block_evidence(inputs, target, at, n_blocks, workspace, True)
    n_evaluations = 1
    step_length = 1.0
    while n_evaluations < max_evaluations:
        free = ~(((at <= lower) & (gradient < 0)) | ((at >= upper) & (gradient > 0)))
        direction = np.where(free, inverse_hessian @ np.where(free, gradient, 0.0), 0.0)
        if value + _OPTIMISM * (direction @ gradient) < wanted:
            return at, -np.inf, n_evaluations
        direction *= min(1.0, _LARGEST_STEP / max(np.abs(direction).max(), 1e-300))
        promise = direction @ gradient
        if not promise > 2 * tolerance:
            break
        proposal = np.minimum(np.maximum(at + step_length * direction, lower), upper)
        new_value, new_gradient = block_evidence(inputs, target, proposal, n_blocks, workspace, True)
        n_evaluations += 1
        if not new_value >= value + _SUFFICIENT * (gradient @ (proposal - at)):
            if step_length < 1e-3:
                break
            step_length *= _shrink(value, step_length * promise, new_value)
            continue
        _update(inverse_hessian, proposal - at, gradient - new_gradient)
        at, value, gradient, step_length = proposal, new_value, new_gradient, 1.0
    return at, value, n_evaluations


@compiled
def _shrink(value, slope, new_value):
    """Where the parabola through value, slope and new value is highest, between a tenth and a half of the step."""
    if not np.isfinite(new_value):
        return 0.1
    return min(0.5, max(0.1, 0.5 * slope / (value + slope - new_value)))


@compiled
def _update(inverse_hessian, step, change):
    """H <- (I - s c^T / s.c) H (I - c s^T / s.c) + s s^T / s.c, unless the curvature s.c is negative."""
    curvature = step @ change
    if curvature <= 1e-10 * np.sqrt((step @ step) * (change @ change)):
        return
    moved = inverse_hessian @ change
    scale = (1 + change @ moved / curvature) / curvature
    for a in range(step.size):
        for b in range(step.size):
            inverse_hessian[a, b] += scale * step[a] * step[b] - (moved[a] * step[b] + step[a] * moved[b]) / curvature
