"""Warnings about tables that come when they should, and do not when they should not."""

import numpy as np
import pandas as pd
import pytest

from grandag import CAM, PC, DoubtWarning
from grandag.table import as_table
from grandag.table_diagnostics import discrete_columns, order_concerns, table_concerns


def found(columns):
    return {concern.kind: concern for concern in table_concerns(as_table(pd.DataFrame(columns)))}


@pytest.fixture
def columns(rng):
    return {name: rng.normal(size=300) for name in "abc"}


def test_a_good_table_is_not_accused(columns):
    assert found(columns) == {}


def test_more_columns_than_rows(rng):
    (concern,) = table_concerns(as_table(rng.normal(size=(20, 30))))
    assert (concern.kind, concern.numbers) == ("more columns than rows", {"rows": 20, "columns": 30})
    assert "30 columns but only 20 rows" in concern.message
    assert concern.is_urgent


def test_repeated_rows(columns):
    frame = pd.DataFrame(columns)
    concern = found(pd.concat([frame, frame.head(40)]))["repeated rows"]
    assert concern.numbers == {"repeated": 40, "rows": 340}
    assert "40 of 340 rows repeat another row" in concern.message
    assert found(pd.concat([frame, frame.head(3)])) == {}


def test_repeated_rows_of_discrete_columns_are_no_wonder(rng):
    assert set(found({name: rng.integers(3, size=300) for name in "ab"})) == {"discrete columns"}


@pytest.mark.parametrize("number", [np.arange(300), 5000 - 2.5 * np.arange(300)])
def test_running_number(columns, number):
    concern = found({**columns, "id": number})["running number"]
    assert concern.variables == ("id",)
    assert "'id' counts the rows" in concern.message


def test_sorted_values_are_no_running_number(columns, rng):
    assert "running number" not in found({**columns, "age": np.sort(rng.normal(size=300))})


def test_near_constant_columns(columns):
    concern = found({**columns, "rare": np.arange(300) < 4})["near-constant columns"]
    assert concern.numbers == {"rare": {"share": 296 / 300}}
    assert "'rare' (one value in 98.7% of the rows)" in concern.message
    assert "near-constant columns" not in found({**columns, "half": np.arange(300) % 2})


def test_odd_columns_are_accused_once(columns):
    """Not as discrete, nor for the order of the rows: few other values side by side, and numbers that rise."""
    frame = pd.DataFrame({**columns, "rare": np.arange(300) < 4, "id": np.arange(300)})
    with pytest.warns(UserWarning, match="nearly constant"), pytest.warns(UserWarning, match="counts the rows"):
        kinds = [concern.kind for concern in PC().fit(frame).warnings_]
    assert sorted(kinds) == ["near-constant columns", "running number"]


def test_one_hot_columns_are_named_together(columns, rng):
    category = rng.integers(3, size=300)
    codes = {f"is_{k}": (category == k).astype(float) for k in range(3)}
    other = {"flag": rng.integers(2, size=300)}
    concerns = found({**columns, **codes, **other})
    assert concerns["one-hot columns"].variables == ("is_0", "is_1", "is_2")
    assert "discrete columns" not in concerns  # two values are labels, and no numbers
    numbers = as_table(pd.DataFrame({**columns, **codes, **other}), numbers_only=True)
    discrete = {concern.kind: concern for concern in table_concerns(numbers)}["discrete columns"]
    assert discrete.variables == ("flag",)
    del codes["is_1"]
    assert "one-hot columns" not in found({**columns, **codes})


def test_discrete_columns_are_not_told_to_take_logarithms(rng):
    dose = rng.normal(size=400)
    frame = pd.DataFrame({"dose": dose, "grade": (dose + rng.normal(size=400) > 1.5) * 1.0 + (dose > 0)})
    assert discrete_columns(frame.to_numpy()).tolist() == [False, True]
    concerns = {concern.kind: concern for concern in CAM().fit(frame).warnings_}
    assert concerns["discrete columns"].numbers == {"grade": {"values": 3.0}}
    far = concerns.get("non-Gaussian noise")
    assert far is None or "grade" not in far.variables


def test_other_reasons_are_one_warning_on_the_line_of_the_call(rng):
    frame = pd.DataFrame({"x": rng.normal(size=300), "grade": rng.integers(3, size=300)})
    with pytest.warns(DoubtWarning, match=r"^1 reason to doubt the graph \(discrete columns\): `warnings_`") as caught:
        CAM().fit(frame)
    assert [warning.filename for warning in caught] == [__file__]


