"""Gaussian processes as conditional distributions: the regressions of the evidence, in the units of the table.

    f(z) = k(z, Z) w,    Var f(z) = k(z, z) - k(z, Z) R k(Z, z),    x_j ~ N(f, c (Var f + noise))

Columns are standardised. k is the covariance of `evidence/kernel.py`, with hyper-parameters at the maximum of the
evidence of what a linear regression leaves, and a linear term, so that beyond the data curves go on as lines. Z are
landmarks: rows chosen by pivoted Cholesky until they carry all but a hundredth of the noise, or are too many. With
A = L^-1 k(Z, rows), k(Z, Z) = L L^T and B = noise I + A A^T:

    w = L^-T B^-1 A x_j,    R = L^-T (I - noise B^-1) L^-1

Var f is what the rows leave unknown about the curve. c calibrates the variance: rows that are left out one at a time
then have standardised residuals of mean square 1. Their densities are the held-out likelihood, at no further cost.

Under interventions a variable is fitted to the rows that leave it alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from grandag.blas import one_blas_thread
from grandag.distributions import Gaussian
from grandag.evidence import EvidenceConfig
from grandag.evidence.scores import LocalScores, Parents
from grandag.interventions import Regimes
from grandag.table import Scaling, Table, blocks, draw_rows, rows_of

__all__ = ["SLOPE_VARIANCE", "Kernel", "ProcessConditional", "Processes", "choose_landmarks", "fit_processes"]

SLOPE_VARIANCE = 10.0
"""Of the linear term, in units of standard deviations: vague."""
_LEAST_VARIANCE = 1e-6
"""Relative to the variable's: one that follows from others without noise would have a density without bounds."""
_FEW_LANDMARKS, _MANY_LANDMARKS = 100, 300
"""At most half as many as rows, within these limits: with more, the curves of small tables follow their noise."""
_CARRIED = 0.01
_MAX_FITTED_ROWS, _MAX_ROWS = 2000, 10_000
"""Rows behind hyper-parameters, and behind landmarks and weights."""


