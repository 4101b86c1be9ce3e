"""How training went: the constraint, the likelihood, and the paper's figure of A_phi over the iterations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from grandag.learned import Learned
from grandag.report.charts import Axis, Line, chart, thinned

__all__ = ["connectivity_chart", "training_charts"]

_MOST_EVALUATIONS = 600
"""In a chart."""
_MOST_SNAPSHOTS = 150
"""Of A_phi in its chart."""
_MOST_OTHERS = 400
"""Entries of A_phi that are no edges; the largest. The chart says how many more there are."""

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
            unit = "mean per variable, on the scale of training" if len(known) > 1 else title.lower()
            yield chart(title, lines, x, y, x_label=x_label, y_label=unit)


def _without_start(values: np.ndarray) -> np.ndarray:
    """Values without the lowest hundredth: the first steps would flatten all others."""
    finite = values[np.isfinite(values)]
    return np.asarray(finite[finite >= np.quantile(finite, 0.01)]) if finite.size else finite


def connectivity_chart(learned: Learned, true: np.ndarray | None, parameters: Mapping[str, Any]) -> Iterator[Markup]:
    """The paper's figure: entries of A_phi as training proceeds, those of true edges in green and others in red.

    Without a known truth the edges of the final graph are marked. Nothing if A_phi was not recorded.
    """
    history, trace = learned.matrices.get("A_phi_trace"), learned.trace
    if history is None or trace is None or not len(history):
        return
    kept = thinned(len(history), _MOST_SNAPSHOTS)
    steps, history = trace["iteration"].to_numpy()[kept], history[kept]
    is_marked, largest = learned.adjacency if true is None else true, history.max(axis=0)
    others = np.argwhere((largest > 0) & ~is_marked)
    others = others[np.argsort(-largest[tuple(others.T)], kind="stable")]
    edges = np.argwhere((largest > 0) & is_marked)
    epsilon = float(parameters["mask_threshold"])
    looks = (
        ("edges of the final graph", "line-one", "line-other")
        if true is None
        else ("true edges", "line-true", "line-false")
    )
    marks = [
        Line("all others", looks[2], _until_masked(steps, history, others[:_MOST_OTHERS])),
        Line(*looks[:2], _until_masked(steps, history, edges)),
        Line("threshold ε: smaller entries are masked", "line-threshold", [(steps[[0, -1]], np.full(2, epsilon))]),
    ]
    y = Axis.over([*largest[largest > 0], (epsilon or 1e-8) / 10], is_log=True)
    n_hidden = max(0, len(others) - _MOST_OTHERS)
    note = f"Left out: {n_hidden:,} other entries, none of which was ever larger." if n_hidden else ""
    figure = chart(
        "Entries of Aφ as training proceeds", marks, Axis.over(steps), y, x_label="iteration",
        y_label="Aφ, on a logarithmic axis", note=note,
    )  # fmt: skip
    yield Markup('<div class="whole">{}</div>').format(figure)


def _until_masked(steps: np.ndarray, history: np.ndarray, pairs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """One line per pair, up to its first zero, which lies on the lower border."""
    lines = []
    for i, j in pairs:
        masked = np.flatnonzero(history[:, i, j] <= 0)
        end = masked[0] + 1 if masked.size else len(steps)
        lines.append((steps[:end], history[:end, i, j]))
    return lines
