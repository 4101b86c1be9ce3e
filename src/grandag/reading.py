"""Tables in files, as people have them: separators, decimal commas, encodings and marks of missing values.

What a file does not say is taken from its content where that leaves no doubt, and noted in the frame's
`attrs["notes"]`, which a fit shows; where it leaves doubt, the usual meaning holds and the arguments decide.

Long files are read in pieces, in single precision (`pieces.py`); of a long text file the beginning decides. A long .npy
file is mapped into memory instead of being read.
"""

from __future__ import annotations

import codecs
import csv
import fnmatch
import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grandag.incoming import UNPACKERS, check_proportion, read_array, read_content, reason_of
from grandag.kinds import kinds_by_name
from grandag.pieces import Pieces, csv_pieces, is_installed, parquet_pieces
from grandag.table import TableError, check_unique, is_number, not_numbers, suggestion
from grandag.wording import some

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_table", "select_columns"]

_SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
_WHITESPACE = r"\s+"
_OTHER_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", _WHITESPACE: "spaces"}
_BYTE_ORDER_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}
_MISSING_MARKS = frozenset({"?", ".", "-", "--", "*"})
"""Signs without a meaning of their own: in a column of numbers they can only stand for nothing."""

_USUAL_MISSING = (
    "", " ", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""What pandas takes for missing."""

_GROUPING = ",.' \u00a0\u202f"
"""Signs that people put between groups of three digits."""

_MINUS = re.compile(r"(?<!\w)\u2212(?=[\d.,])")
"""The typographer's minus, before a number."""

_LOOKED_AT = 50
"""Lines that decide on the separator."""

_MOST_COLUMNS = 100_000
"""In a file, from which some may be chosen."""

_LONG, _LONG_TEXT, _BEGINNING = 10_000_000, 100_000_000, 1_000_000
"""Numbers of a Parquet file, and bytes of a text file, from which it is read in pieces; bytes of a beginning."""


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    na_values: Sequence[str] = (),
    kinds: Any = None,
    columns: str | None = None,
    exclude: str | None = None,
) -> pd.DataFrame:
    r"""A data frame from a file: CSV, TSV, Parquet or numpy's .npy (without names) by its ending; compressed CSV too.

    Args:
        path: The file.
        separator: What stands between columns of a text file: ",", ";", "\t", ... By default found in the file.
        decimal: The decimal point, "." or ",". By default found in the file.
        thousands: The sign between groups of three digits, as in 1,234. By default found in the file.
        encoding: Of a text file, "latin-1" for example. By default UTF-8, or UTF-16 if the file says so.
        na_values: Texts that stand for missing values, in addition to the usual ones (nothing, NA, NaN, null, ...).
        kinds: What columns hold, where that shall not be decided from their values: a dictionary of names or patterns
            and kinds, a file, or pairs (see `grandag.kinds`). A fit finds them in the frame's `attrs["kinds"]`.
        columns: Names or patterns (`gene*`) of the columns to read, separated by commas; by default all.
        exclude: Names or patterns of columns to leave out.
    """
    frame = _read(Path(path), separator, decimal, thousands, encoding, na_values, _Choice(columns, exclude))
    if kinds is not None:
        wanted = kinds_by_name(kinds, [str(name) for name in frame.columns])
        frame.attrs["kinds"] = {name: column.kind for name, column in wanted.items()}
    return frame


