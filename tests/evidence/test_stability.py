"""Halves of the rows: they keep what is clear, and not what is chance."""

import numpy as np
import pytest

from grandag import simulate
from grandag.evidence import EvidenceConfig, kept_by_halves
from grandag.evidence.scores import LocalScores
from grandag.evidence.stability import _halves, _may_turn, _votes
from grandag.methods.stages.refine import unstable_concerns

NONE, ANY = np.zeros((3, 3), dtype=bool), ~np.eye(3, dtype=bool)


def rows(rng, n=300):
    """a -> b clearly, and c, which has nothing to do with either."""
    a, c = rng.normal(size=(2, n))
    return np.column_stack([a, np.sin(2 * a) + 0.2 * rng.normal(size=n), c])


def edges(*pairs):
    adjacency = NONE.copy()
    adjacency[tuple(np.transpose(pairs))] = True
    return adjacency


def kept(values, adjacency, allowed=ANY, required=NONE, n_threads=1):
    rng = np.random.default_rng(1)
    return kept_by_halves(values, adjacency, allowed=allowed, required=required, rng=rng, n_threads=n_threads)


def test_what_is_clear_is_kept_and_chance_is_not(rng):
    found = kept(rows(rng), edges((0, 1), (2, 1)))
    assert (found[0, 1], found[2, 1]) == (1.0, 0.0)
    assert np.isnan(found[~edges((0, 1), (2, 1))]).all()


def test_a_wrong_direction_is_turned_round_unless_that_is_forbidden(rng):
    values = rows(rng)
    assert kept(values, edges((1, 0)))[1, 0] == 0.0
    assert kept(values, edges((1, 0)), allowed=ANY & ~edges((0, 1)))[1, 0] == 1.0


def test_an_edge_between_copies_of_a_column_is_kept(rng):
    """Turned round it is exactly as good, which is no reason against it."""
    a, c = rng.normal(size=(2, 300))
    assert kept(np.column_stack([a, 3 * a + 1, c]), edges((0, 1)))[0, 1] == 1.0


def test_a_direction_that_other_paths_fix_is_not_turned_round(rng):
    """b -> a would close a cycle with a -> c -> b."""
    a, c = rng.normal(size=(2, 300))
    c = a + 0.5 * c
    values = np.column_stack([c + a + 0.5 * rng.normal(size=300), a, c])
    assert kept(values, edges((1, 0), (1, 2), (2, 0)))[1, 0] == 1.0


def test_required_edges_are_kept(rng):
    assert kept(rows(rng), edges((2, 1)), required=edges((2, 1)))[2, 1] == 1.0


def test_threads_change_nothing(rng):
    values = rows(rng, 80)
    graph = edges((0, 1), (2, 1), (0, 2))
    np.testing.assert_array_equal(kept(values, graph), kept(values, graph, n_threads=2))


@pytest.mark.parametrize("n", [300, 900])
def test_votes_are_those_of_fits_that_are_never_given_up(n):
    """On all rows at once, and with hyper-parameters from two of three blocks."""
    votes, expected = [], []
    for seed in range(3):
        drawn = simulate.draw_scenario("lin", simulate.erdos_renyi(5, 6, random_state=seed), n, seed)
        values, truth = drawn.data.to_numpy(), drawn.adjacency.astype(bool)
        turned = np.triu(truth | truth.T, 1)  # some edges against their direction
        columns = (values - values.mean(axis=0)) / values.std(axis=0)
        config = EvidenceConfig(max_rows_at_once=300, block_rows=300)
        may_turn = _may_turn(turned, ~np.eye(5, dtype=bool))
        found = _votes(LocalScores(columns, config, np.random.default_rng(0), 1), turned, may_turn)
        scores = LocalScores(columns, config, np.random.default_rng(0), 1)
        for i, j in np.argwhere(turned):
            before_i, before_j = (tuple(np.flatnonzero(turned[:, k]).tolist()) for k in (i, j))
            lost = scores.score(j, before_j) - scores.score(j, tuple(k for k in before_j if k != i), before_j)
            gained = scores.score(i, tuple(sorted((*before_i, j))), before_i) - scores.score(i, before_i)
            margin = lost - max(0.0, gained if may_turn[i, j] else 0.0)
            if abs(margin) > 0.5:
                votes.append(found[i, j])
                expected.append(margin > 0)
    assert votes == expected
    assert {True, False} == set(votes)


def test_many_unstable_edges_are_said():
    shares = np.full((3, 3), np.nan)
    shares[0, 1], shares[1, 2] = 1.0, 0.25
    (concern,) = unstable_concerns(shares, ["a", "b", "c"])
    assert (concern.kind, concern.variables) == ("unstable edges", ("b", "c"))
    assert concern.message.startswith(
        "1 of 2 edges is kept by at most half of four halves of the rows: 'b -> c' (25%)."
    )
    shares[1, 2] = 0.75
    assert unstable_concerns(shares, ["a", "b", "c"]) == []


def test_halves_have_as_many_rows_of_each_intervention(rng):
    free = np.ones((50, 3), dtype=bool)
    free[20:30, 0] = free[30:36, 1] = False
    for half, other in (_halves(50, free, rng), _halves(50, free[None], rng)):
        assert sorted([*half, *other]) == list(range(50))
        for rows_of_one in (range(20, 30), range(30, 36)):
            assert len(set(half) & set(rows_of_one)) == len(rows_of_one) / 2
