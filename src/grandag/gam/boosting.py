"""Which inputs does boosting choose? L2 boosting with component-wise P-splines (Buehlmann and Yu 2003).

Every column is regressed on all others. In each step the residuals are fitted by a penalised spline of every single
input; the input whose spline fits best is chosen, and a tenth of its fit is taken off the residuals:

    beta_i = (B_i'B_i + lambda_i K)^-1 B_i'u,    i* = argmax_i 2 beta_i'B_i'u - beta_i'B_i'B_i beta_i,
    u <- u - 0.1 B_i* beta_i*

B_i are cubic B-splines on 20 inner knots, evenly spaced over the range of the input, K penalises second differences,
and lambda_i gives 4 degrees of freedom tr(2S - SS). All is done in cross-products B'u, for all columns at once, so that
the cost of a step does not depend on the number of rows. These are the settings of R's mboost that CAM uses.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.optimize import brentq

from grandag.progress import Listener, Progress
from grandag.table import in_double

__all__ = ["boosting_shares"]

_INNER_KNOTS, _DEGREE = 20, 3
_WIDTH = _INNER_KNOTS + _DEGREE + 1
_DEGREES_OF_FREEDOM = 4.0
_STEP_LENGTH = 0.1


def boosting_shares(values: np.ndarray, n_steps: int = 100, *, listener: Listener | None = None) -> np.ndarray:
    """share[i, j]: in which part of the steps is column i chosen, when column j is boosted on all others? (d, d)"""
    n, d = values.shape
    gram, products = _cross_products(values)
    own = np.stack([gram[_block(i), _block(i)] for i in range(d)])
    smoothers = np.stack([_smoother(own[i], n) for i in range(d)])
    counts = np.zeros((d, d))
    for step in range(n_steps):
        residual_products = products.reshape(d, _WIDTH, d)
        beta = smoothers @ residual_products
        gain = np.sum(beta * (2 * residual_products - own @ beta), axis=1)
        np.fill_diagonal(gain, -np.inf)
        chosen = gain.argmax(axis=0)
        counts[chosen, np.arange(d)] += 1
        for i in np.unique(chosen):
            targets = np.flatnonzero(chosen == i)
            products[:, targets] -= _STEP_LENGTH * gram[:, _block(i)] @ beta[i][:, targets]
        if listener is not None:
            listener(Progress("preselect", step + 1, n_steps))
    return counts / n_steps


def _block(column: int) -> slice:
    return slice(column * _WIDTH, (column + 1) * _WIDTH)


def _cross_products(values: np.ndarray, block: int = 4096) -> tuple[np.ndarray, np.ndarray]:
    """B'B (24 d, 24 d) of all columns' splines, and B'y (24 d, d) for all centred and scaled columns y."""
    n, d = values.shape
    low, high = values.min(axis=0), values.max(axis=0)
    mean = values.mean(axis=0, dtype=np.float64)
    scale = np.sqrt(sum(((rows - mean) ** 2).sum(axis=0) for rows in in_double(values)) / n)
    gram, products = np.zeros((d * _WIDTH, d * _WIDTH)), np.zeros((d * _WIDTH, d))
    for start in range(0, n, block):
        rows = np.asarray(values[start : start + block], dtype=np.float64)
        design = np.hstack([_splines((rows[:, i] - low[i]) / (high[i] - low[i])) for i in range(d)])
        gram += design.T @ design
        products += design.T @ ((rows - mean) / scale)
    return gram, products


def _splines(x: np.ndarray) -> np.ndarray:
    """The B-splines (n, 24) at values in [0, 1]."""
    knots = np.arange(-_DEGREE, _INNER_KNOTS + _DEGREE + 2) / (_INNER_KNOTS + 1)
    return np.asarray(BSpline.design_matrix(np.clip(x, 0.0, 1.0), knots, _DEGREE).toarray())


def _smoother(gram: np.ndarray, n: int) -> np.ndarray:
    """(B'B + lambda K)^-1 with lambda such that the fit has 4 degrees of freedom, or as many as the column can have.

    B'B has a zero row where no value falls; a penalty of 1e-9 makes it regular.
    """
    differences = np.diff(np.eye(_WIDTH), n=2, axis=0)
    penalty = differences.T @ differences
    roughness = eigh(penalty, gram + 1e-9 * n * (penalty + np.eye(_WIDTH)), eigvals_only=True)

    def excess(log_smoothing: float) -> float:
        shrinkage = 1 / (1 + math.exp(log_smoothing) * np.maximum(roughness, 0))
        return float(np.sum(2 * shrinkage - shrinkage**2)) - _DEGREES_OF_FREEDOM

    low, high = math.log(1e-9 * n), math.log(1e12 * n)
    log_smoothing = brentq(excess, low, high) if excess(low) > 0 else low
    system = gram + math.exp(log_smoothing) * penalty + 1e-9 * n * np.eye(_WIDTH)
    return np.asarray(cho_solve(cho_factor(system), np.eye(_WIDTH)))
