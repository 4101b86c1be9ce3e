"""Every kind of bad table gets one sentence that names what is wrong and what to do."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from grandag.table import Scaling, TableError, as_table, same_columns, split_rows


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(20, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize("convert", [lambda f: f, pl.from_pandas])
def test_frames_keep_their_names(frame, convert):
    table = as_table(convert(frame))
    assert table.names == ("a", "b", "c")
    np.testing.assert_array_equal(table.values, frame.to_numpy())


def test_kinds_of_numbers():
    pandas = pd.DataFrame(
        {
            "bool": [True, False] * 10,
            "small": np.arange(20, dtype=np.int8),
            "nullable": pd.array([1, 2] * 10, dtype="Int64"),
            "object": np.array([1.5, 2] * 10, dtype=object),
        }
    )
    table = as_table(pandas, numbers_only=True)
    assert table.values.dtype == np.float64
    np.testing.assert_array_equal(table.values[1], [0, 1, 2, 2])
    polars = pl.DataFrame({"bool": [True, False] * 10, "int": range(20)})
    np.testing.assert_array_equal(as_table(polars).values[1], [0, 1])


def test_arrow_tables_keep_their_names():
    arrow = pa.table({"dose": np.arange(20), "outcome": [None, *np.arange(19.0)]})
    for table in (as_table(arrow, missing="drop"), as_table(arrow.to_batches()[0], missing="drop")):
        assert (table.names, table.has_own_names, table.n_dropped) == (("dose", "outcome"), True, 1)
        np.testing.assert_array_equal(table.values[0], [1, 0])


@pytest.mark.parametrize("given", ["x.csv", Path("x.csv")])
def test_the_name_of_a_file_is_no_table(given):
    with pytest.raises(TableError, match=r"read it first: read_table\('x.csv'\)"):
        as_table(given)


def test_numbered_columns_become_text(rng):
    assert as_table(pd.DataFrame(rng.normal(size=(20, 2)))).names == ("0", "1")
    assert as_table(rng.normal(size=(20, 2))).names == ("X0", "X1")


@pytest.mark.parametrize("convert", [lambda f: f, pl.from_pandas])
def test_text_column(frame, convert):
    with pytest.raises(
        TableError, match=r"Column 'city' does not hold numbers \(type .*for example 'Rome'\): leave it"
    ):
        as_table(convert(frame.assign(city="Rome")), numbers_only=True)


@pytest.mark.parametrize("convert", [lambda f: f, pl.from_pandas])
def test_all_text_columns_are_named_at_once(frame, convert):
    texts = {f"t{k}": f"word {k}" for k in range(7)}
    with pytest.raises(TableError) as error:
        as_table(convert(frame.assign(**texts)), numbers_only=True)
    assert str(error.value).startswith("7 columns do not hold numbers: 't0' (type ")
    assert "for example 'word 4') and 2 more. Leave them out (--exclude)" in str(error.value)


DAY = pd.Timestamp("2020-01-01")


@pytest.mark.parametrize(
    ("day", "convert"),
    [
        (DAY, lambda f: f),
        (DAY.to_period("M"), lambda f: f),
        (pd.Timedelta(days=1), lambda f: f),
        (DAY, pl.from_pandas),
        (pd.Timedelta(days=1), pl.from_pandas),
        (DAY, lambda f: pl.from_pandas(f).with_columns(pl.col("day").cast(pl.Date))),
    ],
)
def test_dates(frame, day, convert):
    with pytest.raises(
        TableError, match=r"Column 'day' does not hold numbers \(type .*: leave it .* as the days since"
    ):
        as_table(convert(frame.assign(day=day)))


@pytest.mark.parametrize("convert", [lambda f: f, pl.from_pandas, lambda f: f.to_numpy()])
def test_missing_values_are_counted_and_placed(frame, convert):
    frame.iloc[4, 0] = np.nan
    frame.iloc[[6, 8], 1] = [np.inf, np.nan]
    table = convert(frame)
    first, second = ("a", "b") if hasattr(table, "columns") else ("X0", "X1")
    expected = rf"'{first}' \(1 NaN, first in row 5\), '{second}' \(1 NaN and 1 inf, first in row 7\).*drop the 3 of 20"
    with pytest.raises(TableError, match=expected):
        as_table(table)
    dropped = as_table(table, missing="drop")
    assert dropped.n_dropped == 3
    (note,) = dropped.notes
    assert note.startswith("Dropped 3 of 20 rows, which have missing or infinite values: ")
    assert note.endswith(f": '{second}' 10.0%, '{first}' 5.0%.")
    np.testing.assert_array_equal(dropped.values, frame.to_numpy()[[0, 1, 2, 3, 5, 7, *range(9, 20)]])


def test_null_values(frame):
    table = pl.from_pandas(frame).with_columns(pl.when(pl.col("a") > 100).then(1.0).alias("gone"))
    with pytest.raises(TableError, match=r"'gone' \(20 NaN"):
        as_table(table)
    with pytest.raises(TableError, match=r"0 sample.*after 20 rows with missing values were dropped"):
        as_table(table, missing="drop")


def test_many_bad_columns_are_not_all_listed(rng):
    values = rng.normal(size=(20, 30))
    values[0] = np.nan
    with pytest.raises(TableError, match="and 25 more columns"):
        as_table(values)


def test_duplicate_names(frame):
    frame.columns = ["a", "b", "a"]
    with pytest.raises(TableError, match=r"Two columns have the name 'a' \(columns 1 and 3\): rename"):
        as_table(frame)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((20, 1)), r"1 feature\(s\).*at least two columns"),
        (np.ones((3, 4)), r"3 sample\(s\).*minimum of 10.*more rows"),
        (np.ones(20), r"2D array, got 1D array instead \(shape=\(20,\)\). Reshape your data: one row per observation"),
        (np.ones((2, 3, 4)), "2D array, got 3D array"),
        (np.ones((20, 2)) * 1j, "Complex data"),
        ([[1, "b"]] * 20, r"Column 'X1' does not hold numbers \(for example 'b'\)"),
        (pl.LazyFrame({"a": [1.0]}), "LazyFrame: collect"),
    ],
)
def test_wrong_shapes_and_types(table, message):
    with pytest.raises(ValueError, match=message):
        as_table(table)


def test_sparse_matrices_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        as_table(scipy.sparse.eye(20).tocsr())


def test_scaling(rng):
    values = rng.normal(5, 3, size=(100_000, 2))
    scaled = Scaling.standard(values).apply(values, "float64")
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), 1)
    np.testing.assert_array_equal(Scaling.identity(2).apply(values, "float32"), values.astype(np.float32))


@pytest.mark.parametrize("unit", [1e-200, 1e-30, 1e30, 1e200])
def test_scaling_of_extreme_units(rng, unit):
    values = rng.normal(size=(1000, 2))
    expected = Scaling.standard(values).apply(values, "float32")
    scaled = Scaling.standard(values * unit).apply(values * unit, "float32")
    np.testing.assert_allclose(scaled, expected, rtol=1e-6)


def test_same_columns(rng):
    x = rng.normal(size=(1000, 4))
    x[:, 2] = -x[:, 0]
    x[:, 3] = x[:, 1] + 1e-3 * rng.normal(size=1000)
    assert same_columns(as_table(x)) == [("X0", "X2")]


@pytest.mark.parametrize(("n", "fraction", "n_held_out"), [(1000, 0.2, 200), (11, 0.01, 1), (10, 0.9, 9)])
def test_split(n, fraction, n_held_out):
    train, held_out = split_rows(n, fraction, np.random.default_rng(0))
    assert len(held_out) == n_held_out
    assert sorted([*train, *held_out]) == list(range(n))


def test_masked_values_are_missing_values():
    values = np.ma.masked_array(np.arange(40.0).reshape(20, 2), mask=np.zeros((20, 2)))
    assert as_table(values).values.shape == (20, 2)
    values[3, 1] = np.ma.masked
    with pytest.raises(TableError, match=r"'X1' \(1 NaN, first in row 4\)"):
        as_table(values)
    assert as_table(values, missing="drop").n_dropped == 1
    whole = np.ma.masked_array(np.arange(40).reshape(20, 2), mask=np.eye(20, 2))
    assert as_table(whole, missing="drop").n_dropped == 2


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[s]"])
def test_dates_in_arrays_are_refused(kind):
    values = np.arange(40).reshape(20, 2).astype(kind)
    for X in (values, np.ma.masked_array(values)):
        with pytest.raises(TableError, match="numbers first"):
            as_table(X)
