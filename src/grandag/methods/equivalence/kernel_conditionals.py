"""Kernel ridge regressions of a DAG: a density in the units of the table, beside the generalised score.

    x_j = b_j + sum over landmarks l of c_jl k(parents of j, l) + N(0, v_j)

The generalised score is a likelihood in feature space, which changes with the kernels and the regulariser; what is held
out can be compared between regularisers, and with other methods, by this density only. Kernels, widths and regulariser
are those of the cross-validated score (kernel_features.py); landmarks are the pivots of the incomplete factorisation,
and v_j is the mean square of the training rows' residuals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve, solve_triangular

from grandag.methods.equivalence.kernel_features import (
    CROSS_VALIDATED_WIDTH,
    gaussian_kernel,
    incomplete_cholesky,
    kernel_width,
    one_blas_thread,
    remainder_allowed,
)
from grandag.table import blocks

__all__ = ["KernelConditional", "KernelConditionals"]


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

    def mean_and_scale(self, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation given rows of the parents."""
        mean = np.full(len(parents), self.intercept)
        for block in blocks(len(parents)):
            mean[block] += gaussian_kernel(parents[block] / self.widths, self.landmarks) @ self.coefficients
        return mean, np.full(len(parents), self.scale)


def _root_mean_square(values: np.ndarray) -> float:
    return math.sqrt(float((values**2).mean()))


class KernelConditionals(NamedTuple):
    """A DAG (d, d) with one kernel regression per variable."""

    adjacency: np.ndarray
    conditionals: tuple[KernelConditional, ...]

    @classmethod
    def fit(
        cls,
        values: np.ndarray,
        adjacency: np.ndarray,
        *,
        regulariser: float = 0.01,
        tolerance: float = 0.1,
        max_rank: int = 350,
    ) -> KernelConditionals:
        """Regress every column of a table (n, d) without constant columns on its parents in a DAG.

        The parameters are those of `GeneralisedScore`.
        """
        precision = (regulariser, tolerance, max_rank)
        with one_blas_thread():
            conditionals = tuple(
                KernelConditional.fit(column, values[:, parents], *precision)
                for column, parents in zip(values.T, adjacency.T, strict=True)
            )
        return cls(adjacency, conditionals)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """log p_j (n, d) of each value given its parents, in the units of the table."""
        log_p = np.empty(values.shape)
        for j, conditional in enumerate(self.conditionals):
            mean, scale = conditional.mean_and_scale(values[:, self.adjacency[:, j]])
            log_p[:, j] = -0.5 * (((values[:, j] - mean) / scale) ** 2 + math.log(2 * math.pi)) - np.log(scale)
        return log_p

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays to save: conditionals one after the other."""
        parts = self.conditionals
        return {
            "kernel_adjacency": self.adjacency,
            "kernel_gaussians": np.array([(part.intercept, part.scale) for part in parts]),
            "kernel_sizes": np.array([len(part.coefficients) for part in parts], dtype=np.int64),
            "kernel_widths": np.concatenate([part.widths for part in parts]),
            "kernel_coefficients": np.concatenate([part.coefficients for part in parts]),
            "kernel_landmarks": np.concatenate([part.landmarks.ravel() for part in parts]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> KernelConditionals:
        """What `to_arrays` wrote."""
        adjacency, sizes = arrays["kernel_adjacency"], arrays["kernel_sizes"]
        n_parents = adjacency.sum(axis=0)
        parts = zip(
            np.split(arrays["kernel_widths"], np.cumsum(n_parents)[:-1]),
            np.split(arrays["kernel_coefficients"], np.cumsum(sizes)[:-1]),
            np.split(arrays["kernel_landmarks"], np.cumsum(sizes * n_parents)[:-1]),
            arrays["kernel_gaussians"].tolist(),
            strict=True,
        )
        return cls(
            adjacency,
            tuple(
                KernelConditional(widths, landmarks.reshape(len(coefficients), len(widths)), coefficients, *gaussian)
                for widths, coefficients, landmarks, gaussian in parts
            ),
        )
