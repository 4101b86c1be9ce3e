"""Bounds of the SID for an estimated CPDAG: the best and the worst DAG of the class.

As R's package SID does it (Peters and Bühlmann 2015): the undirected part falls into connected components. Each is
directed in all ways that make no cycle and no new v-structure, independently of the others; the lower (upper) bound
is the sum over components of the smallest (largest) number of wrong effects of the component's nodes. If some
component has more than 8 nodes, is not chordal, or has a directed edge inside, all nodes are treated one by one: each
takes all subsets of its undirected neighbours as further parents, whether they go together or not, which gives wider
bounds.

R lists the directions of a component, up to 8! = 40,320. Here the extremes come from a recursion: every such direction
of a connected component has one source; the source directs further edges by Meek's rules, and what is left undirected
are smaller components, all of whose nodes have the same parents outside of them.

The same holds for interventional essential graphs, whose undirected components are chordal, without directed edges
inside, and directed independently of each other, too (Hauser and Buehlmann 2012): the bounds are those of the class
that the interventions leave.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np

from grandag.graph.algebra import ancestors, directed_part, undirected_components, undirected_part
from grandag.graph.boundary import GraphError
from grandag.graph.equivalence import orient
from grandag.metrics.matching import Pair, check_dag, find_cycle, matched
from grandag.metrics.validity import wrong_adjustments
from grandag.parameters import ParameterError, integer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SidBounds", "sid_bounds", "wrong_effects"]

_LARGEST_COMPONENT = 8
"""The limit in R's package."""

_SIZE = integer(1)

_MANY = 16
"""2^16 parent sets of one node take half a second at 100 nodes."""

_BLOCK = 4096

ParentSet = tuple[int, tuple[int, ...]]
"""A node, and those of its undirected neighbours that are its parents."""


class SidBounds(NamedTuple):
    """The smallest and the largest SID of an equivalence class."""

    lower: int
    upper: int


def sid_bounds(truth: Any, estimate: Any, *, largest_component: int | None = _LARGEST_COMPONENT) -> SidBounds:
    """Bounds of the SID for a CPDAG, equal to those of R's SID package; for a DAG both are the SID.

    Args:
        truth: A DAG.
        estimate: A CPDAG, an interventional essential graph, or any graph whose directed edges have no cycle.
        largest_component: Largest size of an undirected component that is directed as a whole, 8 as in R; larger ones
            make the bounds wider. Without a limit (None) the bounds are exact whenever the undirected part is chordal,
            and often found faster.

    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> sid_bounds(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), chain)
    SidBounds(lower=0, upper=6)
    """
    pair = _checked(truth, estimate)
    is_local = _is_local(pair.estimate, largest_component)
    _warn_of_many(pair, is_local)
    n_wrong: dict[ParentSet, int] = {}
    lower, upper = np.full(len(pair.names), len(pair.names)), np.zeros(len(pair.names), dtype=int)
    for sets, wrong in _evaluated(pair, is_local):
        counts = wrong.sum(axis=1)
        nodes = [node for node, _ in sets]
        np.minimum.at(lower, nodes, counts)
        np.maximum.at(upper, nodes, counts)
        if not is_local:
            n_wrong.update(zip(sets, counts.tolist(), strict=True))
    if is_local:
        return SidBounds(int(lower.sum()), int(upper.sum()))
    extremes = [_extremes(pair.estimate, component, n_wrong) for component in undirected_components(pair.estimate)]
    return SidBounds(sum(low for low, _ in extremes), sum(high for _, high in extremes))


def wrong_effects(truth: Any, estimate: Any, *, largest_component: int | None = _LARGEST_COMPONENT) -> pd.DataFrame:
    """wrong[i, j]: is the effect of i on j wrong in some DAG of the estimated class? With the names of the truth.

    For a DAG the entries add up to the SID. R calls this matrix `incorrectMat` and its sum `sid`, for CPDAGs too; it
    can be larger than the upper bound.
    """
    import pandas as pd

    pair = _checked(truth, estimate)
    is_local = _is_local(pair.estimate, largest_component)
    _warn_of_many(pair, is_local)
    is_wrong = np.zeros(pair.truth.shape, dtype=bool)
    for sets, wrong in _evaluated(pair, is_local):
        np.logical_or.at(is_wrong, [node for node, _ in sets], wrong)
    return pd.DataFrame(is_wrong, index=list(pair.names), columns=list(pair.names))


def _checked(truth: Any, estimate: Any) -> Pair:
    pair = matched(truth, estimate)
    check_dag(pair.truth, pair.names, "The SID needs a true DAG.")
    cycle = find_cycle(pair.estimate, pair.names)
    if cycle is not None:
        raise GraphError(f"The SID needs an estimated DAG or CPDAG. It has a cycle: {cycle}.")
    return pair


