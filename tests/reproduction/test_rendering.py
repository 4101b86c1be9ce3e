"""A table in each of its forms says the same."""

import csv
import io

import pytest
from rich.console import Console

from grandag.reproduction.rendering import CSV_HEADER, to_csv, to_latex, to_markdown, to_terminal
from grandag.reproduction.result_table import Cell, Figure, ResultTable, Run


def run(status, **measures):
    return Run("key", "gsf", "data", {}, status, measures=measures)


@pytest.fixture
def table():
    runs = (run("done", SHD=(5.0,), SID=(1.0, 4.0)), run("done", SHD=(8.0,), SID=(3.0, 6.0)), run("out of time"))
    cells = {
        ("GSF", "ER1", "SHD"): Cell("GSF", "ER1", "SHD", runs, (Figure(6.5, 2.0),), "-- *", "+"),
        ("GSF", "ER1", "SID"): Cell("GSF", "ER1", "SID", runs, (Figure(6.0, 2.0), Figure(17.0, 4.0))),
        ("GSF", "ER4", "SHD"): Cell("GSF", "ER4", "SHD", (), (), "> 12 hours"),
        ("GSF", "ER4", "SID"): Cell("GSF", "ER4", "SID", (), (), "not given"),
    }
    return ResultTable("table1", "1", "A & B", ("GSF",), ("ER1", "ER4"), ("SHD", "SID"), cells, ("A note_.",))


FIRST = ["ER1", "GSF", "6.5±2.1 +", "6.5±2.0 -- *", "0.0", "[2.0±1.4, 5.0±1.4]", "[6.0±2.0, 17.0±4.0]", "-2.0 -3.0",
         "2, 1 out of time"]  # fmt: skip


def test_markdown(table):
    lines = to_markdown(table).splitlines()
    assert lines[0] == "## Table 1: A & B"
    assert lines[2] == "| data | method | SHD | paper | diff. | SID | paper | diff. | runs |"
    assert lines[4] == "| " + " | ".join(word.replace("*", "\\*") for word in FIRST) + " |"
    assert lines[5] == "| ER4 | GSF |  | > 12 hours |  |  | not given |  |  |"
    assert lines[-1] == "A note_."


def test_latex(table):
    text = to_latex(table)
    assert r"\caption{Table 1: A \& B. A note\_}" in text
    assert r"ER1 & GSF & 6.5$\pm$2.1 + & 6.5$\pm$2.0 -- * & 0.0 & [2.0$\pm$1.4, 5.0$\pm$1.4]" in text
    assert r"$-$2.0 $-$3.0 & 2, 1 out of time \\" in text
    assert r"ER4 & GSF &  & $>$ 12 hours" in text
    assert text.count(r"\begin") == text.count(r"\end") == 2


def test_terminal(table):
    console = Console(width=160, file=io.StringIO())
    console.print(to_terminal(table))
    text = console.file.getvalue()
    assert all(word in text for word in FIRST)
    assert "Table 1: A & B" in text
    assert "A note_." in text


def test_narrow_terminals_lose_nothing(table):
    console = Console(width=60, file=io.StringIO())
    console.print(to_terminal(table))
    assert "…" not in console.file.getvalue()


def test_csv(table):
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert tuple(rows[0]) == CSV_HEADER
    assert len(rows) == 4
    bounds = rows[1]
    assert [float(bounds[name]) for name in ("mean", "upper_mean", "paper_mean", "paper_upper_deviation")] == [
        2,
        5,
        6,
        4,
    ]
    assert (bounds["difference"], bounds["upper_difference"]) == ("-2.0", "-3.0")
    assert (bounds["done"], bounds["out_of_time"]) == ("2", "1")
    assert (rows[0]["flags"], rows[0]["paper_remark"], rows[2]["paper_remark"]) == ("+", "-- *", "> 12 hours")


def test_columns_that_say_nothing_are_left_out():
    cells = {("A", "x", "SHD"): Cell("A", "x", "SHD", (run("done", SHD=(1.0,)),))}
    text = to_markdown(ResultTable("figure1", "figure 1", "B", ("A",), ("x",), ("SHD",), cells))
    assert text.splitlines()[0] == "## Figure 1: B"
    assert text.splitlines()[2] == "| data | method | SHD | runs |"


def test_a_difference_stays_with_its_bound():
    cell = Cell("GSF", "x", "SID", (run("done", SID=(2.0,)),), (Figure(1.0, 0.0), Figure(4.0, 2.0)))
    table = ResultTable("table1", "1", "B", ("GSF",), ("x",), ("SID",), {("GSF", "x", "SID"): cell})
    assert "| \u2013 -1.0 |" in to_markdown(table)
    assert "& -- $-$1.0 &" in to_latex(table)
    (row,) = csv.DictReader(io.StringIO(to_csv(table)))
    assert (row["difference"], row["upper_difference"]) == ("", "-1.0")


def test_a_difference_that_rounds_to_zero_has_no_sign():
    cell = Cell("A", "x", "SHD", (run("done", SHD=(1.0,)),), (Figure(1.04, 1.0),))
    assert "| 0.0 |" in to_markdown(
        ResultTable("table1", "1", "B", ("A",), ("x",), ("SHD",), {("A", "x", "SHD"): cell})
    )


def test_measures_are_named_before_anything_is_finished():
    cells = {("A", "x", measure): Cell("A", "x", measure, (), (Figure(1.0, 1.0),)) for measure in ("SHD", "SID")}
    text = to_markdown(ResultTable("table1", "1", "B", ("A",), ("x",), ("SHD", "SID"), cells))
    assert text.splitlines()[2] == "| data | method | SHD | paper | SID | paper |"
    words = {("A", "x", "space"): Cell("A", "x", "space", (), (), "U[0, 1]")}
    text = to_markdown(ResultTable("table24", "24", "B", ("A",), ("x",), ("space",), words))
    assert text.splitlines()[2] == "| data | method | paper |"
