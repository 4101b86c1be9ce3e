"""Additive regressions with the family of their target as conditional distributions, for tables with labels or counts.

    eta_k = intercept_k + the sum over the parents of f_ik(x_i),    x_j ~ family(eta, theta)

A curve f_ik is kept at places of its parent in the table, and is straight between and beyond them; of labels there is a
height for each. Families and their parameters are those of `gam/families.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from grandag.distributions import Bernoulli, Categorical, Distribution, Gaussian, NegativeBinomial, StudentT
from grandag.gam import LikelihoodFit, LikelihoodTable
from grandag.gam.families import LEAST_DF
from grandag.kinds import KINDS, LABELLED
from grandag.table import Table, spread

__all__ = ["FamilyConditional", "TermCurve", "family_conditionals"]

_PLACES = 200
_APART = 1e-6
"""Places are at least this part of the parent's range apart: slopes between nearer ones would be rounding."""

_LEAST_PROBABILITY = 1e-12
"""No label is impossible."""

_MOST_ETA = 30.0


@dataclass(frozen=True)
class TermCurve:
    """What one parent adds to each of m predictors."""

    places: np.ndarray  # (g,) values of the parent, increasing
    heights: np.ndarray  # (g, m)
    has_labels: int

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(n, m); a label that was in no row adds nothing."""
        if self.has_labels:
            place = np.minimum(np.searchsorted(self.places, x), len(self.places) - 1)
            return np.where((self.places[place] == x)[:, None], self.heights[place], 0.0)
        left = np.clip(np.searchsorted(self.places, x) - 1, 0, len(self.places) - 2)
        share = (x - self.places[left]) / (self.places[left + 1] - self.places[left])
        return np.asarray(self.heights[left] + share[:, None] * (self.heights[left + 1] - self.heights[left]))

    def is_consistent(self, n_predictors: int) -> bool:
        """One height per place and predictor; a line needs two places."""
        fits = self.places.ndim == 1 and self.heights.shape == (len(self.places), n_predictors)
        return fits and len(self.places) >= 2 and bool((np.diff(self.places) > 0).all())


@dataclass(frozen=True)
class FamilyConditional:
    """One regression."""

    kind: int  # the place of the target's kind in KINDS
    intercepts: np.ndarray  # (m,)
    terms: tuple[TermCurve, ...]
    theta: np.ndarray
    codes: np.ndarray  # of the labels of a categorical target that were in some row
    n_labels: int
    mean: float  # where 0 is on the scale on which numbers were fitted, and its unit
    scale: float

    @classmethod
    def of(cls, fit: LikelihoodFit, table: Table) -> FamilyConditional:
        """The conditional of a regression."""
        kind, y = table.kinds[fit.target], table.values[:, fit.target]
        coefficients = fit.solution.beta.reshape(fit.problem.n_predictors, -1)
        terms = []
        for term, parent in enumerate(fit.parents):
            own = fit.problem.parent == term
            heights = fit.problem.X[:, own] @ coefficients[:, own].T
            terms.append(_curve(table.values[:, parent], heights, is_labelled=table.kinds[parent] in LABELLED))
        mean, scale = 0.0, 1.0
        if kind in ("continuous", "heavy-tailed"):  # what `prepare` of these families did
            low, mean, high = (float(quantile) for quantile in np.quantile(y, [0.25, 0.5, 0.75]))
            scale = (high - low) / 1.349 or float(y.std())
        return cls(
            kind=KINDS.index(kind),
            intercepts=coefficients[:, 0],
            terms=tuple(terms),
            theta=fit.theta,
            codes=np.unique(y) if kind == "categorical" else np.empty(0),
            n_labels=len(table.labels[fit.target]),
            mean=mean,
            scale=scale,
        )

    def given(self, parents: np.ndarray) -> Distribution:
        """The distribution given rows of the parents."""
        eta = np.tile(self.intercepts, (len(parents), 1))
        for term, column in zip(self.terms, parents.T, strict=True):
            eta += term(column)
        kind = KINDS[self.kind]
        if kind == "binary":
            return Bernoulli(np.clip(expit(eta[:, 0]), _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY))
        if kind == "categorical":
            return Categorical(self._probabilities(eta))
        if kind == "count":
            mean = np.exp(np.clip(eta[:, 0], -_MOST_ETA, _MOST_ETA))
            return NegativeBinomial(mean, math.exp(-float(self.theta[0])))
        mean = self.mean + self.scale * eta[:, 0]
        if kind == "heavy-tailed":
            width = self.scale * math.exp(float(self.theta[1]))
            return StudentT(mean, np.full(len(eta), width), LEAST_DF + math.exp(float(self.theta[0])))
        return Gaussian(mean, np.full(len(eta), self.scale * math.exp(float(self.theta[0]) / 2)))

    def _probabilities(self, eta: np.ndarray) -> np.ndarray:
        """(n, K) P(k) proportional to e^eta_k, eta_0 = 0, of the labels that were in some row."""
        p = np.full((len(eta), self.n_labels), _LEAST_PROBABILITY)
        found = softmax(np.column_stack([np.zeros(len(eta)), eta]), axis=1)
        p[:, self.codes.astype(int)] = np.maximum(found, _LEAST_PROBABILITY)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def is_consistent(self, n_parents: int) -> bool:
        """One curve per parent, with as many predictors as the family has."""
        m = self.intercepts.size
        if not 0 <= self.kind < len(KINDS) or self.intercepts.ndim != 1 or len(self.terms) != n_parents:
            return False
        kind = KINDS[self.kind]
        n_theta = {"binary": 0, "categorical": 0, "heavy-tailed": 2}.get(kind, 1)
        are_codes = self.codes.ndim == 1 and bool(np.isin(self.codes, np.arange(self.n_labels)).all())
        has_predictors = m == (len(set(self.codes.tolist())) - 1 if kind == "categorical" else 1) and m > 0
        has_shapes = self.theta.shape == (n_theta,) and are_codes and has_predictors
        return has_shapes and self.scale > 0 and all(term.is_consistent(m) for term in self.terms)


def _curve(x: np.ndarray, heights: np.ndarray, *, is_labelled: bool) -> TermCurve:
    places, rows = np.unique(x, return_index=True)
    if is_labelled:
        return TermCurve(places, heights[rows], 1)
    apart = _APART * float(places[-1] - places[0])
    kept = [0]
    for place in range(1, len(places)):
        if places[place] - places[kept[-1]] > apart:
            kept.append(place)
    chosen = np.array(kept)[spread(len(kept), _PLACES)]
    return TermCurve(places[chosen], heights[rows[chosen]], 0)


def family_conditionals(
    table: Table, adjacency: np.ndarray, children: Iterable[int] | None = None
) -> tuple[FamilyConditional, ...]:
    """The conditionals of some variables, or all, given their parents in a DAG, by regressions of `LikelihoodTable`."""
    regressions = LikelihoodTable(table, table.kinds)
    chosen = range(len(adjacency)) if children is None else children
    fits = (regressions.regress(int(j), np.flatnonzero(adjacency[:, j]).tolist()) for j in chosen)
    return tuple(FamilyConditional.of(fit, table) for fit in fits)
