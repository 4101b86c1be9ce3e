"""Background knowledge: forbidden and required edges.

    forbidden  pairs (cause, effect) that are no edges
    required   pairs (cause, effect) that are edges
    tiers      groups of variables in time: nothing in a later tier causes anything in an earlier one
    roots      variables without causes
    leaves     variables without effects

Variables are named by column, or by a pattern in the manner of the shell ("gene_*"). `Knowledge.masks` turns the words
into two matrices and refuses contradictions before anything runs.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, Self

import networkx as nx
import numpy as np

from grandag.graph import ancestors, is_acyclic, to_networkx
from grandag.incoming import InputError, read_content, reason_of
from grandag.table import suggestion

__all__ = ["Knowledge", "KnowledgeError", "Masks"]

Pairs = tuple[tuple[str, str], ...]

_DEEP_KEY = re.compile(r"(?<![\w'\"-])(?:[\w'\"-]+\s*\.\s*){50}")
"""Keys like a.b.c and so on: time and memory of Python's reader of TOML grow with the square of their length."""


class KnowledgeError(InputError):
    """The knowledge contradicts itself or the table; the message says where, and what to do."""


class Masks(NamedTuple):
    """What knowledge says about the edges between the columns of a table."""

    allowed: np.ndarray  # (d, d) bool: may i -> j be? No edge that closes a cycle with required ones is.
    required: np.ndarray  # (d, d) bool: must i -> j be?

    def without(self, is_constant: np.ndarray, names: Sequence[str]) -> Masks:
        """What is allowed and required between the columns that are not constant."""
        for i, j in np.argwhere(self.required):
            constant = j if is_constant[j] else i
            if is_constant[constant]:
                raise KnowledgeError(
                    f"The edge {names[i]} -> {names[j]} is required, but {names[constant]!r} is constant: drop the "
                    "edge or the column."
                )
        varying = np.ix_(~is_constant, ~is_constant)
        return Masks(self.allowed[varying], self.required[varying])


