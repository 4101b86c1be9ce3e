"""Reasons to doubt a graph, in plain words, with numbers and advice.

The noise of a variable is checked by its standardised residuals r, on at most 2,000 rows:

    dependence   additive regressions of r and of |r| on the parents: does their mean, or their size, follow a parent?
    Gaussianity  W of Shapiro and Wilk: 1 for Gaussian noise, 0.955 for uniform, 0.96 for Laplace, 0.83 for exponential

Long tables make trifles significant. A concern therefore needs both: a p-value below 0.001 after Bonferroni's
correction, and an effect that matters: more than 10 % of the variance of r or |r| explained, W below 0.97.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from grandag.gam import SplineTable
from grandag.table import MIN_ROWS, Table, constant_columns, same_columns, spread
from grandag.wording import counted

__all__ = [
    "Concern",
    "column_concerns",
    "concern_about",
    "constant_concerns",
    "copy_concerns",
    "graph_concerns",
    "instability_concerns",
    "isolated_concerns",
    "noise_checks",
    "noise_concerns",
    "overfitting_concerns",
    "spread_rows",
]

MAX_ROWS = 2000
"""Rows that the checks of columns and noise use, evenly spread over the table."""

_SIGNIFICANT = 0.001
_EXPLAINED = 0.1
_GAUSSIAN_W = 0.97
_NEAR = 0.99
_CLEAR, _SURE_CORRELATION = 0.5, 5.0
"""Correlation from which an isolated column clearly depends on another, and standard errors, 1 / sqrt(n), of it."""
_ROWS_PER_PARENT = 50
"""A curve spends up to nine degrees of freedom; with fewer rows than this, five per degree, it follows the noise."""

_PARTED = 0.5
"""Nats per row by which a variable's training likelihood has to exceed the held-out one."""
_SURE = 3.0
"""Standard errors of the held-out mean by which it has to."""

_KEPT, _MANY = 0.5, 0.2
"""Share of halves or refits up to which an edge is unstable, and share of such edges above which that is said."""

_SHOWN = 5
"""Names in one sentence; the others are in the numbers."""


@dataclass(frozen=True)
class Concern:
    """One reason to doubt the graph: its kind, the variables, the numbers, and a sentence with advice.

    An urgent one is also a Python warning at the end of the fit.
    """

    kind: str
    variables: tuple[str, ...]
    numbers: dict[str, Any]
    message: str
    is_urgent: bool = False


def spread_rows(values: np.ndarray) -> np.ndarray:
    """At most `MAX_ROWS` rows, evenly spread."""
    return values if len(values) <= MAX_ROWS else values[spread(len(values), MAX_ROWS)]


def noise_checks(
    values: np.ndarray,
    residuals: np.ndarray,
    adjacency: np.ndarray,
    names: Sequence[str],
    is_categorical: np.ndarray | None = None,
    free: np.ndarray | None = None,
) -> pd.DataFrame:
    """One row per variable with noise, from rows (n, d) of a table and their standardised residuals (n, d).

    Only rows that are `free` (n, d) of interventions on a variable say something about its noise; None: all.

    Columns: parents (how many), dependence_p_value (of the strongest of all tests, corrected), mean_explained and
    size_explained (parts of the variance of r and |r|), gaussian_w, gaussian_p_value, skewness, excess_kurtosis.
    Parents that are categorical (d,) enter with one indicator for each of their codes but the first.
    """
    from scipy import stats

    noisy = np.flatnonzero(~constant_columns(residuals)).tolist()
    categorical = np.zeros(len(names), dtype=bool) if is_categorical is None else is_categorical
    used = np.ones(residuals.shape, dtype=bool) if free is None else free
    dependence = _dependence(values, residuals, adjacency, noisy, categorical, used)
    records = []
    for j in noisy:
        r = residuals[used[:, j], j]
        z = (r - r.mean()) / r.std()
        w, p_value = stats.shapiro(z) if len(z) >= 3 else (1.0, 1.0)
        gaussian = float(w), float(p_value), float((z**3).mean()), float((z**4).mean() - 3)
        records.append((int(adjacency[:, j].sum()), *dependence[j], *gaussian))
    columns = ["parents", "dependence_p_value", "mean_explained", "size_explained", "gaussian_w", "gaussian_p_value",
               "skewness", "excess_kurtosis"]  # fmt: skip
    return pd.DataFrame(records, columns=columns, index=pd.Index([names[j] for j in noisy], name="variable"))


