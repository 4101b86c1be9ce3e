"""How far edges depend on the sample: what halves of the rows say of each, one edge at a time.

A half keeps an edge if its score is not higher without it, nor with the edge turned round. The rest of the graph stays
as it is: a look at each edge that costs a few fits on half of the rows, in the place of searches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grandag.blas import one_blas_thread
from grandag.evidence.additive import is_mixed
from grandag.evidence.config import EvidenceConfig
from grandag.evidence.grouped import make_scores
from grandag.evidence.interface import Parents, Scores
from grandag.evidence.transform import some_rows, standardise
from grandag.graph import ancestors
from grandag.graph.algebra import compose
from grandag.table import spread

__all__ = ["kept_by_halves"]

_N_SPLITS = 2
_ROUNDING = 0.05
"""Nats that fits of the same parents may differ by: an edge between copies of a column is as good turned round."""


def kept_by_halves(
    values: np.ndarray,
    adjacency: np.ndarray,
    *,
    kinds: Sequence[str] | None = None,
    allowed: np.ndarray,
    required: np.ndarray,
    rng: np.random.Generator,
    n_threads: int = 1,
    are_free: np.ndarray | None = None,
) -> np.ndarray:
    """(d, d): the share of four halves of the rows, two splits, that keep each edge of a DAG; NaN where there is none.

    Required edges are always kept, and none is turned round against what is allowed. `are_free` is that of `refine`;
    both halves have as many rows of each intervention.
    """
    config = EvidenceConfig(n_training_blocks=1)  # votes of one block are those of two, at half the cost
    mixed = kinds if kinds is not None and is_mixed(kinds) else None
    n_rows = len(values)
    values = some_rows(values, config.max_rows if mixed is None else config.max_mixed_rows)
    n = len(values)
    free = None if are_free is None else are_free[..., spread(n_rows, n), :]
    may_turn = _may_turn(adjacency, allowed)
    votes = []
    with one_blas_thread():
        for _ in range(_N_SPLITS):
            for half in _halves(n, free, rng):
                columns = standardise(values[half], config.heavy_tails if mixed is None else np.inf)[0]
                own = None if free is None else free[..., half, :]
                scores = make_scores(values[half], columns, mixed, own, config, rng, n_threads)
                votes.append(_votes(scores, adjacency, may_turn) | required)
    return np.where(adjacency, np.mean(votes, axis=0), np.nan)


def _halves(n: int, free: np.ndarray | None, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the rows of two halves, at random; of each intervention, half of its rows."""
    order = rng.permutation(n)
    if free is None:
        return order[: n // 2], order[n // 2 :]
    is_free = free if free.ndim == 2 else free[0]
    intervention = np.unique(is_free, axis=0, return_inverse=True)[1].ravel()
    order = order[np.argsort(intervention[order], kind="stable")]
    return order[::2], order[1::2]


def _may_turn(adjacency: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Edges whose opposite is allowed and closes no cycle: no other path leads from source to target."""
    is_true_ancestor = ancestors(adjacency) & ~np.eye(len(adjacency), dtype=bool)
    found: np.ndarray = adjacency & allowed.T & ~compose(adjacency, is_true_ancestor)
    return found


def _votes(scores: Scores, adjacency: np.ndarray, may_turn: np.ndarray) -> np.ndarray:
    """Which edges these rows keep."""
    parents: list[Parents] = [tuple(np.flatnonzero(column).tolist()) for column in adjacency.T]
    scores.each(lambda j: scores.full(j, parents[j]), range(len(parents)))

    def keeps(i: int, j: int) -> bool:
        fewer = tuple(parent for parent in parents[j] if parent != i)
        more = tuple(sorted((*parents[i], j)))
        gained = 0.0
        if may_turn[i, j] and scores.reaches(i, more, parents[i], scores.edge_cost(i)):
            gained = scores.score(i, more) - scores.score(i, parents[i])
        return not scores.reaches(j, fewer, parents[j], _ROUNDING - scores.edge_cost(j) - gained)

    found = np.zeros_like(adjacency)
    for j, kept in enumerate(scores.each(lambda j: [keeps(i, j) for i in parents[j]], range(len(parents)))):
        found[list(parents[j]), j] = kept
    return found
