"""The retrained networks as conditional distributions in the units of the table.

    mean of x_j = mean_j + scale_j mu_j(z),    its deviation = scale_j sigma_j(z),    z_i = (x_i - mean_i) / scale_i

The forward pass of `engine/network.py` in double precision, for any number of rows and without compilation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grandag.distributions import Gaussian
from grandag.engine.network import ACTIVATIONS, LEAKY_SLOPE, Networks
from grandag.table import Scaling, Table
from grandag.table_diagnostics import rare_rows

__all__ = ["NetworkConditional", "least_deviations", "network_conditionals"]

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


@dataclass(frozen=True)
class NetworkConditional:
    """One network: theta = (mu), with one log sigma for all rows, or theta = (mu, log sigma)."""

    layers: tuple[np.ndarray, ...]  # (outputs, 1 + inputs) each, biases in column 0
    activation: int
    log_sigma: float | None
    parents: Scaling
    mean: float
    scale: float

    def given(self, parents: np.ndarray) -> Gaussian:
        """The distribution given rows of the parents."""
        *hidden, last = self.layers
        units = self.parents.apply(parents, "float64")
        for layer in hidden:
            units = self._activate(layer[:, 0] + units @ layer[:, 1:].T)
        theta = last[:, 0] + units @ last[:, 1:].T
        log_sigma = theta[:, 1] if self.log_sigma is None else np.full(len(theta), self.log_sigma)
        return Gaussian(self.mean + self.scale * theta[:, 0], self.scale * np.exp(log_sigma))

    def is_consistent(self, n_parents: int) -> bool:
        """Each layer takes what the one before it gives, the first one the parents."""
        if not self.layers or any(layer.ndim != 2 for layer in self.layers):
            return False
        inputs = [n_parents, *(len(layer) for layer in self.layers[:-1])]
        is_chain = all(layer.shape[1] == 1 + n for layer, n in zip(self.layers, inputs, strict=True))
        has_outputs = len(self.layers[-1]) == (2 if self.log_sigma is None else 1)
        is_known = self.activation in ACTIVATIONS.values()
        return is_chain and has_outputs and is_known and self.parents.is_consistent(n_parents) and self.scale > 0

    def _activate(self, x: np.ndarray) -> np.ndarray:
        if self.activation == ACTIVATIONS["leaky-relu"]:
            return np.where(x > 0, x, LEAKY_SLOPE * x)
        return np.asarray((x + np.sqrt(x * x + 4)) / 2)


def network_conditionals(networks: Networks, scaling: Scaling, least: np.ndarray) -> list[NetworkConditional]:
    """The conditionals of all networks; `scaling` led from the table to the rows that they were trained on.

    One standard deviation for all rows is at least `least` (d,), in the units of the table.
    """
    conditionals = []
    for j, is_parent in enumerate(networks.mask.T):
        constants = networks.constants(j)
        smallest = np.log(least[j] / scaling.scale[j])
        conditionals.append(
            NetworkConditional(
                layers=tuple(networks.layers(j)),
                activation=networks.shape.activation,
                log_sigma=max(float(constants[0]), float(smallest)) if len(constants) else None,
                parents=Scaling(scaling.mean[is_parent], scaling.scale[is_parent]),
                mean=float(scaling.mean[j]),
                scale=float(scaling.scale[j]),
            )
        )
    return conditionals