def _read(
    path: Path,
    separator: str | None,
    decimal: str | None,
    thousands: str | None,
    encoding: str | None,
    na_values: Sequence[str],
    choice: _Choice,
) -> pd.DataFrame:
    if not path.exists():
        raise TableError(f"There is no file {str(path)!r}: check the path, or see `grandag datasets` for bundled data.")
    kind = next((suffix for suffix in reversed(path.suffixes) if suffix not in UNPACKERS), "")
    readers: dict[str, Callable[[Path, _Choice], pd.DataFrame]] = {
        ".parquet": _read_parquet,
        ".pq": _read_parquet,
        ".npy": _read_array,
    }
    if kind not in {*_SEPARATORS, *readers}:
        raise TableError(f"{path.name!r} does not end in .csv, .tsv, .parquet or .npy: convert the file or rename it.")
    try:
        if kind in readers:
            return readers[kind](path, choice)
        is_long = path.suffix == kind and path.stat().st_size > _LONG_TEXT and encoding in (None, "utf-8")
        beginning = _beginning(path) if is_long and is_installed() else None
        text = _text(path, encoding) if beginning is None else beginning
        separator = separator or _found_separator(text, _SEPARATORS[kind])
        decimal = "," if thousands == "." and decimal is None else decimal
        file = _TextFile(path.name, text, separator, decimal, tuple(na_values), thousands)
        if beginning is not None and len(separator) == 1:
            return _read_long_text(path, file, _SEPARATORS[kind], choice)
        if beginning is not None:
            file = replace(file, text=_text(path, encoding))
        return choice.of_frame(_read_text(file, _SEPARATORS[kind]).frame)
    except TableError:
        raise
    except Exception as error:  # whatever a stranger's file brings up
        raise TableError(f"{path.name!r} could not be read as a table: {reason_of(error)}.") from None


def select_columns(frame: pd.DataFrame, columns: str | None, exclude: str | None) -> pd.DataFrame:
    """Some of the columns: names or patterns (`gene*`), separated by commas; a name with a comma stands in quotes."""
    return _Choice(columns, exclude).of_frame(frame)


