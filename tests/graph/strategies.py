"""Random graphs and names for property tests; all DAGs, and families of targets, for exhaustive ones."""

from itertools import product

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grandag.graph import interventional_essential_graph, is_acyclic, to_cpdag

NAMES = st.lists(
    st.text(st.characters(exclude_categories=("C", "Z"), include_characters=' "\\,;{}[]->=#'), min_size=1, max_size=8),
    min_size=6,
    max_size=6,
    unique_by=str.strip,
).filter(lambda names: all(name == name.strip() for name in names))
"""Six names of printable characters, with all that is special in some format."""


@st.composite
def dags(draw, min_nodes=1, max_nodes=6):
    n = draw(st.integers(min_nodes, max_nodes))
    upper = np.triu(draw(arrays(np.bool_, (n, n))), 1)
    order = draw(st.permutations(range(n)))
    return upper[np.ix_(order, order)]


def cpdags(min_nodes=1, max_nodes=6):
    return dags(min_nodes, max_nodes).map(to_cpdag)


def essential_graphs(min_nodes=4, max_nodes=6):
    """Classes of DAGs that interventions on one of the families below do not tell apart."""
    families = st.sampled_from([family for family in FAMILIES.values() if family])
    return st.tuples(dags(min_nodes, max_nodes), families).map(
        lambda pair: interventional_essential_graph(pair[0], targets(pair[1], len(pair[0])))
    )


@st.composite
def graphs(draw, n=6):
    """Any mixture of directed and undirected edges."""
    adjacency = draw(arrays(np.bool_, (n, n)))
    np.fill_diagonal(adjacency, False)
    return adjacency


def all_dags(d):
    """Every DAG on d nodes, by brute force over the three states of each pair."""
    pairs = [(i, j) for i in range(d) for j in range(i)]
    for states in product(range(3), repeat=len(pairs)):
        adjacency = np.zeros((d, d), dtype=bool)
        for (i, j), state in zip(pairs, states, strict=True):
            adjacency[i, j], adjacency[j, i] = state == 1, state == 2
        if is_acyclic(adjacency):
            yield adjacency


FAMILIES = {
    "observational": [()],
    "one": [(), (0,)],
    "pair": [(), (0, 1)],
    "none without targets": [(0,), (1, 2)],
    "several": [(), (0,), (2,)],
    "overlapping": [(), (0, 1), (1, 2)],
    "each": [(), (0,), (1,), (2,), (3,)],
}
"""Regimes by their targets, for four nodes or more; each leaves every variable alone in some regime."""


def targets(family, d):
    """(regimes, d) bool."""
    matrix = np.zeros((len(family), d), dtype=bool)
    for row, nodes in zip(matrix, family, strict=True):
        row[list(nodes)] = True
    return matrix
