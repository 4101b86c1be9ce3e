"""Kinds of columns: what a column holds, decided from its values where they leave no doubt, or as the user says.

    kind            values                            in a table
    continuous      numbers                           as they are
    heavy-tailed    numbers, some of them far off     as they are; only if the user says so
    binary          two labels, or two whole numbers  codes 0 and 1
    categorical     three or more labels              codes 0, ..., K - 1
    count           0, 1, 2, ...                      as they are

Text, truth values and categories are labels. Two different whole numbers are binary. Whole numbers are a count if they
begin with 0, stay below 1,000, are skewed to the right and vary at least half as much as Poisson's: scales of answers
and years do not. All other numbers are continuous: three or more whole numbers may be codes, marks or amounts, and only
the user knows. What was decided, and why, is one note.

Dates, identifiers, texts in columns of numbers and labels by the dozen are refused with advice.
"""

from __future__ import annotations

import csv
import fnmatch
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grandag.incoming import TableError, read_content, suggestion
from grandag.wording import some

__all__ = [
    "KINDS",
    "LABELLED",
    "Column",
    "ColumnKind",
    "kind_of_numbers",
    "kinds_by_name",
    "label_of",
    "labels_as_numbers",
    "note_of_kinds",
    "of_labels",
    "of_numbers",
    "whole_columns",
]

KINDS = ("continuous", "heavy-tailed", "binary", "categorical", "count")
"""What a column may hold. Numbers: with tails as light as a Gaussian's, or heavier; counts are 0, 1, 2, ..."""

LABELLED = frozenset({"binary", "categorical"})
"""Kinds whose values are codes of labels, 0 to K - 1."""

_MANY_LABELS, _MOST_LABELS = 50, 1000
"""More labels than this need the user's word, or are too many whatever is said."""

_ROWS_PER_LABEL = 2
"""With fewer rows than this for each label, texts are names of the rows."""

_LARGEST_COUNT, _SKEWED, _VARIES = 1000, 0.5, 0.5
"""Largest count, and the least skewness and variance over mean, of a column that is taken for counts."""

_FEW_NUMBERS = 10
"""Whole numbers that differ in so few values may be codes: the note names them."""

_FIRST_DAY, _LAST_DAY = 18_000_101, 21_991_231
"""Whole numbers between these are looked at as days."""

_DIGITS_OF_IDENTIFIERS, _LARGEST_IDENTIFIER = 6, 1e15
"""Least number of digits of what may be an identifier, and its bound: from there on, all numbers are whole."""

_SHOWN = 5

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = re.compile(
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
    r"|\d{4}[-/](0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/]\d{4}"  # a month of a year
    rf"|(\d{{1,4}}[-/. ])?{_MONTH}[-/., ]+\d{{1,4}}(,? \d{{4}})?|\d{{1,4}}[-/. ]?{_MONTH}(\d{{2,4}})?",
    re.IGNORECASE,
)
_SIGNS = "%€$£"
_UNITS = re.compile(rf"[-+\u2212]?\s?[{_SIGNS}]?\s?[-+\u2212]?\d[\d.,'\s]*\s?[{_SIGNS}]?")
"""Numbers as people write them, with groups of digits or a unit."""


