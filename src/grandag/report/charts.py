"""Charts as HTML: the marks are an SVG stretched to any width; the labels are text of the page and keep their size.

Marks have integer coordinates from 0 to 1000 in both directions. Their strokes do not scale, so that a line of no
length with round ends is a point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from grandag.report.page import general

__all__ = [
    "SIZE",
    "Axis",
    "Band",
    "Bars",
    "Chart",
    "Line",
    "Mark",
    "Names",
    "Points",
    "box_strip",
    "chart",
    "thinned",
    "tick_labels",
]

_LONGEST = 14
"""Letters of a name below an axis."""

SIZE = 1000
"""The side of the square in which marks have their coordinates."""


@dataclass(frozen=True)
class Axis:
    """From numbers to places between 0 and 1000."""

    low: float
    high: float
    is_log: bool = False

    @classmethod
    def over(cls, values: Iterable[float], *, is_log: bool = False, with_zero: bool = False) -> Axis:
        """An axis that holds all finite values (of a logarithmic one: all positive values)."""
        array = np.fromiter(values, dtype=np.float64)
        array = array[np.isfinite(array) & ((array > 0) | (not is_log))]
        if with_zero:
            array = np.append(array, 0.0)
        low, high = (float(array.min()), float(array.max())) if array.size else (1.0, 1.0)
        if is_log:
            low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
            return cls(low, high if high > low else 10 * low, is_log=True)
        room = 0.04 * (high - low) or 0.5 * abs(high) or 1.0
        return cls(low if with_zero and low == 0 else low - room, high + room)

    def __call__(self, values: np.ndarray | float) -> np.ndarray:
        """Places as whole numbers; what lies outside is put on the frame."""
        array = np.asarray(values, dtype=np.float64)
        low, high = (math.log10(self.low), math.log10(self.high)) if self.is_log else (self.low, self.high)
        if self.is_log:
            array = np.log10(np.maximum(array, self.low))
        return np.asarray(np.rint(SIZE * np.clip((array - low) / (high - low), 0, 1)), dtype=np.int64)

    def ticks(self, most: int = 5) -> list[float]:
        """At most so many round numbers: powers of ten, or multiples of 1, 2 or 5 times one."""
        if self.is_log:
            first, last = round(math.log10(self.low)), round(math.log10(self.high))
            stride = math.ceil((last - first + 1) / most)
            return [10.0**power for power in range(first, last + 1, stride)]
        rough = (self.high - self.low) / most
        unit = 10.0 ** math.floor(math.log10(rough))
        step = unit * next(factor for factor in (1, 2, 5, 10) if unit * factor >= rough * (1 - 1e-9))
        multiples = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return [k * step for k in multiples]

    def label(self, tick: float) -> str:
        """A tick as text."""
        if self.is_log and not 1e-2 <= tick <= 1e3:
            return f"1e{round(math.log10(tick))}".replace("-", "\u2212")
        return f"{tick:,.0f}" if abs(tick) >= 1e3 else general(tick if abs(tick) > 1e-12 else 0.0)


@dataclass(frozen=True)
class Names(Axis):
    """An axis with a place for each of some names, at 0, 1, 2, ..."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str]) -> Names:
        """One unit for each name."""
        return cls(-0.5, len(names) - 0.5, names=tuple(names))

    def ticks(self, most: int = 5) -> list[float]:
        """All places; of very many, so many times two."""
        return [float(place) for place in thinned(len(self.names), 2 * most)]

    def label(self, tick: float) -> str:
        """The name of a place."""
        name = self.names[round(tick)]
        return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


@dataclass(frozen=True)
class Line:
    """Lines of one look; `name` is for the legend."""

    name: str
    look: str
    paths: Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Points:
    """Points of one look."""

    name: str
    look: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Band:
    """The area between two lines."""

    name: str
    look: str
    x: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Bars:
    """Bars from 0 upwards or downwards."""

    name: str
    look: str
    x: np.ndarray  # their middles
    y: np.ndarray
    width: float


Mark = Line | Points | Band | Bars


@dataclass(frozen=True)
class Chart:
    """What a chart shows, however it is drawn: `html` for a page, `grandag.report.chart_file` for a file of its own."""

    title: str
    marks: Sequence[Mark]
    x: Axis
    y: Axis
    x_label: str
    y_label: str
    note: str = ""

    @property
    def label(self) -> str:
        """The chart in words, for those who cannot see it."""
        return f"{self.title}: {self.y_label} by {self.x_label}"

    @property
    def drawn(self) -> Markup:
        """Grid and marks as paths in the square."""
        grid = "".join(f"M0 {SIZE - self.y(tick)}h{SIZE}" for tick in self.y.ticks())
        marks = Markup("").join(_mark(mark, self.x, self.y) for mark in self.marks)
        return Markup('<path class="grid" d="{}"/>{}').format(grid, marks)

    @property
    def html(self) -> Markup:
        """A figure of a page, with title, axes and, for two or more marks, a legend."""
        levels = Markup("").join(
            Markup('<span style="bottom:{}%">{}</span>').format(self.y(tick) / 10, self.y.label(tick))
            for tick in self.y.ticks()
        )
        return Markup(
            '<figure class="chart"><figcaption>{title}</figcaption>{legend}<p class="unit">{y_label}</p>'
            '<div class="plot" role="img" aria-label="{label}"><div class="levels">{levels}</div>'
            '<svg viewBox="0 0 {size} {size}" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'
            '<div class="ticks">{ticks}</div></div><p class="unit across">{x_label}</p>{note}</figure>'
        ).format(
            title=self.title,
            legend=_legend([mark for mark in self.marks if mark.name]),
            y_label=self.y_label,
            x_label=self.x_label,
            label=self.label,
            levels=levels,
            size=SIZE,
            drawn=self.drawn,
            ticks=tick_labels(self.x),
            note=Markup('<p class="note">{}</p>').format(self.note) if self.note else "",
        )


