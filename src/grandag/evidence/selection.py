"""Selection: which of the given parents the evidence needs, by backward elimination, weakest first."""

from __future__ import annotations

from grandag.evidence.scores import LocalScores, Parents

__all__ = ["eliminate"]

_CLOSE = 25.0
"""A parent whose removal costs more nats than this, nothing else refitted, stays without a closer look."""
_NOTHING = 0.3
"""Parents that cost less than this each, nothing refitted, are tried together."""


def eliminate(
    scores: LocalScores, child: int, parents: Parents, required: frozenset[int] = frozenset(), near: Parents = ()
) -> Parents:
    """Parents whose removal would each cost more evidence than an edge costs.

    A removal is first judged with the length scale at infinity and nothing refitted: the true loss is less. No parents
    at all are an alternative to any others. `near` are parents whose fit is a good start.
    """
    scores.fit(child, parents, near)
    settled: set[int] = set(required)
    while True:
        value = scores.full(child, parents)
        losses = {parent: value - scores.without(child, parents, [parent]) for parent in parents if parent not in settled}
        idle = [parent for parent, loss in losses.items() if loss < _NOTHING]
        if len(idle) > 1 and value - scores.without(child, parents, idle) < scores.config.cost_per_edge:
            parents = _drop(scores, child, parents, idle)
            continue
        for parent in sorted(losses, key=lambda parent: losses[parent]):
            if losses[parent] > _CLOSE:
                continue
            fewer = tuple(other for other in parents if other != parent)
            if value - scores.full(child, fewer, parents) < scores.config.cost_per_edge:
                parents = fewer
                break
            settled.add(parent)
        else:
            break
    kept = tuple(parent for parent in parents if parent in required)
    return kept if scores.score(child, kept, parents) >= scores.score(child, parents) else parents


def _drop(scores: LocalScores, child: int, parents: Parents, dropped: list[int]) -> Parents:
    fewer = tuple(parent for parent in parents if parent not in dropped)
    scores.full(child, fewer, parents)
    return fewer
