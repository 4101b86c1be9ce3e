"""Conditional densities p_j(x_j | theta_j), where the network of variable j outputs theta_j.

Each is a file in `densities/`: the logarithm, its derivatives, and where they start. To add one, write that file, give
it the next code in `DENSITIES`, and name it in the two branches of `log_density` and `log_density_slope`; everything
else follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grandag.engine.compiled import inlined
from grandag.engine.densities import additive_gaussian, bernoulli, categorical, gaussian, negative_binomial, student_t

__all__ = ["DENSITIES", "Density", "log_density", "log_density_slope"]


class Density(NamedTuple):
    """What the engine must know of a density."""

    code: int
    n_outputs: int | None  # None: one per label
    n_constants: int
    start: Callable[[np.ndarray, int], tuple[list[float], list[float]]]  # from values and the number of labels


DENSITIES = {
    "additive-gaussian": Density(0, 1, 1, additive_gaussian.start),
    "gaussian": Density(1, 2, 0, gaussian.start),
    "student-t": Density(2, 1, 2, student_t.start),
    "bernoulli": Density(3, 1, 0, bernoulli.start),
    "categorical": Density(4, None, 0, categorical.start),
    "negative-binomial": Density(5, 1, 1, negative_binomial.start),
}


@inlined
def log_density(code, x, outputs, constants, n_rows, log_p):
    """log_p[b] = log p(x[b] | outputs[:, b], constants) for b < n_rows."""
    if code == 0:
        additive_gaussian.log_density(x, outputs, constants, n_rows, log_p)
    elif code == 1:
        gaussian.log_density(x, outputs, constants, n_rows, log_p)
    elif code == 2:
        student_t.log_density(x, outputs, constants, n_rows, log_p)
    elif code == 3:
        bernoulli.log_density(x, outputs, constants, n_rows, log_p)
    elif code == 4:
        categorical.log_density(x, outputs, constants, n_rows, log_p)
    else:
        negative_binomial.log_density(x, outputs, constants, n_rows, log_p)


@inlined
def log_density_slope(code, x, outputs, constants, n_rows, slope, constant_slope):
    """slope[k, b] = d log p / d outputs[k, b]; constant_slope[k] = sum_b d log p / d constants[k]."""
    if code == 0:
        additive_gaussian.log_density_slope(x, outputs, constants, n_rows, slope, constant_slope)
    elif code == 1:
        gaussian.log_density_slope(x, outputs, constants, n_rows, slope, constant_slope)
    elif code == 2:
        student_t.log_density_slope(x, outputs, constants, n_rows, slope, constant_slope)
    elif code == 3:
        bernoulli.log_density_slope(x, outputs, constants, n_rows, slope, constant_slope)
    elif code == 4:
        categorical.log_density_slope(x, outputs, constants, n_rows, slope, constant_slope)
    else:
        negative_binomial.log_density_slope(x, outputs, constants, n_rows, slope, constant_slope)
