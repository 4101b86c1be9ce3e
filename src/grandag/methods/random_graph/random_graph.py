"""RANDOM: a random graph, whatever the data; what a method must beat.

A random order of the variables, then edges that agree with it (Erdos and Renyi). How many, the paper does not say; its
tables do, by two schemes (docs/baselines.md has the figures that they reproduce):

    "uniform"   e ~ U[0, d (d - 1) / 2] anew for each graph, each pair joined with probability 2 e / (d^2 - d)
                (Gauss-ANM, scale-free, Sachs and SynTReN: the number of edges varies widely)
    "fixed"     the same number of edges in all graphs of a size (LIN, ADD-FUNC, PNL: hardly any spread)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grandag.graph import is_acyclic
from grandag.knowledge import Masks
from grandag.learned import Learned
from grandag.methods.estimator import StochasticLearner, estimator
from grandag.methods.stages.linear_gaussian import free_moments, least_squares
from grandag.parameters import ParameterError, Rule, integer, parameter
from grandag.progress import Listener
from grandag.table import Table

__all__ = ["FIXED_EDGES", "RandomGraph", "RandomGraphConfig", "learn", "obeying", "random_graph"]

FIXED_EDGES = {10: 19, 50: 682}
"""Edges of the scheme "fixed", by number of variables: what the paper's means imply, to within one or two."""

_is_count = integer(0)
_EDGES = Rule(
    lambda value: value in ("uniform", "fixed") if isinstance(value, str) else _is_count.is_legal(value),
    "'uniform', 'fixed' or a whole number, at least 0",
    lambda word: int(word) if word.isdigit() else word,
)


def random_graph(d: int, n_edges: int | str, rng: np.random.Generator) -> np.ndarray:
    """A random DAG of d variables: exactly `n_edges` edges, or as many as the scheme of that name gives."""
    n_pairs = d * (d - 1) // 2
    if n_edges == "uniform":
        chosen = rng.random(n_pairs) < rng.random()
    else:
        chosen = rng.permutation(n_pairs) < _fixed_number(d, n_edges)
    adjacency = np.zeros((d, d), dtype=bool)
    adjacency[np.triu_indices(d, 1)] = chosen
    order = rng.permutation(d)
    return adjacency[np.ix_(order, order)]


def obeying(adjacency: np.ndarray, allowed: np.ndarray, required: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The required edges, then the allowed ones of a graph in random order, without those that would close a cycle."""
    result = required.copy()
    for i, j in rng.permutation(np.argwhere(adjacency & allowed & ~required)):
        result[i, j] = True
        if not is_acyclic(result):
            result[i, j] = False
    return result


def _fixed_number(d: int, n_edges: int | str) -> int:
    if n_edges != "fixed":
        number, n_pairs = int(n_edges), d * (d - 1) // 2
        if number > n_pairs:
            raise ParameterError("n_edges", f"must be at most {n_pairs:,} for {d:,} columns; got {number:,}.")
        return number
    if d not in FIXED_EDGES:
        known = " and ".join(map(str, FIXED_EDGES))
        raise ParameterError("n_edges", f"is known as 'fixed' for {known} columns only, not for {d}: give a number.")
    return FIXED_EDGES[d]


@dataclass(frozen=True, kw_only=True)
class RandomGraphConfig:
    """Parameters of RANDOM."""

    n_edges: int | str = parameter(
        "uniform",
        _EDGES,
        "Number of edges: 'uniform' (drawn, as in most of the paper's tables), 'fixed' (always the same, as in its "
        "tables of LIN, ADD-FUNC and PNL; known for 10 and 50 columns), or exactly so many.",
        source="inferred from the paper's tables (docs/baselines.md)",
        paper="uniform",
    )


def learn(
    table: Table,
    knowledge: Masks,
    config: RandomGraphConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """A random graph that obeys the background knowledge, with linear conditionals; all edges are equally strong."""
    drawn = random_graph(len(table.names), config.n_edges, rng)
    adjacency = obeying(drawn, knowledge.allowed, knowledge.required, rng)
    conditionals = least_squares(free_moments(table), adjacency).conditionals(adjacency)
    return Learned(table.names, adjacency, adjacency.astype(float), conditionals=conditionals)


@estimator
class RandomGraph(StochasticLearner, RandomGraphConfig):
    """Draw a random DAG over the columns of a table: the paper's baseline RANDOM.

    Example:
        >>> from grandag import RandomGraph, datasets
        >>> len(RandomGraph(n_edges=17, random_state=0).fit(datasets.load_sachs().data).edges_)
        17
    """

    learn = staticmethod(learn)
    takes_interventions = frozenset({"perfect"})
    checks_noise = False
