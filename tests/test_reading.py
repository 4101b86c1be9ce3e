"""Tables in files: what is found in them, what has to be said, and what is wrong."""

import gzip
import zipfile

import numpy as np
import pandas as pd
import pytest

from grandag import CAM, read_table
from grandag.reading import select_columns
from grandag.table import TableError, as_table


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])


def write(frame, path):
    kind = path.suffixes[0]
    if kind == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == ".tsv" else ",")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.csv.gz", "my.table.csv"])
def test_read(frame, tmp_path, name):
    path = tmp_path / name
    if name == "my.table.csv":
        frame.to_csv(path, index=False)
    else:
        write(frame, path)
    pd.testing.assert_frame_equal(read_table(path), frame)


def test_read_without_row_numbers(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), frame)
    frame[::3].to_csv(tmp_path / "filtered.csv")
    assert read_table(tmp_path / "filtered.csv").columns.tolist() == ["a", "b"]


def test_read_with_gaps(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,\nNA,2\n3,x\n")
    frame = read_table(tmp_path / "t.csv")
    assert frame["a"].isna().sum() == 1
    with pytest.raises(TableError, match=r"Column 'b' does not hold numbers .*for example 'x'\)"):
        as_table(frame, numbers_only=True)
    with pytest.raises(TableError, match=r"Column 'b' holds numbers and texts, for example '2' and 'x': .*--na-values"):
        as_table(frame)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, r"no file .*none\.csv.*grandag datasets"),
        ("t.xlsx", b"PK", r"'t\.xlsx' does not end in \.csv, \.tsv, \.parquet or \.npy"),
        ("t.csv", b"", "could not be read as a table"),
        ("t.csv", b"a,b,a\n1,2,3\n", "Two columns have the name 'a'"),
        ("t.csv", b"1.5,2\n3,4\n", r"first line of 't\.csv' holds numbers \(1\.5 \.\.\.\): add a line with names"),
        ("t.csv", b"a,b\n\xff\x00", "could not be read as a table"),
        (
            "t.csv",
            "größe,b\n1,2\n".encode("latin-1"),
            "it is not UTF-8. Name its encoding, for example --encoding cp1252",
        ),
        ("t.parquet", b"not parquet", "could not be read as a table"),
        ("t.csv.gz", gzip.compress(b"", mtime=0), "could not be read as a table"),
    ],
)
def test_read_says_what_is_wrong(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TableError, match=message):
        read_table(path)


ROWS = [(1.5, -20.25), (2.0, 3e-5), (-0.125, 4.0)]


def lines(separator, decimal=".", names=("a", "b")):
    rows = [separator.join(str(value).replace(".", decimal) for value in row) for row in ROWS]
    return "\n".join([separator.join(names), *rows, ""])


@pytest.mark.parametrize(
    ("name", "separator", "decimal", "notes"),
    [
        ("t.csv", ",", ".", []),
        ("t.csv", ";", ".", ["Columns of 't.csv' are separated by semicolons."]),
        ("t.csv", ";", ",", ["Columns of 't.csv' are separated by semicolons.", "Commas are decimal points."]),
        ("t.tsv", "\t", ",", ["Commas are decimal points."]),
        ("t.csv", "\t", ".", ["Columns of 't.csv' are separated by tabs."]),
        ("t.txt", "|", ".", ["Columns of 't.txt' are separated by bars."]),
        ("t.txt", "  ", ".", ["Columns of 't.txt' are separated by spaces."]),
    ],
)
def test_separator_and_decimal_comma_are_found(tmp_path, name, separator, decimal, notes):
    (tmp_path / name).write_text(lines(separator, decimal))
    found = read_table(tmp_path / name)
    assert found.columns.tolist() == ["a", "b"]
    np.testing.assert_allclose(found.to_numpy(), ROWS)
    assert found.attrs["notes"] == notes


def test_a_comma_in_a_name_does_not_make_a_column(tmp_path):
    (tmp_path / "t.csv").write_text(lines(";", ",", names=("size, in cm", "b")))
    assert read_table(tmp_path / "t.csv").columns.tolist() == ["size, in cm", "b"]


