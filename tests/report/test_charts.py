"""Axes and marks."""

import re

import numpy as np
import pytest

from grandag.report.charts import Axis, Band, Line, Points, box_strip, chart, thinned
from grandag.report.page import as_json, decimals_of, duration, fixed


def paths(markup, look):
    return re.findall(rf'<path class="{look}" d="([^"]*)"', markup)


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis(0, 10), [0, 2, 4, 6, 8, 10]),
        (Axis(-0.3, 0.7), [-0.2, 0, 0.2, 0.4, 0.6]),
        (Axis(0, 41_000), [0, 10_000, 20_000, 30_000, 40_000]),
        (Axis(1e-8, 1e2, is_log=True), [1e-8, 1e-5, 1e-2, 10]),
        (Axis(1, 100, is_log=True), [1, 10, 100]),
    ],
)
def test_ticks_are_round_numbers_inside(axis, ticks):
    assert axis.ticks() == pytest.approx(ticks)


def test_places():
    assert Axis(-1, 3)(np.array([-1, 0, 3, 5])).tolist() == [0, 250, 1000, 1000]
    assert Axis(1e-4, 1, is_log=True)(np.array([0, 1e-4, 1e-3, 1])).tolist() == [0, 0, 250, 1000]


@pytest.mark.parametrize("values", [[], [3.0], [np.nan, np.inf], [0.0], [-2.0, 5.0]])
@pytest.mark.parametrize("is_log", [True, False])
def test_axis_of_any_values(values, is_log):
    axis = Axis.over(values, is_log=is_log)
    assert axis.low < axis.high
    finite = [value for value in values if np.isfinite(value) and (value > 0 or not is_log)]
    assert all(axis.low <= value <= axis.high for value in finite)
    assert axis.ticks()


@pytest.mark.parametrize(
    ("axis", "tick", "label"),
    [(Axis(0, 1), -0.5, "\u22120.5"), (Axis(0, 1), 25_000, "25,000"), (Axis(1e-9, 1, is_log=True), 1e-8, "1e\u22128")],
)
def test_labels(axis, tick, label):
    assert axis.label(tick) == label


def test_box_has_quartiles_median_extremes_and_reference():
    strip = box_strip([np.arange(5.0)], [(2.0, 1.0)], Axis(0, 4))
    (box,), (whisker,), (median,) = paths(strip, "box"), paths(strip, "whisker"), paths(strip, "median")
    assert re.findall(r"[MH](\d+)", box) == ["250", "750", "250"]
    assert re.findall(r"[MH](\d+)", whisker) == ["0", "250", "750", "1000"]
    assert median.startswith("M500 ")
    assert len(re.findall("h0", *paths(strip, "value"))) == 5
    assert re.findall(r"[MH](\d+)", *paths(strip, "reference")) == ["250", "750"]
    assert paths(strip, "reference-mean")[0].startswith("M500 ")


def test_box_of_one_value_and_of_none():
    assert paths(box_strip([np.array([2.0])], [], Axis(0, 4)), "median")[0].startswith("M500 ")
    strip = box_strip([], [(1.0, None)], Axis(0, 4))
    assert not paths(strip, "box")
    assert not paths(strip, "reference")
    assert paths(strip, "reference-mean")


def test_chart_draws_marks_and_escapes_names():
    x = np.array([0.0, 1.0, 2.0])
    marks = [
        Band("b", "band", x, x - 1, x + 1),
        Points("p", "point", x, x),
        Line("l <i>", "line-one", [(x, 2 - x), (x[:0], x[:0])]),
    ]
    text = chart("a <b> & c", marks, Axis(0, 2), Axis(0, 2), x_label="<x>", y_label="y", note="<n>")
    assert paths(text, "line-one")[-1] == "M0 0l500 500 500 500"
    assert paths(text, "point")[-1] == "M0 1000h0M500 500h0M1000 0h0"
    assert paths(text, "band")[-1].endswith("z")
    for escaped in ("a &lt;b&gt; &amp; c", "l &lt;i&gt;", "&lt;x&gt;", "&lt;n&gt;"):
        assert escaped in text
    assert "<b>" not in text


def test_thinned_keeps_both_ends():
    assert thinned(3, 10).tolist() == [0, 1, 2]
    assert thinned(0, 10).tolist() == []
    many = thinned(1001, 11)
    assert many.tolist() == list(range(0, 1001, 100))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "12 ms"),
        (1.25, "1.2 s"),
        (100.0, "100.0 s"),
        (150.0, "2.5 min"),
        (43200.0, "12.0 h"),
        (np.nan, "\u2013"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_numbers():
    assert fixed(-1.25, 1) == "\u22121.2"
    assert fixed(-0.04, 1) == "0.0"
    assert fixed(1234.5, 0) == "1,234"
    assert decimals_of([1.0, 2.5, 3.25]) == 2
    assert decimals_of([]) == 1


def test_json_cannot_end_its_script():
    text = as_json({"a": "</script><!--", "b": "\u2028"})
    assert "<" not in text
    assert "\u2028" not in text
    assert '"\\u003c/script>\\u003c!--"' in text
