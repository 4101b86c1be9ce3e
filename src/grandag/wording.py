"""Words for numbers."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form.

    >>> counted(1, "edge"), counted(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"
