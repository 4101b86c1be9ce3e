"""Evidence of tables with labels and counts: scores against closed forms, and the greedy search against brute force."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from grandag.evidence import evaluate, is_mixed, kept_by_halves, refine
from grandag.evidence.additive import AdditiveScores
from grandag.evidence.config import EvidenceConfig
from grandag.evidence.greedy import climb
from grandag.evidence.plans import Knowledge, as_adjacency
from grandag.gam import LikelihoodTable
from grandag.graph import is_acyclic
from grandag.simulate.files import simulate
from grandag.table import as_table

KINDS = ("continuous", "binary", "categorical", "count")


def mixed_rows(n=400, seed=0):
    """continuous -> binary, continuous -> categorical, binary -> count."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    b = (rng.random(n) < 1 / (1 + np.exp(-3 * np.sin(2 * x)))).astype(float)
    c = np.argmax(np.column_stack([2 * x, -2 * x, 2 * x**2 - 2]) + rng.gumbel(size=(n, 3)), axis=1).astype(float)
    k = rng.negative_binomial(3, 3 / (3 + np.exp(1 + b))).astype(float)
    return np.column_stack([x, b, c, k])


def scores_of(values, kinds=KINDS):
    return AdditiveScores(values, kinds, EvidenceConfig(), np.random.default_rng(0))


def test_rao_statistic_of_labels_is_pearsons():
    values = mixed_rows()
    fit = LikelihoodTable(values, KINDS)
    for target, column in ((1, 2), (2, 1)):
        counts = np.array([[((values[:, 1] == a) & (values[:, 2] == b)).sum() for b in range(3)] for a in range(2)])
        statistic, df = fit.regress(target, []).rao(column, 4)
        expected = chi2_contingency(counts, correction=False)
        assert df == expected.dof
        assert statistic == pytest.approx(expected.statistic, rel=1e-3)


def test_wald_statistic_of_two_binary_columns():
    """The squared log odds ratio over the sum of 1 / counts."""
    rng = np.random.default_rng(1)
    a = rng.integers(2, size=500)
    b = (rng.random(500) < 0.3 + 0.3 * a).astype(int)
    counts = np.array([[((a == i) & (b == j)).sum() for j in range(2)] for i in range(2)])
    log_ratio = np.log(counts[0, 0] * counts[1, 1] / (counts[0, 1] * counts[1, 0]))
    fit = LikelihoodTable(np.column_stack([a, b]), ["binary", "binary"]).regress(1, [0])
    assert fit.wald([0]) == pytest.approx(log_ratio**2 / (1 / counts).sum(), rel=1e-3)


def test_units_shift_all_scores_of_a_column_alike():
    values = mixed_rows()
    scaled = values * [1000.0, 1, 1, 1] + [5.0, 0, 0, 0]
    before, after = scores_of(values), scores_of(scaled)
    for parents in ((), (1,), (1, 2, 3)):
        shift = before.full(0, parents) - after.full(0, parents)
        assert shift == pytest.approx(len(values) * np.log(1000), abs=0.05)
    assert after.full(1, (0, 3)) == pytest.approx(before.full(1, (0, 3)), abs=0.05)


def test_scores_are_log_probabilities():
    """A binary column without parents: the Beta(1, 1) evidence of its counts, to the constant of a flat prior."""
    rng = np.random.default_rng(2)
    y = (rng.random(1000) < 0.4).astype(float)
    values = np.column_stack([rng.normal(size=1000), y])
    share = y.mean()
    likelihood = len(y) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    found = scores_of(values, ("continuous", "binary")).full(1, ())
    laplace = likelihood + 0.5 * np.log(2 * np.pi / (len(y) * share * (1 - share)))
    assert found == pytest.approx(laplace, abs=0.01)


def test_promise_and_loss_tell_parents_from_others():
    scores = scores_of(mixed_rows())
    promise = scores.promise(1, ())
    assert promise[0] > 5
    assert promise[1] == -np.inf
    assert scores.promise(3, (1,))[0] < 4  # x works on the count through the binary column only
    assert scores.loss(1, (0, 2), (0,)) > 15
    assert scores.loss(1, (0, 2), (2,)) < 0
    continuous = np.column_stack([mixed_rows()[:, 0], np.random.default_rng(1).normal(size=(400, 2))])
    continuous[:, 1] += 0.3 * continuous[:, 0]
    gaussian = scores_of(continuous, ("continuous",) * 3)
    exact = gaussian.full(1, (0, 2)) - gaussian.full(1, (2,))
    assert gaussian.loss(1, (0, 2), (0,)) == pytest.approx(exact, rel=0.3)  # a weak one: to second order


