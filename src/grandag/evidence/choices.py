"""Choices of parents, remembered: a child that chose among more chooses the same among fewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grandag.evidence.plans import Knowledge
from grandag.evidence.scores import LocalScores, Parents
from grandag.evidence.selection import choose

__all__ = ["Choices"]


class Choices:
    """The choices of all children of one table; safe to share between threads that work on different children."""

    def __init__(self, scores: LocalScores, knowledge: Knowledge) -> None:
        self._scores = scores
        self._allowed = [np.flatnonzero(column).tolist() for column in knowledge.allowed.T]
        self._required = [frozenset(np.flatnonzero(column).tolist()) for column in knowledge.required.T]
        self._made: list[list[_Choice]] = [[] for _ in self._required]

    def choose(self, child: int, candidates: Parents, order: Sequence[int], near: Parents) -> Parents:
        """The parents that a child needs, by all rows, of the candidates and of others before it in the order."""
        before = set(order[: order.index(child)])
        among = frozenset(candidates)
        further = among.union(i for i in self._allowed[child] if i in before)
        for earlier in self._made[child]:
            if earlier.answers(among, further):
                return earlier.parents
        found = choose(self._scores, child, candidates, further, self._required[child], near)
        self._made[child].append(_Choice(among, further, found))
        return found


class _Choice(NamedTuple):
    """The parents that a child chose among candidates and further ones."""

    candidates: frozenset[int]
    further: frozenset[int]
    parents: Parents

    def answers(self, candidates: frozenset[int], further: frozenset[int]) -> bool:
        """Whether the choice is the same among fewer candidates: those it fell on are still there."""
        return candidates <= self.candidates and further.issuperset(self.parents) and further <= self.further