class _Choice(NamedTuple):
    """Some of the columns of a table, by names or patterns."""

    columns: str | None
    exclude: str | None

    def positions(self, names: Sequence[str]) -> list[int]:
        """Where they are."""
        kept = list(range(len(names))) if self.columns is None else _positions(self.columns, names)
        left_out = set() if self.exclude is None else set(_positions(self.exclude, names))
        return [position for position in kept if position not in left_out]

    def of_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A frame with these columns only; as it is, if they are all."""
        positions = self.positions([str(name) for name in frame.columns])
        return frame if positions == list(range(frame.shape[1])) else frame.iloc[:, positions]


def _positions(words: str, names: Sequence[str]) -> list[int]:
    """The columns that a list of names and patterns means, each once, in the order of the list."""
    if words in names:
        return [names.index(words)]
    (wanted,) = csv.reader([words], skipinitialspace=True)
    found: dict[int, None] = {}
    for word in map(str.strip, wanted):
        exact = [names.index(word)] if word in names else []
        matching = exact or [k for k, name in enumerate(names) if fnmatch.fnmatchcase(name, word)]
        if not matching:
            others = f" and {len(names) - 10} more" if len(names) > 10 else ""
            near = suggestion(word, names) or f": it has {', '.join(map(repr, names[:10]))}{others}."
            raise TableError(f"The table has no column {word!r}{near}")
        found.update(dict.fromkeys(matching))
    return list(found)


def _read_array(path: Path, choice: _Choice) -> pd.DataFrame:
    import pandas as pd

    values = read_array(path)
    if values.ndim != 2:
        raise TableError(f"{path.name!r} holds an array of shape {values.shape}: a table has rows and columns.")
    names = [f"X{k}" for k in range(values.shape[1])]
    return choice.of_frame(pd.DataFrame(values, columns=names, copy=False))


def _check_width(name: str, n_columns: int) -> None:
    if n_columns > _MOST_COLUMNS:
        raise TableError(
            f"{name!r} has {n_columns:,} columns, and tables of more than {_MOST_COLUMNS:,} are not read: are rows and "
            "columns exchanged?"
        )


def _read_parquet(path: Path, choice: _Choice) -> pd.DataFrame:
    import pandas as pd

    try:
        from pyarrow import parquet
    except ImportError:
        raise TableError("Reading Parquet needs pyarrow: pip install 'grandag[parquet]'.") from None
    check_proportion(path, 0)
    with parquet.ParquetFile(path) as file:
        _check_width(path.name, file.metadata.num_columns)
        n_numbers = file.metadata.num_rows * file.metadata.num_columns
        check_proportion(path, n_numbers * 8)
        if n_numbers > _LONG:
            check_unique(file.schema_arrow.names)
            return _in_pieces(parquet_pieces(file, choice.positions), ())
    return choice.of_frame(pd.read_parquet(path))


def _in_pieces(pieces: Pieces, notes: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    values, precision = pieces.read()
    frame = pd.DataFrame(values, columns=list(pieces.names), copy=False)
    frame.attrs["notes"] = [*notes, *precision]
    return frame


def _beginning(path: Path) -> str | None:
    """The first lines of a long file; None if they are not UTF-8, as which the rest would be read."""
    with path.open("rb") as stream:
        content = stream.read(_BEGINNING)
    whole = content[: content.rfind(b"\n") + 1]
    if whole.startswith(codecs.BOM_UTF8) or not whole:
        return None
    try:
        return whole.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _read_long_text(path: Path, file: _TextFile, usual_separator: str, choice: _Choice) -> pd.DataFrame:
    """A text file in pieces, whose beginning says what its columns are."""
    first = _read_text(file, usual_separator)
    columns = [first.frame.iloc[:, position] for position in choice.positions(list(first.frame.columns))]
    others = [column for column in columns if column.dtype.kind not in "iufb"]
    if others:
        raise not_numbers([(str(some.name), str(some.dtype), next(iter(some.dropna()), None)) for some in others])
    kinds = {str(column.name): column.dtype.kind == "b" for column in columns}
    missing = sorted({*_USUAL_MISSING, *file.na_values, *first.marks})
    separator, decimal = file.separator, first.decimal or "."
    pieces = csv_pieces(path, file.names(), kinds, separator=separator, decimal=decimal, missing=missing)
    return _in_pieces(pieces, first.notes)


def _text(path: Path, encoding: str | None) -> str:
    content = read_content(path)
    known = next((name for mark, name in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding or known)
    except UnicodeDecodeError:
        raise TableError(
            f"{path.name!r} could not be read as a table: it is not {(encoding or known).upper()}. Name its encoding, "
            "for example --encoding cp1252 (Windows) or latin-1."
        ) from None


def _found_separator(text: str, usual: str) -> str:
    """The one that splits all of the first lines into equally many fields; the usual one if it does, or in doubt."""
    lines = [line for line in text[:1_000_000].splitlines()[:_LOOKED_AT] if line.strip()]
    fitting = [separator for separator in _OTHER_SEPARATORS if _splits_evenly(lines, separator)]
    if usual in fitting or not fitting:
        return usual
    without_spaces = [separator for separator in fitting if separator != _WHITESPACE] or fitting
    return without_spaces[0] if len(without_spaces) == 1 else usual


def _splits_evenly(lines: Sequence[str], separator: str) -> bool:
    rows = map(str.split, lines) if separator == _WHITESPACE else csv.reader(lines, delimiter=separator)
    try:
        widths = {len(row) for row in rows}
    except csv.Error:  # a field of more than 131,072 letters: thousands of columns, taken for one
        return False
    return len(widths) == 1 and widths.pop() > 1


@dataclass(frozen=True)
class _TextFile:
    """The text of a table, and how to read it."""

    name: str
    text: str
    separator: str
    decimal: str | None
    na_values: tuple[str, ...]
    thousands: str | None = None

    def read(self, **options: Any) -> pd.DataFrame:
        import pandas as pd

        frame: pd.DataFrame = pd.read_csv(io.StringIO(self.text), sep=self.separator, **options)
        return frame

    def names(self) -> list[str]:
        """The first line, which pandas would change where two names are the same."""
        line = io.StringIO(self.text, newline=None).readline()
        n_columns = len(line.split()) if self.separator == _WHITESPACE else line.count(self.separator) + 1
        _check_width(self.name, n_columns)
        header = self.read(header=None, nrows=1, dtype=str, keep_default_na=False)
        return [str(name).strip() for name in header.iloc[0]]

    def cells(self, n_columns: int, **options: Any) -> pd.DataFrame:
        """All but the first line, columns by number."""
        return self.read(
            header=0,
            names=range(n_columns),
            index_col=False,
            decimal=self.decimal or ".",
            thousands=self.thousands,
            na_values=list(self.na_values),
            skipinitialspace=True,
            **options,
        )


class _Text(NamedTuple):
    """What was found in a text file."""

    frame: pd.DataFrame
    decimal: str | None
    marks: tuple[str, ...]  # of missing values
    notes: list[str]


def _read_text(file: _TextFile, usual_separator: str) -> _Text:
    import pandas as pd

    names = file.names()
    check_unique(names)
    if all(map(is_number, names)) and not all(name.isdigit() for name in names):
        raise TableError(
            f"The first line of {file.name!r} holds numbers ({names[0]} ...): add a line with names above."
        )
    if len(names) == 1 and re.search(r"[;\t|]", names[0]):
        raise TableError(
            f"{file.name!r} has one column, {names[0]!r}: say what separates the columns, for example --sep ';'."
        )
    file = replace(file, text=_MINUS.sub("-", file.text))
    notes = []
    if file.separator != usual_separator:
        what = _OTHER_SEPARATORS.get(file.separator, repr(file.separator))
        notes.append(f"Columns of {file.name!r} are separated by {what}.")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = file.cells(len(names))
            if file.decimal is None and _has_decimal_commas(frame):
                file = replace(file, decimal=",")
                frame = file.cells(len(names))
                notes.append("Commas are decimal points.")
        except pd.errors.ParserWarning:
            raise TableError(
                f"{file.name!r} has lines with more fields than its {len(names)} column names: give each column a "
                "name, that of row names, too."
            ) from None
    frame.columns = pd.Index(names)
    frame, marks = _without_missing_marks(frame)
    if file.decimal is None and file.separator in ";\t":
        _check_points(frame, file)
    frame, signs = _without_signs(frame, file)
    frame, numbered = _without_row_names(frame)
    as_missing = [f"Read {' and '.join(map(repr, marks))} as missing."] if marks else []
    frame.attrs["notes"] = [*notes, *as_missing, *signs, *numbered]
    return _Text(frame, file.decimal, marks, frame.attrs["notes"])


def _texts(frame: pd.DataFrame) -> dict[int, pd.Series]:
    """The columns that are not numbers, without missing values, by position."""
    columns = {k: frame.iloc[:, k] for k in range(frame.shape[1])}
    return {k: column.dropna().astype(str) for k, column in columns.items() if column.dtype.kind not in "iufb"}


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    """Are there numbers with decimal commas? 1,234 alone may be a thousand; another number of digits settles it."""
    number = r"[-+]?\d*(?:,\d+)?(?:[eE][-+]?\d+)?"
    numbers = [text for text in _texts(frame).values() if text.str.fullmatch(number).all()]
    return any(text.str.contains(r",(?!\d{3}$)").any() for text in numbers)


def _without_missing_marks(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Signs that stand for missing values in columns of numbers are taken as such; which ones were found."""
    import pandas as pd

    found: dict[str, None] = {}
    for position, text in _texts(frame).items():
        marks = set(text[~text.map(is_number)].str.strip())
        if marks and marks <= _MISSING_MARKS and len(text) > (~text.map(is_number)).sum():
            column = frame.iloc[:, position]
            frame = frame.assign(**{frame.columns[position]: pd.to_numeric(column, errors="coerce")})
            found.update(dict.fromkeys(sorted(marks)))
    return frame, tuple(found)


