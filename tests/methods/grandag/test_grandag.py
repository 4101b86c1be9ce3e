"""The estimator as a user meets it."""

import functools
import gc
import json
import pickle
import signal
import threading
import time
import zipfile
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import grandag
from grandag import CAM, GraNDAG, NotConvergedWarning, TrainingError
from grandag.graph import is_acyclic
from grandag.methods.grandag import grandag as grandag_module
from grandag.methods.grandag.train import Outcome
from grandag.report.facts import FitSummary, headline
from grandag.table import TableError, as_table
from grandag.tuning.held_out import hold_out
from tests.conftest import nonlinear_chain

NAMES = ["dose", "response", "outcome"]

fast = functools.partial(GraNDAG.preset, "fast")
"""Without the search by evidence, which has tests of its own: for tests of training and pruning."""


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(nonlinear_chain(np.random.default_rng(1)) * [1, 1000, 0.01] + [0, 5, 0], columns=NAMES)


@pytest.fixture(scope="module")
def model(frame):
    return GraNDAG(random_state=0).fit(frame)


@pytest.fixture(scope="module")
def pruned(frame):
    return fast(random_state=0).fit(frame)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Columns:UserWarning", "ignore:Constant columns:UserWarning")
@parametrize_with_checks([GraNDAG(max_iterations=20)])
def test_scikit_learn(estimator, check):
    """All of scikit-learn's checks, without exceptions; 20 iterations, since they check conventions, not graphs."""
    check(estimator)


def test_names_survive(model):
    assert list(model.feature_names_in_) == NAMES
    assert model.n_features_in_ == 3
    assert list(model.graph_) == NAMES
    assert set(model.edges_["source"]) | set(model.edges_["target"]) <= set(NAMES)
    assert model.causal_order_ == NAMES


def test_weak_entries_of_a_phi_can_be_dropped(frame):
    """The variant of the paper's ablation: whatever the Jacobian says, entries of A_phi below the threshold go."""
    unpruned = fast(prune=False, retrain=False, random_state=0).fit(frame)
    weights = np.sort(unpruned.A_phi_[unpruned.adjacency_])
    limit = float(weights[:2].mean())
    cut = fast(prune=False, retrain=False, weight_threshold=limit, random_state=0).fit(frame)
    assert (cut.A_phi_ == unpruned.A_phi_).all()
    assert (cut.adjacency_ == (unpruned.adjacency_ & (unpruned.A_phi_ >= limit))).all()
    assert cut.adjacency_.sum() == unpruned.adjacency_.sum() - 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scale_of_a_phi(frame):
    """The networks begin alike, and one step of this length leaves them as they are."""
    still = {"learning_rate": 1e-12, "max_iterations": 1, "retrain": False, "random_state": 0}
    mean, total = (fast(**still, path_scale=scale).fit(frame).A_phi_ for scale in (1.0, 100.0))
    np.testing.assert_allclose(total, 100 * mean, rtol=1e-5)
    assert (mean.sum(axis=0) > 0).all()


def test_graph_and_edges_say_the_same(model):
    assert model.converged_
    assert is_acyclic(model.adjacency_)
    assert isinstance(model.graph_, nx.DiGraph)
    np.testing.assert_array_equal(nx.to_numpy_array(model.graph_, weight=None).astype(bool), model.adjacency_)
    assert list(model.edges_.columns) == ["source", "target", "strength", "evidence", "kept", "explained"]
    assert len(model.edges_) == model.adjacency_.sum()
    assert model.edges_["strength"].is_monotonic_decreasing
    for edge in model.edges_.itertuples(index=False):
        position = NAMES.index(edge.source), NAMES.index(edge.target)
        attributes = model.graph_.edges[edge.source, edge.target]
        assert attributes["evidence"] == attributes["strength"] == edge.evidence == model.strength_[position] > 0
    assert ((model.A_phi_ > 0) == model.mask_).all()