@dataclass(frozen=True)
class Knowledge:
    """What is known about the edges of a graph before any data are seen.

    Example:
        >>> knowledge = Knowledge(forbidden=[("income", "age")], tiers=[["age", "sex"], ["income"]])
        >>> knowledge.masks(("age", "sex", "income")).allowed.astype(int)
        array([[0, 1, 1],
               [1, 0, 1],
               [0, 0, 0]])
    """

    forbidden: Pairs = ()
    required: Pairs = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    roots: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    closed_tiers: tuple[int, ...] = ()
    """Numbers (from 0) of tiers without edges inside."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "forbidden", _pairs("forbidden", self.forbidden))
        object.__setattr__(self, "required", _pairs("required", self.required))
        object.__setattr__(self, "tiers", tuple(_names("tiers", tier) for tier in _items("tiers", self.tiers)))
        for field in ("roots", "leaves"):
            object.__setattr__(self, field, _names(field, getattr(self, field)))
        closed = _items("closed_tiers", self.closed_tiers)
        for number in closed:
            if not isinstance(number, int) or not 0 <= number < len(self.tiers):
                raise KnowledgeError(f"There is no tier {number!r} to close: there are {len(self.tiers)}, from 0 on.")
        object.__setattr__(self, "closed_tiers", closed)

    @classmethod
    def of(cls, knowledge: Knowledge | Mapping[str, Any] | str | Path | None) -> Knowledge:
        """Knowledge from what an estimator's parameter may be: itself, its fields, a file, or nothing."""
        if knowledge is None:
            return cls()
        if isinstance(knowledge, Knowledge):
            return knowledge
        if isinstance(knowledge, Mapping):
            return cls._from_fields(knowledge, "The knowledge")
        return cls.read(knowledge)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Knowledge from a TOML file with the fields above as keys, or from Tetrad's text format (starts with /)."""
        path = Path(path)
        if not path.exists():
            raise FileNotFoundError(f"There is no file {str(path)!r}: check the path.")
        try:
            text = read_content(path).decode()
            is_tetrad = text.lstrip().startswith("/")
            if _DEEP_KEY.search(text):
                raise KnowledgeError(f"{str(path)!r} has keys within keys; the keys are {', '.join(_fields(cls))}.")
            content = _parse_tetrad(text, str(path)) if is_tetrad else tomllib.loads(text)
        except KnowledgeError:
            raise
        except Exception as error:  # whatever a stranger's file brings up
            raise KnowledgeError(
                f"{str(path)!r} is neither TOML nor Tetrad's format (first line /knowledge): {reason_of(error)}."
            ) from None
        return cls._from_fields(content, repr(str(path)))

    @classmethod
    def _from_fields(cls, content: Mapping[str, Any], what: str) -> Self:
        known = _fields(cls)
        for key in content:
            if key not in known:
                raise KnowledgeError(
                    f"{what} has the key {key!r}{suggestion(key, known)}; the keys are {', '.join(known)}."
                )
        return cls(**content)

    def as_dict(self) -> dict[str, Any]:
        """The fields that say anything, as plain lists."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: [list(item) if isinstance(item, tuple) else item for item in value]
            for name, value in content.items()
            if value
        }

    def to_toml(self) -> str:
        r"""The text of a file that `read`, and `--knowledge` of the command line, take.

        >>> print(Knowledge(forbidden=[("income", "age")], roots=["age"]).to_toml())
        forbidden = [
          ["income", "age"],
        ]
        roots = [
          "age",
        ]
        <BLANKLINE>
        """
        lines = []
        for field, items in self.as_dict().items():
            lines += [f"{field} = [", *(f"  {_toml(item)}," for item in items), "]"]
        return "".join(f"{line}\n" for line in lines)

    def masks(self, names: Sequence[str]) -> Masks:
        """Allowed and required edges between these columns; contradictions are refused."""
        required = self._edges("required", self.required, names)
        forbidden, reasons = self._forbidden(names)
        for i, j in np.argwhere(required & forbidden):
            raise KnowledgeError(
                f"The edge {names[i]} -> {names[j]} is required, but {reasons[i, j]}: drop one of the two."
            )
        if not is_acyclic(required):
            cycle = nx.find_cycle(to_networkx(required, names))
            path = " -> ".join([*(source for source, _ in cycle), cycle[0][0]])
            raise KnowledgeError(f"The required edges have a cycle, {path}: drop one of them.")
        return Masks(~forbidden & ~ancestors(required).T, required)

    def _forbidden(self, names: Sequence[str]) -> tuple[np.ndarray, dict[tuple[int, int], str]]:
        """Forbidden edges, and why each is."""
        matrix = np.eye(len(names), dtype=bool)
        reasons: dict[tuple[int, int], str] = {}

        def forbid(edges: np.ndarray, reason: str) -> None:
            for i, j in np.argwhere(edges & ~matrix):
                reasons[int(i), int(j)] = reason
            matrix[edges] = True

        forbid(self._edges("forbidden", self.forbidden, names), "it is forbidden")
        roots = self._columns("roots", self.roots, names)
        forbid(np.broadcast_to(roots, matrix.shape), "its effect is among the roots")
        leaves = self._columns("leaves", self.leaves, names)
        forbid(np.broadcast_to(leaves[:, None], matrix.shape), "its cause is among the leaves")
        tiers = self._tier_of(names)
        known = tiers >= 0
        forbid(known[:, None] & known & (tiers[:, None] > tiers), "its cause is in a later tier than its effect")
        closed = np.isin(tiers, self.closed_tiers)
        forbid(closed[:, None] & (tiers[:, None] == tiers), "both are in a tier without edges inside")
        return matrix, reasons

    def _tier_of(self, names: Sequence[str]) -> np.ndarray:
        """The number of each column's tier; -1 for columns in none, about which tiers say nothing."""
        tier_of = np.full(len(names), -1)
        for number, tier in enumerate(self.tiers):
            members = self._columns("tiers", tier, names)
            for j in np.flatnonzero(members & (tier_of >= 0) & (tier_of != number)).tolist():
                raise KnowledgeError(f"{names[j]!r} is in tier {tier_of[j]} and in tier {number}: leave it in one.")
            tier_of[members] = number
        return tier_of

    def _edges(self, field: str, pairs: Pairs, names: Sequence[str]) -> np.ndarray:
        matrix = np.zeros((len(names), len(names)), dtype=bool)
        for cause, effect in pairs:
            causes, effects = (self._columns(field, (name,), names) for name in (cause, effect))
            matrix |= causes[:, None] & effects
        np.fill_diagonal(matrix, False)
        return matrix

    def _columns(self, field: str, patterns: Iterable[str], names: Sequence[str]) -> np.ndarray:
        """Which columns do names or patterns mean? One that means none is refused, with a suggestion."""
        found = np.zeros(len(names), dtype=bool)
        for pattern in patterns:
            matches = np.array([name == pattern for name in names], dtype=bool)
            if not matches.any():
                matches = np.array([fnmatchcase(name, pattern) for name in names], dtype=bool)
            if not matches.any():
                raise KnowledgeError(
                    f"The knowledge names {pattern!r} among {field}, but the table has no such column"
                    f"{suggestion(pattern, names) or '.'}"
                )
            found |= matches
        return found