def _check_points(frame: pd.DataFrame, file: _TextFile) -> None:
    """Refuse points that may stand between thousands: where commas do not separate columns, 1.244 may be 1244.

    That they are decimal points is known from 0.244, or from another number of digits than three anywhere in the file.
    """
    values = {k: frame.iloc[:, k] for k in range(frame.shape[1]) if frame.iloc[:, k].dtype.kind == "f"}
    if not values or any((column * 1000 % 1).between(1e-4, 1 - 1e-4).any() for column in values.values()):
        return
    cells = file.cells(frame.shape[1], usecols=list(values), dtype=str)
    unclear = []
    for k in values:
        text = cells[k].dropna().str.strip()
        has_point = text.str.contains(r"\d\.|\.\d")
        if not text[has_point].str.fullmatch(r"[-+]?[1-9]\d{0,2}\.\d{3}").all():
            return
        others = text[~has_point & text.map(is_number)]
        is_rounded = text[has_point].str.endswith("0").all()
        if has_point.any() and (others.str.fullmatch(r"[-+]?\d{1,3}").all() if len(others) else is_rounded):
            beside = f" beside {others.iloc[0]!r}" if len(others) else ""
            unclear.append(f"Column {frame.columns[k]!r} has {text[has_point].iloc[0]!r}{beside}")
    if unclear:
        raise TableError(
            f"{unclear[0]}, which may be a thousand or a little more than one: say what the point means, "
            "thousands='.' (--thousands .) or decimal='.' (--decimal .)."
        )


