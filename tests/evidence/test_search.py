"""Selection and search: against all graphs, invariances, knowledge, threads, interruption."""

from itertools import combinations, product

import numpy as np
import pytest

from grandag import simulate
from grandag.evidence import EvidenceConfig, evaluate, refine, select
from grandag.evidence.choices import _Choice
from grandag.evidence.plans import Knowledge, Order, Plan
from grandag.evidence.promise import features, likeliest, unexplained
from grandag.evidence.refine import _Table
from grandag.evidence.regression import new_workspace
from grandag.evidence.scores import MOST_CANDIDATES, LocalScores, Parents
from grandag.evidence.search import Search
from grandag.evidence.selection import choose
from grandag.evidence.transform import standardise
from grandag.graph import ancestors, is_acyclic

EMPTY = np.zeros((4, 4), dtype=bool)


def scenario(d: int, n_edges: float, seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    drawn = simulate.draw_scenario("gauss-anm", simulate.erdos_renyi(d, n_edges, random_state=seed), n, seed)
    return drawn.data.to_numpy(), drawn.adjacency.astype(bool)


def all_graphs() -> list[tuple[Parents, ...]]:
    """The parents in each of the 543 DAGs of 4 nodes."""
    subsets = [
        [some for size in range(4) for some in combinations([i for i in range(4) if i != j], size)] for j in range(4)
    ]
    graphs = [parents for parents in product(*subsets) if is_acyclic(adjacency_of(parents))]
    assert len(graphs) == 543
    return graphs


def adjacency_of(parents: tuple[Parents, ...]) -> np.ndarray:
    return np.array([[i in some for some in parents] for i in range(4)])


def best_of_all(values: np.ndarray, graphs: list[tuple[Parents, ...]]) -> float:
    scores = _Table(values).scores
    return max(sum(scores.score(j, some) for j, some in enumerate(parents)) for parents in graphs)


def found_share(seeds: range) -> float:
    hits, graphs = [], all_graphs()
    for seed in seeds:
        values, _ = scenario(4, 4, seed, n=150)
        hits.append(refine(values, EMPTY).score > best_of_all(values, graphs) - 0.5)
    return float(np.mean(hits))


def test_search_finds_the_best_of_all_graphs():
    assert found_share(range(3)) == 1.0


@pytest.mark.slow
def test_search_finds_the_best_of_all_graphs_in_95_of_100_problems():
    assert found_share(range(100)) >= 0.95


def test_search_recovers_the_truth_from_its_reverse():
    values, truth = scenario(6, 7, seed=3)
    result = refine(values, truth.T)
    assert result.score >= evaluate(values, truth).score - 0.5
    assert (result.adjacency == truth).all()
    assert result.moves
    assert sum(move.gain for move in result.moves) > 0


def test_selection_keeps_what_is_needed_and_nothing_else():
    values, truth = scenario(6, 8, seed=3)
    complete = np.linalg.inv(np.eye(6) - truth) > 0.5  # ancestors of each node, itself included
    chosen = select(values, complete & ~np.eye(6, dtype=bool))
    assert (chosen.adjacency == truth).all()
    assert (chosen.edge_evidence[truth] > chosen.edge_evidence[~truth].max() + 3).all()


@pytest.mark.parametrize("n", [300, 900])
def test_giving_hopeless_fits_up_changes_no_choice(n, monkeypatch):
    """With all rows at once, and with hyper-parameters from two of three blocks."""
    values, truth = scenario(7, 9, seed=4, n=n)
    config = EvidenceConfig(max_rows_at_once=300, block_rows=300)
    n_given_up = []
    fit = LocalScores._maximise

    def counted(self, *arguments):
        found = fit(self, *arguments)
        n_given_up.append(found.value == -np.inf)
        return found

    monkeypatch.setattr(LocalScores, "_maximise", counted)
    result = refine(values, truth.T, config=config)
    assert sum(n_given_up) > 20
    patient = refine_patiently(values, truth.T, config, monkeypatch)
    assert (result.adjacency == patient.adjacency).all()
    assert result.score == pytest.approx(patient.score, abs=0.5)


def refine_patiently(values, start, config, monkeypatch):
    """No fit is ever given up."""
    fit = LocalScores._maximise
    monkeypatch.setattr(LocalScores, "_maximise", lambda self, *arguments: fit(self, *arguments[:5]))
    return refine(values, start, config=config)


def test_parents_that_bring_less_than_an_edge_costs_are_not_taken_whatever_is_near():
    values, _ = scenario(6, 8, seed=3)
    scores = _Table(values).scores
    for j in range(6):
        rest = tuple(i for i in range(6) if i != j)
        best = scores.full(j, rest)
        assert scores.reaches(j, rest, (), best - scores.full(j, ()) - 0.01)
        assert not scores.reaches(j, rest, (), best - scores.full(j, ()) + 0.01)
        gain = scores.few(j, rest) - scores.few(j, ())
        assert scores.few_gain(j, rest, (), -np.inf) == gain


def test_an_edges_evidence_is_what_the_graph_loses_without_it():
    values, truth = scenario(5, 4, seed=1)
    whole = evaluate(values, truth, config=EvidenceConfig(cost_per_edge=2.0))
    i, j = min(np.argwhere(truth), key=lambda edge: whole.edge_evidence[tuple(edge)])
    fewer = truth.copy()
    fewer[i, j] = False
    lost = whole.evidence - evaluate(values, fewer).evidence
    assert 0 < lost <= whole.edge_evidence[i, j] + 0.3
    assert whole.score == pytest.approx(whole.evidence - 2.0 * truth.sum(), abs=1e-6)


def test_a_strong_edges_evidence_is_of_the_right_size():
    """Few rows estimate it; the fit that was made with the edge would lose ten times as much without it."""
    values, truth = scenario(5, 6, seed=1, n=900)
    whole = evaluate(values, truth)
    for i, j in np.argwhere(truth):
        without = truth.copy()
        without[i, j] = False
        lost = whole.evidence - evaluate(values, without).evidence
        assert whole.edge_evidence[i, j] == pytest.approx(lost, rel=0.3, abs=5)


def test_a_choice_answers_for_fewer_candidates_that_still_have_what_it_fell_on():
    choice = _Choice(candidates=0b01110, further=0b11110, chosen=0b00010)
    assert choice.answers(_Choice(0b00110, 0b10110))
    assert not choice.answers(_Choice(0b01100, 0b11100))  # what it fell on is gone
    assert not choice.answers(_Choice(0b10010, 0b10110))  # node 4 was not tried at once
    assert not choice.answers(_Choice(0b00010, 0b100010))  # node 5 was not there


def test_a_node_moves_between_its_ancestors_and_its_descendants():
    rng = np.random.default_rng(0)
    for _ in range(20):
        d = 8
        truth = simulate.erdos_renyi(d, 10, random_state=rng)
        is_ancestor = ancestors(truth)
        order = Order([tuple(np.flatnonzero(column).tolist()) for column in truth.T])
        node = int(rng.integers(d))
        others = order.around(node, set(range(d)) - {node})
        sides = [int(is_ancestor[node, j]) - int(is_ancestor[j, node]) for j in others]
        assert sides == sorted(sides)
        after = frozenset(j for j in others if is_ancestor[node, j])
        place = Plan(0.0, node, after, {}).places(order)
        assert sorted(place) == list(range(d))
        assert (truth <= (place[:, None] < place)).all()  # where it was, every edge still points forward
        assert place[node] == d - 1 - len(after)  # as late as its descendants let it


def test_an_order_stays_as_it_was_where_nothing_changed():
    """By the numbers of the columns alone, 3 would come after 1 as soon as it is no longer its parent."""
    before = Order([(), (3,), (1,), (), (2,), (4,)])
    assert before.nodes == [0, 3, 1, 2, 4, 5]
    turned = [(), (2,), (), (), (), ()]
    assert Order(turned, before).nodes == [0, 3, 2, 1, 4, 5]
    assert Order(turned).nodes == [0, 2, 1, 3, 4, 5]


def test_of_many_variables_the_likeliest_are_the_promising_ones(monkeypatch):
    """All candidates by brute force against those that are asked, given no parents and one of two."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(400, 130))
    values[:, 7] = np.sin(2 * values[:, 20]) + values[:, 30] * values[:, 31] + 0.3 * rng.normal(size=400)
    scores = LocalScores((values - values.mean(0)) / values.std(0), EvidenceConfig(), rng, 1)
    columns = scores._whole.of(range(130), 400)
    for parents in ((), (20,), (20, 30)):
        asked = scores.promise(7, parents)
        assert np.isfinite(asked).sum() <= MOST_CANDIDATES
        log_parameters = scores.fit(7, parents).log_parameters
        alpha = unexplained(columns[list(parents)], columns[7], log_parameters, new_workspace(400))
        assert set(likeliest(features(columns), alpha, 5)) & {20, 30, 31}
        with monkeypatch.context() as changed:
            changed.setattr("grandag.evidence.scores.MOST_CANDIDATES", 130)
            scores._promises = {}
            everything = scores.promise(7, parents)
        promising = [i for i in (20, 30, 31) if everything[i] > scores.promising]
        assert promising
        assert asked[promising] == pytest.approx(everything[promising])


def test_few_points_carry_the_kernel_of_a_candidate():
    x = np.random.default_rng(0).normal(size=(2, 200))
    phi = features(x)
    for column, own in zip(x, phi, strict=True):
        kernel = np.exp(-0.5 * (column[:, None] - column) ** 2)
        is_inside = np.abs(column) < 2.5
        assert np.abs(own.T @ own - kernel)[np.ix_(is_inside, is_inside)].max() < 0.01


def test_order_units_and_threads_do_not_matter():
    values, _ = scenario(6, 7, seed=5)
    start = np.zeros((6, 6), dtype=bool)
    result = refine(values, start)
    order = np.random.default_rng(0).permutation(6)
    permuted = refine(values[:, order], start)
    assert (permuted.adjacency == result.adjacency[np.ix_(order, order)]).all()
    assert permuted.score == result.score
    assert [result.log_parameters[j][-1] for j in order] == [at[-1] for at in permuted.log_parameters]
    assert [order[move.node] for move in permuted.moves] == [move.node for move in result.moves]
    rescaled = refine((values + 7) * np.logspace(-12, 12, 6), start)
    assert (rescaled.adjacency == result.adjacency).all()
    threaded = refine(values, start, n_threads=3)
    assert threaded.score == result.score
    assert (threaded.edge_evidence == result.edge_evidence).all()


def test_knowledge_binds_every_move():
    values, truth = scenario(6, 7, seed=3)
    i, j = np.argwhere(truth)[0]
    forbidden = np.ones((6, 6), dtype=bool)
    forbidden[i, j] = False
    assert not refine(values, truth, allowed=forbidden).adjacency[i, j]
    required = np.zeros((6, 6), dtype=bool)
    required[j, i] = True
    turned = refine(values, truth, required=required).adjacency
    assert turned[j, i]
    assert is_acyclic(turned)
    with pytest.raises(ValueError, match="required: these edges form a cycle"):
        refine(values, truth, required=required | required.T)


def test_interruption_returns_the_best_graph_so_far():
    values, truth = scenario(6, 7, seed=3)

    def interrupt_search(progress):
        if progress.stage == "refine":
            raise KeyboardInterrupt

    result = refine(values, truth.T, listener=interrupt_search)
    assert result.was_interrupted
    assert len(result.moves) == 1
    assert result.score > select(values, truth.T).score

    def interrupt_selection(progress):
        raise KeyboardInterrupt

    result = refine(values, truth, listener=interrupt_selection)
    assert result.was_interrupted
    assert is_acyclic(result.adjacency)


def test_listener_hears_both_stages():
    values, truth = scenario(6, 7, seed=3)
    heard = []
    result = refine(values, truth.T, listener=heard.append)
    assert [p.step for p in heard if p.stage == "select"] == [1, 2, 3, 4, 5, 6]
    searched = [p for p in heard if p.stage == "refine"]
    assert searched[-1].evidence == pytest.approx(result.score, abs=0.1)
    assert searched[-1].n_edges == result.adjacency.sum()


@pytest.mark.parametrize("seed", [0, 2])
def test_many_parents_of_which_none_shows_alone(seed, monkeypatch):
    truth = np.zeros((8, 8), dtype=bool)
    truth[:6, 6] = True
    values = simulate.draw_scenario("gauss-anm", truth.astype(int), 400, seed).data.to_numpy()
    empty = np.zeros_like(truth)
    assert (refine(values, empty).adjacency == truth).all()
    monkeypatch.setattr(Search, "_reveal", lambda self, state, order: False)
    assert not refine(values, empty).adjacency.any()


def test_parents_that_were_set_aside_come_back_if_they_show_more_together(monkeypatch):
    truth = np.zeros((8, 8), dtype=bool)
    truth[:6, 6] = True
    values = simulate.draw_scenario("gauss-anm", truth.astype(int), 400, 0).data.to_numpy()
    start = np.triu(np.ones_like(truth), 1)
    monkeypatch.setattr("grandag.evidence.selection._MANY", 3)
    monkeypatch.setattr("grandag.evidence.selection._WORTH_SHARE", np.inf)
    assert (select(values, start).adjacency == truth).all()
    monkeypatch.setattr("grandag.evidence.selection._HIDDEN_WORTH", np.inf)
    assert not select(values, start).adjacency[:, 6].any()


def test_many_candidates_of_a_noisy_variable_cost_few_fits(monkeypatch):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(600, 61))
    values[:, 60] += 0.5 * values[:, 7]

    def chosen() -> tuple[Parents, int]:
        scores = LocalScores(standardise(values, 10.0)[0], EvidenceConfig(), np.random.default_rng(0), 1)
        found = choose(scores, 60, tuple(range(60)), np.zeros(61, dtype=bool), frozenset(), ())
        return found, len(scores._full)

    found, n_fits = chosen()
    monkeypatch.setattr("grandag.evidence.selection._MANY", 100)
    monkeypatch.setattr("grandag.evidence.selection._IDLE_SHARE", 0.0)
    _, n_one_by_one = chosen()
    assert found == (7,)
    assert n_fits < n_one_by_one / 2


def without_directions(seed):
    """A linear Gaussian table, in which many graphs are equally good but for chance."""
    truth = simulate.draw_graph("er", 7, 14, random_state=seed)
    return simulate.draw_scenario("lin", truth, 100, seed).data.to_numpy()


def test_further_starts_find_better_graphs_where_choices_are_close(monkeypatch):
    empty = np.zeros((7, 7), dtype=bool)
    several = [refine(without_directions(seed), empty).score for seed in range(4)]
    monkeypatch.setattr("grandag.evidence.search._IN_VAIN", 0)
    once = [refine(without_directions(seed), empty).score for seed in range(4)]
    assert all(best > first - 0.1 for best, first in zip(several, once, strict=True))
    assert max(best - first for best, first in zip(several, once, strict=True)) > 1


def test_further_starts_are_near_moves_that_were_rejected_by_a_hair():
    search = Search(
        None, Knowledge(*[np.zeros((30, 30), dtype=bool)] * 2), np.random.default_rng(0), lambda state: None
    )
    order = list(reversed(range(30)))
    near = [order[search._window(order, {12, 13})] for _ in range(50)]
    assert all({12, 13} & {*nodes} and 4 <= len(nodes) <= 10 for nodes in near)
    assert {node for nodes in near for node in nodes} > {*range(10, 16)}
    anywhere = {node for _ in range(100) for node in order[search._window(order, set())]}
    assert anywhere == {*range(30)}


def test_further_starts_do_not_depend_on_order_units_or_threads():
    values, start = without_directions(1), np.zeros((7, 7), dtype=bool)
    result = refine(values, start)
    order = np.random.default_rng(0).permutation(7)
    permuted = refine(values[:, order], start)
    assert permuted.score == result.score
    assert (permuted.edge_evidence == result.edge_evidence[np.ix_(order, order)]).all()
    assert (refine(values * np.logspace(-12, 12, 7), start).adjacency == result.adjacency).all()
    assert refine(values, start, n_threads=3).score == result.score


def test_further_starts_keep_to_what_is_known():
    values = without_directions(0)
    free = refine(values, np.zeros((7, 7), dtype=bool)).adjacency
    required = np.zeros((7, 7), dtype=bool)
    i, j = np.argwhere(free)[0]
    required[j, i] = True
    allowed = ~free
    found = refine(values, required, allowed=allowed, required=required).adjacency
    assert found[j, i]
    assert not (found & free).any()
    assert is_acyclic(found)


def test_a_cycle_has_no_evidence():
    with pytest.raises(ValueError, match="adjacency: the graph has a cycle"):
        refine(np.zeros((5, 2)), np.array([[0, 1], [1, 0]], dtype=bool))


def test_a_shuffled_order_never_contradicts_required_edges():
    required = np.eye(7, k=1, dtype=bool)
    knowledge = Knowledge(~np.eye(7, dtype=bool), required)
    search = Search(None, knowledge, np.random.default_rng(0), lambda state: None)
    assert search._random_order([5, 2, 0, 4, 1, 3, 6]) == [0, 1, 2, 3, 4, 5, 6]
