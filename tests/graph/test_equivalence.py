from itertools import islice, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings

from grandag.graph import (
    GraphError,
    interventional_essential_graph,
    is_acyclic,
    is_cpdag,
    members,
    orient,
    skeleton,
    to_cpdag,
    to_dag,
    v_structures,
)
from tests.graph.strategies import FAMILIES, all_dags, cpdags, dags, graphs, targets


def edges(n, *pairs):
    adjacency = np.zeros((n, n), dtype=bool)
    for pair in pairs:
        i, j = int(pair[0]), int(pair[-1])
        adjacency[i, j] = True
        adjacency[j, i] |= "-" in pair
    return adjacency


def directions(adjacency):
    """All DAGs with the directed edges, the adjacencies and the v-structures of a graph, by brute force."""
    free = np.argwhere(np.triu(adjacency & adjacency.T))
    for choice in product((False, True), repeat=len(free)):
        dag = adjacency.copy()
        for (i, j), forwards in zip(free, choice, strict=True):
            dag[i, j], dag[j, i] = forwards, not forwards
        if is_acyclic(dag) and v_structures(dag) == v_structures(adjacency):
            yield dag


def keys(graphs):
    return sorted(graph.tobytes() for graph in graphs)


def test_v_structures():
    assert v_structures(edges(4, "02", "12", "23")) == [(0, 2, 1)]
    assert v_structures(edges(3, "02", "12", "01")) == []
    assert v_structures(edges(3, "02", "1-2")) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (edges(3, "01", "1-2"), edges(3, "01", "12")),
        (edges(3, "01", "12", "0-2"), edges(3, "01", "12", "02")),
        (edges(4, "0-1", "0-2", "0-3", "21", "31"), edges(4, "01", "0-2", "0-3", "21", "31")),
        (edges(4, "0-1", "0-2", "0-3", "23", "31"), edges(4, "01", "0-2", "0-3", "23", "31")),
    ],
    ids=["rule 1", "rule 2", "rule 3", "rule 4"],
)
def test_rules_of_meek(before, after):
    """Each rule as it is drawn in Meek (1995), figure 1."""
    np.testing.assert_array_equal(orient(before), after)


@settings(max_examples=30)
@given(dags(max_nodes=5))
def test_cpdag_is_what_all_equivalent_dags_share(dag):
    """By the definition: the union of all DAGs with the same adjacencies and v-structures."""
    adjacent, same = skeleton(dag), []
    for order in permutations(range(len(dag))):
        other = adjacent & (np.argsort(order)[:, None] < np.argsort(order))
        if v_structures(other) == v_structures(dag):
            same.append(other)
    np.testing.assert_array_equal(to_cpdag(dag), np.any(same, axis=0))


def after_each(dag, family):
    """What distributions after each of the interventions tell: adjacencies and v-structures without edges into it."""
    for row in family:
        cut = dag & ~row
        yield skeleton(cut).tobytes(), tuple(v_structures(cut))


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_essential_graphs_are_what_all_equivalent_dags_share(family):
    """By the definition of Hauser and Buehlmann (2012), on all 543 DAGs of four nodes; and `members` are these DAGs."""
    family, classes = targets(family, 4), {}
    for dag in all_dags(4):
        classes.setdefault(tuple(after_each(dag, family)), []).append(dag)
    for dags_of_class in classes.values():
        shared = np.any(dags_of_class, axis=0)
        for dag in dags_of_class:
            np.testing.assert_array_equal(interventional_essential_graph(dag, family), shared)
        assert keys(members(shared)) == keys(dags_of_class)


def test_targets_must_leave_every_variable_alone_somewhere():
    with pytest.raises(GraphError, match="left alone by some regime"):
        interventional_essential_graph(edges(2, "01"), targets([(0,), (0, 1)], 2))


def test_cpdags_of_the_authors(authors):
    files = sorted(authors.glob("*/CPDAG*.npy"))
    assert files
    with pytest.warns(UserWarning, match="created on Python 2"):
        for file in files:
            dag = np.load(file.with_name(file.name.replace("CPDAG", "DAG"))).astype(bool)
            np.testing.assert_array_equal(to_cpdag(dag), np.load(file).astype(bool), err_msg=str(file))


@given(cpdags())
def test_extension_is_in_the_class(cpdag):
    np.testing.assert_array_equal(to_cpdag(to_dag(cpdag)), cpdag)
    assert is_cpdag(cpdag)


@given(graphs(4))
def test_extension_exists_or_not(adjacency):
    possible = list(directions(adjacency))
    if possible:
        assert keys([to_dag(adjacency)])[0] in keys(possible)
        assert keys(members(adjacency)) == keys(possible)
    else:
        assert not is_cpdag(adjacency)
        for function in (to_dag, members):
            with pytest.raises(GraphError, match="no DAG extension"):
                function(adjacency)


@given(cpdags(max_nodes=5))
def test_members_are_all_and_different(cpdag):
    found = keys(members(cpdag))
    assert found == keys(directions(cpdag))
    assert len(set(found)) == len(found)


def test_members_are_lazy_and_limited():
    complete = ~np.eye(40, dtype=bool)
    assert len(list(islice(members(complete), 3))) == 3
    assert len(list(members(~np.eye(4, dtype=bool), limit=24))) == 24
    with pytest.raises(GraphError, match="more than 23 DAGs"):
        list(members(~np.eye(4, dtype=bool), limit=23))


def test_knowledge_beyond_the_class_makes_no_cpdag():
    """Every DAG that 1 -> 0 leaves of a complete graph agrees on nothing else, but the class has 0 -> 1 too."""
    adjacency = ~np.eye(4, dtype=bool)
    assert is_cpdag(adjacency)
    adjacency[0, 1] = False
    assert not is_cpdag(adjacency)


def test_only_a_dag_has_a_cpdag():
    for adjacency in (edges(2, "0-1"), edges(3, "01", "12", "20")):
        with pytest.raises(GraphError, match="Only a DAG has a CPDAG"):
            to_cpdag(adjacency)
