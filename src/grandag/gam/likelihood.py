"""Additive regressions of columns of any kind: penalised likelihood, smoothing by REML, and tests of the terms.

    eta_k = intercept_k + sum_j f_jk(x_j),    y ~ family(eta, theta)

f_j is a penalised spline of a numeric input (`basis.py`) and one coefficient per further label of a binary or
categorical one. Coefficients maximise l(beta) - beta' S beta / 2 by Newton's method, S = sum_j lambda_j S_j; smoothing
and other parameters maximise the Laplace approximation of the restricted likelihood (Wood, Pya and Saefken 2016),

    l - beta' S beta / 2 + log|S|_+ / 2 - log|H + S| / 2 + M / 2 log(2 pi),    H = -d2l / dbeta2

(M: number of coefficients without a penalty), with exact derivatives. These are the models, criterion and tests of R's
mgcv for gam(y ~ s(x1) + f, family = ..., method = "REML"), which is its default for all families with further
parameters; docs/gam.md says how near we come.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import cho_solve, lapack, solve_triangular
from scipy.optimize import minimize
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from grandag.blas import one_blas_thread
from grandag.gam.basis import spline_basis
from grandag.gam.families import FAMILIES, Derivatives, Family
from grandag.gam.regression import basis_size, column_number
from grandag.gam.smooth_test import smooth_p_value
from grandag.table import Table, TableError, as_table

__all__ = ["DISCRETE", "LikelihoodFit", "LikelihoodTable"]

DISCRETE = frozenset({"binary", "categorical"})
"""Kinds whose values are labels: inputs of these kinds have a coefficient per label."""
_RIDGE = 1e-5
"""Penalty of all coefficients, per row: separated labels keep finite coefficients, others do not notice."""
_LOG_BOUND = 15.0
_MAX_NEWTON = 60
_DECREMENT = 1e-11
"""Twice what another step would bring, relative to the value: below this the coefficients are at their best."""
_START = 1.0
_FLAT = 1e-4
"""Slope of the criterion below which a parameter is at its best."""
_TOLERANCE = 1e-9
"""The search for smoothing parameters ends when a step brings less than this part of the criterion."""


class _Term(NamedTuple):
    """The columns of one input: their values (n, w) and penalties (w,), 0 for those without."""

    design: np.ndarray
    penalty: np.ndarray
    is_factor: bool


class LikelihoodTable:
    """A table with columns of several kinds, whose regressions have the families of their targets.

    Args:
        X: An array, or a pandas or polars data frame, without missing values or constant columns. Binary columns hold
            0 and 1, categorical ones whole numbers as codes of their labels.
        kinds: One of `FAMILIES` per column: continuous, heavy-tailed, binary, categorical or count.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=300)
        >>> y = (rng.random(300) < 1 / (1 + np.exp(-3 * np.sin(2 * x)))).astype(float)
        >>> fit = LikelihoodTable(np.column_stack([x, y]), ["continuous", "binary"]).regress(1, [0])
        >>> fit.family.name, bool(fit.p_values()[0] < 0.001), fit.edf.round(1)
        ('binomial', True, array([6.6]))
    """

    def __init__(self, X: Any, kinds: Sequence[str]) -> None:
        table = X if isinstance(X, Table) else as_table(X, numbers_only=True, min_columns=1)
        self.values, self.names, self.kinds = table.values, table.names, tuple(kinds)
        self.regimes = table.regimes
        self.n_rows, self.n_columns = self.values.shape
        if len(self.kinds) != self.n_columns:
            raise TableError(f"There are {self.n_columns} columns and {len(self.kinds)} kinds: give each column one.")
        for name, kind, values in zip(self.names, self.kinds, self.values.T, strict=True):
            _check(name, kind, values)
        self._terms: dict[tuple[int, int], _Term] = {}
        self._targets: dict[int, tuple[np.ndarray, float]] = {}

    def column(self, column: str | int) -> int:
        """The number of a column, given its name or its number."""
        return column_number(self.names, column)

    def term(self, column: int, k: int) -> _Term:
        """The columns of an input, with splines of rank k, made when first needed."""
        if (column, k) not in self._terms:
            self._terms[column, k] = _term(self.values[:, column], self.kinds[column], k)
        return self._terms[column, k]

    def target(self, column: int) -> tuple[np.ndarray, float]:
        """A target as its family takes it, and what its log-likelihood lacks in the units given."""
        if column not in self._targets:
            self._targets[column] = FAMILIES[self.kinds[column]].prepare(self.values[:, column])
        return self._targets[column]

    def regress(self, target: str | int, parents: Sequence[str | int]) -> LikelihoodFit:
        """The regression of one column on others (names or numbers), by the family of its kind."""
        inputs = tuple(self.column(parent) for parent in parents)
        with one_blas_thread():
            return _fit(self, self.column(target), inputs)


def _check(name: str, kind: str, values: np.ndarray) -> None:
    """Refuse a column whose values are not those of its kind."""
    if kind not in FAMILIES:
        raise TableError(f"Column {name!r} has the kind {kind!r}: the kinds are {', '.join(FAMILIES)}.")
    if (values == values[0]).all():
        raise TableError(f"Column {name!r} is constant: leave it out, nothing can depend on it.")
    if kind == "binary" and not np.isin(values, (0, 1)).all():
        raise TableError(f"Column {name!r} is not binary: its values must be 0 and 1.")
    if kind == "categorical" and (values != np.round(values)).any():
        raise TableError(
            f"Column {name!r} is not categorical: its labels must be whole numbers, such as codes 0, 1, 2."
        )
    if kind == "count" and ((values < 0) | (values != np.round(values))).any():
        raise TableError(f"Column {name!r} is no count: its values must be 0, 1, 2, ...; else it is continuous.")


def _term(x: np.ndarray, kind: str, k: int) -> _Term:
    if kind in DISCRETE:
        labels = np.unique(x)
        design = (x[:, None] == labels[1:]).astype(np.float64)
        design = (design - design.mean(axis=0)) / design.std(axis=0)
        return _Term(design, np.zeros(design.shape[1]), True)
    if kind == "heavy-tailed":
        x = tamed(x)
    basis = spline_basis(x, k)
    return _Term(basis(x), basis.penalty, len(basis.penalty) == 1)


def tamed(x: np.ndarray) -> np.ndarray:
    """arsinh((x - median) / spread): outliers of an input then leave its spline the resolution where the rows are."""
    low, middle, high = np.quantile(x, [0.25, 0.5, 0.75])
    return np.asarray(np.arcsinh((x - middle) / ((high - low) / 1.349 or x.std())))


@dataclass(frozen=True)
class _Problem:
    """One regression: design with its intercept first, and the penalties of its columns."""

    family: Family
    y: np.ndarray
    X: np.ndarray  # (n, p)
    penalty: np.ndarray  # (p,)
    smooth: np.ndarray  # (p,) which smoothing parameter a column has, -1 for none
    parent: np.ndarray  # (p,) which parent a column belongs to, -1 for the intercept
    n_predictors: int

    @property
    def n_smooths(self) -> int:
        """Smoothing parameters of one predictor."""
        return int(self.smooth.max(initial=-1)) + 1

    @functools.cached_property
    def n_parameters(self) -> int:
        """Smoothing parameters of all predictors, then theta."""
        return self.n_smooths * self.n_predictors + len(self.family.bounds)

    def split(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """rho (predictors, smooths) and theta."""
        n = self.n_smooths * self.n_predictors
        return parameters[:n].reshape(self.n_predictors, self.n_smooths), parameters[n:]

    def penalties(self, rho: np.ndarray) -> np.ndarray:
        """(m p,) of all coefficients, predictor after predictor."""
        n, is_smooth = len(self.y), self.smooth >= 0
        scale = np.zeros((self.n_predictors, len(self.smooth)))
        scale[:, is_smooth] = np.exp(rho)[:, self.smooth[is_smooth]]
        return np.asarray(n * scale * self.penalty).ravel()

    def eta(self, beta: np.ndarray) -> np.ndarray:
        """(n, m)"""
        return np.asarray(self.X @ beta.reshape(self.n_predictors, -1).T)

    def crossproducts(self, weights: np.ndarray) -> np.ndarray:
        """H of weights (n, m, m), as a matrix (m p, m p)."""
        m, p = self.n_predictors, self.X.shape[1]
        H = np.empty((m, p, m, p))
        for k in range(m):
            for other in range(k + 1):
                H[k, :, other] = self.X.T @ (weights[:, k, other, None] * self.X)
                H[other, :, k] = H[k, :, other].T
        return H.reshape(m * p, m * p)

    def gradient(self, slope: np.ndarray) -> np.ndarray:
        """(m p,) of slopes (n, m)."""
        return np.asarray(slope.T @ self.X).ravel()


@dataclass(frozen=True)
class _Solution:
    """The best coefficients for given parameters."""

    beta: np.ndarray  # (m p,)
    theta: np.ndarray
    P: np.ndarray  # (m p,) penalties
    at: Derivatives
    factor: np.ndarray  # lower Cholesky factor of H + P
    criterion: float
    """The Laplace approximation of the restricted likelihood."""


def _cholesky(H: np.ndarray, P: np.ndarray) -> np.ndarray | None:
    """The lower factor of H + diag(P), None if it is not positive."""
    A = H.copy()
    A.ravel()[:: len(P) + 1] += P
    factor, failed = lapack.dpotrf(A, lower=1, clean=1, overwrite_a=1)
    return None if failed else factor


def _solve(problem: _Problem, parameters: np.ndarray, beta: np.ndarray) -> _Solution:
    """Newton's method for the coefficients, from `beta`; where H + P is not positive, with the expected H."""
    family, y = problem.family, problem.y
    rho, theta = problem.split(parameters)
    P = problem.penalties(rho)
    everything = P + _RIDGE * len(y)
    everything.reshape(problem.n_predictors, -1)[:, 0] -= _RIDGE * len(y) * (1 - 1e-4)
    eta = problem.eta(beta)
    at = family.derivatives(y, eta, theta)
    value = at.log_likelihood - 0.5 * float(everything @ beta**2)
    factor = None
    for _ in range(_MAX_NEWTON):
        factor = _cholesky(problem.crossproducts(at.weights), everything)
        if factor is None:
            factor = _cholesky(problem.crossproducts(at.expected), everything)
        gradient = problem.gradient(at.slope) - everything * beta
        assert factor is not None, "the expected H has no negative eigenvalue"
        step = cho_solve((factor, True), gradient)
        decrement = float(step @ gradient)
        if decrement < _DECREMENT * (1 + abs(value)):
            break
        for _ in range(30):
            candidate = beta + step
            eta = problem.eta(candidate)
            proposed = family.log_likelihood(y, eta, theta) - 0.5 * float(everything @ candidate**2)
            if proposed >= value:
                break
            step = step / 2
        else:
            break
        beta, value = candidate, proposed
        at = family.derivatives(y, eta, theta)
    assert factor is not None
    is_penalised = P > 0
    log_determinants = float(np.log(P[is_penalised]).sum()) - 2 * float(np.log(np.diagonal(factor)).sum())
    n_free = int((~is_penalised).sum())
    criterion = value + 0.5 * log_determinants + 0.5 * n_free * math.log(2 * math.pi)
    return _Solution(beta, theta, P, at, factor, criterion)


