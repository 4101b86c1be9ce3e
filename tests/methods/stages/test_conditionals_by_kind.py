import numpy as np
import pandas as pd
import pytest

from grandag.methods.stages.conditionals_by_kind import _with_rare, conditionals_by_kind
from grandag.methods.stages.family_conditionals import FamilyConditional
from grandag.methods.stages.gaussian_process import ProcessConditional
from grandag.model import CausalModel
from grandag.table import as_table

NAMES = ["x", "y", "smoker", "city", "visits"]
GRAPH = np.zeros((5, 5), dtype=bool)
GRAPH[[0, 2, 0, 3, 0], [1, 1, 2, 4, 3]] = True  # x -> y, smoker -> y, x -> smoker, city -> visits, x -> city


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    smoker = rng.random(n) < 1 / (1 + np.exp(-2 * x))
    city = np.where(x + rng.normal(size=n) > 0.5, "Rome", np.where(rng.random(n) < 0.5, "Oslo", "Bern"))
    y = np.where(smoker, np.sin(3 * x), x**2) + 0.2 * rng.normal(size=n)
    visits = rng.poisson(np.where(city == "Rome", 6.0, 1.5))
    return pd.DataFrame({"x": x, "y": y, "smoker": smoker, "city": city, "visits": visits})


@pytest.fixture(scope="module")
def fitted():
    table = as_table(mixed(400, 1))
    assert table.kinds == ("continuous", "continuous", "binary", "categorical", "count")
    return table, conditionals_by_kind(table, GRAPH, np.random.default_rng(0), 1)


def test_every_variable_has_the_regression_of_its_kind(fitted):
    """A binary parent is as good as a number; that functions of x differ by it, no additive regression could say."""
    types = [type(conditional) for conditional in fitted[1].conditionals]
    assert types == [ProcessConditional] * 2 + [FamilyConditional] * 3


def test_a_number_with_a_categorical_parent_has_an_additive_regression():
    table, graph = as_table(mixed(200, 2)), np.zeros((5, 5), dtype=bool)
    graph[3, 1] = True
    found = conditionals_by_kind(table, graph, np.random.default_rng(0), 1)
    assert isinstance(found.conditionals[1], FamilyConditional)


def test_held_out_likelihood_is_that_of_new_rows(fitted):
    """And near the truth's: the noise of y, whose function is an interaction, is 0.2."""
    table, found = fitted
    model = CausalModel(table.names, GRAPH, found.conditionals, columns=table.columns)
    new = model.log_densities(mixed(4000, 9))
    assert found.held_out_log_likelihood == pytest.approx(new.sum(axis=1).mean(), abs=0.35)
    truth = -0.5 * np.log(2 * np.pi * np.e * 0.04)
    assert truth - 0.25 < new["y"].mean() <= truth + 0.02
    assert found.concerns == ()


def test_what_is_in_one_row_only_is_fitted():
    values = np.zeros((50, 2))
    values[:, 0], values[17, 1] = np.arange(50), 1
    assert _with_rare(values, np.array([3, 4])).tolist() == [3, 4, 17]
    assert _with_rare(values, np.array([17, 4])).tolist() == [17, 4]


def test_a_label_in_one_row():
    frame = mixed(60, 3).drop(columns="city").assign(smoker=np.arange(60) == 7)
    for seed in range(4):
        found = conditionals_by_kind(as_table(frame), np.zeros((4, 4), dtype=bool), np.random.default_rng(seed), 1)
        assert np.isfinite(found.held_out_log_likelihood)
