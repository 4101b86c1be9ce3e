"""Gross outliers: values beyond a gap at the end of their column that nothing in the other columns goes with.

Sizes s_1 >= s_2 >= ... are distances from the median in units of the column's middle half. The k largest are beyond a
gap if s_k is at least twice s_{k+1}, and if a tail like that of the values inside the gap would leave one so wide with
a probability below 1e-9: with Pareto's index alpha of that tail (Hill 1975),

    P(s_k / s_{k+1} > r) = r^(-k alpha)

Heavy tails, which have no such gap, are no outliers. Nor are values beyond a gap that other columns go with: what an
outlier did to other variables is information, the best that there is. Rank tests ask whether other columns lie higher
or lower in these rows, on the side of the outlier or against it, or farther from their middles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from grandag.table import Table, blocks, rows_of, spread
from grandag.wording import some

__all__ = ["Outliers", "find_outliers"]

_MOST_ROWS = 20_000
"""So many rows, evenly spread, stand for a longer table."""
_MOST, _LEAST = 0.05, 6
"""Share of a column that may be outliers, and their least number: of fewer nobody can say what goes with them."""
_TAIL = 0.05
"""Share of a column, inside the gap, whose tail is looked at."""
_WIDEST, _CHANCE = 2.0, 1e-9
"""Least ratio of sizes across a gap, and the largest probability of one so wide."""
_RELATED = 0.005
"""Level of the tests of one column's outliers against all other columns."""
_ROWS_LEFT, _SHARE_LEFT = 300, 0.5
"""Rows that have to stay, or this share of them, for outliers to be left out."""


@dataclass(frozen=True)
class Outliers:
    """Limits of columns; values beyond them are gross outliers."""

    low: np.ndarray  # (d,) -inf: none
    high: np.ndarray

    def rows(self, values: np.ndarray) -> np.ndarray:
        """(n,) bool: does a row have an outlier?"""
        found = [((values[b] < self.low) | (values[b] > self.high)).any(axis=1) for b in blocks(len(values))]
        return np.concatenate([np.zeros(0, dtype=bool), *found])

    @property
    def columns(self) -> np.ndarray:
        """(d,) bool: which columns have them."""
        return np.asarray(np.isfinite(self.high))

    def describe(self, table: Table) -> str:
        """Which columns have how many, and between what limits their other values lie."""
        found = []
        for j in np.flatnonzero(self.columns):
            column = table.values[:, j]
            is_inside = (column >= self.low[j]) & (column <= self.high[j])
            inside, n_beyond = column[is_inside], int((~is_inside).sum())
            found.append(f"{table.names[j]!r} ({n_beyond:,}; the others from {inside.min():.3g} to {inside.max():.3g})")
        return some(found)


def find_outliers(table: Table) -> Outliers | None:
    """The gross outliers in columns of numbers, if there are any and enough rows are without."""
    numbers = np.flatnonzero(np.isin(table.kinds, ("continuous", "heavy-tailed")))
    rows = rows_of(table.values, spread(len(table.values), _MOST_ROWS))
    centre, widths = np.median(rows, axis=0), np.full(rows.shape[1], np.inf)
    for j in numbers:
        widths[j] = _limit(rows[:, j], float(centre[j]))
    candidates = np.abs(rows - centre) > widths
    if not candidates.any():
        return None
    widths[_related(rows, candidates, np.sign(rows - centre))] = np.inf
    outliers = Outliers(centre - widths, centre + widths)
    n_left, n = int((~outliers.rows(table.values)).sum()), len(table.values)
    return outliers if n_left < n and n_left >= min(_ROWS_LEFT, _SHARE_LEFT * n) else None


def _limit(column: np.ndarray, centre: float) -> float:
    """The distance from the median in the middle of the innermost gap; infinite if there is none."""
    distances = np.abs(column - centre)
    n, n_tail = len(column), max(int(_TAIL * len(column)), 20)
    most = min(int(_MOST * n), n - n_tail - 1)
    if most < _LEAST or np.median(distances) == 0:
        return np.inf
    sizes = -np.sort(-distances)[: most + n_tail + 1]
    for k in range(most, _LEAST - 1, -1):
        ratio = sizes[k - 1] / sizes[k] if sizes[k] > 0 else 1.0
        if ratio >= _WIDEST:
            tail = sizes[k : k + n_tail]
            inverse_index = float(np.log(tail / sizes[k + n_tail]).mean()) if sizes[k + n_tail] > 0 else np.inf
            if k * np.log(ratio) > -np.log(_CHANCE) * inverse_index:
                return float(np.sqrt(sizes[k - 1] * sizes[k]))
    return np.inf


def _related(rows: np.ndarray, candidates: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """(d,) bool: the candidates of which columns does another column go with?"""
    d = rows.shape[1]
    places = (rankdata(rows, axis=0) - 0.5) / len(rows) - 0.5
    farness = np.abs(places)
    largest = -float(ndtri(_RELATED / (6 * max(d - 1, 1))))  # two-sided, three tests
    found = np.zeros(d, dtype=bool)
    for j in np.flatnonzero(candidates.any(axis=0)):
        own, others = candidates[:, j], np.arange(d) != j
        are_also = candidates[own][:, others]  # rows with errors in several columns say nothing about distances
        deviates = [
            _deviates(places[own][:, others], places[:, others]),
            _deviates((places[own] * sides[own, j : j + 1])[:, others], places[:, others]),
            _deviates(np.where(are_also, np.nan, farness[own][:, others]), farness[:, others]),
        ]
        found[j] = max(float(np.abs(each).max(initial=0.0)) for each in deviates) > largest
    return found


def _deviates(chosen: np.ndarray, everything: np.ndarray) -> np.ndarray:
    """How far the means of chosen rows are from those of all, in standard deviations; NaN does not count.

    Deviations are those of all rows, or of the chosen ones where these vary more: with outliers of their own.
    """
    n_chosen = np.maximum(np.isfinite(chosen).sum(axis=0), 1)
    mean = everything.mean(axis=0)
    apart = np.nan_to_num(chosen - mean)
    means = apart.sum(axis=0) / n_chosen
    variance = np.square(apart).sum(axis=0) / n_chosen - means**2
    deviation = np.sqrt(np.maximum(variance, everything.var(axis=0)) / n_chosen)
    return np.asarray(means / np.where(deviation > 0, deviation, 1.0))
