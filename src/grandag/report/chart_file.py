"""A chart as an SVG document of its own, with its labels and colours inside."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from grandag.report.charts import SIZE, Chart

__all__ = ["chart_file"]

_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 24, 64, 44
_INNER_WIDTH, _INNER_HEIGHT = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
_KEY = 180
"""The width of a key of the legend."""

_STYLE = """
text { font: 12px sans-serif; } .title { font-weight: bold; } path { fill: none; vector-effect: non-scaling-stroke; }
.grid { stroke: #ddd; } .line-one { stroke: #1d4ed8; } .line-two { stroke: #9a5b00; stroke-dasharray: 6 3; }
.line-true { stroke: #15803d; stroke-width: 1.6; } .line-false { stroke: #dc2626; stroke-dasharray: 4 3; }
.line-other { stroke: #94a3b8; } .line-threshold { stroke: #000; stroke-dasharray: 8 4; }
"""


def chart_file(chart: Chart) -> str:
    """The text of an SVG file that shows a chart of lines."""
    document = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">\n'
        "<title>{label}</title>\n<style>{style}</style>\n"
        '<rect width="{width}" height="{height}" fill="white"/>\n'
        '<svg x="{left}" y="{top}" width="{inner_width}" height="{inner_height}" viewBox="0 0 {size} {size}" '
        'preserveAspectRatio="none" overflow="visible">{drawn}</svg>\n{words}\n</svg>\n'
    )
    return str(
        document.format(
            width=_WIDTH,
            height=_HEIGHT,
            label=chart.label,
            style=Markup(_STYLE),
            left=_LEFT,
            top=_TOP,
            inner_width=_INNER_WIDTH,
            inner_height=_INNER_HEIGHT,
            size=SIZE,
            drawn=chart.drawn,
            words=Markup("\n").join([*_titles(chart), *_legend(chart), *_ticks(chart)]),
        )
    )


def _text(x: float, y: float, words: str, look: str = "", anchor: str = "start") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" class="{}" text-anchor="{}">{}</text>').format(x, y, look, anchor, words)


def _titles(chart: Chart) -> Iterator[Markup]:
    yield _text(_LEFT, 18, f"{chart.title} ({chart.y_label})", "title")
    yield _text(_WIDTH / 2, _HEIGHT - 8, " ".join(filter(None, (chart.x_label, chart.note))), anchor="middle")


def _legend(chart: Chart) -> Iterator[Markup]:
    for k, mark in enumerate(mark for mark in chart.marks if mark.name):
        x = _LEFT + k * _KEY
        yield Markup('<path class="{}" d="M{} 40h20"/>').format(mark.look, x)
        yield _text(x + 26, 44, mark.name)


def _ticks(chart: Chart) -> Iterator[Markup]:
    for tick in chart.y.ticks():  # those of the grid
        y = _TOP + _INNER_HEIGHT * (1 - int(chart.y(tick)) / SIZE)
        yield _text(_LEFT - 8, y + 4, chart.y.label(tick), anchor="end")
    for tick in chart.x.ticks(8):
        x = _LEFT + _INNER_WIDTH * int(chart.x(tick)) / SIZE
        yield _text(x, _TOP + _INNER_HEIGHT + 18, chart.x.label(tick), anchor="middle")
