"""Transcription networks: topology, kinetics, noise, likeness to the authors' sets."""

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from grandag import datasets
from grandag.graph import is_acyclic
from grandag.parameters import ParameterError
from grandag.simulate import draw_syntren
from grandag.simulate.source_network import SourceNetwork, choose_genes, load_network
from grandag.simulate.syntren import InputGene, RegulatedGene


def gene(is_activator, interaction, hill=1, **others):
    n_regulators = len(is_activator)
    members = (tuple(range(n_regulators)), interaction)
    constants = {"half_saturation": np.full(n_regulators, 0.5), "hill": np.full(n_regulators, hill), "noise": 0.0}
    return RegulatedGene(
        1.0, np.ones(n_regulators), np.array(is_activator), groups=(members,), **{**constants, **others}
    )


def test_source_networks():
    """3,758 and 12,873 interactions in the files; 110 of E. coli's are of a gene with itself and are left out."""
    ecoli, yeast = load_network("ecoli"), load_network("yeast")
    assert len(ecoli.regulators) == 3758 - 110
    assert set(ecoli.signs) == {"+", "-", "+-", "?"}
    assert set(yeast.signs) == {"?"}
    assert 12_000 < len(yeast.regulators) <= 12_873
    names = ecoli.genes
    edges = {
        (names[i], names[j]): sign for i, j, sign in zip(ecoli.regulators, ecoli.targets, ecoli.signs, strict=True)
    }
    assert edges["acrR", "acrA"] == "-"


@pytest.mark.parametrize("network", ["ecoli", "yeast"])
@pytest.mark.parametrize("selection", ["neighbour", "cluster"])
def test_sub_networks(network, selection, rng):
    source = load_network(network)
    edges = set(zip(source.regulators.tolist(), source.targets.tolist(), strict=True))
    for _ in range(5):
        genes = choose_genes(source, 25, selection, rng)
        adjacency, _ = source.among(genes)
        assert len(set(genes)) == 25
        assert is_acyclic(adjacency)
        assert nx.is_weakly_connected(nx.DiGraph(adjacency))
        expected = {(i, j) for i in range(25) for j in range(25) if (genes[i], genes[j]) in edges}
        assert set(map(tuple, np.argwhere(adjacency).tolist())) == expected


def test_the_next_gene_is_reached_by_the_square_root_of_the_new_neighbours(rng):
    """Gene 0 has nine targets besides gene 1, and gene 1 has one: from both, the next is one of the nine in 3 of 4."""
    edges = np.array([(0, 1), *((0, target) for target in range(2, 11)), (1, 11)])
    network = SourceNetwork(tuple("abcdefghijkl"), *edges.T, np.full(len(edges), "+"))
    third = [
        genes[2] for genes in (choose_genes(network, 3, "neighbour", rng) for _ in range(6000)) if max(genes[:2]) == 1
    ]
    assert len(third) > 200
    assert np.mean(np.array(third) < 11) == pytest.approx(0.75, abs=0.08)


def test_cluster_addition_takes_whole_neighbourhoods(rng):
    """The first gene comes with all its neighbours, but for those that would close a cycle."""
    source = load_network("ecoli")
    neighbours = source.neighbours()
    n_checked = 0
    for _ in range(20):
        genes = choose_genes(source, 30, "cluster", rng)
        around = set(neighbours[genes[0]].tolist())
        if len(around) < 30:
            n_checked += 1
            assert all(not is_acyclic(source.among([*genes, gene])[0]) for gene in around - set(genes))
    assert n_checked > 5


def test_kinetics_by_hand():
    """K = 1/2, so a = 2 x: an activator at 1/2 gives 1/2 of Vmax, and 3/4 relative to its 2/3 at level 1."""
    levels = np.array([[0.5, 0.25]])  # a = 1, 1/2
    basal = 0.001

    def relative(mechanism, columns=2):
        return (mechanism.level(levels[:, :columns])[0] - basal) / (1 - basal)

    assert relative(gene([True], "single"), 1) == pytest.approx((1 / 2) / (2 / 3))
    assert relative(gene([False], "single"), 1) == pytest.approx(1 / 2)
    assert relative(gene([True], "single", hill=2), 1) == pytest.approx((1 / 2) / (4 / 5))
    assert relative(gene([True, True], "cooperative")) == pytest.approx((1 / 2) * (1 / 3) / (2 / 3) ** 2)
    assert relative(gene([True, False], "cooperative")) == pytest.approx((1 / 2) * (2 / 3) / (2 / 3))
    assert relative(gene([True, False], "competitive")) == pytest.approx((1 / (1 + 1 + 1 / 2)) / (2 / 3))
    assert relative(gene([False, True], "competitive")) == pytest.approx(((1 / 2) / (1 + 1 + 1 / 2)) / (2 / 3))
    assert relative(gene([True, True], "independent")) == pytest.approx((1 - (1 / 2) * (2 / 3)) / (1 - 1 / 9))


@pytest.mark.parametrize("interaction", ["cooperative", "competitive", "independent"])
def test_activators_raise_and_repressors_lower(interaction, rng):
    mechanism = gene([True, False], interaction, hill=3)
    grid = np.linspace(0, 1, 11)
    fixed = np.full(11, 0.4)
    assert (np.diff(mechanism.level(np.column_stack([grid, fixed]))) > 0).all()
    assert (np.diff(mechanism.level(np.column_stack([fixed, grid]))) < 0).all()
    levels = mechanism.level(rng.random((500, 2)))
    assert 0 < levels.min() < levels.max() <= 1


