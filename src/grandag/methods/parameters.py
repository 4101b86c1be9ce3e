"""Checks of constructor parameters: an error names the parameter, what is legal and what was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Rule", "boolean", "check_parameters", "integer", "number", "one_of"]


class Rule(NamedTuple):
    """When a value is legal, and how to say so."""

    is_legal: Callable[[Any], bool]
    description: str


def integer(minimum: int) -> Rule:
    """A whole number from `minimum` on."""

    def is_legal(value: Any) -> bool:
        return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= minimum

    return Rule(is_legal, f"a whole number, at least {minimum}")


def number(minimum: float, maximum: float = math.inf, *, open_minimum: bool = False) -> Rule:
    """A finite number in [minimum, maximum]; with `open_minimum`, above the minimum."""

    def is_legal(value: Any) -> bool:
        if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not math.isfinite(value):
            return False
        return (minimum < float(value) if open_minimum else minimum <= float(value)) and float(value) <= maximum

    above = "above" if open_minimum else "at least"
    below = "" if maximum == math.inf else f" and at most {maximum:g}"
    return Rule(is_legal, f"a number {above} {minimum:g}{below}")


def one_of(*values: Any) -> Rule:
    """One of a few values."""
    return Rule(
        lambda value: any(type(value) is type(legal) and value == legal for legal in values),
        "one of " + ", ".join(map(repr, values)),
    )


boolean = one_of(True, False)


def check_parameters(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise for the first illegal value."""
    for name, rule in rules.items():
        if not rule.is_legal(values[name]):
            raise ValueError(f"The parameter {name!r} must be {rule.description}; got {values[name]!r}.")
