"""The figure of A_phi over training."""

import csv
import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from grandag.reproduction.figure1 import curves_csv, curves_svg
from grandag.reproduction.tasks import Outcome

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def outcome():
    """X0 -> X<1> is true and stays; the opposite falls below the picture after one evaluation."""
    A_phi = [[[0, 0.1], [0.1, 0]], [[0, 0.2], [0.001, 0]], [[0, 0.3], [0, 0]]]
    trace = {"iterations": [0, 100, 200], "A_phi": A_phi}
    return Outcome("key", "done", names=["X0", "X<1>"], truth=[[0, 1]], trace=trace)


def test_numbers(outcome):
    rows = list(csv.DictReader(io.StringIO(curves_csv(outcome))))
    assert len(rows) == 6
    assert rows[2] == {"iteration": "100", "source": "X0", "target": "X<1>", "A_phi": "0.2", "is_true": "1"}
    assert [row["is_true"] for row in rows] == ["1", "0"] * 3


def test_drawing(outcome):
    root = ElementTree.fromstring(curves_svg(outcome))
    wrong, true = root.findall(f"{SVG}polyline")
    assert true.find(f"{SVG}title").text == "X0 → X<1>"
    assert true.get("stroke") == "#1a7f37"
    assert true.get("stroke-dasharray") is None
    assert wrong.get("stroke-dasharray") is not None
    assert (len(true.get("points").split()), len(wrong.get("points").split())) == (3, 2)
    heights = [float(point.split(",")[1]) for point in true.get("points").split()]
    assert heights == sorted(heights, reverse=True)  # growing values go up
    assert {"0", "100", "200", "1e-4", "1e0"} <= {text.text for text in root.findall(f"{SVG}text")}


def test_one_evaluation_without_any_weight(outcome):
    trace = {"iterations": [0], "A_phi": [[[0.0, 0.0], [0.0, 0.0]]]}
    root = ElementTree.fromstring(curves_svg(replace(outcome, trace=trace)))
    assert not root.findall(f"{SVG}polyline")
    assert {"0", "1e-5", "1e0"} <= {text.text for text in root.findall(f"{SVG}text")}
