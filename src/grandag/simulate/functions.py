"""Functions of a variable's parents that a few drawn constants define; those of Gaussian processes are next door."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

__all__ = ["Function", "Linear"]


class Function(Protocol):
    """What a mechanism needs of a function."""

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x (n, p)."""

    def describe(self) -> dict[str, Any]:
        """Its kind, as "function", and its constants, as plain values."""


def _described(name: str, function: Any) -> dict[str, Any]:
    return {"function": name, **{c.name: np.asarray(getattr(function, c.name)).tolist() for c in fields(function)}}


@dataclass(frozen=True)
class Linear:
    """f(x) = coefficients' x; no coefficients, for variables without parents, give 0."""

    coefficients: np.ndarray

    @classmethod
    def draw(cls, n_inputs: int, rng: np.random.Generator) -> Linear:
        """Coefficients ~ U[0, 1]."""
        return cls(rng.random((n_inputs,)))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x."""
        values: np.ndarray = x @ self.coefficients
        return values

    def describe(self) -> dict[str, Any]:
        """Kind and coefficients."""
        return _described("linear", self)
