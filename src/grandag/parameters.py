"""Parameters, each declared once: default, legal values, help, source in the paper, presets and search space.

A method declares its parameters as fields of a frozen dataclass, its config:

    @dataclass(frozen=True, kw_only=True)
    class CamConfig:
        prune: bool = parameter(True, boolean, "Drop edges that are not significant.", paper=True)

The estimator's constructor, the check of values, presets, the command line's options with their help, the tables of
the documentation and the search spaces of `grandag.tune` are all read from there.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grandag.knowledge import Knowledge

__all__ = [
    "Choice",
    "Distribution",
    "Parameter",
    "ParameterError",
    "PowerOfTen",
    "Rule",
    "as_generator",
    "boolean",
    "check_parameters",
    "check_unused",
    "count",
    "integer",
    "knowledge",
    "n_jobs",
    "number",
    "one_of",
    "optional",
    "parameter",
    "parameters_of",
    "plain",
    "positive",
    "probability",
    "random_state",
    "redeclared",
    "word_of",
]


class ParameterError(ValueError):
    """A parameter has an illegal value; `name` is the parameter's."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"The parameter {name!r} {message}")
        self.name = name
        self.message = message

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (self.name, self.message)  # an exception is rebuilt from its text otherwise, which fails


@dataclass(frozen=True)
class Rule:
    """When a value is legal, how to say so, and which value a word on the command line stands for."""

    is_legal: Callable[[Any], bool]
    description: str
    parse: Callable[[str], Any] = str  # raises ValueError for a word that stands for nothing
    words: tuple[str, ...] = ()  # all legal words, where there are few


@dataclass(frozen=True)
class Choice:
    """One of some values, each equally likely."""

    values: tuple[Any, ...]

    def draw(self, rng: np.random.Generator) -> Any:
        """One value."""
        return self.values[int(rng.integers(len(self.values)))]


@dataclass(frozen=True)
class PowerOfTen:
    """10^u, u uniform between two exponents."""

    low: float
    high: float

    def draw(self, rng: np.random.Generator) -> float:
        """One value."""
        return float(10.0 ** rng.uniform(self.low, self.high))


Distribution = Choice | PowerOfTen
"""How a hyper-parameter search draws a parameter."""


@dataclass(frozen=True)
class Parameter:
    """Everything that is declared of a parameter."""

    default: Any
    rule: Rule
    description: str
    source: str = ""  # where the paper, or the released program, has it
    search: Distribution | None = None
    unused_with: str = ""  # the name of a parameter that leaves this one without effect, if it is `unused_at`
    unused_at: Any = True
    presets: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # values by the name of the preset

    def value_in(self, preset: str) -> Any:
        """The value that a preset gives it."""
        return self.presets.get(preset, self.default)

    def is_unused(self, values: Mapping[str, Any]) -> bool:
        """Is it without effect beside these values of all parameters?"""
        return bool(self.unused_with) and values[self.unused_with] == self.unused_at


def parameter(
    default: Any,
    rule: Rule,
    description: str,
    *,
    source: str = "",
    search: Distribution | None = None,
    unused_with: str = "",
    unused_at: Any = True,
    **presets: Any,
) -> Any:
    """A field of a config. Keywords beyond those above are values in presets: `paper=1e-4`."""
    declared = Parameter(default, rule, description, source, search, unused_with, unused_at, presets)
    return dataclasses.field(default=default, metadata={"parameter": declared})


def redeclared(config: type, name: str, default: Any, *, search: Distribution | None = None, **presets: Any) -> Any:
    """A parameter of another config with a default, search space and presets of its own."""
    other = parameters_of(config)[name]
    same = {"source": other.source, "unused_with": other.unused_with, "unused_at": other.unused_at}
    return parameter(default, other.rule, other.description, search=search, **same, **presets)


def parameters_of(config: type) -> dict[str, Parameter]:
    """The parameters that a config or an estimator declares, by name, in the order of their declaration."""
    return {
        field.name: field.metadata["parameter"] for field in dataclasses.fields(config) if "parameter" in field.metadata
    }


