"""Screening of very many variables: which of them another one depends on most, pair by pair.

The rows are cut into bins of about equal size by x_i. With standardised x_j and v_j = x_j^2, also standardised, and
n_b rows in bin b,

    dependence of x_j on x_i = max(sum_b n_b mean_b(x_j)^2, sum_b n_b mean_b(v_j)^2)

which is chi-squared with about `_BINS` - 1 degrees of freedom if there is none: the mean depends on x_i, or the spread.
One pass over the rows for each x_i serves all x_j at once.
"""

from __future__ import annotations

import numpy as np

from grandag.engine.compiled import compiled

__all__ = ["dependence", "most_dependent"]

_BINS = 10


def most_dependent(
    values: np.ndarray, n_wanted: int, owner: np.ndarray | None = None, are_free: np.ndarray | None = None
) -> list[np.ndarray]:
    """For each variable of `values` (n, d) the `n_wanted` others that it depends on most, in ascending order.

    Variables with several columns, those whose `owner` they are, depend as much as any two of their columns do.
    """
    strength = dependence(values, are_free)
    if owner is not None and owner[-1] < len(owner) - 1:
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        strength = np.maximum.reduceat(np.maximum.reduceat(strength, starts, axis=0), starts, axis=1)
    np.fill_diagonal(strength, -1)
    return [np.sort(np.argsort(-column, kind="stable")[:n_wanted]) for column in strength.T]


def dependence(values: np.ndarray, are_free: np.ndarray | None = None) -> np.ndarray:
    """(d, d), [i, j] for the dependence of x_j on x_i, in the rows that `are_free` (n, d) for x_j, None: in all."""
    d = values.shape[1]
    x = _standardised(values, are_free)
    both = np.concatenate([x, _standardised(np.square(x), are_free)], axis=1).astype(np.float32)
    strength = np.empty((d, d))
    for i in range(d):
        bins = _bins(values[:, i])
        sums = np.zeros((_BINS, 2 * d), dtype=np.float32)
        _add_by_bin(both, bins, sums)
        counts = np.maximum(_counts(bins, are_free), 1)
        strength[i] = (np.square(sums) / counts).sum(axis=0).reshape(2, d).max(axis=0)
    return strength


def _counts(bins: np.ndarray, are_free: np.ndarray | None) -> np.ndarray:
    """Rows in each bin: (bins, 1), or (bins, 2 d) of those that are free."""
    if are_free is None:
        return np.bincount(bins, minlength=_BINS)[:, None]
    sums = np.zeros((_BINS, are_free.shape[1]), dtype=np.float32)
    _add_by_bin(are_free.astype(np.float32), bins, sums)
    return np.tile(sums, 2)


def _bins(x: np.ndarray) -> np.ndarray:
    """The bin of each row; equal values share the bin of their first in order."""
    first = np.searchsorted(np.sort(x), x)
    return np.asarray(first * _BINS // len(x))


def _standardised(values: np.ndarray, are_free: np.ndarray | None) -> np.ndarray:
    """Mean 0 and variance 1 in the rows that are free, 0 in others."""
    if are_free is not None:
        values = values - np.mean(values, axis=0, where=are_free)
        scale = np.sqrt(np.mean(np.square(values), axis=0, where=are_free))
        return np.where(are_free, values / np.where(scale > 0, scale, 1), 0.0)
    centred = values - values.mean(axis=0)
    scale = centred.std(axis=0)
    return np.asarray(centred / np.where(scale > 0, scale, 1))


@compiled
def _add_by_bin(values: np.ndarray, bins: np.ndarray, sums: np.ndarray) -> None:
    """sums[b] = sum of the rows of `values` in bin b"""
    for row in range(values.shape[0]):
        source, target = values[row], sums[bins[row]]
        for j in range(source.size):
            target[j] += source[j]
