"""Long files are read in pieces, to the same tables as short ones."""

import numpy as np
import pandas as pd
import pytest

import grandag.reading
from grandag import read_table
from grandag.table import TableError, as_table


@pytest.fixture(autouse=True)
def every_file_is_long(monkeypatch):
    monkeypatch.setattr("grandag.reading._LONG", 0)
    monkeypatch.setattr("grandag.reading._LONG_TEXT", 0)
    monkeypatch.setattr("grandag.pieces._ROWS", 64)


@pytest.fixture
def frame(rng):
    return pd.DataFrame(
        {
            "dose": rng.normal(5, 2, size=500),
            "single": rng.normal(size=500).astype(np.float32),
            "count": rng.integers(1000, size=500),
            "is_ill": rng.integers(2, size=500) == 1,
        }
    )


def write(frame, path, **options):
    if path.suffix == ".parquet":
        frame.to_parquet(path, **options)
    else:
        frame.to_csv(path, index=False, **options)
    return path


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.tsv"])
def test_the_numbers_are_those_of_a_short_file(frame, tmp_path, monkeypatch, name):
    frame.loc[[3, 77], "dose"] = np.nan
    path = write(frame, tmp_path / name, **({"sep": "\t"} if name == "t.tsv" else {}))
    found = read_table(path)
    assert set(found.dtypes) == {np.dtype(np.float32)}
    assert found.attrs["notes"] == ["Read in single precision: 2,000 numbers."]
    monkeypatch.setattr("grandag.reading._LONG", 10**9)
    monkeypatch.setattr("grandag.reading._LONG_TEXT", 10**9)
    expected = as_table(read_table(path), missing="drop")
    table = as_table(found, missing="drop")
    assert (table.names, table.n_dropped) == (expected.names, 2)
    np.testing.assert_array_equal(table.values, expected.values.astype(np.float32))


def test_a_table_that_was_read_is_not_copied(frame, tmp_path):
    found = read_table(write(frame, tmp_path / "t.parquet"))
    assert np.shares_memory(as_table(found).values, found.to_numpy())


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_columns_are_chosen_before_they_are_read(frame, tmp_path, name):
    path = write(frame.assign(city="Rome"), tmp_path / name)
    assert read_table(path, columns="count,d*").columns.tolist() == ["count", "dose"]
    np.testing.assert_array_equal(read_table(path, columns="count,d*")["count"], frame["count"])
    assert read_table(path, exclude="city").shape == (500, 4)
    with pytest.raises(TableError, match=r"Column 'city' does not hold numbers \(type .*for example 'Rome'\)"):
        read_table(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
@pytest.mark.parametrize(
    "column", [1.7e9 + 0.5 * np.arange(500), 1e60 * np.arange(500.0)], ids=["seconds since 1970", "too large"]
)
def test_double_precision_where_seven_digits_are_too_few(frame, tmp_path, name, column):
    found = read_table(write(frame.assign(time=column), tmp_path / name))
    assert "too few digits for column 'time'" in found.attrs["notes"][-1]
    np.testing.assert_allclose(found["time"], column, rtol=1e-15)


def test_a_pandas_index_is_no_column(frame, tmp_path):
    frame.index = pd.Index(np.arange(500) + 7, name="patient")
    assert read_table(write(frame, tmp_path / "t.parquet")).columns.tolist() == frame.columns.tolist()


def test_what_the_beginning_of_a_text_says_holds_for_all(tmp_path, monkeypatch):
    monkeypatch.setattr("grandag.reading._BEGINNING", 40)
    lines = [";a;b", *(f"{k};{k},25;{'?' if k in (1, 90) else k}" for k in range(100))]
    (tmp_path / "t.csv").write_text("\r\n".join(lines))  # the last line has no end
    found = read_table(tmp_path / "t.csv")
    assert found.shape == (100, 2)
    np.testing.assert_array_equal(found["a"], np.arange(100) + 0.25)
    assert np.flatnonzero(found["b"].isna()).tolist() == [1, 90]
    assert found.attrs["notes"][:-1] == [
        "Columns of 't.csv' are separated by semicolons.",
        "Commas are decimal points.",
        "Read '?' as missing.",
        "Left out the first column, which has no name and counts the rows.",
    ]


@pytest.mark.parametrize(
    ("line", "message"), [("1,abc", "invalid value 'abc'"), ("1,2,3", "Expected 2 columns, got 3")]
)
def test_a_bad_line_far_down_is_named(tmp_path, monkeypatch, line, message):
    monkeypatch.setattr("grandag.reading._BEGINNING", 40)
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 100 + line + "\n")
    with pytest.raises(TableError, match=rf"'t.csv' could not be read as a table: .*{message}"):
        read_table(tmp_path / "t.csv")


def test_other_texts_are_read_as_a_whole(tmp_path):
    (tmp_path / "spaces.csv").write_text("a  b\n" + "1  2.5\n" * 20)
    assert read_table(tmp_path / "spaces.csv")["b"].tolist() == [2.5] * 20
    (tmp_path / "latin.csv").write_bytes("größe,b\n".encode("latin-1") + b"1,2\n" * 20)
    assert read_table(tmp_path / "latin.csv", encoding="latin-1").columns.tolist() == ["größe", "b"]


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_array_is_mapped(rng, tmp_path, monkeypatch, order):
    monkeypatch.setattr("grandag.incoming._MOST_BYTES", 0)
    values = np.asarray(rng.normal(size=(50, 3)).astype(np.float32), order=order)
    np.save(tmp_path / "t.npy", values)
    assert isinstance(grandag.reading.read_array(tmp_path / "t.npy"), np.memmap)
    np.testing.assert_array_equal(as_table(read_table(tmp_path / "t.npy")).values, values)
    with (tmp_path / "t.npy").open("ab") as stream:
        stream.write(b"more")
    with pytest.raises(TableError, match="not the size of its shape"):
        read_table(tmp_path / "t.npy")