def _without_signs(frame: pd.DataFrame, file: _TextFile) -> tuple[pd.DataFrame, list[str]]:
    """Numbers from texts with percent signs or groups of three digits, and notes on which they were.

    1,234 may be a thousand or a little more than one. That the comma is no decimal point is known from 1,234,567, from
    a decimal point in the same column, or if it is what separates columns; otherwise texts stay, and the user must say.
    """
    import pandas as pd

    percent, grouped, marks = [], [], dict[str, None]()
    for position, text in _texts(frame).items():
        name, plain = frame.columns[position], text.str.strip()
        is_percent = bool(len(plain) and plain.str.endswith("%").all())
        if is_percent:
            plain = plain.str.removesuffix("%").str.strip()
        mark = _grouping_mark(plain, file.decimal or ".")
        if mark is not None:
            if file.decimal is None and mark == "," != file.separator and not _is_settled(plain):
                continue
            plain = plain.str.replace(mark, "", regex=False)
        numbers = pd.to_numeric(plain.str.replace(file.decimal or ".", ".", regex=False), errors="coerce")
        if (mark is None and not is_percent) or numbers.isna().any():
            continue
        frame = frame.assign(**{name: numbers.reindex(frame.index)})
        percent += [repr(name)] * is_percent
        if mark is not None:
            grouped.append(repr(name))
            marks[mark] = None
    notes = [f"Percentages, read without their sign: {some(percent)}."] if percent else []
    if grouped:
        notes.append(f"Read {' and '.join(map(repr, marks))} as what stands between thousands: {some(grouped)}.")
    return frame, notes


def _grouping_mark(text: pd.Series, decimal: str) -> str | None:
    """The sign between groups of three digits, if all texts are numbers and some have one."""
    for mark in _GROUPING.replace(decimal, ""):
        number = rf"[-+]?(?:\d+|\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+)(?:{re.escape(decimal)}\d+)?"
        if len(text) and text.str.fullmatch(number).all() and text.str.contains(mark, regex=False).any():
            return mark
    return None


def _is_settled(text: pd.Series) -> bool:
    """Is the comma in these numbers certainly no decimal point?"""
    return bool((text.str.count(",") > 1).any() or text.str.contains(".", regex=False).any())


def _without_row_names(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Drop a first column that has no name and counts or names the rows, as pandas and R write it."""
    if frame.columns[0] == "" and len(frame.columns) > 1:
        first = frame.iloc[:, 0]
        if first.dtype.kind == "i" and (np.diff(first.to_numpy()) > 0).all():
            return frame.iloc[:, 1:], ["Left out the first column, which has no name and counts the rows."]
        if first.dtype.kind not in "iufb" and first.is_unique:
            return frame.iloc[:, 1:], ["Left out the first column, which has no name and names the rows."]
    return frame, []
