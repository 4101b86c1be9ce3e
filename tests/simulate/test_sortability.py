import numpy as np
import pytest

from grandag import datasets
from grandag.simulate import complete, draw_scenario, r2_sortability, varsortability

VARSORTABILITY, R2_SORTABILITY = 2 / 3, 32 / 39
CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def test_sachs_as_by_causaldisco():
    """var_sortability and r2_sortability of the PyPI package CausalDisco 0.2.4 on the bundled Sachs data."""
    sachs = datasets.load_sachs()
    assert varsortability(sachs.data, sachs.adjacency) == pytest.approx(VARSORTABILITY, abs=1e-12)
    assert r2_sortability(sachs.data, sachs.adjacency) == pytest.approx(R2_SORTABILITY, abs=1e-12)


def test_by_hand(rng):
    """0 -> 1 -> 2: pairs (0, 1), (1, 2) and, by a path of length 2, (0, 2)."""
    rows = rng.normal(size=(100, 3))
    rows /= rows.std(axis=0)
    assert varsortability(rows * [1, 2, 3], CHAIN) == 1
    assert varsortability(rows * [3, 2, 1], CHAIN) == 0
    assert varsortability(rows * [2, 1, 3], CHAIN) == pytest.approx(2 / 3)
    assert varsortability(rows, CHAIN) == 0.5  # equal but for rounding


def test_linear_data_with_large_weights_are_sortable_until_rescaled(rng):
    rows = np.zeros((2000, 6))
    for column in range(6):
        rows[:, column] = 1.5 * rows[:, :column].sum(axis=1) + rng.normal(size=2000)
    graph = np.triu(np.ones((6, 6), dtype=bool), 1)
    assert varsortability(rows, graph) == 1
    assert varsortability(rows / rows.std(axis=0), graph) == 0.5
    assert r2_sortability(rows, graph) == pytest.approx(r2_sortability(rows / rows.std(axis=0), graph))


def test_rescaled_kinds_say_nothing_by_variance():
    scenario = draw_scenario("pnl-gp", complete(5, 0), 300, 0)
    assert varsortability(scenario.data, scenario.adjacency) == 0.5


def test_not_defined(rng):
    rows = rng.normal(size=(50, 3))
    assert np.isnan(varsortability(rows, np.zeros((3, 3), dtype=bool)))
    assert np.isnan(r2_sortability(rows[:3], CHAIN))
    assert np.isnan(r2_sortability(np.column_stack([rows[:, :2], rows[:, 0]]), CHAIN))
    assert np.isnan(r2_sortability(np.column_stack([rows[:, :2], np.ones(50)]), CHAIN))