def test_edges_of_a_pruned_graph(pruned):
    assert list(pruned.edges_.columns) == ["source", "target", "strength", "p_value", "degrees_of_freedom", "explained"]
    for edge in pruned.edges_.itertuples(index=False):
        position = NAMES.index(edge.source), NAMES.index(edge.target)
        attributes = pruned.graph_.edges[edge.source, edge.target]
        assert attributes["strength"] == edge.strength == pruned.expected_jacobian_[position]
        assert attributes["p_value"] == edge.p_value == pruned.p_values_[position]
        assert attributes["degrees_of_freedom"] == edge.degrees_of_freedom == pruned.degrees_of_freedom_[position]
        assert edge.p_value < 0.001
    assert not (pruned.adjacency_ & ~pruned.thresholded_).any()
    assert (pruned.thresholded_ == ~np.isnan(pruned.p_values_)).all()
    assert not (pruned.thresholded_ & ~pruned.mask_).any()
    assert not hasattr(pruned, "evidence_")


def test_both_start_from_the_same_graph(model, pruned):
    """Refinement and pruning differ in nothing before them."""
    np.testing.assert_array_equal(model.thresholded_, pruned.thresholded_)
    np.testing.assert_array_equal(model.expected_jacobian_, pruned.expected_jacobian_)
    assert is_acyclic(model.thresholded_)


def test_results_of_pruning_are_missed_with_a_reason(model, frame):
    for name in ("p_values_", "degrees_of_freedom_"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}': it is from pruning, which refine=True"):
            getattr(model, name)
    with pytest.warns(NotConvergedWarning):
        unpruned = fast(prune=False, retrain=False, max_iterations=5).fit(frame)
    with pytest.raises(AttributeError, match=r"'p_values_': it is from pruning\.$"):
        unpruned.p_values_  # noqa: B018


@pytest.mark.parametrize(("name", "value"), [("prune", False), ("prune_cutoff", 0.01)])
def test_parameters_without_effect_are_refused(frame, name, value):
    with pytest.raises(ValueError, match=f"'{name}' has no effect while 'refine' is on: leave it out, or switch"):
        GraNDAG(**{name: value}).fit(frame)
    with pytest.warns(NotConvergedWarning):
        GraNDAG(**{name: value}, refine=False, max_iterations=5, retrain=False).fit(frame)


def test_finds_the_chain(model):
    assert model.adjacency_[0, 1]
    assert model.adjacency_[1, 2]


def test_trace(model):
    facts = {"iteration", "h", "lagrange_multiplier", "penalty", "train_log_likelihood", "held_out_log_likelihood"}
    assert set(model.trace_.columns) == facts | {"n_edges"}
    assert model.trace_["iteration"].iloc[-1] == model.n_iter_ - 1
    assert not hasattr(model, "A_phi_trace_")


def test_records_weighted_adjacency(frame):
    with pytest.warns(NotConvergedWarning):
        model = GraNDAG(max_iterations=201, record_A_phi=True, retrain=False, random_state=0).fit(frame)
    assert model.A_phi_trace_.shape == (3, 3, 3)


@pytest.mark.parametrize("kind", [lambda f: f.to_numpy(), lambda f: f.to_numpy().tolist(), pl.from_pandas])
def test_kinds_of_tables_agree(model, frame, kind):
    other = GraNDAG(random_state=0).fit(kind(frame))
    np.testing.assert_array_equal(other.adjacency_, model.adjacency_)
    np.testing.assert_array_equal(other.expected_jacobian_, model.expected_jacobian_)
    expected = NAMES if isinstance(kind(frame), pl.DataFrame) else ["X0", "X1", "X2"]
    assert list(other.graph_) == expected


def test_input_is_not_modified(frame):
    before = frame.copy()
    array = frame.to_numpy(copy=True)
    with pytest.warns(NotConvergedWarning):
        GraNDAG(max_iterations=5, retrain=False).fit(frame)
        GraNDAG(max_iterations=5, retrain=False, standardise=False).fit(array)
    pd.testing.assert_frame_equal(frame, before)
    np.testing.assert_array_equal(array, before.to_numpy())


def test_units_do_not_matter(model, frame):
    """Units that are powers of two change no bit of the standardised data, so no bit of the result."""
    other = GraNDAG(random_state=0).fit(frame * [4.0, 0.5, 1024.0])
    np.testing.assert_array_equal(other.adjacency_, model.adjacency_)
    np.testing.assert_array_equal(other.expected_jacobian_, model.expected_jacobian_)
    np.testing.assert_allclose(
        other.held_out_log_likelihood_, model.held_out_log_likelihood_ - np.log(4 * 0.5 * 1024), rtol=1e-6
    )