def _gradient(problem: _Problem, solution: _Solution) -> np.ndarray:
    """Derivatives of the criterion in rho and theta.

    V = (H + S)^-1. With leverages L_kl = x' V_kl x of each row, a = sum_kl L_kl dW_kl / deta and v = V X' a,

        d/drho_j = (rank_j - lambda_j (beta' S_j beta + tr(V S_j) - v' S_j beta)) / 2
        d/dtheta = dl/dtheta - (sum L dW/dtheta + v' X' d2l/deta dtheta) / 2
    """
    m, p = problem.n_predictors, problem.X.shape[1]
    beta, P, at = solution.beta, solution.P, solution.at
    root = solve_triangular(solution.factor, np.eye(m * p), lower=True)  # V = root' root
    leverage = _leverages(problem, root)
    pull = problem.family.contract(at, problem.eta(beta), leverage)
    v = root.T @ (root @ problem.gradient(pull))
    penalised = P * (beta**2 + np.einsum("ij,ij->j", root, root) - v * beta)
    by_rho = np.zeros((m, problem.n_smooths))
    is_smooth = problem.smooth >= 0
    terms = problem.smooth[is_smooth]
    ranks = np.bincount(terms[problem.penalty[is_smooth] > 0], minlength=problem.n_smooths)
    for k, own in enumerate(penalised.reshape(m, p)):
        by_rho[k] = ranks - np.bincount(terms, weights=own[is_smooth], minlength=problem.n_smooths)
    by_theta = at.by_theta
    if len(by_theta):
        indirect = at.weights_by_theta @ leverage[:, 0, 0] + at.slope_by_theta @ (problem.X @ v)
        by_theta = by_theta - 0.5 * indirect
    return np.concatenate([0.5 * by_rho.ravel(), by_theta])


