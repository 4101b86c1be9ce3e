"""Words for numbers, and the line of the user that a warning is about."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["counted", "levels_to_the_user", "some"]


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form.

    >>> counted(1, "edge"), counted(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"


def some(words: Sequence[str], most: int = 5) -> str:
    """The first of some words, and how many more there are.

    >>> some(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def levels_to_the_user() -> int:
    """The stack level, for a warning of the caller, of the first line outside the library and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("grandag", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level
