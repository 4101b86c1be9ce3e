"""Random graphs and names for property tests."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grandag.graph import to_cpdag

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


@st.composite
def graphs(draw, n=6):
    """Any mixture of directed and undirected edges."""
    adjacency = draw(arrays(np.bool_, (n, n)))
    np.fill_diagonal(adjacency, False)
    return adjacency