@dataclass(frozen=True)
class ColumnKind:
    """The kind of a column, and its labels in the order of their codes, if it is known which there are."""

    kind: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column with its kind: numbers, or codes of labels; NaN is missing.

    `reason` is empty where nothing was decided.
    """

    values: np.ndarray
    kind: str
    labels: tuple[str, ...] = ()
    reason: str = ""
    is_identifier: bool = False  # it looks like one


class _ProblemError(Exception):
    """Why a column cannot be used, as the end of a sentence that begins with its name."""


def kinds_by_name(kinds: Any, names: Sequence[str], *, strict: bool = True) -> dict[str, ColumnKind]:
    """Kinds by column from what a user may give.

    Args:
        kinds: A dictionary of names, or patterns (`q*`), and kinds; a file with such a table in TOML or JSON; or pairs
            in one text, "smoker=binary, city=categorical"; or one `ColumnKind` per column. None: nothing is said.
        names: The columns of the table.
        strict: Refuse names that are none of them.
    """
    if isinstance(kinds, Sequence) and not isinstance(kinds, str):
        return dict(zip(names, kinds, strict=True)) if len(kinds) == len(names) else {}
    found: dict[str, ColumnKind] = {}
    for word, kind in _pairs(kinds).items():
        if kind not in KINDS:
            raise TableError(f"kinds: {word!r} cannot be {kind!r}; the kinds are {', '.join(KINDS)}.")
        matching = [word] if word in names else [name for name in names if fnmatch.fnmatchcase(name, word)]
        if not matching and strict:
            raise TableError(f"kinds: the table has no column {word!r}{suggestion(word, names) or '.'}")
        found |= dict.fromkeys(matching, ColumnKind(kind))
    return found


def _pairs(kinds: Any) -> Mapping[str, str]:
    if kinds is None:
        return {}
    if isinstance(kinds, Mapping):
        return {str(name): str(kind) for name, kind in kinds.items()}
    text = str(kinds)
    if "=" not in text or Path(text).is_file():
        return _from_file(Path(text))
    (words,) = csv.reader([text], skipinitialspace=True)
    pairs = [word.rpartition("=") for word in words if word.strip()]
    if not all(name.strip() and kind.strip() for name, _, kind in pairs):
        raise TableError(f"kinds: {text!r} is not of the form name=kind, name=kind.")
    return {name.strip(): kind.strip() for name, _, kind in pairs}


def _from_file(path: Path) -> Mapping[str, str]:
    """A table of names and kinds in TOML, or in JSON by its ending."""
    if not path.is_file():
        raise TableError(f"kinds: there is no file {str(path)!r}; pairs are written name=kind, name=kind.")
    try:
        text = read_content(path).decode("utf-8")
        pairs = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, OSError) as error:
        raise TableError(f"kinds: {path.name!r} could not be read: {error}") from None
    if not isinstance(pairs, dict) or not all(isinstance(kind, str) for kind in pairs.values()):
        raise TableError(f'kinds: {path.name!r} must have one line per column, as smoker = "binary".')
    return pairs


def label_of(value: Any) -> str:
    """A label as text: whole numbers without a decimal point, so that 1, 1.0 and "1" are one label."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value).strip()


def labels_as_numbers(labels: Sequence[str]) -> np.ndarray | None:
    """The numbers that labels are, False and True as 0 and 1; None if one is no number."""
    if set(labels) <= {"False", "True"}:
        return np.array([float(label == "True") for label in labels])
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def whole_columns(values: np.ndarray) -> np.ndarray:
    """is_whole[j]: does column j hold whole numbers only? Missing values say nothing."""
    found = np.ones(values.shape[1], dtype=bool)
    starts = [0, *range(256, len(values), 1 << 14)]  # the first rows tell most of them
    for start, end in zip(starts, [*starts[1:], len(values)], strict=True):
        candidates = np.flatnonzero(found)
        if not len(candidates):
            break
        block = values[start:end, candidates]
        found[candidates] = ((block == np.round(block)) & ~np.isinf(block) | np.isnan(block)).all(axis=0)
    return found


