"""The retrained networks as conditional distributions in the units of the table.

    theta = network(what is read of the parents),    x_j ~ p_j(theta, constants)

Of densities of numbers, mean and standard deviation are theta's times the scale of the column, plus its mean. The
forward pass of `engine/network.py` in double precision, for any number of rows and without compilation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from grandag.distributions import Bernoulli, Categorical, Distribution, Gaussian, NegativeBinomial, StudentT
from grandag.engine.densities.negative_binomial import LARGEST_LOG_MEAN, LIMIT
from grandag.engine.densities.student_t import LEAST_DEGREES
from grandag.engine.density import DENSITIES
from grandag.engine.network import ACTIVATIONS, LEAKY_SLOPE, Networks
from grandag.kinds import ColumnKind
from grandag.methods.grandag.columns import FITTING, OF_NUMBERS, Encoding, Reading
from grandag.table import Table
from grandag.table_diagnostics import rare_rows

__all__ = ["NetworkConditional", "has_one_scale", "least_deviations", "network_conditionals"]

_LEAST_DEVIATION = 1e-3
"""Of the noise, relative to the variable's: of one that follows from others without noise, the likelihood would grow
without bounds until a row in single precision decides all."""


def least_deviations(table: Table) -> np.ndarray:
    """The smallest standard deviation of the noise of each column that its rows can show, in the units of the table.

    All that is known of a nearly constant column is in the k rows that differ. If curves pass through all of them, the
    next such row may still be an exception, by Laplace's rule one in k + 1 is: the noise keeps that share of the
    variance. Otherwise a curve through them, or rows that differ only among those held out, leave no noise at all.
    """
    share = np.maximum(_LEAST_DEVIATION, 1 / np.sqrt(rare_rows(table.values) + 1))
    return np.asarray(share * table.scaling.scale)


_NAMES = {density.code: name for name, density in DENSITIES.items()}


@dataclass(frozen=True)
class NetworkConditional:
    """One network with its density."""

    layers: tuple[np.ndarray, ...]  # (outputs, 1 + inputs) each, biases in column 0
    activation: int
    density: int
    constants: np.ndarray
    parents: Reading
    mean: float  # of the variable, and its scale, if it is a number
    scale: float
    least: float  # probability of a label

    def given(self, parents: np.ndarray) -> Distribution:
        """The distribution given rows of the parents."""
        theta, constants = self._outputs(parents), self.constants
        name = _NAMES[self.density]
        if name in OF_NUMBERS:
            return self._of_number(name, theta)
        if name == "bernoulli":
            return Bernoulli(np.clip(expit(theta[:, 0]), self.least, 1 - self.least))
        if name == "categorical":
            p = np.maximum(softmax(theta, axis=1), self.least)
            return Categorical(p / p.sum(axis=1, keepdims=True))
        mean = np.exp(np.clip(theta[:, 0], -LARGEST_LOG_MEAN, LARGEST_LOG_MEAN))
        return NegativeBinomial(mean, float(np.exp(np.clip(constants[0], -LIMIT, LIMIT))))

    def _of_number(self, name: str, theta: np.ndarray) -> Gaussian | StudentT:
        log_sigma = theta[:, 1] if name == "gaussian" else np.full(len(theta), self.constants[0])
        mean, scale = self.mean + self.scale * theta[:, 0], self.scale * np.exp(log_sigma)
        if name == "student-t":
            return StudentT(mean, scale, LEAST_DEGREES + float(np.exp(np.clip(self.constants[1], -LIMIT, LIMIT))))
        return Gaussian(mean, scale)

    def _outputs(self, parents: np.ndarray) -> np.ndarray:
        """theta (n, outputs)"""
        *hidden, last = self.layers
        units = self.parents.apply(parents, "float64")
        for layer in hidden:
            units = self._activate(layer[:, 0] + units @ layer[:, 1:].T)
        return np.asarray(last[:, 0] + units @ last[:, 1:].T)

    def is_consistent(self, n_parents: int) -> bool:
        """Each layer takes what the one before it gives, the first one what is read of the parents."""
        if not self.layers or any(layer.ndim != 2 for layer in self.layers):
            return False
        if self.density not in _NAMES or not self.parents.is_consistent(n_parents):
            return False
        law = DENSITIES[_NAMES[self.density]]
        inputs = [self.parents.width, *(len(layer) for layer in self.layers[:-1])]
        is_chain = all(layer.shape[1] == 1 + n for layer, n in zip(self.layers, inputs, strict=True))
        n_outputs = len(self.layers[-1])
        has_outputs = n_outputs >= 2 if law.n_outputs is None else n_outputs == law.n_outputs
        has_constants = self.constants.shape == (law.n_constants,) and self.constants.dtype.kind == "f"
        is_known = self.activation in ACTIVATIONS.values() and self.scale > 0 and 0 < self.least <= 0.5
        return is_chain and has_outputs and has_constants and is_known

    def fits(self, own: ColumnKind, parents: Sequence[ColumnKind]) -> bool:
        """Are density and inputs for columns of these kinds, with as many labels?"""
        name, n_labels = _NAMES[self.density], [_n_labels(column) for column in parents]
        has_labels = name != "categorical" or len(self.layers[-1]) == _n_labels(own)
        return name in FITTING[own.kind] and has_labels and self.parents.n_labels.tolist() == n_labels

    def _activate(self, x: np.ndarray) -> np.ndarray:
        if self.activation == ACTIVATIONS["leaky-relu"]:
            return np.where(x > 0, x, LEAKY_SLOPE * x)
        return np.asarray((x + np.sqrt(x * x + 4)) / 2)


def _n_labels(column: ColumnKind) -> int:
    """How many indicators stand for it; 0: none."""
    return len(column.labels) if column.kind == "categorical" else 0


def network_conditionals(
    networks: Networks, encoding: Encoding, least: np.ndarray, n_rows: int
) -> list[NetworkConditional]:
    """The conditionals of all networks; `encoding` led from the table to the rows that they were trained on.

    One standard deviation for all rows is at least `least` (d,), in the units of the table. A label that n rows do not
    show may be that of the next one: by Laplace's rule its probability is 1 / (n + 2), and no label has less.
    """
    conditionals = []
    for j, is_parent in enumerate(networks.mask.T):
        constants, scaling = networks.constants(j), encoding.scaling
        if has_one_scale(encoding.densities[j]):
            constants[0] = max(constants[0], np.log(least[j] / scaling.scale[j]))
        conditionals.append(
            NetworkConditional(
                layers=tuple(networks.layers(j)),
                activation=networks.shape.activation,
                density=DENSITIES[encoding.densities[j]].code,
                constants=constants,
                parents=encoding.reading.of(is_parent),
                mean=float(scaling.mean[j]),
                scale=float(scaling.scale[j]),
                least=1 / (n_rows + 2),
            )
        )
    return conditionals


def has_one_scale(density: str) -> bool:
    """Is the first constant of a density the logarithm of one scale for all rows?"""
    return density in ("additive-gaussian", "student-t")
