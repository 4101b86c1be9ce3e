"""What the shell around every method promises: one result, one set of attributes, one way to warn."""

import dataclasses
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import grandag
from grandag.knowledge import KnowledgeError
from grandag.learned import Learned
from grandag.methods.registry import METHODS, build
from grandag.parameters import parameters_of
from grandag.table import as_table
from tests.conftest import nonlinear_chain

QUICK = {
    "grandag": {"max_iterations": 300, "n_jobs": 1},
    "grandag++": {"max_iterations": 300, "n_jobs": 1},
    "grandag-shared": {"max_iterations": 300, "n_jobs": 1},
    "dag-gnn": {"n_epochs": 5},
    "random": {"n_edges": 2},
}
"""So that a fit takes no time; whether it is good does not matter here."""

each_method = pytest.mark.parametrize("method", METHODS)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def frame(rng):
    values = nonlinear_chain(rng, 200)
    return pd.DataFrame(values, columns=["dose", "response", "outcome"]).assign(same=2.5)


def fitted(method, frame, **parameters):
    return build(method, {**QUICK.get(method, {}), **parameters}, seed=1).fit(frame)


@each_method
def test_every_method_has_a_result_and_a_model(method, frame):
    model = fitted(method, frame)
    learned = model.learned_
    assert isinstance(learned, Learned)
    assert learned.names == ("dose", "response", "outcome", "same")
    assert learned.adjacency.shape == learned.strength.shape == (4, 4)
    assert not learned.adjacency[3].any()
    assert not learned.adjacency[:, 3].any()
    assert np.isfinite(model.score(frame))
    assert model.score(frame) == pytest.approx(model.log_prob(frame).mean())
    assert (model.sample(5, random_state=0)["same"] == 2.5).all()
    assert model.intervene({"dose": 1.0}).mean(100)["dose"] == 1.0
    assert np.isfinite(model.average_effect("dose", "outcome", n=100).effect)
    assert model.residuals(frame).shape == model.predict(frame).shape == (200, 4)
    assert isinstance(model.converged_, bool)
    assert (model.n_iter_ is None) == (learned.convergence is None) == (model.trace_ is None)


@each_method
def test_a_class_says_whose_model_it_is(method, frame):
    model = fitted(method, frame)
    says = any("one DAG of the equivalence class" in note for note in model.notes_)
    assert says == (not model.is_dag_)
    np.testing.assert_array_equal(model.model_.adjacency, model.dag_)


def test_the_result_is_frozen(frame):
    learned = fitted("cam", frame).learned_
    with pytest.raises(dataclasses.FrozenInstanceError):
        learned.strength = None
    with pytest.raises(AttributeError):
        fitted("cam", frame).adjacency_ = None


@each_method
def test_saved_and_loaded_is_the_same(method, frame, tmp_path):
    model = fitted(method, frame)
    model.save(tmp_path / "model.npz")
    loaded = grandag.load(tmp_path / "model.npz")
    assert loaded.get_params() == model.get_params()
    assert loaded.method == method
    assert loaded.score(frame) == model.score(frame)
    pd.testing.assert_frame_equal(loaded.edges_, model.edges_)
    for name in ("names", "kind", "convergence", "notes", "concerns"):
        assert getattr(loaded.learned_, name) == getattr(model.learned_, name)
    for part in ("edge_facts", "matrices"):
        theirs, ours = getattr(loaded.learned_, part), getattr(model.learned_, part)
        assert set(theirs) == set(ours)
        for name in ours:
            np.testing.assert_array_equal(theirs[name], ours[name])
    assert set(loaded.learned_.values) == set(model.learned_.values)
    if model.trace_ is not None:
        pd.testing.assert_frame_equal(loaded.trace_, model.trace_)


@pytest.mark.filterwarnings("default::UserWarning")
def test_warnings_are_on_the_line_of_the_call(frame):
    """Once each, at the end, and not on a line inside the library."""
    frame["copy"] = 3 * frame["dose"] + 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        grandag.GraNDAG(max_iterations=50, retrain=False, random_state=0).fit(frame)
    assert [warning.category.__name__ for warning in caught] == ["UserWarning", "UserWarning", "NotConvergedWarning"]
    assert [str(warning.message).split()[0] for warning in caught] == ["Constant", "Columns", "The"]
    assert {warning.filename for warning in caught} == {__file__}
    assert {warning.lineno for warning in caught} == {line}


