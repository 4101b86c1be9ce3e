"""Local scores for columns of several kinds: additive regressions, each with the family of its target.

The score of x_j given x_P is the Laplace approximation of log p(x_j | x_P) that `grandag.gam.likelihood` maximises over
smoothing and other parameters, in the units of the table: a log density of numbers, a log probability of labels and
counts. Coefficients without a penalty have a flat prior in units of a standardised target and standardised inputs, so
that no score depends on the units of an input, and those of the target shift all of its scores alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2, norm

from grandag.evidence.config import EvidenceConfig
from grandag.evidence.interface import Parents, Scores
from grandag.gam import LikelihoodFit, LikelihoodTable

__all__ = ["AdditiveScores", "Regressions", "is_mixed"]

_COUNTABLE = frozenset({"binary", "categorical", "count"})
_FEW_ROWS = 1000
"""Rows that decide what is clear: fewer hold too little of labels that are rare."""
_SMOOTHEST = 4
"""Functions of a spline that are asked whether a variable promises anything."""
_STEPS = 200.0
"""Passes over the rows that a fit takes, in operations per squared number of coefficients."""
_KEPT = 8
"""Regressions of each child that are kept whole, for tests."""
_LARGEST_PROMISE = 37.0
"""Standard deviations from which the tail of the normal distribution is 0 in double precision."""


def is_mixed(kinds: Sequence[str]) -> bool:
    """Whether a table has labels or counts, which need regressions with their own families."""
    return not _COUNTABLE.isdisjoint(kinds)


class Regressions:
    """Some rows with their regressions, each made once."""

    def __init__(self, values: np.ndarray, kinds: Sequence[str]) -> None:
        self.n_rows = len(values)
        self._table = LikelihoodTable(values, kinds)
        self._values: dict[tuple[int, Parents], float] = {}
        self._losses: dict[tuple[int, Parents, Parents], float] = {}
        self._last: dict[int, list[LikelihoodFit]] = {}
        self.work = 0.0

    @property
    def n_fits(self) -> int:
        """Fits so far."""
        return len(self._values)

    def value(self, child: int, parents: Parents) -> float:
        """The score of a child given its parents."""
        key = child, parents
        if key not in self._values:
            fit = self._fit(child, parents)
            self._values[key] = fit.solution.criterion + self._table.target(child)[1]
        return self._values[key]

    def _fit(self, child: int, parents: Parents) -> LikelihoodFit:
        """The regression; of each child the last ones are kept, of the others their values."""
        kept = self._last.setdefault(child, [])
        for fit in kept:
            if fit.parents == parents:
                return fit
        fit = self._table.regress(child, parents)
        self.work += _STEPS * self.n_rows * len(fit.solution.beta) ** 2
        self._last[child] = [fit, *kept[: _KEPT - 1]]
        return fit

    def loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """beta' V^-1 beta / 2 - edf / 2 log n, with the coefficients of some parents and their covariance V.

        The first part is the log-likelihood that is lost to second order, the second the price of a parameter. Where
        labels are nearly determined it is too small (Hauck and Donner 1977): such a parent is then looked at closely,
        or comes back by its promise.
        """
        key = child, parents, dropped
        if key not in self._losses:
            fit = self._fit(child, parents)
            terms = [fit.parents.index(parent) for parent in dropped]
            price = 0.5 * float(fit.edf[terms].sum()) * float(np.log(self.n_rows))
            self._losses[key] = fit.wald(terms) / 2 - price
        return self._losses[key]

    def promises(self, child: int, parents: Parents, others: Sequence[int]) -> np.ndarray:
        """Rao's test of each of the others, as a normal deviate with the same tail."""
        fit = self._fit(child, parents)
        statistics = [fit.rao(other, _SMOOTHEST) for other in others]
        deviates = [norm.isf(chi2.sf(statistic, df) / 2) for statistic, df in statistics]
        return np.minimum(np.nan_to_num(deviates, posinf=_LARGEST_PROMISE), _LARGEST_PROMISE)