def chart(title: str, marks: Sequence[Mark], x: Axis, y: Axis, *, x_label: str, y_label: str, note: str = "") -> Markup:
    """A chart as a figure of a page."""
    return Chart(title, marks, x, y, x_label, y_label, note).html


def _legend(marks: Sequence[Mark]) -> Markup:
    """What each look means, where there are several."""
    key = Markup(
        '<li><svg class="key" viewBox="0 0 24 10" aria-hidden="true"><path class="{}" d="M2 5h20"/></svg>{}</li>'
    )
    keys = Markup("").join(key.format(mark.look, mark.name) for mark in marks)
    return Markup('<ul class="legend">{}</ul>').format(keys) if len(marks) > 1 else Markup("")


def thinned(n: int, most: int) -> np.ndarray:
    """At most so many of the places 0 to n - 1, evenly spaced, with the first and the last."""
    return np.unique(np.linspace(0, max(0, n - 1), min(n, most)).round().astype(np.int64))


def tick_labels(axis: Axis, most: int = 5) -> Markup:
    """The numbers below a horizontal axis."""
    places = [(axis(tick) / 10, axis.label(tick)) for tick in axis.ticks(most)]
    return Markup("").join(Markup('<span style="left:{}%">{}</span>').format(*place) for place in places)


def _mark(mark: Mark, x: Axis, y: Axis) -> Markup:
    if isinstance(mark, Line):
        d = "".join(_path(x(xs), y(ys)) for xs, ys in mark.paths)
    elif isinstance(mark, Points):
        d = "".join(f"M{px} {SIZE - py}h0" for px, py in zip(x(mark.x), y(mark.y), strict=True))
    elif isinstance(mark, Bars):
        sides = zip(x(mark.x - mark.width / 2), x(mark.x + mark.width / 2), y(mark.y), strict=True)
        d = "".join(f"M{left} {SIZE - y(0.0)}V{SIZE - top}H{right}V{SIZE - y(0.0)}z" for left, right, top in sides)
    else:
        places = np.concatenate([x(mark.x), x(mark.x)[::-1]])
        d = _path(places, np.concatenate([y(mark.low), y(mark.high)[::-1]])) + "z"
    return Markup('<path class="{}" d="{}"/>').format(mark.look, d)


def _path(x: np.ndarray, y: np.ndarray) -> str:
    """A line through places, in steps relative to the place before, which take fewer characters."""
    if not x.size:
        return ""
    steps = zip(np.diff(x), -np.diff(y), strict=True)
    return f"M{x[0]} {SIZE - y[0]}" + ("l" + " ".join(f"{dx} {dy}" for dx, dy in steps) if x.size > 1 else "h0")


def box_strip(groups: Sequence[np.ndarray], references: Sequence[tuple[float, float | None]], axis: Axis) -> Markup:
    """Box plots beside each other's axis: one per group, each with all its values, and means with deviations below.

    A box ends at the quartiles, its whiskers at the extremes.
    """
    height = SIZE // max(1, len(groups))
    parts = []
    for k, values in enumerate(groups):
        middle, half = k * height + height // 2 - 60, min(200, height // 4)
        low, first, median, third, high = axis(np.quantile(values, [0, 0.25, 0.5, 0.75, 1])).tolist()
        parts += [
            f'<path class="whisker" d="M{low} {middle}H{first}M{third} {middle}H{high}"/>',
            f'<path class="box" d="M{first} {middle - half}H{third}V{middle + half}H{first}z"/>',
            f'<path class="median" d="M{median} {middle - half}V{middle + half}"/>',
            f'<path class="value" d="{"".join(f"M{place} {middle}h0" for place in axis(values).tolist())}"/>',
        ]
    for k, (mean, deviation) in enumerate(references):
        at = min(SIZE - 90, (k + 1) * SIZE // len(references) - 90)
        if deviation is not None:
            ends = axis(np.array([mean - deviation, mean + deviation])).tolist()
            parts.append(f'<path class="reference" d="M{ends[0]} {at}H{ends[1]}"/>')
        parts.append(f'<path class="reference-mean" d="M{axis(mean)} {at}h0"/>')
    strip = Markup('<svg class="strip" viewBox="0 0 {0} {0}" preserveAspectRatio="none" aria-hidden="true">{1}</svg>')
    return strip.format(SIZE, Markup("".join(parts)))
