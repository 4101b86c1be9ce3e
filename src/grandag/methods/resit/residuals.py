"""What regressions leave of a variable, cross-fitted: each row's residual is from a regression without that row.

In-sample residuals of a flexible regression look independent of its inputs, whatever the truth. Rows are in folds;
smoothing and hyper-parameters are chosen with all rows, coefficients without the fold that is predicted.

    splines           additive splines of `gam`: smoothing by generalised cross-validation, coefficients from the
                      cross-products of the training rows of each fold
    gaussian-process  processes of `evidence`, on landmarks: any functions of several parents, not sums only
    trees             extremely randomised trees of scikit-learn
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from grandag.evidence import EvidenceConfig
from grandag.evidence.scores import LocalScores
from grandag.gam import AdditiveFit, SplineTable
from grandag.methods.stages.gaussian_process import SLOPE_VARIANCE, Kernel, choose_landmarks
from grandag.table import Table

__all__ = ["REGRESSIONS", "ProcessResiduals", "Residuals", "SplineResiduals", "TreeResiduals", "draw_folds"]

_RIDGE = 1e-8
"""Added to the mean squares of the columns of a design, which are 1."""
_MAX_FITTED_ROWS = 2000
_CARRIED = 0.01
"""Part of the noise that landmarks may leave of a process."""
_N_TREES, _LEAST_LEAF = 100, 5


class Residuals(Protocol):
    """Residuals of a column given others, in units of the column's standard deviation."""

    def __call__(self, target: int, parents: tuple[int, ...]) -> np.ndarray:
        """(n,) residuals."""


def draw_folds(n_rows: int, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) the number of each row's fold, at random, in sizes that differ by one at most."""
    return np.asarray(rng.permutation(n_rows) % min(n_folds, n_rows))


def _rows_of(folds: np.ndarray) -> list[np.ndarray]:
    """The numbers of the rows of each fold."""
    return [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]


def _slopes(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(cho_solve(cho_factor(matrix), right))


class _Design(NamedTuple):
    """Bases of all columns at all rows, and their means and covariances over the training rows of each fold."""

    starts: np.ndarray
    values: np.ndarray  # (n, p)
    means: np.ndarray  # (folds, p)
    covariances: np.ndarray  # (folds, p, p)


class SplineResiduals:
    """Additive spline regressions; a search for smoothing parameters starts from those of the target before."""

    def __init__(self, table: Table, folds: np.ndarray, rng: np.random.Generator) -> None:
        self._splines, self._rows = SplineTable(table, depends_on_units=False), _rows_of(folds)
        self._designs: dict[int, _Design] = {}
        self._smoothing: dict[int, dict[int, float]] = {}

    def __call__(self, target: int, parents: tuple[int, ...]) -> np.ndarray:
        """(n,) residuals."""
        known = self._smoothing.setdefault(target, {})
        start = np.array([known[parent] for parent in parents]) if set(parents) <= set(known) else None
        fit = self._splines.regress(target, parents, log_smoothing=start)
        known.update(zip(parents, fit.log_smoothing.tolist(), strict=True))
        design = self._design(fit)
        own = design.starts[target + 1] - 1  # the last function of a column is the column itself, standardised
        functions = [np.arange(design.starts[parent], design.starts[parent + 1]) for parent in parents]
        columns = np.concatenate([np.zeros(0, dtype=int), *functions])
        residuals = np.empty(len(design.values))
        for rows, mean, covariance in zip(self._rows, design.means, design.covariances, strict=True):
            residuals[rows] = design.values[rows, own] - mean[own]
            if len(columns):
                matrix = covariance[np.ix_(columns, columns)]
                matrix.ravel()[:: len(columns) + 1] += fit.solution.P + _RIDGE
                centred = design.values[np.ix_(rows, columns)] - mean[columns]
                residuals[rows] -= centred @ _slopes(matrix, covariance[columns, own])
        return residuals

    def _design(self, fit: AdditiveFit) -> _Design:
        """Made once for each size of the bases."""
        if fit.k not in self._designs:
            bases = fit.products.bases
            values = np.hstack([basis(column) for basis, column in zip(bases, self._splines.values.T, strict=True)])
            training = [np.delete(values, rows, axis=0) for rows in self._rows]
            means = np.stack([part.mean(axis=0) for part in training])
            squares = np.stack([part.T @ part / len(part) for part in training])
            covariances = squares - means[:, :, None] * means[:, None, :]
            self._designs[fit.k] = _Design(fit.products.starts, values.astype(np.float32), means, covariances)
        return self._designs[fit.k]


class ProcessResiduals:
    """Gaussian processes, with hyper-parameters from some rows, as ridge regressions on landmarks."""

    def __init__(self, table: Table, folds: np.ndarray, rng: np.random.Generator) -> None:
        self._columns, self._rows = table.scaling.apply(table.values, "float64"), _rows_of(folds)
        self._scores = LocalScores(self._columns[:_MAX_FITTED_ROWS], EvidenceConfig(), rng, n_threads=1)
        self._last: dict[int, tuple[int, ...]] = {}

    def __call__(self, target: int, parents: tuple[int, ...]) -> np.ndarray:
        """(n,) residuals."""
        y = self._columns[:, target]
        if not parents:
            return np.asarray(y)
        fit = self._scores.few_fit(target, parents, self._last.get(target, ()))
        self._last[target] = parents
        *length_scales, interaction, additive, noise = np.exp(fit.log_parameters).tolist()
        kernel = Kernel(np.array(length_scales), SLOPE_VARIANCE, interaction, additive)
        _, A = choose_landmarks(self._columns[:, list(parents)], kernel, _CARRIED * noise)
        matrix, right = A @ A.T + noise * np.eye(len(A)), A @ y
        residuals = np.empty(len(y))
        for rows in self._rows:
            held_out = A[:, rows]
            slopes = _slopes(matrix - held_out @ held_out.T, right - held_out @ y[rows])
            residuals[rows] = y[rows] - slopes @ held_out
        return residuals


class TreeResiduals:
    """Extremely randomised trees, one forest for each fold."""

    def __init__(self, table: Table, folds: np.ndarray, rng: np.random.Generator) -> None:
        self._columns, self._rows = table.scaling.apply(table.values, "float64"), _rows_of(folds)
        self._seed = int(rng.integers(2**31))

    def __call__(self, target: int, parents: tuple[int, ...]) -> np.ndarray:
        """(n,) residuals."""
        from sklearn.ensemble import ExtraTreesRegressor

        y = self._columns[:, target]
        if not parents:
            return np.asarray(y)
        inputs, residuals = self._columns[:, list(parents)], np.empty(len(y))
        for rows in self._rows:
            forest = ExtraTreesRegressor(_N_TREES, min_samples_leaf=_LEAST_LEAF, random_state=self._seed)
            forest.fit(np.delete(inputs, rows, axis=0), np.delete(y, rows))
            residuals[rows] = y[rows] - forest.predict(inputs[rows])
        return residuals


REGRESSIONS: dict[str, Callable[[Table, np.ndarray, np.random.Generator], Residuals]] = {
    "splines": SplineResiduals,
    "gaussian-process": ProcessResiduals,
    "trees": TreeResiduals,
}
"""By name, from a table, the folds of its rows and a generator."""
