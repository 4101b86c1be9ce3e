"""Background knowledge, one click at a time: each function takes knowledge and gives other knowledge."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from grandag.knowledge import Knowledge, KnowledgeError

__all__ = ["about_columns", "edited"]

Pair = tuple[str, str]


def edited(knowledge: Knowledge, edit: str, names: Sequence[str], columns: Sequence[str]) -> Knowledge:
    """The knowledge after an edit by its name, which `columns` of the table would not contradict.

    Edits of an edge (cause, effect): forbid, require, reverse, free. Of a node: root, leaf, free, or tier 0, tier 1,
    and so on; `tier` alone takes it out of all tiers. `clear` forgets everything.
    """
    if any(name not in columns for name in names):
        raise KnowledgeError(f"The table has no column {next(name for name in names if name not in columns)!r}.")
    word, _, number = edit.partition(" ")
    if word == "clear":
        return Knowledge()
    if word == "tier" and len(names) == 1:
        changed = _in_tier(knowledge, names[0], int(number) if number.isdigit() else None)
    elif len(names) == 2 and word in _OF_EDGES and names[0] != names[1]:
        changed = _OF_EDGES[word](knowledge, (names[0], names[1]))
    elif len(names) == 1 and word in _OF_NODES:
        changed = _OF_NODES[word](knowledge, names[0])
    else:
        raise KnowledgeError(f"There is no edit {edit!r} of {len(names)} columns.")
    changed.masks(columns)
    return changed


def about_columns(knowledge: Knowledge, columns: Collection[str]) -> Knowledge:
    """What is known about some of the columns: all that names another one is left out; tiers keep their numbers."""

    def known(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        return tuple(pair for pair in pairs if set(pair) <= set(columns))

    def kept(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in columns)

    return replace(
        knowledge,
        forbidden=known(knowledge.forbidden),
        required=known(knowledge.required),
        tiers=tuple(map(kept, knowledge.tiers)),
        roots=kept(knowledge.roots),
        leaves=kept(knowledge.leaves),
    )


def _free(knowledge: Knowledge, *pairs: Pair) -> Knowledge:
    """Nothing is known of these edges by themselves."""
    return replace(
        knowledge,
        forbidden=tuple(pair for pair in knowledge.forbidden if pair not in pairs),
        required=tuple(pair for pair in knowledge.required if pair not in pairs),
    )


def _forbid(knowledge: Knowledge, pair: Pair) -> Knowledge:
    free = _free(knowledge, pair)
    return replace(free, forbidden=(*free.forbidden, pair))


def _require(knowledge: Knowledge, pair: Pair) -> Knowledge:
    free = _free(knowledge, pair)
    required = tuple(other for other in free.required if other != pair[::-1])
    return replace(free, required=(*required, pair))


def _reverse(knowledge: Knowledge, pair: Pair) -> Knowledge:
    """The edge is there, the other way round."""
    return _require(knowledge, (pair[1], pair[0]))


def _root(knowledge: Knowledge, name: str) -> Knowledge:
    return replace(_without_role(knowledge, name), roots=(*_others(knowledge.roots, name), name))


def _leaf(knowledge: Knowledge, name: str) -> Knowledge:
    return replace(_without_role(knowledge, name), leaves=(*_others(knowledge.leaves, name), name))


def _without_role(knowledge: Knowledge, name: str) -> Knowledge:
    return replace(knowledge, roots=_others(knowledge.roots, name), leaves=_others(knowledge.leaves, name))


def _in_tier(knowledge: Knowledge, name: str, number: int | None) -> Knowledge:
    """In this tier only; tiers at the end that are empty are gone."""
    tiers = [_others(tier, name) for tier in knowledge.tiers]
    if number is not None:
        if number > 99:
            raise KnowledgeError(f"There are at most 100 tiers, from 0 on; got {number}.")
        tiers += [()] * (number + 1 - len(tiers))
        tiers[number] = (*tiers[number], name)
    while tiers and not tiers[-1]:
        tiers.pop()
    closed = tuple(place for place in knowledge.closed_tiers if place < len(tiers))
    return replace(knowledge, tiers=tuple(tiers), closed_tiers=closed)


def _others(names: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(other for other in names if other != name)


_OF_EDGES: dict[str, Callable[[Knowledge, Any], Knowledge]] = {
    "forbid": _forbid,
    "require": _require,
    "reverse": _reverse,
    "free": lambda knowledge, pair: _free(knowledge, pair),
}
_OF_NODES: dict[str, Callable[[Knowledge, str], Knowledge]] = {"root": _root, "leaf": _leaf, "free": _without_role}