@pytest.mark.filterwarnings("default::UserWarning")
def test_warnings_are_on_the_line_of_the_call_however_deep_the_fit_is(frame):
    tuned = grandag.tune(frame, "cam", 1, n_jobs=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        tuned.best_estimator(frame)
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]


def test_a_failed_refit_leaves_the_old_result(frame):
    model = fitted("cam", frame)
    before = model.learned_
    with pytest.raises(KnowledgeError):
        model.set_params(knowledge={"required": [["dose", "same"]]}).fit(frame)
    assert model.learned_ is before


@each_method
def test_parameters_are_declared_once(method):
    entry = METHODS[method]
    estimator = entry.estimator()
    declared = parameters_of(estimator)
    assert set(estimator().get_params()) == set(declared)
    signature = inspect.signature(estimator)
    for name, parameter in declared.items():
        assert signature.parameters[name].default == parameter.default
        assert parameter.rule.is_legal(parameter.default)
        assert parameter.description[0].isupper()
        assert parameter.description.endswith(".")
        assert set(parameter.presets) <= set(estimator.presets)
        assert all(parameter.rule.is_legal(value) for value in parameter.presets.values())
        assert f"{name}: " in estimator.__doc__
    changed = estimator(verbose=True)
    assert clone(changed).get_params() == changed.get_params()


def test_unfitted():
    with pytest.raises(NotFittedError):
        grandag.CAM().adjacency_  # noqa: B018
    with pytest.raises(NotFittedError):
        grandag.CAM().search_  # noqa: B018


def test_results_beyond_the_common_ones_are_attributes(frame):
    model = fitted("cam", frame)
    assert "search_" in dir(model)
    assert model.search_ is model.learned_.values["search"]
    with pytest.raises(AttributeError, match="'CAM' object has no attribute 'A_phi_'"):
        model.A_phi_  # noqa: B018


def test_a_table_is_checked_once(frame, monkeypatch):
    table = as_table(frame)
    monkeypatch.setattr("grandag.table._checked", lambda *_: pytest.fail("checked again"))
    model = fitted("cam", table)
    assert np.isfinite(model.score(table))
    assert grandag.confidence(grandag.CAM(), table, 2, random_state=0, n_jobs=1).n_done == 2
    assert grandag.tune(table, "cam", 2, n_jobs=1).best.fit is not None


def test_a_sample_without_a_rare_value_is_one_failure(rng):
    """A required edge of a column that is constant in some samples: those fail, the others count."""
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40), "rare": np.eye(40)[0]})
    result = grandag.confidence(
        grandag.CAM(knowledge={"required": [["a", "rare"]]}), frame, 12, random_state=1, n_jobs=1
    )
    assert 0 < len(result.failures) < 12
    assert "is constant" in result.failures[0]


def test_prediction_of_a_root_from_polars(frame):
    polars = pytest.importorskip("polars")
    model = grandag.CAM(knowledge={"roots": ["dose"]}).fit(frame)
    assert len(model.predict(polars.from_pandas(frame), "dose")) == len(model.predict(frame, "dose")) == 200


def test_a_subclass_has_the_name_of_its_method(frame, tmp_path):
    class Mine(grandag.CAM):
        pass

    Mine().fit(frame).save(tmp_path / "model.npz")
    assert type(grandag.load(tmp_path / "model.npz")) is grandag.CAM


def test_a_model_of_an_unknown_method(frame, tmp_path, monkeypatch):
    fitted("random", frame).save(tmp_path / "model.npz")
    monkeypatch.delitem(METHODS, "random")
    with pytest.raises(ValueError, match="not a model that this version of grandag saved"):
        grandag.load(tmp_path / "model.npz")


def test_knowledge_in_sets_is_saved(frame, tmp_path):
    grandag.CAM(knowledge={"roots": {"dose"}}).fit(frame).save(tmp_path / "model.npz")
    assert list(grandag.load(tmp_path / "model.npz").knowledge["roots"]) == ["dose"]


def test_no_conditionals(frame):
    model = grandag.GraNDAG(retrain=False, max_iterations=50, random_state=0).fit(frame)
    with pytest.raises(grandag.TrainingError, match="fit it with retrain=True"):
        model.score(frame)
