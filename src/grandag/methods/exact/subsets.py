"""Compiled searches over the order of the variables; sets of variables are bits, scores as in `parent_sets.py`.

s(j, U) = the score of the best parents of j within U

tail       H(T) = max over j in T of s(j, V - T) + H(T - j): the variables of T come last, in their best order
           (Silander and Myllymaki 2006, from the other end). H(V) is the best score of all DAGs.
A*         states are the sets U that come first, and g(U) the best score of their variables. The tails of groups of
           variables, each with all others at hand, add up to an upper bound of what can follow (Yuan and Malone
           2013); the state of the highest g plus bound is next, until all variables have come.
climb      one variable after the other moves to its best place in a given order: no proof, but soon good.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from grandag.engine.compiled import compiled, inlined

__all__ = ["FOUND", "FULL", "RUNNING", "States", "bounds", "climb", "expand", "fill_tail", "first_within",
           "hold_more", "last_of", "new_states", "reduced", "shared_gain"]  # fmt: skip

RUNNING, FOUND, FULL = 0, 1, 2
"""How `expand` ended: after its number of steps, with the best order, or with no room for another state."""

_ROUNDING = 1e-12
"""Differences of scores that may be rounding, relative to the score."""

_LEAST_GAIN = 1e-9
"""Smaller gains of a move may be rounding, and climbs must end."""

_LOAD = 0.6
"""Part of the places for states that may be taken."""


@inlined
def _first(sets: Any, start: Any, j: Any, pool: Any) -> Any:
    """The place of the best parents of j within a pool; -1 if required ones are missing."""
    for k in range(start[j], start[j + 1]):
        if sets[k] & ~pool == 0:
            return k
    return -1


@compiled
def first_within(sets: np.ndarray, start: np.ndarray, j: int, pool: int) -> int:
    """The place of the best parents of j within a pool; -1 if required ones are missing."""
    return int(_first(sets, start, j, pool))


@inlined
def _score(sets: Any, scores: Any, start: Any, j: Any, pool: Any) -> Any:
    """s(j, pool)"""
    k = _first(sets, start, j, pool)
    return scores[k] if k >= 0 else -np.inf


@compiled
def reduced(sets: np.ndarray) -> np.ndarray:
    """Of sets in the order of their scores, best first: which has no subset before it?"""
    kept = np.ones(sets.size, np.bool_)
    for k in range(sets.size):
        for before in range(k):
            if kept[before] and sets[before] & ~sets[k] == 0:
                kept[k] = False
                break
    return kept


@compiled
def fill_tail(
    sets: np.ndarray, scores: np.ndarray, start: np.ndarray, offset: int, tail: np.ndarray, first: int, last: int
) -> None:
    """H(T) of first <= T < last, T a set of the variables from `offset` on; smaller sets must have been filled in."""
    d = start.size - 1
    everything = (np.int64(1) << d) - 1
    for some in range(first, last):
        before = everything & ~(np.int64(some) << offset)
        best = -np.inf if some else 0.0
        rest = np.int64(some)
        j = 0
        while rest:
            if rest & 1:
                value = _score(sets, scores, start, offset + j, before) + tail[some & ~(np.int64(1) << j)]
                best = max(best, value)
            rest >>= 1
            j += 1
        tail[some] = best


@compiled
def bounds(tails: np.ndarray, offsets: np.ndarray, sizes: np.ndarray, d: int, state: Any) -> float:
    """An upper bound of what the variables that are not in the state can add."""
    rest = ((np.int64(1) << d) - 1) & ~state
    total, place = 0.0, 0
    for group in range(sizes.size):
        total += tails[place + ((rest >> offsets[group]) & ((np.int64(1) << sizes[group]) - 1))]
        place += np.int64(1) << sizes[group]
    return total


@compiled
def shared_gain(sets: np.ndarray, scores: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(d, d), symmetric: what two variables lose if neither may be a parent of the other."""
    d = start.size - 1
    everything = (np.int64(1) << d) - 1
    loss = np.zeros((d, d))
    for j in range(d):
        for i in range(d):
            if i != j:
                k = _first(sets, start, j, everything & ~(np.int64(1) << i))
                lost = scores[start[j]] - scores[k] if k >= 0 else np.inf
                loss[i, j] += lost
                loss[j, i] += lost
    return loss


