"""Additive regression with penalised splines: smoothing by generalised cross-validation, and tests of its terms.

    y = intercept + sum_j s_j(x_j) + noise,    GCV = n RSS / (n - tr A)^2

minimised over the logarithms of the smoothing parameters by Newton's method with exact derivatives. Everything is
computed from cross-products of the columns of the bases: after one pass over the rows, a regression of any column on
any others costs the same for any number of rows. This is the model, criterion and test of R's mgcv for
gam(y ~ s(x1) + s(x2) ...), on which CAM's pruning and search rest.

Of a table with interventions, cross-products are kept for each regime. The regression of a column is that of the rows
that do not target it: their regimes' cross-products are summed, and centred.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import lapack

from grandag.blas import one_blas_thread
from grandag.gam.basis import Curve, SplineBasis, spline_basis
from grandag.gam.smooth_test import smooth_p_value
from grandag.table import TableError, as_table, constant_columns

__all__ = ["AdditiveFit", "SplineTable", "basis_size", "column_number"]

BASIS_SIZE = 10
_RIDGE = 1e-10
_VISIBLE = 7.0
"""Beyond e^7 and e^-7 the criterion is nearly flat in a smoothing parameter: no start is further out."""
_LOG_BOUND = math.log(1e13)
_MAX_NEWTON = 100
_SEARCH_TOLERANCE = 1e-7
_ROUNDING = 1e-10
_TOLERANCE = 1e-7


def basis_size(n_rows: int, n_parents: int) -> int:
    """10 functions per term; fewer where there are less than 30 rows per term, at least 3."""
    if n_parents == 0 or n_rows / n_parents >= 3 * BASIS_SIZE:
        return BASIS_SIZE
    return max(3, math.ceil(n_rows / (3 * n_parents)))


def column_number(names: Sequence[str], column: str | int) -> int:
    """The number of a column, given its name or its number."""
    if isinstance(column, str):
        if column not in names:
            raise TableError(f"There is no column {column!r}: the table has {', '.join(names)}.")
        return names.index(column)
    return int(column)


class SplineTable:
    """A table with the bases of all its columns and their one matrix of cross-products.

    Args:
        X: An array, or a pandas or polars data frame, without missing values or constant columns; or a `Table`, which
            may have interventions.
        depends_on_units: Whether the search for smoothing parameters ends where mgcv's does, which depends on the unit
            of the target. Otherwise it ends where mgcv's would if all columns had variance 1.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(-2, 2, 200)
        >>> noise = np.cos(1000 * x)
        >>> fit = SplineTable(np.column_stack([np.sin(2 * x) + 0.1 * noise, x])).regress("X0", ["X1"])
        >>> fit.edf.round(1), fit.p_values() < 0.001
        (array([8.2]), array([ True]))
    """

    def __init__(self, X: Any, *, depends_on_units: bool = True) -> None:
        table = as_table(X, min_columns=1, numbers_only=True)
        for j in np.flatnonzero(constant_columns(table.values)):
            raise TableError(f"Column {table.names[j]!r} is constant: leave it out, no curve can depend on it.")
        self.values, self.names, self.depends_on_units = table.values, table.names, depends_on_units
        self.regimes = table.regimes
        self.n_rows, self.n_columns = (int(size) for size in self.values.shape)
        self._products: dict[int, _Products] = {}

    def column(self, column: str | int) -> int:
        """The number of a column, given its name or its number."""
        return column_number(self.names, column)

    def n_free(self, column: int) -> int:
        """The number of rows in the regressions of a column: those that do not target it."""
        return self.n_rows if self.regimes is None else self.regimes.n_free(column)

    def products(self, k: int) -> _Products:
        """Bases of rank k and their cross-products, made when first needed."""
        if k not in self._products:
            made = _Products.of(self.values, k) if self.regimes is None else _products_by_regime(self, k)
            self._products[k] = made
        return self._products[k]

    def regress(
        self,
        target: str | int,
        parents: Sequence[str | int],
        log_smoothing: np.ndarray | None = None,
        *,
        regimes: np.ndarray | None = None,
    ) -> AdditiveFit:
        """The regression of one column on others (names or numbers).

        With `log_smoothing`, usually from a fit of nearly the same parents, the search starts there and takes a
        fraction of the time; it may end in another minimum of the criterion than mgcv's. Of a table with interventions,
        `regimes` is a mask of those whose rows are used; by default those that do not target the column.
        """
        inputs, column = tuple(self.column(parent) for parent in parents), self.column(target)
        if self.regimes is not None and regimes is None:
            regimes = ~self.regimes.targets[:, column]
        with one_blas_thread():
            products = self.products(basis_size(self._n_rows(regimes), len(parents)))
            problem = products.problem(
                column, inputs, self._n_rows(regimes), regimes, depends_on_units=self.depends_on_units
            )
            return _fit(self, products, problem, column, inputs, log_smoothing)

    def _n_rows(self, regimes: np.ndarray | None) -> int:
        """How many rows some regimes have."""
        return self.n_rows if self.regimes is None or regimes is None else int(self.regimes.counts[regimes].sum())


@dataclass(frozen=True)
class _Products:
    """Bases of all columns, and the mean over rows of products of their functions."""

    bases: tuple[SplineBasis, ...]
    starts: np.ndarray  # (d + 1,) where the functions of each column start
    gram: np.ndarray
    penalty: np.ndarray  # by function

    @staticmethod
    def of(values: np.ndarray, k: int) -> _Products:
        bases, starts, penalty = _bases(values, k)
        gram = np.zeros((starts[-1], starts[-1]))
        for design in _designs(bases, values):
            gram += design.T @ design
        return _Products(bases, starts, gram / len(values), penalty)

    def problem(
        self,
        target: int,
        parents: tuple[int, ...],
        n: int,
        regimes: np.ndarray | None,
        *,
        depends_on_units: bool = True,
    ) -> _Problem:
        """The regression of one column on others. The last function of a column is the column itself, standardised."""
        functions = [np.arange(self.starts[parent], self.starts[parent + 1]) for parent in parents]
        columns = np.concatenate([np.zeros(0, dtype=int), *functions])
        line = self.bases[target].functions
        moments = self.moments(np.append(columns, self.starts[target + 1] - 1), n, regimes)
        variance = line.scale**2 * moments.variance
        return _Problem(
            moments.gram,
            moments.cross / math.sqrt(moments.variance),
            self.penalty[columns],
            np.repeat(np.arange(len(parents)), [len(positions) for positions in functions]),
            tuple(self.bases[parent] for parent in parents),
            n,
            variance,
            variance if depends_on_units else 1.0,
            moments.means,
            line.centre + line.scale * moments.mean,
        )

    def moments(self, functions: np.ndarray, n: int, regimes: np.ndarray | None) -> _Moments:
        """Those of some functions, the target's line last, over the n rows of some regimes: here, all of them."""
        columns, line = functions[:-1], functions[-1]
        gram, cross = self.gram[np.ix_(columns, columns)], self.gram[columns, line]
        return _Moments(gram, cross, 1.0, np.zeros(len(columns)), 0.0)


