"""Gaps in a table filled in by chained equations: each column given all others, by the leaves of random trees.

A column with gaps is predicted from all others by a small forest, of the rows in which it was observed. A gap gets the
value of a row that is drawn from those in the same leaf of one of the trees, drawn too: an observed value, whatever its
kind, given the others, with its noise. Gaps start with values drawn from their columns; columns take turns, those with
the fewest gaps first, for some rounds (van Buuren's chained equations; the trees are those of Doove, van Buuren and
Dusseldorp, "Recursive partitioning for missing data imputation in the presence of interaction effects", 2014).

Relations between columns survive if a forest can see them, functions that are not linear among them, which a linear
regression with drawn noise flattens: docs/kinds.md has what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["fill_in", "from_own_column"]

_ROUNDS = 5
_TREES, _LEAF = 10, 5
"""Trees of a forest, and rows of a leaf at least: donors of a value."""


def from_own_column(values: np.ndarray, gaps: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Values (n, d) with gaps filled in by values drawn from the same column."""
    filled = values.copy()
    for j in np.flatnonzero(gaps.any(axis=0)):
        filled[gaps[:, j], j] = rng.choice(values[~gaps[:, j], j], int(gaps[:, j].sum()))
    return filled


def fill_in(values: np.ndarray, gaps: np.ndarray, is_label: Sequence[bool], rng: np.random.Generator) -> np.ndarray:
    """Values (n, d) with gaps (n, d) filled in; columns that hold labels have codes."""
    filled = from_own_column(values, gaps, rng)
    shares = gaps.mean(axis=0)
    order = [int(j) for j in np.argsort(shares, kind="stable") if shares[j] > 0]
    for _ in range(_ROUNDS if len(filled[0]) > 1 else 0):
        for j in order:
            others = np.column_stack([_inputs(filled[:, i], is_label[i]) for i in range(len(is_label)) if i != j])
            filled[gaps[:, j], j] = _draw(others, filled[:, j], gaps[:, j], is_label[j], rng)
    return filled


def _inputs(column: np.ndarray, is_label: bool) -> np.ndarray:
    """A number as it is, labels as one indicator each but for the first."""
    return (column[:, None] == np.unique(column)[1:]).astype(float) if is_label else column[:, None]


def _draw(
    inputs: np.ndarray, target: np.ndarray, is_gap: np.ndarray, is_label: bool, rng: np.random.Generator
) -> np.ndarray:
    """The targets of rows drawn from the leaves of the gaps."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestClassifier if is_label else RandomForestRegressor
    seed = int(rng.integers(2**31))
    forest = make(n_estimators=_TREES, min_samples_leaf=_LEAF, random_state=seed, n_jobs=1)
    forest.fit(inputs[~is_gap], target[~is_gap])
    donors, leaves = forest.apply(inputs[~is_gap]), forest.apply(inputs[is_gap])
    trees = rng.integers(_TREES, size=len(leaves))
    drawn = np.empty(len(leaves))
    for tree in range(_TREES):
        rows = np.flatnonzero(trees == tree)
        by_leaf = np.argsort(donors[:, tree], kind="stable")
        sorted_leaves = donors[by_leaf, tree]
        first = np.searchsorted(sorted_leaves, leaves[rows, tree], side="left")
        last = np.searchsorted(sorted_leaves, leaves[rows, tree], side="right")
        chosen = first + np.floor(rng.random(len(rows)) * (last - first)).astype(int)
        drawn[rows] = target[~is_gap][by_leaf[chosen]]
    return drawn
