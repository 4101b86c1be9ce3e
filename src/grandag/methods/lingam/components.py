"""Independent components of a table, by preconditioned quasi-Newton steps over rotations (Ablin et al. 2018).

Of white columns z the components y = W z, W orthogonal, are as far from Gaussian as can be:

    min_W  sum_i s_i E log cosh y_i,     s_i = sign k_i,     k_i = E (1 - tanh^2 y_i) - E y_i tanh y_i

These are the stationary points of FastICA with the same contrast, whose own iterations need not converge: on noise that
is nearly Gaussian they go in circles. W moves by rotations e^D W, D skew; to first and second order in D the objective
has

    gradient  G_ij = (s_i E tanh(y_i) y_j - s_j E tanh(y_j) y_i) / 2,     Hessian about (|k_i| + |k_j|) / 2

and L-BFGS, from that Hessian on, has the rest. Components begin at those that are closest to the columns, which are
z = C^(-1/2) x with the correlations C: most noises of a linear model are closest to their own variable, so that few
steps lead to them, while from a random start most ways end in other optima. No chance is involved, and the order of the
columns does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Components", "components", "contrast", "descend", "whitening"]

_TOLERANCE = 1e-6
"""Of the largest entry of the gradient; W is known from n rows up to about 1 / sqrt(n)."""
_MEMORY = 10
_LEAST_CURVATURE = 0.01
_HALVINGS = 10


class Components(NamedTuple):
    """W C^(-1/2), whose rows times a row of the table are its components, and whether the search met its tolerance."""

    unmixing: np.ndarray  # (d, d)
    converged: bool


class _Point(NamedTuple):
    """Components under some rotation, and the derivatives of the objective along further ones."""

    W: np.ndarray  # (d, d)
    y: np.ndarray  # (d, n)
    log_cosh: np.ndarray  # (d,) E log cosh y_i
    signs: np.ndarray  # (d,) s_i
    gradient: np.ndarray  # (d, d) skew
    curvature: np.ndarray  # (d, d)

    @property
    def is_stationary(self) -> bool:
        return bool(np.abs(self.gradient).max() <= _TOLERANCE)


def components(values: np.ndarray, max_iterations: int) -> Components:
    """The components of standardised columns (n, d) whose correlations have full rank."""
    whitener = whitening(values)
    rotation, converged = descend(whitener @ values.T, max_iterations)
    return Components(rotation @ whitener, converged)


def whitening(values: np.ndarray) -> np.ndarray:
    """C^(-1/2): of all that make columns white, the one that changes them least."""
    eigenvalues, vectors = np.linalg.eigh(values.T @ values / len(values))
    return np.asarray(vectors / np.sqrt(eigenvalues) @ vectors.T)


def contrast(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """tanh(y) and, of each row, E log cosh y, from one exponential of each number."""
    size = np.abs(y)
    tail = np.exp(-2 * size)
    log_cosh = (size + np.log(1 + tail)).mean(axis=1) - np.log(2)
    return np.copysign((1 - tail) / (1 + tail), y), log_cosh


def descend(z: np.ndarray, max_iterations: int) -> tuple[np.ndarray, bool]:
    """The rotation W of white rows z (d, n), begun at I; and whether the gradient vanishes there."""
    point, memory = _point(np.eye(len(z)), z), _Memory()
    for _ in range(max_iterations):
        if point.is_stationary:
            break
        found = _downhill(point, memory.direction(point))
        if found is None and memory.is_empty:
            break
        if found is None:
            memory = _Memory()
            continue
        step, reached = found
        if (reached.signs == point.signs).all():
            memory.add(step, reached.gradient - point.gradient)
        else:  # another objective
            memory = _Memory()
        point = reached
    return point.W, point.is_stationary


def _downhill(point: _Point, direction: np.ndarray) -> tuple[np.ndarray, _Point] | None:
    """A step in the direction, halved until it leads down, and where it leads; None, if it does not."""
    for _ in range(_HALVINGS):
        rotation = _rotation(direction)
        reached = _point(rotation @ point.W, rotation @ point.y)
        if point.signs @ reached.log_cosh <= point.signs @ point.log_cosh:
            return direction, reached
        direction = direction / 2
    return None


def _point(W: np.ndarray, y: np.ndarray) -> _Point:
    tanh, log_cosh = contrast(y)
    moments = tanh @ y.T / y.shape[1]
    k = 1 - np.square(tanh).mean(axis=1) - np.diagonal(moments)
    signs = np.where(k < 0, -1.0, 1.0)
    slope, sizes = signs[:, None] * moments, np.abs(k)
    curvature = np.maximum((sizes[:, None] + sizes) / 2, _LEAST_CURVATURE)
    return _Point(W, y, log_cosh, signs, (slope - slope.T) / 2, curvature)


def _rotation(D: np.ndarray) -> np.ndarray:
    """(I - D/2)^(-1) (I + D/2), Cayley's transform of a skew matrix: orthogonal, and e^D up to its third power."""
    identity = np.eye(len(D))
    return np.asarray(np.linalg.solve(identity - D / 2, identity + D / 2))


class _Memory:
    """The last steps with the changes of the gradient that they brought, from which L-BFGS takes its direction."""

    def __init__(self) -> None:
        self._pairs: list[tuple[np.ndarray, np.ndarray, float]] = []

    @property
    def is_empty(self) -> bool:
        return not self._pairs

    def add(self, step: np.ndarray, change: np.ndarray) -> None:
        """Remember a step, if the objective curves upwards along it."""
        curvature = float((step * change).sum())
        if curvature > 0:
            self._pairs = [*self._pairs[1 - _MEMORY :], (step, change, curvature)]

    def direction(self, point: _Point) -> np.ndarray:
        """Minus the inverse Hessian times the gradient, by the two loops of L-BFGS."""
        rest, shares = -point.gradient, list[float]()
        for step, change, curvature in reversed(self._pairs):
            shares.append(float((step * rest).sum()) / curvature)
            rest = rest - shares[-1] * change
        found = rest / point.curvature
        for (step, change, curvature), share in zip(self._pairs, reversed(shares), strict=True):
            found = found + (share - float((change * found).sum()) / curvature) * step
        return np.asarray(found)