@inlined
def _earlier(sets: Any, scores: Any, start: Any, order: Any, place: Any, pool: Any) -> Any:
    """The gain of moving a variable to the best of the places before its own, and that place."""
    v = order[place]
    best, target, gain, before = _LEAST_GAIN, place, 0.0, pool
    for q in range(place - 1, -1, -1):
        u = order[q]
        with_u, before = before, before & ~(np.int64(1) << u)
        moved = _score(sets, scores, start, v, before)
        if moved == -np.inf:
            break
        gain += moved - _score(sets, scores, start, v, with_u)
        gain += _score(sets, scores, start, u, before | np.int64(1) << v) - _score(sets, scores, start, u, before)
        if gain > best:
            best, target = gain, q
    return best, target


@inlined
def _later(sets: Any, scores: Any, start: Any, order: Any, place: Any, pool: Any) -> Any:
    """The gain of moving a variable to the best of the places after its own, and that place."""
    v = order[place]
    best, target, gain, before = _LEAST_GAIN, place, 0.0, pool
    for q in range(place + 1, order.size):
        u = order[q]
        with_u = before | np.int64(1) << u
        moved = _score(sets, scores, start, u, before)
        if moved == -np.inf:
            break
        gain += moved - _score(sets, scores, start, u, before | np.int64(1) << v)
        gain += _score(sets, scores, start, v, with_u) - _score(sets, scores, start, v, before)
        before = with_u
        if gain > best:
            best, target = gain, q
    return best, target


@compiled
def climb(sets: np.ndarray, scores: np.ndarray, start: np.ndarray, order: np.ndarray) -> float:
    """Improve an order that required edges allow until no variable gains by another place; returns its score.

    A move is a series of swaps with the next one, each of which changes the pools of two variables only.
    """
    d = order.size
    has_moved = True
    while has_moved:
        has_moved = False
        for v in range(d):
            place, pool = 0, np.int64(0)
            while order[place] != v:
                pool |= np.int64(1) << order[place]
                place += 1
            gain, target = _earlier(sets, scores, start, order, place, pool)
            gain_later, later = _later(sets, scores, start, order, place, pool)
            if gain_later > gain:
                target = later
            if target != place:
                has_moved = True
                step = 1 if target > place else -1
                for q in range(place, target, step):
                    order[q] = order[q + step]
                order[target] = v
    total, pool = 0.0, np.int64(0)
    for v in order:
        total += _score(sets, scores, start, v, pool)
        pool |= np.int64(1) << v
    return total


class States(NamedTuple):
    """The states of A*: a hash table of sets with g and the variable that came last, and a heap of g + bound."""

    keys: np.ndarray  # (places,) int64, -1 where there is none
    g: np.ndarray
    last: np.ndarray  # int8
    heap_f: np.ndarray  # (places,)
    heap_key: np.ndarray
    counts: np.ndarray  # states, entries of the heap, states that were expanded


