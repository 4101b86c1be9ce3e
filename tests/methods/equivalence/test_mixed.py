"""PC and GES on tables with labels and counts: tests and scores against closed forms, and v-structures found."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from grandag import GES, PC
from grandag.knowledge import Masks
from grandag.methods.equivalence.mixed import MixedScore, MixedTests
from grandag.methods.stages.final_edges import FinalEdgesConfig, final_edges
from grandag.parameters import ParameterError
from grandag.table import Table


def collider(n=800, seed=0):
    """number -> label <- binary, and a count that follows the label."""
    rng = np.random.default_rng(seed)
    x, b = rng.normal(size=n), rng.integers(2, size=n).astype(float)
    scores = np.column_stack([2 * x, -2 * x, 3 * b - 1])
    c = np.argmax(scores + rng.gumbel(size=(n, 3)), axis=1).astype(float)
    k = rng.poisson(np.array([1.0, 4.0, 12.0])[c.astype(int)]).astype(float)
    return Table(
        np.column_stack([x, b, c, k]),
        ("x", "b", "c", "k"),
        True,
        kinds=("continuous", "binary", "categorical", "count"),
    )


def test_test_of_two_binary_columns_is_pearsons():
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, 300)).astype(float)
    table = Table(np.column_stack([a, b]), ("a", "b"), True, kinds=("binary", "binary"))
    counts = np.array([[((a == i) & (b == j)).sum() for j in range(2)] for i in range(2)])
    expected = chi2_contingency(counts, correction=False).pvalue
    assert MixedTests(table).p_value(0, 1, ()) == pytest.approx(expected, rel=1e-2)
    by_ratios = chi2_contingency(counts, correction=False, lambda_="log-likelihood").pvalue
    assert MixedTests(table, by_ratios=True).p_value(0, 1, ()) == pytest.approx(by_ratios, rel=1e-2)
    assert MixedTests(table).p_value(1, 0, ()) == MixedTests(table).p_value(0, 1, ())


def test_level_of_the_tests_given_a_cause():
    """x -> b and x -> k, nothing else: b and k are independent given x. 5 % of the tests, not more, say otherwise."""
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=250)
        b = (rng.random(250) < 1 / (1 + np.exp(-2 * np.sin(2 * x)))).astype(float)
        k = rng.poisson(np.exp(1 + 0.5 * x)).astype(float)
        table = Table(np.column_stack([x, b, k]), ("x", "b", "k"), True, kinds=("continuous", "binary", "count"))
        rejected += MixedTests(table).p_value(1, 2, (0,)) < 0.05
    assert rejected <= 8  # 99 % of binomial draws with 60 trials and 0.05


def test_likelihood_ratios_decide_as_scores_do():
    table = collider()
    by_score, by_ratio = (PC(mixed_test=test).fit(table) for test in ("score", "likelihood-ratio"))
    np.testing.assert_array_equal(by_score.adjacency_, by_ratio.adjacency_)
    assert (by_score.p_values_ != by_ratio.p_values_).any()


def test_score_of_a_label_given_a_label_is_that_of_the_counts():
    table = collider()
    b, c = table.values[:, 1], table.values[:, 2]
    counts = np.array([[((b == i) & (c == j)).sum() for j in range(3)] for i in range(2)])
    likelihood = (counts * np.log(counts / counts.sum(axis=1, keepdims=True))).sum()
    n_parameters = 2 * 2
    expected = likelihood - 2 * n_parameters / 2 * np.log(len(b))
    assert MixedScore(table, penalty=2.0).local(2, (1,)) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("learner", [PC, GES])
def test_the_collider_is_found(learner):
    model = learner().fit(collider())
    edges = {(edge.source, edge.target) for edge in model.edges_.itertuples()}
    assert {("x", "c"), ("b", "c"), ("c", "k")} <= edges
    assert not model.adjacency_[0, 1]
    assert not model.adjacency_[2, 0]
    assert "family of its variable's kind" in " ".join(model.notes_)
    assert np.isfinite(model.score(collider(seed=1)))


def test_text_columns_and_knowledge():
    table = collider()
    frame = pd.DataFrame(table.values, columns=table.names).assign(
        b=np.where(table.values[:, 1] > 0, "yes", "no"), c=np.array(["u", "v", "w"])[table.values[:, 2].astype(int)]
    )
    frame["k"] = frame["k"].astype(int)
    model = PC(knowledge={"forbidden": [("x", "c"), ("c", "x")]}).fit(frame)
    assert not model.adjacency_[0, 2]
    assert not model.adjacency_[2, 0]


def test_ges_without_intercepts_is_refused():
    with pytest.raises(ParameterError, match=r"intercept.*labels or counts: 'b', 'c', 'k'"):
        GES(intercept=False).fit(collider())


def test_pruning_uses_the_families():
    table = collider()
    order = np.triu(np.ones((4, 4), dtype=bool), 1)
    knowledge = Masks(~np.eye(4, dtype=bool), np.zeros((4, 4), dtype=bool))
    config = FinalEdgesConfig(refine=False)
    found = final_edges(table, order, order * 1.0, knowledge, config, np.random.default_rng(0), None)
    assert np.argwhere(found.adjacency).tolist() == [[0, 2], [1, 2], [2, 3]]
    assert found.edge_facts["p_value"][0, 2] < 1e-6
    assert found.edge_facts["p_value"][0, 1] > 0.001
