"""Interventions in the shell of all methods."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from grandag import NOTEARS, compare, confidence, simulate
from grandag.knowledge import Knowledge
from grandag.learned import Learned
from grandag.methods.equivalence.pc import PC
from grandag.methods.estimator import StructureLearner, estimator
from grandag.methods.random_graph.random_graph import RandomGraph
from grandag.methods.registry import METHODS, Method, build
from grandag.methods.stages import weights
from grandag.methods.stages.explained import explained
from grandag.metrics import sid
from grandag.table import MANY_ROWS, TableError, as_table
from grandag.tuning.held_out import held_out_fit, hold_out
from tests.methods.test_toy_method import ToyConfig

pytestmark = pytest.mark.filterwarnings("ignore:Constant columns are isolated")

TARGETS = ["", "b", "a|c"] * 20


def _learn(table, knowledge, config, rng, listener, held_out):
    d = len(table.names)
    nothing = np.zeros((d, d))
    return Learned(table.names, nothing > 0, nothing, values={"saw": table, "saw_held_out": held_out})


@estimator
class Witness(StructureLearner, ToyConfig):
    """Learn nothing, and keep what was given."""

    learn = staticmethod(_learn)
    takes_interventions = frozenset({"perfect"})


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(METHODS, "witness", Method(f"{__name__}:Witness", "Witness: learns nothing"))


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "c", "same"]).assign(same=1.0)


def titles(table):
    return np.array(table.regimes.titles(table.names))[table.regimes.of_row].tolist()


def test_a_method_finds_regimes_in_its_tables(frame):
    with_targets = frame.assign(target=TARGETS)
    model = Witness().fit(with_targets, interventions="target", held_out=with_targets[:4])
    assert model.names_ == ("a", "b", "c", "same")
    assert titles(model.saw_) == ["observational", "b", "a|c"] * 20
    assert titles(model.saw_held_out_) == ["observational", "b", "a|c", "observational"]
    assert titles(Witness().fit(frame, interventions=TARGETS).saw_) == titles(model.saw_)
    assert Witness().fit(frame, interventions=TARGETS, held_out=frame[:4]).saw_held_out_.regimes is None


def test_regimes_stay_with_rows_that_are_left(frame):
    frame.iloc[[0, 4], 1] = np.nan
    model = Witness(missing="drop").fit(frame, interventions=TARGETS)
    assert titles(model.saw_) == [text or "observational" for k, text in enumerate(TARGETS) if k not in (0, 4)]


def test_a_method_refuses_interventions_that_it_cannot_use(frame):
    with pytest.raises(TableError, match=r"PC cannot learn from perfect .* can are .*witness\. Or fit it to the obs"):
        PC().fit(frame, interventions=TARGETS)
    with pytest.raises(TableError, match=r"Witness cannot learn from imperfect .* Or take them for perfect"):
        Witness().fit(frame, interventions=TARGETS, kind="imperfect")


def test_rows_without_targets_are_observational_for_every_method(frame):
    fits = [RandomGraph(random_state=1).fit(frame, interventions=targets) for targets in (None, [""] * 60)]
    np.testing.assert_array_equal(fits[0].adjacency_, fits[1].adjacency_)
    assert Witness().fit(frame.assign(target=""), interventions="target").saw_.regimes is None


@pytest.fixture
def regimes():
    """Linear data with perfect interventions on every variable in turn, columns on one scale."""
    scenario = simulate.draw_scenario("lin", simulate.erdos_renyi(5, 6, random_state=2), 600, 2)
    found = simulate.draw_regimes(scenario, random_state=1)
    return replace(found, data=(found.data - found.data.mean()) / found.data.std())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["cam", "notears", "exact", "fges", "random"])
def test_an_empty_regime_column_is_the_observational_fit_to_the_bit(regimes, method):
    with_column, without = regimes.data.assign(target=[None, ""] * 300), regimes.data
    fits = [build(method, {}, seed=1).fit(with_column, interventions="target"), build(method, {}, seed=1).fit(without)]
    for attribute in ("adjacency_", "strength_"):
        np.testing.assert_array_equal(*(getattr(fit, attribute) for fit in fits))
    assert fits[0].score(without) == fits[1].score(without)
    assert not hasattr(fits[0], "regimes_")


@pytest.mark.parametrize(
    ("method", "parameters"), [("cam", {}), ("notears", {"sparsity": 0.01, "weight_threshold": 0.1})]
)
@pytest.mark.filterwarnings("ignore")
def test_interventions_tell_directions(regimes, method, parameters):
    """Observational linear data on one scale do not."""
    model = build(method, parameters).fit(regimes.data, interventions=regimes.interventions)
    assert sid(regimes.adjacency, model.adjacency_) <= 4
    blind = build(method, parameters).fit(regimes.data)
    assert sid(regimes.adjacency, blind.adjacency_) >= 2 * sid(regimes.adjacency, model.adjacency_) + 1
    assert "300 of 600 rows are from 5 regimes of perfect interventions, on X0, X1, X2, X3, X4." in model.notes_
    assert model.regimes_["rows"].tolist() == [300, 60, 60, 60, 60, 60]


@pytest.mark.parametrize("many_rows", [MANY_ROWS, 500])
def test_candidates_are_found_in_the_rows_that_leave_a_variable_alone(many_rows, rng, monkeypatch):
    """Where c was set it copied b; a is its cause. Of a long table evenly spread rows are looked at."""
    monkeypatch.setattr(weights, "MANY_ROWS", many_rows)
    monkeypatch.setattr(weights, "_MAX_ROWS", 400)
    a, b, noise = rng.normal(size=(3, 600))
    is_set = np.arange(600) % 2 == 1
    data = pd.DataFrame({"a": a, "b": b, "c": np.where(is_set, 3 * b, a + 0.3 * noise)})
    table = as_table(data, interventions=np.where(is_set, "c", ""))
    everything = Knowledge.of(None).masks(table.names)
    config = weights.WeightsConfig(neighbour_selection=True, n_jobs=1)
    allowed = weights.open_edges(table, everything, config, np.random.default_rng(1), None).allowed
    np.testing.assert_array_equal(allowed[:, 2], [True, False, False])


@pytest.mark.filterwarnings("ignore")
def test_densities_of_targets_do_not_count(regimes):
    model = NOTEARS().fit(regimes.data, interventions=regimes.interventions)
    densities = model.model_.log_densities(regimes.data)
    is_target = np.array([[name == target for name in regimes.data] for target in regimes.interventions])
    by_hand = densities.where(~is_target, 0.0)
    found = model.model_.log_densities(regimes.data, interventions=regimes.interventions)
    pd.testing.assert_frame_equal(found, by_hand)
    table = as_table(regimes.data, interventions=regimes.interventions)
    assert model.score(regimes.data, interventions=list(regimes.interventions)) == pytest.approx(by_hand.sum(1).mean())
    assert model.score(table) == pytest.approx(by_hand.sum(1).mean())
    with_column = regimes.data.assign(target=list(regimes.interventions))
    pd.testing.assert_series_equal(
        model.log_prob(with_column, interventions="target"), by_hand.sum(axis=1).rename("log_prob")
    )


@pytest.mark.filterwarnings("ignore")
def test_noise_is_that_of_the_rows_that_do_not_target_a_variable(regimes, rng):
    """Whatever a target was set to, and however it depends on its parents there, says nothing of its noise."""
    data = regimes.data.copy()
    of_child = np.flatnonzero(regimes.adjacency.any(axis=0))[0]
    name = data.columns[of_child]
    rows = np.array(regimes.interventions) == name
    model = NOTEARS(knowledge={"required": edges_of(regimes)}).fit(data, interventions=regimes.interventions)
    before = model.check_noise(data, interventions=regimes.interventions).loc[name]
    changed = data.copy()
    changed.loc[rows, name] = 1000 * rng.random(rows.sum()) ** 3
    pd.testing.assert_series_equal(model.check_noise(changed, interventions=regimes.interventions).loc[name], before)
    assert model.check_noise(changed).loc[name, "excess_kurtosis"] > 5


def edges_of(scenario):
    names = scenario.names
    return [(names[i], names[j]) for i, j in np.argwhere(scenario.adjacency)]


@pytest.mark.filterwarnings("ignore")
def test_targets_that_depend_on_their_parents_are_a_reason_for_doubt():
    scenario = simulate.draw_scenario("lin", simulate.erdos_renyi(4, 4, random_state=1), 600, 1)
    for kind, expected in (("perfect", []), ("imperfect", ["imperfect interventions"])):
        regimes = simulate.draw_regimes(scenario, intervention_kind=kind, random_state=1)
        model = NOTEARS(knowledge={"required": edges_of(scenario)}, sparsity=0.5).fit(
            regimes.data, interventions=regimes.interventions
        )
        np.testing.assert_array_equal(model.adjacency_, scenario.adjacency)
        found = [concern for concern in model.warnings_ if concern.kind == "imperfect interventions"]
        assert [concern.kind for concern in found] == expected
    (concern,) = found
    children = {scenario.names[j] for j in np.flatnonzero(scenario.adjacency.any(axis=0))}
    assert len(concern.variables) > 1 and set(concern.variables) <= children
    assert all(numbers["explained"] > 0.1 for numbers in concern.numbers.values())
    assert "--intervention-kind imperfect" in concern.message


def test_variables_that_vary_under_interventions_only_are_refused(frame):
    frame.loc[[k for k, target in enumerate(TARGETS) if target != "b"], "b"] = 4.0
    with pytest.raises(TableError, match="Column 'b' does not vary in rows that do not intervene on it"):
        Witness().fit(frame, interventions=TARGETS)


def test_resampled_rows_have_as_many_of_each_regime(frame):
    frame["number"] = np.arange(60.0)
    for kind, size in (("bootstrap", 20), ("subsample", 10)):
        refits = confidence(
            Witness(), frame, 3, kind, interventions=TARGETS, random_state=1, n_jobs=1, keep_models=True
        )
        for model in refits.models:
            assert model.saw_.regimes.counts.tolist() == [size] * 3
            own = [TARGETS[int(row)] or "observational" for row in model.saw_.values[:, -1]]
            assert own == titles(model.saw_)
        drawn = [tuple(model.saw_.values[:, -1]) for model in refits.models]
        assert len(set(drawn)) == 3


def test_held_out_rows_are_a_part_of_each_regime(frame):
    table = as_table(frame, interventions=[""] * 30 + ["b"] * 10 + ["a"] * 20)
    train, held_out = hold_out(table, seed=1)
    assert held_out.regimes.counts.tolist() == [6, 2, 4]
    assert train.regimes.counts.tolist() == [24, 8, 16]
    both = np.vstack([train.values, held_out.values])
    assert {tuple(row) for row in both} == {tuple(row) for row in table.values}


@pytest.mark.filterwarnings("ignore")
def test_held_out_scores_and_comparisons_know_regimes(regimes):
    fit = held_out_fit("notears", {}, regimes.data, seed=1, interventions=regimes.interventions)
    train, held_out = hold_out(as_table(regimes.data, interventions=regimes.interventions), 1)
    assert fit.score == pytest.approx(NOTEARS().fit(train).score(held_out))
    found = compare(regimes.data, ["notears", "pc"], interventions=regimes.interventions)
    assert found.entries[1].failure.startswith("PC cannot learn from perfect interventions")
    assert found.entries[0].held_out != compare(regimes.data, ["notears"]).entries[0].held_out


@pytest.mark.filterwarnings("ignore")
def test_shares_are_those_of_the_rows_that_do_not_target_the_child(regimes):
    table = as_table(regimes.data, interventions=regimes.interventions)
    j = int(np.flatnonzero(regimes.adjacency.any(axis=0))[0])
    free = np.flatnonzero(table.regimes.are_free(j))
    alone = explained(as_table(table.values[free]), regimes.adjacency)[:, j]
    np.testing.assert_allclose(explained(table, regimes.adjacency)[:, j], alone, atol=1e-9)
