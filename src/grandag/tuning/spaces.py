"""Search spaces that parameters declare, those of the paper (its last table), and draws from them.

    U{a, b, ...}            one of the values, each equally likely: `Choice`. So is the table's U[0.5, 0.75, 1, 2].
    Log(x) ~ U[low, high]   x = 10^u with u uniform between the two, in whichever order they stand: `PowerOfTen`.

The table does not say which logarithm. It is base 10: only then are the paper's own learning rates of 10^-2 and 10^-4
and its pruning cutoff of 10^-3 within the ranges (e^-3 would be a cutoff of 0.05, and e^-2 a learning rate of 0.14).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from grandag.methods.registry import METHODS, find
from grandag.parameters import Choice, Distribution, ParameterError, PowerOfTen, parameters_of

__all__ = ["NOT_OFFERED", "Choice", "Distribution", "PowerOfTen", "Space", "draw", "draw_from", "space_of", "used_part"]

Space = Mapping[str, Distribution]
"""The distribution of each parameter, by its name in the estimator; all are independent."""

NOT_OFFERED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "dag-gnn": MappingProxyType(
            {
                "dimension of Z": "1, 5, 10, 50 or 100 in the paper; ours is 1 per variable: the engine tabulates "
                "encoder and decoder as functions of one argument (docs/baselines.md)"
            }
        )
    }
)
"""Hyper-parameters of the paper that our estimators do not have, with the reason."""


def space_of(method: str) -> Space:
    """The search space that a method declares, or an error that names the methods that declare one."""
    space = _declared(method) if method in METHODS else {}
    if not space:
        find(method)
        searched = ", ".join(name for name in METHODS if _declared(name))
        raise ParameterError("method", f"must have a search space, as {searched} have; got {method!r}.")
    return space


def _declared(method: str) -> Space:
    declared = parameters_of(METHODS[method].estimator())
    return {name: parameter.search for name, parameter in declared.items() if parameter.search is not None}


def used_part(space: Space, estimator: Any) -> Space:
    """A method's search space without parameters that have no effect beside the others of an estimator."""
    declared, values = parameters_of(type(estimator)), estimator.get_params(deep=False)
    return {name: distribution for name, distribution in space.items() if not declared[name].is_unused(values)}


def draw(method: str, n: int, seed: int = 0) -> list[dict[str, Any]]:
    """`n` random combinations of a method's hyper-parameters from its space.

    The k-th depends on the seed and on k, not on n: more of them are a continuation.

    Example:
        >>> draw("notears", 2, seed=1) == draw("notears", 50, seed=1)[:2]
        True
    """
    return draw_from(space_of(method), n, seed)


def draw_from(space: Space, n: int, seed: int = 0) -> list[dict[str, Any]]:
    """`n` combinations from any space; each parameter has its own random numbers, whatever else is searched."""
    return [{name: distribution.draw(_stream(seed, k, name)) for name, distribution in space.items()} for k in range(n)]


def _stream(seed: int, trial: int, name: str) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial, zlib.crc32(name.encode()))))
