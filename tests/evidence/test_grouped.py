"""Groups of rows with regressions of their own: imperfect interventions, and labels and counts."""

import numpy as np
import pytest

from grandag.evidence import EvidenceConfig, evaluate, kept_by_halves, refine
from grandag.evidence.additive import AdditiveScores
from grandag.evidence.grouped import GroupedScores, make_scores
from grandag.evidence.scores import LocalScores
from grandag.evidence.transform import standardise
from grandag.interventions import as_regimes
from grandag.methods.stages.refine import rows_to_ask


@pytest.fixture
def changed():
    """x0 -> x1, linear; in the last third of the rows x1 depends on x0 in the opposite way."""
    rng = np.random.default_rng(5)
    x0, noise = rng.normal(size=(2, 300))
    x1 = np.where(np.arange(300) < 200, 0.9, -0.9) * x0 + 0.4 * noise
    groups = np.ones((2, 300, 2), dtype=bool)
    groups[0, 200:, 1] = groups[1, :200, 1] = groups[1, :, 0] = False
    return np.column_stack([x0, x1]), groups


def scores_of(values, are_free, kinds=None):
    columns = standardise(values, 10)[0]
    return make_scores(values, columns, kinds, are_free, EvidenceConfig(), np.random.default_rng(0), 1)


def test_the_score_is_the_sum_over_groups(changed):
    values, groups = changed
    scores = scores_of(values, groups)
    parts = [
        LocalScores(standardise(rows, 10)[0], EvidenceConfig(), np.random.default_rng(0), 1)
        for rows in (values[:200], values[200:])
    ]
    for parents in ((), (0,)):
        assert scores.full(1, parents) == pytest.approx(sum(part.full(1, parents) for part in parts), abs=0.2)
    assert scores.full(0, (1,)) == scores_of(values, None).full(0, (1,))  # never a target: one group, all rows
    assert scores.loss(1, (0,), (0,)) > 50
    promised = [part.promise(1, ())[0] for part in scores.groups[1]]
    assert scores.promise(1, ())[0] == pytest.approx(np.hypot(*promised))
    assert scores.promise(1, (0,))[0] == -np.inf
    gain = scores.full(1, (0,)) - scores.full(1, ())
    assert scores.reaches(1, (0,), (), gain - 1) and not scores.reaches(1, (0,), (), gain + 1)


def test_few_rows_of_each_group_count_by_its_size(changed):
    """Groups with fewer rows than few rows have are counted as they are."""
    values, groups = changed
    scores = scores_of(np.tile(values, (5, 1)), np.tile(groups, (1, 5, 1)))
    assert scores.scale == 5
    local = scores.groups[1]
    assert [some.scale_of(1) for some in local] == [pytest.approx(1000 / 300), pytest.approx(500 / 300)]
    expected = sum(some.scale_of(1) * some.few(1, (0,)) for some in local)
    assert scores.scale * scores.few(1, (0,)) == pytest.approx(expected)


def test_what_is_opposite_in_two_groups_is_found_in_both_only(changed):
    values, groups = changed
    nothing = np.zeros((2, 2), dtype=bool)
    assert refine(values, nothing, are_free=groups).adjacency[0, 1]
    edge = np.array([[0, 1], [0, 0]], dtype=bool)
    gains = [
        evaluate(values, edge, are_free=some).score - evaluate(values, nothing, are_free=some).score
        for some in (groups, None)
    ]
    assert gains[0] > gains[1] + 50
    everything = ~np.eye(2, dtype=bool)
    kept = kept_by_halves(
        values, edge, allowed=everything, required=nothing, rng=np.random.default_rng(1), are_free=groups
    )
    assert kept[0, 1] == 1


def test_groups_that_tell_nothing_have_no_score(changed):
    """A few rows, and rows in which the variable does not vary, which any parents would explain."""
    values, groups = changed
    values[200:, 1] = 1.0
    scores = scores_of(values, groups)
    assert isinstance(scores, GroupedScores) and len(scores.groups[1]) == 1
    groups[1, :, 1] = np.arange(300) < 5
    assert len(scores_of(values, groups).groups[1]) == 1


