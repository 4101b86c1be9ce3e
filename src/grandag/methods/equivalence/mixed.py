"""Tables with labels or counts: what PC tests and GES scores there, by additive regressions with families of their own.

Two columns are independent given others if neither regression needs the other column. Rao's score test asks that of the
regression without it: it is the likelihood-ratio test to first order, chi-squared, and takes one fit for all columns
that might be added. The likelihood-ratio test itself takes one more fit for each of them: 2 (log L_1 - log L_0), with
the effective degrees of freedom that the column brings, one at least. With p_1 and p_2 of the two directions, which
test one hypothesis,

    p = min(2 min(p_1, p_2), max(p_1, p_2))

is valid however they depend on each other (Tsagris, Borboudakis, Lagani and Tsamardinos, "Constraint-based causal
discovery with mixed data", 2018).

The score of a column given others is the BIC of its regression, log L - penalty / 2 log(n) edf, of log densities and
log probabilities in the units of the table. That of a DAG is then a log-likelihood of the whole table with a price per
degree of freedom, comparable between any two DAGs. Equivalent DAGs have *similar* scores, not equal ones: no joint
distribution has all of its conditionals in these families, so that what is left of a difference says something about
directions, and the greedy search may end in another class than one with a score that is equal within classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.stats import chi2, norm

from grandag.gam import LikelihoodFit, LikelihoodTable
from grandag.graph import target_groups
from grandag.interventions import Regimes
from grandag.methods.stages.family_conditionals import FamilyConditional, family_conditionals
from grandag.table import Table, TableError, constant_columns

__all__ = ["MOST_CONDITIONS", "MixedScore", "MixedTests", "free_conditionals", "free_parts"]

MOST_CONDITIONS = 3
"""Variables that a test conditions on, unless the user says otherwise: a fit takes a hundredth of a second or more."""
_FUNCTIONS = 4
"""Smoothest functions of a number in a test."""
_LARGEST_Z = 37.0
"""From here on the tail of the normal distribution is 0 in double precision."""


class MixedTests:
    """Tests of independence between columns of any kind."""

    def __init__(self, table: Table, *, by_ratios: bool = False) -> None:
        """By likelihood ratios, or by scores."""
        self.n_variables = len(table.names)
        self._regressions = LikelihoodTable(table.values, table.kinds)
        self._p_values: dict[tuple[int, tuple[int, ...]], dict[int, float]] = {}
        self._fits: dict[tuple[int, tuple[int, ...]], tuple[float, float]] = {}
        self._by_ratios = by_ratios

    def p_value(self, first: int, second: int, given: tuple[int, ...]) -> float:
        """Of the independence of two columns given others."""
        if self._by_ratios:
            p_1, p_2 = self._ratio(first, second, given), self._ratio(second, first, given)
        else:
            p_1, p_2 = self._one_way(first, given)[second], self._one_way(second, given)[first]
        return min(2 * min(p_1, p_2), max(p_1, p_2))

    def z(self, first: int, second: int, given: tuple[int, ...]) -> float:
        """The normal deviate with this p-value on both sides."""
        return min(float(norm.isf(self.p_value(first, second, given) / 2)), _LARGEST_Z)

    def _one_way(self, target: int, given: tuple[int, ...]) -> dict[int, float]:
        """Rao's test of every other column in the regression of one on the given ones."""
        key = target, given
        if key not in self._p_values:
            fit = self._regressions.regress(target, given)
            others = set(range(self.n_variables)) - {target, *given}
            self._p_values[key] = {other: _p_value(fit, other) for other in sorted(others)}
        return self._p_values[key]

    def _ratio(self, target: int, other: int, given: tuple[int, ...]) -> float:
        """The likelihood-ratio test of one more column in the regression of another on the given ones."""
        before, edf_before = self._fit(target, given)
        after, edf_after = self._fit(target, tuple(sorted((*given, other))))
        return float(chi2.sf(max(2 * (after - before), 0.0), max(edf_after - edf_before, 1.0)))

    def _fit(self, target: int, parents: tuple[int, ...]) -> tuple[float, float]:
        """log L and the effective degrees of freedom of a regression."""
        key = target, parents
        if key not in self._fits:
            fit = self._regressions.regress(target, parents)
            self._fits[key] = fit.log_likelihood, fit.total_edf
        return self._fits[key]

    def test_pairs(
        self,
        first: int,
        pairs: np.ndarray,
        adjacent: np.ndarray,
        size: int,
        smallest: np.ndarray,
        separators: np.ndarray,
    ) -> int:
        """Test `first` with each second > first of the pairs, given each set of `size` adjacent nodes.

        What `correlate_pairs` does with partial correlations: keeps the smallest z of each pair and the set that gave
        it, and returns the number of tests.
        """
        n_tests = 0
        for second in (np.flatnonzero(pairs[first, first + 1 :]) + first + 1).tolist():
            for given in _conditions(adjacent, first, second, size):
                n_tests += 1
                z = self.z(first, second, given)
                if z < smallest[first, second]:
                    smallest[first, second] = z
                    separators[first, second] = -1
                    separators[first, second, : len(given)] = given
        return n_tests


