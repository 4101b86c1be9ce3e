"""Selection: which of the given parents the evidence needs, by backward elimination, weakest first."""

from __future__ import annotations

import numpy as np

from grandag.evidence.interface import Parents, Scores

__all__ = ["choose", "eliminate", "hides_more", "loss"]

_CLOSE = 25.0
"""A parent whose removal costs more nats than this, nothing else refitted, stays without a closer look."""
_IDLE_SHARE = 0.25
"""Idle parents go together if that costs less evidence than this share of what their edges cost."""
_HIDDEN_WORTH = 5.0
"""What many candidates together have to be worth, in costs of an edge, to be looked at closely."""
_MANY, _WORTH_SHARE = 20, 0.5
"""More candidates than this come first only if they are worth this share of what their edges cost."""
_PROMISING, _AT_ONCE = 2.0, 4
"""Standard deviations from which a candidate is tried as a further parent, and how many are at once."""


def choose(
    scores: Scores, child: int, parents: Parents, further: np.ndarray, required: frozenset[int], near: Parents
) -> Parents:
    """The parents that a child needs of those given, and of `further` candidates (d,) those that promise something.

    What few rows find flat is put back among the further candidates; all rows then say whether it promises anything.
    The most promising are tried together, again and again, until none of them stays and the rest promises less.
    `near` are parents whose fit is a good start.
    """
    untried = further.copy()
    untried[list(parents)] = True
    parents = _thin(scores, child, parents, required, near)
    parents, set_aside = _first(scores, child, parents, tuple(sorted({*near, *required})))
    while True:
        untried[list(parents)] = False
        if _in_vain(scores, child, parents, required, near):
            found = near
        else:
            found = eliminate(scores, child, parents, required, near)
        promise = scores.promise(child, found)
        promising = np.flatnonzero(untried & (promise > _PROMISING)).tolist()
        more = sorted(promising, key=lambda i: -promise[i])[:_AT_ONCE]
        if more and (found != near or promise[more[0]] >= scores.promising):
            parents = tuple(sorted((*found, *more)))
        elif set_aside and hides_more(scores, child, tuple(sorted({*found, *set_aside})), found):
            parents, set_aside = tuple(sorted({*found, *set_aside})), ()
        else:
            return found
        near = found


def eliminate(scores: Scores, child: int, parents: Parents, required: frozenset[int], near: Parents) -> Parents:
    """Parents whose removal would each cost more evidence than an edge costs.

    A removal is first judged with the length scale at infinity and nothing refitted: the true loss is less. No parents
    but the required ones are an alternative to any others, at the beginning too: with many irrelevant inputs the
    evidence has a degenerate optimum.
    """
    least = tuple(parent for parent in parents if parent in required)
    scores.full(child, parents, near)
    settled = set(required)
    while scores.full(child, parents) > scores.full(child, least, parents) + scores.edge_cost(child):
        fewer = _without_idle(scores, child, parents, settled)
        if fewer == parents:
            fewer = _without_weakest(scores, child, parents, settled)
        if fewer == parents:
            break
        scores.full(child, fewer, parents)
        parents = fewer
    return least if scores.score(child, least, parents) >= scores.score(child, parents) else parents


def loss(scores: Scores, child: int, parents: Parents, parent: int) -> float:
    """Nats that are lost without this parent, everything else fitted anew: on few rows where that is clear."""
    fewer = tuple(other for other in parents if other != parent)
    if scores.loss(child, parents, (parent,)) >= _CLOSE:
        lost = scores.scale * (scores.few(child, parents) - scores.few(child, fewer, parents))
        if lost >= _CLOSE:
            return lost
    return scores.full(child, parents) - scores.full(child, fewer, parents)


def _without_idle(scores: Scores, child: int, parents: Parents, settled: set[int]) -> Parents:
    """Parents without as many of those that few rows find idle as may go together: all, half of them, a quarter …"""
    losses = {parent: scores.few_loss(child, parents, (parent,)) for parent in parents if parent not in settled}
    idle = [i for i in sorted(losses, key=lambda i: losses[i]) if scores.scale * losses[i] < scores.edge_cost(child)]
    while len(idle) > 1:
        if scores.loss(child, parents, tuple(idle)) < scores.edge_cost(child) * max(1.0, _IDLE_SHARE * len(idle)):
            return tuple(parent for parent in parents if parent not in idle)
        idle = idle[: len(idle) // 2]
    return parents


def _without_weakest(scores: Scores, child: int, parents: Parents, settled: set[int]) -> Parents:
    """Parents without the weakest that is not worth an edge, if there is one; the others are settled."""
    few_losses = {i: scores.few_loss(child, parents, (i,)) for i in parents if i not in settled}
    close = sorted((i for i in few_losses if few_losses[i] < _CLOSE), key=lambda i: few_losses[i])
    for some in (close[k : k + _AT_ONCE] for k in range(0, len(close), _AT_ONCE)):
        losses = {parent: scores.loss(child, parents, (parent,)) for parent in some}
        for parent in sorted((i for i in some if losses[i] < _CLOSE), key=lambda i: losses[i]):
            fewer = tuple(other for other in parents if other != parent)
            if scores.full(child, parents) - scores.full(child, fewer, parents) < scores.edge_cost(child):
                return fewer
            settled.add(parent)
    return parents


def _in_vain(scores: Scores, child: int, parents: Parents, required: frozenset[int], near: Parents) -> bool:
    """Whether all of these parents together are not worth a single edge more than the fewer near them."""
    if not required.intersection(parents) <= set(near) < set(parents):
        return False
    return not scores.reaches(child, parents, near, scores.edge_cost(child))


def hides_more(scores: Scores, child: int, parents: Parents, found: Parents) -> bool:
    """Whether many parents together show what those that were found do not.

    Their evidence may creep up for long: the fit is given up only if it is not worth a single edge.
    """
    cost = scores.edge_cost(child)
    if not scores.reaches(child, parents, found, cost):
        return False
    return scores.full(child, parents) - scores.full(child, found) >= _HIDDEN_WORTH * cost


def _first(scores: Scores, child: int, parents: Parents, fewer: Parents) -> tuple[Parents, Parents]:
    """The parents to begin with, and those that are set aside: many that are worth little begin with the fewer.

    A fit of many inputs then follows the noise with a little of each, and elimination would take them one by one.
    """
    n_more = len(set(parents) - set(fewer))
    if n_more <= _MANY:
        return parents, ()
    if not hides_more(scores, child, parents, fewer):
        return fewer, ()
    worth = scores.full(child, parents) - scores.full(child, fewer)
    return (parents, ()) if worth > _WORTH_SHARE * n_more * scores.edge_cost(child) else (fewer, parents)


def _thin(scores: Scores, child: int, parents: Parents, required: frozenset[int], near: Parents) -> Parents:
    """Parents without those that few rows find flat."""
    if len(parents) <= 2:
        return parents
    flat = scores.flat(child, parents, near)
    return tuple(parent for parent in parents if parent not in flat or parent in required)
