"""Figure 1 of the paper: the entries of A_phi as training proceeds, on a logarithmic axis.

True edges are green and all others red, as in the paper. Where the truth is not known, the edges of the final graph are
marked instead. The horizontal line is the threshold epsilon, below which an entry is masked for good.
"""

from __future__ import annotations

import numpy as np

from grandag.report.charts import Axis, Chart, Line, thinned

__all__ = ["connectivity_over_training"]

_MOST_SNAPSHOTS = 150
"""The largest number of snapshots of A_phi that are drawn."""
_MOST_OTHERS = 400
"""The largest number of entries drawn that are no marked edges; the chart says how many more there are."""

_LOOKS = {
    True: ("true edges", "line-true", "line-false"),
    False: ("edges of the final graph", "line-one", "line-other"),
}
"""The name and look of the marked edges and the look of the others, by whether the marked ones are true."""


def connectivity_over_training(
    iterations: np.ndarray, A_phi: np.ndarray, marked: np.ndarray, *, are_true: bool, epsilon: float
) -> Chart:
    """The chart of A_phi over training.

    Args:
        iterations: Iterations (t,) at which A_phi was recorded.
        A_phi: Weighted adjacency matrices (t, d, d), one per iteration.
        marked: Adjacency matrix (d, d) of the edges to be marked.
        are_true: Whether the marked edges are the true ones or those of the final graph.
        epsilon: The threshold at and below which entries are masked.
    """
    kept = thinned(len(A_phi), _MOST_SNAPSHOTS)
    steps, history = iterations[kept], A_phi[kept]
    largest = history.max(axis=0)
    others = np.argwhere((largest > 0) & ~marked)
    others = others[np.argsort(-largest[tuple(others.T)], kind="stable")]
    name, look, look_of_others = _LOOKS[are_true]
    marks = [
        Line("all others", look_of_others, _until_masked(steps, history, others[:_MOST_OTHERS])),
        Line(name, look, _until_masked(steps, history, np.argwhere((largest > 0) & marked))),
        Line("threshold ε: smaller entries are masked", "line-threshold", [(steps[[0, -1]], np.full(2, epsilon))]),
    ]
    y = Axis.over([*largest[largest > 0], (epsilon or 1e-8) / 10], is_log=True)
    n_hidden = max(0, len(others) - _MOST_OTHERS)
    note = f"Left out: {n_hidden:,} other entries, none of which was ever larger." if n_hidden else ""
    title, y_label = "Entries of Aφ as training proceeds", "Aφ, on a logarithmic axis"
    return Chart(title, marks, Axis.over(steps), y, "iteration", y_label, note)


def _until_masked(steps: np.ndarray, history: np.ndarray, pairs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """One line per pair, up to its first zero, which lies on the lower edge of the chart."""
    lines = []
    for i, j in pairs:
        masked = np.flatnonzero(history[:, i, j] <= 0)
        end = masked[0] + 1 if masked.size else len(steps)
        lines.append((steps[:end], history[:end, i, j]))
    return lines
