"""Selection: which of the given parents the evidence needs, by backward elimination, weakest first."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from grandag.evidence.scores import LocalScores, Parents

__all__ = ["choose", "eliminate"]

_CLOSE = 25.0
"""A parent whose removal costs more nats than this, nothing else refitted, stays without a closer look."""
_NOTHING = 0.3
"""Parents that cost less than this each, nothing refitted, are tried together."""
_FLAT = np.log(10.0)
"""Length scale from which an input hardly matters."""
_EXPLAINED = np.log(0.5)
"""Few rows are trusted about what hardly matters if they leave less of the variance than this unexplained."""
_PROMISING = 3.0
"""Standard deviations from which a candidate is tried as a further parent."""


def choose(
    scores: LocalScores, child: int, parents: Parents, further: Collection[int], required: frozenset[int], near: Parents
) -> Parents:
    """The parents that a child needs of those given, and of `further` candidates those that promise something.

    What few rows find flat is put back among the further candidates; all rows then say whether it promises anything.
    `near` are parents whose fit is a good start.
    """
    untried = set(parents) | set(further)
    parents = _thin(scores, child, parents, required, near)
    while True:
        untried -= set(parents)
        parents = eliminate(scores, child, parents, required, near)
        promise = scores.promise(child, parents)
        more = {candidate for candidate in untried if promise[candidate] > _PROMISING}
        if not more:
            return parents
        near, parents = parents, tuple(sorted({*parents, *more}))


def eliminate(scores: LocalScores, child: int, parents: Parents, required: frozenset[int], near: Parents) -> Parents:
    """Parents whose removal would each cost more evidence than an edge costs.

    A removal is first judged with the length scale at infinity and nothing refitted: the true loss is less. No parents
    at all are an alternative to any others.
    """
    scores.fit(child, parents, near)
    settled: set[int] = set(required)
    while True:
        value = scores.full(child, parents)
        losses = {
            parent: value - scores.without(child, parents, [parent]) for parent in parents if parent not in settled
        }
        idle = {parent for parent, loss in losses.items() if loss < _NOTHING}
        if len(idle) > 1 and value - scores.without(child, parents, idle) < scores.cost_per_edge:
            near, parents = parents, tuple(parent for parent in parents if parent not in idle)
            scores.fit(child, parents, near)
            continue
        for parent in sorted(losses, key=lambda parent: losses[parent]):
            fewer = tuple(other for other in parents if other != parent)
            if losses[parent] > _CLOSE:
                continue
            if value - scores.full(child, fewer, parents) < scores.cost_per_edge:
                parents = fewer
                break
            settled.add(parent)
        else:
            break
    kept = tuple(parent for parent in parents if parent in required)
    return kept if scores.score(child, kept, parents) >= scores.score(child, parents) else parents


def _thin(scores: LocalScores, child: int, parents: Parents, required: frozenset[int], near: Parents) -> Parents:
    """Parents without those that few rows find flat, if few rows explain the child at all."""
    if len(parents) <= 2:
        return parents
    log_parameters = scores.few_fit(child, parents, near).log_parameters
    if log_parameters[-1] > _EXPLAINED:
        return parents
    return tuple(
        parent
        for parent, length_scale in zip(parents, log_parameters, strict=False)
        if length_scale < _FLAT or parent in required
    )
