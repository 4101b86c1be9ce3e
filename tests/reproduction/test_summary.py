"""The two sentences below a table."""

import dataclasses

from grandag.reproduction.rendering import to_markdown
from grandag.reproduction.result_table import Cell, Figure, ResultTable, Run
from grandag.reproduction.summary import two_sentences


def cell(row, column, measure, values, paper=()):
    runs = tuple(Run("key", "m", "data", {}, "done", measures={measure: value}) for value in values)
    return Cell(row, column, measure, runs, tuple(paper))


def table(*cells, own_rows=(), measures=("SHD",)):
    rows, columns = (tuple(dict.fromkeys(getattr(cell, axis) for cell in cells)) for axis in ("row", "column"))
    empty = {(row, column, m): cell(row, column, m, ()) for row in rows for column in columns for m in measures}
    known = {(each.row, each.column, each.measure): each for each in cells}
    return ResultTable("table1", "1", "T", rows, columns, measures, {**empty, **known}, own_rows=own_rows)


def test_the_best_in_most_cells_and_the_distance_from_the_paper():
    found = table(
        cell("A", "ER1", "SHD", [(1.0,), (2.0,)], [Figure(1.0, 1.0)]),
        cell("B", "ER1", "SHD", [(3.0,)], [Figure(9.0, 2.0)]),
        cell("A", "ER4", "SHD", [(4.0,)], [Figure(3.0, 0.5)]),
        cell("B", "ER4", "SHD", [(4.04,)], [Figure(4.0, 0.0)]),
    )
    best, against = two_sentences(found)
    assert best == "A is the best of 2 methods in 2 of 2 cells (ties counted for each), B in 1."
    assert against == (
        "Same methods, ours against the paper's: 1 of 3 figures within one of its standard deviations, 1 lower, 1 "
        "higher; the furthest is B on ER1 (SHD 3.0, paper 9.0)."
    )
    assert best in to_markdown(found)


def test_of_scores_the_highest_is_best_and_bounds_count_with_their_middle():
    scores = [cell("A", "x", "score (train)", [(-2.0,)]), cell("B", "x", "score (train)", [(-1.0,)])]
    assert two_sentences(table(*scores, measures=("score (train)",)))[0].startswith(
        "B is the best of 2 methods in 1 of 1 cell "
    )
    bounds = [cell("A", "x", "SID", [(0.0, 8.0)]), cell("B", "x", "SID", [(3.0,)])]
    assert two_sentences(table(*bounds, measures=("SID",)))[0].startswith("B is the best")


def test_rows_that_the_paper_does_not_have_are_not_held_against_it():
    found = table(
        cell("A", "x", "SHD", [(1.0,)], [Figure(1.5, 1.0)]),
        cell("A (default)", "x", "SHD", [(9.0,)], [Figure(1.5, 1.0)]),
        own_rows=("A (default)",),
    )
    assert two_sentences(found)[1].endswith("1 of 1 figure within one of its standard deviations, 0 lower, 0 higher.")
    assert "9.0" in " ".join(two_sentences(dataclasses.replace(found, own_rows=())))


def test_nothing_is_said_of_what_has_not_been_run():
    assert two_sentences(table(cell("A", "x", "SHD", ()), cell("B", "x", "SHD", [(1.0,)]))) == ()