def check_parameters(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise for the first illegal value."""
    for name, rule in rules.items():
        if not rule.is_legal(values[name]):
            raise ParameterError(name, f"must be {rule.description}; got {values[name]!r}.")


def check_unused(values: Mapping[str, Any], declared: Mapping[str, Parameter]) -> None:
    """Raise for the first parameter that was changed although it has no effect beside the others."""
    for name, parameter in declared.items():
        if parameter.is_unused(values) and values[name] != parameter.default:
            switch, value = parameter.unused_with, parameter.unused_at
            advice = (
                f"while {switch!r} is on: leave it out, or switch {switch!r} off."
                if value is True
                else f"with {switch}={value!r}: leave it out."
            )
            raise ParameterError(name, f"has no effect {advice}")


def integer(minimum: int) -> Rule:
    """A whole number from `minimum` on."""

    def is_legal(value: Any) -> bool:
        return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= minimum

    return Rule(is_legal, f"a whole number, at least {minimum}", int)


def number(minimum: float, maximum: float = math.inf, *, open_minimum: bool = False) -> Rule:
    """A finite number in [minimum, maximum]; with `open_minimum`, above the minimum."""

    def is_legal(value: Any) -> bool:
        if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not math.isfinite(value):
            return False
        return (minimum < float(value) if open_minimum else minimum <= float(value)) and float(value) <= maximum

    above = "above" if open_minimum else "at least"
    below = "" if maximum == math.inf else f" and at most {maximum:g}"
    return Rule(is_legal, f"a number {above} {minimum:g}{below}", float)


def one_of(*values: Any) -> Rule:
    """One of a few values; on the command line, True and False are yes and no."""
    words = {_WORDS.get(value, str(value)): value for value in values}

    def parse(word: str) -> Any:
        if word not in words:
            raise ValueError(word)
        return words[word]

    return Rule(
        lambda value: any(type(plain(value)) is type(legal) and value == legal for legal in values),
        "one of " + ", ".join(map(repr, values)),
        parse,
        tuple(words),
    )


_WORDS: dict[Any, str] = {True: "yes", False: "no"}


def optional(rule: Rule) -> Rule:
    """None, or what another rule allows."""
    return Rule(
        lambda value: value is None or rule.is_legal(value),
        f"None or {rule.description}",
        lambda word: None if word.lower() == "none" else rule.parse(word),
        ("none", *rule.words) if rule.words else (),
    )


boolean = one_of(True, False)
count = integer(1)
positive = number(0, open_minimum=True)
probability = number(0, 1)
n_jobs = Rule(
    lambda value: value is None or (integer(-1).is_legal(value) and value != 0),
    "None, -1 (all cores) or a count of threads",
    int,
)
cluster = Rule(
    lambda value: value is None or isinstance(value, str),
    "None or the address of a Dask scheduler, as 'tcp://HOST:8786'",
)
knowledge = Rule(
    lambda value: value is None or isinstance(value, Knowledge | Mapping | str | Path),
    "None, a Knowledge, its fields in a dictionary, or a file with them",
)
kinds = Rule(
    lambda value: (
        value is None
        or isinstance(value, str | Path)
        or (isinstance(value, Mapping) and all(isinstance(kind, str) for kind in value.values()))
    ),
    "None, a dictionary of columns and kinds, a file with it, or pairs in one text, as 'smoker=binary'",
)
random_state = Rule(
    lambda value: (
        value is None or integer(0).is_legal(value) or isinstance(value, np.random.Generator | np.random.RandomState)
    ),
    "None, a whole number of at least 0, a numpy Generator or a RandomState",
    int,
)


def word_of(value: Any) -> str:
    """A value as one would write it on the command line, where a rule's `parse` reads it."""
    if value is None:
        return "none"
    return _WORDS[value] if isinstance(value, bool) else str(value)


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator from None, a seed, a numpy Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def plain(value: Any) -> Any:
    """Python's own number, bool or string for numpy's, text for a path, and a dictionary of lists for knowledge.

    A dictionary of texts is no knowledge, and stays as it is.
    """
    if isinstance(value, Knowledge):
        return value.as_dict()
    if isinstance(value, Mapping) and all(isinstance(entry, str) for entry in value.values()):
        return {str(name): entry for name, entry in value.items()}
    if isinstance(value, Mapping):
        return Knowledge.of(value).as_dict()
    if isinstance(value, Path):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value
