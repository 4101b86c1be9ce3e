"""The paper's search spaces for hyper-parameters (its last table) in terms of our estimators, and draws from them.

    U{a, b, ...}            one of the values, each equally likely: `Choice`. So is the table's U[0.5, 0.75, 1, 2].
    Log(x) ~ U[low, high]   x = 10^u with u uniform between the two, in whichever order they stand: `PowerOfTen`.

The table does not say which logarithm. It is base 10: only then are the paper's own learning rates of 10^-2 and 10^-4
and its pruning cutoff of 10^-3 within the ranges (e^-3 would be a cutoff of 0.05, and e^-2 a learning rate of 0.14).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from grandag.parameters import ParameterError

__all__ = ["NOT_OFFERED", "SPACES", "Choice", "Distribution", "PowerOfTen", "Space", "draw", "draw_from", "space_of"]


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
Space = Mapping[str, Distribution]
"""The distribution of each parameter, by its name in the estimator; all are independent."""

_TOLERANCE = Choice((1e-6, 1e-8, 1e-10))
_UNITS = Choice((16, 32, 64, 128, 256))

_GRANDAG: Space = MappingProxyType(
    {
        "learning_rate": PowerOfTen(-3, -2),  # in the first subproblem
        "later_learning_rate": PowerOfTen(-4, -3),
        "mask_threshold": Choice((1e-3, 1e-4, 1e-5)),  # epsilon
        "prune_cutoff": Choice((1e-5, 1e-4, 1e-3, 1e-2, 1e-1)),
        "n_units": Choice((4, 8, 16, 32)),
        "n_layers": Choice((1, 2, 3)),
        "tolerance": _TOLERANCE,
        "neighbour_threshold": Choice((0.5, 0.75, 1.0, 2.0)),  # used from 50 columns on
    }
)

SPACES: Mapping[str, Space] = MappingProxyType(
    {
        "grandag": _GRANDAG,
        "grandag++": _GRANDAG,
        "dag-gnn": MappingProxyType(
            {
                "learning_rate": PowerOfTen(-4, -2),
                "n_encoder_units": _UNITS,
                "n_decoder_units": _UNITS,
                "tolerance": _TOLERANCE,
            }
        ),
        "notears": MappingProxyType(
            {
                "sparsity": Choice((0.001, 0.005, 0.01, 0.05, 0.1, 0.5)),
                "weight_threshold": Choice((0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)),
                "tolerance": _TOLERANCE,
            }
        ),
        "cam": MappingProxyType({"prune_cutoff": PowerOfTen(-6, 0)}),
        "gsf": MappingProxyType({"regulariser": PowerOfTen(-4, 4)}),
        "ges": MappingProxyType({"penalty": PowerOfTen(-4, 4)}),
    }
)
"""The search spaces by method."""

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
    """The paper's search space of a method, or an error that names the methods with one."""
    if method not in SPACES:
        raise ParameterError("method", f"must have a search space, as {', '.join(SPACES)} have; got {method!r}.")
    return SPACES[method]


def draw(method: str, n: int, seed: int = 0) -> list[dict[str, Any]]:
    """`n` random combinations of a method's hyper-parameters from the paper's space.

    The k-th depends on the seed and on k, not on n: asking for more continues the list.

    Example:
        >>> draw("notears", 2, seed=1) == draw("notears", 50, seed=1)[:2]
        True
    """
    return draw_from(space_of(method), n, seed)


def draw_from(space: Space, n: int, seed: int = 0) -> list[dict[str, Any]]:
    """`n` random combinations from any space."""
    streams = (np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(n))
    return [{name: distribution.draw(rng) for name, distribution in space.items()} for rng in streams]
