"""Equal-variance models against brute force over all DAGs, closed forms, and the truth."""

import itertools

import numpy as np
import pandas as pd
import pytest

from grandag import DoubtWarning, EqualVariance
from grandag.graph import is_acyclic
from grandag.knowledge import Masks
from grandag.methods.equal_variance.search import CommonVarianceBIC, climb, conditional_parts, greedy_search
from grandag.methods.equal_variance.top_down import top_down_order
from tests.methods.linear import linear_data

each_algorithm = pytest.mark.parametrize("algorithm", ["greedy", "top-down"])
pytestmark = pytest.mark.filterwarnings("ignore::grandag.DoubtWarning")


def anything(d):
    return Masks(~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool))


def all_dags(d):
    pairs = list(itertools.combinations(range(d), 2))
    for marks in itertools.product((0, 1, 2), repeat=len(pairs)):
        adjacency = np.zeros((d, d), dtype=bool)
        for (i, j), mark in zip(pairs, marks, strict=True):
            adjacency[i, j], adjacency[j, i] = mark == 1, mark == 2
        if is_acyclic(adjacency):
            yield adjacency


def residual_variance(values, target, parents):
    design = np.column_stack([np.ones(len(values)), values[:, parents]])
    return (values[:, target] - design @ np.linalg.lstsq(design, values[:, target], rcond=None)[0]).var()


def plain_bic(values, adjacency, penalty=1.0):
    """The Gaussian density of all residuals with one variance, row by row, at its maximum, less the penalty."""
    n, d = values.shape
    variance = np.mean([residual_variance(values, j, np.flatnonzero(adjacency[:, j])) for j in range(d)])
    likelihood = -0.5 * n * d * (np.log(2 * np.pi * variance) + 1)
    return likelihood - 0.5 * penalty * np.log(n) * (adjacency.sum() + d + 1)


def bic_of(values, penalty=1.0):
    return CommonVarianceBIC.of(np.corrcoef(values.T), values.std(axis=0), len(values), penalty)


def any_table(seed, d=4):
    """Linear, with noises of equal variance in every other table."""
    rng = np.random.default_rng(seed)
    values, *_ = linear_data(rng, d=d, n_edges=d, n=100)
    return values if seed % 2 else values * rng.uniform(0.3, 3, d)


@pytest.mark.parametrize("seed", range(8))
def test_no_dag_of_four_nodes_is_better(seed):
    values = any_table(seed)
    penalty = 1.0 if seed < 4 else 0.3
    scores = {dag.tobytes(): plain_bic(values, dag, penalty) for dag in all_dags(4)}
    assert len(scores) == 543
    best = greedy_search(bic_of(values, penalty), anything(4), 3, 10, np.random.default_rng(0))
    assert best.score == pytest.approx(max(scores.values()), rel=1e-12)
    assert scores[best.adjacency.tobytes()] == pytest.approx(best.score, rel=1e-12)


def test_no_dag_that_knowledge_allows_is_better():
    for seed in range(4):
        values = any_table(seed)
        required, forbidden = np.zeros((2, 4, 4), dtype=bool)
        required[3, 1], forbidden[0, 2], forbidden[2, 3] = True, True, True
        allowed = ~np.eye(4, dtype=bool) & ~forbidden
        allowed[1, 3] = False
        legal = [dag for dag in all_dags(4) if dag[3, 1] and not (dag & ~allowed).any() and dag.sum(axis=0).max() <= 2]
        expected = max(plain_bic(values, dag) for dag in legal)
        best = greedy_search(bic_of(values), Masks(allowed, required), 2, 10, np.random.default_rng(0))
        assert best.score == pytest.approx(expected, rel=1e-12)


def test_one_search_stops_where_no_move_helps():
    """All graphs that one edge more, less or the other way round makes of the end of a search are no better."""
    n_checked = 0
    for seed in range(6):
        values = any_table(seed, d=5)
        end = climb(bic_of(values), np.zeros((5, 5), dtype=bool), anything(5), 4)
        for i, j in itertools.permutations(range(5), 2):
            toggled, turned = end.adjacency.copy(), end.adjacency.copy()
            toggled[i, j] ^= True
            turned[i, j], turned[j, i] = False, True
            for other in (toggled, turned) if end.adjacency[i, j] else (toggled,):
                if is_acyclic(other):
                    n_checked += 1
                    assert plain_bic(values, other) <= end.score + 1e-6
    assert n_checked > 60


