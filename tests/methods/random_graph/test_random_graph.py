"""RANDOM: the law of its graphs, the paper's figures, and what an estimator promises."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import grandag
from grandag import NOTEARS, RandomGraph
from grandag.graph import is_acyclic
from grandag.methods.random_graph.random_graph import random_graph
from grandag.metrics import shd
from grandag.parameters import ParameterError


@parametrize_with_checks([RandomGraph(random_state=0)])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_number_of_edges_is_uniform(rng):
    """Given its probability p ~ U[0, 1] it is binomial: over p, each of 0 .. 10 is as likely as the others."""
    counts = np.bincount([random_graph(5, "uniform", rng).sum() for _ in range(4400)], minlength=11)
    assert len(counts) == 11
    assert ((counts - 400) ** 2 / 400).sum() < 29.6  # 0.1 % quantile of chi^2 with 10 degrees of freedom


def test_exact_number_of_edges_and_any_order(rng):
    graphs = [random_graph(4, 3, rng) for _ in range(600)]
    assert all(graph.sum() == 3 and is_acyclic(graph) for graph in graphs)
    np.testing.assert_allclose(np.mean(graphs, axis=0)[~np.eye(4, dtype=bool)], 0.25, atol=0.09)


@pytest.mark.parametrize(
    ("scheme", "d", "n_edges", "mean", "deviation"),
    [
        ("uniform", 10, 10, 26.3, 9.8),  # main tables of the paper, Gauss-ANM ER1 and ER4
        ("uniform", 10, 40, 31.8, 5.0),
        ("uniform", 50, 50, 535.7, 401.2),
        ("uniform", 50, 200, 708.4, 234.4),
        ("fixed", 10, 10, 23.1, 2.7),  # mean of the tables LIN, ADD-FUNC, PNL-GP, PNL-MULT
        ("fixed", 10, 40, 34.1, 2.9),
        ("fixed", 50, 50, 690.5, 6.5),
        ("fixed", 50, 200, 715.0, 10.9),
    ],
)
def test_figures_of_the_paper(rng, scheme, d, n_edges, mean, deviation):
    """SHD to an ER graph with that expected number of edges: means of ten within three standard errors."""
    distances = []
    for _ in range(200):
        truth = np.triu(rng.random((d, d)) < 2 * n_edges / (d**2 - d), 1)
        distances.append(shd(truth, random_graph(d, scheme, rng)))
    n_sets = 10 if scheme == "uniform" else 40
    assert abs(np.mean(distances) - mean) < 3 * deviation / np.sqrt(n_sets)
    assert 0.5 < np.std(distances) / deviation < 1.6


def test_seeds(rng):
    X = rng.normal(size=(50, 6))
    first, second, other = (RandomGraph(random_state=seed).fit(X).adjacency_ for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_score_is_that_of_linear_conditionals(rng, tmp_path):
    """Without edges: independent Gaussians. With all edges it is the density of any complete graph."""
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    empty, full = (RandomGraph(n_edges=n, random_state=0).fit(X) for n in (0, 6))
    np.testing.assert_allclose(empty.score(X), -0.5 * (np.log(2 * np.pi * X.var(axis=0)) + 1).sum())
    complete = -0.5 * (4 * np.log(2 * np.pi) + np.linalg.slogdet(np.cov(X.T, bias=True))[1] + 4)
    np.testing.assert_allclose(full.score(X), complete)
    full.save(tmp_path / "model.npz")
    again = grandag.load(tmp_path / "model.npz")
    assert isinstance(again, RandomGraph)
    assert again.score(X) == full.score(X)


def test_illegal_numbers_of_edges(rng):
    X = rng.normal(size=(50, 4))
    for n_edges, message in (
        (7, "'n_edges' must be at most 6 for 4 columns; got 7"),
        (-1, "'n_edges' must be 'uniform', 'fixed' or a whole number"),
        ("many", "'n_edges' must be 'uniform', 'fixed' or a whole number"),
        ("fixed", "'n_edges' is known as 'fixed' for 10 and 50 columns only, not for 4"),
    ):
        with pytest.raises(ParameterError, match=message):
            RandomGraph(n_edges=n_edges).fit(X)


def test_scores_compare_with_other_methods(rng):
    X = rng.normal(size=(300, 3))
    np.testing.assert_allclose(RandomGraph(n_edges=0).fit(X).score(X), NOTEARS().fit(X).score(X))
