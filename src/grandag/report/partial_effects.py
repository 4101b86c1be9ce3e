"""The effect of one parent on its child, by the fitted conditionals.

    f(x) = mean over rows of E[child | this parent = x, the others as in the row], minus its mean over x

(Friedman 2001, partial dependence). In an additive model this is the parent's own curve.

Where the parent has labels, or the child three or more, there are bars: the mean of the child, or the probability of
each of its labels, averaged in the same way over rows in which the parent is set to a label, or to some quantiles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from grandag.distributions import Bernoulli, Categorical
from grandag.kinds import LABELLED
from grandag.model import CausalModel
from grandag.report.charts import Axis, Band, Bars, Line, Names, Points, chart, thinned
from grandag.report.page import general

__all__ = ["LabelEffect", "PartialEffect", "effect_chart", "has_bars", "label_effect", "partial_effect"]

_PLACES, _ROWS = 50, 200
"""Maximum number of values of x, and of rows of the table to average over."""


_QUANTILES = (0.1, 0.5, 0.9)
_MOST_LABELS = 6
"""Labels of a child with bars of their own: the most probable ones."""


class LabelEffect(NamedTuple):
    """One group of bars for each value that the parent is set to."""

    places: tuple[str, ...]  # labels or numbers of the parent
    labels: tuple[str, ...]  # of the child; one empty one if it is a number
    height: np.ndarray  # (places, labels) mean of the child, or probabilities


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


def label_effect(model: CausalModel, values: np.ndarray, source: int, target: int) -> LabelEffect:
    """The mean of the child, or the probabilities of its labels, for some values of the parent, by rows of a table."""
    parents = np.flatnonzero(model.adjacency[:, target])
    conditional, place = model.conditionals[target], int(np.searchsorted(parents, source))
    parent, child = model.columns[source], model.columns[target]
    settings = np.arange(float(len(parent.labels)))
    if parent.kind not in LABELLED:
        settings = np.unique(np.quantile(values[:, source], _QUANTILES))
    rows = values[thinned(len(values), _ROWS)][:, parents]
    heights = []
    for setting in settings:
        rows[:, place] = setting
        found = conditional.given(rows)
        if isinstance(found, Bernoulli | Categorical):
            heights.append(found.probabilities().mean(axis=0))
        else:
            heights.append(np.array([found.mean.mean()]))
    places = parent.labels if parent.kind in LABELLED else tuple(map(general, settings))
    return LabelEffect(places, child.labels if child.kind in LABELLED else ("",), np.array(heights))


def has_bars(model: CausalModel, source: int, target: int) -> bool:
    """Is the effect of an edge one of labels, or on three and more of them?"""
    return model.columns[source].kind in LABELLED or model.columns[target].kind == "categorical"


def effect_chart(model: CausalModel, values: np.ndarray, source: int, target: int) -> Markup:
    """The effect of an edge as a curve, or as bars where labels are in it."""
    names = model.names[source], model.names[target]
    if has_bars(model, source, target):
        return _bars(label_effect(model, values, source, target), *names)
    return _curve(partial_effect(model, values, source, target), *names)


def _bars(found: LabelEffect, source: str, target: str) -> Markup:
    """Groups of bars; of two labels of the child only the second, whose probability is that of the first's opposite."""
    shown = np.sort(np.argsort(-found.height.mean(axis=0), kind="stable")[:_MOST_LABELS])
    shown = shown[1:] if len(found.labels) == 2 else shown
    width = 0.8 / len(shown)
    middles = np.arange(len(found.places)) - 0.4 + width / 2
    marks = [
        Bars(found.labels[label], f"bar-{k + 1}", middles + k * width, found.height[:, label], width)
        for k, label in enumerate(shown)
    ]
    of_what = f"mean of {target}"
    if found.labels != ("",):
        of_what = f"probability of {target}" + (f" = {found.labels[shown[0]]}" if len(shown) == 1 else "")
    y = Axis.over(found.height[:, shown].ravel(), with_zero=True)
    left_out = len(found.labels) - _MOST_LABELS
    note = f"The {left_out} least probable labels are left out." if left_out > 0 else ""
    title = f"{source} → {target}"
    return chart(title, marks, Names.of(found.places), y, x_label=source, y_label=of_what, note=note)


def _curve(found: PartialEffect, source: str, target: str) -> Markup:
    """The curve with its band and points; a few points far off lie on the frame."""
    y = Axis.over([*np.quantile(found.partial_residual, [0.01, 0.99]), *found.low, *found.high])
    marks: list[Line | Points | Band] = [
        Points("", "point", found.parent, found.partial_residual),
        Band("", "band", found.x, found.low, found.high),
        Line("", "line-one", [(found.x, found.effect)]),
    ]
    return chart(f"{source} → {target}", marks, Axis.over(found.x), y, x_label=source, y_label=f"effect on {target}")