def neighbours(adjacency):
    d = len(adjacency)
    for i, j in permutations(range(d), 2):
        other = adjacency.copy()
        if adjacency[i, j]:
            other[i, j] = False
            yield other.copy()
            other[j, i] = True
        else:
            other[i, j] = True
        if is_acyclic(other) and not (other & other.T).any():
            yield other


def test_search_ends_where_no_edge_improves_the_score():
    values = mixed_rows()
    scores = scores_of(values)
    free = ~np.eye(4, dtype=bool)
    found = climb(scores, Knowledge(free, np.zeros_like(free)), [()] * 4, lambda state: None)

    def total(adjacency):
        return sum(scores.score(j, tuple(np.flatnonzero(column).tolist())) for j, column in enumerate(adjacency.T))

    best = as_adjacency(found.parents)
    assert found.total == pytest.approx(total(best))
    assert max(total(other) for other in neighbours(best)) <= found.total + 0.05
    assert best.sum() >= 3


def best_of_all(scores):
    """The best total of all DAGs: of every order, the best of what comes before."""

    def best(child, before):
        some = (tuple(sorted(few)) for k in range(len(before) + 1) for few in combinations(before, k))
        return max(scores.score(child, few) for few in some)

    nodes = range(scores.n_variables)
    return max(sum(best(child, order[:k]) for k, child in enumerate(order)) for order in permutations(nodes))


def test_search_passes_what_no_single_edge_improves():
    """A dense graph, from no edge: single edges end 157 nats below the best of all DAGs."""
    scenario = simulate("mixed", n_nodes=5, n_edges=10, n_rows=300, seed=6)
    table = as_table(scenario.data, kinds=scenario.configuration["kinds"])
    scores = scores_of(table.values, table.kinds)
    free = ~np.eye(5, dtype=bool)
    found = climb(scores, Knowledge(free, np.zeros_like(free)), [()] * 5, lambda state: None)
    assert found.total == pytest.approx(best_of_all(scores), abs=0.05)


def test_knowledge_binds_and_results_repeat():
    values = mixed_rows()
    start = np.zeros((4, 4), dtype=bool)
    allowed, required = ~np.eye(4, dtype=bool), start.copy()
    allowed[0, 1] = allowed[1, 0] = False
    required[3, 2] = True
    found = refine(values, start, kinds=KINDS, allowed=allowed, required=required)
    assert found.adjacency[3, 2]
    assert not (found.adjacency & ~allowed & ~required).any()
    again = refine(values, start, kinds=KINDS, allowed=allowed, required=required)
    np.testing.assert_array_equal(found.adjacency, again.adjacency)
    assert found.evidence == again.evidence
    assert "additive regressions" in found.notes[0]
    judged = evaluate(values, found.adjacency, kinds=KINDS)
    assert judged.evidence == pytest.approx(found.evidence, abs=1e-6)


def test_order_of_columns_does_not_matter():
    values, order = mixed_rows(), [2, 0, 3, 1]
    start = np.zeros((4, 4), dtype=bool)
    found = refine(values, start, kinds=KINDS)
    permuted = refine(values[:, order], start, kinds=[KINDS[j] for j in order])
    np.testing.assert_array_equal(permuted.adjacency, found.adjacency[np.ix_(order, order)])


def test_numbers_go_the_old_way():
    assert not is_mixed(("continuous", "heavy-tailed"))
    assert all(is_mixed(("continuous", kind)) for kind in ("binary", "categorical", "count"))
    values = mixed_rows(150)[:, [0, 0]] + 0.3 * np.random.default_rng(1).normal(size=(150, 2))
    start = np.zeros((2, 2), dtype=bool)
    plain, with_kinds = refine(values, start), refine(values, start, kinds=("continuous", "heavy-tailed"))
    np.testing.assert_array_equal(plain.adjacency, with_kinds.adjacency)
    assert plain.evidence == with_kinds.evidence


def test_constant_columns_have_no_edges():
    values = np.column_stack([mixed_rows(200), np.ones(200)])
    found = refine(values, np.zeros((5, 5), dtype=bool), kinds=(*KINDS, "count"))
    assert not found.adjacency[4].any()
    assert not found.adjacency[:, 4].any()


def test_halves_keep_what_is_clear():
    values = np.column_stack([mixed_rows(), np.random.default_rng(7).poisson(3, size=400)])
    adjacency = np.zeros((5, 5), dtype=bool)
    adjacency[0, 1] = adjacency[4, 2] = True  # one that is there, one that is not
    free, nothing = ~np.eye(5, dtype=bool), np.zeros((5, 5), dtype=bool)
    kept = kept_by_halves(
        values, adjacency, kinds=(*KINDS, "count"), allowed=free, required=nothing, rng=np.random.default_rng(0)
    )
    assert kept[0, 1] == 1
    assert kept[4, 2] < 0.5
