"""The operators against the DAGs of all classes; the search against exhaustive ones."""

from functools import partial
from itertools import product
from threading import current_thread

import numpy as np
import pytest

from grandag.graph import (
    ancestors,
    interventional_essential_graph,
    is_acyclic,
    is_cpdag,
    members,
    restricted_class,
    target_groups,
    to_cpdag,
    to_dag,
)
from grandag.methods.equivalence import operators as module
from grandag.methods.equivalence.class_state import MOST_CLIQUES, ClassState
from grandag.methods.equivalence.ges import GaussianScore
from grandag.methods.equivalence.greedy_search import _Phase, greedy_search
from grandag.methods.equivalence.local_score import CachedScore
from grandag.methods.equivalence.operators import PHASES, Limits
from grandag.methods.stages.linear_gaussian import moments
from tests.graph.strategies import FAMILIES, all_dags, targets
from tests.methods.linear import linear_data

ALL = ("forward", "backward", "turning")


def after_one_change(dag, phase):
    """The DAGs with one edge more, fewer, or turned."""
    d = len(dag)
    for x, y in product(range(d), repeat=2):
        changed = dag.copy()
        if phase == "forward" and x != y and not dag[x, y] and not dag[y, x]:
            changed[x, y] = True
        elif phase == "backward" and dag[x, y]:
            changed[x, y] = False
        elif phase == "turning" and dag[y, x]:
            changed[x, y], changed[y, x] = True, False
        else:
            continue
        if is_acyclic(changed):
            yield changed


def search(score, d, allowed=None, required=None, **options):
    allowed = ~np.eye(d, dtype=bool) if allowed is None else allowed
    required = np.zeros((d, d), dtype=bool) if required is None else required
    return greedy_search(score, allowed, required, **{"phases": ALL, "repeat": True, **options})[:2]


class RandomScore:
    """Any numbers; equivalent DAGs have different scores."""

    def __init__(self, n_variables=4, seed=0):
        self.n_variables, self.seed = n_variables, seed

    def local(self, node, parents):
        return float(np.random.default_rng([self.seed, node, *parents]).normal())


