"""What a table says against the graphs that are learned from it, whatever the method: rows, columns, their order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from grandag.diagnostics import MAX_ROWS, Concern, concern_about
from grandag.table import MANY_ROWS, Table, in_double, rows_of, spread
from grandag.wording import counted

__all__ = ["discrete_columns", "order_concerns", "rare_rows", "table_concerns"]

_FEW_VALUES = 10
_COMMON = 0.95
"""A column is nearly constant if one value is in more than this share of its rows."""

_REPEATED = 0.02
_ALIKE = 0.25
"""Correlation of residuals with those of the next row that matters."""

_FURTHER, _INDEPENDENT = 10, 0.35
"""Rows further on, and minus the correlation of changes, by which a sorted table is told from a time series."""

_SURE = 5.0
"""Standard errors of such a correlation, 1 / sqrt(n), that chance does not reach."""


def discrete_columns(values: np.ndarray) -> np.ndarray:
    """is_discrete[j]: does column j have few distinct values, each in many rows?"""
    return _are_discrete(_distinct_values(values), len(values))


def _are_discrete(distinct: Sequence[np.ndarray | None], n_rows: int) -> np.ndarray:
    limit = min(_FEW_VALUES, n_rows // 10)
    return np.array([some is not None and 1 < len(some) <= limit for some in distinct], dtype=bool)


def _distinct_values(values: np.ndarray) -> list[np.ndarray | None]:
    """The values of each column that has few; None for all others, most of which the first rows tell."""
    found: list[np.ndarray | None] = [np.empty(0)] * values.shape[1]
    for block in in_double(values):
        for j, before in enumerate(found):
            if before is not None:
                seen = np.union1d(before, block[:, j])
                found[j] = seen if len(seen) <= _FEW_VALUES else None
        if all(some is None for some in found):
            break
    return found


def table_concerns(table: Table) -> list[Concern]:
    """Reasons to doubt any graph of this table."""
    names, values = table.names, table.values
    distinct = _distinct_values(values)
    is_discrete = _are_discrete(distinct, len(values))
    one_hot = list(_one_hot_groups(values, distinct))
    near_constant = _near_constant_concerns(values, names)
    known = {names[position] for group in one_hot for position in group}
    known |= {name for concern in near_constant for name in concern.variables}
    is_number = np.array(table.kinds) == "continuous"  # others have a distribution that fits them
    n_values = {
        names[j]: len(some) for j, some in enumerate(distinct) if some is not None and is_discrete[j] and is_number[j]
    }
    return [
        *_wide_concerns(values),
        *([] if is_discrete.all() else _repetition_concerns(values)),
        *_identifier_concerns(values, names),
        *near_constant,
        *_one_hot_concerns(one_hot, names),
        *_discrete_concerns({name: n for name, n in n_values.items() if name not in known}),
    ]


def _wide_concerns(values: np.ndarray) -> list[Concern]:
    n, d = values.shape
    if d <= n:
        return []
    message = (
        f"The table has {counted(d, 'column')} but only {counted(n, 'row')}: every column can be explained by others "
        "by chance. Use fewer columns (--columns), or knowledge of which edges are possible."
    )
    return [Concern("more columns than rows", (), {"rows": n, "columns": d}, message, is_urgent=True)]


def _repetition_concerns(values: np.ndarray) -> list[Concern]:
    """Rows that repeat others, where some column could tell them apart."""
    n = len(values)
    n_repeated = n - len(np.unique(values, axis=0)) if n <= MANY_ROWS else _estimated_repetitions(values)
    if n_repeated <= _REPEATED * n:
        return []
    message = (
        f"{'About ' if n > MANY_ROWS else ''}{n_repeated:,} of {n:,} rows repeat another row: p-values and scores "
        "count them as new evidence. Drop them if they are copies of one observation."
    )
    return [Concern("repeated rows", (), {"repeated": n_repeated, "rows": n}, message)]


def _estimated_repetitions(values: np.ndarray) -> int:
    """How many rows repeat another, from a sample that no repetition can leave: rows with one remainder of a hash."""
    n_parts = -(-len(values) // MANY_ROWS)
    hashes = np.concatenate([some[some % n_parts == 0] for some in map(_hashes, in_double(values))])
    return n_parts * (len(hashes) - len(np.unique(hashes)))


def _hashes(rows: np.ndarray) -> np.ndarray:
    """64 bits for each row: exclusive or, multiplication and shift, column after column."""
    found = np.zeros(len(rows), np.uint64)
    for column in (rows + 0.0).T:  # 0 and -0 are the same number
        found = (found ^ np.ascontiguousarray(column).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(32)
    return found


def _identifier_concerns(values: np.ndarray, names: Sequence[str]) -> list[Concern]:
    """Columns that go up or down by the same step from row to row."""
    found = tuple(names[int(j)] for j in np.flatnonzero(_evenly_stepped(values)))
    if not found:
        return []
    message = (
        f"{_listed(found)} count{'s' if len(found) == 1 else ''} the rows: a number of the row is no variable. Leave "
        "it out (--exclude); if it is the time, rows are not independent."
    )
    return [Concern("running number", found, {}, message, is_urgent=True)]


def _evenly_stepped(values: np.ndarray) -> np.ndarray:
    """is_even[j]: does column j go up or down by the same step from row to row, but for rounding?"""
    size = np.maximum(np.abs(values.min(axis=0)), np.abs(values.max(axis=0)))
    rounding = 2.0 * np.finfo(values.dtype).eps * size
    low, high = np.full(len(size), np.inf), np.full(len(size), -np.inf)
    before = np.empty((0, len(size)))
    for block in in_double(values):
        steps = np.diff(np.concatenate([before, block]), axis=0)
        low, high, before = np.minimum(low, steps.min(axis=0)), np.maximum(high, steps.max(axis=0)), block[-1:]
        largest = np.maximum(np.abs(low), np.abs(high))
        is_even = (high - low <= 1e-9 * largest + rounding) & (low * high >= 0) & (largest > 0)
        if not (is_even | (largest == 0)).any():
            break
    return np.asarray(is_even)


def rare_rows(values: np.ndarray) -> np.ndarray:
    """Of each column that is nearly constant, the number of rows without its commonest value; infinite for others."""
    shares = np.array(_largest_shares(values))
    return np.where(shares > _COMMON, np.rint((1 - shares) * len(values)), np.inf)


def _near_constant_concerns(values: np.ndarray, names: Sequence[str]) -> list[Concern]:
    shares = {name: share for name, share in zip(names, _largest_shares(values), strict=True) if share > _COMMON}
    table = pd.DataFrame({"share": pd.Series(shares, dtype=float).sort_values(ascending=False)})
    return concern_about(
        "near-constant columns",
        table,
        lambda row: f"one value in {row['share']:.1%} of the rows",
        "Columns are nearly constant: {}. The few other rows decide all about them, and give them likelihoods without "
        "meaning: leave them out (--exclude), or get more rows in which they differ.",
        is_urgent=True,
    )


def _largest_shares(values: np.ndarray) -> list[float]:
    """The share of rows with the commonest value of each column; of many rows, with the commonest in a sample."""
    commonest = []
    for column in rows_of(values, spread(len(values), MANY_ROWS)).T:
        found, counts = np.unique(column, return_counts=True)
        commonest.append(found[counts.argmax()])
    counts = np.sum([(block == commonest).sum(axis=0) for block in in_double(values)], axis=0)
    return [float(share) for share in counts / len(values)]


def _one_hot_groups(values: np.ndarray, distinct: Sequence[np.ndarray | None]) -> Iterator[list[int]]:
    """Groups of three or more columns of 0 and 1 of which exactly one is 1 in every row."""
    candidates = [j for j, some in enumerate(distinct) if some is not None and np.array_equal(some, [0, 1])]
    if not candidates:
        return
    together = np.zeros((values.shape[1],) * 2)  # rows in which both columns are 1
    place = np.ix_(candidates, candidates)
    for block in in_double(values):
        together[place] += block[:, candidates].T @ block[:, candidates]
    while candidates:
        group, rest = [candidates[0]], list[int]()
        for j in candidates[1:]:
            (rest if together[group, j].any() else group).append(j)
        if len(group) > 2 and together[group, group].sum() == len(values):
            yield group
        else:
            rest = candidates[1:]
        candidates = rest


def _one_hot_concerns(groups: Iterable[Sequence[int]], names: Sequence[str]) -> list[Concern]:
    return [
        Concern(
            "one-hot columns",
            tuple(names[j] for j in group),
            {},
            f"Exactly one of {_listed([names[j] for j in group])} is 1 in every row: together they are one variable, "
            "and each follows from the others without noise. Leave all but one out (--exclude), or keep the category "
            "as one column of labels.",
            is_urgent=True,
        )
        for group in groups
    ]


def _discrete_concerns(n_values: dict[str, int]) -> list[Concern]:
    return concern_about(
        "discrete columns",
        pd.DataFrame({"values": pd.Series(n_values, dtype=float).sort_values()}),
        lambda row: f"{row['values']:.0f} values",
        "Columns have few distinct values: {}. They are taken for continuous: edges between discrete columns, and "
        "directions of their edges, may be wrong. No transformation helps: say what they are (--kinds) to a method "
        "that makes use of it, treat them as causes only, by knowledge (roots), or leave them out.",
    )


def order_concerns(
    residuals: np.ndarray, names: Sequence[str], known: Collection[str] = (), free: np.ndarray | None = None
) -> list[Concern]:
    """Is the noise of a row like that of the next one? Standardised residuals (n, d), in the order of the table.

    In a sorted table it is as much like that of a row further on, and changes from row to row are those of independent
    noise, whose correlation is -1/2. Of columns in `known` it is no wonder. Rows that are not `free` (n, d) of
    interventions on a variable are left out.
    """
    r = residuals[:MAX_ROWS]
    columns = [r[:, j : j + 1] if free is None else r[free[: len(r), j], j : j + 1] for j in range(r.shape[1])]

    def each(correlation: Callable[[np.ndarray], np.ndarray]) -> pd.Series:
        return pd.Series([float(correlation(column)[0]) for column in columns], index=list(names))

    alike = each(lambda r: _correlation(r, 1))
    surely = np.array([_SURE / np.sqrt(max(len(column), 1)) for column in columns])
    is_alike = (alike > np.maximum(_ALIKE, surely)) & ~alike.index.isin(list(known))
    changes = each(lambda r: _correlation(np.diff(r, axis=0), 1))
    is_sorted = (each(lambda r: _correlation(r, _FURTHER)) > alike / 2) & (changes < -_INDEPENDENT)
    return [
        *concern_about(
            "sorted rows",
            pd.DataFrame({"correlation": alike[is_alike & is_sorted].sort_values(ascending=False)}),
            lambda row: f"correlation {row['correlation']:.2f}",
            "Residuals are alike over long stretches of rows: {}. The table seems to be sorted by something that the "
            "graph does not explain, a class or a source, which is then a common cause of these columns. Add it as a "
            "column, or fit each group on its own; to shuffle the rows only hides it.",
        ),
        *concern_about(
            "rows in order",
            pd.DataFrame({"correlation": alike[is_alike & ~is_sorted].sort_values(ascending=False)}),
            lambda row: f"correlation {row['correlation']:.2f}",
            "Residuals are like those of the next row: {}. The rows seem to be in the order of time, or of place; "
            "methods take them for independent, so that p-values are too small. Take differences of time series, add "
            "earlier values as columns, or use every k-th row.",
        ),
    ]


def _correlation(columns: np.ndarray, lag: int) -> np.ndarray:
    """Of each value with the one so many rows further on, by column; 0 for a constant column or too few rows."""
    if len(columns) <= lag + 1:
        return np.zeros(columns.shape[1])
    spread = columns.std(axis=0)
    z = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray((z[lag:] * z[:-lag]).mean(axis=0))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
