"""Kernel ridge regressions of a DAG: a density in the units of the table, beside the generalised score.

    x_j = b_j + sum over landmarks l of c_jl k(parents of j, l) + N(0, v_j)

The generalised score is a likelihood in feature space, which changes with the kernels and the regulariser; what is held
out can be compared between regularisers, and with other methods, by this density only. Kernels, widths and regulariser
are those of the cross-validated score (kernel_features.py); landmarks are the pivots of the incomplete factorisation,
and v_j is the mean square of the training rows' residuals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve, solve_triangular

from grandag.blas import one_blas_thread
from grandag.distributions import Gaussian
from grandag.methods.equivalence.kernel_features import (
    CROSS_VALIDATED_WIDTH,
    gaussian_kernel,
    incomplete_cholesky,
    kernel_width,
    remainder_allowed,
)
from grandag.table import blocks

__all__ = ["KernelConditional", "kernel_conditionals"]


@dataclass(frozen=True)
class KernelConditional:
    """N(intercept + sum_l coefficients_l k(x, landmarks_l), scale^2); no parents, no columns of landmarks."""

    widths: np.ndarray  # (p,) of the kernel, in the units of the parents
    landmarks: np.ndarray  # (r, p) divided by the widths
    coefficients: np.ndarray  # (r,)
    intercept: float
    scale: float

    @classmethod
    def fit(
        cls, target: np.ndarray, parents: np.ndarray, regulariser: float, tolerance: float, max_rank: int
    ) -> KernelConditional:
        """Ridge regression of the target (n,) on features of the parents (n, p) with mean 0.

        The scale is at least 1e-6 of the target's own.
        """
        widths = np.array([kernel_width(column, CROSS_VALIDATED_WIDTH) for column in parents.T])
        points = parents / widths
        features, pivots = incomplete_cholesky(points, remainder_allowed(tolerance, regulariser), max_rank)
        centred, deviations = features - features.mean(axis=0), target - target.mean()
        ridge = len(target) * regulariser * np.eye(len(pivots))
        weights = solve(centred.T @ centred + ridge, centred.T @ deviations, assume_a="pos")
        # f(x) = F[pivots]^-1 k(landmarks, x)
        coefficients = solve_triangular(features[pivots], weights, trans="T", lower=True)
        intercept = float(target.mean() - features.mean(axis=0) @ weights)
        scale = max(_root_mean_square(deviations - centred @ weights), 1e-6 * _root_mean_square(deviations))
        return cls(widths, points[pivots], coefficients, intercept, scale)

    def given(self, parents: np.ndarray) -> Gaussian:
        """The distribution given rows of the parents."""
        mean = np.full(len(parents), self.intercept)
        for block in blocks(len(parents)):
            mean[block] += gaussian_kernel(parents[block] / self.widths, self.landmarks) @ self.coefficients
        return Gaussian(mean, np.full(len(parents), self.scale))

    def is_consistent(self, n_parents: int) -> bool:
        """One width per parent, one landmark per coefficient."""
        has_shapes = self.widths.shape == (n_parents,) and self.landmarks.shape == (self.coefficients.size, n_parents)
        return has_shapes and self.coefficients.ndim == 1 and bool((self.widths > 0).all()) and self.scale > 0


def _root_mean_square(values: np.ndarray) -> float:
    return math.sqrt(float((values**2).mean()))


def kernel_conditionals(
    values: np.ndarray,
    adjacency: np.ndarray,
    *,
    regulariser: float = 0.01,
    tolerance: float = 0.1,
    max_rank: int = 350,
) -> tuple[KernelConditional, ...]:
    """Regress every column of a table (n, d) without constant columns on its parents in a DAG.

    The parameters are those of `GeneralisedScore`.
    """
    precision = (regulariser, tolerance, max_rank)
    with one_blas_thread():
        return tuple(
            KernelConditional.fit(column, values[:, parents], *precision)
            for column, parents in zip(values.T, adjacency.T, strict=True)
        )
