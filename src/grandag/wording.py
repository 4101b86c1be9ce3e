"""Words for numbers, texts that a terminal may show, and the line of the user that a warning is about."""

from __future__ import annotations

import sys

__all__ = ["counted", "levels_to_the_user", "visible"]


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form.

    >>> counted(1, "edge"), counted(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"


def visible(text: str) -> str:
    """A text that may come from a file; what a terminal would obey instead of show is written out as an escape."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else letter.encode("unicode_escape").decode()
        for letter in text
    )


def levels_to_the_user() -> int:
    """The stack level, for a warning of the caller, of the first line outside the library and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("grandag", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level
