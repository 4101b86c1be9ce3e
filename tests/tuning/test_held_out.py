"""Fits scored on held-out rows: what the score is, and which stage sees which rows."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from grandag import CAM, NOTEARS, GraNDAG, TrainingError, compare, tune
from grandag import model as model_module
from grandag.methods import estimator as shell
from grandag.methods.grandag import grandag as grandag_module
from grandag.methods.registry import METHODS
from grandag.methods.stages import final_edges
from grandag.parameters import ParameterError
from grandag.table import Table, TableError, as_table
from grandag.tuning import held_out as held_out_module
from grandag.tuning.held_out import held_out_fit, hold_out
from tests.conftest import nonlinear_chain
from tests.methods.linear import linear_data

QUICK = {
    "grandag": {"max_iterations": 400, "n_jobs": 1},
    "grandag++": {"max_iterations": 400, "n_jobs": 1},
    "grandag-shared": {"max_iterations": 400, "n_jobs": 1},
    "dag-gnn": {"n_epochs": 5},
}
"""So that a fit takes no time; whether it is good does not matter here."""


@pytest.fixture
def linear(rng):
    values, _, _ = linear_data(rng, d=5, n_edges=5, n=400)
    return pd.DataFrame(values, columns=list("abcde"))


@pytest.fixture
def split(monkeypatch):
    """What the last fit was given: rows to train on, rows held out."""
    seen = {}
    build = held_out_module.build

    def build_with_spy(*arguments, **options):
        estimator = build(*arguments, **options)
        fit = estimator.fit

        def spy(X, *, held_out, listener):
            seen.update(train=X, held_out=held_out)
            return fit(X, held_out=held_out, listener=listener)

        estimator.fit = spy
        return estimator

    monkeypatch.setattr(held_out_module, "build", build_with_spy)
    return seen


def by_hand(adjacency, train, held_out):
    """Mean log-density per row of least squares on the parents, fitted to the rows of `train`."""
    densities = []
    for j in range(len(adjacency)):
        parents = np.flatnonzero(adjacency[:, j])
        design, new = (np.column_stack([np.ones(len(rows)), rows[:, parents]]) for rows in (train, held_out))
        coefficients = np.linalg.lstsq(design, train[:, j], rcond=None)[0]
        deviation = np.sqrt(np.mean((train[:, j] - design @ coefficients) ** 2))
        densities.append(stats.norm.logpdf(held_out[:, j], new @ coefficients, deviation))
    return np.sum(densities, axis=0).mean()


def rows_of(*tables):
    """The rows of these tables together, as a set."""
    return {tuple(row) for table in tables for row in table.values}


def test_a_fifth_is_held_out(linear):
    table = as_table(linear)
    train, held_out = hold_out(table, seed=1)
    assert (len(train.values), len(held_out.values)) == (320, 80)
    assert rows_of(train, held_out) == rows_of(table)
    assert train.names == held_out.names == table.names


def test_some_rows_of_a_very_long_table_are_split(linear, monkeypatch):
    assert held_out_fit("notears", {}, linear, seed=1).note == ""
    monkeypatch.setattr(held_out_module, "MOST_ROWS", 200)
    table = as_table(linear)
    train, held_out = hold_out(table, seed=1)
    assert (len(train.values), len(held_out.values)) == (160, 40)
    assert len(rows_of(train, held_out)) == 200
    assert rows_of(train, held_out) < rows_of(table)
    place = {tuple(row): k for k, row in enumerate(table.values)}
    for part in (train, held_out):
        places = [place[tuple(row)] for row in part.values]
        assert places == sorted(places)
        assert max(places) > 300  # not the first ones only
    assert rows_of(hold_out(table, seed=2)[1]) != rows_of(held_out)
    fit = held_out_fit("notears", {}, linear, seed=1)
    assert fit.note == "The held-out score is from 200 of the 400 rows, drawn at random."
    assert tune(linear, "notears", trials=1, n_jobs=1).describe().endswith(f". {fit.note}")
    assert compare(linear, ["notears"]).results["notears"].notes[-1] == fit.note


def test_rows_are_split_once_per_seed(linear, split):
    held_out_fit("notears", {}, linear, seed=1)
    train, held_out = split["train"], split["held_out"]
    expected = hold_out(as_table(linear), 1)
    assert [rows_of(train), rows_of(held_out)] == [rows_of(part) for part in expected]
    held_out_fit("cam", {"prune_cutoff": 0.1}, linear, seed=1)
    np.testing.assert_array_equal(split["held_out"].values, held_out.values)
    held_out_fit("notears", {}, linear, seed=2)
    assert rows_of(split["held_out"]) != rows_of(held_out)


def test_the_table_is_checked_once(linear, split):
    """What is a `Table` has been checked: it is split as it is, and so are its parts."""
    table = as_table(linear)
    held_out_fit("notears", {}, table, seed=1)
    assert isinstance(split["train"], Table) and isinstance(split["held_out"], Table)
    assert held_out_module.as_table(table) is table


@pytest.mark.parametrize("sparsity", [0.01, 0.5])
def test_score_is_that_of_the_retrained_model_without_regulariser(linear, split, sparsity):
    fit = held_out_fit("notears", {"sparsity": sparsity, "weight_threshold": 0.1}, linear, seed=1)
    assert fit.n_edges > 2
    expected = by_hand(fit.adjacency, split["train"].values, split["held_out"].values)
    assert fit.score == pytest.approx(expected, rel=1e-9)
    assert (fit.names, fit.converged, fit.method) == (tuple("abcde"), True, "notears")
    assert fit.parameters == {"sparsity": sparsity, "weight_threshold": 0.1}
    assert fit.iterations > 0


@pytest.mark.parametrize(("method", "parameters"), [("cam", {}), ("notears", {"standardise": True})])
def test_scores_are_in_the_units_of_the_table(linear, method, parameters):
    other_units = linear.assign(b=1000 * linear["b"] + 7)
    fits = [held_out_fit(method, parameters, X, seed=1) for X in (linear, other_units)]
    np.testing.assert_array_equal(fits[0].adjacency, fits[1].adjacency)
    assert fits[1].score - fits[0].score == pytest.approx(-math.log(1000), rel=1e-5)


def test_score_of_grandag_is_its_own_held_out_likelihood(rng, split):
    X = nonlinear_chain(rng, 300)
    parameters = {"n_units": 4, "n_jobs": 1}
    fit = held_out_fit("grandag", parameters, X, seed=2, preset="fast")
    train, held_out = split["train"], split["held_out"]
    assert len(held_out.values) == 60
    model = GraNDAG.preset("fast", **parameters, random_state=2).fit(train, held_out=held_out)
    assert fit.score == pytest.approx(model.held_out_log_likelihood_, rel=1e-5)
    assert fit.converged == model.converged_
    assert fit.iterations == model.n_iter_


def test_constant_columns_do_not_count(linear):
    without = held_out_fit("notears", {}, linear, seed=1)
    with pytest.warns(UserWarning, match="Constant columns"):
        fit = held_out_fit("notears", {}, linear.assign(f=3.0), seed=1)
    assert fit.score == pytest.approx(without.score, rel=1e-12)
    assert fit.adjacency.shape == (6, 6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_methods_with_a_density(method, linear):
    fit = held_out_fit(method, QUICK.get(method, {}), linear, seed=1)
    assert math.isfinite(fit.score)
    assert fit.adjacency.shape == (5, 5)


@pytest.mark.parametrize("method", [method for method in METHODS if not method.startswith("grandag")])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_methods_without_early_stopping_never_look(method, linear):
    """The same fit, to the bit, whatever the held-out rows are."""
    entry = METHODS[method]
    parameters = {**entry.parameters, **QUICK.get(method, {})}
    if "random_state" in entry.estimator()().get_params():
        parameters["random_state"] = 1
    fits = [entry.estimator()(**parameters).fit(linear, held_out=rows) for rows in (None, linear[:50] * 1e6)]
    np.testing.assert_array_equal(fits[0].strength_, fits[1].strength_)
    np.testing.assert_array_equal(fits[0].adjacency_, fits[1].adjacency_)
    assert fits[0].score(linear) == fits[1].score(linear)


def numbers_of(given):
    """The numbers of a table, of a pool of rows, or of an array."""
    return getattr(given, "values", getattr(given, "rows", given))


@pytest.mark.parametrize(
    ("preset", "last", "conditionals", "seen"),
    [("default", "refine_graph", "fit_processes", [False]), ("fast", "SplineTable", "retrain", [False, True])],
)
def test_only_early_stopping_of_grandag_sees_held_out_rows(rng, monkeypatch, preset, last, conditionals, seen):
    """Held-out rows are of the order of a million, all others of one: who is given the large ones?"""
    train = nonlinear_chain(rng, 300)
    held_out = 1e6 + nonlinear_chain(rng, 60)
    saw = {}

    def spy(module, name, *arguments):
        """Note the largest number in each of these positions of a call."""
        original = getattr(module, name)

        def call(*args, **options):
            largest = [float(np.abs(numbers_of(args[k])).max()) for k in arguments]
            saw.setdefault(name, []).append([value > 1e3 for value in largest])
            return original(*args, **options)

        monkeypatch.setattr(module, name, call)

    spy(grandag_module, "select_neighbours", 0)
    spy(shell, "column_concerns", 0)
    spy(model_module, "noise_checks", 0)
    spy(grandag_module, "train", 0, 1)
    spy(grandag_module, "expected_jacobian", 1)
    spy(final_edges, last, 0)
    spy(grandag_module, conditionals, *range(len(seen)))
    model = GraNDAG.preset(preset, neighbour_selection=True, max_iterations=500, n_jobs=1, random_state=1)
    with pytest.warns(UserWarning, match="not acyclic"):
        model.fit(train, held_out=held_out)
    assert saw == {
        "select_neighbours": [[False]],
        "train": [[False, True]],
        "expected_jacobian": [[False]],
        last: [[False]],
        conditionals: [seen],
        "column_concerns": [[False]],
        "noise_checks": [[False]],
    }
    fitted = model.model_.conditionals
    np.testing.assert_allclose([conditional.mean for conditional in fitted], train.mean(axis=0))
    np.testing.assert_allclose([conditional.scale for conditional in fitted], train.std(axis=0))


def test_grandag_trains_on_all_rows_if_others_are_held_out(rng, monkeypatch):
    lengths, original = [], grandag_module.train

    def spy(rows, held_out, *others, **options):
        lengths.append((len(numbers_of(rows)), len(held_out)))
        return original(rows, held_out, *others, **options)

    monkeypatch.setattr(grandag_module, "train", spy)
    X = nonlinear_chain(rng, 200)
    model = GraNDAG.preset("fast", max_iterations=100, tolerance=10.0, retrain=False, prune=False)
    model.fit(X)
    model.fit(X[:150], held_out=X[150:])
    assert lengths == [(160, 40), (150, 50)]


def test_held_out_rows_have_the_columns_of_the_table(linear):
    with pytest.raises(TableError, match="X has 4 features, but NOTEARS is expecting 5"):
        NOTEARS().fit(linear, held_out=linear[list("abcd")])
    with pytest.raises(TableError, match="missing or infinite values in 'b'"):
        CAM().fit(linear, held_out=linear[:5].assign(b=np.nan))


def test_rows_with_missing_values(linear):
    gaps = linear.copy()
    gaps.loc[3, "c"] = np.nan
    with pytest.raises(TableError, match="missing or infinite values in 'c'"):
        held_out_fit("notears", {}, gaps)
    fit = held_out_fit("notears", {"missing": "drop"}, gaps)
    assert fit.score == held_out_fit("notears", {}, linear.drop(index=3)).score


def test_too_few_rows(linear):
    with pytest.raises(TableError, match="X has 12 sample"):
        held_out_fit("notears", {}, linear[:12])


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        ("nothing", {}, "'method' must be one of grandag, .*; got 'nothing'"),
        ("cam", {"n_units": 3}, "'n_units' has no meaning for the method 'cam'"),
        ("cam", {"prune_cutoff": 3}, "'prune_cutoff' must be"),
    ],
)
def test_illegal_arguments(linear, method, parameters, message):
    with pytest.raises(ParameterError, match=message):
        held_out_fit(method, parameters, linear)


def test_score_that_is_no_number(linear, monkeypatch):
    monkeypatch.setattr(NOTEARS, "score", lambda self, X: -math.inf)
    with pytest.raises(TrainingError, match="held-out score of 'notears' is -inf"):
        held_out_fit("notears", {}, linear)
