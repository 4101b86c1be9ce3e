"""Columns as the evidence sees them: standardised, and normal scores where tails are heavy."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from grandag.table import rows_of, spread

__all__ = ["normal_scores", "some_rows", "standardise"]


def some_rows(values: np.ndarray, most: int) -> np.ndarray:
    """A table as it is, or if it is long so many of its rows, evenly spread."""
    return values if len(values) <= most else rows_of(values, spread(len(values), most))


def standardise(values: np.ndarray, heavy_tails: float) -> tuple[np.ndarray, np.ndarray]:
    """(x - mean) / standard deviation by column, and which columns were replaced by normal scores first.

    These are the columns with a kurtosis above `heavy_tails`: a few extreme rows would decide about everything there.
    Constant columns become zero.
    """
    columns = _scaled(np.asarray(values, dtype=np.float64))
    is_heavy = (columns**4).mean(axis=0) > heavy_tails
    for j in np.flatnonzero(is_heavy):
        columns[:, j] = _scaled(normal_scores(columns[:, j])[:, None])[:, 0]
    return columns, is_heavy


def normal_scores(column: np.ndarray) -> np.ndarray:
    """Phi^-1((rank - 1/2) / n); ties get their mean rank."""
    return np.asarray(ndtri((rankdata(column) - 0.5) / len(column)))


def _scaled(values: np.ndarray) -> np.ndarray:
    """Zero mean and unit variance; the largest value goes first, so that nothing overflows."""
    size = np.abs(values).max(axis=0, initial=0.0)
    centred = values / np.where(size > 0, size, 1.0)
    centred = centred - centred.mean(axis=0)
    deviation = centred.std(axis=0)
    is_constant = deviation <= 1e-12
    return np.where(is_constant, 0.0, centred / np.where(is_constant, 1.0, deviation))
