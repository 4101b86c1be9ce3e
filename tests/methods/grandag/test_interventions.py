"""GraN-DAG under interventions, perfect and imperfect."""

import functools

import numpy as np
import pandas as pd
import pytest

from grandag import GraNDAG, simulate
from grandag.interventions import Regimes, as_regimes
from grandag.methods.grandag.columns import encode
from grandag.methods.grandag.data import DataConfig, prepare
from grandag.methods.grandag.regimes import divide, with_common_regimes
from grandag.metrics import shd
from grandag.simulate.files import simulate as draw
from grandag.table import Table, TableError, as_table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

fast = functools.partial(GraNDAG.preset, "fast", n_jobs=1, random_state=1)
KINDS = pytest.mark.parametrize("kind", ["perfect", "imperfect"])


@functools.cache
def linear(kind="perfect", seed=3):
    """Five variables, linear and Gaussian: their directions are known from interventions only."""
    scenario = draw("lin", graph="er", n_nodes=5, n_edges=5, n_rows=500, seed=2)
    return simulate.draw_regimes(scenario, intervened=0.5, intervention_kind=kind, random_state=seed)


def parts(model):
    """What a fit consists of, as arrays."""
    return [model.adjacency_, model.A_phi_, model.expected_jacobian_, model.strength_, model.trace_.to_numpy()]


@pytest.mark.parametrize("parameters", [{}, {"density": "gaussian"}, {"refine": True}])
def test_an_empty_column_of_regimes_is_the_observational_fit(parameters):
    data = linear().data
    plain = fast(max_iterations=1500, **parameters).fit(data)
    empty = fast(max_iterations=1500, **parameters).fit(data.assign(target=""), interventions="target")
    for own, other in zip(parts(plain), parts(empty), strict=True):
        np.testing.assert_array_equal(own, other)
    assert plain.held_out_log_likelihood_ == empty.held_out_log_likelihood_


def chain(n=1500):
    """a -> b -> c, linear and Gaussian; each was set in a sixth of the rows."""
    noise, turn = np.random.default_rng(4).normal(size=(n, 3)), np.arange(n) % 6
    a = np.where(turn == 3, 2.0, 1.0) * noise[:, 0]
    b = np.where(turn == 4, 2 * noise[:, 1], 0.9 * a + 0.5 * noise[:, 1])
    c = np.where(turn == 5, 2 * noise[:, 2], -0.8 * b + 0.5 * noise[:, 2])
    return pd.DataFrame({"c": c, "a": a, "b": b}), np.array(["", "", "", "a", "b", "c"])[turn].tolist()


@pytest.mark.parametrize("density", ["additive-gaussian", "gaussian", "student-t"])
def test_training_tells_directions_from_perfect_interventions(density):
    """Without them, seeds decide."""
    data, targets = chain()
    model = fast(density=density, random_state=2).fit(data, interventions=targets)
    truth = [[1, 2], [2, 0]]
    np.testing.assert_array_equal(np.argwhere(model.thresholded_), truth)
    np.testing.assert_array_equal(np.argwhere(model.adjacency_), truth)
    assert np.isfinite(model.held_out_log_likelihood_)


def test_refinement_tells_directions_from_perfect_interventions():
    regimes = linear()
    told = fast(refine=True).fit(regimes.data, interventions=list(regimes.interventions))
    blind = fast(refine=True).fit(regimes.data)
    assert shd(regimes.adjacency, told.adjacency_) <= 2 < shd(regimes.adjacency, blind.adjacency_)


def test_imperfect_interventions_tell_directions():
    """Fifty rows say little about a conditional of their own: of three draws together."""
    told, blind = 0, 0
    for seed in (1, 2, 3):
        regimes = linear("imperfect", seed)
        model = fast(refine=True).fit(regimes.data, interventions=list(regimes.interventions), kind="imperfect")
        assert any(note.startswith("There were 5 further networks") for note in model.notes_)
        told += shd(regimes.adjacency, model.adjacency_)
        blind += shd(regimes.adjacency, fast(refine=True).fit(regimes.data).adjacency_)
    assert told + 3 <= blind


@KINDS
@pytest.mark.parametrize("parameters", [{"refine": True}, {"neighbour_selection": True, "n_trees": 50}])
def test_threads_do_not_matter(kind, parameters, monkeypatch):
    monkeypatch.setattr("grandag.methods.grandag.grandag._VARIABLES_PER_THREAD", 1)
    regimes = linear(kind)
    fits = [
        fast(max_iterations=100, n_jobs=n, **parameters).fit(
            regimes.data, interventions=list(regimes.interventions), kind=kind
        )
        for n in (1, 2)
    ]
    for own, other in zip(parts(fits[0]), parts(fits[1]), strict=True):
        np.testing.assert_array_equal(own, other)
    assert fits[0].held_out_log_likelihood_ == fits[1].held_out_log_likelihood_


