"""The curves of figure 1, A_phi over training, as a drawing and as numbers."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from grandag.report.chart_file import chart_file
from grandag.report.connectivity_over_training import connectivity_over_training
from grandag.reproduction.jobs import JobResult

__all__ = ["curves_csv", "curves_svg"]


def curves_svg(result: JobResult) -> str:
    """The figure as an SVG document."""
    trace: dict[str, Any] = result.trace or {}
    iterations, A_phi = np.asarray(trace["iterations"]), np.asarray(trace["A_phi"])
    return chart_file(
        connectivity_over_training(iterations, A_phi, result.true_adjacency, are_true=True, epsilon=trace["epsilon"])
    )


def curves_csv(result: JobResult) -> str:
    """One line per evaluation and pair: iteration, source, target, A_phi, is_true."""
    trace: dict[str, Any] = result.trace or {}
    truth = {(i, j) for i, j in result.truth}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["iteration", "source", "target", "A_phi", "is_true"])
    for iteration, matrix in zip(trace["iterations"], trace["A_phi"], strict=True):
        for i, source in enumerate(result.names):
            for j, target in enumerate(result.names):
                if i != j:
                    writer.writerow([int(iteration), source, target, f"{matrix[i][j]:.6g}", int((i, j) in truth)])
    return file.getvalue()
