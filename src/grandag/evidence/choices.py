"""Choices of parents, remembered: a child that chose among more chooses the same among fewer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grandag.evidence.interface import Parents, Scores
from grandag.evidence.plans import Knowledge
from grandag.evidence.selection import choose

__all__ = ["Choices"]


class Choices:
    """The choices of all children of one table; safe to share between threads that work on different children."""

    def __init__(self, scores: Scores, knowledge: Knowledge) -> None:
        self._scores, self._allowed = scores, knowledge.allowed
        self._required = [frozenset(np.flatnonzero(column).tolist()) for column in knowledge.required.T]
        self._made: list[list[_Choice]] = [[] for _ in self._required]

    def choose(self, child: int, candidates: Parents, may_precede: np.ndarray, near: Parents) -> Parents:
        """The parents that a child needs, by all rows, of the candidates and of others that may precede it (d,)."""
        among = np.zeros(len(may_precede), dtype=bool)
        among[list(candidates)] = True
        further = among | (may_precede & self._allowed[:, child])
        asked = _Choice(_bits(among), _bits(further))
        for earlier in self._made[child]:
            if earlier.answers(asked):
                return earlier.parents
        found = choose(self._scores, child, candidates, further, self._required[child], near)
        chosen = np.zeros_like(among)
        chosen[list(found)] = True
        self._made[child].append(asked._replace(parents=found, chosen=_bits(chosen)))
        return found


class _Choice(NamedTuple):
    """The parents that a child chose among candidates and further ones; sets of nodes are bits of a number."""

    candidates: int
    further: int
    chosen: int = 0
    parents: Parents = ()

    def answers(self, asked: _Choice) -> bool:
        """Whether the choice is the same among fewer candidates: those it fell on are still there."""
        has_more = not (asked.candidates & ~self.candidates or asked.further & ~self.further)
        return has_more and not self.chosen & ~asked.further


def _bits(mask: np.ndarray) -> int:
    return int.from_bytes(np.packbits(mask).tobytes())