@pytest.mark.parametrize("parameters", [{}, {"density": "gaussian"}, {"density": "student-t"}])
def test_values_of_a_target_say_nothing_about_its_parents(rng, parameters):
    """A last variable, which causes nothing, may have any values where it was set."""
    regimes = linear()
    order = [*regimes.names, "last"]
    x = regimes.data[regimes.names[0]]
    data = regimes.data.assign(last=np.sin(x / x.std()) + 0.3 * rng.normal(size=len(x)))
    targets = [("last" if k % 10 == 0 else text) for k, text in enumerate(regimes.interventions)]
    is_target = np.array(targets) == "last"
    centre, scale = data["last"].mean(), data["last"].std()
    changed = data["last"].to_numpy().copy()
    changed[is_target] = rng.permutation(changed[is_target])  # the same mean and variance, so the same scaling
    assert centre == pytest.approx(changed.mean()) and scale > 0
    knowledge = {"forbidden": [("last", name) for name in regimes.names]}
    fits = [
        fast(max_iterations=600, knowledge=knowledge, **parameters).fit(
            data.assign(last=values)[order], interventions=targets
        )
        for values in (data["last"].to_numpy(), changed)
    ]
    for own, other in zip(parts(fits[0]), parts(fits[1]), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-4, atol=1e-6)


@KINDS
def test_labels_and_counts_take_part(rng, kind):
    n = 240
    x = rng.normal(size=n)
    smoker = rng.random(n) < 1 / (1 + np.exp(-3 * x))
    visits = rng.poisson(np.exp(0.5 + smoker))
    targets = np.array(["", "x", "smoker", "visits"])[np.arange(n) % 4]
    frame = pd.DataFrame({"x": x, "smoker": np.where(smoker, "yes", "no"), "visits": visits})
    for refine in (False, True):
        model = fast(max_iterations=600, refine=refine).fit(frame, interventions=targets.tolist(), kind=kind)
        assert np.isfinite(model.held_out_log_likelihood_)
        assert set(model.sample(5, random_state=1)["smoker"]) <= {"yes", "no"}


def test_a_variable_that_only_interventions_vary_is_refused():
    regimes = linear()
    is_target = np.arange(500) % 5 == 0
    data = regimes.data.assign(switch=np.where(is_target, np.arange(500.0), 0.0))
    targets = np.where(is_target, "switch", "").tolist()
    with pytest.raises(TableError, match="'switch' has one value in all rows that do not intervene on it"):
        fast(max_iterations=100).fit(data, interventions=targets)


def test_networks_for_each_kind():
    regimes = as_regimes([""] * 10 + ["b"] * 10 + ["a|b"] * 10, ["a", "b", "c"])
    perfect, imperfect = divide(regimes, "perfect"), divide(regimes, "imperfect")
    np.testing.assert_array_equal(perfect.owner, [0, 1, 2])
    np.testing.assert_array_equal(perfect.counts, [[1, 1, 0], [1, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(imperfect.owner, [0, 1, 2, 1, 0, 1])
    np.testing.assert_array_equal(imperfect.counts[3:], [[0, 1, 0], [0, 0, 1], [0, 0, 1]])


def test_held_out_rows_have_the_numbers_of_the_same_regimes(rng):
    values = rng.normal(size=(30, 2))
    own = as_table(values, interventions=["", "X0", "X1"] * 10)
    others = Table(
        values[:3], own.names, False, regimes=as_regimes(["X1", "X0|X1", ""], own.names, to_learn_from=False)
    )
    table, held_out = with_common_regimes(own, others)
    np.testing.assert_array_equal(table.regimes.of_row, own.regimes.of_row)
    np.testing.assert_array_equal(held_out.regimes.of_row, [2, 3, 0])
    np.testing.assert_array_equal(held_out.regimes.targets, [[0, 0], [1, 0], [0, 1], [1, 1]])
    np.testing.assert_array_equal(
        divide(table.regimes, "imperfect").owner, [0, 1, 0, 1]
    )  # none for rows not trained on
    _, observational = with_common_regimes(own, Table(values[:2], own.names, False))
    np.testing.assert_array_equal(observational.regimes.of_row, [0, 0])
    assert with_common_regimes(*(Table(values, own.names, False) for _ in range(2)))[1].regimes is None


def test_encoded_rows_keep_their_regimes_through_splits(rng, monkeypatch):
    numbers = np.arange(60.0)
    table = as_table(np.column_stack([numbers, rng.normal(size=60)]), interventions=["", "X0", "X1"] * 20)
    encoding = encode(table, ["additive-gaussian"] * 2, standardise=False)
    for many in (100, 25):
        monkeypatch.setattr("grandag.methods.grandag.data.MANY_ROWS", many)
        data = prepare(table, encoding, DataConfig(), np.random.default_rng(1), None)
        for rows in (data.rows, data.held_out, *([data.pool.others()] if data.pool.others else [])):
            np.testing.assert_array_equal(rows[:, -1], rows[:, 0] % 3)
        assert isinstance(data.regimes, Regimes)