def test_data_as_given(frame):
    centred = (frame - frame.mean()) / frame.std(ddof=0)
    with pytest.warns(NotConvergedWarning):
        scaled = fast(max_iterations=300, random_state=0).fit(centred)
        as_given = fast(max_iterations=300, random_state=0, standardise=False).fit(centred)
        raw = fast(max_iterations=300, random_state=0, standardise=False).fit(centred * 3)
    np.testing.assert_allclose(as_given.A_phi_, scaled.A_phi_, rtol=1e-3)
    assert not np.allclose(raw.A_phi_, scaled.A_phi_, rtol=1e-2)


def test_score_is_the_joint_density_in_table_units():
    """With linear Gaussian conditionals of a known order the score is that of least squares."""
    rng = np.random.default_rng(0)
    x = rng.normal(3, 2, size=5000)
    y = -1.5 * x + rng.normal(0, 0.5, size=5000)
    table = pd.DataFrame({"x": x, "y": y})
    model = fast(n_layers=0, random_state=0).fit(table)
    regression = np.polyfit(x, y, 1) if model.adjacency_[0, 1] else np.polyfit(y, x, 1)
    cause, effect = (x, y) if model.adjacency_[0, 1] else (y, x)
    residual = effect - np.polyval(regression, cause)
    joint = norm.logpdf(cause, cause.mean(), cause.std()) + norm.logpdf(residual, 0, residual.std())
    np.testing.assert_allclose(model.score(table), joint.mean(), atol=0.01)
    assert model.score(table.assign(x=x + 100)) < model.score(table)


def test_likelihoods_are_per_row(rng):
    """Of eight independent standard normal columns, in training and held out: that of one is -(1 + log 2 pi) / 2."""
    model = fast(random_state=0).fit(rng.normal(size=(1000, 8)))
    expected = -4 * (1 + np.log(2 * np.pi))
    found = model.trace_[["train_log_likelihood", "held_out_log_likelihood"]].iloc[-1]
    np.testing.assert_allclose([*found, model.held_out_log_likelihood_], expected, rtol=0.2)
    assert f"held-out log-likelihood per row {model.held_out_log_likelihood_:.3f}" in headline(
        FitSummary(model, "noise").facts
    )


def test_held_out_likelihood_matches_score(model, frame):
    assert abs(model.held_out_log_likelihood_ - model.score(frame)) < 0.3


def test_score_without_conditionals(frame):
    with pytest.warns(NotConvergedWarning):
        model = GraNDAG(max_iterations=5, retrain=False).fit(frame)
    with pytest.raises(TrainingError, match="retrain=True"):
        model.score(frame)


def test_score_checks_columns(model, frame):
    with pytest.raises(TableError, match="response, dose"):
        model.score(frame[["response", "dose", "outcome"]])
    with pytest.raises(TableError, match="X has 2 features"):
        model.score(frame[["dose", "response"]])


def test_not_converged_is_said_and_still_a_dag(frame):
    with pytest.warns(NotConvergedWarning, match=r"not acyclic after 20 iterations.*max_iterations"):
        model = GraNDAG(max_iterations=20, random_state=0).fit(frame)
    assert model.converged_ is False
    assert model.n_iter_ == 20
    assert is_acyclic(model.adjacency_)
    assert [concern.kind for concern in model.warnings_ if "not acyclic" in concern.message] == ["not converged"]
    assert not any("not acyclic" in note for note in model.notes_)


def test_divergence_is_an_error(frame):
    with pytest.raises(TrainingError, match="not finite at iteration"):
        GraNDAG(learning_rate=1e30, random_state=0).fit(frame)


def test_constant_column_is_isolated(frame):
    table = frame.assign(batch=3.0)[["dose", "batch", "response", "outcome"]]
    with pytest.warns(UserWarning, match="Constant columns are isolated nodes of the graph: 'batch'"):
        model = GraNDAG(random_state=0).fit(table)
    plain = GraNDAG(random_state=0).fit(frame)
    keep = [0, 2, 3]
    np.testing.assert_array_equal(model.adjacency_[np.ix_(keep, keep)], plain.adjacency_)
    assert not model.adjacency_[1].any()
    assert not model.adjacency_[:, 1].any()
    assert list(model.graph_) == list(table.columns)
    np.testing.assert_allclose(model.score(table), plain.score(frame))


