"""The search against all DAGs; what it says when it is stopped; its estimator."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag import GES, ExactSearch, Knowledge
from grandag.gam import SplineTable
from grandag.graph import is_acyclic, is_cpdag
from grandag.knowledge import Masks
from grandag.methods.equivalence.generalised_score import GeneralisedScore
from grandag.methods.equivalence.ges import GaussianScore
from grandag.methods.exact.parent_sets import count_sets, find_parent_sets
from grandag.methods.exact.scores import AdditiveScore
from grandag.methods.exact.search import exact_search, memory_needed
from grandag.methods.stages.linear_gaussian import moments
from grandag.parameters import ParameterError
from grandag.table import TableError, as_table
from tests.graph.strategies import all_dags
from tests.methods.linear import linear_data


class AnyScore:
    """Any numbers; equivalent DAGs have different scores."""

    def __init__(self, d, seed, price=0.0):
        self.n_variables, self._seed, self._price = d, seed, price

    def local(self, node, parents):
        return float(np.random.default_rng([self._seed, node, *parents]).normal()) - self._price * len(parents)


def masks(d, allowed=None, required=None):
    allowed = ~np.eye(d, dtype=bool) if allowed is None else allowed
    return Masks(allowed, np.zeros((d, d), dtype=bool) if required is None else required)


def total(score, dag):
    return sum(score.local(j, tuple(np.flatnonzero(parents).tolist())) for j, parents in enumerate(dag.T))


@pytest.fixture(scope="module")
def dags():
    """[k, i, j] of all DAGs, by the number of nodes."""
    found = {d: np.array(list(all_dags(d))) for d in (4, 5)}
    assert {d: len(some) for d, some in found.items()} == {4: 543, 5: 29281}  # Robinson 1973
    return found


def totals(score, dags):
    """(k,) the score of each DAG."""
    d = dags.shape[1]
    sets = [[tuple(i for i in range(d) if p >> i & 1) for p in range(1 << d)] for _ in range(d)]
    table = np.array([[0.0 if j in some else score.local(j, some) for some in sets[j]] for j in range(d)])
    parents = np.einsum("kij,i->kj", dags.astype(np.int64), 1 << np.arange(d))
    return table[np.arange(d), parents].sum(axis=1)


def linear_score(d, seed):
    values, _, _ = linear_data(np.random.default_rng([d, seed]), d=d, n_edges=d, n=100)
    return GaussianScore(moments(values), 100)


SCORES = {"any": AnyScore, "sparse": lambda d, seed: AnyScore(d, seed, price=0.5), "bic": linear_score}


@pytest.mark.parametrize("exhaustive_up_to", [22, 3, 2])
@pytest.mark.parametrize("kind", SCORES)
def test_is_the_best_of_all_dags(dags, kind, exhaustive_up_to):
    """By dynamic programming, and by A* with two and three groups."""
    for d, seeds in ((4, range(10)), (5, range(5))):
        for seed in seeds:
            score = SCORES[kind](d, seed)
            found = exact_search(score, masks(d), exhaustive_up_to=exhaustive_up_to)
            assert is_acyclic(found.adjacency)
            assert found.score == pytest.approx(totals(score, dags[d]).max(), abs=1e-9)
            assert found.score == pytest.approx(total(score, found.adjacency), abs=1e-9)
            assert found.gap == 0


@pytest.mark.parametrize("exhaustive_up_to", [22, 2])
def test_knowledge_and_the_limit_bind(dags, exhaustive_up_to):
    """Of all DAGs that random knowledge allows, with at most one or two parents, the best."""
    rng = np.random.default_rng(1)
    for seed in range(12):
        d, most = 5, 1 + seed % 2
        required = np.triu(rng.random((d, d)) < 0.15, 1)
        required &= required.sum(axis=0) <= most
        order = rng.permutation(d)
        required = required[np.ix_(order, order)]
        allowed = required | (rng.random((d, d)) < 0.7)
        allowed &= ~np.eye(d, dtype=bool) & ~required.T
        is_legal = ~(dags[d] & ~allowed).any(axis=(1, 2)) & ~(required & ~dags[d]).any(axis=(1, 2))
        is_legal &= (dags[d].sum(axis=1) <= most).all(axis=1)
        score = AnyScore(d, seed)
        knowledge = masks(d, allowed, required)
        found = exact_search(score, knowledge, max_parents=most, exhaustive_up_to=exhaustive_up_to)
        assert found.score == pytest.approx(totals(score, dags[d][is_legal]).max(), abs=1e-9)
        assert is_acyclic(found.adjacency)
        assert not (found.adjacency & ~allowed).any()
        assert not (required & ~found.adjacency).any()


@pytest.mark.parametrize("make", [GeneralisedScore, lambda X: AdditiveScore(SplineTable(as_table(X)))])
def test_scores_of_the_library(dags, make, rng):
    x = rng.normal(size=(120, 4))
    x[:, 1] += np.sin(2 * x[:, 0])
    x[:, 3] += x[:, 1] ** 2 - x[:, 2]
    score = make(x)
    found = exact_search(score, masks(4))
    assert found.score == pytest.approx(totals(score, dags[4]).max(), rel=1e-9)


def test_pruned_sets_are_those_that_a_subset_beats():
    score = AnyScore(6, 3)
    found = find_parent_sets(score, masks(6), 3)
    for j in range(6):
        others = [i for i in range(6) if i != j]
        every = {some: score.local(j, some) for size in range(4) for some in combinations(others, size)}
        expected = {
            sum(1 << i for i in some): value
            for some, value in every.items()
            if all(value > less for other, less in every.items() if set(other) < set(some))
        }
        part = slice(found.start[j], found.start[j + 1])
        assert dict(zip(found.sets[part].tolist(), found.scores[part].tolist(), strict=True)) == expected
        assert (np.diff(found.scores[part]) <= 0).all()
    assert count_sets(masks(6), 3) == 6 * sum(math.comb(5, k) for k in range(4))


def test_scores_of_many_sets_at_once(rng):
    score = linear_score(6, 0)
    parents = np.array(list(combinations([0, 1, 3, 4, 5], 3)))
    expected = [score.local(2, tuple(row)) for row in parents.tolist()]
    np.testing.assert_array_equal(score.local_of_each(2, parents), expected)


def test_dynamic_programming_and_a_star_agree():
    for seed in range(3):
        values, _, _ = linear_data(np.random.default_rng(seed), d=12, n_edges=24, n=200)
        score = GaussianScore(moments(values), 200)
        ends = [exact_search(score, masks(12), max_parents=4, exhaustive_up_to=most).score for most in (12, 6, 4)]
        assert ends == pytest.approx([ends[0]] * 3, abs=1e-8)


def test_at_least_as_good_as_greedy_search():
    n_better = 0
    for seed in range(10):
        values, _, _ = linear_data(np.random.default_rng(seed), d=10, n_edges=25, n=100)
        ours, greedy = ExactSearch().fit(values), GES().fit(values)
        assert ours.score_ >= greedy.score_ - 1e-8
        n_better += ours.score_ > greedy.score_ + 1e-8
    assert n_better > 0


def test_order_of_columns(rng):
    values, _, _ = linear_data(rng, d=8, n_edges=12, n=300)
    expected = ExactSearch().fit(values)
    assert is_cpdag(expected.adjacency_)
    for _ in range(3):
        order = rng.permutation(8)
        permuted = ExactSearch().fit(values[:, order])
        np.testing.assert_array_equal(permuted.adjacency_, expected.adjacency_[np.ix_(order, order)])
        assert permuted.score_ == pytest.approx(expected.score_)


def test_knowledge_of_the_estimator(rng):
    """A chain, of which knowledge directs one edge, and one more by what it implies."""
    x = rng.normal(size=(1000, 3))
    x[:, 1] += x[:, 0]
    x[:, 2] += x[:, 1]
    free = ExactSearch().fit(x)
    assert (free.edges_["type"] == "--").all()
    assert len(free.edges_) == 2
    told = ExactSearch(knowledge=Knowledge(required=[("X0", "X1")])).fit(x)
    np.testing.assert_array_equal(told.adjacency_, [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert told.score_ == pytest.approx(free.score_)
    without = ExactSearch(knowledge=Knowledge(forbidden=[("X0", "X1"), ("X1", "X0")])).fit(x)
    assert not without.adjacency_[0, 1]
    assert not without.adjacency_[1, 0]
    assert without.score_ < free.score_


@pytest.mark.parametrize("local_score", ["additive", "generalised"])
def test_other_scores_of_the_estimator(local_score, rng, tmp_path):
    x = rng.normal(size=(300, 3))
    x[:, 1] = np.sin(2 * x[:, 0]) + 0.3 * x[:, 1]
    model = ExactSearch(local_score=local_score).fit(x)
    assert model.is_dag_ == (local_score == "additive")
    assert model.adjacency_[0, 1]
    assert model.adjacency_[1, 0] == (local_score == "generalised")
    model.save(tmp_path / "model.npz")
    assert grandag.load(tmp_path / "model.npz").score(x) == model.score(x)


def test_penalty_of_the_generalised_score_is_refused(rng):
    with pytest.raises(ParameterError, match="'penalty' has no effect with local_score='generalised': leave it out"):
        ExactSearch(local_score="generalised", penalty=2.0).fit(rng.normal(size=(50, 2)))


def test_a_limit_on_parents_is_said(rng):
    """Of a sum of three, two parents are the limit; where there are no more candidates, there is none."""
    values = rng.normal(size=(300, 4))
    data = pd.DataFrame(values, columns=list("abcd")).assign(d=lambda table: table.sum(axis=1))

    def said(forbidden=(), **parameters):
        knowledge = {"tiers": [["a", "b", "c"], ["d"]], "forbidden": list(forbidden)}
        model = ExactSearch(**parameters, knowledge=knowledge).fit(data)
        return [note for note in model.notes_ if "max_parents" in note]

    (note,) = said(max_parents=2)
    assert note.startswith("1 variable has max_parents=2 parents: 'd'.")
    assert not said()
    assert not said(max_parents=3)
    assert not said(max_parents=2, forbidden=[("a", "d")])


def test_memory_is_stated_or_refused(rng, caplog):
    values = rng.normal(size=(60, 24))
    with pytest.raises(ParameterError, match=r"'max_parents' makes .* 24 variables need .* GB .* max_memory is 2 GB"):
        ExactSearch().fit(values)
    with pytest.raises(ParameterError, match=r"'exhaustive_up_to' makes .* lower it"):
        ExactSearch(max_parents=1, exhaustive_up_to=24, max_memory=0.1).fit(values)
    with pytest.raises(TableError, match="at most 62 variables, the table has 63"):
        ExactSearch(max_parents=1).fit(rng.normal(size=(100, 63)))
    assert memory_needed(masks(24), 1, 24).tails == 8 * 2**24
    with caplog.at_level("INFO", logger="grandag"):
        ExactSearch(max_parents=2).fit(values[:, :5])
    assert "among 5 variables scores 55 sets of parents and needs up to" in caplog.text


def test_out_of_memory_has_a_bound_on_the_gap():
    """A* among 18 variables with room for few states; all subsets say what the best is."""
    values, _, _ = linear_data(np.random.default_rng(0), d=18, n_edges=60, n=100)
    options = {"max_parents": 3, "penalty": 0.3}
    best = ExactSearch(**options).fit(values)
    assert best.gap_ == 0
    with pytest.warns(UserWarning, match="used up its memory"):
        stopped = ExactSearch(**options, exhaustive_up_to=3, max_memory=0.006).fit(values)
    assert stopped.score_ <= best.score_ + 1e-8 < stopped.score_ + stopped.gap_ + 2e-8
    assert stopped.gap_ > 0
    (concern,) = [concern for concern in stopped.learned_.concerns if concern.kind == "not proven best"]
    assert "Raise max_memory" in concern.message
    assert "No graph with at most 3 parents per variable has a score" in concern.message


def interrupt_at(stage, number):
    """A listener that presses Ctrl-C when a stage reports for the so-manieth time."""
    seen = []

    def listen(progress):
        seen.append(progress.stage)
        if seen.count(stage) == number:
            raise KeyboardInterrupt

    return listen


def test_interrupted_search_returns_the_best_so_far():
    values, _, _ = linear_data(np.random.default_rng(0), d=16, n_edges=30, n=100)
    score = GaussianScore(moments(values), 100)
    best = exact_search(score, masks(16), max_parents=3)
    stopped = exact_search(score, masks(16), max_parents=3, listener=interrupt_at("subsets", 1))
    assert stopped.was_interrupted
    assert stopped.score == pytest.approx(total(score, stopped.adjacency))
    assert stopped.score <= best.score + 1e-8 <= stopped.bound + 2e-8
    early = exact_search(score, masks(16), max_parents=3, listener=interrupt_at("parent sets", 8))
    assert early.was_interrupted
    assert early.gap is None
    assert is_acyclic(early.adjacency)
    assert early.score == pytest.approx(total(score, early.adjacency))
    assert early.score < best.score


@pytest.mark.filterwarnings("ignore:The search was interrupted")
def test_interrupted_fit_says_so(rng, tmp_path):
    values = rng.normal(size=(100, 4))
    model = ExactSearch().fit(values, listener=interrupt_at("parent sets", 2))
    assert model.learned_.was_interrupted
    assert model.gap_ is None
    model.save(tmp_path / "model.npz")
    assert grandag.load(tmp_path / "model.npz").gap_ is None
