"""Cells: what is compared with what."""

import pytest

from grandag.reproduction.result_table import Cell, Figure, Run


def cell(value, *paper):
    runs = () if value is None else (Run("key", "gsf", "data", {}, "done", measures={"SID": value}),)
    return Cell("GSF", "ER1", "SID", runs, paper)


@pytest.mark.parametrize(
    ("value", "paper", "expected"),
    [
        ((3.0,), [Figure(2.0, 0.5)], (2.0,)),
        ((3.0, 5.0), [Figure(2.0, 0.5), Figure(6.0, 2.0)], (2.0, -0.5)),
        ((3.0, 5.0), [Figure(2.0, 0.0), Figure(6.0, 2.0)], (None, -0.5)),
        ((3.0, 5.0), [Figure(2.0), Figure(6.0, 2.0)], (None, -0.5)),
        ((4.0,), [Figure(2.0, 0.5), Figure(6.0, 2.0)], (4.0, -1.0)),
        ((3.0, 5.0), [Figure(4.0, 0.5)], (-2.0, 2.0)),
        ((3.0,), [Figure(2.0)], (None,)),
        ((3.0,), [], ()),
        (None, [Figure(2.0, 0.5)], ()),
    ],
)
def test_differences_are_in_place(value, paper, expected):
    assert cell(value, *paper).differences == expected