def test_thousands_are_not_taken_for_decimals(tmp_path):
    """1,234 is either; only the user knows."""
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,234;2\n5,678;3\n")
    with pytest.raises(TableError, match=r"Column 'a' holds numbers as texts, for example '1,234': .*--decimal"):
        as_table(read_table(path), min_rows=1)
    assert read_table(path, exclude="a")["b"].tolist() == [2, 3]
    assert read_table(path, decimal=",")["a"].tolist() == [1.234, 5.678]
    assert read_table(path, thousands=",")["a"].tolist() == [1234, 5678]


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(
    ("values", "shown"), [("1.244 709 3.501", "'1.244' beside '709'"), ("1.240 25.300", "'1.240'")]
)
def test_thousands_with_points_are_not_taken_for_decimals(tmp_path, separator, values, shown):
    path = tmp_path / "t.csv"
    path.write_text(f"a{separator}b\n" + "".join(f"{value}{separator}2\n" for value in values.split()))
    with pytest.raises(TableError, match=rf"Column 'a' has {shown}, .*--thousands \.\) or .*--decimal \.\)"):
        read_table(path)
    assert read_table(path, decimal=".")["a"][0] == float(values.split()[0])
    assert read_table(path, thousands=".")["a"].tolist() == [float(v.replace(".", "")) for v in values.split()]


@pytest.mark.parametrize("values", ["1.244 0.709 3", "1.244 7.5 3", "1.244 1709", "1.244 3.501", "7 NA"])
def test_points_that_can_only_be_decimal_points(tmp_path, values):
    (tmp_path / "t.csv").write_text("a;b\n" + "".join(f"{value};1\n" for value in values.split()))
    expected = [np.nan if value == "NA" else float(value) for value in values.split()]
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv")["a"], expected)


