"""The boundary for data: tables of any kind in, finite numbers with names out, or one clear sentence."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MIN_ROWS", "Scaling", "Table", "TableError", "as_frame", "as_table", "blocks", "constant_columns",
           "read_table", "same_columns", "split_rows", "suggestion"]  # fmt: skip

MIN_ROWS = 10
"""Below this there is nothing to hold out; hundreds of rows are needed for a graph worth reading."""

_SAME = 1e-6
"""Standardised columns that differ by less than this everywhere are copies of each other."""


class TableError(ValueError):
    """The table cannot be used; the message says which column, what was found, and what to do."""


@dataclass(frozen=True)
class Table:
    """Finite numbers (n, d) with column names."""

    values: np.ndarray
    names: tuple[str, ...]
    has_own_names: bool
    n_dropped: int = 0
    index: pd.Index | None = None  # the row labels of a pandas data frame

    def take(self, rows: np.ndarray) -> Table:
        """Some of the rows, by number."""
        return replace(self, values=self.values[rows], index=None)

    def select(self, columns: np.ndarray) -> Table:
        """Some of the columns, by number or by a mask."""
        names = tuple(np.array(self.names, dtype=object)[columns])
        return replace(self, values=np.ascontiguousarray(self.values[:, columns]), names=names)


def blocks(n_rows: int, size: int = 8192) -> Iterator[slice]:
    """Slices over the rows, so that no second table in double precision is made."""
    return (slice(start, start + size) for start in range(0, n_rows, size))


@dataclass(frozen=True)
class Scaling:
    """z = (x - mean) / scale, column by column."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def standard(cls, values: np.ndarray) -> Scaling:
        """Mean 0 and variance 1."""
        mean = values.mean(axis=0)
        unit = np.maximum(values.max(axis=0) - mean, mean - values.min(axis=0))  # squares stay in range in any unit
        squares = sum((((values[block] - mean) / unit) ** 2).sum(axis=0) for block in blocks(len(values)))
        return cls(mean, unit * np.sqrt(squares / len(values)))

    @classmethod
    def identity(cls, n_columns: int) -> Scaling:
        """Data as given."""
        return cls(np.zeros(n_columns), np.ones(n_columns))

    def apply(self, values: np.ndarray, dtype: str) -> np.ndarray:
        """Scaled values in the given precision."""
        scaled = np.empty(values.shape, dtype)
        for block in blocks(len(values)):
            scaled[block] = (values[block] - self.mean) / self.scale
        return scaled


def as_table(X: Any, *, missing: str = "error", min_rows: int = MIN_ROWS, min_columns: int = 2) -> Table:
    """Check a matrix, a data frame of pandas or polars, or a table of Arrow.

    `missing="drop"` leaves out rows with missing or infinite values. A `Table` has been checked before and is returned
    as it is, if it is large enough.
    """
    table = X if isinstance(X, Table) else _checked(X, missing)
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
    return table


def as_frame(X: Any) -> Any:
    """A table of Arrow as a pandas data frame; anything else as it is, but for the name of a file."""
    if isinstance(X, str | Path):
        raise TableError(f"X is a text, {str(X)!r}: to use the table in a file, read it first: read_table({str(X)!r}).")
    return X.to_pandas() if hasattr(X, "column_names") and hasattr(X, "to_pandas") else X


def _checked(X: Any, missing: str) -> Table:
    """Finite numbers with names from whatever a user may have."""
    X = as_frame(X)
    if hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise TableError("X is a polars LazyFrame: collect() it first.")
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = tuple(str(name) for name in X.columns)
        has_own_names = all(isinstance(name, str) for name in X.columns)
        _check_unique(names)
        columns = [_numbers(X, position, name) for position, name in enumerate(names)]
        values = np.column_stack(columns) if columns else np.empty((len(X), 0))
    else:
        values = _matrix(X)
        names = tuple(f"X{k}" for k in range(values.shape[1]))
        has_own_names = False
    kept, n_dropped = _finite(values, names, missing)
    index = X.index if hasattr(X, "iloc") and not n_dropped else None
    return Table(kept, names, has_own_names, n_dropped, index)


def suggestion(name: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, if any is near."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _check_unique(names: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            raise TableError(
                f"Two columns have the name {name!r} (columns {seen[name] + 1} and {position + 1}): rename one of them."
            )
        seen[name] = position


def _numbers(frame: Any, position: int, name: str) -> np.ndarray:
    """One column of a data frame as float64, missing values as NaN."""
    is_pandas = hasattr(frame, "iloc")
    column = frame.iloc[:, position] if is_pandas else frame[:, position]
    kind = str(column.dtype)
    try:
        if kind.lower().startswith(("datetime", "date", "timedelta", "duration", "time", "complex")):
            raise TypeError
        if is_pandas:
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        example = next((value for value in column if not _is_number(value)), None)
        raise TableError(
            f"Column {name!r} does not hold numbers (type {kind}, for example {example!r}): leave it out, or encode it "
            "as numbers first."
        ) from None


def _matrix(X: Any) -> np.ndarray:
    """An array or nested lists as a float64 matrix; scikit-learn's checks for what is not a matrix of numbers."""
    from sklearn.utils.validation import check_array

    array = np.asarray(X) if isinstance(X, np.ndarray | list | tuple) else None
    if array is not None and array.ndim != 2:
        raise TableError(
            f"Expected 2D array, got {array.ndim}D array instead (shape={array.shape}). Reshape your data: one row per "
            "observation and one column per variable."
        )
    if array is not None and array.dtype.kind in "USO":
        for k, column in enumerate(array.T):
            text = next((value for value in column if isinstance(value, str) and not _is_number(value)), None)
            if text is not None:
                raise TableError(f"Column 'X{k}' does not hold numbers (for example {str(text)!r}): leave it out.")
    values: np.ndarray = check_array(
        X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0, input_name="X"
    )
    return values