def test_restarts_only_improve():
    n_better = 0
    for seed in range(5):
        values, *_ = linear_data(np.random.default_rng(seed), d=12, n_edges=30, n=60)
        first = climb(bic_of(values), np.zeros((12, 12), dtype=bool), anything(12), 11)
        last = greedy_search(bic_of(values), anything(12), 11, 10, np.random.default_rng(0))
        assert last.score >= first.score
        assert last.score == pytest.approx(plain_bic(values, last.adjacency), rel=1e-12)
        n_better += last.score > first.score
    assert n_better >= 2


def test_variances_with_a_parent_more_or_less():
    values = any_table(1, d=5)
    parts = conditional_parts(np.corrcoef(values.T), 2, np.array([0, 3]))
    unit = values[:, 2].var()
    assert unit * parts.now == pytest.approx(residual_variance(values, 2, [0, 3]), rel=1e-10)
    for other in (1, 4):
        assert unit * parts.added[other] == pytest.approx(residual_variance(values, 2, [0, 3, other]), rel=1e-10)
    assert unit * parts.dropped[0] == pytest.approx(residual_variance(values, 2, [3]), rel=1e-10)
    assert unit * parts.dropped[3] == pytest.approx(residual_variance(values, 2, [0]), rel=1e-10)


def test_order_of_the_model_itself():
    """From the covariance (I - B)^-T (I - B)^-1 of the model, without any data, every edge goes forwards."""
    rng = np.random.default_rng(0)
    for n_rows in (10**6, 40):  # on all variables before, and on those that are selected
        for _ in range(10):
            _, adjacency, weights = linear_data(rng, d=9, n_edges=14, n=20)
            inverse = np.linalg.inv(np.eye(9) - weights)
            covariance = inverse.T @ inverse
            deviation = np.sqrt(np.diagonal(covariance))
            order = top_down_order(
                covariance / np.outer(deviation, deviation), deviation**2, np.zeros((9, 9), dtype=bool), n_rows
            )
            place = np.argsort(order)
            n_backwards = sum(place[i] > place[j] for i, j in np.argwhere(adjacency))
            assert n_backwards <= (0 if n_rows > 40 else 2)  # of 40 rows, weak parents are not worth their price


def test_conditional_variances_of_a_chain():
    """Var(a) = 1, Var(b) = 2, Var(c) = 3, noise variances 1; a -> b is worth more than 1 until a is placed."""
    covariance = np.array([[1.0, 1, 1], [1, 2, 2], [1, 2, 3]])
    correlation = covariance / np.sqrt(np.outer(np.diagonal(covariance), np.diagonal(covariance)))
    free = np.zeros((3, 3), dtype=bool)
    assert top_down_order(correlation, np.diagonal(covariance), free, 1000) == [0, 1, 2]
    precedes = free.copy()
    precedes[2, 0] = True
    assert top_down_order(correlation, np.diagonal(covariance), precedes, 1000) == [1, 2, 0]


@each_algorithm
def test_finds_the_truth(algorithm, rng):
    n_wrong = 0
    for _ in range(5):
        values, adjacency, weights = linear_data(rng, n=3000)
        model = EqualVariance(algorithm=algorithm, random_state=0, penalty=2).fit(values)
        n_wrong += (model.adjacency_ != adjacency).sum()
        np.testing.assert_allclose(model.coefficients_[model.adjacency_ & adjacency],
                                   weights[model.adjacency_ & adjacency], atol=0.2)  # fmt: skip
    assert n_wrong <= 2


