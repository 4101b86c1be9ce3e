"""How training went: the constraint, the likelihood, and figure 1 of the paper, A_phi over the iterations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from grandag.learned import Learned
from grandag.report.charts import Axis, Line, chart, thinned
from grandag.report.connectivity_over_training import connectivity_over_training

__all__ = ["connectivity_chart", "training_charts"]

_MOST_EVALUATIONS = 600
"""The largest number of evaluations in a chart."""

_OBJECTIVES = {
    "Log-likelihood": {"train_log_likelihood": "training batches", "held_out_log_likelihood": "held-out rows"},
    "Objective": {"objective": ""},
    "Evidence lower bound": {"evidence_lower_bound": ""},
}
"""Titles, columns of `trace_` and their names in the legend."""


def training_charts(learned: Learned) -> Iterator[Markup]:
    """h, and likelihoods or objectives, over training; nothing for methods without a trace."""
    trace = learned.trace
    if trace is None or trace.empty:
        return
    x_label = "iteration" if "iteration" in trace else "subproblem"
    kept = thinned(len(trace), _MOST_EVALUATIONS)
    steps = (trace["iteration"].to_numpy() if "iteration" in trace else np.arange(1, len(trace) + 1))[kept]
    x = Axis.over(steps)
    if "h" in trace:
        h = trace["h"].to_numpy(dtype=np.float64)[kept]
        line, y = Line("", "line-one", [(steps, h)]), Axis.over(h, is_log=True)
        yield chart("Acyclicity constraint h", [line], x, y, x_label=x_label, y_label="h, on a logarithmic axis")
    for title, columns in _OBJECTIVES.items():
        known = [
            (name, trace[column].to_numpy(dtype=np.float64)[kept])
            for column, name in columns.items()
            if column in trace
        ]
        if known:
            looks = zip(("line-one", "line-two"), known, strict=False)
            lines = [Line(name, look, [(steps, values)]) for look, (name, values) in looks]
            y = Axis.over(_without_start(np.concatenate([values for _, values in known])))
            unit = "mean per row, on the scale of training" if len(known) > 1 else title.lower()
            yield chart(title, lines, x, y, x_label=x_label, y_label=unit)


def _without_start(values: np.ndarray) -> np.ndarray:
    """Values without the lowest hundredth: the first steps would flatten all others."""
    finite = values[np.isfinite(values)]
    return np.asarray(finite[finite >= np.quantile(finite, 0.01)]) if finite.size else finite


def connectivity_chart(learned: Learned, true: np.ndarray | None, parameters: Mapping[str, Any]) -> Iterator[Markup]:
    """Figure 1 of the paper, if A_phi was recorded; without a truth, the final graph is marked."""
    history, trace = learned.matrices.get("A_phi_trace"), learned.trace
    if history is None or trace is None or not len(history):
        return
    figure = connectivity_over_training(
        trace["iteration"].to_numpy(),
        history,
        learned.adjacency if true is None else true,
        are_true=true is not None,
        epsilon=float(parameters["mask_threshold"]),
    )
    yield Markup('<div class="whole">{}</div>').format(figure.html)
