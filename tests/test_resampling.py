"""Confidence by refits: counts, consensus, repeatability, and what the command line shows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from grandag import CAM, PC, GraNDAG, TrainingError, confidence
from grandag.diagnostics import Concern
from grandag.graph import is_acyclic
from grandag.learned import Learned
from grandag.parameters import ParameterError
from grandag.resampling import Confidence, attach, describe
from tests.conftest import mixed_frame, nonlinear_chain


@pytest.fixture
def chain(rng):
    return pd.DataFrame(nonlinear_chain(rng, 200), columns=["a", "b", "c"])


def made(*edge_lists, strengths=None):
    adjacencies = np.zeros((len(edge_lists), 3, 3), dtype=bool)
    for adjacency, edges in zip(adjacencies, edge_lists, strict=True):
        for edge in edges:
            adjacency["abc".index(edge[0]), "abc".index(edge[1])] = True
    values = np.where(adjacencies, 1.0, 0.0) if strengths is None else strengths
    return Confidence(("a", "b", "c"), "bootstrap", len(edge_lists), adjacencies, values)


def test_frequencies():
    result = made(["ab", "bc"], ["ab"], ["ba"], ["ab", "ac"])
    table = result.edges().set_index(["source", "target"])
    assert table.index[0] == ("a", "b")
    assert table.loc[("a", "b"), ["frequency", "reverse_frequency", "adjacency_frequency"]].tolist() == [
        0.75,
        0.25,
        1.0,
    ]
    assert table.loc[("b", "c"), "frequency"] == 0.25
    assert len(table) == 4


def test_undirected_edges_are_adjacencies_only():
    result = made(["ab", "ba"], ["ab"])
    np.testing.assert_array_equal(result.frequency[0, 1], 0.5)
    np.testing.assert_array_equal(result.frequency[1, 0], 0.0)
    np.testing.assert_array_equal(result.adjacency_frequency[0, 1], 1.0)


def test_mean_strength_is_over_the_refits_with_the_edge():
    strengths = np.zeros((3, 3, 3))
    strengths[:, 0, 1] = [1.0, 3.0, 100.0]
    result = made(["ab"], ["ab"], ["ba"], strengths=strengths)
    assert result.mean_strength[0, 1] == 2.0
    assert np.isnan(result.mean_strength[1, 2])


def test_consensus():
    cyclic = made(["ab", "bc"], ["bc", "ca"], ["ca", "ab"])  # each edge in two of three
    adjacency = cyclic.consensus()
    assert is_acyclic(adjacency)
    assert adjacency.sum() == 2
    assert made(["ab"], ["ab"], ["ba"], ["bc"]).consensus().sum() == 0  # half is not more than half
    assert made(["ab"], ["ab"], ["ba"], ["bc"]).consensus(0.4).sum() == 1


@pytest.mark.parametrize("kind", ["bootstrap", "subsample"])
def test_a_clear_edge_is_found_every_time(chain, kind):
    result = confidence(CAM(), chain, 6, kind, random_state=1, n_jobs=1)
    assert result.n_done == 6
    assert result.frequency[0, 1] == 1
    assert set(result.edges()["source"]) <= {"a", "b", "c"}


def test_restarts_of_a_method_without_chance_agree(chain):
    result = confidence(CAM(), chain, 3, "restarts", random_state=1, n_jobs=1)
    assert set(np.unique(result.frequency)) <= {0.0, 1.0}


def test_repeatable_for_any_number_of_processes(chain):
    estimator = GraNDAG(max_iterations=300, retrain=False)
    one, two = (confidence(estimator, chain, 4, "subsample", random_state=3, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.strengths, two.strengths)
    assert one.n_not_converged == 4
    assert "4 did not converge" in describe(one)


def test_kept_models_give_an_interval(chain):
    result = confidence(CAM(), chain, 8, random_state=1, n_jobs=1, keep_models=True)
    assert len(result.models) == 8
    effect = CAM().fit(chain).average_effect("a", "b", low=0.0, high=0.5, resamples=result.models)
    assert effect.interval[0] <= np.sin(1.0) <= effect.interval[1] + 0.1  # b = sin(2 a) + noise
    assert confidence(CAM(), chain, 2, random_state=1, n_jobs=1).models == ()


def test_an_effect_refits_to_the_table_for_its_interval(chain):
    model = CAM().fit(chain)
    refits = confidence(CAM(), chain, 5, random_state=3, n_jobs=1, keep_models=True).models
    effect = model.average_effect("a", "b", chain, resamples=5, random_state=3, n_jobs=1)
    assert effect == model.average_effect("a", "b", resamples=refits, random_state=3)
    assert effect.n_resamples == 5
    assert model.average_effect("a", "b").interval is None
    with pytest.raises(ParameterError, match="needs the table to refit to"):
        model.average_effect("a", "b", resamples=20)


def test_directions_that_refits_turn_round_are_a_concern(chain):
    """a -> b in one of four refits, b -> a in the others."""
    model = CAM(knowledge={"required": [("a", "b")]}).fit(chain)
    there = np.zeros((3, 3), dtype=bool)
    there[0, 1] = True
    refits = Confidence(model.names_, "bootstrap", 4, np.array([there, there.T, there.T, there.T]), np.ones((4, 3, 3)))
    attach(model, refits)
    (concern,) = [concern for concern in model.warnings_ if concern.kind == "direction against the refits"]
    assert concern.variables[:2] == ("a", "b")
    assert concern.numbers["a -> b"] == {"frequency": 0.25, "reverse_frequency": 0.75}
    assert "a -> b (25% of the refits, 75% the other way)" in concern.message
    assert dict(refits.consensus_graph().edges) == {("b", "a"): {"frequency": 0.75, "reverse_frequency": 0.25}}
    assert "stroke-dasharray" in model.plot().svg


def test_many_edges_that_few_refits_have_are_a_concern(chain):
    """They take the place of what halves of the rows said of single edges."""
    model = CAM(knowledge={"required": [("a", "b"), ("b", "c")]}).fit(chain)
    said_before = Concern("unstable edges", ("a",), {}, "Halves of the rows do not keep many edges.")
    learned = replace(model.learned_, concerns=(said_before,))
    both = np.zeros((3, 3), dtype=bool)
    both[0, 1] = both[1, 2] = True
    one = both & (np.arange(3) == 1)
    model.learned_ = learned
    attach(model, Confidence(model.names_, "bootstrap", 4, np.array([both, both, one, one]), np.ones((4, 3, 3))))
    (concern,) = model.warnings_
    assert (concern.kind, concern.numbers) == ("unstable edges", {"b -> c": {"kept": 0.5}})
    assert concern.message.startswith(
        "1 of 2 edges is in at most half of 4 refits on bootstrap samples: 'b -> c' (50%)."
    )
    assert "Another sample might not show them" in concern.message
    model.learned_ = learned
    attach(model, Confidence(model.names_, "restarts", 4, np.array([both, both, both, one]), np.ones((4, 3, 3))))
    assert model.warnings_ == []
    model.learned_ = learned
    attach(model, Confidence(model.names_, "restarts", 2, np.array([both, one]), np.ones((2, 3, 3))))
    assert "Another random state might not show them" in model.warnings_[0].message


def test_undirected_edges_are_unstable_if_few_refits_have_them_at_all():
    pair, none = np.array([[False, True], [True, False]]), np.zeros((2, 2), dtype=bool)

    def concerns_after(*adjacencies):
        model = PC()
        model.learned_ = Learned(("a", "b"), pair, np.ones((2, 2)), "cpdag")
        attach(model, Confidence(("a", "b"), "subsample", 4, np.array(adjacencies), np.ones((4, 2, 2))))
        return [concern.message for concern in model.warnings_]

    assert concerns_after(pair, np.triu(pair), np.tril(pair), pair) == []
    (message,) = concerns_after(pair, np.triu(pair), none, none)
    assert message.startswith("1 of 1 edge is in at most half of 4 refits on halves of the rows: 'a -- b' (50%).")


def test_progress_and_interruption(chain):
    steps = []

    def stop_at_two(progress):
        steps.append((progress.stage, progress.step, progress.n_steps))
        if progress.step == 2:
            raise KeyboardInterrupt

    result = confidence(CAM(), chain, 5, random_state=1, n_jobs=1, listener=stop_at_two)
    assert steps == [("resample", 1, 5), ("resample", 2, 5)]
    assert (result.n_done, result.was_interrupted) == (2, True)
    assert "from 2 refits on bootstrap samples; interrupted before all 5 were done" in describe(result)


def test_a_refit_whose_search_was_interrupted_ends_it(chain, monkeypatch):
    """It is not counted as one that is done."""
    answers = iter([False, False, True])
    monkeypatch.setattr(Learned, "was_interrupted", property(lambda _: next(answers)))
    result = confidence(CAM(), chain, 5, random_state=1, n_jobs=1)
    assert (result.n_done, result.was_interrupted) == (2, True)
    monkeypatch.setattr(Learned, "was_interrupted", True)
    with pytest.raises(KeyboardInterrupt):
        confidence(CAM(), chain, 5, random_state=1, n_jobs=1)


def test_failed_refits_are_counted(rng):
    """A column with one odd value is constant in many halves; with all of them failing there is no result."""
    frame = pd.DataFrame({"a": np.zeros(20), "b": np.zeros(20)})
    frame.loc[0, "a"] = 1.0
    result = confidence(CAM(), frame, 12, "subsample", random_state=0, n_jobs=1)
    assert result.n_done + len(result.failures) == 12
    assert result.failures
    assert "others failed (the first: All columns of X are constant" in describe(result)
    with pytest.raises(TrainingError, match="No refit gave a graph: All columns of X are constant"):
        confidence(CAM(), frame.iloc[1:], 2, random_state=0, n_jobs=1)


def test_attached_frequencies_appear_with_the_edges(chain, tmp_path):
    import grandag

    model = CAM().fit(chain)
    attach(model, confidence(CAM(), chain, 3, random_state=1, n_jobs=1))
    assert list(model.edges_.columns[-2:]) == ["frequency", "reverse_frequency"]
    assert model.graph_.edges["a", "b"]["frequency"] == 1
    model.save(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(grandag.load(tmp_path / "model.npz").edges_, model.edges_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"resamples": 0}, "'resamples' must be a whole number, at least 1"),
        ({"kind": "jackknife"}, "'kind' must be one of"),
    ],
)
def test_illegal_arguments(chain, arguments, message):
    with pytest.raises(ParameterError, match=message):
        confidence(CAM(), chain, **arguments)


def test_refits_to_tables_with_labels_and_counts():
    frame = mixed_frame()
    refits = confidence(PC(), frame, 3, random_state=0, n_jobs=1, keep_models=True)
    assert refits.adjacency_frequency[0, 1] == 1.0
    kinds = [[column.kind for column in model.learned_.columns] for model in refits.models]
    assert kinds == [["continuous", "categorical", "count"]] * 3
