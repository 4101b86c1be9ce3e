"""The generalised score of a variable given its parents (Huang, Zhang, Lin, Schoelkopf, Glymour, KDD 2018).

The variable is mapped to features phi(x) of a Gaussian kernel, which are regressed on features psi of the parents'
kernel: no assumption on functions or noise. What is left over is Gaussian in feature space. Two likelihoods:

- cross-validated: ridge regression on the training rows, density of the rows held out. With n_1 training rows,

      W = (Psi'Psi + n_1 lambda I)^-1 Psi'Phi,    V = E'E / n_1 + gamma I,    E = Phi - Psi W,

  n_0 rows held out with residuals R add  -1/2 (n_0^2 log 2 pi + w n_0 log det(V / gamma) + tr(R V^-1 R')).

- marginal: every feature y_k is a Gaussian process over the parents,

      -log p = 1/2 sum_k (y_k' C^-1 y_k + log det C + n log 2 pi),    C = K + sigma^2 I,

  with the noise variance sigma^2 that maximises it.

Widths, regularisers, centring, folds and constants are those of the authors' program (docs/generalised_score.md). It
works on kernel matrices (n, n), which is the form "exact" here; "low-rank" is the same from a few features of each
kernel, at a cost that is linear in n.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize_scalar

from grandag.blas import one_blas_thread
from grandag.methods.equivalence.kernel_features import (
    CROSS_VALIDATED_WIDTH,
    MARGINAL_WIDTH,
    gaussian_kernel,
    incomplete_cholesky,
    kernel_width,
    remainder_allowed,
)
from grandag.parameters import ParameterError, check_parameters, integer, number, one_of
from grandag.table import Scaling, TableError, as_table, constant_columns

__all__ = ["GeneralisedScore"]

_WIDTHS = {"cross-validated": CROSS_VALIDATED_WIDTH, "marginal": MARGINAL_WIDTH}

_GAMMA = 0.01
"""Added to the variances of the features."""

_TOLERANCE_FOR_ONE = 1e-9
"""Kernels of one variable need few features anyway."""

_MAX_TARGETS, _SMALLEST_TARGET = 400, 1e-5
"""Marginal likelihood: at most so many features of a variable, with at least this share of the largest eigenvalue."""

_NOISE = 0.1
"""sigma^2 to begin with, in the authors' program; sets the scale of the tolerance here."""

_LOG_NOISE = (-8.0, 2.0)
"""Bounds of log sigma; the features have a standard deviation of at most 2."""

_MAX_KEPT = 2**25
"""Numbers to keep of the sets of variables that were seen last: 256 MB."""

_RULES = {
    "likelihood": one_of(*_WIDTHS),
    "form": one_of("low-rank", "exact"),
    "regulariser": number(1e-10),
    "n_folds": integer(2),
    "determinant_weight": number(0, 1, open_minimum=True),
    "tolerance": number(0, open_minimum=True),
    "max_rank": integer(1),
}

Variables = tuple[int, ...]


class GeneralisedScore:
    """Scores of variables given their parents, higher is better; the score of a DAG is their sum.

    Args:
        X: An array, or a pandas or polars data frame, without missing values or constant columns. Units do not matter;
            the order of the rows does to the cross-validated likelihood, which holds out consecutive rows.
        likelihood: "cross-validated" or "marginal".
        form: "low-rank", or "exact": the reference for a few hundred rows.
        regulariser: lambda of the ridge regression; the marginal likelihood has none.
        n_folds: Number of folds of the cross-validated likelihood.
        determinant_weight: w; 1 is the Gaussian density's, 0.5 what the authors' program has.
        tolerance: The trace that the features of the low-rank form may leave unexplained of the parents' kernel
            matrix, as a share of what is added to its diagonal: n lambda, or sigma^2 as it is to begin with, 0.1;
            and at most n / 1000.
        max_rank: Largest number of features of a kernel.

    Attributes:
        n_variables: Number of columns.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=300)
        >>> score = GeneralisedScore(np.column_stack([x, x**2 + 0.3 * rng.normal(size=300), rng.normal(size=300)]))
        >>> score.local(1, (0,)) > score.local(1, ()) > score.local(1, (2,))
        True
    """

    def __init__(
        self,
        X: Any,
        *,
        likelihood: str = "cross-validated",
        form: str = "low-rank",
        regulariser: float = 0.01,
        n_folds: int = 10,
        determinant_weight: float = 0.5,
        tolerance: float = 0.1,
        max_rank: int = 350,
    ) -> None:
        parameters = locals()
        check_parameters({name: parameters[name] for name in _RULES}, _RULES)
        points = _points(X, _WIDTHS[likelihood])
        n, self.n_variables = points.shape
        ridge = regulariser if likelihood == "cross-validated" else _NOISE / n
        kernels = _Kernels(points, remainder_allowed(tolerance, ridge), max_rank)
        self._score: _LocalScore
        if likelihood == "marginal":
            self._score = _Marginal(kernels, _low_rank_spectrum if form == "low-rank" else _exact_spectrum)
            return
        if n_folds > n:
            raise ParameterError("n_folds", f"must be at most the number of rows, {n}; got {n_folds}.")
        folds = _Folds.consecutive(n, n_folds, regulariser, determinant_weight)
        self._score = _LowRankFolds(kernels, folds) if form == "low-rank" else _ExactFolds(kernels, folds)

    def local(self, node: int, parents: tuple[int, ...] = ()) -> float:
        """The score of a variable given its parents."""
        with one_blas_thread():
            return self._score.local(node, tuple(sorted(parents)))


