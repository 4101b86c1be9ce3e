"""Random graphs: numbers of edges and degrees have their distributions."""

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from grandag import datasets
from grandag.graph import is_acyclic
from grandag.metrics import sid
from grandag.parameters import ParameterError
from grandag.simulate import complete, draw_graph, empty, erdos_renyi, scale_free


def standard_error_distance(values, expected):
    """How many standard errors the mean is away."""
    values = np.asarray(values, dtype=float)
    return abs(values.mean() - expected) / (values.std(ddof=1) / np.sqrt(len(values)))


def test_number_of_edges_is_binomial(rng):
    counts = np.array([erdos_renyi(10, 12, rng).sum() for _ in range(3000)])
    assert standard_error_distance(counts, 12) < 4
    assert counts.var() == pytest.approx(12 * (1 - 12 / 45), rel=0.1)


def test_exact_number_of_edges(rng):
    """As many edges as asked for, in random pairs and directions: each of the 30 ordered pairs has probability 1/6."""
    graphs = np.array([erdos_renyi(6, 5, rng, exact=True) for _ in range(3000)])
    assert (graphs.sum(axis=(1, 2)) == 5).all()
    assert all(is_acyclic(graph) for graph in graphs[:100])
    off_diagonal = graphs.sum(axis=0)[~np.eye(6, dtype=bool)]
    assert np.abs(off_diagonal - 500).max() < 4.5 * np.sqrt(500 * 5 / 6)


def test_every_ordered_pair_is_equally_likely(rng):
    """A random order with p = 1/3 on 15 pairs: each of the 30 ordered pairs has probability 1/6."""
    total = sum(erdos_renyi(6, 5, rng).astype(int) for _ in range(3000))
    off_diagonal = total[~np.eye(6, dtype=bool)]
    assert np.diagonal(total).sum() == 0
    expected = 3000 / 6
    assert np.abs(off_diagonal - expected).max() < 4.5 * np.sqrt(expected * 5 / 6)


def test_edges_are_independent_given_the_order(rng):
    """Two edges that cannot be in conflict, 0 -> 1 or 1 -> 0 and 2 -> 3 or 3 -> 2, are independent."""
    graphs = np.array([erdos_renyi(4, 3, rng) for _ in range(4000)])
    one, other = graphs[:, 0, 1] | graphs[:, 1, 0], graphs[:, 2, 3] | graphs[:, 3, 2]
    table = np.array([[(one == a) & (other == b) for a in (False, True)] for b in (False, True)]).sum(axis=2)
    assert stats.chi2_contingency(table).pvalue > 1e-4


@pytest.mark.parametrize("n_attachments", [1, 4])
def test_each_new_node_attaches(n_attachments, rng):
    for _ in range(20):
        adjacency = scale_free(30, n_attachments, rng)
        out_degrees = np.sort(adjacency.sum(axis=1))
        assert out_degrees[0] == 0
        assert out_degrees[1] >= 1
        assert out_degrees[-1] <= n_attachments
        assert is_acyclic(adjacency)
        assert nx.is_weakly_connected(nx.DiGraph(adjacency))


@pytest.mark.parametrize("attraction", [1.5, 2.0])
def test_degrees_of_scale_free_graphs_follow_a_power_law(attraction, rng):
    """With weight k + a and m draws, P(in-degree = k) falls as k^-(2 + a/m).

    Dorogovtsev, Mendes, Samukhin, Phys. Rev. Lett. 85 (2000) 4633. With one draw, the stationary distribution has
    P(at least k + 1) / P(at least k) = (k + a) / (k + 1 + 2 a).
    """
    draws = [scale_free(10_000, 1, rng, attraction=attraction).sum(axis=0) for _ in range(3)]
    degrees, k = np.concatenate(draws), np.arange(20)
    tails = np.cumprod([1.0, *(k + attraction) / (k + 1 + 2 * attraction)])
    for degree in (0, 1, 2, 3, 5, 10, 20):
        tail = tails[degree]
        assert np.mean(degrees >= degree) == pytest.approx(tail, abs=5 * np.sqrt(tail / 30_000))


def test_the_first_node_counts_with_what_it_has_received_alone(rng):
    """Of three nodes the last one attaches to the second with weight a, to the first with weight 1."""
    chains = np.mean([scale_free(3, 1, rng).sum(axis=0).max() == 1 for _ in range(4000)])
    assert chains == pytest.approx(1.5 / 2.5, abs=0.04)


def drawn_one_by_one(n_nodes, n_attachments, attraction, rng):
    """The same distribution, from its definition."""
    adjacency, received = np.zeros((n_nodes, n_nodes), dtype=bool), np.zeros(n_nodes)
    adjacency[1, 0], received[0] = True, n_attachments
    for new in range(2, n_nodes):
        weight = received[:new] + attraction * (np.arange(new) > 0)
        old = rng.choice(new, size=n_attachments, p=weight / weight.sum())
        adjacency[new, old] = True
        np.add.at(received, old, 1)
    return adjacency