def _toml(value: Any) -> str:
    """Names, numbers and lists of them in TOML, whose strings are JSON's but for one control character."""
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        raise KnowledgeError(f"{value!r} has half of a character, which no file can hold: rename the column.")
    return text


def _fields(cls: type[Knowledge]) -> list[str]:
    return [field.name for field in fields(cls)]


def _items(field: str, items: Any) -> tuple[Any, ...]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise KnowledgeError(f"The knowledge's {field} must be a list; got {items!r}.")
    return tuple(items)


def _names(field: str, names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in _items(field, names)):
        raise KnowledgeError(f"The knowledge's {field} must be lists of column names; got {names!r}.")
    return tuple(names)


def _pairs(field: str, pairs: Any) -> Pairs:
    checked = []
    for pair in _items(field, pairs):
        names = () if isinstance(pair, str) or not isinstance(pair, Sequence) else tuple(pair)
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise KnowledgeError(
                f"The knowledge's {field} must be pairs (cause, effect) of column names; got {pair!r}."
            )
        checked.append((names[0], names[1]))
    return tuple(checked)


def _parse_tetrad(text: str, path: str) -> dict[str, Any]:
    """The fields of a file in Tetrad's format.

        /knowledge
        addtemporal
        1* age sex
        2 income
        forbiddirect
        sex income
        requiredirect
        age income

    A tier's number is followed by * if there are no edges inside it; variables are separated by white space.
    """
    section, tiers, closed = "", dict[str, list[str]](), set[str]()
    pairs: dict[str, list[list[str]]] = {"forbiddirect": [], "requiredirect": []}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] == "/knowledge":
            continue
        if len(words) == 1 and words[0] in {"addtemporal", *pairs}:
            section = words[0]
        elif section == "addtemporal" and words[0].rstrip("*").isdigit():
            tier = words[0].rstrip("*")
            tiers.setdefault(tier, []).extend(words[1:])
            if words[0].endswith("*"):
                closed.add(tier)
        elif section in pairs and len(words) == 2:
            pairs[section].append(words)
        else:
            raise KnowledgeError(
                f"Line {number} of {path!r} is {line.strip()!r}: expected addtemporal with tiers, forbiddirect or "
                "requiredirect with two variables a line (groups and tiers that reach the next one only are not read)."
            )
    order = sorted(tiers, key=int)
    return {
        "forbidden": pairs["forbiddirect"],
        "required": pairs["requiredirect"],
        "tiers": [tiers[tier] for tier in order],
        "closed_tiers": [order.index(tier) for tier in sorted(closed, key=int)],
    }
