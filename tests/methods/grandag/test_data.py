"""Rows of long tables: those that are held out are never trained on, and all others are."""

import numpy as np
import pytest

from grandag.methods.grandag.columns import encode
from grandag.methods.grandag.data import DataConfig, prepare
from grandag.table import as_table

N = 5000


@pytest.fixture
def table(monkeypatch, rng):
    """Every row has a number of its own; a table of more than 1,000 rows is long."""
    for module in ("table", "methods.grandag.data"):
        monkeypatch.setattr(f"grandag.{module}.MANY_ROWS", 1000)
    return as_table(np.column_stack([np.arange(N), rng.normal(size=N)]).astype(np.float32))


def encoding(table, standardise=True):
    return encode(table, ["additive-gaussian"] * 2, standardise=standardise)


def numbers(rows, scaling):
    """The numbers of scaled rows."""
    return (rows[:, 0] * scaling.scale[0] + scaling.mean[0]).round().astype(int).tolist()


def test_a_long_table_is_read_in_parts(table, rng):
    data = prepare(table, encoding(table), DataConfig(max_held_out=200, dtype="float64"), rng, None)
    held_out = numbers(data.held_out, data.encoding.scaling)
    parts = [data.rows, *(data.pool.others() for _ in range(40))]
    found = [numbers(part, data.encoding.scaling) for part in parts]
    assert (len(set(held_out)), data.n_rows) == (200, N - 200)
    assert all(len(set(part)) == 1000 for part in found)
    assert set().union(*found) == set(range(N)) - set(held_out)
    np.testing.assert_allclose(np.bincount(np.concatenate(found), minlength=N)[held_out].max(), 0)
    rows = np.concatenate([*parts, data.held_out])
    np.testing.assert_array_equal(np.unique(numbers(rows, data.encoding.scaling)), np.arange(N))
    assert data.notes[0] == "200 of the 5,000 rows are held out (max_held_out)."


def test_the_rows_of_a_part_are_in_random_order(table, rng):
    """The expected Jacobian takes the first of them."""
    data = prepare(table, encoding(table), DataConfig(), rng, None)
    order = np.array(numbers(data.rows, data.encoding.scaling))
    assert abs(np.corrcoef(np.arange(1000), order)[0, 1]) < 0.15


def test_with_rows_held_out_by_the_user_all_others_are_trained_on(table, rng):
    data = prepare(table, encoding(table, standardise=False), DataConfig(), rng, as_table(np.ones((20, 2))))
    found = {number for _ in range(60) for number in numbers(data.pool.others(), data.encoding.scaling)}
    assert found == set(range(N))
    assert (data.n_rows, data.held_out.shape) == (N, (20, 2))


def test_what_fits_into_one_part_is_not_replaced(table, rng):
    data = prepare(table, encoding(table), DataConfig(held_out_fraction=0.85), rng, None)
    assert data.pool.others is None
    assert len(data.rows) == data.n_rows == 750
    held_out = {*numbers(data.held_out, data.encoding.scaling)}
    assert {*numbers(data.rows, data.encoding.scaling)} == set(range(N)) - held_out
