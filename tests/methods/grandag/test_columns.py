"""How columns enter: densities by kind and by name, what is read of them, against the same by hand."""

import numpy as np
import pytest

from grandag.methods.grandag.columns import Reading, densities_of, density_rule, encode
from grandag.parameters import ParameterError
from grandag.table import Scaling, Table

KINDS = ("continuous", "heavy-tailed", "binary", "categorical", "count")
AUTO = ("additive-gaussian", "student-t", "bernoulli", "categorical", "negative-binomial")


@pytest.fixture
def table(rng):
    n = 300
    values = np.column_stack(
        [5 + 3 * rng.normal(size=n), rng.standard_t(3, size=n), rng.random(n) < 0.3, rng.integers(3, size=n),
         rng.poisson(4, size=n)]
    )  # fmt: skip
    labels = ((), (), ("no", "yes"), ("a", "b", "c", "never"), ())
    return Table(values.astype(float), ("size", "loss", "smokes", "city", "visits"), True, kinds=KINDS, labels=labels)


@pytest.mark.parametrize(
    ("density", "expected"),
    [
        ("auto", AUTO),
        ({}, AUTO),
        ("gaussian", ("gaussian", "gaussian", *AUTO[2:])),
        ("additive-gaussian", ("additive-gaussian", "additive-gaussian", *AUTO[2:])),
        ("student-t", ("student-t", "student-t", *AUTO[2:])),
        ({"visits": "student-t", "smokes": "gaussian"}, (*AUTO[:2], "gaussian", "categorical", "student-t")),
        ({"*s*": "gaussian", "smokes": "auto"}, ("gaussian", "gaussian", "bernoulli", "categorical", "gaussian")),
        (["gaussian", "auto", "auto", "categorical", "student-t"], ("gaussian", *AUTO[1:4], "student-t")),
    ],
)
def test_densities(table, density, expected):
    assert density_rule.is_legal(density)
    assert densities_of(density, table) == expected


@pytest.mark.parametrize(
    ("density", "message"),
    [
        ({"city": "gaussian"}, "'gaussian' for 'city', which is categorical: it can be 'categorical'"),
        ({"size": "bernoulli"}, "'bernoulli' for 'size', which is continuous"),
        ("negative-binomial", "'negative-binomial' for 'size', which is continuous"),
        (("gaussian",), "has 1 entries for 5 columns"),
        ({"vists": "student-t"}, "'vists', which is no column; did you mean 'visits'"),
    ],
)
def test_densities_that_do_not_fit(table, density, message):
    with pytest.raises(ParameterError, match=message):
        densities_of(density, table)


@pytest.mark.parametrize("density", [None, 3, "normal", {"size": "normal"}, ["normal"], [1]])
def test_illegal_densities(density):
    assert not density_rule.is_legal(density)


def test_densities_on_the_command_line():
    assert density_rule.parse("gaussian") == "gaussian"
    assert density_rule.parse('size=student-t, "a, b"=gaussian') == {"size": "student-t", "a, b": "gaussian"}


def test_columns_of_every_kind(table):
    """Its own values, then what is read of labels and counts: all that is read has mean 0 and variance 1."""
    encoding = encode(table, AUTO, standardise=True)
    rows = encoding.apply(table.values, "float64")
    numbers, counts = table.values[:, :2], np.log1p(table.values[:, 4])
    np.testing.assert_allclose(rows[:, :2], (numbers - numbers.mean(axis=0)) / numbers.std(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(rows[:, 2:5], table.values[:, 2:])
    assert [variable.columns for variable in encoding.variables] == [
        range(1), range(1, 2), range(5, 6), range(6, 10), range(10, 11),
    ]  # fmt: skip
    indicators = np.column_stack([table.values[:, 2], *(table.values[:, 3] == k for k in range(3))])
    np.testing.assert_allclose(rows[:, 5:9], (indicators - indicators.mean(axis=0)) / indicators.std(axis=0))
    assert (rows[:, 9] == 0).all()  # the label that no row has
    np.testing.assert_allclose(rows[:, 10], (counts - counts.mean()) / counts.std(), rtol=1e-12)
    assert [len(variable.outputs) for variable in encoding.variables] == [1, 1, 1, 4, 1]


def test_columns_as_they_are(table):
    rows = encode(table, AUTO, standardise=False).apply(table.values, "float64")
    np.testing.assert_array_equal(rows[:, :5], table.values)
    np.testing.assert_array_equal(rows[:, 5], table.values[:, 2])
    np.testing.assert_array_equal(rows[:, 6:10], table.values[:, 3:4] == np.arange(4))
    np.testing.assert_array_equal(rows[:, 10], np.log1p(table.values[:, 4]))


def test_numbers_have_no_other_columns(table):
    """Counts and labels of two values whose density is one of numbers are numbers."""
    densities = ("additive-gaussian", "student-t", "gaussian", "categorical", "additive-gaussian")
    encoding = encode(table, densities, standardise=True)
    rows = encoding.apply(table.values, "float64")
    assert rows.shape == (300, 9)
    np.testing.assert_allclose(rows[:, [0, 1, 2, 4]].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(rows[:, [0, 1, 2, 4]].std(axis=0), 1, rtol=1e-12)
    assert encoding.variables[4].columns == range(4, 5)


def test_parents_are_read_as_in_training(table):
    """Of some columns, in their order."""
    encoding = encode(table, AUTO, standardise=True)
    rows = encoding.apply(table.values, "float64")
    chosen = np.array([True, False, False, True, True])
    found = encoding.reading.of(chosen).apply(table.values[:, chosen], "float64")
    np.testing.assert_allclose(found, rows[:, [0, 6, 7, 8, 9, 10]], rtol=1e-12)
    nothing = encoding.reading.of(np.zeros(5, dtype=bool))
    assert nothing.apply(np.empty((7, 0)), "float64").shape == (7, 0)


def test_what_is_read_must_fit_together():
    scaling = Scaling(np.zeros(4), np.ones(4))
    good = Reading(np.array([0, 3]), np.array([True, False]), scaling)
    assert good.is_consistent(2)
    assert not good.is_consistent(3)
    assert not Reading(np.array([0, 4]), good.is_count, scaling).is_consistent(2)
    assert not Reading(np.array([0.0, 3.0]), good.is_count, scaling).is_consistent(2)
    assert not Reading(np.array([-1, 3]), good.is_count, scaling).is_consistent(2)
    assert not Reading(good.n_labels, np.array([0, 1]), scaling).is_consistent(2)
