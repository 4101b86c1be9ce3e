"""ICA-LiNGAM: a causal order from independent components (Shimizu, Hoyer, Hyvärinen, Kerminen 2006).

x = B x + e with independent e is e = (I - B) x: independent component analysis finds the rows of I - B, each divided by
the deviation s_j of its noise, in an order that it does not know. Some order of them is W with

    W_ji = ((I - B) / s_j)_ji,      |b_ij| s_i / s_j = |W_ji| / |W_ii|

and of a DAG only one has no zero on its diagonal: the one of the largest product of |W_jj|, whatever the units of the
columns. (The sum of 1 / |W_jj|, Shimizu's criterion, depends on them.) Coefficients are compared in units of the
noises, as on the right: there, those that are zero differ from it by about 1 / sqrt(n), all of them, while in units of
the columns the error of an effect with many causes weighs more than their coefficients. They are taken from the largest
on, and those that contradict larger ones are left out: what is left is an order of all variables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from grandag.methods.lingam.components import components
from grandag.table import TableError

__all__ = ["IcaOrder", "ica_order", "order_by_size", "sizes_of"]

_SMALLEST = 1e-12
"""The smallest eigenvalue of a correlation matrix, as a part of the largest, that components can be found for."""

_NOTHING = 1e-300
"""Stands for an entry that is exactly 0, whose logarithm is no number."""


class IcaOrder(NamedTuple):
    """The variables, causes first, and whether the search for components met its tolerance."""

    order: list[int]
    converged: bool


def ica_order(values: np.ndarray, allowed: np.ndarray, precedes: np.ndarray, max_iterations: int) -> IcaOrder:
    """The order of standardised columns (n, d); coefficients of edges that are not allowed do not count."""
    _check_rank(values)
    unmixing, converged = components(values, max_iterations)
    return IcaOrder(order_by_size(np.where(allowed, sizes_of(unmixing), 0.0), precedes), converged)


def sizes_of(unmixing: np.ndarray) -> np.ndarray:
    """[i, j]: |b_ij| s_i / s_j of i -> j, from the rows of the unmixing matrix in any order and with any signs."""
    sizes = np.maximum(np.abs(unmixing), _NOTHING)
    rows, variables = linear_sum_assignment(-np.log(sizes))
    matched = sizes[rows[np.argsort(variables)]]
    return np.asarray((matched / np.diagonal(matched)).T)


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
