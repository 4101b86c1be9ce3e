"""Interventions: which rows of a table were made under which, and what they cannot be asked.

A row belongs to a regime, and a regime has targets: the variables whose mechanisms were replaced (perfect) or changed
(imperfect) from outside. A regime without targets is observational. Rows that target j say nothing about how j follows
from its parents, and all there is to say about everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from grandag.incoming import TableError, suggestion

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["INTERVENTION_KINDS", "MIN_REGIME_ROWS", "OBSERVATIONAL", "SEPARATOR", "Regimes", "as_regimes"]

INTERVENTION_KINDS = ("perfect", "imperfect")
"""A perfect intervention replaces the mechanism of its target; an imperfect one changes it, and its parents stay."""

MIN_REGIME_ROWS = 10
"""Below this a regime says nothing that noise could not."""

SEPARATOR = "|"
"""Between several targets of one regime."""

OBSERVATIONAL = "observational"
"""What a regime without targets is called."""


@dataclass(frozen=True)
class Regimes:
    """The regime of every row, and the targets of every regime."""

    of_row: np.ndarray  # (n,) the number of its regime
    targets: np.ndarray  # (regimes, d) bool
    kind: str = "perfect"  # one of INTERVENTION_KINDS

    @cached_property
    def counts(self) -> np.ndarray:
        """(regimes,) rows of each."""
        return np.bincount(self.of_row, minlength=len(self.targets))

    def are_free(self, variable: int) -> np.ndarray:
        """(n,) bool, the rows that do not target a variable: those that say how it follows from its parents."""
        return np.asarray(~self.targets[self.of_row, variable])

    @property
    def free(self) -> np.ndarray:
        """(n, d) bool, `are_free` of every variable."""
        return np.asarray(~self.targets[self.of_row])

    def n_free(self, variable: int) -> int:
        """The number of rows that do not target a variable."""
        return int(self.counts[~self.targets[:, variable]].sum())

    def take(self, rows: np.ndarray) -> Regimes:
        """Those of some of the rows, by number."""
        return replace(self, of_row=self.of_row[rows])

    def select(self, columns: np.ndarray) -> Regimes:
        """Those of some of the columns, by number or by a mask; targets elsewhere are forgotten."""
        return replace(self, targets=self.targets[:, columns])

    def members(self) -> list[np.ndarray]:
        """The numbers of the rows of each regime."""
        return [np.flatnonzero(self.of_row == regime) for regime in range(len(self.targets))]

    def without(self, regime: int) -> Regimes | None:
        """Those of the other rows; None if they have no targets."""
        others = _in_use(self.take(np.flatnonzero(self.of_row != regime)))
        return others if others.targets.any() else None

    def frame(self, names: Sequence[str]) -> pd.DataFrame:
        """One row per regime: its targets and its number of rows."""
        import pandas as pd

        return pd.DataFrame({"regime": self.titles(names), "rows": self.counts, "kind": self.kind})

    def describe(self, names: Sequence[str]) -> str:
        """One sentence."""
        is_target = self.targets.any(axis=1)
        n_regimes, n_rows = int(is_target.sum()), int(self.counts[is_target].sum())
        targets = ", ".join(names[int(j)] for j in np.flatnonzero(self.targets.any(axis=0)))
        return (
            f"{n_rows:,} of {int(self.counts.sum()):,} rows are from {n_regimes} regime{'s' * (n_regimes > 1)} of "
            f"{self.kind} interventions, on {targets}."
        )

    def titles(self, names: Sequence[str]) -> tuple[str, ...]:
        """What to call each regime: its targets."""
        return tuple(
            SEPARATOR.join(name for name, is_target in zip(names, targets, strict=True) if is_target) or OBSERVATIONAL
            for targets in self.targets
        )


def as_regimes(
    interventions: Iterable[Any],
    names: Sequence[str],
    kind: str = "perfect",
    *,
    rows: np.ndarray | None = None,
    to_learn_from: bool = True,
) -> Regimes:
    """Regimes from one text per row: a target's name, several separated by `|`, or nothing.

    Regimes are numbered in the order of their first rows.

    Args:
        interventions: The texts.
        names: The variables.
        kind: One of `INTERVENTION_KINDS`.
        rows: The numbers of the rows that are left, if some were dropped; regimes of none of them are forgotten.
        to_learn_from: Refuse regimes of a few rows, and variables that were never left alone.

    >>> regimes = as_regimes([""] * 10 + ["b"] * 10 + ["b|a"] * 10, ["a", "b"])
    >>> regimes.titles(["a", "b"]), int(regimes.are_free(0).sum())
    (('observational', 'b', 'a|b'), 20)
    """
    numbers: dict[frozenset[int], int] = {}
    read: dict[Any, int] = {}
    of_row = []
    for row, entry in enumerate(interventions):
        text = "" if _is_missing(entry) else _text(entry)
        if text not in read:
            read[text] = numbers.setdefault(_targets(text, names, row), len(numbers))
        of_row.append(read[text])
    targets = np.zeros((len(numbers), len(names)), dtype=bool)
    for of_regime, number in numbers.items():
        targets[number, list(of_regime)] = True
    regimes = Regimes(np.array(of_row, dtype=np.intp), targets, kind)
    if rows is not None:
        regimes = _in_use(regimes.take(rows))
    if to_learn_from:
        _check(regimes, names)
    return regimes


def _in_use(regimes: Regimes) -> Regimes:
    """Those that have a row."""
    used, of_row = np.unique(regimes.of_row, return_inverse=True)
    return replace(regimes, of_row=of_row, targets=regimes.targets[used])


def _text(entry: Any) -> str:
    """What a table has in a row; whole numbers, where names of columns are such, as they are written."""
    is_whole = isinstance(entry, float) and entry.is_integer()
    return str(int(entry)) if is_whole else str(entry).strip()


def _is_missing(entry: Any) -> bool:
    return entry is None or (isinstance(entry, float) and np.isnan(entry)) or type(entry).__name__ == "NAType"


def _targets(text: str, names: Sequence[str], row: int) -> frozenset[int]:
    """The variables that a text names; a name may have the separator in it."""
    if not text:
        return frozenset()
    parts = [text] if text in names else [part.strip() for part in text.split(SEPARATOR)]
    for part in parts:
        if part not in names:
            raise TableError(
                f"Row {row + 1} has the intervention target {part!r}, which is no column"
                f"{suggestion(part, names) or f': name columns, with {SEPARATOR} between several, or leave it empty.'}"
            )
    return frozenset(names.index(part) for part in parts)


def _check(regimes: Regimes, names: Sequence[str]) -> None:
    """Refuse regimes of a few rows, and variables that were never left alone."""
    for title, count in zip(regimes.titles(names), regimes.counts, strict=True):
        if count < MIN_REGIME_ROWS:
            raise TableError(
                f"The regime {title!r} has {count} row{'s' if count != 1 else ''}, and at least {MIN_REGIME_ROWS} are "
                "needed: leave these rows out, or get more of them."
            )
    for j in np.flatnonzero(regimes.targets.all(axis=0)):
        raise TableError(
            f"Every row intervenes on {names[int(j)]!r}, so that nothing can be learned about its causes: add rows "
            "that leave it alone, or leave the column out."
        )
