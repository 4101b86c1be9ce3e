"""Long tables in files: Parquet and CSV by pyarrow, piece after piece into one matrix of single precision.

Nothing else of the size of the table is held. Single precision has seven digits: where they are too few for a column,
because its values hardly differ beside their size (a time in seconds since 1970), the file is read once more in double
precision, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grandag.table import not_numbers

__all__ = ["Pieces", "csv_pieces", "is_installed", "parquet_pieces"]

_ROWS, _BYTES = 1 << 16, 1 << 22
"""Rows of a piece of Parquet, and bytes of a piece of text."""

_ROUNDING = 1e-5
"""Largest error of a value in single precision, relative to the range of its column."""


def is_installed() -> bool:
    """Is pyarrow there?"""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


class Pieces(NamedTuple):
    """A table to be read: its columns, at most so many rows, and a function that begins to read."""

    names: tuple[str, ...]
    n_rows: int
    begin: Callable[[], Iterator[Any]]  # record batches of pyarrow, with these columns in this order

    def read(self) -> tuple[np.ndarray, tuple[str, ...]]:
        """The matrix (n, d), missing values as NaN, and a note on its precision."""
        values, inexact = self._filled(np.float32)
        if not inexact.any():
            return values, (f"Read in single precision: {values.size:,} numbers.",)
        del values
        values, _ = self._filled(np.float64)
        name = self.names[int(inexact.argmax())]
        return values, (f"Read in double precision: single precision has too few digits for column {name!r}.",)

    def _filled(self, dtype: type[np.floating[Any]]) -> tuple[np.ndarray, np.ndarray]:
        """The matrix in this precision, and by column whether it is too low."""
        d = len(self.names)
        values, n = np.empty((self.n_rows, d), dtype), 0
        error, low, high = np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf)
        for batch in self.begin():
            piece = values[n : n + len(batch)]
            for j, column in enumerate(batch.columns):
                exact = _numbers(column)
                with np.errstate(over="ignore"):
                    piece[:, j] = exact
                is_finite = np.isfinite(exact)
                if exact.dtype.itemsize > piece.itemsize and is_finite.any():
                    seen = exact[is_finite]
                    error[j] = max(error[j], float(np.abs(seen - piece[is_finite, j]).max()))
                    low[j], high[j] = min(low[j], seen.min()), max(high[j], seen.max())
            n += len(batch)
        with np.errstate(invalid="ignore"):
            return values[:n], (low < high) & (error > _ROUNDING * (high - low))


def _numbers(column: Any) -> np.ndarray:
    """A column of a record batch as float32, if it is so in the file, or else float64; missing values as NaN."""
    import pyarrow

    kind = pyarrow.float32() if column.type == pyarrow.float32() else pyarrow.float64()
    return np.asarray(column.cast(kind, safe=False).to_numpy(zero_copy_only=False))


def parquet_pieces(file: Any, choose: Callable[[Sequence[str]], list[int]]) -> Pieces:
    """The columns that `choose` gives of an open file of pyarrow; without those of a pandas index."""
    import pyarrow

    schema = file.schema_arrow
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    known = [name for name in schema.names if name not in index]
    names = [known[position] for position in choose(known)]
    kinds = pyarrow.types
    tests = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal, kinds.is_null)
    others = [name for name in names if not any(test(schema.field(name).type) for test in tests)]
    if others:
        (first,) = next(file.iter_batches(batch_size=1, columns=others)).to_pylist()
        raise not_numbers([(name, str(schema.field(name).type), first[name]) for name in others])

    def begin() -> Iterator[Any]:
        for group in range(file.metadata.num_row_groups):  # asked for all at once, pyarrow would hold the whole file
            batches = file.iter_batches(batch_size=_ROWS, row_groups=[group], columns=names, use_threads=False)
            for batch in batches:
                yield batch.select(names)  # in this order, not in that of the file

    return Pieces(tuple(names), file.metadata.num_rows, begin)


def csv_pieces(
    path: Path,
    names: Sequence[str],
    kinds: Mapping[str, bool],
    *,
    separator: str,
    decimal: str,
    missing: Sequence[str],
) -> Pieces:
    """A text file with these columns, of which those in `kinds` are read: as truth values, if so, or as numbers."""
    import pyarrow
    from pyarrow import csv

    types = {name: pyarrow.bool_() if is_boolean else pyarrow.float64() for name, is_boolean in kinds.items()}

    def begin() -> Iterator[Any]:
        return iter(
            csv.open_csv(
                path,
                csv.ReadOptions(column_names=list(names), skip_rows=1, block_size=_BYTES),
                csv.ParseOptions(delimiter=separator),
                csv.ConvertOptions(
                    column_types=types, include_columns=list(types), null_values=list(missing), decimal_point=decimal
                ),
            )
        )

    return Pieces(tuple(types), _count_lines(path), begin)


def _count_lines(path: Path) -> int:
    """At least as many as there are rows: the first line has names, and the last one may lack its end."""
    n_ends = {b"\n": 0, b"\r": 0}
    with path.open("rb") as stream:
        while chunk := stream.read(_BYTES):
            for end in n_ends:
                n_ends[end] += chunk.count(end)
    return max(n_ends.values())
