"""The boundary for data: tables of any kind in, finite numbers with names out, or one clear sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grandag.imputation import fill_in, from_own_column
from grandag.incoming import MOST_VARIABLES, TableError, suggestion
from grandag.interventions import INTERVENTION_KINDS, Regimes, as_regimes
from grandag.kinds import (
    KINDS,
    LABELLED,
    Column,
    ColumnKind,
    kinds_by_name,
    labels_as_numbers,
    note_of_kinds,
    of_labels,
    of_numbers,
    whole_columns,
)
from grandag.wording import some

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "KINDS",
    "LABELLED",
    "MANY_ROWS",
    "MIN_ROWS",
    "InterventionError",
    "KindError",
    "Scaling",
    "Table",
    "TableError",
    "as_frame",
    "as_table",
    "blocks",
    "check_unique",
    "constant_columns",
    "count_held_out",
    "draw_rows",
    "in_double",
    "is_number",
    "not_numbers",
    "note_of_rows",
    "quartiles",
    "rows_of",
    "same_columns",
    "split_rows",
    "split_table",
    "spread",
    "suggestion",
    "without_targets",
]  # fmt: skip

MIN_ROWS = 10
"""Below this there is nothing to hold out; hundreds of rows are needed for a graph worth reading."""

MANY_ROWS = 1 << 17
"""Where not all rows of a table have to be looked at, so many of them stand for all."""

_LARGEST, _SMALLEST = 1e120, 1e-120
"""Squares of numbers beyond these, and sums of such squares, leave the range of double precision."""

_TIMES = ("date", "time", "duration", "period")
"""How the names of types of dates and times begin: of pandas, polars and Arrow."""

_MOST_SHARES = 20
"""Columns whose shares of missing values a note lists."""

_SAME = 1e-6
"""Standardised columns that differ by less than this everywhere are copies of each other."""


class KindError(TableError):
    """A column is of a kind that cannot be used here."""


class InterventionError(TableError):
    """Interventions are of a kind that cannot be used here."""


@dataclass(frozen=True)
class Table:
    """Finite numbers (n, d) with column names.

    Labels are codes: `labels[j][k]` is what the code k of a binary or categorical column j stands for.

    Values are in single or double precision, and may be a memory-mapped file. What is computed of them is computed in
    double precision, and of blocks of rows or of some rows: no copy of a long table is made.
    """

    values: np.ndarray
    names: tuple[str, ...]
    has_own_names: bool
    n_dropped: int = 0
    index: pd.Index | np.ndarray | None = None  # labels of the rows of a data frame, or their numbers if some dropped
    notes: tuple[str, ...] = ()  # how a file was read
    kinds: tuple[str, ...] = ()  # one of KINDS per column; none: all are continuous
    labels: tuple[tuple[str, ...], ...] = ()  # of binary and categorical columns, in the order of their codes
    gaps: np.ndarray | None = None  # (n, d) bool: values that were missing, and have been filled in
    regimes: Regimes | None = None  # which rows were made under which interventions; None: under none

    def __post_init__(self) -> None:
        kinds = self.kinds or ("continuous",) * len(self.names)
        object.__setattr__(self, "kinds", kinds)
        if not self.labels:
            codes = [_labels_of_codes(kind, self.values[:, j]) for j, kind in enumerate(kinds)]
            object.__setattr__(self, "labels", tuple(codes))

    @cached_property
    def scaling(self) -> Scaling:
        """What standardises the columns."""
        return Scaling.standard(self.values)

    @property
    def columns(self) -> tuple[ColumnKind, ...]:
        """Kind and labels of each column: what new rows must fit."""
        return tuple(ColumnKind(kind, labels) for kind, labels in zip(self.kinds, self.labels, strict=True))

    def as_numbers(self, taken: frozenset[str], reason: str) -> Table:
        """The table with plain numbers in columns of kinds that are not `taken`: counts, and two labels that are such.

        False and True are 0 and 1. Other labels are refused for the given reason: three and more numbers are labels
        only if somebody has said so.
        """
        changed = [j for j, kind in enumerate(self.kinds) if kind not in taken]
        refused = [j for j in changed if len(self.labels[j]) > 2 or labels_as_numbers(self.labels[j]) is None]
        if refused:
            raise KindError(_refusal([(self.names[j], self.kinds[j], self.labels[j]) for j in refused], reason))
        numbers = {j: _numbers_of_codes(self, j) if self.labels[j] else self.values[:, j] for j in changed}
        return _with_columns(self, {j: Column(values, "continuous") for j, values in numbers.items()})

    def take(self, rows: np.ndarray) -> Table:
        """Some of the rows, by number."""
        return replace(
            self,
            values=self.values[rows],
            index=None,
            gaps=None if self.gaps is None else self.gaps[rows],
            regimes=None if self.regimes is None else self.regimes.take(rows),
        )

    def without_regime(self, regime: int) -> Table:
        """The rows of the other regimes."""
        if self.regimes is None:
            raise ValueError("A table without interventions has no regimes.")
        rest = self.take(np.flatnonzero(self.regimes.of_row != regime))
        return replace(rest, regimes=self.regimes.without(regime))

    def completed(self, seed: int) -> Table:
        """The table with its gaps filled in anew, by chained equations, and none left; itself if it has none."""
        if self.gaps is None:
            return self
        rng, is_label = np.random.default_rng(seed), [kind in LABELLED for kind in self.kinds]
        return replace(self, values=fill_in(np.asarray(self.values, np.float64), self.gaps, is_label, rng), gaps=None)

    @property
    def note_of_gaps(self) -> tuple[str, ...]:
        """A sentence on the share of missing values in each column, if there are any."""
        if self.gaps is None:
            return ()
        found = _listed_shares(self.names, self.gaps.mean(axis=0))
        return (f"Missing or infinite values were filled in by chained equations; their shares: {found}.",)

    def select(self, columns: np.ndarray) -> Table:
        """Some of the columns, by number or by a mask; all of them are no copy."""
        chosen = np.arange(len(self.names))[columns]
        if np.array_equal(chosen, np.arange(len(self.names))):
            return self
        return replace(
            self,
            values=np.ascontiguousarray(self.values[:, columns]),
            names=tuple(self.names[j] for j in chosen),
            kinds=tuple(self.kinds[j] for j in chosen),
            labels=tuple(self.labels[j] for j in chosen),
            gaps=None if self.gaps is None else self.gaps[:, columns],
            regimes=None if self.regimes is None else self.regimes.select(columns),
        )


def _listed_shares(names: Sequence[str], shares: np.ndarray) -> str:
    """The columns with missing values, the largest share of them first."""
    order = [int(j) for j in np.argsort(-shares, kind="stable") if shares[j] > 0]
    return some([f"{names[j]!r} {shares[j]:.1%}" for j in order], _MOST_SHARES)


def _refusal(columns: Sequence[tuple[str, str, tuple[str, ...]]], reason: str) -> str:
    """The sentences about columns of labels where numbers are needed: all of them at once."""
    found = [f"{name!r} is {kind} ({', '.join(map(repr, labels[:3]))}{', ...' * (len(labels) > 3)})"
             for name, kind, labels in columns]  # fmt: skip
    shown = "; ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    are_numbers = any(labels_as_numbers(labels) is not None for _, _, labels in columns)
    advice = "encode two labels as 0 and 1, " + "say that they are numbers by kinds (--kinds), " * are_numbers
    advice += "or leave the column out (--exclude)"
    return f"Column {shown}: {reason}. Otherwise {advice}."


def _labels_of_codes(kind: str, codes: np.ndarray) -> tuple[str, ...]:
    """Labels where a table has none: the codes themselves; none for numbers."""
    if kind not in LABELLED:
        return ()
    return tuple(map(str, range(2 if kind == "binary" else int(codes.max(initial=0)) + 1)))


def blocks(n_rows: int, size: int = 8192) -> Iterator[slice]:
    """Slices over the rows, so that no second table in double precision is made."""
    return (slice(start, start + size) for start in range(0, n_rows, size))


def in_double(values: np.ndarray, size: int = 8192) -> Iterator[np.ndarray]:
    """All rows in blocks, in double precision."""
    return (np.asarray(values[block], dtype=np.float64) for block in blocks(len(values), size))


def spread(n_rows: int, most: int) -> np.ndarray:
    """Numbers of at most so many rows, evenly spread."""
    return np.arange(n_rows) if n_rows <= most else np.linspace(0, n_rows - 1, most).round().astype(int)


def note_of_rows(what: str, used: np.ndarray, table: Table) -> tuple[str, ...]:
    """A note that evenly spread rows stand for all; none if all were used."""
    n, n_rows = len(used), len(table.values)
    return (f"{what} {n:,} of the {n_rows:,} rows, evenly spread.",) if n < n_rows else ()


def draw_rows(n_rows: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of at most so many rows, drawn at random without replacement; all of them are shuffled.

    Of very many rows no permutation is made, which would take more memory than a column.
    """
    if n_rows <= MANY_ROWS:
        return rng.permutation(n_rows)[:most]
    return rng.choice(n_rows, min(most, n_rows), replace=False)