class _LocalScore(Protocol):
    def local(self, node: int, parents: Variables) -> float: ...


def _points(X: Any, factor: float) -> np.ndarray:
    """Columns divided by the widths of their kernels."""
    table = as_table(X, min_columns=1, numbers_only=True)
    for j in np.flatnonzero(constant_columns(table.values)):
        raise TableError(f"Column {table.names[j]!r} is constant: leave it out, a kernel needs values that differ.")
    standardised = Scaling.standard(table.values).apply(table.values, "float64")
    return standardised / [kernel_width(column, factor) for column in standardised.T]


class _Kernels(NamedTuple):
    """The kernel of every set of variables; that of no variables is 1."""

    points: np.ndarray
    tolerance: float  # of the mean diagonal
    max_rank: int

    def features(self, variables: Variables) -> np.ndarray:
        """F (n, r) with K = F F' up to the tolerance."""
        tolerance = _TOLERANCE_FOR_ONE if len(variables) == 1 else self.tolerance
        return incomplete_cholesky(self.points[:, list(variables)], tolerance, self.max_rank).values

    def matrix(self, variables: Variables) -> np.ndarray:
        """K (n, n)"""
        points = self.points[:, list(variables)]
        return gaussian_kernel(points, points)


Arrays = TypeVar("Arrays", bound=tuple[np.ndarray, ...])


class _Recent(Generic[Arrays]):
    """What a function makes of sets of variables, kept as long as there is room.

    The function must not refer to what owns this: in a cycle the kept arrays would wait for the garbage collector.
    """

    def __init__(self, make: Callable[[Variables], Arrays]) -> None:
        self._make, self._n_kept = make, 0
        self._kept: OrderedDict[Variables, Arrays] = OrderedDict()

    def __call__(self, variables: Variables) -> Arrays:
        if variables not in self._kept:
            self._kept[variables] = self._make(variables)
            self._n_kept += _size(self._kept[variables])
        self._kept.move_to_end(variables)
        while self._n_kept > _MAX_KEPT and len(self._kept) > 1:
            self._n_kept -= _size(self._kept.popitem(last=False)[1])
        return self._kept[variables]


def _size(arrays: tuple[np.ndarray, ...]) -> int:
    return sum(array.size for array in arrays)