class WatchedScore(GaussianScore):
    """The BIC, and the names of the threads that have asked for it."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.threads = set()

    def gain_of_each(self, *arguments):
        self.threads.add(current_thread().name.split("_")[0])
        return super().gain_of_each(*arguments)


def operators(kind, graph, allowed=None, groups=None):
    """All that no path forbids, with the graphs that they lead to."""
    state = ClassState(graph, ~np.eye(len(graph), dtype=bool) if allowed is None else allowed, groups)
    for y in range(len(graph)):
        for gain, x, clique in kind.operators(state, y):
            if not len(kind.obstacle(state, x, y, clique)):
                yield x, y, clique, gain, kind.apply(state, x, y, clique)


@pytest.fixture
def all_gains(monkeypatch):
    """Operators that lose something count, too."""
    monkeypatch.setattr(module, "_LEAST_GAIN", -np.inf)


@pytest.mark.usefixtures("all_gains")
@pytest.mark.parametrize("phase", ALL)
@pytest.mark.parametrize("family", ["observational", "none without targets", "overlapping", "each"])
def test_operators_reach_what_one_edge_of_some_dag_reaches(phase, family):
    """On all classes of four nodes; and none of them needs an extension to find out that it is not valid."""
    d, family = 4, targets(FAMILIES[family], 4)
    class_of = partial(interventional_essential_graph, targets=family)
    classes = {graph.tobytes(): graph for graph in map(class_of, all_dags(d))}
    assert (len(classes) == 185) == (not family.any())  # Gillispie and Perlman 2001
    everything, nothing = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
    kind = PHASES[phase](CachedScore(RandomScore()), everything, nothing, Limits(d, d))
    for graph in classes.values():
        expected = {class_of(dag).tobytes() for member in members(graph) for dag in after_one_change(member, phase)}
        expected.discard(graph.tobytes())
        found = operators(kind, graph, groups=target_groups(family))
        assert {result.tobytes() for *_, result in found} == expected


def best_at_every_step(kind, graph, allowed):
    """A phase as plainly as can be: all operators anew, and the best that leads to a new class."""
    steps, seen = [], {graph.tobytes()}
    while True:
        found = [
            (-gain, x, y, clique, result.copy())
            for x, y, clique, gain, result in operators(kind, graph, allowed)
            if result is not None and result.tobytes() not in seen
        ]
        if not found:
            return graph, steps
        loss, x, y, _, graph = min(found, key=lambda entry: entry[:4])
        seen.add(graph.tobytes())
        steps.append((x, y, -loss))


@pytest.mark.parametrize("phase", ALL)
@pytest.mark.parametrize("has_knowledge", [False, True])
def test_no_operator_is_forgotten(phase, has_knowledge):
    """What waits in the heap, and what paths forbid, is what there is: step by step the best of all.

    From random classes, with random scores.
    """
    d, n_steps = 6, 0
    for seed in range(10):
        rng, score = np.random.default_rng(seed), CachedScore(RandomScore(d, seed))
        order = rng.permutation(d)
        dag = np.triu(rng.random((d, d)) < (0.2 if phase == "forward" else 0.5), 1)[np.ix_(order, order)]
        allowed, required = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
        if has_knowledge:
            allowed &= (rng.random((d, d)) < 0.9) | dag
            required = dag & (rng.random((d, d)) < 0.2)
        kind, start = PHASES[phase](score, allowed, required, Limits(d, d)), restricted_class(dag, allowed)
        state, steps = ClassState(start, allowed), []
        _Phase(kind, state).run(steps)
        expected, expected_steps = best_at_every_step(kind, start, allowed)
        assert [(step.source, step.target, step.gain) for step in steps] == expected_steps
        np.testing.assert_array_equal(state.graph, expected)
        n_steps += len(steps)
    assert n_steps >= 20


def test_forbidden_operators_come_back_when_the_path_has_changed():
    d = 5
    everything, nothing = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
    kind = PHASES["forward"](CachedScore(RandomScore(d)), everything, nothing, Limits(d, d))
    phase = _Phase(kind, ClassState(nothing, everything))
    phase.heap.clear()
    one, other = (-1.0, 0, 1, 0, phase.version[1]), (-2.0, 0, 3, 0, phase.version[3])
    phase._forbid(one, [0, 2, 1])
    phase._forbid(other, [0, 2, 3])
    phase._release([4])
    assert phase.heap == []
    phase.version[3] += 1
    phase._release([2])
    phase._release([0])
    assert phase.heap == [one]


@pytest.mark.usefixtures("all_gains")
@pytest.mark.parametrize("phase", ALL)
def test_gains_are_differences_of_totals(phase, rng):
    """For an equivalent score: from any class of five nodes that a random DAG is in."""
    d = 5
    score = CachedScore(GaussianScore(moments(rng.normal(size=(50, d)) @ rng.normal(size=(d, d))), 50))
    everything, nothing = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
    kind = PHASES[phase](score, everything, nothing, Limits(d, d))
    n_operators = 0
    for _ in range(40):
        order = rng.permutation(d)
        graph = to_cpdag(np.triu(rng.random((d, d)) < 0.5, 1)[np.ix_(order, order)])
        before = score.total(to_dag(graph))
        for *_, gain, result in operators(kind, graph):
            n_operators += 1
            assert is_cpdag(result)
            assert gain == pytest.approx(score.total(to_dag(result)) - before, abs=1e-8)
    assert n_operators > 100


def test_finds_the_best_of_all_dags():
    """Linear Gaussian problems of four and five nodes with 10,000 rows; GES has no guarantee on finite data."""
    n_best = 0
    for d in (4, 5):
        dags = np.array([adjacency.T for adjacency in all_dags(d)])  # [k, j]: the parents of j
        assert len(dags) == {4: 543, 5: 29281}[d]  # Robinson 1973
        parents = dags @ (1 << np.arange(d))
        for seed in range(50):
            values, _, _ = linear_data(np.random.default_rng([d, seed]), d=d, n_edges=d, n=10_000)
            score = CachedScore(GaussianScore(moments(values), 10_000))
            table = np.array([[score(j, p & ~(1 << j)) for p in range(1 << d)] for j in range(d)])
            best = table[np.arange(d), parents].sum(axis=1).max()
            found, _ = search(score, d)
            n_best += score.total(to_dag(found)) == pytest.approx(best, abs=1e-6)
    assert n_best >= 95


def test_steps_add_up_to_the_score(rng):
    phases = set()
    for _ in range(5):
        values, _, _ = linear_data(rng, d=15, n_edges=30, n=300)
        score = CachedScore(GaussianScore(moments(values), 300))
        graph, steps = search(score, 15)
        empty = score.total(np.zeros((15, 15), dtype=bool))
        assert score.total(to_dag(graph)) == pytest.approx(empty + sum(step.gain for step in steps))
        assert is_cpdag(graph)
        phases |= {step.phase for step in steps}
    assert phases == set(ALL)


def test_agrees_with_another_program():
    """The package ges (Gamella 2021), with the same phases and score."""
    ges = pytest.importorskip("ges")
    for seed in range(12):
        values, _, _ = linear_data(np.random.default_rng(seed), d=9, n_edges=9 + seed, n=500)
        theirs, _ = ges.fit_bic(values - values.mean(axis=0), phases=list(ALL), iterate=True)
        score = CachedScore(GaussianScore(moments(values), 500))
        ours, _ = search(score, 9)
        np.testing.assert_array_equal(ours, theirs != 0)


def test_order_and_units_of_the_columns_do_not_matter(rng):
    values, _, _ = linear_data(rng, d=10, n_edges=20, n=400)
    order = rng.permutation(10)
    graph, _ = search(CachedScore(GaussianScore(moments(values), 400)), 10)
    other, _ = search(CachedScore(GaussianScore(moments(values[:, order] * rng.uniform(0.1, 10, 10)), 400)), 10)
    np.testing.assert_array_equal(other, graph[np.ix_(order, order)])


def test_limit_on_parents(rng):
    values, _, _ = linear_data(rng, d=8, n_edges=24, n=1000)
    score = CachedScore(GaussianScore(moments(values), 1000))
    free, limited = (to_dag(search(score, 8, max_parents=limit)[0]) for limit in (None, 2))
    assert free.sum(axis=0).max() > 2
    assert limited.sum(axis=0).max() == 2


def test_limit_on_degree(rng):
    values, _, _ = linear_data(rng, d=8, n_edges=24, n=1000)
    score = CachedScore(GaussianScore(moments(values), 1000))
    free, limited = (search(score, 8, max_degree=limit)[0] for limit in (None, 3))
    assert (free | free.T).sum(axis=0).max() > 3
    assert (limited | limited.T).sum(axis=0).max() == 3


def test_gains_of_all_at_once_are_those_one_by_one(rng):
    """Also where a column is a copy, or a sum, of others."""
    values = rng.normal(size=(200, 7)) @ rng.normal(size=(7, 7))
    values = np.column_stack([values, values[:, 2], values[:, 0] + values[:, 1]])
    score, candidates = GaussianScore(moments(values), 200, penalty=2.0), np.array([0, 3, 5, 7, 8])
    for node, parents in ((4, ()), (4, (1,)), (4, (1, 2, 6)), (2, (1, 6)), (6, (1, 2))):
        expected = [score.local(node, tuple(sorted({*parents, x}))) - score.local(node, parents) for x in candidates]
        np.testing.assert_allclose(score.gain_of_each(node, parents, candidates), expected, atol=1e-7)


def test_gains_add_up_with_knowledge(rng):
    """Steps from the required edges through classes that knowledge has narrowed."""
    for _ in range(20):
        values, _, _ = linear_data(rng, d=7, n_edges=12, n=200)
        score = CachedScore(GaussianScore(moments(values), 200))
        required = np.triu(rng.random((7, 7)) < 0.1, 1)
        allowed = (rng.random((7, 7)) < 0.7) & ~np.eye(7, dtype=bool) | required
        allowed &= ~ancestors(required).T
        graph, steps = search(score, 7, allowed, required)
        gains = sum(step.gain for step in steps)
        assert score.total(to_dag(graph)) == pytest.approx(score.total(required) + gains)
        assert (required <= graph).all()
        assert not (graph & ~allowed).any()


def test_a_complete_class_has_polynomially_many_operators():
    """2^(d-2) cliques for each pair of neighbours, were all of them looked at; counted, since tests do not time."""
    d = 40
    everything, nothing = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
    state = ClassState(everything, everything)
    kind = PHASES["backward"](lambda node, parents: 0.0, everything, nothing, Limits(d, d))
    cliques = [clique for _, clique in kind.candidates(state, 0, 1)]
    assert len(cliques) == len(set(cliques)) == MOST_CLIQUES
    assert state.is_cut
    sizes = [clique.bit_count() for clique in cliques]
    assert sizes == sorted(sizes)


def test_no_clique_is_left_out_of_a_small_neighbourhood():
    d = 10
    everything = ~np.eye(d, dtype=bool)
    state = ClassState(everything, everything)
    assert set(state.cliques(0, 2**8 - 1)) == set(range(2**8))
    assert not state.is_cut


def test_threads_share_the_first_scores_and_change_nothing(rng):
    d = 300
    values, *_ = linear_data(rng, d, 300, 200)
    scores = [WatchedScore(moments(values), len(values)) for _ in range(2)]
    alone, together = (search(CachedScore(score), d, n_threads=n) for score, n in zip(scores, (1, 3), strict=True))
    assert [score.threads for score in scores] == [{"MainThread"}, {"MainThread", "grandag"}]
    assert np.array_equal(alone[0], together[0])
    assert alone[1] == together[1]