def _conditions(adjacent: np.ndarray, first: int, second: int, size: int) -> list[tuple[int, ...]]:
    """Sets of so many nodes adjacent to the first, then those adjacent to the second, each once."""
    found: dict[tuple[int, ...], None] = {}
    for centre in (first, second):
        candidates = [node for node in np.flatnonzero(adjacent[centre]).tolist() if node not in (first, second)]
        found.update(dict.fromkeys(combinations(candidates, size)))
    return list(found)


def _p_value(fit: LikelihoodFit, other: int) -> float:
    statistic, df = fit.rao(other, _FUNCTIONS)
    return float(chi2.sf(statistic, df))


class MixedScore:
    """The BIC of additive regressions with the families of their targets."""

    def __init__(self, table: Table, penalty: float = 1.0, n_in_all: int | None = None) -> None:
        self.n_variables = len(table.names)
        self._regressions = LikelihoodTable(table.values, table.kinds)
        self._price = penalty / 2 * math.log(len(table.values) if n_in_all is None else n_in_all)

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """log L - penalty / 2 log(n) edf of one node."""
        fit = self._regressions.regress(node, parents)
        return fit.log_likelihood - self._price * fit.total_edf


def free_parts(table: Table) -> tuple[np.ndarray, list[Table]]:
    """The group of each variable (d,), and for each group the table of the rows that do not target its variables."""
    if table.regimes is None:
        return np.zeros(len(table.names), dtype=np.intp), [table]
    groups = target_groups(table.regimes.targets[table.regimes.counts > 0])
    _, first = np.unique(groups, return_index=True)
    return groups, [_free_part(table, table.regimes, variable) for variable in first.tolist()]


def _free_part(table: Table, regimes: Regimes, variable: int) -> Table:
    """The rows that do not target a variable."""
    part = table.take(np.flatnonzero(regimes.are_free(variable)))
    for j in np.flatnonzero(constant_columns(part.values)):
        name, target = table.names[j], table.names[variable]
        raise TableError(
            f"Column {name!r} holds one value in all rows that do not intervene on {target!r}: leave out one of the "
            "two (--exclude)."
        )
    return part


def free_conditionals(parts: Sequence[Table], groups: np.ndarray, dag: np.ndarray) -> tuple[FamilyConditional, ...]:
    """Each variable given its parents, by the rows of its group's part."""
    found: dict[int, FamilyConditional] = {}
    for group, part in enumerate(parts):
        own = np.flatnonzero(groups == group).tolist()
        found.update(zip(own, family_conditionals(part, dag, own), strict=True))
    return tuple(found[j] for j in range(len(groups)))