def kind_of_numbers(values: np.ndarray) -> tuple[str, str]:
    """The kind of a column of whole numbers (n,), and why; the reason is empty where they are plainly continuous."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        return "continuous", ""
    low, high = float(known.min()), float(known.max())
    if low < high and bool(((known == low) | (known == high)).all()):
        return "binary", f"{low:g} and {high:g}"
    if low == 0 and 2 <= high < _LARGEST_COUNT:
        mean, variance = float(known.mean()), float(known.var())
        skewness = float(((known - mean) ** 3).mean()) / variance**1.5
        if skewness > _SKEWED and variance > _VARIES * mean:
            return "count", f"whole numbers from 0 to {high:g}, skewed to the right"
    n_values = len(np.unique(known)) if high - low < _LARGEST_COUNT else _LARGEST_COUNT
    if 2 < n_values <= min(_FEW_NUMBERS, len(known) // 10):
        return "continuous", f"{n_values} whole numbers, {low:g} to {high:g}"
    return "continuous", ""


def of_numbers(name: str, values: np.ndarray, wanted: ColumnKind | None, *, is_whole: bool) -> Column:
    """A column of numbers (n,) with its kind, as wanted or as found."""
    try:
        return _of_numbers(values, wanted, is_whole=is_whole)
    except _ProblemError as error:
        raise TableError(f"Column {name!r} {error}") from None


def _of_numbers(values: np.ndarray, wanted: ColumnKind | None, *, is_whole: bool) -> Column:
    if wanted is None:
        kind, reason = kind_of_numbers(values) if is_whole else ("continuous", "")
        if kind == "binary":
            return _coded(values, _sorted_labels(values), kind, reason)
        if is_whole and _are_days(values):
            raise _ProblemError(_dates(f"{values[0]:.0f}"))
        return Column(values, kind, (), reason, is_whole and _is_identifier(values))
    if wanted.kind == "count":
        bad = np.flatnonzero((values < 0) | (values != np.round(values)) & ~np.isnan(values))
        if len(bad):
            raise _ProblemError(
                f"is no count: row {bad[0] + 1} has {values[bad[0]]:g}, and counts are 0, 1, 2, ...; say that it is "
                "continuous."
            )
    if wanted.kind not in LABELLED:
        return Column(values, wanted.kind)
    return _coded(values, wanted.labels or _sorted_labels(values), wanted.kind)


def _are_days(values: np.ndarray) -> bool:
    """Are whole numbers days as 20000131, all of them and at least three different ones?"""
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not (_FIRST_DAY <= low < high <= _LAST_DAY):
        return False
    years, months, days = values // 10_000, values // 100 % 100, values % 100
    is_day = (months >= 1) & (months <= 12) & (days >= 1)
    if not is_day.all():
        return False
    first = ((years - 1970) * 12 + months - 1).astype(int).astype("datetime64[M]")
    lengths = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(int)
    return bool((days <= lengths).all())


def _is_identifier(values: np.ndarray) -> bool:
    """Are whole numbers all different, of one number of digits, and in no order, as those of persons?"""
    low = float(values.min(initial=np.inf))
    if not (10 ** (_DIGITS_OF_IDENTIFIERS - 1) <= low < _LARGEST_IDENTIFIER):
        return False
    if values.max() >= 10 ** len(f"{low:.0f}") or len(np.unique(values)) < len(values):
        return False
    steps = np.diff(values)
    return bool((steps > 0).any() and (steps < 0).any())


def _sorted_labels(values: np.ndarray) -> tuple[str, ...]:
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) > _MOST_LABELS:
        raise _ProblemError(_too_many(len(distinct)))
    return tuple(label_of(value) for value in distinct)


def of_labels(name: str, values: Sequence[Any], wanted: ColumnKind | None, order: Sequence[Any] = ()) -> Column:
    """A column of texts, truth values or categories with its kind, as wanted or as found.

    Args:
        name: The name of the column.
        values: Its values; None and NaN are missing.
        wanted: The kind that the user, or the model for which these are new rows, wants.
        order: The categories in their order; by default labels are sorted.
    """
    try:
        return _of_labels(values, wanted, order)
    except _ProblemError as error:
        raise TableError(f"Column {name!r} {error}") from None


def _of_labels(values: Sequence[Any], wanted: ColumnKind | None, order: Sequence[Any]) -> Column:
    import pandas as pd

    codes, distinct = pd.factorize(np.array(values, dtype=object), use_na_sentinel=True)
    texts = [label_of(value) for value in distinct]
    if wanted is not None and wanted.kind not in LABELLED:
        raise _ProblemError(
            f"is no number but has, for example, {texts[0]!r}: it can be binary or categorical, not {wanted.kind}."
            if texts
            else f"is empty: leave it out (--exclude), it cannot be {wanted.kind}."
        )
    is_declared = wanted is not None
    if not is_declared and not len(order):
        _check_labels(texts, int((codes >= 0).sum()))
    labels = wanted.labels if wanted is not None and wanted.labels else _ordered(texts, order)
    if len(labels) > (_MOST_LABELS if is_declared else _MANY_LABELS):
        raise _ProblemError(_too_many(len(labels)))
    of_text = np.append(_codes_of(np.array(texts, dtype=object), labels), np.nan)
    kind = ("binary" if len(labels) == 2 else "categorical") if wanted is None else wanted.kind
    if kind == "binary" and len(labels) > 2:
        raise _ProblemError(f"is not binary: it has {_listed(labels)}. Say that it is categorical.")
    return Column(of_text[codes], kind, labels, f"{_listed(labels)}")


def _ordered(texts: Sequence[str], order: Sequence[Any]) -> tuple[str, ...]:
    """The labels that occur, in the order of categories, of numbers or of the alphabet."""
    found = set(texts)
    if len(order):
        return tuple(dict.fromkeys(text for text in map(label_of, order) if text in found))
    numbers = labels_as_numbers(sorted(found)) if found else None
    if numbers is None:
        return tuple(sorted(found))
    return tuple(np.array(sorted(found), dtype=object)[np.argsort(numbers, kind="stable")])


def _coded(values: np.ndarray, labels: Sequence[str], kind: str, reason: str = "") -> Column:
    """Numbers as the codes of their labels."""
    if kind == "binary" and len(labels) > 2:
        raise _ProblemError(f"is not binary: it has the values {_listed(labels)}. Say that it is categorical.")
    distinct, places = np.unique(values, return_inverse=True)
    texts = np.array([None if np.isnan(value) else label_of(value) for value in distinct], dtype=object)
    return Column(_codes_of(texts, labels)[places].astype(values.dtype), kind, tuple(labels), reason)


def _codes_of(texts: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """The code of each text; NaN for None."""
    code = {label: float(k) for k, label in enumerate(labels)}
    truth = {"0": "False", "1": "True"} if set(labels) <= {"False", "True"} else {}
    truth |= {"False": "0", "True": "1"} if {"0", "1"} >= set(labels) else {}
    codes = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        if text is None:
            continue
        known = text if text in code else truth.get(text, text)
        if known not in code:
            raise _ProblemError(f"has the label {text!r}, which is not among those that are known: {_listed(labels)}.")
        codes[place] = code[known]
    return codes


def _check_labels(texts: Sequence[str], n_rows: int) -> None:
    """Refuse what is no set of labels: dates, numbers in words of their own, identifiers."""
    are_numbers = [_is_number(text) for text in texts]
    others = [text for text, is_number in zip(texts, are_numbers, strict=True) if not is_number]
    if others and any(_DATE.fullmatch(text) for text in texts) and all(_DATE.fullmatch(text) for text in others):
        raise _ProblemError(_dates(others[0]))
    if others and all(_UNITS.fullmatch(text) for text in others):
        signs = [sign for sign in _SIGNS if any(sign in text for text in others)]
        advice = (
            f"remove {' and '.join(map(repr, signs))}, so that all are numbers in one unit"
            if signs
            else "say what the signs in a file mean (--decimal , or --thousands ,), turn them into numbers"
        )
        raise _ProblemError(
            f"holds numbers as texts, for example {others[0]!r}: {advice}, or say that it is categorical (kinds)."
        )
    if others and sum(are_numbers) >= len(others):
        raise _ProblemError(
            f"holds numbers and texts, for example {texts[are_numbers.index(True)]!r} and {others[0]!r}: say which "
            f"texts stand for missing values (na_values, --na-values {others[0]!r}), or that it is categorical (kinds)."
        )
    if len(texts) > 2 and n_rows < _ROWS_PER_LABEL * len(texts):
        raise _ProblemError(
            f"has {len(texts):,} different texts in {n_rows:,} rows, for example {texts[0]!r}: an identifier or free "
            "text is no variable. Leave it out (--exclude)."
        )


def _dates(example: str) -> str:
    return (
        f"holds dates or times, for example {example!r}: leave it out (--exclude), turn it into what may matter, as "
        "the days since the first or the month, or say by kinds (--kinds) what else it holds."
    )


def _too_many(n_labels: int) -> str:
    return (
        f"has {n_labels:,} labels, which are too many to learn from: merge rare ones, use a coarser category or a "
        "number in its place, or leave it out (--exclude)"
        + ("." if n_labels > _MOST_LABELS else "; kinds={name: 'categorical'} (--kinds) insists on it.")
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(map(repr, labels[:_SHOWN]))
    return f"{len(labels)} labels, {shown}, ..." if len(labels) > _SHOWN else shown


def note_of_kinds(names: Sequence[str], columns: Mapping[int, Column]) -> tuple[str, ...]:
    """What was decided of which columns, and why; nothing where all are plainly continuous."""
    decided: dict[str, list[str]] = {}
    for j, column in columns.items():
        if column.reason:
            decided.setdefault(column.kind, []).append(f"{names[j]!r} ({column.reason})")
    unclear = decided.pop("continuous", [])
    notes = []
    if decided:
        what = "; ".join(f"{kind} {some(found)}" for kind, found in decided.items())
        notes.append(f"Kinds of columns, by their values: {what}. kinds (--kinds) decides otherwise.")
    if unclear:
        notes.append(
            f"Taken for numbers: {some(unclear)}. If these are codes of categories, or counts, say so by kinds "
            "(--kinds)."
        )
    identifiers = [repr(names[j]) for j, column in columns.items() if column.is_identifier]
    if identifiers:
        notes.append(
            f"Look like identifiers, whole numbers of one length that are all different: {some(identifiers)}. Leave "
            "them out (--exclude) if they are."
        )
    return tuple(notes)
