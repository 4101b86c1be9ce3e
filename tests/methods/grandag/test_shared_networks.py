"""GraN-DAG with one network for all variables: what it finds, and what it honours."""

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag import GraNDAG, NotConvergedWarning
from grandag.parameters import ParameterError
from tests.conftest import nonlinear_chain

pytestmark = pytest.mark.filterwarnings("ignore::grandag.DoubtWarning")


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(nonlinear_chain(np.random.default_rng(1)), columns=["a", "b", "c"])


def shared(frame, **parameters):
    settings = {"networks": "shared", "refine": False, "random_state": 0, "n_jobs": 1}
    return GraNDAG(**{**settings, **parameters}).fit(frame)


@pytest.fixture(scope="module")
def model(frame):
    return shared(frame)


def test_finds_the_chain(model):
    assert model.converged_
    assert set(model.graph_.edges) == {("a", "b"), ("b", "c")}
    assert (model.A_phi_[model.mask_] > 0).all()
    assert not model.A_phi_[~model.mask_].any()


def test_other_networks_than_separate_ones(model, frame):
    separate = shared(frame, networks="separate")
    assert separate.graph_.edges == model.graph_.edges
    assert not np.array_equal(separate.A_phi_, model.A_phi_)


def test_saved_with_conditionals_of_their_own(model, frame, tmp_path):
    model.save(tmp_path / "model")
    loaded = grandag.load(tmp_path / "model")
    assert loaded.networks == "shared"
    np.testing.assert_allclose(loaded.log_prob(frame), model.log_prob(frame))


@pytest.mark.filterwarnings("ignore::grandag.NotConvergedWarning")
def test_seed_and_knowledge(frame):
    quick = {"max_iterations": 400, "retrain": False, "prune": False}
    first, again, other = (shared(frame, random_state=seed, **quick) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.A_phi_, again.A_phi_)
    assert not np.array_equal(first.A_phi_, other.A_phi_)
    bound = shared(frame, knowledge={"required": [("c", "a")], "forbidden": [("a", "b")]}, **quick)
    assert ("c", "a") in bound.graph_.edges
    assert not bound.mask_[0, 1]


def test_labels_are_read_by_one_gate(frame):
    table = frame.assign(b=np.where(frame["b"] > frame["b"].quantile(0.66), "high", "low"))
    table.loc[frame["b"].between(frame["b"].quantile(0.33), frame["b"].quantile(0.66)), "b"] = "middle"
    with pytest.warns(NotConvergedWarning):
        model = shared(table, max_iterations=300, retrain=False)
    assert model.A_phi_.shape == (3, 3)
    assert np.isfinite(model.A_phi_).all()


def test_without_hidden_layers_there_is_nothing_to_share(frame):
    with pytest.raises(ParameterError, match="n_layers=1"):
        shared(frame, n_layers=0)
