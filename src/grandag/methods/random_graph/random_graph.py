"""RANDOM: a random graph, whatever the data; what a method must beat.

A random order of the variables, then edges that agree with it (Erdos and Renyi). How many, the paper does not say; its
tables do, by two schemes (docs/baselines.md has the figures that they reproduce):

    "uniform"   e ~ U[0, d (d - 1) / 2] anew for each graph, each pair joined with probability 2 e / (d^2 - d)
                (Gauss-ANM, scale-free, Sachs and SynTReN: the number of edges varies widely)
    "fixed"     the same number of edges in all graphs of a size (LIN, ADD-FUNC, PNL: hardly any spread)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from grandag import parameters
from grandag.graph import is_acyclic
from grandag.methods.base import StructureLearner, as_generator
from grandag.methods.stages.linear_gaussian import LinearGaussian, least_squares, moments
from grandag.parameters import ParameterError, Rule, boolean, integer, one_of
from grandag.progress import Listener
from grandag.table import Table

__all__ = ["FIXED_EDGES", "RandomGraph", "obeying", "random_graph"]

FIXED_EDGES = {10: 19, 50: 682}
"""Edges of the scheme "fixed", by number of variables: what the paper's means imply, to within one or two."""

_is_count = integer(0)
_EDGES = Rule(
    lambda value: value in ("uniform", "fixed") if isinstance(value, str) else _is_count.is_legal(value),
    "'uniform', 'fixed' or a whole number, at least 0",
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


class RandomGraph(StructureLearner):
    """Draw a random DAG over the columns of a table: the paper's baseline RANDOM.

    Args:
        n_edges: "uniform" (the number is drawn, as in most of the paper's tables), "fixed" (always the same number, as
            in its tables of LIN, ADD-FUNC and PNL; known for 10 and 50 columns), or exactly so many.
        knowledge: Edges that cannot or must be: a `Knowledge`, its fields in a dictionary, or a file with them.
        missing: "error", or "drop" rows with missing or infinite values.
        random_state: Seed; the same seed gives the same graph.
        verbose: Show a progress line on a terminal.

    Attributes:
        adjacency_: (d, d) bool, adjacency_[i, j] if and only if i -> j. Always a DAG.
        graph_: The same as a networkx DiGraph with the column names.
        edges_: The same as a pandas data frame: source, target, strength.
        strength_: (d, d) 1 for the edges: all are the same.
        causal_order_: Names, parents before children.
        notes_: What a reader of the result should know.

    Example:
        >>> from grandag import RandomGraph, datasets
        >>> len(RandomGraph(n_edges=17, random_state=0).fit(datasets.load_sachs().data).edges_)
        17
    """

    presets = {"default": {}, "paper": {"n_edges": "uniform"}}  # noqa: RUF012 (typed in the base class)
    _rules = {  # noqa: RUF012 (typed in the base class)
        "n_edges": _EDGES,
        "knowledge": parameters.knowledge,
        "missing": one_of("error", "drop"),
        "random_state": parameters.random_state,
        "verbose": boolean,
    }
    method = "random"

    def __init__(
        self,
        *,
        n_edges: int | str = "uniform",
        knowledge: Any = None,
        missing: str = "error",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_edges = n_edges
        self.knowledge = knowledge
        self.missing = missing
        self.random_state = random_state
        self.verbose = verbose

    def score(self, X: Any, y: Any = None) -> float:
        """Mean over the rows of X of log p(x) = sum_j log p_j(x_j | parents), by linear Gaussian conditionals.

        In the units of the table. Constant columns have no density and do not count. `y` is ignored.
        """
        check_is_fitted(self, "adjacency_")
        return self._conditionals_.log_density(self._values_like_training(X, missing=self.missing)[:, self._varying_])

    def _learn(self, table: Table, listener: Listener | None) -> None:
        values = self._varying_values(table)
        rng = as_generator(self.random_state)
        adjacency = obeying(random_graph(values.shape[1], self.n_edges, rng), *self._knowledge(), rng)
        self._conditionals_ = least_squares(moments(values), adjacency)
        self.adjacency_ = self._for_all_columns(adjacency)
        self.strength_ = self.adjacency_.astype(float)

    def _fitted_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"varying": self._varying_, **self._conditionals_._asdict()}, {"notes": self.notes_}

    def _restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        self._varying_, self.notes_ = arrays["varying"], values["notes"]
        self._conditionals_ = LinearGaussian(*(arrays[name] for name in LinearGaussian._fields))
