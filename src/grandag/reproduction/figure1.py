"""The paper's figure: entries of A_phi over training, as numbers and as a drawing.

True edges in green, others in red and dashed, on a logarithmic scale; the horizontal line is the threshold epsilon,
below which an entry is masked for good.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from grandag.reproduction.tasks import Outcome

__all__ = ["curves_csv", "curves_svg"]

_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 24, 28, 44
_EPSILON = 1e-4
_LOWEST = 1e-5
_STEPS = [factor * 10**power for power in range(18) for factor in (1, 2, 5)]
_STYLES = {True: 'stroke="#1a7f37"', False: 'stroke="#cf222e" stroke-dasharray="4 3"'}


def _arrays(outcome: Outcome) -> tuple[np.ndarray, np.ndarray]:
    """Iterations (t,) and A_phi (t, d, d)."""
    trace: dict[str, Any] = outcome.trace or {}
    return np.asarray(trace["iterations"]), np.asarray(trace["A_phi"])


def curves_csv(outcome: Outcome) -> str:
    """One line per evaluation and pair: iteration, source, target, A_phi, is_true."""
    iterations, A_phi = _arrays(outcome)
    truth = {(i, j) for i, j in outcome.truth}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["iteration", "source", "target", "A_phi", "is_true"])
    for iteration, matrix in zip(iterations, A_phi, strict=True):
        for i, source in enumerate(outcome.names):
            for j, target in enumerate(outcome.names):
                if i != j:
                    writer.writerow([int(iteration), source, target, f"{matrix[i, j]:.6g}", int((i, j) in truth)])
    return file.getvalue()


def curves_svg(outcome: Outcome) -> str:
    """The figure as an SVG document."""
    iterations, A_phi = _arrays(outcome)
    top_power = math.ceil(math.log10(A_phi.max(initial=1.0)))
    scale = _Scale(float(iterations.max(initial=1)), math.log10(_LOWEST), top_power)
    truth = {(i, j) for i, j in outcome.truth}
    d = len(outcome.names)
    pairs = sorted(((i, j) for i in range(d) for j in range(d) if i != j), key=lambda pair: pair in truth)
    curves = [
        f'<polyline fill="none" stroke-width="1" {_STYLES[(i, j) in truth]} points="{points}"><title>'
        f"{_escaped(outcome.names[i])} → {_escaped(outcome.names[j])}</title></polyline>"
        for i, j in pairs
        if (points := scale.points(iterations, A_phi[:, i, j]))
    ]
    label = f"A_phi over {int(iterations[-1]):,} iterations: {len(truth)} true edges green, others red and dashed"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'font-family="sans-serif" font-size="12" aria-label="{label}">',
            f"<title>{label}</title>",
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
            *scale.axes(),
            *curves,
            "</svg>",
            "",
        ]
    )


class _Scale:
    """Iterations across, powers of ten upwards."""

    def __init__(self, last: float, low: float, high: float) -> None:
        self.last, self.low, self.high = last, low, high

    def x(self, iteration: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * iteration / self.last

    def y(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share

    def points(self, iterations: np.ndarray, values: np.ndarray) -> str:
        """A curve up to where it falls below the picture; what is masked has no curve any more."""
        visible = int(np.argmax(values < _LOWEST)) if (values < _LOWEST).any() else len(values)
        pairs = zip(iterations[:visible], values[:visible], strict=True)
        return " ".join(f"{self.x(iteration):.1f},{self.y(value):.1f}" for iteration, value in pairs)

    def axes(self) -> Iterator[str]:
        for power in range(round(self.low), round(self.high) + 1):
            y = self.y(10.0**power)
            yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
            yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">1e{power}</text>'
        yield from self._ticks()
        y = self.y(_EPSILON)
        ends = f'x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'
        yield f'<line {ends} stroke="black" stroke-dasharray="8 4"/>'
        yield f'<text x="{_LEFT}" y="16">A_phi</text>'

    def _ticks(self) -> Iterator[str]:
        step = next(step for step in _STEPS if self.last <= 8 * step)
        for iteration in range(0, int(self.last) + 1, step):
            yield f'<text x="{self.x(iteration):.1f}" y="{_HEIGHT - 24}" text-anchor="middle">{iteration:,}</text>'
        yield f'<text x="{_WIDTH / 2:.0f}" y="{_HEIGHT - 6}" text-anchor="middle">iteration</text>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