@each_algorithm
def test_common_unit_does_not_matter_and_standardising_does(algorithm):
    cause, noise = np.random.default_rng(1).normal(size=(2, 1000))
    values = np.column_stack([0.5 * cause + noise, cause])
    expected = EqualVariance(algorithm=algorithm, random_state=0).fit(values)
    assert [tuple(edge) for edge in expected.graph_.edges] == [("X1", "X0")]
    assert any("never standardised" in note for note in expected.notes_)
    for unit in (1e-100, 3.0, 1e100):
        model = EqualVariance(algorithm=algorithm, random_state=0).fit(values * unit)
        np.testing.assert_array_equal(model.adjacency_, expected.adjacency_)
        assert model.score_ == pytest.approx(expected.score_ - values.size * np.log(unit), rel=1e-9)
        np.testing.assert_allclose(model.strength_, expected.strength_, rtol=1e-6)
    turned = EqualVariance(algorithm=algorithm, random_state=0).fit(values * [0.1, 1])
    assert [tuple(edge) for edge in turned.graph_.edges] == [("X0", "X1")]


def test_strength_is_the_loss_of_likelihood():
    values = any_table(1)
    model = EqualVariance(random_state=0).fit(values)
    for i, j in np.argwhere(model.adjacency_):
        without = model.adjacency_.copy()
        without[i, j] = False
        expected = plain_bic(values, model.adjacency_, penalty=0) - plain_bic(values, without, penalty=0)
        assert model.strength_[i, j] == pytest.approx(expected, rel=1e-8)


def test_rescaled_columns_are_a_reason_to_doubt(rng):
    values, *_ = linear_data(rng)
    standardised = (values - values.mean(axis=0)) / values.std(axis=0)
    to_one = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    for rescaled, what in ((standardised, "standard deviation"), (to_one, "range")):
        with pytest.warns(DoubtWarning, match="rescaled columns"):
            model = EqualVariance(random_state=0).fit(rescaled)
        (concern,) = [concern for concern in model.warnings_ if concern.kind == "rescaled columns"]
        assert f"the same {what}" in concern.message
        assert "original units" in concern.message
    assert "rescaled columns" not in [concern.kind for concern in EqualVariance(random_state=0).fit(values).warnings_]


def test_unequal_variances_are_a_reason_to_doubt(rng):
    values = rng.normal(size=(1000, 3)) * [1, 1, 3]
    with pytest.warns(DoubtWarning, match="unequal variances"):
        model = EqualVariance(random_state=0).fit(values)
    (concern,) = [concern for concern in model.warnings_ if concern.kind == "unequal variances"]
    assert concern.variables[0] == "X2"
    assert concern.numbers["ratio"] == pytest.approx(9, rel=0.3)
    equal = EqualVariance(random_state=0).fit(rng.normal(size=(1000, 3)) * [1, 1, 1.2])
    assert "unequal variances" not in [concern.kind for concern in equal.warnings_]


@each_algorithm
def test_knowledge_binds(algorithm, rng):
    noise = rng.normal(size=(2000, 3))
    b = noise[:, 0] + noise[:, 1]
    chain = pd.DataFrame({"a": noise[:, 0], "b": b, "c": b + noise[:, 2]})

    def edges(**knowledge):
        model = EqualVariance(algorithm=algorithm, random_state=0, knowledge=knowledge).fit(chain)
        return set(model.graph_.edges)

    assert edges() == {("a", "b"), ("b", "c")}
    assert ("c", "a") in edges(required=[("c", "a")])
    assert ("b", "c") not in edges(forbidden=[("b", "c")])
    assert edges(tiers=[["c"], ["b"], ["a"]]) <= {("c", "b"), ("c", "a"), ("b", "a")}


@each_algorithm
@pytest.mark.filterwarnings("ignore:Columns .* hold the same numbers")
def test_columns_that_follow_from_others(algorithm, rng):
    values = rng.normal(size=(300, 3))
    values = np.column_stack([values, values[:, 0] + values[:, 1], 2 * values[:, 2]])
    model = EqualVariance(algorithm=algorithm, random_state=0).fit(values)
    assert model.is_dag_
    assert np.isfinite(model.strength_).all()


@pytest.mark.filterwarnings("ignore:The table has 30 columns")
def test_more_columns_than_rows(rng):
    values, *_ = linear_data(rng, d=30, n_edges=20, n=25)
    model = EqualVariance(random_state=0, max_parents=3).fit(values)
    assert model.adjacency_.sum(axis=0).max() <= 3