class _Moments(NamedTuple):
    """Covariances (p, p) of functions of the parents and (p,) with the target's line; its variance; all the means."""

    gram: np.ndarray
    cross: np.ndarray
    variance: float
    means: np.ndarray
    mean: float


@dataclass(frozen=True)
class _RegimeProducts(_Products):
    """Sums of functions and of their products over the rows of each regime; `gram` is that of all rows."""

    sums: np.ndarray  # (regimes, functions)
    squares: np.ndarray  # (regimes, functions, functions)

    def moments(self, functions: np.ndarray, n: int, regimes: np.ndarray | None) -> _Moments:
        """Those of some functions, the target's line last, over the n rows of some regimes."""
        used = np.ones(len(self.sums), dtype=bool) if regimes is None else regimes
        means = self.sums[np.ix_(used, functions)].sum(axis=0) / n
        gram = self.squares[np.ix_(used, functions, functions)].sum(axis=0) / n - np.outer(means, means)
        return _Moments(gram[:-1, :-1], gram[:-1, -1], float(gram[-1, -1]), means[:-1], float(means[-1]))


def _products_by_regime(table: SplineTable, k: int) -> _RegimeProducts:
    """One pass over the rows of each regime, with bases that are those of all rows."""
    assert table.regimes is not None
    bases, starts, penalty = _bases(table.values, k)
    sums = np.zeros((len(table.regimes.targets), starts[-1]))
    squares = np.zeros((*sums.shape, starts[-1]))
    for regime in range(len(sums)):
        for design in _designs(bases, table.values[table.regimes.of_row == regime]):
            sums[regime] += design.sum(axis=0)
            squares[regime] += design.T @ design
    return _RegimeProducts(bases, starts, squares.sum(axis=0) / table.n_rows, penalty, sums, squares)


