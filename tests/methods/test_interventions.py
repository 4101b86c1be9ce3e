"""Interventions in the shell of all methods."""

import numpy as np
import pandas as pd
import pytest

from grandag.learned import Learned
from grandag.methods.equivalence.pc import PC
from grandag.methods.estimator import StructureLearner, estimator
from grandag.methods.random_graph.random_graph import RandomGraph
from grandag.methods.registry import METHODS, Method
from grandag.table import TableError
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
    with pytest.raises(TableError, match=r"PC cannot learn from perfect interventions; methods that can are .*witness"):
        PC().fit(frame, interventions=TARGETS)
    with pytest.raises(TableError, match="Witness cannot learn from imperfect interventions"):
        Witness().fit(frame, interventions=TARGETS, kind="imperfect")


def test_rows_without_targets_are_observational_for_every_method(frame):
    fits = [RandomGraph(random_state=1).fit(frame, interventions=targets) for targets in (None, [""] * 60)]
    np.testing.assert_array_equal(fits[0].adjacency_, fits[1].adjacency_)
    assert Witness().fit(frame.assign(target=""), interventions="target").saw_.regimes is None