def new_states(n_places: int) -> States:
    """Room for some states; the number of places is a power of two."""
    return States(
        np.full(n_places, -1, dtype=np.int64),
        np.empty(n_places),
        np.empty(n_places, dtype=np.int8),
        np.empty(n_places),
        np.empty(n_places, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
    )


def hold_more(old: States) -> States:
    """The same states with twice the room."""
    new = new_states(2 * len(old.keys))
    _copy(old.keys, old.g, old.last, new.keys, new.g, new.last)
    n = old.counts[1]
    new.heap_f[:n], new.heap_key[:n], new.counts[:] = old.heap_f[:n], old.heap_key[:n], old.counts
    return new


@compiled
def _copy(
    keys: np.ndarray, g: np.ndarray, last: np.ndarray, new_keys: np.ndarray, new_g: np.ndarray, new_last: np.ndarray
) -> None:
    for old in range(keys.size):
        if keys[old] >= 0:
            place = _place(new_keys, keys[old])
            new_keys[place], new_g[place], new_last[place] = keys[old], g[old], last[old]


@inlined
def _place(keys: Any, state: Any) -> Any:
    """Where a state is, or where there is room for it."""
    mask = np.int64(keys.size - 1)
    mixed = state ^ (state >> 31)
    mixed = (mixed * np.int64(0x9E3779B97F4A7C1)) & np.int64(0x7FFFFFFFFFFFFFFF)
    place = (mixed ^ (mixed >> 29)) & mask
    while keys[place] >= 0 and keys[place] != state:
        place = (place + 1) & mask
    return place


@compiled
def last_of(keys: np.ndarray, last: np.ndarray, state: int) -> int:
    """The variable that came last to a state."""
    return int(last[_place(keys, np.int64(state))])


@inlined
def _push(heap_f: Any, heap_key: Any, counts: Any, f: Any, key: Any) -> Any:
    place = counts[1]
    counts[1] += 1
    while place > 0:
        above = (place - 1) // 2
        if heap_f[above] >= f:
            break
        heap_f[place], heap_key[place] = heap_f[above], heap_key[above]
        place = above
    heap_f[place], heap_key[place] = f, key


@inlined
def _pop(heap_f: Any, heap_key: Any, counts: Any) -> Any:
    """Remove the entry of the highest f, which is the first."""
    counts[1] -= 1
    n = counts[1]
    f, key = heap_f[n], heap_key[n]
    place = 0
    while 2 * place + 1 < n:
        below = 2 * place + 1
        if below + 1 < n and heap_f[below + 1] > heap_f[below]:
            below += 1
        if heap_f[below] <= f:
            break
        heap_f[place], heap_key[place] = heap_f[below], heap_key[below]
        place = below
    heap_f[place], heap_key[place] = f, key


@compiled
def expand(
    sets: np.ndarray,
    scores: np.ndarray,
    start: np.ndarray,
    tails: np.ndarray,
    offsets: np.ndarray,
    sizes: np.ndarray,
    states: Any,
    known: float,
    n_steps: int,
) -> int:
    """Expand up to so many states, those that cannot lead beyond the known score left out; returns how it ended.

    When all variables have come, or nothing is left that could beat what is known, the search is over.
    """
    keys, g, last, heap_f, heap_key, counts = states
    d = start.size - 1
    everything = (np.int64(1) << d) - 1
    rounding = _ROUNDING * max(abs(known), 1.0)
    if counts[0] == 0:
        place = _place(keys, np.int64(0))
        keys[place], g[place], last[place] = 0, 0.0, -1
        counts[0] = 1
        _push(heap_f, heap_key, counts, bounds(tails, offsets, sizes, d, np.int64(0)), np.int64(0))
    room = np.int64(_LOAD * keys.size) - d
    for _ in range(n_steps):
        if counts[0] > room or counts[1] > heap_f.size - d - 1:
            return FULL
        if counts[1] == 0 or heap_f[0] <= known + rounding or heap_key[0] == everything:
            return FOUND
        f, state = heap_f[0], heap_key[0]
        _pop(heap_f, heap_key, counts)
        here = g[_place(keys, state)]
        if f < here + bounds(tails, offsets, sizes, d, state) - rounding:
            continue  # it was reached in a better way since
        counts[2] += 1
        for j in range(d):
            own = np.int64(1) << j
            value = here + _score(sets, scores, start, j, state)
            after = state | own
            f = value + bounds(tails, offsets, sizes, d, after)
            if state & own or f <= known + rounding:
                continue
            place = _place(keys, after)
            is_new = keys[place] < 0
            if is_new or value > g[place] + rounding:
                counts[0] += is_new
                keys[place], g[place], last[place] = after, value, j
                _push(heap_f, heap_key, counts, f, after)
    return RUNNING
