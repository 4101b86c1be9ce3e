"""What columns hold: found in the values, or as the user says."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from grandag import CAM, NOTEARS, TrainingError, compare
from grandag.kinds import kind_of_numbers, label_of, labels_as_numbers
from grandag.table import KindError, TableError, as_table

N = 200


@pytest.fixture
def frame(rng):
    return pd.DataFrame(
        {
            "age": rng.normal(50, 10, N),
            "city": rng.permutation(["Rome", "Oslo", "Bonn", "Oslo"] * 50),
            "smoker": rng.permutation(["yes", "no"] * 100),
            "treated": rng.permutation([True, False] * 100),
            "visits": rng.permutation([0, 0, 1, 1, 2, 0, 1, 5] * 25),
            "answer": rng.permutation([1, 2, 3, 4, 5] * 40),
        }
    )


def months_and_days():
    """N numbers of month and day, which begin with the last of January."""
    return np.array([131, 229, 1231, 1101] * (N // 4))


KINDS = ("continuous", "categorical", "binary", "binary", "count", "continuous")


@pytest.mark.parametrize("convert", [lambda f: f, pl.from_pandas])
def test_kinds_are_found_and_said(frame, convert):
    table = as_table(convert(frame))
    assert table.kinds == KINDS
    assert table.labels == ((), ("Bonn", "Oslo", "Rome"), ("no", "yes"), ("False", "True"), (), ())
    np.testing.assert_array_equal(table.values[:, 1], frame["city"].map({"Bonn": 0, "Oslo": 1, "Rome": 2}))
    np.testing.assert_array_equal(table.values[:, 2], frame["smoker"] == "yes")
    decided, unclear = table.notes
    assert decided == (
        "Kinds of columns, by their values: categorical 'city' ('Bonn', 'Oslo', 'Rome'); binary 'smoker' ('no', "
        "'yes'), 'treated' ('False', 'True'); count 'visits' (whole numbers from 0 to 5, skewed to the right). kinds "
        "(--kinds) decides otherwise."
    )
    assert unclear.startswith("Taken for numbers: 'answer' (5 whole numbers, 1 to 5).")


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["low", "mid", "high", "low"] * 50, categories=["low", "mid", "high", "never"]),
        pl.Series(["low", "mid", "high", "low"] * 50, dtype=pl.Enum(["low", "mid", "high", "never"])),
    ],
)
def test_categories_keep_their_order_without_those_of_no_row(rng, column):
    table = as_table((pl if isinstance(column, pl.Series) else pd).DataFrame({"x": rng.normal(size=N), "c": column}))
    assert table.labels[1] == ("low", "mid", "high")
    np.testing.assert_array_equal(table.values[:4, 1], [0, 1, 2, 0])


def test_categories_of_polars(rng):
    column = pl.Series(["b", "a", "c", "a"] * 50, dtype=pl.Categorical)
    assert as_table(pl.DataFrame({"x": rng.normal(size=N), "c": column})).labels[1] == ("a", "b", "c")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1], "binary"),
        ([1, 2], "binary"),
        ([-1, 1, np.nan], "binary"),
        ([0, 0, 0, 1, 1, 2, 4], "count"),
        ([0, 1, 2, 3, 4], "continuous"),  # as likely a scale
        ([1, 1, 1, 2, 3], "continuous"),  # no zero
        ([0, 0, 0, 100, 5000], "continuous"),  # amounts
        ([5], "continuous"),
        ([np.nan], "continuous"),
    ],
)
def test_whole_numbers(values, kind):
    assert kind_of_numbers(np.tile(np.array(values, dtype=float), 20))[0] == kind


def test_numbers_with_fractions_are_numbers(rng):
    table = as_table(np.column_stack([rng.normal(size=N), rng.permutation([0.5, 1.0] * 100)]))
    assert table.kinds == ("continuous", "continuous")
    assert table.notes == ()


def test_the_user_decides(frame):
    kinds = {"answer": "categorical", "visits": "continuous", "treated": "continuous", "age": "heavy-tailed"}
    table = as_table(frame, kinds=kinds)
    assert table.kinds == ("heavy-tailed", "categorical", "binary", "continuous", "continuous", "categorical")
    assert table.labels[5] == ("1", "2", "3", "4", "5")
    np.testing.assert_array_equal(table.values[:, 5], frame["answer"] - 1)
    np.testing.assert_array_equal(table.values[:, 3], frame["treated"])
    assert not any("'answer'" in note or "'visits'" in note for note in table.notes)
    assert as_table(table, kinds={"answer": "count"}).kinds[5] == "count"
    np.testing.assert_array_equal(as_table(table, kinds={"answer": "count"}).values[:, 5], frame["answer"])


def test_ways_to_say_it(frame, tmp_path):
    (tmp_path / "kinds.toml").write_text('answer = "categorical"\n"vis*" = "continuous"\n')
    (tmp_path / "kinds.json").write_text(json.dumps({"answer": "categorical", "vis*": "continuous"}))
    ways = (tmp_path / "kinds.toml", str(tmp_path / "kinds.json"), "answer=categorical, vis*=continuous")
    for kinds in ways:
        assert as_table(frame, kinds=kinds).kinds == (*KINDS[:4], "continuous", "categorical")


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"ag": "count"}, "no column 'ag'; did you mean 'age'"),
        ({"age": "number"}, "'age' cannot be 'number'; the kinds are continuous, heavy-tailed"),
        ({"age": "count"}, "'age' is no count: row 1 has .* counts are 0, 1, 2"),
        ({"city": "count"}, "'city' is no number but has, for example, '.*': it can be binary or categorical"),
        ({"city": "binary"}, "'city' is not binary: it has 'Bonn', 'Oslo', 'Rome'. Say that it is categorical"),
        ({"answer": "binary"}, "'answer' is not binary: it has the values '1', '2', '3', '4', '5'"),
        ("nothing.toml", "there is no file 'nothing.toml'"),
        ("age=", "not of the form name=kind"),
    ],
)
def test_what_does_not_fit_is_refused(frame, kinds, message):
    with pytest.raises(TableError, match=message):
        as_table(frame, kinds=kinds)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pd.date_range("2020-01-01", periods=N).astype(str),
            r"holds dates or times, for example '2020-01-01': leave it",
        ),
        (["3.4.2020", "12.4.2020"] * 100, "holds dates or times"),
        (["10:30", "11:45"] * 100, "holds dates or times"),
        (["2020-01", "2020-12", "2021-3"] * 60, "holds dates or times"),
        (["1/2020", "12/2020"] * 100, "holds dates or times"),
        (["Jan-10", "May-10", "Dec-11"] * 60, "holds dates or times"),
        (["1 Mar 2000", "12 April 2000", "01may2000", "March 2, 2001"] * 50, "holds dates or times"),
        ([f"{k} Mar {1800 + k}" for k in range(N)], "holds dates or times"),
        (20200000 + months_and_days(), "holds dates or times, for example '20200131': .* say by kinds"),
        ([f"id {k}" for k in range(N)], "has 200 different texts in 200 rows, for example 'id 0': an identifier"),
        ([f"street {k % 90}" for k in range(N)], r"has 90 labels, .*merge rare ones.*\(--kinds\) insists"),
        (
            ["1.5", "2.5", "3", "unknown"] * 50,
            "holds numbers and texts, for example '1.5' and 'unknown': .*--na-values",
        ),
        (["1,5", "2,75"] * 100, "holds numbers as texts, for example '1,5': say what the signs"),
        (["1,5 %", "2,75 %"] * 100, "holds numbers as texts, for example '1,5 %': remove '%', so that"),
        (["$5,125.73", "-$12.50"] * 100, r"holds numbers as texts, for example '\$5,125\.73': remove '\$'"),
        (["5125,73 €", "12,5 €"] * 100, "holds numbers as texts, for example '5125,73 €': remove '€'"),
        (["43%", "43", "7", "8"] * 50, "holds numbers as texts, for example '43%': remove '%'"),
        (["\u2212132.10", "5.1", "\u22123"] * 60, "holds numbers as texts, for example '\u2212132.10'"),
    ],
)
def test_what_is_no_label_is_refused_with_advice(rng, column, message):
    with pytest.raises(TableError, match=f"Column 'c' {message}"):
        as_table(pd.DataFrame({"x": rng.normal(size=len(column)), "c": column}))


@pytest.mark.parametrize("column", [["Decile 1", "Decile 2"], ["18-24", "25-40"], ["Mar", "May"], ["Oct4", "Dec1"]])
def test_labels_that_are_no_dates(rng, column):
    assert as_table(pd.DataFrame({"x": rng.normal(size=N), "c": column * (N // 2)})).kinds[1] == "binary"


@pytest.mark.parametrize("day", [20200230, 20201301, 20200100, 20200201.5])
def test_numbers_that_are_no_dates(rng, day):
    values = np.where(rng.random(N) < 0.5, 20200131, [20200201, day] * (N // 2))
    assert as_table(np.column_stack([rng.normal(size=N), values])).kinds[1] == "continuous"


def test_identifiers_are_pointed_out(rng):
    persons = rng.permutation(100_000 + 7 * np.arange(N))
    frame = pd.DataFrame(
        {
            "person": persons,
            "running": np.sort(persons),
            "twice": np.append(persons[1:], persons[-1]),
            "longer": persons + 899_000,
            "short": persons - 80_000,
            "amount": persons + 0.5,
        }
    )
    (note,) = as_table(frame).notes
    assert note.startswith("Look like identifiers, whole numbers of one length that are all different: 'person'. Leave")
    assert as_table(frame, kinds={"person": "continuous"}).notes == ()


def test_many_labels_if_the_user_insists(rng):
    frame = pd.DataFrame({"x": rng.normal(size=N), "c": [f"street {k % 90}" for k in range(N)]})
    assert len(as_table(frame, kinds={"c": "categorical"}).labels[1]) == 90


def test_labels_of_dropped_rows_are_no_labels(frame):
    frame.loc[frame["city"] == "Bonn", "age"] = np.nan
    table = as_table(frame, missing="drop")
    assert table.labels[1] == ("Oslo", "Rome")
    assert table.kinds[1] == "binary"
    assert set(table.values[:, 1]) == {0.0, 1.0}


def test_missing_labels_are_missing(frame):
    frame.loc[3, "city"] = None
    with pytest.raises(TableError, match=r"'city' \(1 NaN, first in row 4\)"):
        as_table(frame)
    assert len(as_table(frame, missing="drop").values) == N - 1


def test_new_rows_have_the_codes_of_the_first(frame):
    table = as_table(frame)
    few = frame[frame["city"] == "Rome"]
    again = as_table(few, kinds=table.columns)
    assert (again.kinds, again.labels) == (table.kinds, table.labels)
    assert set(again.values[:, 1]) == {2.0}
    with pytest.raises(TableError, match=r"Column 'city' has the label 'Paris', which is not among .*: 'Bonn', 'Oslo'"):
        as_table(few.assign(city="Paris"), kinds=table.columns)
    np.testing.assert_array_equal(as_table(table.take(np.arange(15)), kinds=table.columns).values, table.values[:15])
    other = as_table(few.assign(city=few["city"].where(few.index > few.index[3], "Bonn")))
    np.testing.assert_array_equal(np.unique(as_table(other, kinds=table.columns).values[:, 1]), [0, 2])


def test_the_users_array_is_not_changed(rng):
    array = np.column_stack([rng.normal(size=N), rng.permutation([1.0, 2.0] * 100)])
    before = array.copy()
    table = as_table(array)
    assert set(table.values[:, 1]) == {0.0, 1.0}
    np.testing.assert_array_equal(array, before)


def test_kinds_of_some_rows_and_columns(frame):
    part = as_table(frame).select(np.array([4, 1])).take(np.arange(3))
    assert part.names == ("visits", "city")
    assert part.kinds == ("count", "categorical")
    assert part.labels == ((), ("Bonn", "Oslo", "Rome"))


def test_labels_as_text():
    assert {label_of(value) for value in (1, 1.0, np.int8(1), "1")} == {"1"}
    assert [label_of(value) for value in (" a ", True, 0.5)] == ["a", "True", "0.5"]
    assert labels_as_numbers(["False", "True"]).tolist() == [0, 1]
    assert labels_as_numbers(["1", "2.5"]).tolist() == [1, 2.5]
    assert labels_as_numbers(["1", "two"]) is None
    assert labels_as_numbers(["1", "inf"]) is None


@pytest.mark.filterwarnings("ignore")
class TestMethodsOfNumbers:
    def test_labels_are_refused_with_advice(self, frame):
        message = (
            r"Column 'city' is categorical \('Bonn', 'Oslo', 'Rome'\); 'smoker' is binary \('no', 'yes'\): NOTEARS "
        )
        with pytest.raises(KindError, match=message + r"takes numbers only; methods that take labels are grandag"):
            NOTEARS().fit(frame)

    @pytest.mark.parametrize("learner", [CAM, NOTEARS])
    @pytest.mark.parametrize("are_categories", [False, True])
    def test_codes_that_were_declared_to_be_labels_are_refused(self, frame, learner, are_categories):
        numbers = frame[["age", "visits", "answer"]]
        if are_categories:
            numbers, kinds = numbers.astype({"answer": "category"}), None
        else:
            kinds = "answer=categorical"
        message = (
            rf"Column 'answer' is categorical \('1', '2', '3', \.\.\.\): {learner.__name__} takes numbers only; .*"
        )
        with pytest.raises(KindError, match=message + r"say that they are numbers by kinds \(--kinds\)"):
            learner(kinds=kinds).fit(numbers)
        learner(kinds={"answer": "continuous"}).fit(numbers)

    def test_numbers_stay_numbers_to_the_bit(self, rng):
        """0 and 1, 1 and 2, truth values and counts: as before there were kinds."""
        x = rng.normal(size=N)
        columns = {
            "x": x,
            "group": 1.0 + (x + rng.normal(size=N) > 0),
            "hit": x > 0.5,
            "visits": rng.poisson(np.exp(x)),
        }
        frame = pd.DataFrame(columns)
        assert as_table(frame).kinds == ("continuous", "binary", "binary", "count")
        found = CAM().fit(frame)
        numbers = as_table(frame, numbers_only=True)
        assert [column.kind for column in found.learned_.columns] == ["continuous"] * 4
        assert "CAM takes for plain numbers: 'group', 'hit', 'visits'." in found.notes_
        plain = CAM().fit(numbers)
        np.testing.assert_array_equal(found.strength_, plain.strength_)
        np.testing.assert_array_equal(found.residuals(frame).to_numpy(), plain.residuals(numbers).to_numpy())
        assert found.score(frame) == plain.score(numbers)
        assert found.sample(5, 1).equals(plain.sample(5, 1))
        discrete = [concern for concern in found.warnings_ if concern.kind == "discrete columns"]
        assert set(discrete[0].variables) >= {"group", "hit"}

    def test_kinds_are_a_parameter(self, frame):
        numbers = frame[["age", "visits", "answer"]]
        with pytest.raises(TableError, match="no column 'vists'; did you mean 'visits'"):
            CAM(kinds={"vists": "count"}).fit(numbers)
        model = CAM(kinds="visits=count").fit(numbers)
        assert "CAM takes for plain numbers: 'visits'." in model.notes_
        assert CAM(kinds={"answer": "count"}).get_params()["kinds"] == {"answer": "count"}

    def test_a_comparison_goes_on_without_them(self, frame):
        with pytest.raises(TrainingError, match="2 methods failed, the first with: Column 'city' is categorical"):
            compare(frame[["age", "city", "visits"]], ["cam", "notears"], kinds={"city": "categorical"})