def _is_local(estimate: np.ndarray, largest_component: int | None) -> bool:
    """Are the parents of each node chosen by themselves, since some component cannot be directed as a whole?"""
    if not (largest_component is None or _SIZE.is_legal(largest_component)):
        raise ParameterError("largest_component", f"must be None or {_SIZE.description}; got {largest_component!r}.")
    directed, undirected = directed_part(estimate), undirected_part(estimate)
    return any(
        (largest_component is not None and len(component) > largest_component)
        or directed[np.ix_(component, component)].any()
        or not nx.is_chordal(nx.from_numpy_array(undirected[np.ix_(component, component)]))
        for component in undirected_components(estimate)
        if len(component) > 1
    )


def _warn_of_many(pair: Pair, is_local: bool) -> None:
    """Warn if the number of parent sets is large: it is exponential in the size of a neighbourhood or clique."""
    undirected = undirected_part(pair.estimate)
    n_neighbours = undirected.sum(axis=0)
    node = int(n_neighbours.argmax())
    if n_neighbours[node] <= _MANY:
        return
    if is_local:
        warnings.warn(
            f"{pair.names[node]!r} has {n_neighbours[node]} undirected neighbours: 2^{n_neighbours[node]} parent sets "
            "will be checked, as R does it; `largest_component=None` needs fewer if the undirected part is chordal.",
            stacklevel=3,
        )
        return
    width = nx.chordal_graph_treewidth(nx.from_numpy_array(undirected))
    if width > _MANY:
        warnings.warn(
            f"The undirected part has a clique of {width + 1} nodes: more than 2^{width} parent sets will be checked.",
            stacklevel=3,
        )


def _evaluated(pair: Pair, is_local: bool) -> Iterator[tuple[list[ParentSet], np.ndarray]]:
    """All parent sets in blocks, each with wrong[t, j]: is the effect on j wrong with the t-th set of the block?"""
    is_ancestor = ancestors(pair.truth)
    certain = directed_part(pair.estimate).T
    for sets in _blocks(_parent_sets(undirected_part(pair.estimate), is_local)):
        nodes = np.array([node for node, _ in sets])
        parents = certain[nodes]
        for row, (_, chosen) in zip(parents, sets, strict=True):
            row[list(chosen)] = True
        yield sets, wrong_adjustments(pair.truth, is_ancestor, nodes, parents)


def _blocks(sets: Iterable[ParentSet]) -> Iterator[list[ParentSet]]:
    iterator = iter(sets)
    while block := list(islice(iterator, _BLOCK)):
        yield block


def _parent_sets(undirected: np.ndarray, is_local: bool) -> Iterator[ParentSet]:
    """Every node with all sets of neighbours that can be its parents: cliques, or v-structures would arise.

    In the local treatment they are all subsets.
    """
    can_meet = np.ones_like(undirected) if is_local else undirected
    for node in range(len(undirected)):
        for chosen in _cliques(np.flatnonzero(undirected[node]).tolist(), can_meet):
            yield node, chosen


def _cliques(nodes: Sequence[int], adjacent: np.ndarray) -> Iterator[tuple[int, ...]]:
    """All subsets whose nodes are adjacent to each other, the empty one included."""
    yield ()
    for position, first in enumerate(nodes):
        others = [node for node in nodes[position + 1 :] if adjacent[first, node]]
        for clique in _cliques(others, adjacent):
            yield (first, *clique)


def _extremes(estimate: np.ndarray, component: np.ndarray, n_wrong: dict[ParentSet, int]) -> tuple[int, int]:
    """The smallest and largest number of wrong effects of a component's nodes over all its directions."""
    undirected = undirected_part(estimate)

    @cache
    def extremes(nodes: tuple[int, ...], parents: tuple[int, ...]) -> tuple[int, int]:
        """`nodes` are connected by undirected edges; `parents`, from the same component, point to all of them."""
        if len(nodes) == 1:
            return n_wrong[nodes[0], parents], n_wrong[nodes[0], parents]
        found = []
        for source in range(len(nodes)):
            part = undirected[np.ix_(nodes, nodes)]
            part[:, source] = False
            directed = orient(part)
            lower, upper = 0, 0
            for positions in undirected_components(directed):
                further = np.flatnonzero(directed_part(directed)[:, positions[0]])
                low, high = extremes(
                    tuple(nodes[k] for k in positions), tuple(sorted([*parents, *(nodes[k] for k in further)]))
                )
                lower, upper = lower + low, upper + high
            found.append((lower, upper))
        return min(low for low, _ in found), max(high for _, high in found)

    return extremes(tuple(component.tolist()), ())
