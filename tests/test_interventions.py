import numpy as np
import pandas as pd
import pytest

from grandag.interventions import as_regimes
from grandag.table import TableError

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
    with pytest.raises(TableError, match="The regime 'Mek' has 9 rows, and at least 10 are needed"):
        as_regimes([""] * 10 + ["Mek"] * 9, NAMES)


def test_a_variable_that_is_never_left_alone_is_refused():
    with pytest.raises(TableError, match="Every row intervenes on 'Mek'"):
        as_regimes(["Mek"] * 10 + ["Mek|Raf"] * 10, NAMES)