@dataclass(frozen=True)
class Kernel:
    """k(z, z') = linear z.z' + interaction prod_i k_i + additive sum_i k_i, k_i = exp(-(z_i - z_i')^2 / (2 l_i^2))."""

    length_scales: np.ndarray
    linear: float
    interaction: float
    additive: float

    def variance(self, rows: np.ndarray) -> np.ndarray:
        """k(z, z) of rows (n, p)."""
        constant = self.interaction + len(self.length_scales) * self.additive
        return np.asarray(self.linear * np.square(rows).sum(axis=1) + constant)

    def __call__(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """k between rows (n, p) and (m, p)."""
        product, total = np.ones((len(left), len(right))), np.zeros((len(left), len(right)))
        for a, b, scale in zip(left.T, right.T, self.length_scales, strict=True):
            term = np.exp(-0.5 * np.square((a[:, None] - b) / scale))
            product *= term
            total += term
        return np.asarray(self.linear * (left @ right.T) + self.interaction * product + self.additive * total)

    def is_consistent(self, n_parents: int) -> bool:
        """One positive length scale per parent, and no negative variance."""
        is_positive = self.length_scales.shape == (n_parents,) and bool((self.length_scales > 0).all())
        return is_positive and min(self.linear, self.interaction, self.additive) >= 0


@dataclass(frozen=True)
class ProcessConditional:
    """The posterior of one process; no parents, no landmarks."""

    parents: Scaling
    mean: float
    scale: float
    kernel: Kernel
    noise: float
    calibration: float
    landmarks: np.ndarray  # (m, p) Z
    weights: np.ndarray  # (m,) w
    reduction: np.ndarray  # (m, m) R

    def given(self, parents: np.ndarray) -> Gaussian:
        """The distribution given rows of the parents."""
        z = self.parents.apply(parents, "float64")
        mean, variance = np.empty(len(z)), np.empty(len(z))
        for block in blocks(len(z)):
            k = self.kernel(z[block], self.landmarks)
            mean[block] = k @ self.weights
            variance[block] = self.kernel.variance(z[block]) - ((k @ self.reduction) * k).sum(axis=1)
        deviation = np.sqrt(self.calibration * (np.maximum(variance, 0.0) + self.noise))
        return Gaussian(self.mean + self.scale * mean, self.scale * deviation)

    def is_consistent(self, n_parents: int) -> bool:
        """One weight per landmark, and positive scales."""
        m = self.weights.size
        shapes = (self.weights.shape, self.landmarks.shape, self.reduction.shape)
        fits_parents = self.parents.is_consistent(n_parents) and self.kernel.is_consistent(n_parents)
        return shapes == ((m,), (m, n_parents), (m, m)) and fits_parents and min(self._scales) > 0

    @property
    def _scales(self) -> tuple[float, float, float]:
        return self.scale, self.noise, self.calibration


class Processes(NamedTuple):
    """Conditionals of a graph, and how well they predict rows that are left out."""

    conditionals: tuple[ProcessConditional, ...]
    rows: np.ndarray  # numbers of the rows that were used
    left_out: np.ndarray  # (rows, conditionals) log-densities in the units of the table, each row left out in turn;
    # NaN in rows that a variable was not fitted to


def fit_processes(
    table: Table,
    adjacency: np.ndarray,
    rng: np.random.Generator,
    n_threads: int,
    children: Iterable[int] | None = None,
) -> Processes:
    """Regress some columns, or all, of a table without constant columns on their parents in a DAG."""
    if table.regimes is not None:
        chosen = range(len(adjacency)) if children is None else children
        return _fit_apart(table, table.regimes, adjacency, rng, n_threads, [int(j) for j in chosen])
    scaling = table.scaling
    rows = draw_rows(len(table.values), _MAX_ROWS, rng)
    columns = scaling.apply(rows_of(table.values, rows), "float64")
    parents: list[Parents] = [tuple(np.flatnonzero(column).tolist()) for column in adjacency.T]
    with one_blas_thread():
        residuals, deviations = _linear_residuals(columns[:_MAX_FITTED_ROWS], parents)
        fitted = np.hstack([columns[:_MAX_FITTED_ROWS], residuals])
        scores = LocalScores(fitted, EvidenceConfig(), rng, n_threads)

        def posterior(j: int) -> tuple[ProcessConditional, np.ndarray]:
            fit = scores.fit(len(parents) + j, parents[j])
            return _posterior(columns, j, parents[j], fit.log_parameters, float(deviations[j]), scaling)

        found = scores.each(posterior, range(len(parents)) if children is None else map(int, children))
    left_out = np.reshape([log_densities for _, log_densities in found], (len(found), len(rows)))
    conditionals = tuple(conditional for conditional, _ in found)
    return Processes(conditionals, rows, np.ascontiguousarray(left_out.T))


def _fit_apart(
    table: Table,
    regimes: Regimes,
    adjacency: np.ndarray,
    rng: np.random.Generator,
    n_threads: int,
    children: list[int],
) -> Processes:
    """Each variable on the rows that leave it alone; those with the same rows together."""
    alike: dict[bytes, list[int]] = {}
    for j in children:
        alike.setdefault(regimes.targets[:, j].tobytes(), []).append(j)
    threads_of_each = max(1, n_threads // len(alike))

    def fit(some: list[int], stream: np.random.Generator) -> tuple[np.ndarray, Processes]:
        rows = np.flatnonzero(regimes.are_free(some[0]))
        used = np.flatnonzero(adjacency[:, some].any(axis=1) | np.isin(np.arange(len(adjacency)), some))
        part = replace(table.take(rows).select(used), regimes=None)
        inside = np.searchsorted(used, some)
        fitted = fit_processes(part, adjacency[np.ix_(used, used)], stream, threads_of_each, inside)
        return rows[fitted.rows], fitted

    with ThreadPoolExecutor(n_threads, thread_name_prefix="grandag") as pool:
        found = list(pool.map(fit, alike.values(), rng.spawn(len(alike))))
    conditionals: dict[int, ProcessConditional] = {}
    left_out = np.full((len(table.values), len(children)), np.nan)
    for some, (rows, fitted) in zip(alike.values(), found, strict=True):
        conditionals.update(zip(some, fitted.conditionals, strict=True))
        left_out[np.ix_(rows, np.flatnonzero(np.isin(children, some)))] = fitted.left_out
    used_rows = np.flatnonzero(~np.isnan(left_out).all(axis=1))
    return Processes(tuple(conditionals[j] for j in children), used_rows, left_out[used_rows])


def _linear_residuals(columns: np.ndarray, parents: list[Parents]) -> tuple[np.ndarray, np.ndarray]:
    """What linear regressions leave of each column, standardised, and its deviation."""
    residuals = columns.copy()
    for j, some in enumerate(parents):
        inputs = columns[:, list(some)]
        residuals[:, j] -= inputs @ np.linalg.lstsq(inputs, columns[:, j], rcond=None)[0]
    deviations = np.maximum(residuals.std(axis=0), math.sqrt(_LEAST_VARIANCE))
    return residuals / deviations, deviations


def _posterior(
    columns: np.ndarray,
    child: int,
    parents: Parents,
    log_parameters: np.ndarray,
    deviation: float,
    scaling: Scaling,
) -> tuple[ProcessConditional, np.ndarray]:
    """The conditional of a variable, and the log-densities of its values left out.

    The hyper-parameters are those of what a linear regression leaves, whose standard deviation is `deviation`.
    """
    *length_scales, interaction, additive, noise = np.exp(log_parameters).tolist()
    interaction, additive, noise = (deviation**2 * variance for variance in (interaction, additive, noise))
    kernel = Kernel(np.array(length_scales), SLOPE_VARIANCE, interaction, additive)
    inputs, target = columns[:, list(parents)], columns[:, child]
    pivots, A = choose_landmarks(inputs, kernel, _CARRIED * noise)
    m, scale = len(pivots), float(scaling.scale[child])
    factor = np.linalg.cholesky(noise * np.eye(m) + A @ A.T)
    whitened = solve_triangular(factor, A, lower=True)
    kept = 1 - np.square(whitened).sum(axis=0)  # noise times the diagonal of (k(rows, rows) + noise I)^-1
    residual = (target - whitened.T @ (whitened @ target)) / kept
    variance = noise / kept + np.maximum(kernel.variance(inputs) - np.square(A).sum(axis=0), 0.0)
    calibration = max(float((residual**2 / variance).mean()), _LEAST_VARIANCE / noise)
    variance *= calibration
    log_densities = -0.5 * (residual**2 / variance + np.log(2 * math.pi * variance)) - math.log(scale)
    root = solve_triangular(A[:, pivots], np.eye(m))  # L^-T
    conditional = ProcessConditional(
        Scaling(scaling.mean[list(parents)], scaling.scale[list(parents)]),
        float(scaling.mean[child]),
        scale,
        kernel,
        noise,
        calibration,
        inputs[pivots],
        root @ cho_solve((factor, True), A @ target),
        root @ (np.eye(m) - noise * cho_solve((factor, True), np.eye(m))) @ root.T,
    )
    return conditional, log_densities


def choose_landmarks(inputs: np.ndarray, kernel: Kernel, tolerance: float) -> tuple[list[int], np.ndarray]:
    """Rows whose values leave at most this variance of any other open, and A = L^-1 k(Z, rows)."""
    unexplained = kernel.variance(inputs)
    pivots: list[int] = []
    most = min(max(len(inputs) // 2, _FEW_LANDMARKS), _MANY_LANDMARKS)
    A = np.empty((most, len(inputs)))
    while len(pivots) < most and unexplained.max() > tolerance:
        m, pivot = len(pivots), int(unexplained.argmax())
        row = kernel(inputs[pivot : pivot + 1], inputs)[0] - A[:m, pivot] @ A[:m]
        A[m] = row / math.sqrt(unexplained[pivot])
        pivots.append(pivot)
        unexplained = np.maximum(unexplained - A[m] ** 2, 0.0)
        unexplained[pivot] = 0.0
    return pivots, A[: len(pivots)]