def test_only_one_column_varies(frame):
    with pytest.warns(UserWarning, match="Constant columns"):
        model = GraNDAG(random_state=0).fit(frame.assign(response=1.0, outcome=2.0))
    assert model.converged_
    assert not model.adjacency_.any()
    with pytest.raises(TableError, match="All columns of X are constant"):
        GraNDAG().fit(np.ones((50, 3)))


def test_copies_are_named(frame):
    table = frame.assign(pounds=-2.2 * frame["dose"] + 1)
    with pytest.warns(UserWarning, match="'dose' and 'pounds' hold the same numbers"):
        GraNDAG(random_state=0, retrain=False).fit(table)


def test_missing_rows_are_dropped_on_request(frame):
    table = frame.copy()
    table.iloc[[3, 7], 1] = np.nan
    with pytest.raises(TableError, match=r"'response' \(2 NaN, first in row 4\).*missing='drop'"):
        GraNDAG().fit(table)
    model = GraNDAG(missing="drop", random_state=0).fit(table)
    same = GraNDAG(random_state=0).fit(table.dropna())
    np.testing.assert_array_equal(model.expected_jacobian_, same.expected_jacobian_)
    assert "Dropped 2 of 1,000 rows, which have missing or infinite values: 'response' 0.2%." in model.notes_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_jobs": 0}, r"'n_jobs' must be None, -1"),
        ({"random_state": "abc"}, r"'random_state' must be None, a whole number"),
        ({"n_layers": -1}, r"'n_layers' must be a whole number, at least 0; got -1"),
        ({"n_units": 2.5}, r"'n_units' must be a whole number"),
        ({"activation": "relu"}, r"'activation' must be one of 'leaky-relu', 'squareplus'; got 'relu'"),
        ({"density": None}, r"'density' must be one of"),
        ({"learning_rate": 0}, r"'learning_rate' must be a number above 0; got 0"),
        ({"held_out_fraction": 1.0}, r"'held_out_fraction' must be a number above 0 and at most 0.9"),
        ({"standardise": "yes"}, r"'standardise' must be one of True, False"),
        ({"tolerance": float("nan")}, r"'tolerance' must be None or a number"),
    ],
)
def test_bad_parameters(frame, parameters, message):
    with pytest.raises(ValueError, match=message):
        GraNDAG(**parameters).fit(frame)


def test_presets():
    paper = GraNDAG.preset("paper", n_layers=1)
    assert (paper.standardise, paper.learning_rate, paper.later_learning_rate, paper.n_layers) == (False, 1e-2, 1e-4, 1)
    default = GraNDAG.preset("default")
    assert default.get_params() == GraNDAG().get_params()
    assert (default.refine, paper.refine) == (True, False)
    before = {"refine": False, "later_learning_rate": 1e-3, "threshold_all": True, "sparsity": 0.0, "tolerance": 1e-8}
    before |= {"neighbour_threshold": 0.75, "n_trees": 500}
    assert fast().get_params() == {**default.get_params(), **before}
    with pytest.raises(ValueError, match="'preset' must be one of default, fast, paper; got 'papr'"):
        GraNDAG.preset("papr")


@pytest.mark.parametrize(
    ("n_variables", "rate", "by_cycles"), [(49, 1e-3, False), (50, 1e-4, False), (149, 1e-4, False), (150, 1e-4, True)]
)
def test_training_by_size(n_variables, rate, by_cycles):
    training = GraNDAG().training(n_variables)
    assert (training.later_learning_rate, training.by_cycles) == (rate, by_cycles)
    assert (training.sparsity, training.tolerance) == ((2, 1e-5) if by_cycles else (0, 1e-8))
    asked = GraNDAG(later_learning_rate=0.5, acyclicity="exponential", sparsity=0, tolerance=0).training(n_variables)
    assert (asked.later_learning_rate, asked.by_cycles, asked.sparsity, asked.tolerance) == (0.5, False, 0, 0)
    assert GraNDAG(acyclicity="cycles").training(2).by_cycles