def test_the_minus_of_typographers(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n\u2212132,10;2\n5,5;\u22123\n", encoding="utf-8")
    frame = read_table(tmp_path / "t.csv")
    assert (frame["a"].tolist(), frame["b"].tolist()) == ([-132.1, 5.5], [2, -3])


@pytest.mark.parametrize(
    ("text", "expected", "note"),
    [
        ("a;b\n1,234,567;2\n5,678;3\n", [1234567, 5678], "Read ',' as what stands between thousands: 'a'."),
        ("a;b\n1,234.5;2\n5,678;3\n", [1234.5, 5678], "Read ',' as what stands between thousands: 'a'."),
        ('a,b\n"1,234",2\n"567",3\n', [1234, 567], "Read ',' as what stands between thousands: 'a'."),
        ("a;b\n1.234,5;2,5\n678,25;3\n", [1234.5, 678.25], "Read '.' as what stands between thousands: 'a'."),
        ("a;b\n1'234;2\n567;3\n", [1234, 567], "Read \"'\" as what stands between thousands: 'a'."),
        ("a;b\n1\u00a0234;2\n567;3\n", [1234, 567], "Read '\\xa0' as what stands between thousands: 'a'."),
        ("a,b\n12.5%,2\n-3 %,3\n", [12.5, -3], "Percentages, read without their sign: 'a'."),
        ("a;b\n12,5%;2,5\n3%;3\n", [12.5, 3], "Percentages, read without their sign: 'a'."),
        ('a,b\n"1,5",2\n"2,25",3\n', [1.5, 2.25], "Commas are decimal points."),
    ],
)
def test_numbers_with_signs(tmp_path, text, expected, note):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    frame = read_table(tmp_path / "t.csv")
    assert frame["a"].tolist() == expected
    assert note in frame.attrs["notes"]
    assert frame["b"].dtype.kind in "if"


def test_quoted_numbers_are_numbers(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n"1.5","2"\n"2.5","3"\n')
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv").to_numpy(), [[1.5, 2], [2.5, 3]])


def test_names_of_rows_are_left_out(tmp_path):
    (tmp_path / "t.csv").write_text('"","mpg","cyl"\n"Mazda RX4",21,6\n"Datsun 710",22.8,4\n')
    frame = read_table(tmp_path / "t.csv")
    assert frame.columns.tolist() == ["mpg", "cyl"]
    assert frame.attrs["notes"] == ["Left out the first column, which has no name and names the rows."]


def test_a_line_with_too_few_names_says_what_to_do(tmp_path):
    (tmp_path / "t.csv").write_text('"mpg","cyl"\n"Mazda RX4",21,6\n"Datsun 710",22.8,4\n')
    with pytest.raises(TableError, match="give each column a name, that of row names, too"):
        read_table(tmp_path / "t.csv")


def test_kinds_go_with_the_frame(tmp_path):
    rows = "".join(f"{k % 7},{k % 3 + 1}\n" for k in range(60))
    (tmp_path / "t.csv").write_text(f"visits,stage\n{rows}")
    (tmp_path / "kinds.toml").write_text('stage = "categorical"\n')
    for kinds in ({"stage": "categorical"}, "stage=categorical", tmp_path / "kinds.toml", "st*=categorical"):
        table = as_table(read_table(tmp_path / "t.csv", kinds=kinds))
        assert table.kinds == ("continuous", "categorical")
        assert table.labels == ((), ("1", "2", "3"))
    with pytest.raises(TableError, match="the table has no column 'stag'; did you mean 'stage'"):
        read_table(tmp_path / "t.csv", kinds={"stag": "categorical"})


def test_what_the_file_does_not_say_is_said_by_the_caller(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe/b\n1.5/-99\nfehlt/2\n".encode("latin-1"))
    found = read_table(path, separator="/", encoding="latin-1", na_values=["-99", "fehlt"])
    assert found.columns.tolist() == ["größe", "b"]
    np.testing.assert_array_equal(found.to_numpy(), [[1.5, np.nan], [np.nan, 2]])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_marks_of_an_encoding_are_heeded(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes("größe,b\n1,2\n".encode(encoding))
    assert read_table(tmp_path / "t.csv").columns.tolist() == ["größe", "b"]


def test_signs_in_a_column_of_numbers_are_missing_values(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,?,x\n?,2,-\n3,.,y\n")
    found = read_table(tmp_path / "t.csv")
    np.testing.assert_array_equal(found[["a", "b"]].to_numpy(), [[1, np.nan], [np.nan, 2], [3, np.nan]])
    assert found["c"].tolist() == ["x", "-", "y"]  # a column of text is left alone
    assert found.attrs["notes"] == ["Read '?' and '.' as missing."]


def test_how_a_file_was_read_is_among_the_notes_of_a_fit(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", sep=";")
    notes = CAM().fit(read_table(tmp_path / "t.csv")).notes_
    assert notes[:2] == [
        "Columns of 't.csv' are separated by semicolons.",
        "Left out the first column, which has no name and counts the rows.",
    ]


def test_archives(frame, tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("t.csv", frame.to_csv(index=False))
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv.zip"), frame)
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "a") as archive:
        archive.writestr("u.csv", "")
    with pytest.raises(TableError, match="holds 2 files: unpack it"):
        read_table(tmp_path / "t.csv.zip")


@pytest.mark.parametrize(
    ("columns", "exclude", "expected"),
    [
        (None, None, ["gene1", "gene2", "dose", "size, in cm"]),
        ("dose, gene1", None, ["dose", "gene1"]),
        ("gene*,dose", None, ["gene1", "gene2", "dose"]),
        ("*", "gene?", ["dose", "size, in cm"]),
        (None, "size, in cm", ["gene1", "gene2", "dose"]),
        ('dose,"size, in cm"', None, ["dose", "size, in cm"]),
        ("dose,*", "gene[12]", ["dose", "size, in cm"]),
    ],
)
def test_selection_of_columns(columns, exclude, expected):
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=["gene1", "gene2", "dose", "size, in cm"])
    assert select_columns(frame, columns, exclude).columns.tolist() == expected


def test_an_unknown_column_is_named():
    frame = pd.DataFrame([[1, 2]], columns=["gene1", "dose"])
    with pytest.raises(TableError, match=r"no column 'doze'; did you mean 'dose'\?"):
        select_columns(frame, None, "doze")
    many = pd.DataFrame(np.ones((2, 12)), columns=[f"a, {k}" for k in range(12)])
    with pytest.raises(TableError, match=r"no column 'x': it has 'a, 0', 'a, 1', .*, 'a, 9' and 2 more\."):
        select_columns(many, "x", None)
    with pytest.raises(TableError, match=r"no column 'x\*': it has 'gene1', 'dose'\."):
        select_columns(frame, "x*", None)
