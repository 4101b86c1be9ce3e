"""ICA-LiNGAM: a causal order from independent components (Shimizu, Hoyer, Hyvärinen, Kerminen 2006).

x = B x + e with independent e is e = (I - B) x: independent component analysis finds W = I - B up to the order and the
scale of its rows. The order is the one whose diagonal has the smallest sum of 1 / |W_jj|, the scale makes the diagonal
1. B would have the zeros of a DAG if rows were infinitely many; here, its entries are taken from the largest on, and
those that contradict larger ones are left out: what is left is an order of all variables.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from grandag.table import TableError

__all__ = ["IcaOrder", "ica_order", "order_by_size"]

_SMALLEST = 1e-12
"""The smallest eigenvalue of a correlation matrix, as a part of the largest, that components can be found for."""


class IcaOrder(NamedTuple):
    """The variables, causes first, and whether the search for components met its tolerance."""

    order: list[int]
    converged: bool


def ica_order(
    values: np.ndarray, allowed: np.ndarray, precedes: np.ndarray, max_iterations: int, rng: np.random.Generator
) -> IcaOrder:
    """The order of standardised columns (n, d); coefficients of edges that are not allowed do not count."""
    _check_rank(values)
    ica = FastICA(
        whiten="unit-variance",
        whiten_solver="eigh",
        max_iter=max_iterations,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ica.fit(values)
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    unmixing = np.asarray(ica.components_)
    components, columns = linear_sum_assignment(1.0 / np.maximum(np.abs(unmixing), 1e-300))
    matched = unmixing[components[np.argsort(columns)]]
    coefficients = -matched / np.diagonal(matched)[:, None]  # [j, i] of i in the equation of j
    return IcaOrder(order_by_size(np.where(allowed, np.abs(coefficients.T), 0.0), precedes), converged)


def order_by_size(size: np.ndarray, precedes: np.ndarray) -> list[int]:
    """The order that follows the largest of size[i, j], of i -> j; `precedes` is a strict partial order to keep."""
    d = len(size)
    reaches = precedes | np.eye(d, dtype=bool)
    for entry in np.argsort(-size, axis=None, kind="stable").tolist():
        i, j = divmod(entry, d)
        if not reaches[i, j] and not reaches[j, i]:
            reaches[np.ix_(reaches[:, i], reaches[j])] = True
    return [int(node) for node in np.argsort(reaches.sum(axis=0))]


def _check_rank(values: np.ndarray) -> None:
    """Refuse tables of which some columns follow from others."""
    eigenvalues = np.linalg.eigvalsh(values.T @ values)
    if eigenvalues[0] <= _SMALLEST * eigenvalues[-1]:
        raise TableError(
            "Some columns of X are linear functions of others (or there are not more rows than columns), so that there "
            "are fewer independent components than columns: drop such columns, or choose algorithm='direct'."
        )
