"""The columns of a table as networks use them: the density of each, its values for that density, and what others read.

    kind            density ("auto")     its values    what other networks read
    continuous      additive-gaussian    z             z
    heavy-tailed    student-t            z             z
    binary          bernoulli            0, 1          the standardised code
    categorical     categorical          0 .. K-1      K standardised indicators, a group
    count           negative-binomial    0, 1, 2 ...   standardised log(1 + x)

z is the standardised number. A count or a binary column whose density is one of numbers is a number.
"""

from __future__ import annotations

import csv
import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from grandag.engine.density import DENSITIES
from grandag.engine.network import Variable
from grandag.parameters import ParameterError, Rule
from grandag.table import MANY_ROWS, Scaling, Table, blocks, rows_of, spread, suggestion

__all__ = ["FITTING", "OF_NUMBERS", "Encoding", "Reading", "by_column", "densities_of", "density_rule", "encode"]

OF_NUMBERS = ("additive-gaussian", "gaussian", "student-t")
"""Densities of numbers, which standardising changes by no more than a constant."""

_BY_KIND = {
    "continuous": "additive-gaussian",
    "heavy-tailed": "student-t",
    "binary": "bernoulli",
    "categorical": "categorical",
    "count": "negative-binomial",
}

FITTING = {
    "continuous": OF_NUMBERS,
    "heavy-tailed": OF_NUMBERS,
    "binary": ("bernoulli", *OF_NUMBERS),
    "categorical": ("categorical",),
    "count": ("negative-binomial", *OF_NUMBERS),
}
"""The densities that a column of each kind may have."""

_NAMES = ("auto", *DENSITIES)


def _is_density(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and density in _NAMES for name, density in value.items())
    if isinstance(value, list | tuple):
        return all(isinstance(density, str) and density in _NAMES for density in value)
    return isinstance(value, str) and value in _NAMES


def _parse(word: str) -> str | dict[str, str]:
    """A name, or pairs of columns and names."""
    if "=" not in word:
        return word
    (words,) = csv.reader([word], skipinitialspace=True)
    pairs = [pair.rpartition("=") for pair in words if pair.strip()]
    return {name.strip(): density.strip() for name, _, density in pairs}


density_rule = Rule(
    _is_density,
    f"one of {', '.join(map(repr, _NAMES))}, a dictionary of columns and these, or a list with one per column",
    _parse,
)


def densities_of(
    density: str | Mapping[str, str] | Sequence[str], table: Table, *, strict: bool = True
) -> tuple[str, ...]:
    """The density of each column.

    One name of a density of numbers holds for all columns of numbers but counts; other columns have that of their kind.
    In a dictionary names may be patterns (`q*`), and columns that it leaves out have the density of their kind; a list
    has one per column, in their order. With `strict`, names of no column are an error.
    """
    names, kinds = table.names, table.kinds
    if isinstance(density, str):
        is_general = density in OF_NUMBERS
        chosen = {
            name: density
            for name, kind in zip(names, kinds, strict=True)
            if density != "auto" and (not is_general or kind in ("continuous", "heavy-tailed"))
        }
    else:
        chosen = _by_name(by_column(density, names), names, strict)
    found = []
    for name, kind in zip(names, kinds, strict=True):
        own = chosen.get(name, "auto")
        if own != "auto" and own not in FITTING[kind]:
            raise ParameterError(
                "density",
                f"cannot be {own!r} for {name!r}, which is {kind}: it can be {' or '.join(map(repr, FITTING[kind]))}. "
                "'auto' chooses by kind, and kinds= says what a column holds.",
            )
        found.append(_BY_KIND[kind] if own == "auto" else own)
    return tuple(found)


def by_column(density: Mapping[str, str] | Sequence[str], names: Sequence[str]) -> Mapping[str, str]:
    """Densities by name, of a list with one per column in their order."""
    if isinstance(density, Mapping):
        return density
    if len(density) != len(names):
        raise ParameterError("density", f"has {len(density)} entries for {len(names)} columns: give one per column.")
    return dict(zip(names, density, strict=True))


