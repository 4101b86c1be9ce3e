import numpy as np
import pandas as pd
import pytest

from grandag.interventions import as_regimes
from grandag.table import TableError, as_table

NAMES = ("Raf", "Mek", "a|b")


def test_rows_belong_to_regimes_in_the_order_of_their_first_rows():
    entries = ["Mek"] * 10 + [""] * 11 + ["Mek|Raf"] * 12 + [" Raf | Mek "] * 3
    regimes = as_regimes(entries, NAMES)
    assert regimes.titles(NAMES) == ("Mek", "observational", "Raf|Mek")
    assert regimes.counts.tolist() == [10, 11, 15]
    np.testing.assert_array_equal(regimes.are_free(0), np.repeat([True, False], [21, 15]))
    np.testing.assert_array_equal(regimes.are_free(1), np.repeat([False, True, False], [10, 11, 15]))
    assert regimes.are_free(2).all()


@pytest.mark.parametrize("nothing", ["", "  ", None, np.nan, pd.NA])
def test_nothing_is_observational(nothing):
    regimes = as_regimes([nothing] * 10 + ["Raf"] * 10, NAMES)
    assert regimes.targets.tolist() == [[False, False, False], [True, False, False]]


def test_a_name_may_have_the_separator():
    assert as_regimes(["a|b"] * 10 + [""] * 10, NAMES).titles(NAMES)[0] == "a|b"


def test_some_rows_and_columns():
    regimes = as_regimes([""] * 10 + ["Raf"] * 10 + ["Mek"] * 10, NAMES)
    some = regimes.take(np.array([0, 29, 15])).select(np.array([False, True, True]))
    assert some.of_row.tolist() == [0, 2, 1]
    assert some.titles(NAMES[1:]) == ("observational", "observational", "Mek")
    assert some.counts.tolist() == [1, 1, 1]


def test_unknown_targets_are_named_with_a_suggestion():
    with pytest.raises(TableError, match=r"Row 11 has the intervention target 'raf', .*did you mean 'Raf'\?"):
        as_regimes([""] * 10 + ["raf"] * 10, NAMES)
    with pytest.raises(TableError, match=r"target 'x', which is no column: name columns, with \| between several"):
        as_regimes(["Raf|x"] * 10, NAMES)


def test_a_regime_of_a_few_rows_is_refused():
    with pytest.raises(TableError, match="'Mek' has 9 rows, and at least 10 are needed: leave these rows out, or get"):
        as_regimes([""] * 10 + ["Mek"] * 9, NAMES)


def test_a_variable_that_is_never_left_alone_is_refused():
    with pytest.raises(TableError, match="Every row intervenes on 'Mek'"):
        as_regimes(["Mek"] * 10 + ["Mek|Raf"] * 10, NAMES)


def test_regimes_after_rows_were_dropped():
    entries = ["Raf"] * 12 + [""] * 10 + ["Mek"] * 10
    regimes = as_regimes(entries, NAMES, rows=np.arange(2, 22))
    assert regimes.titles(NAMES) == ("Raf", "observational")
    assert regimes.counts.tolist() == [10, 10]
    with pytest.raises(TableError, match="The regime 'Raf' has 9 rows"):
        as_regimes(entries, NAMES, rows=np.arange(3, 22))
    assert as_regimes(entries, NAMES, rows=np.arange(11, 14), to_learn_from=False).counts.tolist() == [1, 2]


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])


TARGETS = [""] * 10 + ["b"] * 10 + ["a|c"] * 10


@pytest.mark.parametrize("make", [pd.DataFrame, pytest.importorskip("polars").DataFrame])
def test_a_column_names_the_targets_and_is_no_variable(frame, make):
    with_targets = make(
        {"a": frame["a"].to_list(), "target": TARGETS, "b": frame["b"].to_list(), "c": frame["c"].to_list()}
    )
    table = as_table(with_targets, interventions="target", intervention_kind="imperfect")
    assert table.names == ("a", "b", "c")
    assert table.regimes.titles(table.names) == ("observational", "b", "a|c")
    assert table.regimes.kind == "imperfect"
    same = as_table(frame, interventions=TARGETS).regimes
    np.testing.assert_array_equal(table.regimes.of_row, same.of_row)
    assert same.kind == "perfect"


def test_regimes_stay_with_their_rows(frame):
    frame.loc[[3, 12, 28], "b"] = np.nan
    with pytest.raises(TableError, match="'observational' has 9 rows"):
        as_table(frame, missing="drop", interventions=TARGETS)
    long = pd.concat([frame, frame], ignore_index=True)
    table = as_table(long, missing="drop", interventions=TARGETS * 2)
    np.testing.assert_array_equal(table.regimes.counts, [18, 18, 18])
    np.testing.assert_array_equal(table.regimes.of_row[:20], np.repeat([0, 1, 2], [9, 9, 2]))
    some = table.take(np.array([1, 20])).select(np.array([1, 2]))
    assert some.regimes.of_row.tolist() == [0, 2]
    assert some.regimes.targets.tolist() == [[False, False], [True, False], [False, True]]
    imputed = as_table(long, missing="impute", interventions=TARGETS * 2)
    np.testing.assert_array_equal(imputed.completed(1).regimes.counts, [20, 20, 20])


def test_rows_without_targets_have_no_regimes(frame):
    assert as_table(frame, interventions=[None] * 30).regimes is None
    assert as_table(frame.assign(target=""), interventions="target").regimes is None


def test_what_is_wrong_with_targets_is_said(frame):
    with pytest.raises(TableError, match="targets of interventions for 29 rows, and X has 30"):
        as_table(frame, interventions=TARGETS[1:])
    with pytest.raises(TableError, match=r"no column 'targets' with the targets.*did you mean 'target'"):
        as_table(frame.assign(target=TARGETS), interventions="targets")
    with pytest.raises(TableError, match="give its name, or a sequence"):
        as_table(frame.to_numpy(), interventions="target")
    for no_sequence in (5, np.array("b"), iter(TARGETS)):
        with pytest.raises(TableError, match="interventions must be the name of a column of X, or a sequence with"):
            as_table(frame, interventions=no_sequence)
    for targets in (TARGETS, None):
        with pytest.raises(TableError, match="must be one of perfect, imperfect; got 'soft'"):
            as_table(frame, interventions=targets, intervention_kind="soft")


def test_new_rows_may_have_any_regimes(frame):
    regimes = as_table(frame[:3], interventions=["a", "a", "b"], min_rows=1).regimes
    assert regimes.counts.tolist() == [2, 1]
    assert not as_table(frame[:3], interventions=["a"] * 3, min_rows=1).regimes.are_free(0).any()
