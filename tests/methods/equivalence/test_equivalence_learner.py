"""What PC, GES, GSF and exact search promise as estimators: their answer is a class."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.utils.estimator_checks import parametrize_with_checks

import grandag
from grandag import GES, GSF, PC, ExactSearch, confidence
from grandag.graph import from_edge_table, is_acyclic, is_cpdag, to_cpdag, to_dag, undirected_part
from grandag.methods.registry import build
from grandag.metrics import shd, shd_cpdag, sid_bounds
from grandag.resampling import attach
from tests.cli.test_app import run
from tests.methods.linear import linear_data

LEARNERS = [PC(), GES(), GSF(max_parents=3), ExactSearch()]


@pytest.mark.filterwarnings("ignore:Columns:UserWarning", "ignore:Constant columns:UserWarning")
@parametrize_with_checks(LEARNERS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module", params=LEARNERS, ids=lambda learner: learner.method)
def fitted(request):
    values, truth, _ = linear_data(np.random.default_rng(2), d=6, n_edges=6, n=3000)
    return request.param.fit(pd.DataFrame(values, columns=list("abcdef"))), values, truth


def test_the_answer_is_a_class(fitted):
    model, _, truth = fitted
    assert not model.is_dag_
    assert is_cpdag(model.adjacency_)
    np.testing.assert_array_equal(model.adjacency_, to_cpdag(truth))
    assert is_acyclic(model.dag_)
    np.testing.assert_array_equal(to_cpdag(model.dag_), model.adjacency_)
    order = [list("abcdef").index(name) for name in model.causal_order_]
    assert not np.tril(model.dag_[np.ix_(order, order)]).any()


def test_undirected_edges(fitted):
    """Listed once, marked in the graph, with the same strength in both directions."""
    model, _, truth = fitted
    undirected = undirected_part(to_cpdag(truth))
    assert undirected.any()
    assert (model.edges_["type"] == "--").sum() == undirected.sum() // 2
    assert len(model.edges_) == truth.sum()
    adjacency, names = from_edge_table(model.edges_, names=model.names_)
    np.testing.assert_array_equal(adjacency, model.adjacency_)
    assert names == model.names_
    for edge in model.edges_.itertuples():
        assert model.graph_.edges[edge.source, edge.target]["strength"] == edge.strength > 0
        if edge.type == "--":
            assert model.graph_.edges[edge.target, edge.source]["strength"] == edge.strength
            assert model.graph_.edges[edge.target, edge.source]["undirected"]


def test_metrics_take_the_model(fitted):
    model, _, truth = fitted
    assert shd_cpdag(truth, model.adjacency_) == 0
    assert shd(truth, model.adjacency_) == undirected_part(model.adjacency_).sum() // 2
    lower, upper = sid_bounds((truth, list("abcdef")), model)
    assert lower == 0 < upper


def test_score_is_the_density_of_the_linear_model(fitted):
    """Of any DAG of the class: all have the same covariance matrix, here by its own formula."""
    model, values, _ = fitted
    if model.method == "gsf":
        pytest.skip("its regressions are not linear: tests/methods/equivalence/test_kernel_conditionals.py")
    dag = to_dag(model.adjacency_)
    weights, variances = np.zeros((6, 6)), np.zeros(6)
    mean = values.mean(axis=0)
    for j in range(6):
        parents = np.flatnonzero(dag[:, j])
        design = np.column_stack([np.ones(len(values)), values[:, parents]])
        coefficients, *_ = np.linalg.lstsq(design, values[:, j], rcond=None)
        weights[parents, j] = coefficients[1:]
        variances[j] = (values[:, j] - design @ coefficients).var()
    through = np.linalg.inv(np.eye(6) - weights)
    density = multivariate_normal(mean, through.T @ np.diag(variances) @ through)
    other = np.random.default_rng(0).normal(size=(20, 6))
    assert model.score(pd.DataFrame(other, columns=list("abcdef"))) == pytest.approx(density.logpdf(other).mean())


def test_saved_and_loaded(fitted, tmp_path):
    model, values, _ = fitted
    model.save(tmp_path / "model.npz")
    loaded = grandag.load(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(loaded.edges_, model.edges_)
    assert loaded.score(values) == model.score(values)
    assert loaded.notes_ == model.notes_
    if hasattr(model, "search_"):
        pd.testing.assert_frame_equal(loaded.search_, model.search_)


def test_confidence(fitted):
    """Edges count as directed, and as adjacent."""
    model, values, _ = fitted
    result = confidence(model, values, 5, random_state=0, n_jobs=1)
    attach(model, result)
    edges = model.edges_
    assert (edges["adjacency_frequency"] >= edges["frequency"] + edges["reverse_frequency"] - 1e-9).all()
    assert edges["adjacency_frequency"].min() > 0.5


def test_intercepts_matter_where_means_do(rng):
    """Independent columns far from zero: without intercepts every column explains every other."""
    values = rng.normal(size=(500, 3)) + 10
    assert len(GES().fit(values).edges_) == 0
    assert len(GES.preset("paper").fit(values).edges_) == 3


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_copies_of_a_column_do_not_take_forever():
    """All columns are one: the best class is complete, and the note says that not all of its cliques were tried."""
    values = np.zeros((15, 11))
    values[3] = 1.0
    model = GSF().fit(values)
    assert undirected_part(model.adjacency_).sum() == 110
    assert any("256 smallest groups" in note for note in model.notes_)
    assert not any("smallest groups" in note for note in GSF().fit(values[:, :8]).notes_)


def test_penalty(rng):
    values, _, _ = linear_data(rng, d=8, n_edges=16, n=200)
    sizes = [len(GES(penalty=penalty).fit(values).edges_) for penalty in (0.1, 1.0, 50.0)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_on_the_command_line(tmp_path):
    result = run("fit", "sachs", "--method", "pc", "--alpha", "0.001", "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    assert "type" in (tmp_path / "edges.csv").read_text().splitlines()[0]
    assert "dir=none" in (tmp_path / "graph.dot").read_text()
    refused = run("fit", "sachs", "--method", "ges", "--alpha", "0.001")
    assert refused.returncode == 2
    assert "--alpha" in refused.stderr


@pytest.mark.parametrize(
    ("learner", "distances", "bounds"),
    [
        (PC.preset("paper"), (17, 11), (47, 62)),
        (GES.preset("paper"), (26, 28), (34, 45)),
        (GSF.preset("paper"), (18, 10), (44, 61)),
    ],
    ids=lambda value: getattr(value, "method", None),
)
def test_figures_of_the_paper_on_the_sachs_data(learner, distances, bounds):
    """SHD, SHD-C and the bounds of SID in its table 3."""
    sachs = grandag.datasets.load_sachs()
    found = learner.fit(sachs.data).adjacency_
    assert (shd(sachs.adjacency, found), shd_cpdag(sachs.adjacency, found)) == distances
    assert tuple(sid_bounds(sachs.adjacency, found)) == bounds


def test_groups_that_nobody_looked_at_are_noted(rng, monkeypatch):
    """One hidden cause makes every column depend on all others."""
    values = rng.normal(size=(200, 1)) + 0.5 * rng.normal(size=(200, 5))
    assert not any("smallest groups" in note for note in GES().fit(values).notes_)
    monkeypatch.setattr("grandag.methods.equivalence.class_state.MOST_CLIQUES", 1)
    assert sum("smallest groups" in note for note in GES().fit(values).notes_) == 1


def test_fges_is_ges_up_to_its_limit():
    values, _, _ = linear_data(np.random.default_rng(0), d=50, n_edges=100, n=500)
    ges, fges = (build(method, {}).fit(values) for method in ("ges", "fges"))
    np.testing.assert_array_equal(fges.adjacency_, ges.adjacency_)
    np.testing.assert_array_equal(fges.strength_, ges.strength_)
    assert fges.score_ == ges.score_