def rows_of(values: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Some rows in double precision, in the given order; a memory-mapped file is read from front to back."""
    order = np.argsort(numbers)
    rows = np.empty((len(numbers), values.shape[1]))
    rows[order] = values[numbers[order]]
    return rows


@dataclass(frozen=True)
class Scaling:
    """z = (x - mean) / scale, column by column."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def standard(cls, values: np.ndarray) -> Scaling:
        """Mean 0 and variance 1."""
        mean = values.mean(axis=0, dtype=np.float64)
        unit = np.maximum(values.max(axis=0) - mean, mean - values.min(axis=0))  # squares stay in range in any unit
        squares = sum((block**2).sum(axis=0) for block in cls(mean, unit).blocks(values))
        return cls(mean, unit * np.sqrt(squares / len(values)))

    @classmethod
    def identity(cls, n_columns: int) -> Scaling:
        """Data as given."""
        return cls(np.zeros(n_columns), np.ones(n_columns))

    def is_consistent(self, n_columns: int) -> bool:
        """Is there one mean and one positive scale per column?"""
        return self.mean.shape == self.scale.shape == (n_columns,) and bool((self.scale > 0).all())

    def apply(self, values: np.ndarray, dtype: str) -> np.ndarray:
        """Scaled values in the given precision."""
        scaled = np.empty(values.shape, dtype)
        for place, block in zip(blocks(len(values)), self.blocks(values), strict=True):
            scaled[place] = block
        return scaled

    def blocks(self, values: np.ndarray) -> Iterator[np.ndarray]:
        """All rows, scaled, in blocks and in double precision."""
        return ((block - self.mean) / self.scale for block in in_double(values))


def as_table(
    X: Any,
    *,
    missing: str = "error",
    kinds: Any = None,
    numbers_only: bool = False,
    min_rows: int = MIN_ROWS,
    min_columns: int = 2,
    interventions: Any = None,
    intervention_kind: str = "perfect",
) -> Table:
    """Check a matrix, a data frame of pandas or polars, or a table of Arrow.

    Args:
        X: The table. A `Table` has been checked before.
        missing: "drop" leaves out rows with missing or infinite values, "error" refuses them, "impute" fills them in
            once (`Table.completed` does so anew).
        kinds: What columns hold, by name, where it shall not be decided from their values (see `grandag.kinds`); of new
            rows for a model, one `ColumnKind` per column. A data frame may bring its own in `attrs["kinds"]`.
        numbers_only: Take all columns for numbers, and refuse those that are not.
        min_rows: Fewer are refused.
        min_columns: Fewer are refused.
        interventions: The targets of each row, `|` between several and nothing for none: one text per row, or the name
            of a column of X that holds them, which is then no variable. A `Table` may have its own.
        intervention_kind: "perfect" or "imperfect" (see `grandag.interventions`).
    """
    if intervention_kind not in INTERVENTION_KINDS:
        raise TableError(
            f"The kind of interventions must be one of {', '.join(INTERVENTION_KINDS)}; got {intervention_kind!r}."
        )
    X, targets = without_targets(as_frame(X), interventions)
    if isinstance(X, Table):
        table, kept = (X if kinds is None else _with_kinds(X, kinds)), None
    else:
        table, kept = _checked(X, missing, kinds, numbers_only)
    if numbers_only:
        table = table.as_numbers(frozenset({"continuous"}), "what is computed here needs numbers")
    n_rows, n_columns = table.values.shape
    if n_columns < min_columns:
        raise TableError(
            f"X has {n_columns} feature(s) (shape={table.values.shape}) while a minimum of {min_columns} is required: "
            "a graph needs at least two columns."
        )
    if n_rows < min_rows:
        dropped = f" after {table.n_dropped} rows with missing values were dropped" if table.n_dropped else ""
        raise TableError(
            f"X has {n_rows} sample(s) (n_samples={n_rows}){dropped} while a minimum of {min_rows} is "
            "required: give more rows (hundreds for a graph worth reading)."
        )
    if targets is None:
        return table
    return _with_regimes(table, targets, intervention_kind, kept, to_learn_from=min_rows >= MIN_ROWS)


def as_frame(X: Any) -> Any:
    """A table of Arrow as a pandas data frame; anything else as it is, but for the name of a file."""
    if isinstance(X, str | Path):
        raise TableError(f"X is a text, {str(X)!r}: to use the table in a file, read it first: read_table({str(X)!r}).")
    return X.to_pandas() if hasattr(X, "column_names") and hasattr(X, "to_pandas") else X


def without_targets(frame: Any, interventions: Any) -> tuple[Any, Any]:
    """A table without the column that names the targets of each row, and that column; or both as they are."""
    if not isinstance(interventions, str):
        return frame, interventions
    names = [str(name) for name in getattr(frame, "columns", ())]
    if interventions not in names:
        raise TableError(
            f"X has no column {interventions!r} with the targets of interventions"
            f"{suggestion(interventions, names) or ': give its name, or a sequence with the targets of each row.'}"
        )
    targets = frame[interventions].to_list()
    return (frame.drop(columns=[interventions]) if hasattr(frame, "iloc") else frame.drop(interventions)), targets


def _with_regimes(table: Table, targets: Any, kind: str, kept: np.ndarray | None, *, to_learn_from: bool) -> Table:
    """A table with the regimes of its rows, which may be those kept of more; without, if no row has a target."""
    n_rows = len(table.values) + (0 if kept is None else table.n_dropped)
    try:
        n_given = len(targets)
    except TypeError:
        raise TableError(
            "interventions must be the name of a column of X, or a sequence with the targets of each row; got "
            f"{targets!r}."
        ) from None
    if n_given != n_rows:
        raise TableError(f"There are targets of interventions for {n_given:,} rows, and X has {n_rows:,}.")
    regimes = as_regimes(targets, table.names, kind, rows=kept, to_learn_from=to_learn_from)
    return replace(table, regimes=regimes if regimes.targets.any() else None)


def _checked(X: Any, missing: str, kinds: Any, numbers_only: bool) -> tuple[Table, np.ndarray | None]:
    """Finite numbers with names from whatever a user may have; and the numbers of their rows, if some were dropped."""
    if hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise TableError("X is a polars LazyFrame: collect() it first.")
    attributes = getattr(X, "attrs", {})
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = tuple(str(name) for name in X.columns)
        has_own_names = all(isinstance(name, str) for name in X.columns)
        check_unique(names)
        _check_width(len(names))
        wanted = kinds_by_name(attributes.get("kinds"), names, strict=False) | kinds_by_name(kinds, names)
        values, labelled = _frame_values(X, names, None if numbers_only else wanted)
    else:
        values, labelled = _matrix(X), {}
        _check_width(values.shape[1])
        names = tuple(f"X{k}" for k in range(values.shape[1]))
        has_own_names = False
        wanted = kinds_by_name(kinds, names)
    gaps = _gaps(values, names) if missing == "impute" else None
    if gaps is not None:  # kinds are decided from what is there
        values = from_own_column(np.asarray(values, dtype=np.float64), gaps, np.random.default_rng(0))
    kept, numbers = _finite(values, names, missing)
    _check_range(kept, names)
    index = numbers
    if hasattr(X, "iloc"):
        index = X.index if numbers is None else X.index[numbers]
    notes = (*attributes.get("notes", ()), *_note_of_dropped(values, len(kept), names))
    table = Table(kept, names, has_own_names, len(values) - len(kept), index, notes, gaps=gaps)
    if not numbers_only:
        columns = {j: _in_use(column, kept[:, j], wanted.get(names[j])) for j, column in labelled.items()}
        table = _with_columns(table, columns | _of_numbers(table, wanted, set(labelled)))
    return replace(table.completed(0), gaps=gaps), numbers


def _in_use(column: Column, codes: np.ndarray, wanted: ColumnKind | None) -> Column:
    """A column of labels in the rows that stayed: labels of none of them are left out, unless a model wants them."""
    if wanted is not None and wanted.labels:
        return replace(column, values=codes)
    used = np.unique(codes).astype(int)
    labels = tuple(column.labels[code] for code in used)
    if len(used) == len(column.labels):
        return replace(column, values=codes)
    kind = column.kind if wanted is not None else "binary" if len(labels) == 2 else "categorical"
    return Column(np.searchsorted(used, codes).astype(codes.dtype), kind, labels, ", ".join(map(repr, labels[:5])))


def _of_numbers(table: Table, wanted: dict[str, ColumnKind], known: set[int]) -> dict[int, Column]:
    """The columns of numbers of which something is wanted, or to be said."""
    is_whole = whole_columns(table.values)
    positions = [j for j, name in enumerate(table.names) if j not in known and (is_whole[j] or name in wanted)]
    return {
        j: of_numbers(table.names[j], table.values[:, j], wanted.get(table.names[j]), is_whole=bool(is_whole[j]))
        for j in positions
    }


def _with_columns(table: Table, columns: dict[int, Column]) -> Table:
    """A table with some columns in the place of its own; values are copied only if one differs."""
    values, kinds, labels = table.values, list(table.kinds), list(table.labels)
    for j, column in columns.items():
        kinds[j], labels[j] = column.kind, column.labels
        if not np.array_equal(column.values, table.values[:, j]):
            values = values.copy() if values is table.values else values
            values[:, j] = column.values
    notes = (*table.notes, *note_of_kinds(table.names, dict(sorted(columns.items()))))
    return replace(table, values=values, kinds=tuple(kinds), labels=tuple(labels), notes=notes)


def _with_kinds(table: Table, kinds: Any) -> Table:
    """A table with other kinds of some columns: labels become numbers, numbers labels, or labels have other codes."""
    columns: dict[int, Column] = {}
    for name, wanted in kinds_by_name(kinds, table.names).items():
        j = table.names.index(name)
        if (table.kinds[j], table.labels[j]) == (wanted.kind, wanted.labels or table.labels[j]):
            continue
        if table.kinds[j] not in LABELLED:
            columns[j] = of_numbers(name, table.values[:, j], wanted, is_whole=True)
        elif wanted.kind in LABELLED:
            texts = np.array(table.labels[j], dtype=object)[table.values[:, j].astype(int)]
            order = () if wanted.labels else table.labels[j]
            columns[j] = replace(of_labels(name, texts, wanted, order), reason="")
        else:
            columns[j] = of_numbers(name, _numbers_of_codes(table, j), wanted, is_whole=True)
    return _with_columns(table, columns)


def _numbers_of_codes(table: Table, j: int) -> np.ndarray:
    """The numbers that the labels of a column are."""
    numbers = labels_as_numbers(table.labels[j])
    if numbers is None:
        shown = ", ".join(map(repr, table.labels[j][:5]))
        raise TableError(f"Column {table.names[j]!r} holds labels, {shown}, and no numbers.")
    return np.asarray(numbers[table.values[:, j].astype(int)])


def check_unique(names: Sequence[str]) -> None:
    """Refuse two columns with one name."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            raise TableError(
                f"Two columns have the name {name!r} (columns {seen[name] + 1} and {position + 1}): rename one of them."
            )
        seen[name] = position


def _frame_values(
    frame: Any, names: Sequence[str], wanted: dict[str, ColumnKind] | None
) -> tuple[np.ndarray, dict[int, Column]]:
    """The columns of a data frame as a matrix, in single precision if all of them are, and those that hold labels.

    A pandas data frame that was made of such a matrix is not copied. `wanted` are kinds by name; with None, all columns
    must be numbers.
    """
    types = {str(kind).lower() for kind in frame.dtypes}
    dtype = np.dtype(np.float32 if types == {"float32"} else np.float64)
    if hasattr(frame, "iloc") and types == {dtype.name} and len(names) > 1:
        is_matrix = frame.iloc[:, 0].to_numpy().strides == (len(names) * dtype.itemsize,)
        if is_matrix:
            return np.asarray(frame.to_numpy()), {}
    values = np.empty((len(frame), len(names)), dtype)
    others, labelled = [], dict[int, Column]()
    for position, name in enumerate(names):
        column = frame.iloc[:, position] if hasattr(frame, "iloc") else frame[:, position]
        kind = None if wanted is None else wanted.get(name)
        if wanted is not None and _has_labels(column) and (kind is None or kind.kind in LABELLED):
            labelled[position] = of_labels(name, _listed(column), kind, _categories(column))
            continue
        try:
            values[:, position] = _numbers(column, dtype)
        except (TypeError, ValueError, OverflowError):
            if wanted is not None and _is_text(column):
                labelled[position] = of_labels(name, _listed(column), kind)
                continue
            others.append((name, str(column.dtype), next((value for value in column if not is_number(value)), None)))
    if others:
        raise not_numbers(others)
    for position, found in labelled.items():
        values[:, position] = found.values
    return values, labelled


def _type(column: Any) -> str:
    return str(column.dtype).lower()


def _has_labels(column: Any) -> bool:
    """Does the type of a column say that it holds labels: truth values, or categories of pandas or polars?"""
    return _type(column).startswith(("bool", "category", "categorical", "enum"))


def _is_text(column: Any) -> bool:
    return _type(column).startswith(("object", "str", "utf8", "large_string"))


def _listed(column: Any) -> list[Any]:
    """The values of a column; of an object that is neither text nor number, nothing is known."""
    values = column.to_list()
    for value in values:
        if isinstance(value, list | dict | set | tuple | bytes | np.ndarray):
            raise not_numbers([(str(column.name), str(column.dtype), value)])
    return [None if _is_missing(value) else value for value in values]


def _is_missing(value: Any) -> bool:
    is_nan = isinstance(value, float | np.floating) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _categories(column: Any) -> list[Any]:
    """The categories in their order, where the type of a column has them: of pandas, or an Enum of polars."""
    has_order = _type(column).startswith(("category", "enum"))
    return list(column.dtype.categories) if has_order else []


def _numbers(column: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """One column of a data frame in the given precision, missing values as NaN."""
    if str(column.dtype).lower().startswith((*_TIMES, "complex")):
        raise TypeError
    if hasattr(column, "iloc"):
        return np.asarray(column.to_numpy(dtype=dtype, na_value=np.nan))
    return np.asarray(column.to_numpy(), dtype=dtype)


def not_numbers(columns: Sequence[tuple[str, str, Any]]) -> TableError:
    """The error for columns of something else, by name, type and example: all of them at once."""
    found = [(repr(name), f"(type {kind}, for example {example!r})") for name, kind, example in columns]
    are_times = any(kind.lower().startswith(_TIMES) for _, kind, _ in columns)
    advice = ", dates and times as the days since the first or the month" if are_times else ""
    if len(found) == 1:
        name, kind = found[0]
        return TableError(
            f"Column {name} does not hold numbers {kind}: leave it out (--exclude) or encode it as numbers first"
            f"{advice}."
        )
    shown = ", ".join(map(" ".join, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return TableError(
        f"{len(found)} columns do not hold numbers: {shown}. Leave them out (--exclude) or encode them as numbers "
        f"first{advice}."
    )


def _matrix(X: Any) -> np.ndarray:
    """An array or nested lists as a matrix; scikit-learn's checks for what is not a matrix of numbers.

    An array in single or double precision is not copied.
    """
    from sklearn.utils.validation import check_array

    if isinstance(X, np.ma.MaskedArray):
        X = _unmasked(X)
    array = np.asarray(X) if isinstance(X, np.ndarray | list | tuple) else None
    if array is not None and array.ndim != 2:
        raise TableError(
            f"Expected 2D array, got {array.ndim}D array instead (shape={array.shape}). Reshape your data: one row per "
            "observation and one column per variable."
        )
    if array is not None and array.dtype.kind in "mM":
        raise TableError(f"X holds dates or durations (type {array.dtype}), not numbers: encode them as numbers first.")
    if array is not None and array.dtype.kind in "USO":
        for k, column in enumerate(array.T):
            text = next((value for value in column if isinstance(value, str) and not is_number(value)), None)
            if text is not None:
                raise TableError(
                    f"Column 'X{k}' does not hold numbers (for example {str(text)!r}): leave it out, or give a data "
                    "frame, whose columns may hold labels."
                )
    values: np.ndarray = check_array(
        X,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
        input_name="X",
    )
    return values


def _unmasked(X: np.ma.MaskedArray[Any, Any]) -> np.ndarray:
    """Masked values are missing values."""
    if X.dtype.kind not in "biuf":
        raise TableError(
            f"X is a masked array that does not hold numbers (type {X.dtype}): encode it as numbers first."
        )
    return np.where(np.ma.getmaskarray(X), np.nan, X.data.astype(np.float64))


def _finite(values: np.ndarray, names: Sequence[str], missing: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The rows without missing or infinite values, and their numbers, None if no other was dropped."""
    if all(np.isfinite(values[block]).all() for block in blocks(len(values))):
        return values, None
    is_good = np.concatenate([np.isfinite(values[block]).all(axis=1) for block in blocks(len(values))])
    bad_rows = np.flatnonzero(~is_good)
    if missing == "drop":
        return values[is_good], np.flatnonzero(is_good)
    bad = values[bad_rows]
    found = []
    for j in np.flatnonzero(~np.isfinite(bad).all(axis=0)):
        n_missing, n_infinite = int(np.isnan(bad[:, j]).sum()), int(np.isinf(bad[:, j]).sum())
        counts = [f"{n} {what}" for n, what in ((n_missing, "NaN"), (n_infinite, "inf")) if n]
        first = int(bad_rows[np.argmin(np.isfinite(bad[:, j]))]) + 1
        found.append(f"{names[int(j)]!r} ({' and '.join(counts)}, first in row {first})")
    others = f" and {len(found) - 5} more columns" if len(found) > 5 else ""
    raise TableError(
        f"X contains missing or infinite values in {', '.join(found[:5])}{others}: drop the "
        f"{'row' if len(bad) == 1 else f'{len(bad)} of {len(values)} rows'} concerned with missing='drop' "
        "(--missing drop), or have the gaps filled in several times with missing='impute' (fit --missing impute)."
    )


def _note_of_dropped(values: np.ndarray, n_kept: int, names: Sequence[str]) -> tuple[str, ...]:
    """A sentence on rows that were dropped, and the share of missing values in each column, if there are any."""
    n_rows = len(values)
    if n_kept == n_rows:
        return ()
    n_missing = sum((~np.isfinite(values[block])).sum(axis=0) for block in blocks(n_rows))
    shares = _listed_shares(names, np.asarray(n_missing / n_rows))
    return (f"Dropped {n_rows - n_kept:,} of {n_rows:,} rows, which have missing or infinite values: {shares}.",)


def _gaps(values: np.ndarray, names: Sequence[str]) -> np.ndarray | None:
    """Which values are missing or infinite (n, d); None if none is. A column must have ten that are not."""
    if all(np.isfinite(values[block]).all() for block in blocks(len(values))):
        return None
    gaps = np.asarray(~np.isfinite(values))
    n_there = (~gaps).sum(axis=0)
    for j in np.flatnonzero(n_there < MIN_ROWS):
        raise TableError(
            f"Column {names[int(j)]!r} has only {n_there[j]} values that are not missing, too few to fill in the "
            "others: leave it out (--exclude)."
        )
    return gaps


def _check_width(n_columns: int) -> None:
    """Refuse tables whose graph would have a matrix of gigabytes."""
    if n_columns > MOST_VARIABLES:
        raise TableError(
            f"X has {n_columns:,} columns, and graphs of more than {MOST_VARIABLES:,} are beyond these methods: choose "
            "some of them (--columns)."
        )


def _check_range(values: np.ndarray, names: Sequence[str]) -> None:
    """Refuse units in which nothing can be computed."""
    if not len(values):
        return
    low, high = (limit.astype(np.float64) for limit in (values.min(axis=0), values.max(axis=0)))
    is_large = np.maximum(-low, high) > _LARGEST
    is_small = (low < high) & (np.maximum(-low, high) < _SMALLEST)
    for j in np.flatnonzero(is_large | is_small):
        found = f"values beyond {_LARGEST:g}" if is_large[j] else f"no value beyond {_SMALLEST:g}"
        raise TableError(f"Column {names[int(j)]!r} has {found}: choose another unit for it.")


def constant_columns(values: np.ndarray) -> np.ndarray:
    """is_constant[j]: does column j hold one value only?"""
    return np.asarray(values.max(axis=0) == values.min(axis=0))


def same_columns(table: Table) -> list[tuple[str, str]]:
    """Pairs of varying columns that hold the same numbers, up to unit and sign: copies, or one quantity twice."""
    values, scaling, names = table.values, table.scaling, table.names
    products = np.zeros((len(names),) * 2)
    for block in scaling.blocks(values):
        products += block.T @ block
    correlation = products / len(values)
    first, second = np.nonzero(np.triu(np.abs(correlation) > 1 - 1e-3, k=1))
    if not len(first):
        return []
    sign = np.sign(correlation[first, second])
    apart, size = np.zeros(len(first)), np.zeros(len(first))
    for block in scaling.blocks(values):
        apart = np.maximum(apart, np.abs(block[:, first] - sign * block[:, second]).max(axis=0))
        size = np.maximum(size, np.abs(block[:, first]).max(axis=0))
    is_same = apart < _SAME * size
    return [(names[i], names[j]) for i, j in zip(first[is_same], second[is_same], strict=True)]


def quartiles(table: Table) -> np.ndarray:
    """(5, d) minimum, quartiles and maximum of each column; quartiles from at most `MANY_ROWS` rows, evenly spread."""
    values = table.values
    found = np.quantile(rows_of(values, spread(len(values), MANY_ROWS)), np.linspace(0, 1, 5), axis=0)
    found[[0, -1]] = values.min(axis=0), values.max(axis=0)
    return np.asarray(found)


def split_rows(n_rows: int, held_out_fraction: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Indices of rows to train on and of rows held out, at random."""
    order, n_held_out = rng.permutation(n_rows), count_held_out(n_rows, held_out_fraction)
    return order[n_held_out:], order[:n_held_out]


def split_table(table: Table, held_out_fraction: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same of a table: of each regime the same part is held out."""
    if table.regimes is None:
        return split_rows(len(table.values), held_out_fraction, rng)
    parts = [(rows, split_rows(len(rows), held_out_fraction, rng)) for rows in table.regimes.members() if len(rows)]
    train, held_out = (np.concatenate([rows[split[side]] for rows, split in parts]) for side in (0, 1))
    return rng.permutation(train), rng.permutation(held_out)


def count_held_out(n_rows: int, fraction: float) -> int:
    """How many rows are held out: at least one, and not all."""
    return min(max(1, round(fraction * n_rows)), n_rows - 1)


def is_number(value: Any) -> bool:
    """Can the value be read as a number?"""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