def test_rows_in_the_order_of_time(rng):
    noise = rng.normal(size=(500, 2))
    assert order_concerns(noise, "ab") == []
    walk = noise.copy()
    for t in range(1, 500):
        walk[t, 1] += 0.6 * walk[t - 1, 1]
    (concern,) = order_concerns(walk, "ab")
    assert concern.variables == ("b",)
    assert concern.numbers["b"]["correlation"] == pytest.approx(0.6, abs=0.1)
    assert order_concerns(rng.permutation(walk), "ab") == []
    model = CAM().fit(pd.DataFrame(walk, columns=["a", "b"]))
    assert any(concern.kind == "rows in order" for concern in model.warnings_)


@pytest.mark.parametrize("sizes", [(150, 150, 150), (50, 400)])
def test_rows_sorted_by_a_class(rng, sizes):
    """Their order is not that of time, and the advice is another one."""
    level = np.repeat(np.arange(len(sizes)) * 3.0, sizes)
    rows = rng.normal(size=(len(level), 2))
    rows[:, 1] += level
    (concern,) = order_concerns(rows, "ab")
    assert (concern.kind, concern.variables) == ("sorted rows", ("b",))
    assert order_concerns(rng.permutation(rows), "ab") == []


def test_a_random_walk_is_not_sorted(rng):
    (concern,) = order_concerns(rng.normal(size=(500, 1)).cumsum(axis=0), "a")
    assert concern.kind == "rows in order"


def test_an_intervention_far_outside_of_the_data(rng):
    x = rng.uniform(0, 10, size=200)
    model = CAM().fit(pd.DataFrame({"x": x, "y": np.sin(x) + 0.1 * rng.normal(size=200)}))
    model.intervene({"x": 5.0})
    with pytest.warns(UserWarning, match=r"outside of the data: x = 20 \(the table has 0\.\d+ to 9\.\d+\)") as caught:
        model.intervene({"x": 20.0})
    assert caught[0].filename == __file__
    refits = [model, model]
    with pytest.warns(UserWarning, match=r"x = -20 .*, x = 20 .*: choose values that the table has\.") as caught:
        model.average_effect("x", "y", low=-20.0, high=20.0, resamples=refits)
    assert [warning.filename for warning in caught] == [__file__]  # once, not for every refit


LONG = 20_000
"""Rows of more than two blocks."""


@pytest.fixture
def long_table(rng, monkeypatch):
    """Concerns about a table of many rows with a column of noise and another one, in single precision."""
    monkeypatch.setattr("grandag.table_diagnostics.MANY_ROWS", 1000)

    def concerns(*columns):
        values = np.column_stack([rng.normal(size=LONG), *columns]).astype(np.float32)
        return {concern.kind: concern for concern in table_concerns(as_table(values))}

    return concerns


def test_running_numbers_of_many_rows(long_table, rng):
    number = np.arange(LONG)
    assert long_table(number)["running number"].variables == ("X1",)
    assert "running number" in long_table(1e8 - 3 * number)  # rounded to eights
    assert long_table(number + (number > 15_000)) == {}
    assert long_table(1e8 + 100 * rng.normal(size=LONG)) == {}


def test_the_last_rows_count(long_table, rng):
    values = np.arange(LONG) % 3
    assert set(long_table(values)) == {"discrete columns"}
    late = values + np.where(np.arange(LONG) < 16_000, 0, rng.normal(size=LONG))
    assert long_table(late) == {}
    one_hot = np.eye(3)[values]
    assert set(long_table(one_hot)) == {"one-hot columns"}
    one_hot[-1] = 1
    assert set(long_table(one_hot)) == set()


def test_the_share_of_a_value_is_that_in_all_rows(long_table):
    rare = np.arange(LONG) < 900
    assert long_table(rare)["near-constant columns"].numbers == {"X1": {"share": 0.955}}
    assert "near-constant columns" not in long_table(np.arange(LONG) < 1100)


def test_repetitions_of_many_rows_are_estimated(rng, monkeypatch):
    monkeypatch.setattr("grandag.table_diagnostics.MANY_ROWS", 1000)
    values = rng.normal(size=(15_000, 3))
    values[0, 0], again = 0.0, values[:5000].copy()
    again[0, 0] = -0.0
    (concern,) = table_concerns(as_table(np.concatenate([values, again])))
    assert concern.numbers["repeated"] == pytest.approx(5000, rel=0.25)
    assert concern.message.startswith(f"About {concern.numbers['repeated']:,} of 20,000 rows repeat")
    assert table_concerns(as_table(values)) == []