def _bases(values: np.ndarray, k: int) -> tuple[tuple[SplineBasis, ...], np.ndarray, np.ndarray]:
    """The bases of all columns, where the functions of each start, and the penalties of all functions."""
    bases = tuple(spline_basis(column, k) for column in values.T)
    starts = np.cumsum([0, *(len(basis.penalty) for basis in bases)])
    return bases, starts, np.concatenate([basis.penalty for basis in bases])


def _designs(bases: Sequence[SplineBasis], values: np.ndarray, block: int = 8192) -> Iterator[np.ndarray]:
    """The functions of all columns at blocks of rows."""
    for start in range(0, len(values), block):
        rows = values[start : start + block]
        yield np.hstack([basis(rows[:, j]) for j, basis in enumerate(bases)])


@dataclass(frozen=True, repr=False)
class AdditiveFit:
    """A fitted additive regression."""

    table: SplineTable
    products: _Products
    target: int
    parents: tuple[int, ...]
    log_smoothing: np.ndarray  # (q,)
    solution: _Solution  # of the standardised target

    def __repr__(self) -> str:
        names = self.table.names
        terms = " + ".join(f"s({names[parent]})" for parent in self.parents) or "1"
        return f"<AdditiveFit: {names[self.target]} ~ {terms}, {self.n_rows:,} rows>"

    @property
    def n_rows(self) -> int:
        """The number of rows in the regression."""
        return self.solution.problem.n

    @property
    def k(self) -> int:
        """Rank of the bases, before a column with few distinct values lowers it."""
        return basis_size(self.n_rows, len(self.parents))

    @property
    def residual_df(self) -> float:
        """n - tr A, the degrees of freedom that are left."""
        return self.solution.free

    @property
    def gcv(self) -> float:
        """The criterion n RSS / (n - tr A)^2, in squared units of the target."""
        return self.solution.gcv

    @property
    def sigma2(self) -> float:
        """Estimated variance of the noise RSS / (n - tr A), in squared units of the target."""
        return self.solution.problem.variance * self._relative_sigma2

    @property
    def residual_variance(self) -> float:
        """Sum of squared residuals over n - 1, in squared units of the target: what CAM's score takes the log of."""
        n = self.n_rows
        return float(self.solution.rss * self.solution.problem.variance * n / (n - 1))

    @property
    def _relative_sigma2(self) -> float:
        return float(self.n_rows * self.solution.rss / self.solution.free)

    @functools.cached_property
    def edf(self) -> np.ndarray:
        """(q,) effective degrees of freedom of each term: the trace of its part of F = (X'X + P)^-1 X'X."""
        return self._by_term(np.diagonal(self._F))

    @functools.cached_property
    def edf1(self) -> np.ndarray:
        """(q,) the alternative ones of the test, 2 tr F - tr FF."""
        return self._by_term(2 * np.diagonal(self._F) - np.einsum("ij,ji->i", self._F, self._F))

    @functools.cached_property
    def _F(self) -> np.ndarray:  # noqa: N802
        return np.asarray(self.solution.V @ self.solution.problem.G)

    def _by_term(self, by_function: np.ndarray) -> np.ndarray:
        return np.asarray(by_function @ self.solution.problem.member)

    def summary(self) -> pd.DataFrame:
        """Term, effective degrees of freedom and p-value."""
        terms = [self.table.names[parent] for parent in self.parents]
        return pd.DataFrame({"term": terms, "edf": self.edf, "p_value": self.p_values()})

    def p_values(self) -> np.ndarray:
        """The p-value of each term, by Wood's test (2013) for a smooth function being zero."""
        with one_blas_thread():
            return np.array([self._p_value(term) for term in range(len(self.parents))])

    def _p_value(self, term: int) -> float:
        part = self._columns(term)
        beta = self.solution.beta[part] * math.sqrt(self.n_rows)
        rank = min(len(beta), float(self.edf1[term]))
        return smooth_p_value(beta, self._relative_sigma2 * self.solution.V[part, part], rank, self.residual_df)

    def _columns(self, term: int) -> slice:
        widths = [len(self.products.bases[parent].penalty) for parent in self.parents]
        return slice(sum(widths[:term]), sum(widths[: term + 1]))

    def curve(self, parent: str | int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """s_j(x) for a parent, and its standard error, in the units of the target."""
        parent = self.table.column(parent)
        term = self.parents.index(parent)
        part = self._columns(term)
        design = self.products.bases[parent](x) - self.solution.problem.means[part]
        variance = np.einsum("ij,jk,ik->i", design, self.solution.V[part, part], design) / self.n_rows
        values = math.sqrt(self.solution.problem.variance) * design @ self.solution.beta[part]
        return np.asarray(values), np.sqrt(self.sigma2 * variance)

    def term_curve(self, parent: str | int) -> Curve:
        """s_j as a function of its own, which keeps nothing of the table but the knots."""
        parent = self.table.column(parent)
        part = self._columns(self.parents.index(parent))
        coefficients = math.sqrt(self.solution.problem.variance) * self.solution.beta[part]
        curve = self.products.bases[parent].combine(coefficients)
        return replace(curve, intercept=curve.intercept - float(self.solution.problem.means[part] @ coefficients))

    @property
    def intercept(self) -> float:
        """The mean of the target."""
        return self.solution.problem.mean

    def predict(self, values: np.ndarray) -> np.ndarray:
        """The regression at rows with the table's columns."""
        curves = [self.curve(parent, values[:, parent])[0] for parent in self.parents]
        return np.asarray(self.intercept + np.sum([np.zeros(len(values)), *curves], axis=0))


def _log(values: np.ndarray) -> np.ndarray:
    """The logarithm, -inf for a pivot of 0: a part that is always lost."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


@dataclass(frozen=True)
class _Problem:
    """Cross-products of one regression of a standardised target."""

    G: np.ndarray  # (p, p)
    b: np.ndarray  # (p,)
    penalty: np.ndarray  # (p,)
    term: np.ndarray  # (p,) which term a function belongs to
    bases: tuple[SplineBasis, ...]  # of the terms
    n: int
    variance: float  # of the target
    unit: float  # its variance as far as the end of the search is concerned
    means: np.ndarray  # (p,) of the functions: 0, unless there are interventions
    mean: float  # of the target

    def kept(self, rho: np.ndarray) -> np.ndarray | None:
        """What is left of the penalties (p, p) beside the largest one, if they lose anything.

        mgcv factors the sum of all penalties by a Cholesky decomposition with pivoting, which ends at pivots below
        (p + 1) 2^-53 of the largest entry. With one smoothing parameter at 1e10 this cuts weak parts off the other
        penalties, and its results belong to the penalties that are left; so do ours. They are made of what is left:
        large penalties less what they lose would be penalties of rounding errors, and not all of them positive.
        """
        if not len(self.b) or rho.max() - rho.min() < self._harmless_spread:
            return None
        first, last = self._log_pivots.T
        limit = (rho + first).max() + self._log_rounding
        losing = np.flatnonzero(rho + last <= limit)
        if not len(losing):
            return None
        kept = np.diag(self.whole(rho))
        for term in losing:
            form, columns = self.bases[term].mgcv_form, np.flatnonzero(self.term == term)
            strong = form.factor[rho[term] + _log(form.pivots) > limit]
            kept[np.ix_(columns, columns)] = math.exp(rho[term]) * strong.T @ strong
        return kept

    def whole(self, rho: np.ndarray) -> np.ndarray:
        """(p,) the penalties as they are."""
        return np.asarray(np.exp(rho)[self.term] * self.penalty)

    @functools.cached_property
    def _log_pivots(self) -> np.ndarray:
        """(q, 2) logarithms of the largest and the smallest pivot of each penalty; a line has none."""
        pivots = [basis.mgcv_form.pivots for basis in self.bases]
        return np.array([_log(values[[0, -1]]) if len(values) else (-np.inf, np.inf) for values in pivots])

    @functools.cached_property
    def _log_rounding(self) -> float:
        return math.log((len(self.b) + 1) * 2.0**-53)

    @functools.cached_property
    def _harmless_spread(self) -> float:
        """Logarithms of smoothing parameters that differ by less than this let nothing be lost."""
        first, last = self._log_pivots.T
        return float(last.min() - first.max()) - self._log_rounding

    @functools.cached_property
    def member(self) -> np.ndarray:
        """(p, q) is 1 where a function belongs to a term."""
        return np.asarray(self.term[:, None] == np.arange(len(self.bases)), dtype=float)


@dataclass(frozen=True)
class _Solution:
    problem: _Problem
    beta: np.ndarray
    root: np.ndarray  # (p, p) inverse of the Cholesky factor of G + P, lower triangle
    P: np.ndarray  # (p,) all penalties
    kept: np.ndarray | None  # (p, p) what is left of them, if some lose parts beside the largest
    rss: float
    free: float  # n - tr A

    @functools.cached_property
    def V(self) -> np.ndarray:  # noqa: N802
        """(G + P)^-1"""
        lower, _ = lapack.dlauum(self.root, lower=1)
        V: np.ndarray = lower.T + lower
        V.ravel(order="K")[:: len(V) + 1] /= 2
        return V

    @property
    def gcv(self) -> float:
        """n RSS / (n - tr A)^2, in squared units of the target."""
        return self.problem.variance * self.problem.n**2 * self.rss / self.free**2

    @property
    def criterion(self) -> float:
        """GCV as the search looks at it."""
        return self.problem.unit * self.problem.n**2 * self.rss / self.free**2

    @property
    def score(self) -> float:
        """log GCV up to a constant."""
        return math.log(self.rss) - 2 * math.log(self.free)


def _solve(problem: _Problem, rho: np.ndarray) -> _Solution:
    """Coefficients and criterion for given logarithms of the smoothing parameters."""
    P = problem.whole(rho)
    kept = problem.kept(rho)
    if not len(P):
        return _Solution(problem, np.zeros(0), np.zeros((0, 0)), P, kept, 1.0, problem.n - 1.0)
    A = problem.G.copy() if kept is None else problem.G + kept
    A.ravel()[:: len(P) + 1] += P + _RIDGE if kept is None else _RIDGE
    factor, _ = lapack.dpotrf(A.T, lower=1, clean=1, overwrite_a=1)
    root, _ = lapack.dtrtri(factor, lower=1, overwrite_c=1)
    beta = (root @ problem.b) @ root
    Pb = P * beta if kept is None else kept @ beta
    trace = P @ np.einsum("ij,ij->j", root, root) if kept is None else np.vdot(root @ kept, root)
    rss = 1.0 - problem.b @ beta - beta @ Pb
    free = problem.n - 1 - len(P) + float(trace)
    return _Solution(problem, beta, root, P, kept, max(rss, 1e-12), max(free, 1e-3))


def _derivatives(solution: _Solution) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of GCV, divided by GCV, in the logarithms of the smoothing parameters.

    With t = tr(V P), n - tr A = n - 1 - p + t, and z_i = V P_i beta (P_i: the part of term i), c = V P beta:

        dt/di = sum_{k in i} P_k (V - V P V)_kk
        d2t/didj = [i = j] dt/di - 2 sum_{k in i, l in j} P_k P_l V_kl (V - V P V)_kl
        dRSS/di = 2 beta' P_i c
        d2RSS/didj = 2 ([i = j] beta' P_i c + beta' P_i z_j - z_i' P z_j - c' P_i z_j - c' P_j z_i)

    Where penalties lose parts, P is what is left, but P_i is whole, as in mgcv: the search then takes the same way.
    """
    M, V, S, beta, kept = solution.problem.member, solution.V, solution.P, solution.beta, solution.kept
    PV, MS = S[:, None] * V, M * S[:, None]
    parts = MS * beta[:, None]
    z = V @ parts
    Pz, c = S[:, None] * z, z.sum(axis=1)
    if kept is not None:
        PV, Pz, c = kept @ V, kept @ z, V @ (kept @ beta)
    rest = V - V @ PV
    dt = np.diagonal(rest) @ MS
    d2t = np.diag(dt) - 2 * (MS.T @ (V * rest) @ MS)
    dr = 2 * (parts.T @ c)
    cross = (MS * c[:, None]).T @ z
    d2r = np.diag(dr) + 2 * (parts.T @ z - z.T @ Pz - cross - cross.T)
    rss, free = solution.rss, solution.free
    gradient = dr / rss - 2 * dt / free
    slope_r, slope_t = dr / rss, dt / free
    squares = 2 * slope_t[:, None] * slope_t - slope_r[:, None] * slope_r + gradient[:, None] * gradient
    return gradient, d2r / rss - 2 * d2t / free + squares


def _minimise(problem: _Problem, start: np.ndarray) -> tuple[np.ndarray, _Solution]:
    """The smoothing parameters of a minimum of the criterion, and its solution.

    The criterion can have several minima. From the default start the search goes the way of mgcv's, with its steps
    and its early end, so that it comes to the same one. Newton's method then goes on to its bottom, unless penalties
    have lost parts: there the criterion jumps, and the minimum is where mgcv stops.
    """
    rho, solution = _push_outwards(problem, *_search(problem, start, _solve(problem, start)))
    return (rho, solution) if solution.kept is not None else _polish(problem, rho, solution)


def _search(problem: _Problem, rho: np.ndarray, solution: _Solution) -> tuple[np.ndarray, _Solution]:
    """Newton's steps of at most 5 where the criterion is convex, else steepest descent by 1; halved until it falls.

    A parameter on which the criterion does not depend, up to rounding, stays as it is: the sign of its curvature is a
    matter of chance, and would decide between the two kinds of step, and so between minima. Ends when the criterion
    falls by less than 1e-7 and its gradient is below the cube root of that, relative to 1 + criterion.
    """
    for iteration in range(400):
        gradient, hessian = _derivatives(solution)
        moves = (np.abs(gradient) > _ROUNDING) | (np.abs(np.diagonal(hessian)) > _ROUNDING)
        if not moves.any():
            return rho, solution
        descent = np.where(moves, -gradient, 0.0) / max(float(np.abs(gradient).max()), 1e-300)
        values, vectors = np.linalg.eigh(hessian[np.ix_(moves, moves)])
        step, is_newton = descent, bool((values > 0).all())
        if is_newton:
            step = np.zeros_like(rho)
            step[moves] = -vectors @ ((vectors.T @ gradient[moves]) / values)
            step = step * min(1.0, 5.0 / np.abs(step).max())
        before, proposed = solution.criterion, solution
        for attempt in range(15):
            if attempt == 3 and is_newton:
                step = descent
            candidate = rho + step
            proposed = _solve(problem, candidate)
            if proposed.score < solution.score:
                rho, solution = candidate, proposed
                break
            step = step / 2
        else:
            return rho, solution
        scale = 1 + solution.criterion
        is_flat = np.linalg.norm(gradient) * before <= _SEARCH_TOLERANCE ** (1 / 3) * scale
        if iteration >= 2 and before - solution.criterion <= _SEARCH_TOLERANCE * scale and is_flat:
            break
    return rho, solution


def _push_outwards(problem: _Problem, rho: np.ndarray, solution: _Solution) -> tuple[np.ndarray, _Solution]:
    """Move each parameter in turn downhill by 2, five times at most, for as long as the criterion falls.

    Where the gradient is zero up to rounding, mgcv's direction is a matter of chance; we try both.
    """
    gradient, _ = _derivatives(solution)
    for term, slope in enumerate(gradient):
        downhill = 2.0 if slope < 0 else -2.0
        for step in (downhill, -downhill) if abs(slope) < _ROUNDING else (downhill,):
            before = solution.score
            for _ in range(5):
                candidate = rho.copy()
                candidate[term] += step
                proposed = _solve(problem, candidate)
                if proposed.score >= solution.score:
                    break
                rho, solution = candidate, proposed
            if solution.score < before:
                break
    return rho, solution


def _polish(problem: _Problem, rho: np.ndarray, solution: _Solution) -> tuple[np.ndarray, _Solution]:
    """Newton's method to the bottom, in a box; curvature that is not positive is made so."""
    for _ in range(_MAX_NEWTON):
        gradient, hessian = _derivatives(solution)
        active = (np.abs(gradient) > _TOLERANCE) & ~((np.abs(rho) >= _LOG_BOUND) & (rho * gradient < 0))
        if not active.any():
            break
        values, vectors = np.linalg.eigh(hessian[np.ix_(active, active)])
        curvature = np.maximum(np.abs(values), 1e-9 * max(1.0, np.abs(values).max()))
        step = np.zeros_like(rho)
        step[active] = -vectors @ ((vectors.T @ gradient[active]) / curvature)
        step *= min(1.0, 3.0 / np.abs(step).max())
        for _ in range(20):
            candidate = np.clip(rho + step, -_LOG_BOUND, _LOG_BOUND)
            proposed = _solve(problem, candidate)
            if proposed.score < solution.score:
                break
            step = step / 2
        else:
            break
        improvement = solution.score - proposed.score
        rho, solution = candidate, proposed
        if improvement < 1e-12:
            break
    return rho, solution


def _default_smoothing(bases: Sequence[SplineBasis]) -> np.ndarray:
    """Where to start: penalties on average as large as cross-products, then by tens until bending shrinks to 0.4.

    This is where mgcv starts; the criterion can have several minima, and who starts elsewhere may end in another one.
    """
    smoothing = np.array([_ratio(basis.mgcv_form.sizes) for basis in bases])
    squares = np.concatenate([basis.mgcv_form.sizes[:, 0] for basis in bases])
    penalties = np.concatenate(
        [value * basis.mgcv_form.sizes[:, 1] for value, basis in zip(smoothing, bases, strict=True)]
    )
    if not len(squares):
        return np.zeros(len(bases))
    factor = 1.0
    while np.mean(squares / (squares + factor * penalties)) > 0.4:
        factor *= 10
    while np.mean(squares / (squares + factor * penalties)) < 0.4:
        factor /= 10
    return np.clip(np.log(factor * smoothing), -_LOG_BOUND, _LOG_BOUND)


def _ratio(sizes: np.ndarray) -> float:
    return float(sizes[:, 0].mean() / sizes[:, 1].mean()) if len(sizes) else 1.0


def _fit(
    table: SplineTable,
    products: _Products,
    problem: _Problem,
    target: int,
    parents: tuple[int, ...],
    start: np.ndarray | None,
) -> AdditiveFit:
    if not parents:
        rho, solution = np.zeros(0), _solve(problem, np.zeros(0))
    elif start is None:
        rho, solution = _minimise(problem, _default_smoothing(problem.bases))
    else:
        start = np.clip(start, -_VISIBLE, _VISIBLE)
        rho, solution = _polish(problem, start, _solve(problem, start))
    return AdditiveFit(table, products, target, parents, rho, solution)
