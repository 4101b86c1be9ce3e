"""The share of variance that an edge explains."""

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag.methods.stages.explained import explained
from grandag.table import as_table

PAIR = np.array([[0, 1], [0, 0]], dtype=bool)


def test_linear_shares_are_those_of_the_closed_form(rng):
    """y = 2 a + b + noise of variance 4: 4 / 9 and 1 / 9 of the variance; units do not matter."""
    a, b = rng.normal(size=(2, 2000))
    y = 2 * a + b + 2 * rng.normal(size=2000)
    adjacency = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    shares = explained(as_table(np.column_stack([1000 * a + 7, b, 0.01 * y])), adjacency)
    np.testing.assert_allclose(shares[:2, 2], [4 / 9, 1 / 9], atol=0.03)
    assert np.isnan(shares[~adjacency]).all()


def test_what_two_parents_share_belongs_to_neither(rng):
    """b = a + noise of variance 1/4, y = a + b + noise of variance 1: b adds 1/4 x 1 to what a explains."""
    a = rng.normal(size=2000)
    b = a + 0.5 * rng.normal(size=2000)
    y = a + b + rng.normal(size=2000)
    adjacency = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    shares = explained(as_table(np.column_stack([a, b, y])), adjacency)
    assert shares[1, 2] == pytest.approx(0.25 / 5.25, abs=0.02)


@pytest.mark.parametrize("function", [np.abs, np.tanh, lambda x: np.sin(2 * x)])
def test_curves_count(rng, function):
    x = rng.normal(size=2000)
    signal = function(x)
    y = signal + signal.std() * rng.normal(size=2000)
    assert explained(as_table(np.column_stack([x, y])), PAIR)[0, 1] == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("n", [15, 30, 100, 1000])
def test_chance_explains_nothing(rng, n):
    """On average over tables: each piece of a curve explains 1 / n by chance, which the adjustment takes off."""
    shares = [explained(as_table(rng.normal(size=(n, 2))), PAIR)[0, 1] for _ in range(200)]
    assert np.mean(shares) < 1.5 / n


def test_odd_columns(rng):
    """Two values, a rare one that the rows used do not have, and more parents than rows."""
    rows = np.column_stack([rng.integers(2, size=5000), np.zeros(5000), rng.normal(size=5000)])
    rows[1, 1] = 1.0
    adjacency = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
    assert (explained(as_table(rows), adjacency)[adjacency] < 0.01).all()
    wide = np.zeros((30, 30), dtype=bool)
    wide[:29, 29] = True
    shares = explained(as_table(rng.normal(size=(20, 30))), wide)[:29, 29]
    assert ((shares >= 0) & (shares <= 1)).all()


def test_every_method_has_it_beside_its_own_strength(rng):
    a, b = rng.normal(size=(2, 300))
    frame = pd.DataFrame({"a": a, "b": b, "c": a + b + rng.normal(size=300)})
    for estimator in (grandag.CAM(), grandag.GES(), grandag.PC(), grandag.NOTEARS()):
        edges = estimator.fit(frame).edges_.set_index(["source", "target"])["explained"]
        assert edges["a", "c"] == pytest.approx(1 / 3, abs=0.1), type(estimator)


def test_an_undirected_edge_has_one_share(rng):
    a = rng.normal(size=300)
    frame = pd.DataFrame({"a": a, "b": a + rng.normal(size=300)})
    model = grandag.GES().fit(frame)
    assert model.edges_["type"].tolist() == ["--"]
    shares = [model.graph_.edges[pair]["explained"] for pair in (("a", "b"), ("b", "a"))]
    assert shares[0] == shares[1] == pytest.approx(0.5, abs=0.1)