def _dependence(
    rows: np.ndarray,
    residuals: np.ndarray,
    adjacency: np.ndarray,
    noisy: Sequence[int],
    is_categorical: np.ndarray,
    used: np.ndarray,
) -> dict[int, tuple[float, float, float]]:
    """By variable: the corrected p-value, and the parts of the variances of r and |r| that the parents explain."""
    found = dict.fromkeys(noisy, (1.0, 0.0, 0.0))
    for j in noisy:
        own, r = rows[used[:, j]], residuals[used[:, j], j]
        if len(own) < MIN_ROWS:
            continue
        parents = _inputs(own, np.flatnonzero(adjacency[:, j] & ~constant_columns(own)), is_categorical)
        if parents.shape[1]:
            (p_mean, of_mean), (p_size, of_size) = _explained(parents, r), _explained(parents, np.abs(r))
            found[j] = (min(1.0, 2 * parents.shape[1] * min(p_mean, p_size)), of_mean, of_size)
    return found


def _inputs(rows: np.ndarray, parents: np.ndarray, is_categorical: np.ndarray) -> np.ndarray:
    """The columns of parents: numbers as they are, codes as indicators."""
    columns = [rows[:, :0]]
    for parent in parents:
        codes = rows[:, parent]
        columns.append(codes[:, None] == np.unique(codes)[1:] if is_categorical[parent] else codes[:, None])
    return np.hstack(columns).astype(np.float64)


