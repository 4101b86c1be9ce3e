"""The sets of parents worth a look: all up to a size, scored once, without those that one of their subsets beats.

If s(j, Q) >= s(j, P) for a subset Q of P, then P is never needed: whatever order allows P allows Q. What is left of the
sets of a variable, best first, says all about it: its best parents within any pool are the first set that lies in it.

Sets are bits of whole numbers, so that there may be 62 variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from grandag.knowledge import Masks
from grandag.methods.equivalence.local_score import LocalScore
from grandag.progress import Listener, Progress

__all__ = ["MOST_VARIABLES", "ManyAtOnce", "ParentSets", "count_sets", "find_parent_sets", "largest_level"]

MOST_VARIABLES = 62
"""Sets of more variables do not fit into whole numbers of 64 bits with a sign."""


@runtime_checkable
class ManyAtOnce(Protocol):
    """A score that takes many sets of parents of one size at once, in a fraction of the time."""

    def local_of_each(self, node: int, parents: np.ndarray) -> np.ndarray:
        """(k,) the parts of one node given each row of parents (k, p)."""
        ...


class ParentSets(NamedTuple):
    """Those of all variables, one after the other: `sets[start[j] : start[j + 1]]` are the sets of j, best first."""

    sets: np.ndarray  # (k,) int64, bit i for parent i
    scores: np.ndarray  # (k,)
    start: np.ndarray  # (d + 1,)
    is_complete: bool = True  # False after Ctrl-C: some variables have their required parents only

    @classmethod
    def of(cls, sets: list[np.ndarray], scores: list[np.ndarray], *, is_complete: bool = True) -> ParentSets:
        """From one array of each kind for every variable."""
        start = np.cumsum([0, *map(len, sets)])
        return cls(np.concatenate(sets), np.concatenate(scores), start, is_complete)

    def candidates(self) -> np.ndarray:
        """[i, j]: is i in one of the sets of j?"""
        d = len(self.start) - 1
        union = [int(np.bitwise_or.reduce(self.sets[self.start[j] : self.start[j + 1]])) for j in range(d)]
        return np.array([[bool(union[j] >> i & 1) for j in range(d)] for i in range(d)])


def count_sets(knowledge: Masks, max_parents: int | None) -> int:
    """How many local scores the search needs."""
    return sum(math.comb(n_free, k) for n_free, most in _choices(knowledge, max_parents) for k in range(most + 1))


def largest_level(knowledge: Masks, max_parents: int | None) -> int:
    """How many sets of one variable and one size there are at most: what is held in memory at a time."""
    return max(math.comb(n_free, min(most, n_free // 2)) for n_free, most in _choices(knowledge, max_parents))


def _choices(knowledge: Masks, max_parents: int | None) -> list[tuple[int, int]]:
    """For each variable: how many parents may be chosen or not, and how many of them at most."""
    n_required = knowledge.required.sum(axis=0).tolist()
    n_free = (knowledge.allowed & ~knowledge.required).sum(axis=0).tolist()
    most = len(n_free) if max_parents is None else max_parents
    return [(free, min(free, max(most - required, 0))) for free, required in zip(n_free, n_required, strict=True)]


def find_parent_sets(
    score: LocalScore, knowledge: Masks, max_parents: int | None, listener: Listener | None = None
) -> ParentSets:
    """Score all sets that knowledge and the limit allow, which required parents may exceed.

    After Ctrl-C, variables that were not reached have their required parents only.
    """
    d = len(knowledge.allowed)
    required = [np.flatnonzero(column) for column in knowledge.required.T]
    sets = [np.array([_bits(parents)]) for parents in required]
    scores = [np.array([score.local(j, tuple(parents.tolist()))]) for j, parents in enumerate(required)]
    try:
        for j, (_, most) in enumerate(_choices(knowledge, max_parents)):
            free = np.flatnonzero(knowledge.allowed[:, j] & ~knowledge.required[:, j])
            sets[j], scores[j] = _undominated(_scorer(score, j), required[j], free, most, sets[j], scores[j])
            if listener is not None:
                listener(Progress("parent sets", j + 1, d))
    except KeyboardInterrupt:
        return ParentSets.of(sets, scores, is_complete=False)
    return ParentSets.of(sets, scores)


def _scorer(score: LocalScore, node: int) -> Callable[[np.ndarray], np.ndarray]:
    """Scores of many sets of parents of one size (k, p), at once where the score can."""
    if isinstance(score, ManyAtOnce):
        return lambda parents: score.local_of_each(node, parents)
    return lambda parents: np.array([score.local(node, tuple(row)) for row in parents.tolist()])


def _undominated(
    scores_of: Callable[[np.ndarray], np.ndarray],
    required: np.ndarray,
    free: np.ndarray,
    most: int,
    base: np.ndarray,
    base_score: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Sets and scores, best first; size after size, each set knows the best score among its subsets.

    Sets of k out of m stand in the order of their ranks sum_i C(c_i, i + 1), c_0 < c_1 < ... their members: the rank of
    a set with a member left out is a sum of the same kind.
    """
    kept_sets, kept_scores = [base], [base_score]
    best_below = base_score
    binomial = np.array([[math.comb(n, k) for k in range(most + 1)] for n in range(len(free) + 1)], dtype=np.int64)
    for size in range(1, most + 1):
        members = _of_size(len(free), size)
        parents = np.sort(np.hstack([np.broadcast_to(required, (len(members), len(required))), free[members]]), axis=1)
        scores = scores_of(np.ascontiguousarray(parents))
        best = np.full(len(members), -np.inf)
        for left_out in range(size):
            others = np.delete(members, left_out, axis=1)
            rank = binomial[others, np.arange(1, size)].sum(axis=1)
            np.maximum(best, best_below[rank], out=best)
        is_kept = scores > best
        kept_sets.append((np.int64(1) << parents[is_kept]).sum(axis=1))
        kept_scores.append(scores[is_kept])
        best_below = np.maximum(best, scores)
    sets, scores = np.concatenate(kept_sets), np.concatenate(kept_scores)
    best_first = np.argsort(-scores, kind="stable")
    return sets[best_first], scores[best_first]


def _of_size(n: int, size: int) -> np.ndarray:
    """(C(n, size), size) all sets of whole numbers below n, ascending, in the order of their ranks."""
    sets = np.fromiter(
        (member for some in combinations(range(n), size) for member in some), np.int64, math.comb(n, size) * size
    ).reshape(-1, size)
    return sets[np.lexsort(sets.T)]


def _bits(nodes: np.ndarray) -> np.int64:
    return np.int64(sum(1 << int(node) for node in nodes))