def test_one_group_is_the_rows_that_are_free(changed):
    values, groups = changed
    one, other = (refine(values, np.zeros((2, 2), dtype=bool), are_free=free) for free in (groups[:1], groups[0]))
    assert one.score == pytest.approx(other.score, abs=0.1)
    np.testing.assert_array_equal(one.adjacency, other.adjacency)


def test_a_small_group_is_fitted_anew_to_see_what_it_loses():
    """A fit that follows a few rows closely loses nats by the hundred if a parent is taken out and nothing refitted."""
    few = np.random.default_rng(6).normal(size=(20, 6))
    few[:, 5] += np.sin(2 * few[:, 0])
    many = np.random.default_rng(1).normal(size=(300, 6))
    many[:, 5] = many[:, :5].sum(axis=1) + 0.3 * many[:, 5]
    groups = np.ones((2, 320, 6), dtype=bool)
    groups[0, 300:, 5] = groups[1, :300, 5] = groups[1, :, :5] = False
    scores, parents = scores_of(np.concatenate([many, few]), groups), (0, 1, 2, 3, 4)
    large, small = scores.groups[5]
    assert (small.n_rows_of(5), scores.n_rows_of(5)) == (20, 320)
    dropped = (max(parents, key=lambda parent: small.loss(5, parents, (parent,))),)
    fewer = tuple(parent for parent in parents if parent not in dropped)
    exactly = small.full(5, parents) - small.full(5, fewer, parents)
    assert small.loss(5, parents, dropped) > exactly + 100
    assert scores.loss(5, parents, dropped) == pytest.approx(large.loss(5, parents, dropped) + exactly)
    few_loss = large.scale_of(5) * large.few_loss(5, parents, dropped) + exactly
    assert scores.scale * scores.few_loss(5, parents, dropped) == pytest.approx(few_loss)


def test_an_edge_costs_half_as_much_again_for_a_further_regression(changed):
    values, groups = changed
    scores = scores_of(values, groups)
    assert scores.edge_cost(0) == scores.cost_per_edge and scores.edge_cost(1) == 1.5 * scores.cost_per_edge
    assert scores.score(1, (0,)) == scores.full(1, (0,)) - 1.5 * scores.cost_per_edge
    edge = np.array([[0, 1], [0, 0]], dtype=bool)
    judged = evaluate(values, edge, are_free=groups)
    assert judged.score == pytest.approx(judged.evidence - 1.5 * scores.cost_per_edge)


def test_labels_are_scored_on_their_own_rows(rng):
    x = rng.normal(size=300)
    label = (rng.random(300) < 1 / (1 + np.exp(-3 * x))).astype(float)
    label[200:] = rng.random(100) < 0.5
    values, kinds = np.column_stack([x, label]), ["continuous", "binary"]
    are_free = np.ones((300, 2), dtype=bool)
    are_free[200:, 1] = False
    scores = scores_of(values, are_free, kinds)
    alone = AdditiveScores(values[:200], kinds, EvidenceConfig(), np.random.default_rng(0))
    for parents in ((), (0,)):
        assert scores.full(1, parents) == pytest.approx(alone.full(1, parents), abs=1e-3)
    assert refine(values, np.zeros((2, 2), dtype=bool), kinds=kinds, are_free=are_free).adjacency.any()


def test_groups_of_regimes():
    texts = [""] * 10 + ["b"] * 10 + ["a|b"] * 10
    perfect = rows_to_ask(as_regimes(texts, ["a", "b", "c"]))
    np.testing.assert_array_equal(perfect[::10], [[1, 1, 1], [1, 0, 1], [0, 0, 1]])
    imperfect = rows_to_ask(as_regimes(texts, ["a", "b", "c"], "imperfect"))
    np.testing.assert_array_equal(imperfect[0], perfect)
    np.testing.assert_array_equal(imperfect[1, ::10], [[0, 0, 0], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(imperfect[2, ::10], [[0, 0, 0], [0, 0, 0], [0, 1, 0]])
    assert rows_to_ask(None) is None
