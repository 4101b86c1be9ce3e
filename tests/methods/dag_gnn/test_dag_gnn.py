"""DAG-GNN: the outer loop, recovery, and what an estimator promises. Gradients: tests/engine/test_autoencoder.py."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.utils.estimator_checks import parametrize_with_checks

import grandag
from grandag import DAGGNN, NotConvergedWarning, TrainingError
from grandag.engine.autoencoder import Autoencoder
from grandag.graph import is_acyclic
from grandag.methods.dag_gnn.dag_gnn import DagGnnConfig, dag_gnn, refit
from grandag.parameters import ParameterError
from tests.methods.linear import linear_data

QUICK = {"n_epochs": 100, "random_state": 0}


@pytest.mark.filterwarnings("ignore::grandag.NotConvergedWarning")
@parametrize_with_checks([DAGGNN(n_epochs=10, random_state=0)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def linear():
    return linear_data(np.random.default_rng(3), d=6, n_edges=6, n=1000)


@pytest.fixture(scope="module")
def fitted(linear):
    return DAGGNN(**QUICK).fit(linear[0])


def test_recovers_a_linear_graph_with_equal_variances(linear, fitted):
    assert fitted.converged_
    np.testing.assert_array_equal(fitted.adjacency_, linear[1])
    assert fitted.trace_["h"].iloc[-1] <= 1e-8


def test_multipliers_follow_the_method(fitted):
    """After each subproblem either lambda <- lambda + mu h, always if h has fallen to a quarter, or mu <- 10 mu."""
    rows = list(fitted.trace_.itertuples())
    assert (rows[0].lagrange_multiplier, rows[0].penalty) == (0, 1)
    h_accepted = np.inf
    for row, following in itertools.pairwise(rows):
        if following.penalty > row.penalty:
            assert (following.penalty, following.lagrange_multiplier) == (10 * row.penalty, row.lagrange_multiplier)
            assert row.h > 0.25 * h_accepted
        else:
            assert following.lagrange_multiplier == pytest.approx(row.lagrange_multiplier + row.penalty * row.h)
            h_accepted = row.h
    assert (np.diff(fitted.trace_["n_epochs"]) == 100).all()


def test_learning_rate_falls_with_the_penalty():
    config = DagGnnConfig()
    rates = [config.rate(penalty) for penalty in (1.0, 10.0, 1000.0, 1e40)]
    np.testing.assert_allclose(rates, [1e-2, 3e-3, 1e-3, 1e-4])


def test_the_same_seed_gives_the_same_bits(linear, fitted):
    again = DAGGNN(**QUICK).fit(linear[0])
    np.testing.assert_array_equal(again.weights_, fitted.weights_)
    assert again.score(linear[0]) == fitted.score(linear[0])
    other = DAGGNN(n_epochs=100, random_state=1).fit(linear[0])
    assert (other.weights_ != fitted.weights_).any()


def test_order_of_columns_does_not_matter(linear, fitted):
    order = np.random.default_rng(0).permutation(6)
    permuted = DAGGNN(**QUICK).fit(linear[0][:, order])
    np.testing.assert_array_equal(permuted.adjacency_, fitted.adjacency_[np.ix_(order, order)])


def test_the_mask_binds(linear, rng):
    X, adjacency, _ = linear
    allowed = ~np.eye(6, dtype=bool)
    forbidden = tuple(np.argwhere(adjacency)[0])
    allowed[forbidden] = False
    result = dag_gnn(X, allowed, DagGnnConfig(n_epochs=20, max_penalty=100), rng)
    assert result.model.weights[forbidden] == 0
    model = refit(X, adjacency, DagGnnConfig(n_epochs=20), rng)
    np.testing.assert_array_equal(model.weights != 0, adjacency)


def test_score_is_a_gaussian_density_around_the_predictions(linear, fitted):
    """On held-out rows about as good as the truth, which has N(0, 1) noise: -(1 + log 2 pi) / 2 per variable."""
    X = linear[0]
    known = fitted.learned_.values
    prediction = Autoencoder(
        known["autoencoder_parameters"], known["autoencoder_allowed"], known["autoencoder_units"]
    ).predict(X)
    residuals = X - prediction
    expected = norm.logpdf(X, prediction + residuals.mean(axis=0), residuals.std(axis=0)).sum(axis=1).mean()
    np.testing.assert_allclose(fitted.score(X), expected)
    assert fitted.score(X) == pytest.approx(-6 * (1 + np.log(2 * np.pi)) / 2, abs=1.0)
    assert fitted.evidence_lower_bound(X) < 0


def test_scores_in_other_units(linear):
    X = linear[0]
    units = np.array([1, 10, 0.1, 2, 5, 100])
    first, second = (DAGGNN(**QUICK, standardise=True).fit(values) for values in (X, X * units))
    np.testing.assert_allclose(second.score(X * units), first.score(X) - np.log(units).sum(), atol=0.05)


def test_not_converged_is_said_and_cut_to_a_dag(linear):
    with pytest.warns(NotConvergedWarning, match="Raise max_penalty or n_epochs"):
        model = DAGGNN(n_epochs=20, max_penalty=1, weight_threshold=0, random_state=0).fit(linear[0])
    assert not model.converged_
    assert is_acyclic(model.adjacency_)


def test_breakdown_is_an_error(linear):
    with pytest.raises(TrainingError, match="not finite at epoch"):
        DAGGNN(**{**QUICK, "learning_rate": 1e300}).fit(linear[0])


def test_stages_of_the_ablation(linear):
    model = DAGGNN(**QUICK, neighbour_selection=True, n_trees=20, prune=True, weight_threshold=0.1).fit(linear[0])
    assert [note.split()[0] for note in model.notes_] == ["Neighbour", "The", "Pruning"]
    assert (model.p_values_[model.adjacency_] < 0.001).all()


def test_save_and_load(linear, fitted, tmp_path):
    fitted.save(tmp_path / "model.npz")
    again = grandag.load(tmp_path / "model.npz")
    assert isinstance(again, DAGGNN)
    assert again.score(linear[0]) == fitted.score(linear[0])
    assert again.evidence_lower_bound(linear[0]) == fitted.evidence_lower_bound(linear[0])
    pd.testing.assert_frame_equal(again.edges_, fitted.edges_)
    pd.testing.assert_frame_equal(again.trace_, fitted.trace_)
    np.testing.assert_array_equal(again.weights_, fitted.weights_)


def test_illegal_parameters(rng):
    with pytest.raises(ParameterError, match="'n_epochs' must be a whole number, at least 1; got 0"):
        DAGGNN(n_epochs=0).fit(rng.normal(size=(50, 3)))


def test_progress(linear):
    seen = []
    DAGGNN(**QUICK).fit(linear[0], listener=seen.append)
    assert {progress.stage for progress in seen} == {"train"}
    assert all(0 <= progress.step <= progress.n_steps for progress in seen)