def test_a_graph_is_learned_with_counted_cycles(frame):
    """By hand: the constraint for many variables on few gives a DAG, too."""
    model = fast(acyclicity="cycles", prune=False, retrain=False, random_state=0).fit(frame)
    assert model.converged_
    assert is_acyclic(model.adjacency_)
    assert model.adjacency_.any()


def test_plus_plus_learns_the_variance():
    """Noise whose size depends on the cause: only GraN-DAG++ can describe it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    table = np.column_stack([x, np.exp(0.8 * x) * rng.normal(size=2000)])
    scores = [
        fast(density=density, prune=False, random_state=0).fit(table).score(table)
        for density in ("gaussian", "additive-gaussian")
    ]
    assert scores[0] > scores[1] + 0.2


def test_seed_decides(frame):
    with pytest.warns(NotConvergedWarning):
        first, again, other = (GraNDAG(max_iterations=100, random_state=seed).fit(frame) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.A_phi_, again.A_phi_)
    assert not np.array_equal(first.A_phi_, other.A_phi_)
    assert first.score(frame) == again.score(frame)


def test_random_states(frame):
    generators = [np.random.default_rng(1), np.random.RandomState(1), None]
    for random_state in generators:
        with pytest.warns(NotConvergedWarning):
            GraNDAG(max_iterations=5, random_state=random_state).fit(frame)


def test_neighbour_selection(rng):
    values = np.column_stack([nonlinear_chain(rng, 300), rng.normal(size=(300, 3))])
    with pytest.warns(NotConvergedWarning):
        model = fast(neighbour_selection=True, n_trees=50, max_iterations=20, random_state=0).fit(values)
    assert any(note.startswith("Neighbour selection left") for note in model.notes_)
    assert model.mask_.sum() < 30


def test_rows_for_neighbours_are_capped(rng):
    with pytest.warns(NotConvergedWarning):
        model = fast(neighbour_selection=True, n_trees=5, max_neighbour_rows=200, max_iterations=5, retrain=False).fit(
            nonlinear_chain(rng, 300)
        )
    assert "Neighbours were selected with 200 of the 300 rows (max_neighbour_rows)." in model.notes_


def test_neighbours_are_selected_from_50_variables_on(rng):
    for d, expected in ((49, False), (50, True)):
        with pytest.warns(NotConvergedWarning):
            model = fast(n_trees=2, max_iterations=2, retrain=False).fit(rng.normal(size=(50, d)))
        assert any("Neighbour selection" in note for note in model.notes_) is expected


def test_held_out_rows_are_capped(rng):
    with pytest.warns(NotConvergedWarning):
        model = fast(max_held_out=50, max_jacobian_rows=100, max_iterations=5).fit(nonlinear_chain(rng, 600))
    assert "50 of the 600 rows are held out (max_held_out)." in model.notes_
    assert "The expected Jacobian is from 100 of 550 rows." in model.notes_


def test_save_and_load(model, frame, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    again = grandag.load(path)
    assert again.get_params() == model.get_params()
    assert again.score(frame) == model.score(frame)
    pd.testing.assert_frame_equal(again.edges_, model.edges_)
    pd.testing.assert_frame_equal(again.trace_, model.trace_)
    for name in ("adjacency_", "A_phi_", "mask_", "expected_jacobian_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for name in ("converged_", "n_iter_", "notes_", "held_out_log_likelihood_", "causal_order_"):
        assert getattr(again, name) == getattr(model, name)


def test_nothing_is_pickled(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    with np.load(path, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)
    with zipfile.ZipFile(path) as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())


def test_load_says_what_is_wrong(tmp_path):
    path = tmp_path / "other.npz"
    with pytest.raises(FileNotFoundError):
        grandag.load(path)
    table = tmp_path / "table.csv"
    for other, content in ((path, pickle.dumps("something else")), (table, b"a,b\n1,2\n")):
        other.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a model that grandag saved.*read_table") as caught:
            grandag.load(other)
        assert "pickle" not in str(caught.value)
    np.savez(path, meta=np.array(json.dumps({"format": 99, "grandag": "9.9"})))
    with pytest.raises(ValueError, match=r"written by grandag 9\.9: upgrade"):
        grandag.load(path)
    np.savez(path, meta=np.array(json.dumps({"format": 1, "grandag": "0.1.0"})))
    with pytest.raises(ValueError, match="it has an older format: fit the model again"):
        grandag.load(path)
    complete = path.read_bytes()
    np.save(tmp_path / "array.npy", np.ones(3))
    for content in (b"", complete[: len(complete) // 2], (tmp_path / "array.npy").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a model"):
            grandag.load(path)


def test_failed_refit_leaves_the_old_result(frame):
    model = GraNDAG(random_state=0).fit(frame)
    edges, score = model.edges_, model.score(frame)
    with pytest.raises(TableError):
        model.fit(frame.assign(text=[f"row {k}" for k in range(len(frame))]))

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(frame.assign(more=frame["dose"] ** 2), listener=interrupt)
    pd.testing.assert_frame_equal(model.edges_, edges)
    assert model.score(frame) == score


def test_refit_forgets_what_the_last_fit_left(frame):
    with pytest.warns(NotConvergedWarning):
        model = GraNDAG(max_iterations=5, record_A_phi=True).fit(frame)
        assert hasattr(model, "A_phi_trace_")
        model.set_params(record_A_phi=False, retrain=False).fit(frame.to_numpy())
    for name in ("A_phi_trace_", "held_out_log_likelihood_", "feature_names_in_"):
        assert not hasattr(model, name)


def test_numpy_scalars_as_parameters(frame, tmp_path):
    with pytest.warns(NotConvergedWarning):
        model = GraNDAG(n_layers=np.int64(1), max_iterations=np.int64(5), standardise=np.bool_(True)).fit(frame)
    model.save(tmp_path / "model.npz")
    again = grandag.load(tmp_path / "model.npz")
    assert (again.n_layers, again.max_iterations, again.standardise) == (1, 5, True)


def test_unfitted(frame):
    for name in ("graph_", "edges_", "causal_order_", "expected_jacobian_"):
        with pytest.raises(NotFittedError):
            getattr(GraNDAG(), name)
    with pytest.raises(NotFittedError):
        GraNDAG().score(frame)


def test_method_names():
    assert (GraNDAG().method, GraNDAG(density="gaussian").method) == ("grandag", "grandag++")


@pytest.fixture
def ctrl_c_interrupts():
    """Also in a process that was started in the background, where shells let it ignore Ctrl-C.

    Without the garbage collector: Python drops an exception that comes inside one of its callbacks.
    """
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    yield
    gc.enable()
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("ctrl_c_interrupts")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupt_with_threads(rng):
    """Signals at random moments, several networks per thread: nothing hangs, no thread is left.

    One may be lost, as in the callback of a weak reference, where Python drops exceptions too.
    """
    values, n_interrupted = rng.normal(size=(200, 24)), 0
    for delay in rng.uniform(0.01, 0.15, size=15):
        timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])
        try:
            timer.start()
            fast(n_jobs=2, tolerance=0.0, subproblem_tolerance=0.0, prune=False, retrain=False).fit(values)
        except KeyboardInterrupt:
            n_interrupted += 1
        timer.join()
    assert n_interrupted >= 14
    deadline = time.monotonic() + 600
    while any(thread.name.startswith("grandag") for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_open_inputs_without_a_cycle(rng, monkeypatch):
    """Nothing to train: strengths must not be those of the initial weights."""
    mask = np.zeros((3, 3), dtype=bool)
    mask[0, 1] = mask[0, 2] = True
    monkeypatch.setattr("grandag.methods.stages.neighbours.neighbours", lambda *_, **__: mask)
    values = rng.normal(size=(1000, 3))
    values[:, 1] = np.sin(2 * values[:, 0]) + 0.1 * values[:, 1]
    model = fast(neighbour_selection=True, random_state=0).fit(values)
    assert model.n_iter_ == 1
    assert model.strength_[0, 1] > 10 * model.strength_[0, 2]


def test_broken_retraining(frame, monkeypatch):
    real = grandag_module.retrain

    def broken(*arguments, **options):
        return replace(real(*arguments, **options), held_out_log_likelihood=-np.inf, outcome=Outcome.NOT_FINITE)

    monkeypatch.setattr(grandag_module, "retrain", broken)
    with pytest.raises(TrainingError, match="Retraining produced numbers that are not finite"):
        fast(random_state=0, n_layers=1).fit(frame)


def test_progress_is_silent_without_a_terminal(frame, capfd):
    with pytest.warns(NotConvergedWarning):
        GraNDAG(max_iterations=50, retrain=False, verbose=True).fit(frame)
    assert capfd.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("make", [GraNDAG, fast])
def test_one_hot_columns_have_a_score(rng, make):
    """Each follows from the others without noise."""
    category = rng.integers(3, size=300)
    frame = pd.DataFrame(np.eye(3)[category], columns=list("abc")).assign(x=category + rng.normal(size=300))
    model = make(random_state=0, n_jobs=1).fit(frame[:200])
    assert abs(model.score(frame[200:])) < 100


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_few_rows_are_predicted_as_well_as_by_additive_regressions():
    """Means over splits of 120 rows to learn from; networks lose more than a nat per row, by following the noise."""
    table = as_table(load_iris(as_frame=True).data)
    scores = {"default": [], "cam": []}
    for seed in range(3):
        train, test = hold_out(table, seed)
        scores["default"].append(GraNDAG(random_state=seed, n_jobs=1).fit(train).score(test))
        scores["cam"].append(CAM().fit(train).score(test))
    assert np.mean(scores["default"]) > np.mean(scores["cam"]) - 0.1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_networks_that_follow_the_noise_are_named(rng):
    x = rng.normal(size=(60, 3))
    frame = pd.DataFrame(x, columns=list("abc")).assign(y=x.sum(axis=1) + rng.normal(size=60))
    knowledge = {"required": [("a", "y"), ("b", "y"), ("c", "y")]}
    options = {"n_units": 64, "knowledge": knowledge, "random_state": 1}
    overfitted = fast(**options).fit(frame)
    found = {warning.kind: warning for warning in overfitted.warnings_}["overfitting"]
    assert found.variables == ("y",)
    numbers = found.numbers["y"]
    assert numbers["training"] - numbers["held_out"] > 0.5
    assert f"{numbers['held_out']:.2f} held out" in found.message
    assert "overfitting" not in {warning.kind for warning in GraNDAG(**options).fit(frame).warnings_}


@pytest.mark.filterwarnings("ignore:Retraining broke down:UserWarning", "ignore::grandag.DoubtWarning")
@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_a_few_rows_of_a_nearly_constant_column_do_not_decide_the_likelihood(preset):
    """One row differs, and is among those held out: there was no noise in training, and a score of -6e6 or less."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=500), "rare": np.zeros(500)})
    frame["y"] = np.sin(2 * frame["x"]) + 0.3 * rng.normal(size=500)
    frame.loc[rng.choice(500), "rare"] = 1.0
    with pytest.warns(UserWarning, match="nearly constant: 'rare'"):
        numbers = {"kinds": {"rare": "continuous"}}
        model = GraNDAG.preset(preset, random_state=0, max_iterations=20_000, **numbers).fit(frame)
    deviation = frame["rare"].std(ddof=0)
    assert model.model_.conditionals[1].given(np.empty((1, 0))).scale[0] == pytest.approx(deviation / 2**0.5)
    assert -10 < model.score(frame) < 5
    assert -20 < model.held_out_log_likelihood_ < 5


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_rare_label_is_never_impossible():
    """One row differs, and is among those held out: by Laplace's rule its probability is 1 / 502."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=500), "rare": np.zeros(500)})
    frame.loc[7, "rare"] = 1.0
    model = fast(random_state=0, max_iterations=5000).fit(frame)
    assert model.model_.conditionals[1].given(np.zeros((1, model.dag_[:, 1].sum()))).p[0] >= 1 / 502
    assert -3 < model.score(frame) < 0
    assert -3 < model.held_out_log_likelihood_ < 0


def test_training_that_breaks_down_names_a_column_that_does_not_vary_there():
    """One row differs; whether it is among those that are trained on depends on the seed."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "y"]).assign(rare=np.arange(200) == 7)
    messages = []
    for seed in range(10):
        with pytest.raises(TrainingError, match="not finite at iteration") as error:
            fast(learning_rate=1e30, random_state=seed).fit(frame)
        messages.append(str(error.value))
    ending = " The rows that are trained on have one value only in 'rare': leave it out."
    assert 0 < sum(message.endswith(ending) for message in messages) < 5
