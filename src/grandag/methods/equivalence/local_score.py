"""Scores of DAGs that are sums over the nodes, each value computed once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from grandag.methods.equivalence.class_state import bits, sets

__all__ = ["CachedScore", "LocalScore", "OneMoreParent"]


class LocalScore(Protocol):
    """A score of DAGs that is a sum over the nodes, higher is better."""

    n_variables: int

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """The part of one node, given its parents in ascending order."""
        ...


@runtime_checkable
class OneMoreParent(Protocol):
    """A score that tries many variables as a further parent at once, in a fraction of the time."""

    def gain_of_each(self, node: int, parents: tuple[int, ...], candidates: np.ndarray) -> np.ndarray:
        """(k,) how much each of the candidates (k,) would add to the part of one node, given its parents."""
        ...


class CachedScore:
    """A local score by sets of bits; every value is computed once.

    Of several scores, each is for one of the `groups` (d,) of nodes.
    """

    def __init__(self, *scores: LocalScore, groups: np.ndarray | None = None) -> None:
        of_node = np.zeros(scores[0].n_variables, dtype=np.intp) if groups is None else groups
        many = [score if isinstance(score, OneMoreParent) else None for score in scores]
        self._scores, self._many = [scores[k] for k in of_node], [many[k] for k in of_node]
        self._known: list[dict[int, float]] = [{} for _ in of_node]

    def __call__(self, node: int, parents: int) -> float:
        """The part of one node."""
        known = self._known[node]
        if parents not in known:
            known[parents] = self._scores[node].local(node, tuple(bits(parents)))
        return known[parents]

    def gains(self, node: int, parents: int, candidates: np.ndarray) -> np.ndarray:
        """How much each of the candidates would add to the part of one node."""
        many = self._many[node]
        if many is not None:
            return many.gain_of_each(node, tuple(bits(parents)), candidates)
        before = self(node, parents)
        return np.array([self(node, parents | 1 << x) - before for x in candidates.tolist()])

    def total(self, dag: np.ndarray) -> float:
        """The score of a DAG."""
        return sum(self(node, parents) for node, parents in enumerate(sets(dag.T)))