def test_scale_free_graphs_have_the_distribution_of_their_definition(rng):
    def facts(adjacency):
        return [adjacency.sum(), adjacency.sum(axis=0).max(), (~adjacency.any(axis=0)).sum()]

    fast = np.array([facts(scale_free(12, 3, rng)) for _ in range(3000)])
    plain = np.array([facts(drawn_one_by_one(12, 3, 1.5, rng)) for _ in range(3000)])
    distance = (fast.mean(axis=0) - plain.mean(axis=0)) / np.sqrt((fast.var(axis=0) + plain.var(axis=0)) / 3000)
    assert np.abs(distance).max() < 4


def test_other_orientation_is_the_transpose():
    for seed in range(5):
        sinks, sources = scale_free(20, 2, seed), scale_free(20, 2, seed, hubs="sources")
        np.testing.assert_array_equal(sinks, sources.T)


@pytest.mark.parametrize(("name", "n_attachments"), [("sf1-10", 1), ("sf4-10", 4)])
def test_scale_free_graphs_are_like_the_authors(authors, name, n_attachments):
    """Ten files: edges, greatest in-degree, roots and descendants are within 2.5 standard errors of what we draw."""

    def facts(adjacency):
        descendants = sid(adjacency, np.zeros_like(adjacency))
        return adjacency.sum(), adjacency.sum(axis=0).max(), (adjacency.sum(axis=0) == 0).sum(), descendants

    files = np.array([facts(datasets.load_authors(authors, name, k).adjacency) for k in range(11, 21)])
    ours = np.array([facts(scale_free(10, n_attachments, seed)) for seed in range(2000)])
    assert (np.abs(files.mean(axis=0) - ours.mean(axis=0)) <= 2.5 * ours.std(axis=0) / np.sqrt(10)).all()


def test_er_graphs_are_like_the_authors(authors):
    for name, expected in (("er1-10", 10), ("er4-10", 40), ("er1-20", 20)):
        counts = [datasets.load_authors(authors, name, k).adjacency.sum() for k in range(11, 21)]
        assert standard_error_distance(counts, expected) < 3


def test_labels_are_random(rng):
    """The last node is no more often a sink than others."""
    sinks = sum(complete(5, rng).sum(axis=1) == 0 for _ in range(2000))
    assert stats.chisquare(sinks).pvalue > 1e-4


def test_extremes():
    assert complete(7, 0).sum() == 21
    assert is_acyclic(complete(7, 0))
    assert empty(4).sum() == 0
    assert erdos_renyi(1, 0).shape == (1, 1)
    assert scale_free(1, 3).sum() == 0
    assert erdos_renyi(8, 28, 0).sum() == 28


def test_large_graphs():
    adjacency = erdos_renyi(10_000, 40_000, 0)
    assert abs(adjacency.sum() - 40_000) < 5 * 200
    assert is_acyclic(adjacency)


@pytest.mark.parametrize("draw", [lambda seed: erdos_renyi(20, 30, seed), lambda seed: scale_free(20, 3, seed)])
def test_seeds(draw):
    np.testing.assert_array_equal(draw(3), draw(3))
    assert (draw(3) != draw(4)).any()


def test_by_name():
    np.testing.assert_array_equal(draw_graph("sf", 10, 40, 5), scale_free(10, 4, 5))
    np.testing.assert_array_equal(draw_graph("er", 10, 10, 5), erdos_renyi(10, 10, 5))
    np.testing.assert_array_equal(draw_graph("er-exact", 10, 10.0, 5), erdos_renyi(10, 10, 5, exact=True))
    assert draw_graph("complete", 5, 5).sum() == 10
    assert draw_graph("empty", 5, 5).sum() == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: erdos_renyi(0, 1), "'n_nodes' must be a whole number, at least 1; got 0"),
        (lambda: erdos_renyi(5, 11), "'n_edges' must be at most 10, a complete graph of 5; got 11"),
        (lambda: erdos_renyi(5, 2.5, exact=True), "'n_edges' must be a whole number if it is exact; got 2.5"),
        (lambda: scale_free(5, 0), "'n_attachments' must be a whole number, at least 1"),
        (lambda: scale_free(5, 1, hubs="both"), "'hubs' must be one of 'sinks', 'sources'"),
        (lambda: draw_graph("sf", 10, 15), "'n_edges' must be a multiple of the 10 nodes"),
        (
            lambda: draw_graph("ws", 10, 15),
            "'graph' must be one of 'er', 'er-exact', 'sf', 'complete', 'empty'; got 'ws'",
        ),
    ],
)
def test_wrong_values(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
