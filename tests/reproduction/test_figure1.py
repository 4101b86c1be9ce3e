"""The figure of A_phi over training, as a file."""

import csv
import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from grandag.reproduction.figure1 import curves_csv, curves_svg
from grandag.reproduction.jobs import JobResult

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def result():
    """X0 -> X<1> is true and stays; the opposite is masked after one evaluation."""
    A_phi = [[[0, 0.1], [0.1, 0]], [[0, 0.2], [0.001, 0]], [[0, 0.3], [0, 0]], [[0, 0.4], [0, 0]]]
    trace = {"iterations": [0, 100, 200, 300], "A_phi": A_phi, "epsilon": 1e-3}
    return JobResult("key", "done", names=["X0", "X<1>"], truth=[[0, 1]], trace=trace)


def test_numbers(result):
    rows = list(csv.DictReader(io.StringIO(curves_csv(result))))
    assert len(rows) == 8
    assert rows[2] == {"iteration": "100", "source": "X0", "target": "X<1>", "A_phi": "0.2", "is_true": "1"}
    assert [row["is_true"] for row in rows] == ["1", "0"] * 4


def drawn(result):
    """The path of each curve by its look, and all texts of the document."""
    root = ElementTree.fromstring(curves_svg(result))
    (chart,) = root.findall(f"{SVG}svg")
    curves = {path.get("class"): path.get("d") for path in chart.findall(f"{SVG}path")}
    return curves, [text.text for text in root.iter(f"{SVG}text")]


def steps(path):
    """The steps (to the right, downwards) of one line."""
    numbers = [int(word) for word in path.partition("l")[2].split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_drawing(result):
    curves, texts = drawn(result)
    assert list(curves) == ["grid", "line-false", "line-true", "line-threshold"]
    assert len(steps(curves["line-true"])) == 3
    assert len(steps(curves["line-false"])) == 2  # to its first zero
    assert all(right > 0 and down < 0 for right, down in steps(curves["line-true"]))  # growing values go up
    assert all(down > 0 for _, down in steps(curves["line-false"]))
    assert {"iteration", "100", "300", "1e\u22124", "1", "true edges", "all others"} <= set(texts)


def test_threshold_is_where_the_axis_says(result):
    """The axis has four powers of ten, 1e-4 to 1: epsilon is a quarter of the way up."""
    curves, _ = drawn(result)
    assert curves["line-threshold"].startswith("M") and curves["line-threshold"].split("l")[0].split()[1] == "750"


def test_one_evaluation_without_any_weight(result):
    trace = {"iterations": [0], "A_phi": [[[0.0, 0.0], [0.0, 0.0]]], "epsilon": 1e-4}
    curves, texts = drawn(replace(result, trace=trace, truth=[]))
    assert curves["line-true"] == curves["line-false"] == ""
    assert "1e\u22125" in texts


def test_every_curve_has_its_colour(result):
    """A file of its own has no page to take its styles from."""
    text = curves_svg(result)
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert all(f".{look} {{ stroke: #" in style for look in ("grid", "line-true", "line-false", "line-threshold"))
