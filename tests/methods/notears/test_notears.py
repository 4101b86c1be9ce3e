"""NOTEARS: gradients, recovery, invariances, and what an estimator promises."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize as scipy_minimize
from scipy.stats import norm
from sklearn.utils.estimator_checks import parametrize_with_checks

import grandag
from grandag import NOTEARS, NotConvergedWarning, datasets
from grandag.graph import is_acyclic
from grandag.methods.notears.notears import NotearsConfig, acyclicity, loss, notears
from grandag.methods.notears.orthantwise import Minimum
from grandag.methods.stages.linear_gaussian import least_squares, moments
from grandag.metrics import shd, shd_cpdag, sid
from grandag.parameters import ParameterError
from grandag.table import TableError
from tests.methods.linear import linear_data


@parametrize_with_checks([NOTEARS()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("function", [acyclicity, lambda W: loss(W, np.diag([1.0, 2, 3, 4]) + 0.3)])
def test_gradients_by_finite_differences(rng, function):
    W = 0.5 * rng.normal(size=(4, 4))
    _, gradient = function(W)
    numeric = np.zeros((4, 4))
    for i, j in np.ndindex(4, 4):
        step = np.zeros((4, 4))
        step[i, j] = 1e-6
        numeric[i, j] = (function(W + step)[0] - function(W - step)[0]) / 2e-6
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)


def test_loss_is_least_squares(rng):
    X, _, W = linear_data(rng, n=300)
    centred = X - X.mean(axis=0)
    expected = ((centred - centred @ W) ** 2).sum() / (2 * 300)
    np.testing.assert_allclose(loss(W, moments(X).covariance)[0], expected)


def test_acyclicity_is_zero_for_dags_only(rng):
    W = np.triu(rng.normal(size=(5, 5)), 1)
    assert acyclicity(W)[0] == pytest.approx(0, abs=1e-12)
    W[4, 0] = 0.5
    assert acyclicity(W)[0] > 1e-3


def test_recovers_linear_graphs_with_equal_variances():
    """All edges of seven sets; in the eighth the released solver ends in the same local minimum (see below)."""
    for seed in range(1, 8):
        X, adjacency, weights = linear_data(np.random.default_rng(seed))
        model = NOTEARS().fit(X)
        assert model.converged_
        np.testing.assert_array_equal(model.adjacency_, adjacency)
        np.testing.assert_allclose(model.coefficients_, weights, atol=0.1)


def released_solver(function, start, l1):
    """L-BFGS-B on W = W+ - W-, both at least 0, as in the published program."""
    n = len(start)

    def split(x):
        value, gradient = function(x[:n] - x[n:])
        return value + l1 * x.sum(), np.concatenate([gradient + l1, l1 - gradient])

    halves = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
    found = scipy_minimize(split, halves, jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * n))
    return Minimum(found.x[:n] - found.x[n:], found.fun, found.nfev)


@pytest.mark.parametrize("seed", range(4))
def test_objective_as_low_as_with_the_released_solver(seed, monkeypatch):
    X, _, _ = linear_data(np.random.default_rng(seed))
    ours = NOTEARS().fit(X)
    monkeypatch.setattr("grandag.methods.notears.notears.minimise", released_solver)
    theirs = NOTEARS().fit(X)
    assert ours.objective_ <= theirs.objective_ * (1 + 1e-3)
    assert ours.n_iter_ < theirs.n_iter_
    np.testing.assert_array_equal(ours.adjacency_, theirs.adjacency_)


def test_result_is_a_minimum_of_its_problem(rng):
    """No single weight can be changed for the better without a cycle: the lasso conditions on allowed entries."""
    X, _, _ = linear_data(rng)
    covariance = moments(X).covariance
    result = notears(covariance, ~np.eye(8, dtype=bool), NotearsConfig())
    W = result.weights
    _, gradient = loss(W, covariance)
    strong = np.abs(W) > 0.05
    np.testing.assert_allclose(gradient[strong], -0.1 * np.sign(W[strong]), atol=0.01)
    assert result.trace[-1].h <= 1e-8


def test_the_mask_binds(rng):
    X, adjacency, _ = linear_data(rng)
    allowed = ~np.eye(8, dtype=bool)
    forbidden = tuple(np.argwhere(adjacency)[0])
    allowed[forbidden] = False
    result = notears(moments(X).covariance, allowed, NotearsConfig())
    assert result.weights[forbidden] == 0
    assert (result.weights[~allowed] == 0).all()
    nothing = notears(moments(X).covariance, np.zeros((8, 8), dtype=bool), NotearsConfig())
    assert not nothing.weights.any()


def test_order_of_columns_and_shifts_do_not_matter(rng):
    X, _, _ = linear_data(rng)
    order = rng.permutation(8)
    straight, permuted = NOTEARS().fit(X), NOTEARS().fit(X[:, order] + 100)
    np.testing.assert_array_equal(permuted.adjacency_, straight.adjacency_[np.ix_(order, order)])
    np.testing.assert_allclose(permuted.objective_, straight.objective_, rtol=1e-3)


def test_standardised_columns_have_no_units(rng):
    X, _, _ = linear_data(rng)
    units = 10.0 ** rng.integers(-3, 4, 8)
    first, second = (NOTEARS(standardise=True, weight_threshold=0.1).fit(values) for values in (X, X * units))
    np.testing.assert_allclose(second.weights_, first.weights_, atol=1e-3)
    np.testing.assert_allclose(second.score(X * units), first.score(X) - np.log(units).sum(), rtol=1e-3)


def test_score_is_the_gaussian_density_of_least_squares(rng):
    X, _, _ = linear_data(rng, d=4, n_edges=4)
    train, held_out = X[:1500], X[1500:]
    model = NOTEARS().fit(train)
    expected = 0.0
    for j in range(4):
        parents = np.flatnonzero(model.adjacency_[:, j])
        design = np.column_stack([np.ones(1500), train[:, parents]])
        coefficients, *_ = np.linalg.lstsq(design, train[:, j], rcond=None)
        deviation = (train[:, j] - design @ coefficients).std()
        mean = np.column_stack([np.ones(500), held_out[:, parents]]) @ coefficients
        expected += norm.logpdf(held_out[:, j], mean, deviation).mean()
    np.testing.assert_allclose(model.score(held_out), expected)


def test_a_copied_parent_leaves_a_density(rng):
    x = rng.normal(size=100)
    data = moments(np.column_stack([x, 2 * x]))
    fit = least_squares(data, np.array([[False, True], [False, False]]))
    np.testing.assert_allclose(fit.weights[0, 1], 2)
    assert fit.deviation[1] > 0


def test_weakest_edges_go_first_if_the_threshold_leaves_a_cycle(rng):
    X, _, _ = linear_data(rng)
    with pytest.warns(NotConvergedWarning, match="not acyclic"):
        model = NOTEARS(max_penalty=1, weight_threshold=0.01).fit(X)
    assert not model.converged_
    assert is_acyclic(model.adjacency_)
    assert any("which left a cycle" in note for note in model.notes_)
    kept, dropped = model.strength_[model.adjacency_], model.strength_[~model.adjacency_]
    assert kept.min() > dropped.max()


def test_stages_of_the_ablation(rng):
    X, _, _ = linear_data(rng, n=400)
    model = NOTEARS(neighbour_selection=True, n_trees=20, prune=True, weight_threshold=0.05, random_state=0).fit(X)
    assert [note.split()[0] for note in model.notes_] == ["Neighbour", "The", "Pruning"]
    assert list(model.edges_.columns) == ["source", "target", "strength", "p_value", "degrees_of_freedom", "explained"]
    assert (model.p_values_[model.adjacency_] < 0.001).all()
    again = NOTEARS(neighbour_selection=True, n_trees=20, prune=True, weight_threshold=0.05, random_state=0).fit(X)
    np.testing.assert_array_equal(again.weights_, model.weights_)


def test_constant_columns(rng):
    X, _, _ = linear_data(rng)
    X[:, 3] = 1
    with pytest.warns(UserWarning, match="Constant columns"):
        model = NOTEARS().fit(X)
    assert not model.adjacency_[3].any()
    assert np.isfinite(model.score(X))


def test_numbers_beyond_squares(rng):
    X, _, _ = linear_data(rng)
    with pytest.raises(TableError, match="choose another unit"):
        NOTEARS().fit(X * 1e200)
    assert NOTEARS(standardise=True).fit(X * 1e100).converged_


def test_columns_in_thousands():
    """Steps that are too long by far overflow h, and are taken back."""
    model = NOTEARS().fit(grandag.datasets.load_sachs().data)
    assert model.converged_
    assert np.isfinite(model.objective_)


def test_save_and_load(rng, tmp_path):
    X, _, _ = linear_data(rng)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = NOTEARS(sparsity=0.05).fit(frame)
    model.save(tmp_path / "model.npz")
    again = grandag.load(tmp_path / "model.npz")
    assert isinstance(again, NOTEARS)
    assert again.sparsity == 0.05
    assert again.score(frame) == model.score(frame)
    assert (again.objective_, again.n_iter_, again.converged_) == (model.objective_, model.n_iter_, True)
    pd.testing.assert_frame_equal(again.edges_, model.edges_)
    pd.testing.assert_frame_equal(again.trace_, model.trace_)
    np.testing.assert_array_equal(again.coefficients_, model.coefficients_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sparsity": -1}, "'sparsity' must be a number at least 0; got -1"),
        ({"weight_threshold": "0.3"}, "'weight_threshold' must be a number"),
        ({"max_penalty": 0.5}, "'max_penalty' must be a number at least 1"),
    ],
)
def test_illegal_parameters(rng, parameters, message):
    with pytest.raises(ParameterError, match=message):
        NOTEARS(**parameters).fit(rng.normal(size=(50, 3)))


def test_progress(rng):
    seen = []
    X, _, _ = linear_data(rng)
    NOTEARS(prune=True).fit(X, listener=seen.append)
    assert list(dict.fromkeys(progress.stage for progress in seen)) == ["train", "prune"]
    assert all(0 <= progress.step <= progress.n_steps for progress in seen)


def test_figures_of_the_paper_on_the_sachs_data():
    """SHD, SHD-C and SID in its table 3: it must have had no intercepts."""
    sachs = datasets.load_sachs()
    found = NOTEARS.preset("paper").fit(sachs.data).adjacency_
    assert (shd(sachs.adjacency, found), shd_cpdag(sachs.adjacency, found), sid(sachs.adjacency, found)) == (21, 21, 44)


def test_without_intercepts_columns_far_from_zero_explain_each_other(rng):
    values = rng.normal(size=(500, 2)) + 10
    assert not NOTEARS().fit(values).adjacency_.any()
    assert NOTEARS(intercept=False).fit(values).adjacency_.any()