def _by_name(density: Mapping[str, str], names: Sequence[str], strict: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for word, own in density.items():
        matching = [word] if word in names else [name for name in names if fnmatch.fnmatchcase(name, word)]
        if not matching and strict:
            raise ParameterError("density", f"names {word!r}, which is no column{suggestion(word, names) or '.'}")
        found |= dict.fromkeys(matching, own)
    return found


@dataclass(frozen=True)
class Reading:
    """What networks read of columns: numbers, log(1 + x) of counts, an indicator per label; all of it scaled."""

    n_labels: np.ndarray  # (p,) 0: no labels
    is_count: np.ndarray  # (p,)
    scaling: Scaling  # of all that is read, column by column

    @property
    def width(self) -> int:
        """How many numbers are read."""
        return int(np.maximum(self.n_labels, 1).sum())

    def is_consistent(self, n_columns: int) -> bool:
        """Do the shapes fit together and the number of columns?"""
        is_right = self.n_labels.shape == self.is_count.shape == (n_columns,)
        is_right &= self.n_labels.dtype.kind == "i" and self.is_count.dtype == bool
        return is_right and not (self.n_labels < 0).any() and self.scaling.is_consistent(self.width)

    def apply(self, values: np.ndarray, dtype: str) -> np.ndarray:
        """(n, width) of the columns' values (n, p)."""
        if self.width == len(self.n_labels) and not self.is_count.any() and not self.n_labels.any():
            return self.scaling.apply(values, dtype)
        return self.scaling.apply(self.unscaled(values), dtype)

    def unscaled(self, values: np.ndarray) -> np.ndarray:
        """The same before it is scaled."""
        read = []
        for column, n, is_count in zip(values.T, self.n_labels, self.is_count, strict=True):
            x = np.asarray(column, dtype=np.float64)
            read.append(x[:, None] == np.arange(n) if n else (np.log1p(x) if is_count else x)[:, None])
        return np.concatenate([np.empty((len(values), 0)), *read], axis=1)

    def of(self, chosen: np.ndarray) -> Reading:
        """The same of some columns, by a mask."""
        owner = np.repeat(np.arange(len(self.n_labels)), np.maximum(self.n_labels, 1))
        is_read = chosen[owner]
        scaling = Scaling(self.scaling.mean[is_read], self.scaling.scale[is_read])
        return Reading(self.n_labels[chosen], self.is_count[chosen], scaling)


class Encoding(NamedTuple):
    """From the rows of a table to those of the engine: a column per variable, then what is read in other columns."""

    densities: tuple[str, ...]
    scaling: Scaling  # of the values that densities are of
    reading: Reading  # of all variables
    is_apart: np.ndarray  # (d,) is it read in other columns?
    variables: tuple[Variable, ...]

    def apply(self, values: np.ndarray, dtype: str) -> np.ndarray:
        """Rows for the engine."""
        own = self.scaling.apply(values, dtype)
        if not self.is_apart.any():
            return own
        apart = self.reading.of(self.is_apart)
        rows = np.empty((len(values), own.shape[1] + apart.width), dtype)
        rows[:, : own.shape[1]] = own
        for block in blocks(len(values)):
            rows[block, own.shape[1] :] = apart.apply(values[block][:, self.is_apart], dtype)
        return rows


def encode(table: Table, densities: Sequence[str], *, standardise: bool) -> Encoding:
    """How the columns of a table enter, each with its density."""
    d = len(table.names)
    is_number = np.array([density in OF_NUMBERS for density in densities])
    scaling = Scaling.identity(d)
    if standardise and is_number.any():
        standard = table.scaling
        scaling = Scaling(np.where(is_number, standard.mean, 0.0), np.where(is_number, standard.scale, 1.0))
    pairs = zip(densities, table.labels, strict=True)
    n_labels = np.array([len(labels) if density == "categorical" else 0 for density, labels in pairs])
    is_count = np.array([density == "negative-binomial" for density in densities])
    is_gaussian = set(densities) <= {"additive-gaussian", "gaussian"}  # for which nothing has to be read
    some = np.empty((0, d)) if is_gaussian else rows_of(table.values, spread(len(table.values), MANY_ROWS))
    reading = _reading(some, n_labels, is_count, scaling, is_number, standardise)
    variables, end = [], d
    for j, density in enumerate(densities):
        start, width = (j, 1) if is_number[j] else (end, max(int(n_labels[j]), 1))
        end += 0 if is_number[j] else width
        outputs, constants = DENSITIES[density].start((some[:, j] - scaling.mean[j]) / scaling.scale[j], n_labels[j])
        variables.append(Variable(density, range(start, start + width), tuple(outputs), tuple(constants)))
    return Encoding(tuple(densities), scaling, reading, ~is_number, tuple(variables))


def _reading(
    values: np.ndarray,
    n_labels: np.ndarray,
    is_count: np.ndarray,
    scaling: Scaling,
    is_number: np.ndarray,
    standardise: bool,
) -> Reading:
    """Numbers are read as they are scaled for their densities; of the rest, what is read has mean 0 and variance 1.

    An indicator of a label that no row has stays 0.
    """
    width = np.maximum(n_labels, 1)
    mean, scale = np.repeat(scaling.mean, width), np.repeat(scaling.scale, width)
    if standardise and not is_number.all():
        read = Reading(n_labels, is_count, Scaling(mean, scale)).unscaled(values)
        is_apart = np.repeat(~is_number, width)
        deviation = read.std(axis=0)
        mean = np.where(is_apart, read.mean(axis=0), mean)
        scale = np.where(is_apart, np.where(deviation > 0, deviation, 1.0), scale)
    return Reading(n_labels, is_count, Scaling(mean, scale))
