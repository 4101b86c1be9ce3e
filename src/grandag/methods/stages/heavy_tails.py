"""Conditionals of columns with gross outliers: a regression of the rows without them, and the noise of all rows.

    x_j = mean + scale s t,    t of Student's distribution with nu degrees of freedom

Mean and scale, given the parents, are those of a conditional that was fitted without the outliers; s and nu are those
that make all rows likeliest, but for rows with outliers among the parents. So an outlier costs a model some nats, not
thousands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from grandag.diagnostics import Concern
from grandag.distributions import Gaussian, StudentT
from grandag.gam.families import LEAST_DF
from grandag.learned import Learned
from grandag.model import Conditional
from grandag.outliers import Outliers
from grandag.table import Table, rows_of, spread

__all__ = ["HeavyTailed", "built_heavy_tailed", "outlier_concern", "with_heavy_tails"]

_MOST_ROWS = 10_000


@dataclass(frozen=True)
class HeavyTailed:
    """A Gaussian conditional with Student's noise in the place of its own."""

    base: Conditional
    spread: float  # s
    degrees_of_freedom: float

    def given(self, parents: np.ndarray) -> StudentT:
        """The distribution given rows of the parents."""
        found = self.base.given(parents)
        return StudentT(found.mean, self.spread * found.scale, self.degrees_of_freedom)

    def is_consistent(self, n_parents: int) -> bool:
        """More degrees of freedom than the least, and a base that fits."""
        return self.spread > 0 and self.degrees_of_freedom >= LEAST_DF and self.base.is_consistent(n_parents)


def built_heavy_tailed(node: object, build: Callable[[object], Conditional]) -> HeavyTailed | None:
    """The conditional of which a file holds these parts, if they are such ones; `build` makes the base."""
    if not isinstance(node, dict) or set(node) != {"base", "spread", "degrees_of_freedom"}:
        return None
    return HeavyTailed(build(node["base"]), float(node["spread"]), float(node["degrees_of_freedom"]))


def with_heavy_tails(learned: Learned, table: Table, outliers: Outliers) -> Learned:
    """What was learned without outliers, with their columns of the kind "heavy-tailed"; `table` has all rows."""
    kinds = [
        replace(column, kind="heavy-tailed") if is_heavy else column
        for column, is_heavy in zip(learned.columns, outliers.columns, strict=True)
    ]
    learned = replace(learned, columns=tuple(kinds))
    if learned.conditionals is None:
        return learned
    rows = rows_of(table.values, spread(len(table.values), _MOST_ROWS))
    is_outlier = (rows < outliers.low) | (rows > outliers.high)
    conditionals = list(learned.conditionals)
    for j in np.flatnonzero(outliers.columns):
        parents = learned.dag[:, j]
        used = rows[~is_outlier[:, parents].any(axis=1)]
        found = conditionals[j].given(used[:, parents])
        if isinstance(found, Gaussian):
            spread_of_noise, degrees = _likeliest((used[:, j] - found.mean) / found.scale)
            conditionals[j] = HeavyTailed(conditionals[j], spread_of_noise, degrees)
    return replace(learned, conditionals=tuple(conditionals))


def _likeliest(noise: np.ndarray) -> tuple[float, float]:
    """s and nu of the likeliest s t for standardised residuals (n,)."""

    def negative(at: np.ndarray) -> float:
        distribution = StudentT(np.zeros(1), np.exp(at[:1]), LEAST_DF + math.exp(at[1]))
        return -float(distribution.log_density(noise).mean())

    bounds = [(-10.0, 10.0), (-10.0, 5.0)]
    found = minimize(negative, np.array([-0.3, 0.0]), method="L-BFGS-B", bounds=bounds).x
    return math.exp(found[0]), LEAST_DF + math.exp(found[1])


def outlier_concern(outliers: Outliers, table: Table) -> Concern:
    """What was not learned from, and how it can be; `table` has all rows."""
    n_left_out, n_rows = int(outliers.rows(table.values).sum()), len(table.values)
    message = (
        f"{n_left_out:,} of {n_rows:,} rows were not learned from: they have gross outliers that nothing in other "
        f"columns goes with, in {outliers.describe(table)}. If these values are right, keep them with outliers='keep' "
        "(--outliers keep); if they are errors, or stand for missing values, correct or leave out the rows."
    )
    names = tuple(np.array(table.names, dtype=object)[outliers.columns])
    return Concern("gross outliers", names, {"rows": n_left_out, "share": n_left_out / n_rows}, message)