def test_signs_reach_the_kinetics():
    scenario = draw_syntren(random_state=3)
    source = load_network("ecoli")
    names = source.genes
    signs = {(names[i], names[j]): s for i, j, s in zip(source.regulators, source.targets, source.signs, strict=True)}
    for node, mechanism in enumerate(scenario.mechanisms):
        if isinstance(mechanism, RegulatedGene):
            regulators = [scenario.names[parent] for parent in np.flatnonzero(scenario.adjacency[:, node])]
            for regulator, is_activator in zip(regulators, mechanism.is_activator, strict=True):
                sign = signs[regulator, scenario.names[node]]
                assert sign in {"+-", "?"} or (sign == "+") == is_activator


def test_probability_of_complex_interactions():
    def interactions(probability):
        return {
            name
            for seed in range(5)
            for mechanism in draw_syntren(random_state=seed, complex_probability=probability).mechanisms
            if isinstance(mechanism, RegulatedGene)
            for _, name in mechanism.groups
        }

    assert interactions(1.0) == {"single", "cooperative", "competitive"}
    assert interactions(0.0) == {"single", "independent"}


def test_noise_has_the_stated_mean_and_variance():
    mechanism = gene([False], "single", noise=0.2)
    parents = np.full((20_000, 1), 0.5)
    level = mechanism.level(parents)[0]
    values = mechanism.sample(parents, np.random.default_rng(0))
    assert values.mean() == pytest.approx(level, abs=0.003)
    assert values.var() == pytest.approx(0.04 * level * (1 - level), rel=0.05)
    assert 0 <= values.min() < values.max() <= 1


def test_experimental_noise_is_not_handed_on():
    """Without biological noise a gene is a function of its regulators' true levels, whatever is measured."""
    clean = draw_syntren(random_state=2, biological_noise=0.0, experimental_noise=0.0)
    noisy = draw_syntren(random_state=2, biological_noise=0.0, experimental_noise=0.3)
    calm = clean.sample(400, 0)
    node = int(np.flatnonzero(clean.adjacency.sum(axis=0) == 1)[0])
    parents = calm.to_numpy()[:, clean.adjacency[:, node]]
    np.testing.assert_allclose(clean.mechanisms[node].sample(parents, np.random.default_rng(0)), calm.iloc[:, node])
    errors = (noisy.sample(400, 0) - calm).to_numpy()
    correlations = np.corrcoef(errors / errors.std(axis=0), rowvar=False)
    assert np.abs(correlations[np.triu_indices(20, 1)]).max() < 6 / np.sqrt(400)


def test_external_conditions():
    """Roots are uniform; half of them share a condition with another and follow its opposite."""
    scenario = draw_syntren(random_state=1, experimental_noise=0.0, input_noise=0.0, normalised=True)
    roots = np.flatnonzero(~scenario.adjacency.any(axis=0))
    opposite = [node for node in roots if scenario.mechanisms[node].is_opposite]
    assert len(roots) >= 2
    assert len(opposite) == len(roots) // 2
    values = scenario.data.to_numpy()
    for node in opposite:
        assert any(np.allclose(values[:, node], 1 - values[:, other]) for other in roots)
    for node in roots:
        assert isinstance(scenario.mechanisms[node], InputGene)
        assert stats.kstest(values[:, node], "uniform").pvalue > 1e-3


def test_defaults_and_units():
    scenario = draw_syntren(random_state=0)
    assert scenario.data.shape == (500, 20)
    assert scenario.data.min().min() >= 0
    assert scenario.data.max().max() > 1000
    normalised = draw_syntren(random_state=0, normalised=True).data
    assert normalised.max().max() <= 1


def test_likeness_to_the_authors_sets(authors):
    """Edges, greatest degrees, roots and leaves within 2.5 standard errors of the five files; same kind of shapes."""

    def facts(adjacency):
        in_degrees, out_degrees = adjacency.sum(axis=0), adjacency.sum(axis=1)
        ends = (in_degrees == 0).sum(), (out_degrees == 0).sum()
        return adjacency.sum(), in_degrees.max(), out_degrees.max(), *ends

    files = [datasets.load_authors(authors, "syntren", k) for k in range(1, 6)]
    ours = [draw_syntren(random_state=seed) for seed in range(60)]
    theirs, drawn = (np.array([facts(one.adjacency) for one in sets]) for sets in (files, ours))
    distance = (theirs.mean(axis=0) - drawn.mean(axis=0)) / (drawn.std(axis=0) / np.sqrt(len(files)))
    assert np.abs(distance).max() < 2.5
    skewness = [np.median(np.concatenate([stats.skew(one.data.to_numpy()) for one in sets])) for sets in (files, ours)]
    assert abs(skewness[0] - skewness[1]) < 0.3
    maxima = [np.median(np.log(np.concatenate([one.data.max() for one in sets]))) for sets in (files, ours)]
    assert abs(maxima[0] - maxima[1]) < 0.6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"network": "human"}, "'network' must be one of 'ecoli', 'yeast'; got 'human'"),
        ({"selection": "random"}, "'selection' must be one of 'neighbour', 'cluster'"),
        ({"biological_noise": 1.0}, "'biological_noise' must be a number at least 0 and at most 0.9"),
        ({"n_nodes": 5000}, "'n_nodes' must be at most .* genes of 'ecoli'; got 5000"),
        ({"n_rows": 0}, "'n_rows' must be a whole number, at least 1"),
    ],
)
def test_wrong_values(arguments, message):
    with pytest.raises(ParameterError, match=message):
        draw_syntren(**arguments)