class _Folds(NamedTuple):
    """Rows to hold out in turn, and what the likelihood of each fold is made with."""

    held_out: tuple[slice, ...]
    n_rows: int
    regulariser: float
    determinant_weight: float

    @classmethod
    def consecutive(cls, n_rows: int, n_folds: int, regulariser: float, determinant_weight: float) -> _Folds:
        """Blocks of equal size; the last one has the rows that remain, too."""
        starts = [fold * (n_rows // n_folds) for fold in range(n_folds)]
        blocks = tuple(slice(*ends) for ends in zip(starts, [*starts[1:], n_rows], strict=True))
        return cls(blocks, n_rows, regulariser, determinant_weight)

    @property
    def n_held_out(self) -> np.ndarray:
        """(folds,) numbers of rows."""
        return np.array([rows.stop - rows.start for rows in self.held_out])

    def training_products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Cross-products over the training rows of each fold: those over all rows less those held out."""
        held_out = np.stack([left[rows].T @ right[rows] for rows in self.held_out])
        return np.asarray(held_out.sum(axis=0) - held_out)

    def mean(self, log_determinant: np.ndarray, trace: np.ndarray) -> float:
        """Mean over the folds of -1/2 (n_0^2 log 2 pi + w n_0 log det(V / gamma) + tr(R V^-1 R'))."""
        n = self.n_held_out
        weighted = self.determinant_weight * n * log_determinant
        return -0.5 * float((n**2 * math.log(2 * math.pi) + weighted + trace).mean())


class _Products(NamedTuple):
    """Features of a kernel with mean 0 (n, r), and F'F of the training rows of each fold (folds, r, r)."""

    features: np.ndarray
    training: np.ndarray


class _LowRankFolds:
    """The cross-validated likelihood from features: W, V and R as in the module's docstring."""

    def __init__(self, kernels: _Kernels, folds: _Folds) -> None:
        self._folds = folds
        self._products = _Recent(lambda variables: _products(kernels.features(variables), folds))

    def local(self, node: int, parents: Variables) -> float:
        """All folds at once."""
        target, inputs = self._products((node,)), self._products(parents)
        n_training = (self._folds.n_rows - self._folds.n_held_out)[:, None, None]
        ridge = n_training * self._folds.regulariser
        cross = self._folds.training_products(inputs.features, target.features)
        normal = inputs.training + ridge * np.eye(inputs.features.shape[1])
        W = np.stack([lapack.dposv(matrix, right)[1] for matrix, right in zip(normal, cross, strict=True)])
        explained = cross.transpose(0, 2, 1) @ W + ridge * (W.transpose(0, 2, 1) @ W)
        V = (target.training - explained) / n_training + _GAMMA * np.eye(target.features.shape[1])
        residuals = [
            target.features[rows] - inputs.features[rows] @ weights
            for rows, weights in zip(self._folds.held_out, W, strict=True)
        ]
        squares = np.linalg.solve(V, np.stack([residual.T @ residual for residual in residuals]))
        log_determinant = np.linalg.slogdet(V / _GAMMA)[1]
        return self._folds.mean(log_determinant, np.trace(squares, axis1=1, axis2=2))


def _products(features: np.ndarray, folds: _Folds) -> _Products:
    centred = np.ascontiguousarray(features - features.mean(axis=0))
    return _Products(centred, folds.training_products(centred, centred))


class _ExactFolds:
    """The cross-validated likelihood from kernel matrices, by the equations of the paper.

    With M = (K_p + n_1 lambda I)^-1 and c = n_1 lambda^2 / gamma, of training rows t and rows v held out,

        det(V / gamma) = det B,    B = I + c M K_x M,
        tr(R V^-1 R') = 1/gamma (tr(R R') - c tr(Z' B^-1 Z)),    Z = M (K_x[t, v] - K_x[t, t] M K_p[t, v]).
    """

    def __init__(self, kernels: _Kernels, folds: _Folds) -> None:
        self._folds = folds
        self._matrix = _Recent(lambda variables: (_centred(kernels.matrix(variables)),))

    def local(self, node: int, parents: Variables) -> float:
        """One fold after the other."""
        (Kx,), (Kp,) = self._matrix((node,)), self._matrix(parents)
        terms = [self._fold(Kx, Kp, rows) for rows in self._folds.held_out]
        log_determinant, trace = np.array(terms).T
        return self._folds.mean(log_determinant, trace)

    def _fold(self, Kx: np.ndarray, Kp: np.ndarray, rows: slice) -> tuple[float, float]:
        """log det(V / gamma) and tr(R V^-1 R')"""
        is_training = np.ones(len(Kx), dtype=bool)
        is_training[rows] = False
        training = np.ix_(is_training, is_training)
        identity, ridge = np.eye(int(is_training.sum())), is_training.sum() * self._folds.regulariser
        c = ridge * self._folds.regulariser / _GAMMA
        M = cho_factor(Kp[training] + ridge * identity, lower=True)
        B = cho_factor(identity + c * cho_solve(M, cho_solve(M, Kx[training]).T), lower=True)
        weights = cho_solve(M, Kp[is_training, rows])
        explained = Kx[training] @ weights
        Z = cho_solve(M, Kx[is_training, rows] - explained)
        squares = np.trace(Kx[rows, rows]) + (weights * (explained - 2 * Kx[is_training, rows])).sum()
        trace = (squares - c * (Z * cho_solve(B, Z)).sum()) / _GAMMA
        return 2 * float(np.log(np.diagonal(B[0])).sum()), float(trace)


def _centred(matrix: np.ndarray) -> np.ndarray:
    """H K H with H = I - 1 1' / n: the kernel matrix of features with mean 0."""
    means = matrix.mean(axis=0)
    return np.asarray(matrix - means - means[:, None] + means.mean())


class _Spectrum(NamedTuple):
    """Eigenvalues (r,), ascending, and eigenvectors (n, r) of a kernel matrix."""

    eigenvalues: np.ndarray
    vectors: np.ndarray


def _exact_spectrum(kernels: _Kernels, variables: Variables, *, is_centred: bool) -> _Spectrum:
    matrix = kernels.matrix(variables)
    return _Spectrum(*np.linalg.eigh(_centred(matrix) if is_centred else matrix))


def _low_rank_spectrum(kernels: _Kernels, variables: Variables, *, is_centred: bool) -> _Spectrum:
    """F F' and F'F have the same eigenvalues: if F'F u = s u, then F u / sqrt(s) is an eigenvector of F F'."""
    features = kernels.features(variables)
    if is_centred:
        features = features - features.mean(axis=0)
    eigenvalues, rotation = np.linalg.eigh(features.T @ features)
    is_kept = eigenvalues > 1e-12 * eigenvalues[-1]
    return _Spectrum(eigenvalues[is_kept], features @ (rotation[:, is_kept] / np.sqrt(eigenvalues[is_kept])))


class _Marginal:
    """The marginal likelihood of Gaussian processes over the parents, one for each feature of the variable."""

    def __init__(self, kernels: _Kernels, spectrum: Callable[..., _Spectrum]) -> None:
        self._n_rows = len(kernels.points)
        self._spectrum = _Recent(lambda variables: spectrum(kernels, variables, is_centred=False))
        self._targets = _Recent(lambda variables: (_targets(spectrum(kernels, variables, is_centred=True)),))

    def local(self, node: int, parents: Variables) -> float:
        """The noise variance is the only parameter that the authors' program fits, too."""
        (targets,), (eigenvalues, vectors) = self._targets((node,)), self._spectrum(parents)
        likelihood = _MarginalLikelihood(
            eigenvalues, ((vectors.T @ targets) ** 2).sum(axis=1), float((targets**2).sum()), *targets.shape
        )
        best = minimize_scalar(lambda log_noise: -likelihood(log_noise), bounds=_LOG_NOISE, method="bounded")
        return -float(best.fun)


def _targets(spectrum: _Spectrum) -> np.ndarray:
    """Y (n, m): features of a variable, principal components of its kernel, the first with variance 4."""
    n = len(spectrum.vectors)
    largest = spectrum.eigenvalues[-1]
    is_kept = spectrum.eigenvalues > _SMALLEST_TARGET * largest
    is_kept[: -min(_MAX_TARGETS, n // 4)] = False
    return np.asarray(
        2 * math.sqrt(n) * spectrum.vectors[:, is_kept] * np.sqrt(spectrum.eigenvalues[is_kept] / largest)
    )


class _MarginalLikelihood(NamedTuple):
    """log p(Y) as a function of log sigma, from the eigenvalues of K and the squares of Y along its eigenvectors."""

    eigenvalues: np.ndarray
    squares: np.ndarray
    total_squares: float
    n_rows: int
    n_targets: int

    def __call__(self, log_noise: float) -> float:
        """-1/2 sum_k (y_k' C^-1 y_k + log det C + n log 2 pi) with C = K + sigma^2 I"""
        noise = math.exp(2 * log_noise)
        variances = self.eigenvalues + noise
        elsewhere = max(self.total_squares - self.squares.sum(), 0.0)  # where K is 0
        quadratic = (self.squares / variances).sum() + elsewhere / noise
        log_determinant = np.log(variances).sum() + (self.n_rows - len(variances)) * 2 * log_noise
        constant = self.n_rows * math.log(2 * math.pi)
        return -0.5 * float(quadratic + self.n_targets * (log_determinant + constant))