class AdditiveScores(Scores):
    """The local scores of one table with columns of several kinds; constant columns have none, and are no parents."""

    regressions: type[Regressions] = Regressions

    def __init__(
        self, values: np.ndarray, kinds: Sequence[str], config: EvidenceConfig, rng: np.random.Generator
    ) -> None:
        """`values` is the table (n, d), in the units of its columns, labels as codes."""
        n, d = values.shape
        super().__init__(d, config.cost_per_edge, 1)
        shuffled = values[rng.permutation(n)]
        varies = (values != values[0]).any(axis=0)
        n_few = _FEW_ROWS
        while n_few < n and not ((shuffled[:n_few] != shuffled[0]).any(axis=0) == varies).all():
            n_few *= 2
        used = np.flatnonzero(varies)
        self._place = {int(j): k for k, j in enumerate(used)}
        own_kinds = [kinds[j] for j in self._place]
        self._all = self.regressions(shuffled[:, used], own_kinds)
        self._few = self._all if n_few >= n else self.regressions(shuffled[:n_few, used], own_kinds)
        self.scale = self._all.n_rows / self._few.n_rows
        self._promises: dict[tuple[int, Parents], np.ndarray] = {}

    @property
    def work(self) -> float:
        """What all fits so far have taken, in operations, roughly."""
        return self._all.work + (0.0 if self._few is self._all else self._few.work)

    @property
    def work_per_fit(self) -> float:
        """What a fit on all rows has taken, on average."""
        return self._all.work / max(self._all.n_fits, 1)

    def n_rows_of(self, child: int) -> int:
        """All of them, for every child."""
        return self._all.n_rows

    def few(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Log density of few rows."""
        return self._value(self._few, child, parents)

    def full(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Log density of all rows."""
        return self._value(self._all, child, parents)

    def loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """What Wald's statistic says of the loss, see `Regressions.loss`."""
        return self._loss(self._all, child, parents, dropped)

    def few_loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """The same on few rows."""
        return self._loss(self._few, child, parents, dropped)

    def reaches(self, child: int, parents: Parents, near: Parents, gain: float) -> bool:
        """Whether all rows gain so much."""
        return self.full(child, parents) - self.full(child, near) >= gain

    def few_gain(self, child: int, parents: Parents, near: Parents, least: float) -> float:
        """What few rows gain."""
        return self.few(child, parents) - self.few(child, near)

    def flat(self, child: int, parents: Parents, near: Parents) -> frozenset[int]:
        """Parents whose loss few rows would not notice."""
        return frozenset(parent for parent in parents if self.few_loss(child, parents, (parent,)) <= 0)

    def may_hide(self, child: int, parents: Parents) -> bool:
        """No: of a sum of functions, each shows by itself."""
        return False

    def promise(self, child: int, parents: Parents) -> np.ndarray:
        """Rao's test of each variable as a further parent, as a normal deviate."""
        key = child, parents
        if key not in self._promises:
            result = np.full(self.n_variables, -np.inf)
            if child in self._place:
                inside = self._inside(parents)
                others = [j for j in self._place if j != child and j not in parents]
                result[others] = self._all.promises(self._place[child], inside, [self._place[j] for j in others])
            self._promises[key] = result
        return self._promises[key]

    def _inside(self, parents: Parents) -> Parents:
        return tuple(self._place[parent] for parent in parents if parent in self._place)

    def _value(self, rows: Regressions, child: int, parents: Parents) -> float:
        return rows.value(self._place[child], self._inside(parents)) if child in self._place else 0.0

    def _loss(self, rows: Regressions, child: int, parents: Parents, dropped: Parents) -> float:
        if child not in self._place:
            return 0.0
        return rows.loss(self._place[child], self._inside(parents), self._inside(dropped))
