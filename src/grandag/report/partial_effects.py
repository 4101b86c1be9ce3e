"""The effect of one parent on its child, by the fitted conditionals.

    f(x) = mean over rows of E[child | this parent = x, the others as in the row], minus its mean over x

(Friedman 2001, partial dependence). In an additive model this is the parent's own curve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from grandag.model import CausalModel
from grandag.report.charts import Axis, Band, Line, Points, chart, thinned

__all__ = ["PartialEffect", "partial_effect", "partial_effect_chart"]

_PLACES, _ROWS = 50, 200
"""Maximum number of values of x, and of rows of the table to average over."""


class PartialEffect(NamedTuple):
    """The curve at some places, and rows of the table beside it."""

    x: np.ndarray
    effect: np.ndarray
    low: np.ndarray  # the middle 80 % of the rows' own curves, each centred: no wider than the curve
    high: np.ndarray  # where the effect does not depend on the other parents
    parent: np.ndarray  # by row
    partial_residual: np.ndarray  # by row: the curve, and what the conditional leaves unexplained


def partial_effect(model: CausalModel, values: np.ndarray, source: int, target: int) -> PartialEffect:
    """The effect of an edge, between the 1 % and the 99 % quantile of the parent in a table (n, d)."""
    parents = np.flatnonzero(model.adjacency[:, target])
    conditional, place = model.conditionals[target], int(np.searchsorted(parents, source))
    low, high = np.quantile(values[:, source], [0.01, 0.99])
    x = np.linspace(low, high, _PLACES)
    inside = values[(values[:, source] >= low) & (values[:, source] <= high)]
    rows = inside[thinned(len(inside), _ROWS)]
    inputs = np.repeat(rows[:, parents], _PLACES, axis=0)
    inputs[:, place] = np.tile(x, len(rows))
    curves = conditional.given(inputs).mean.reshape(len(rows), _PLACES)
    curves = curves - curves.mean(axis=1, keepdims=True)
    effect = curves.mean(axis=0)
    residuals = rows[:, target] - conditional.given(rows[:, parents]).mean
    partial = np.interp(rows[:, source], x, effect) + residuals
    lowest, highest = np.quantile(curves, [0.1, 0.9], axis=0)
    return PartialEffect(x, effect, lowest, highest, rows[:, source], partial)


def partial_effect_chart(found: PartialEffect, source: str, target: str) -> Markup:
    """The curve with its band and points; a few points far off lie on the frame."""
    y = Axis.over([*np.quantile(found.partial_residual, [0.01, 0.99]), *found.low, *found.high])
    marks: list[Line | Points | Band] = [
        Points("", "point", found.parent, found.partial_residual),
        Band("", "band", found.x, found.low, found.high),
        Line("", "line-one", [(found.x, found.effect)]),
    ]
    return chart(f"{source} → {target}", marks, Axis.over(found.x), y, x_label=source, y_label=f"effect on {target}")