def _finite(values: np.ndarray, names: Sequence[str], missing: str) -> tuple[np.ndarray, int]:
    """The rows without missing or infinite values, and how many others were dropped."""
    good = np.isfinite(values)
    if good.all():
        return values, 0
    if missing == "drop":
        rows = good.all(axis=1)
        return values[rows], int(len(rows) - rows.sum())
    found = []
    for j in np.flatnonzero(~good.all(axis=0)):
        n_missing, n_infinite = int(np.isnan(values[:, j]).sum()), int(np.isinf(values[:, j]).sum())
        counts = [f"{n} {what}" for n, what in ((n_missing, "NaN"), (n_infinite, "inf")) if n]
        found.append(f"{names[int(j)]!r} ({' and '.join(counts)}, first in row {int(np.argmin(good[:, j])) + 1})")
    others = f" and {len(found) - 5} more columns" if len(found) > 5 else ""
    n_rows = int((~good.all(axis=1)).sum())
    raise TableError(
        f"X contains missing or infinite values in {', '.join(found[:5])}{others}: fill them in, or drop the "
        f"{'row' if n_rows == 1 else f'{n_rows} rows'} concerned with missing='drop' (--missing drop)."
    )


def constant_columns(values: np.ndarray) -> np.ndarray:
    """is_constant[j]: does column j hold one value only?"""
    return np.asarray(values.max(axis=0) == values.min(axis=0))


def same_columns(scaled: np.ndarray, names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of standardised columns that hold the same numbers, up to sign: copies, or one quantity in two units."""
    correlation = (scaled.T @ scaled) / len(scaled)
    candidates = np.argwhere(np.triu(np.abs(correlation) > 1 - 1e-3, k=1))
    return [
        (names[i], names[j])
        for i, j in candidates
        if np.abs(scaled[:, i] - np.sign(correlation[i, j]) * scaled[:, j]).max() < _SAME * np.abs(scaled[:, i]).max()
    ]


def split_rows(n_rows: int, held_out_fraction: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Indices of rows to train on and of rows held out, at random."""
    order = rng.permutation(n_rows)
    n_held_out = min(max(1, round(held_out_fraction * n_rows)), n_rows - 1)
    return order[n_held_out:], order[:n_held_out]


def read_table(path: str | Path) -> pd.DataFrame:
    """A data frame from a file: CSV, TSV, Parquet or numpy's .npy (without names) by its ending; compressed CSV too."""
    path = Path(path)
    if not path.exists():
        raise TableError(f"There is no file {str(path)!r}: check the path, or see `grandag datasets` for bundled data.")
    kind = next((suffix for suffix in reversed(path.suffixes) if suffix not in {".gz", ".bz2", ".xz", ".zip"}), "")
    separators = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
    readers = {".parquet": _read_parquet, ".pq": _read_parquet, ".npy": _read_array}
    if kind not in {*separators, *readers}:
        raise TableError(f"{path.name!r} does not end in .csv, .tsv, .parquet or .npy: convert the file or rename it.")
    try:
        return _read_text(path, separators[kind]) if kind in separators else readers[kind](path)
    except TableError:
        raise
    except (OSError, ValueError) as error:
        raise TableError(f"{path.name!r} could not be read as a table: {error}") from None


def _read_array(path: Path) -> pd.DataFrame:
    import pandas as pd

    values = np.load(path, allow_pickle=False)
    if values.ndim != 2:
        raise TableError(f"{path.name!r} holds an array of shape {values.shape}: a table has rows and columns.")
    return pd.DataFrame(values, columns=[f"X{k}" for k in range(values.shape[1])])


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError:
        raise TableError("Reading Parquet needs pyarrow: pip install 'grandag[parquet]'.") from None


def _read_text(path: Path, separator: str) -> pd.DataFrame:
    """Names are read by themselves, since pandas would rename duplicates without a word."""
    import pandas as pd

    header = pd.read_csv(path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
    names = [str(name).strip() for name in header.iloc[0]]
    _check_unique(names)
    if all(map(_is_number, names)) and not all(name.isdigit() for name in names):
        raise TableError(
            f"The first line of {path.name!r} holds numbers ({names[0]} ...): add a line with names above."
        )
    if len(names) == 1 and re.search(r"[;\t|]", names[0]):
        raise TableError(
            f"{path.name!r} has one column, {names[0]!r}: separate columns by commas (.csv) or tabs (.tsv)."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(path, sep=separator, header=0, names=range(len(names)), index_col=False)
        except pd.errors.ParserWarning:
            raise TableError(f"{path.name!r} has lines with more fields than its {len(names)} column names.") from None
    frame.columns = pd.Index(names)
    return _without_row_numbers(frame)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _without_row_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Drop a first column that has no name and just counts the rows, as pandas writes it."""
    if frame.columns[0] == "" and len(frame.columns) > 1:
        first = frame.iloc[:, 0].to_numpy()
        if first.dtype.kind == "i" and (np.diff(first) == 1).all():
            return frame.iloc[:, 1:]
    return frame
