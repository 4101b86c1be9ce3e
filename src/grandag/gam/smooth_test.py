"""Wood's test (2013) of a smooth function being zero, as summary.gam of R's mgcv makes it."""

from __future__ import annotations

import math

import numpy as np

from grandag.gam.tail import KNOWN_SCALE, fractional_rank_tail

__all__ = ["smooth_p_value"]


def smooth_p_value(beta: np.ndarray, covariance: np.ndarray, rank: float, residual_df: float | None) -> float:
    """The p-value of a term, from its coefficients and their covariance in orthonormal columns.

    Without `residual_df` the scale is known, and the statistic is compared with chi-squares in the place of ratios.
    """
    values, vectors = np.linalg.eigh(covariance)
    values, z = values[::-1], (vectors.T @ beta)[::-1]
    df = KNOWN_SCALE if residual_df is None else _test_df(rank, residual_df)
    return float(np.mean([fractional_rank_tail(s, rank, df) for s in _statistics(values, z, rank)]))


def _is_whole(rank: float) -> bool:
    return abs(rank - round(rank)) < 1e-10 or rank < 1


def _test_df(rank: float, residual_df: float) -> float:
    """The scale's degrees of freedom: as they are for an F test, rounded for a fractional rank."""
    return residual_df if _is_whole(rank) and rank >= 1 else max(1.0, float(round(residual_df)))


def _statistics(values: np.ndarray, z: np.ndarray, rank: float) -> list[float]:
    """The test statistic; for a fractional rank two of them, since the sign of an eigenvector is arbitrary."""
    kappa = math.floor(rank + 1e-10)
    nu = rank - kappa
    if kappa == 0 or nu < 1e-10:
        count = max(1, kappa)
        return [float(np.sum(z[:count] ** 2 / values[:count]))]
    whole = float(np.sum(z[: kappa - 1] ** 2 / values[: kappa - 1]))
    u, v = z[kappa - 1 : kappa + 1] / np.sqrt(values[kappa - 1 : kappa + 1])
    cross = 2 * math.sqrt(nu * (1 - nu) / 2) * u * v
    return [whole + u * u + nu * v * v + cross, whole + u * u + nu * v * v - cross]