def _explained(parents: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """The smallest p-value of the parents, and the part of the target's variance that they explain.

    In a table of their own: the cross-products of one table for all variables would be a matrix of (27 d)^2 numbers.
    """
    columns = np.column_stack([target, parents])
    if constant_columns(columns)[0]:
        return 1.0, 0.0
    table = Table(columns, tuple(map(str, range(columns.shape[1]))), has_own_names=False)
    fit = SplineTable(table).regress(0, range(1, columns.shape[1]))
    return float(fit.p_values().min()), max(0.0, 1 - fit.sigma2 / float(target.var(ddof=1)))


def noise_concerns(checks: pd.DataFrame, discrete: Sequence[str] = (), others: Sequence[str] = ()) -> list[Concern]:
    """Reasons to doubt the model that the checks of the noise give, worst variables first.

    That the noise of a discrete variable is not Gaussian goes without saying, and no transformation would cure it.
    The `others` have a distribution of their own, as counts have: their residuals are Gaussian if that fits.
    """
    cutoff = _SIGNIFICANT / max(len(checks), 1)
    strongest = checks[["mean_explained", "size_explained"]].max(axis=1)
    is_dependent = (checks["dependence_p_value"] < cutoff) & (strongest > _EXPLAINED)
    dependent = checks[is_dependent].loc[strongest[is_dependent].sort_values(ascending=False).index]
    is_far = (checks["gaussian_p_value"] < cutoff) & (checks["gaussian_w"] < _GAUSSIAN_W)
    is_far &= ~checks.index.isin(discrete)
    far = checks[is_far].sort_values("gaussian_w")
    is_other = far.index.isin(others)
    return [
        *concern_about(
            "dependent noise",
            dependent[["dependence_p_value", "mean_explained", "size_explained"]],
            lambda row: (
                f"they explain {row['mean_explained']:.0%} of its residuals, {row['size_explained']:.0%} of their size"
            ),
            "The noise is not independent of the parents: {}. A hidden common cause, a wrong or missing edge, noise "
            "that is not additive, or a curve that fits badly: plot residuals(X) against the parents, and see whether "
            "another method finds the same edges.",
        ),
        *concern_about(
            "non-Gaussian noise",
            far[~is_other][["gaussian_w", "gaussian_p_value", "skewness", "excess_kurtosis"]],
            lambda row: f"skewness {row['skewness']:.1f}, excess kurtosis {row['excess_kurtosis']:.1f}",
            "The residuals are far from Gaussian for {}: directions that rest on the likelihood may be wrong. "
            "Transform these columns (the logarithm of positive, skewed ones) or look for outliers, and fit again.",
        ),
        *concern_about(
            "another distribution",
            far[is_other][["gaussian_w", "gaussian_p_value", "skewness", "excess_kurtosis"]],
            lambda row: f"skewness {row['skewness']:.1f}, excess kurtosis {row['excess_kurtosis']:.1f}",
            "The values are not spread as the distribution of their kind says, for {}: too many zeros, values of "
            "another source, or another kind of column. Look at them, and say by kinds (--kinds) what they are.",
        ),
    ]


def imperfect_concerns(table: Table, adjacency: np.ndarray) -> list[Concern]:
    """Targets that depend on their parents in their own regimes, as they would not after perfect interventions."""
    if table.regimes is None or table.regimes.kind != "perfect":
        return []
    names, is_categorical = table.names, np.array(table.kinds) == "categorical"
    pairs = [(int(regime), int(j)) for regime, j in np.argwhere(table.regimes.targets) if adjacency[:, j].any()]
    found = {}
    for regime, j in pairs:
        rows = spread_rows(table.values[table.regimes.of_row == regime])
        parents = _inputs(rows, np.flatnonzero(adjacency[:, j] & ~constant_columns(rows)), is_categorical)
        if parents.shape[1] and len(rows) >= MIN_ROWS:
            p_value, share = _explained(parents, rows[:, j])
            if p_value < _SIGNIFICANT / (len(pairs) * parents.shape[1]) and share > _EXPLAINED:
                found[regime, j] = {"explained": share, "p_value": p_value, "rows": float(len(rows))}
    titles = table.regimes.titles(names)
    labels = [names[j] if titles[regime] == names[j] else f"{names[j]} of {titles[regime]}" for regime, j in found]
    numbers = pd.DataFrame(found.values(), index=labels, columns=["explained", "p_value", "rows"])
    concerns = concern_about(
        "imperfect interventions",
        numbers.sort_values("explained", ascending=False),
        lambda row: f"{row['explained']:.0%} explained by its parents in {row['rows']:.0f} rows of its regime",
        "Targets still depend on their parents in their own regimes, as they would not after perfect interventions: "
        "{}. Either the interventions changed these variables and did not cut them off (kind='imperfect', "
        "--intervention-kind imperfect), or some of these edges point the other way.",
    )
    return [replace(concern, variables=tuple(dict.fromkeys(names[j] for _, j in found))) for concern in concerns]


def graph_concerns(adjacency: np.ndarray, names: Sequence[str], n_rows: int | np.ndarray) -> list[Concern]:
    """Variables with more parents than the rows can tell apart, of which there may be as many for each (d,)."""
    n_parents = pd.Series(adjacency.sum(axis=0), index=list(names)).sort_values(ascending=False)
    rows = pd.Series(np.broadcast_to(n_rows, len(names)), index=list(names))[n_parents.index]
    many = n_parents[rows < _ROWS_PER_PARENT * n_parents]
    table = pd.DataFrame({"parents": many, "rows_per_parent": rows[many.index] / many})
    return concern_about(
        "few rows per parent",
        table,
        lambda row: (
            f"{counted(int(row['parents']), 'parent')}, {counted(round(row['rows_per_parent']), 'row')} for each"
        ),
        f"There are fewer than {_ROWS_PER_PARENT} rows per parent for {{}}: some of these edges may be chance. Get "
        "more rows, use fewer columns, or forbid impossible edges.",
    )


def overfitting_concerns(training: np.ndarray, held_out: np.ndarray, names: Sequence[str]) -> list[Concern]:
    """Variables whose density is far higher on rows that were learned from (n, d) than on others (m, d).

    Both are logarithms of densities; NaN where an intervention set the variable.
    """
    seen, unseen = (pd.DataFrame(densities, columns=list(names)) for densities in (training, held_out))
    table = pd.DataFrame({"training": seen.mean(), "held_out": unseen.mean()})
    gap = table["training"] - table["held_out"]
    error: pd.Series = unseen.std(ddof=0) / np.sqrt(unseen.count())
    parted = gap[gap > np.maximum(_PARTED, _SURE * error)].sort_values(ascending=False)
    return concern_about(
        "overfitting",
        table.loc[parted.index],
        lambda row: f"{row['training']:.2f} in training, {row['held_out']:.2f} held out",
        "The log-likelihood per row is far higher in training than on rows held out: {}. Scores, samples and effects "
        "of new rows are less certain than the fit looks: get more rows, use fewer columns, or simpler functions.",
    )


def instability_concerns(
    shares: np.ndarray, names: Sequence[str], found: str, advice: str, *, undirected: np.ndarray | None = None
) -> list[Concern]:
    """A concern, if many of the edges are unstable; `shares` (d, d) are NaN where there is no edge.

    `found` says what an edge is in, or what keeps it, at most half of the time, and `advice` what to do.
    """
    edges, n_edges = np.argwhere(shares <= _KEPT), int((~np.isnan(shares)).sum())
    if len(edges) <= _MANY * n_edges:
        return []
    weakest = sorted(edges.tolist(), key=lambda edge: shares[tuple(edge)])
    arrows = np.full(shares.shape, "->") if undirected is None else np.where(undirected, "--", "->")
    table = pd.DataFrame(
        {"kept": [shares[i, j] for i, j in weakest]},
        index=[f"{names[i]} {arrows[i, j]} {names[j]}" for i, j in weakest],
    )
    (concern,) = concern_about(
        "unstable edges",
        table,
        lambda row: f"{row['kept']:.0%}",
        f"{len(edges)} of {counted(n_edges, 'edge')} {'is' if len(edges) == 1 else 'are'} {found}: {{}}. {advice}",
    )
    return [replace(concern, variables=tuple(dict.fromkeys(names[k] for edge in weakest for k in edge)))]


def constant_concerns(values: np.ndarray, names: Sequence[str]) -> list[Concern]:
    """Columns that hold one value only."""
    constant = tuple(names[int(j)] for j in np.flatnonzero(constant_columns(values)))
    if not constant:
        return []
    message = f"Constant columns are isolated nodes of the graph: {', '.join(map(repr, constant))}."
    return [Concern("constant columns", constant, {}, message, is_urgent=True)]


def copy_concerns(table: Table) -> list[Concern]:
    """Pairs of varying columns that are the same up to units."""
    return [
        Concern(
            "copied columns",
            pair,
            {},
            f"Columns {pair[0]!r} and {pair[1]!r} hold the same numbers, up to units: edges from one of them may as "
            "well be from the other. Leave one out.",
            is_urgent=True,
        )
        for pair in same_columns(table)
    ]


def column_concerns(values: np.ndarray, names: Sequence[str], copies: Sequence[tuple[str, ...]] = ()) -> list[Concern]:
    """Pairs of varying columns that are nearly the same, up to a line or to any increasing or decreasing function.

    Pairs in `copies` have a concern of their own.
    """
    correlation = _correlations(values)
    near = [(names[i], names[j], correlation[i, j]) for i, j in np.argwhere(np.triu(correlation) > _NEAR).tolist()]
    pairs = [pair for pair in near if pair[:2] not in copies]
    table = pd.DataFrame(
        {"correlation": [value for *_, value in pairs]}, index=[f"{first} and {second}" for first, second, _ in pairs]
    )
    concerns = concern_about(
        "near-duplicate columns",
        table.sort_values("correlation", ascending=False),
        lambda row: f"correlation {row['correlation']:.4f}",
        "Columns are nearly the same: {}. Edges of one may as well be of the other: leave one of each pair out.",
    )
    involved = tuple(dict.fromkeys(name for pair in pairs for name in pair[:2]))
    return [Concern(concern.kind, involved, concern.numbers, concern.message) for concern in concerns]


def isolated_concerns(values: np.ndarray, adjacency: np.ndarray, names: Sequence[str]) -> list[Concern]:
    """Nodes without edges whose columns clearly depend on another."""
    correlation = _correlations(values)
    is_isolated = ~(adjacency | adjacency.T).any(axis=0)
    nearest = correlation.argmax(axis=0)
    largest = pd.Series(correlation.max(axis=0, initial=0.0), index=list(names))
    clear = largest[is_isolated & (largest > max(_CLEAR, _SURE_CORRELATION / np.sqrt(len(values))))]
    partners = {name: names[int(nearest[k])] for k, name in enumerate(names)}
    table = pd.DataFrame({"correlation": clear.sort_values(ascending=False)})
    return concern_about(
        "isolated columns",
        table,
        lambda row: f"correlation {row['correlation']:.2f} with {partners[str(row.name)]!r}",
        "Columns have no edge although they clearly depend on others: {}. Unless knowledge forbids these edges, the "
        "method lost them, as may happen among columns that say nearly the same: leave some of those out, and see "
        "whether another method connects them.",
    )


def _correlations(values: np.ndarray) -> np.ndarray:
    """(d, d) absolute correlation of values or of ranks, whichever is larger; 0 for a column with itself or a constant.

    By some rows; 0 if they are too few.
    """
    from scipy.stats import rankdata

    rows = np.asarray(spread_rows(values), dtype=np.float64)
    found = np.zeros((rows.shape[1],) * 2)
    varies = np.flatnonzero(~constant_columns(rows))
    if len(varies) >= 2 and len(rows) >= MIN_ROWS:
        columns = rows[:, varies] / np.abs(rows[:, varies]).max(axis=0)  # squares of huge numbers would be infinite
        linear = np.abs(np.corrcoef(columns, rowvar=False))
        monotone = np.abs(np.corrcoef(rankdata(columns, axis=0), rowvar=False))
        found[np.ix_(varies, varies)] = np.maximum(linear, monotone)
        np.fill_diagonal(found, 0.0)
    return found


def concern_about(
    kind: str, table: pd.DataFrame, describe: Callable[[pd.Series], str], message: str, *, is_urgent: bool = False
) -> list[Concern]:
    """One concern about the rows of a table, worst first; none if there are no rows."""
    if table.empty:
        return []
    shown = [f"{name!r} ({describe(row)})" for name, row in table.head(_SHOWN).iterrows()]
    others = f" and {len(table) - _SHOWN} more" if len(table) > _SHOWN else ""
    numbers = {str(name): {str(key): float(value) for key, value in row.items()} for name, row in table.iterrows()}
    return [Concern(kind, tuple(numbers), numbers, message.format(", ".join(shown) + others), is_urgent)]