def _leverages(problem: _Problem, root: np.ndarray) -> np.ndarray:
    """(n, m, m): x' V_kl x"""
    m, p = problem.n_predictors, problem.X.shape[1]
    parts = [problem.X @ root[:, k * p : (k + 1) * p].T for k in range(m)]
    found = np.empty((len(problem.y), m, m))
    for k in range(m):
        for other in range(k + 1):
            found[:, k, other] = found[:, other, k] = np.einsum("ij,ij->i", parts[k], parts[other])
    return found


def _fit(table: LikelihoodTable, target: int, parents: tuple[int, ...]) -> LikelihoodFit:
    """The regression, its parameters by a quasi-Newton method; every step starts from the last coefficients."""
    problem = _problem(table, target, parents)
    beta = np.zeros((problem.n_predictors, problem.X.shape[1]))
    beta[:, 0], theta = problem.family.start(problem.y)
    last = [beta.ravel()]

    def negative(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        solution = _solve(problem, parameters, last[0])
        last[0] = solution.beta
        return -solution.criterion, -_gradient(problem, solution)

    n_smooths = problem.n_smooths * problem.n_predictors
    parameters = np.concatenate([np.full(n_smooths, _START), theta])
    if len(parameters):
        bounds = [(-_LOG_BOUND, _LOG_BOUND)] * n_smooths + list(problem.family.bounds)
        parameters = minimize(
            negative,
            parameters,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": _TOLERANCE, "gtol": _FLAT},
        ).x
    return LikelihoodFit(table, target, parents, problem, parameters, _solve(problem, parameters, last[0]))


def _problem(table: LikelihoodTable, target: int, parents: tuple[int, ...]) -> _Problem:
    k = basis_size(table.n_rows, len(parents))
    terms = [table.term(parent, k) for parent in parents]
    widths = [len(term.penalty) for term in terms]
    smooth = np.cumsum([not term.is_factor for term in terms], dtype=int) - 1
    numbers = [-1 if term.is_factor else number for term, number in zip(terms, smooth, strict=True)]
    y, _ = table.target(target)
    family = FAMILIES[table.kinds[target]]
    return _Problem(
        family,
        y,
        np.column_stack([np.ones(table.n_rows), *(term.design for term in terms)]),
        np.concatenate([[0.0], *(term.penalty for term in terms)]),
        np.concatenate([[-1], np.repeat(numbers, widths)]).astype(int),
        np.concatenate([[-1], np.repeat(np.arange(len(parents)), widths)]).astype(int),
        family.n_predictors(y),
    )


@dataclass(frozen=True, repr=False)
class LikelihoodFit:
    """A fitted regression with its tests."""

    table: LikelihoodTable
    target: int
    parents: tuple[int, ...]
    problem: _Problem
    parameters: np.ndarray  # logarithms of smoothing parameters, then theta
    solution: _Solution

    def __repr__(self) -> str:
        names = self.table.names
        terms = " + ".join(f"f({names[parent]})" for parent in self.parents) or "1"
        return f"<LikelihoodFit: {names[self.target]} ~ {terms}, {self.family.name}, {self.table.n_rows:,} rows>"

    @property
    def family(self) -> Family:
        """The family of the target."""
        return self.problem.family

    @property
    def theta(self) -> np.ndarray:
        """The family's other parameters."""
        return self.solution.theta

    @property
    def log_likelihood(self) -> float:
        """Of the rows, in the units of the target."""
        return self.solution.at.log_likelihood + self.table.target(self.target)[1]

    @property
    def criterion(self) -> float:
        """The restricted likelihood (REML) that was maximised, with standardised indicators of labels."""
        n, n_free = self.table.n_rows, int((self.solution.P == 0).sum())
        return float(self.solution.criterion + self.table.target(self.target)[1] * (n - n_free) / n)

    @property
    def total_edf(self) -> float:
        """Effective degrees of freedom of all terms and intercepts, and the number of other parameters."""
        return float(np.diagonal(self._F).sum()) + len(self.solution.theta)

    @property
    def bic(self) -> float:
        """log L - edf log(n) / 2, in nats: larger is better."""
        return self.log_likelihood - 0.5 * self.total_edf * math.log(self.table.n_rows)

    @functools.cached_property
    def edf(self) -> np.ndarray:
        """(q,) effective degrees of freedom of each parent, the sum over predictors: the trace of its part of F."""
        return np.asarray(self._by_parent(np.diagonal(self._F)).sum(axis=0))

    @functools.cached_property
    def _edf1(self) -> np.ndarray:
        """(m, q) the alternative ones of the test, 2 tr F - tr FF."""
        return self._by_parent(2 * np.diagonal(self._F) - np.einsum("ij,ji->i", self._F, self._F))

    def _by_parent(self, by_coefficient: np.ndarray) -> np.ndarray:
        """(m, q) sums over the coefficients of each parent."""
        member = self.problem.parent[:, None] == np.arange(len(self.parents))
        return np.asarray(by_coefficient.reshape(self.problem.n_predictors, -1) @ member)

    @functools.cached_property
    def _H(self) -> np.ndarray:  # noqa: N802
        return self.problem.crossproducts(self.solution.at.expected)

    @functools.cached_property
    def _V(self) -> np.ndarray:  # noqa: N802
        """(H + P)^-1 with the expected H."""
        P = self.solution.P + _RIDGE * self.table.n_rows
        factor = _cholesky(self._H, P)
        assert factor is not None, "the expected H has no negative eigenvalue"
        return np.asarray(cho_solve((factor, True), np.eye(len(P))))

    @functools.cached_property
    def _F(self) -> np.ndarray:  # noqa: N802
        return np.asarray(self._V @ self._H)

    @functools.cached_property
    def _residual_df(self) -> float | None:
        """n - tr F where the scale is estimated."""
        return self.table.n_rows - float(np.diagonal(self._F).sum()) if self.family.estimates_scale else None

    @functools.cached_property
    def _covariance(self) -> np.ndarray:
        """Of the coefficients; with an estimated scale that of the residuals, RSS / (n - tr F)."""
        if self._residual_df is None:
            return self._V
        residuals = self.problem.y - self.problem.eta(self.solution.beta)[:, 0]
        sigma2 = float(residuals @ residuals) / self._residual_df
        return self._V * sigma2 / math.exp(self.solution.theta[0])

    def summary(self) -> pd.DataFrame:
        """Term, effective degrees of freedom and p-value."""
        terms = [self.table.names[parent] for parent in self.parents]
        return pd.DataFrame({"term": terms, "edf": self.edf, "p_value": self.p_values()})

    def p_values(self) -> np.ndarray:
        """(q,) the p-value of each parent: Wood's test (2013) of a spline, Wald's of labels; all predictors at once."""
        with one_blas_thread():
            predictors = range(self.problem.n_predictors)
            return np.array([self._p_value(term, predictors) for term in range(len(self.parents))])

    def p_values_by_predictor(self) -> np.ndarray:
        """(m, q) the same for each predictor of its own: of a categorical target, each label but the first."""
        with one_blas_thread():
            terms = range(len(self.parents))
            return np.array(
                [[self._p_value(term, [k]) for term in terms] for k in range(self.problem.n_predictors)]
            )  # fmt: skip

    def wald(self, terms: Sequence[int]) -> float:
        """beta' V^-1 beta of the coefficients of some parents, by their places, in all predictors.

        Half of it is the penalised log-likelihood that is lost without them, to second order.
        """
        own = np.flatnonzero(np.tile(np.isin(self.problem.parent, terms), self.problem.n_predictors))
        beta = self.solution.beta[own]
        return float(beta @ np.linalg.solve(self._V[np.ix_(own, own)], beta))

    def rao(self, column: str | int, n_functions: int) -> tuple[float, int]:
        """Rao's score statistic of a further parent, by its smoothest functions or its labels, and their number.

        u' (Z'WZ - Z'WX V X'WZ)^-1 u with u = Z' dl/deta, the expected weights W, and functions Z in all predictors;
        chi-squared if the target does not depend on the column given the parents.
        """
        with one_blas_thread():
            return self._rao(self.table.column(column), n_functions)

    def _rao(self, column: int, n_functions: int) -> tuple[float, int]:
        term = self.table.term(column, basis_size(self.table.n_rows, len(self.parents) + 1))
        smoothest = np.argsort(term.penalty, kind="stable")[
            : None if self.table.kinds[column] in DISCRETE else n_functions
        ]
        Z, X, m = term.design[:, np.sort(smoothest)], self.problem.X, self.problem.n_predictors
        weights, width = self.solution.at.expected, Z.shape[1]
        u = np.asarray(self.solution.at.slope.T @ Z).ravel()
        own, mixed = np.empty((m, width, m, width)), np.empty((m, width, m, X.shape[1]))
        for k in range(m):
            for other in range(m):
                weighted = weights[:, k, other, None] * Z
                own[k, :, other], mixed[k, :, other] = weighted.T @ Z, weighted.T @ X
        size = m * width
        left = mixed.reshape(size, -1)
        information = own.reshape(size, size) - left @ self._V @ left.T
        information.ravel()[:: size + 1] += _RIDGE * self.table.n_rows
        return max(float(u @ np.linalg.solve(information, u)), 0.0), size

    def _p_value(self, term: int, predictors: Sequence[int]) -> float:
        width = self.problem.X.shape[1]
        own = np.flatnonzero(self.problem.parent == term)
        columns = np.concatenate([k * width + own for k in predictors])
        beta, covariance = self.solution.beta[columns], self._covariance[np.ix_(columns, columns)]
        if self.problem.smooth[own[0]] < 0:
            statistic, df = float(beta @ np.linalg.solve(covariance, beta)), len(beta)
            if self._residual_df is None:
                return float(chi2.sf(statistic, df))
            return float(f_distribution.sf(statistic / df, df, self._residual_df))
        root = np.linalg.cholesky(self._H[np.ix_(columns, columns)]).T
        rank = min(len(beta), float(self._edf1[list(predictors), term].sum()))
        return smooth_p_value(root @ beta, root @ covariance @ root.T, rank, self._residual_df)
