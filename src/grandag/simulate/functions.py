"""Functions of a variable's parents that drawn constants define; `gaussian_process` has those that it draws.

    Linear           w'x                                           no interactions
    NeuralNetwork    sum_h u_h sigmoid(w_h'x), 100 hidden units    interactions
    IndexModel       tanh(w_1'x) + cos(w_2'x) + sin(w_3'x)         interactions
    Sigmoids         sum_k a_k s(b_k (x_k + c_k))                  no interactions
    MixedSigmoid     a s(w'x + c)                                  interactions

with sigmoid(t) = 1 / (1 + exp(-t)) and s(t) = t / (1 + |t|). Network and index model are "mlp" and "mim" of the
simulations by Zheng, Dan, Aragam, Ravikumar and Xing ("Learning sparse nonparametric DAGs", 2020; function
simulate_nonlinear_sem of their program notears). The sum of sigmoids is that of Buehlmann, Peters and Ernest ("CAM:
causal additive models, high-dimensional order search and penalized regression", 2014; function
sampleDataFromMonotoneSigmoid of Peters and Ernest's simulations). The mixed sigmoid takes its idea, one sigmoid for
all parents together, from "sigmoid_mix" of the Causal Discovery Toolbox (Kalainathan and Goudet 2019), which has the
plain sum of parents and noise inside; here every parent has a weight, and the noise is added outside.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from scipy.special import expit

__all__ = ["Function", "IndexModel", "Linear", "MixedSigmoid", "NeuralNetwork", "Sigmoids"]

N_HIDDEN = 100


class Function(Protocol):
    """What a mechanism needs of a function."""

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x (n, p)."""

    def describe(self) -> dict[str, Any]:
        """Its kind, as "function", and its constants, as plain values."""


def _described(name: str, function: Any) -> dict[str, Any]:
    return {"function": name, **{c.name: np.asarray(getattr(function, c.name)).tolist() for c in fields(function)}}


def _signed(size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Uniform on [-2, -0.5] and [0.5, 2], either sign as likely: no weight is close to 0."""
    values: np.ndarray = rng.uniform(0.5, 2.0, size) * rng.choice((-1.0, 1.0), size)
    return values


def _softsign(t: np.ndarray) -> np.ndarray:
    """s(t) = t / (1 + |t|)."""
    values: np.ndarray = t / (1 + np.abs(t))
    return values


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


@dataclass(frozen=True)
class NeuralNetwork:
    """f(x) = sum_h output_weights_h sigmoid(sum_k hidden_weights_kh x_k), without biases."""

    hidden_weights: np.ndarray  # (inputs, hidden units)
    output_weights: np.ndarray  # (hidden units,)

    @classmethod
    def draw(cls, n_inputs: int, rng: np.random.Generator) -> NeuralNetwork:
        """All weights ~ U([-2, -0.5] and [0.5, 2])."""
        return cls(_signed((n_inputs, N_HIDDEN), rng), _signed(N_HIDDEN, rng))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x."""
        values: np.ndarray = expit(x @ self.hidden_weights) @ self.output_weights
        return values

    def describe(self) -> dict[str, Any]:
        """Kind and weights."""
        return _described("neural network", self)


@dataclass(frozen=True)
class IndexModel:
    """f(x) = tanh(weights_1'x) + cos(weights_2'x) + sin(weights_3'x)."""

    weights: np.ndarray  # (3, inputs)

    @classmethod
    def draw(cls, n_inputs: int, rng: np.random.Generator) -> IndexModel:
        """All weights ~ U([-2, -0.5] and [0.5, 2])."""
        return cls(_signed((3, n_inputs), rng))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x."""
        first, second, third = self.weights @ x.T
        values: np.ndarray = np.tanh(first) + np.cos(second) + np.sin(third)
        return values

    def describe(self) -> dict[str, Any]:
        """Kind and weights."""
        return _described("index model", self)


@dataclass(frozen=True)
class Sigmoids:
    """f(x) = sum_k amplitudes_k s(slopes_k (x_k + shifts_k))."""

    amplitudes: np.ndarray
    slopes: np.ndarray
    shifts: np.ndarray

    @classmethod
    def draw(cls, n_inputs: int, rng: np.random.Generator) -> Sigmoids:
        """Amplitudes ~ 1 + Exp(rate 4), slopes ~ U([-2, -0.5] and [0.5, 2]), shifts ~ U[-2, 2]."""
        return cls(1 + rng.exponential(1 / 4, n_inputs), _signed(n_inputs, rng), rng.uniform(-2, 2, n_inputs))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x."""
        values: np.ndarray = _softsign(self.slopes * (x + self.shifts)) @ self.amplitudes
        return values

    def describe(self) -> dict[str, Any]:
        """Kind and constants."""
        return _described("sum of sigmoids", self)


@dataclass(frozen=True)
class MixedSigmoid:
    """f(x) = amplitude s(weights'x + shift)."""

    amplitude: float
    weights: np.ndarray
    shift: float

    @classmethod
    def draw(cls, n_inputs: int, rng: np.random.Generator) -> MixedSigmoid:
        """Amplitude ~ 1 + Exp(rate 4), weights ~ U([-2, -0.5] and [0.5, 2]), shift ~ U[-2, 2]."""
        return cls(1 + rng.exponential(1 / 4), _signed(n_inputs, rng), rng.uniform(-2, 2))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values at the rows of x."""
        return self.amplitude * _softsign(x @ self.weights + self.shift)

    def describe(self) -> dict[str, Any]:
        """Kind and constants."""
        return _described("mixed sigmoid", self)
