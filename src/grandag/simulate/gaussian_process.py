"""Functions drawn from a Gaussian process with kernel k(x, y) = exp(-|x - y|^2 / 2), unit bandwidth.

Up to `EXACT_ROWS` rows the values at the given inputs X are an exact draw by Cholesky, y = L z, L L' = K + jitter I.
The jitter of 1e-8 makes the factorisation safe where inputs are close (K is then singular to rounding). The function
goes on between and beyond the inputs as a draw of the process given these values (Matheron's rule; Wilson et al.,
"Efficiently sampling functions from Gaussian process posteriors", 2020):

    f(x) = g(x) + k(x, X) (K + jitter I)^-1 (y - g(X))

with g a second, independent draw by random Fourier features. The plain interpolant k(x, X) K^-1 y would fall to 0
between the inputs when there are several parents, so that new rows would have another distribution than the first
ones; this does not. Beyond `EXACT_ROWS` rows the function is g alone,

    g(x) = sum_k a_k cos(w_k' x + b_k),   w_k ~ N(0, I),  b_k ~ U[0, 2 pi],  a_k ~ Rayleigh / sqrt(number of features)

whose covariance is exactly k, and which is Gaussian given the frequencies. Either way a function is a fixed,
deterministic map: the same inputs give the same values, always.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

__all__ = ["EXACT_ROWS", "FourierFunction", "GaussianProcessFunction", "draw_function", "kernel"]

EXACT_ROWS = 3000
"""Above this the Cholesky factor takes more than 72 MB and a second; features take over."""

N_FEATURES = 500
JITTER = 1e-8
_BLOCK = 4096


def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """exp(-|x_a - y_b|^2 / 2) for all rows a of x and b of y."""
    exponents: np.ndarray = x @ y.T  # in place from here on: the matrix is large
    exponents -= (x**2).sum(axis=1)[:, None] / 2
    exponents -= (y**2).sum(axis=1) / 2
    np.minimum(exponents, 0, out=exponents)
    np.exp(exponents, out=exponents)
    return exponents


def _blocks(n_rows: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, n_rows, _BLOCK))


@dataclass(frozen=True)
class FourierFunction:
    """g(x) = sum_k a_k cos(w_k' x + b_k)."""

    frequencies: np.ndarray  # (inputs, features)
    phases: np.ndarray
    amplitudes: np.ndarray

    @classmethod
    def draw(cls, n_inputs: int, rng: np.random.Generator) -> FourierFunction:
        """Frequencies, phases and amplitudes."""
        frequencies = rng.normal(size=(n_inputs, N_FEATURES))
        phases = rng.uniform(0, 2 * np.pi, N_FEATURES)
        return cls(frequencies, phases, rng.rayleigh(size=N_FEATURES) / np.sqrt(N_FEATURES))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x."""
        values = np.empty(len(x))
        for block in _blocks(len(x)):
            values[block] = np.cos(x[block] @ self.frequencies + self.phases) @ self.amplitudes
        return values


@dataclass(frozen=True)
class GaussianProcessFunction:
    """A drawn function: a sum over `components` (groups of columns), each from its own Gaussian process.

    One component with all columns is the joint function of Gauss-ANM and PNL-GP; one component per column is the sum
    of ADD-FUNC. `inputs` and `weights` are None for a function by features alone.
    """

    components: tuple[tuple[int, ...], ...]
    features: tuple[FourierFunction, ...]
    inputs: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def method(self) -> str:
        """How the values at the first inputs were drawn."""
        return "random Fourier features" if self.inputs is None else "Cholesky"

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x."""
        values = np.zeros(len(x))
        for which in range(len(self.components)):
            values += self.component(which, x)
        return values

    def describe(self) -> dict[str, Any]:
        """Kind, and how it was drawn; the constants are too many."""
        return {"function": "Gaussian process", "drawn_by": self.method}

    def component(self, which: int, x: np.ndarray) -> np.ndarray:
        """Values of one term of the sum; x has all columns."""
        columns = list(self.components[which])
        values = self.features[which](x[:, columns])
        if self.inputs is not None and self.weights is not None:
            for block in _blocks(len(x)):
                values[block] += kernel(x[block][:, columns], self.inputs[:, columns]) @ self.weights
        return values


def draw_function(
    inputs: np.ndarray, rng: np.random.Generator, *, additive: bool = False
) -> tuple[GaussianProcessFunction, np.ndarray]:
    """A function of the columns of `inputs` (n, p), and its values there: exact if n is at most `EXACT_ROWS`.

    A sum of independent processes is one process whose kernel is the sum: a single factorisation draws it, and the
    weights divide among the components.
    """
    n_rows, n_inputs = inputs.shape
    components = tuple((column,) for column in range(n_inputs)) if additive else (tuple(range(n_inputs)),)
    features = tuple(FourierFunction.draw(len(component), rng) for component in components)
    by_features = GaussianProcessFunction(components, features)
    values = by_features(inputs)
    if n_rows > EXACT_ROWS:
        return by_features, values
    weights, values = _condition(components, inputs, values, rng.standard_normal((n_rows,)))
    return replace(by_features, inputs=inputs.copy(), weights=weights), values


def _condition(
    components: tuple[tuple[int, ...], ...], inputs: np.ndarray, prior: np.ndarray, standard_normal: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weights (K + jitter I)^-1 (y - g(X)) with y = L z, and the function's values at X: y - jitter * weights."""
    covariance = np.zeros((len(inputs), len(inputs)))
    for component in components:
        columns = inputs[:, list(component)]
        covariance += kernel(columns, columns)
    jitter = JITTER * len(components)
    covariance[np.diag_indices(len(inputs))] += jitter
    factor = cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
    whitened = standard_normal - solve_triangular(factor, prior, lower=True, check_finite=False)
    weights = solve_triangular(factor, whitened, lower=True, trans=1, check_finite=False)
    return weights, factor @ standard_normal - jitter * weights
