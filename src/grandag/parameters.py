"""Checks of constructor parameters: an error names the parameter, what is legal and what was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grandag.knowledge import Knowledge

__all__ = [
    "ParameterError",
    "Rule",
    "as_generator",
    "boolean",
    "check_parameters",
    "integer",
    "knowledge",
    "n_jobs",
    "number",
    "one_of",
    "optional",
    "plain",
    "random_state",
]


class ParameterError(ValueError):
    """A parameter has an illegal value; `name` is the parameter's."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"The parameter {name!r} {message}")
        self.name = name
        self.message = message

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (self.name, self.message)  # an exception is rebuilt from its text otherwise, which fails


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
        lambda value: any(type(plain(value)) is type(legal) and value == legal for legal in values),
        "one of " + ", ".join(map(repr, values)),
    )


def optional(rule: Rule) -> Rule:
    """None, or what another rule allows."""
    return Rule(lambda value: value is None or rule.is_legal(value), f"None or {rule.description}")


boolean = one_of(True, False)
n_jobs = Rule(
    lambda value: value is None or (integer(-1).is_legal(value) and value != 0),
    "None, -1 (all cores) or a count of threads",
)
knowledge = Rule(
    lambda value: value is None or isinstance(value, Knowledge | Mapping | str | Path),
    "None, a Knowledge, its fields in a dictionary, or a file with them",
)
random_state = Rule(
    lambda value: (
        value is None or integer(0).is_legal(value) or isinstance(value, np.random.Generator | np.random.RandomState)
    ),
    "None, a whole number of at least 0, a numpy Generator or a RandomState",
)


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator from None, a seed, a numpy Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def plain(value: Any) -> Any:
    """Python's own number, bool or string for numpy's, text for a path, and a dictionary for knowledge."""
    if isinstance(value, Knowledge):
        return value.as_dict()
    if isinstance(value, Path):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def check_parameters(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise for the first illegal value."""
    for name, rule in rules.items():
        if not rule.is_legal(values[name]):
            raise ParameterError(name, f"must be {rule.description}; got {values[name]!r}.")
