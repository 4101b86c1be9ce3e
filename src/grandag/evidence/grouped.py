"""Local scores under interventions: each variable on its own rows, or on several groups of rows.

    log p(x_j | x_P) = sum_g log p(x_j^g | x_P^g)

A group g of rows has a regression of its own, and an edge costs half as much again for each further one. Under perfect
interventions on j there is one group, the rows that leave j alone; under imperfect ones there is another for each
regime that targets j. In small groups, and in those in which the variable does not vary, it has no score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from grandag.evidence.additive import AdditiveScores
from grandag.evidence.config import EvidenceConfig
from grandag.evidence.interface import Parents, Scores
from grandag.evidence.scores import LocalScores

__all__ = ["GroupedScores", "make_scores"]

_FEWEST_ROWS = 10
"""Of a group."""
_FURTHER_COST = 0.5
"""Of an edge, in each group of rows but one."""
_FITTED_ANEW = 100
"""Up to so many rows of a group are fitted anew to see what they lose without a parent."""


class GroupedScores(Scores):
    """The sums over groups of rows; `groups[j]` are the scores of the groups of variable j."""

    def __init__(self, groups: Sequence[Sequence[Scores]], config: EvidenceConfig, n_threads: int) -> None:
        super().__init__(len(groups), config.cost_per_edge, n_threads)
        self.groups = groups
        self._all = list({id(scores): scores for some in groups for scores in some}.values())
        self.scale = max(scores.scale for scores in self._all)
        self.n_blocks = max(scores.n_blocks for scores in self._all)

    @property
    def work(self) -> float:
        """What all fits so far have taken."""
        return sum(scores.work for scores in self._all)

    @property
    def work_per_fit(self) -> float:
        """What a fit on all rows takes."""
        return sum(scores.work_per_fit for scores in self._all)

    def n_rows_of(self, child: int) -> int:
        """Those of all groups."""
        return sum(scores.n_rows_of(child) for scores in self.groups[child])

    def edge_cost(self, child: int) -> float:
        """Every further regression adds to the price: it fits a length scale of its own, and may gain by chance."""
        return self.cost_per_edge * (1 + _FURTHER_COST * (len(self.groups[child]) - 1))

    def few(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Log density of few rows of each group, as many times as makes its share of `scale`."""
        return self._few_sum(child, (scores.few(child, parents, near) for scores in self.groups[child]))

    def full(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Log density of all rows."""
        return sum(scores.full(child, parents, near) for scores in self.groups[child])

    def loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """Nats that all rows lose."""
        return sum(_loss(scores, scores.loss, child, parents, dropped) for scores in self.groups[child])

    def few_loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """The same on few rows."""
        losses = (_loss(scores, scores.few_loss, child, parents, dropped) for scores in self.groups[child])
        return self._few_sum(child, losses)

    def promise(self, child: int, parents: Parents) -> np.ndarray:
        """z deviations promise z^2 / 2 nats, and nats add up."""
        promises = np.array([scores.promise(child, parents) for scores in self.groups[child]])
        together = np.sqrt(np.square(np.maximum(promises, 0.0)).sum(axis=0))
        return np.asarray(np.where((promises > 0).any(axis=0), together, promises.max(axis=0)))

    def reaches(self, child: int, parents: Parents, near: Parents, gain: float) -> bool:
        """Whether all rows gain so much."""
        if len(self.groups[child]) == 1:
            return self.groups[child][0].reaches(child, parents, near, gain)
        return self.full(child, parents, near) - self.full(child, near) >= gain

    def few_gain(self, child: int, parents: Parents, near: Parents, least: float) -> float:
        """What few rows gain."""
        return self.few(child, parents, near) - self.few(child, near)

    def flat(self, child: int, parents: Parents, near: Parents) -> frozenset[int]:
        """Parents that hardly matter in any group."""
        return frozenset.intersection(*(scores.flat(child, parents, near) for scores in self.groups[child]))

    def may_hide(self, child: int, parents: Parents) -> bool:
        """Whether further parents may hide in any group."""
        return any(scores.may_hide(child, parents) for scores in self.groups[child])

    def _few_sum(self, child: int, values: Iterable[float]) -> float:
        shares = (scores.scale_of(child) / self.scale for scores in self.groups[child])
        return sum(share * value for share, value in zip(shares, values, strict=True))


def make_scores(
    values: np.ndarray,
    columns: np.ndarray,
    kinds: Sequence[str] | None,
    are_free: np.ndarray | None,
    config: EvidenceConfig,
    rng: np.random.Generator,
    n_threads: int,
) -> Scores:
    """The local scores of a table `values` (n, d), standardised in `columns`, with the `kinds` of labels and counts.

    A variable is scored on the rows that `are_free` (n, d) of it; with several groups of rows (g, n, d), on each.
    """
    if are_free is None or (kinds is None and are_free.ndim == 2):
        if kinds is None:
            return LocalScores(columns, config, rng, n_threads, are_free)
        return AdditiveScores(np.asarray(values, dtype=np.float64), kinds, config, rng)
    groups = are_free.reshape(-1, *columns.shape)
    tells = np.array([_tells(columns, group) for group in groups])
    by_group: list[list[Scores]]
    if kinds is None:
        by_group = [
            [LocalScores(columns, config, rng, n_threads, group | ~has_score)] * len(has_score)
            for group, has_score in zip(groups, tells, strict=True)
        ]
    else:
        by_group = _additive(np.asarray(values, dtype=np.float64), kinds, groups | ~tells[:, None], config, rng)
    of_child = [
        [scores[j] for scores, has_score in zip(by_group, tells, strict=True) if has_score[j]] or [by_group[0][j]]
        for j in range(columns.shape[1])
    ]
    return GroupedScores(of_child, config, n_threads)


def _loss(
    scores: Scores, estimate: Callable[[int, Parents, Parents], float], child: int, parents: Parents, dropped: Parents
) -> float:
    """Nats that a group loses: exactly if it is small, else by an estimate that takes no other fit.

    Beside a large group that needs its parents, a regression may follow a few rows so closely that it loses hundreds of
    nats if a parent is taken out and nothing refitted, where one that is fitted without the parent loses three.
    """
    if scores.n_rows_of(child) > _FITTED_ANEW:
        return estimate(child, parents, dropped)
    fewer = tuple(parent for parent in parents if parent not in dropped)
    return scores.full(child, parents) - scores.full(child, fewer, parents)


def _tells(columns: np.ndarray, group: np.ndarray) -> np.ndarray:
    """(d,) does each variable have enough rows in its group, and several values?"""
    low = np.min(columns, axis=0, where=group, initial=np.inf)
    high = np.max(columns, axis=0, where=group, initial=-np.inf)
    return np.asarray((group.sum(axis=0) >= _FEWEST_ROWS) & (low < high))


def _additive(
    values: np.ndarray, kinds: Sequence[str], groups: np.ndarray, config: EvidenceConfig, rng: np.random.Generator
) -> list[list[Scores]]:
    """Scores by group and variable; variables with the same rows share them."""
    known: dict[bytes, Scores] = {}
    found: list[list[Scores]] = [[] for _ in groups]
    for scores, group in zip(found, groups, strict=True):
        for rows in group.T:
            if rows.tobytes() not in known:
                known[rows.tobytes()] = AdditiveScores(values[rows], kinds, config, rng)
            scores.append(known[rows.tobytes()])
    return found
