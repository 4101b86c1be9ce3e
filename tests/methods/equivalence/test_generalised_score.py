import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from grandag.blas import one_blas_thread
from grandag.methods.equivalence.generalised_score import GeneralisedScore, _MarginalLikelihood
from grandag.parameters import ParameterError
from grandag.simulate import draw_scenario, erdos_renyi
from grandag.table import TableError
from tests.conftest import nonlinear_chain

SETS = [(0, ()), (1, (0,)), (2, (0, 1)), (3, (0, 2, 4))]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The references, too, have small matrices."""
    with one_blas_thread():
        yield


@pytest.fixture
def table(rng) -> np.ndarray:
    """Five columns; the last two have ties, as counts do."""
    chain = nonlinear_chain(rng, 103)
    return np.column_stack([chain, np.round(2 * chain[:, 0]), rng.integers(0, 3, len(chain))])


def median_width(column: np.ndarray) -> float:
    distances = np.subtract.outer(column, column)[np.triu_indices(len(column), 1)] ** 2
    return float(np.sqrt(0.5 * np.median(distances[distances > 0])))


def kernel_matrix(table: np.ndarray, variables: tuple[int, ...], factor: float) -> np.ndarray:
    matrix = np.ones((len(table), len(table)))
    for column in table[:, list(variables)].T:
        matrix *= np.exp(-(np.subtract.outer(column, column) ** 2) / (2 * (factor * median_width(column)) ** 2))
    return matrix


def by_the_paper(
    table: np.ndarray, node: int, parents: tuple[int, ...], regulariser: float = 0.01, n_folds: int = 10
) -> float:
    """The cross-validated score with all inverses written out, as in the equations and the program of Huang et al.

    Without parents, the covariance operator of the variable itself takes the place of that of the residuals.
    """
    n, gamma = len(table), 0.01
    H = np.eye(n) - 1 / n
    Kx = H @ kernel_matrix(table, (node,), 2.0) @ H
    Kp = H @ kernel_matrix(table, parents, 2.0) @ H
    total = 0.0
    for fold in range(n_folds):
        start, stop = fold * (n // n_folds), (fold + 1) * (n // n_folds) if fold < n_folds - 1 else n
        v, t = np.arange(start, stop), np.r_[0:start, stop:n]
        n0, n1 = len(v), len(t)
        x_te, x_tr, x_trte = Kx[np.ix_(v, v)], Kx[np.ix_(t, t)], Kx[np.ix_(t, v)]
        p_tr, p_trte = Kp[np.ix_(t, t)], Kp[np.ix_(t, v)]
        if parents:
            A1 = np.linalg.inv(p_tr + n1 * regulariser * np.eye(n1))
            c = n1 * regulariser**2 / gamma
            A2 = A1 @ x_tr @ A1
            A3 = A1 @ np.linalg.inv(np.eye(n1) + c * A2) @ A1
            bracket = (
                x_te
                + p_trte.T @ A2 @ p_trte
                - 2 * x_trte.T @ A1 @ p_trte
                - c * x_trte.T @ A3 @ x_trte
                - c * p_trte.T @ A1 @ x_tr @ A3 @ x_tr @ A1 @ p_trte
                + 2 * c * x_trte.T @ A3 @ x_tr @ A1 @ p_trte
            )
            B = np.eye(n1) + c * A2
        else:
            B = np.eye(n1) + x_tr / (gamma * n1)
            bracket = x_te - x_trte.T @ np.linalg.inv(B) @ x_trte / (gamma * n1)
        half_log_determinant = np.log(np.diag(np.linalg.cholesky(B))).sum()
        total += (n0**2 * np.log(2 * np.pi) + n0 * half_log_determinant + np.trace(bracket) / gamma) / 2
    return -total / n_folds


def in_feature_space(table: np.ndarray, node: int, parents: tuple[int, ...], regulariser: float = 0.01) -> float:
    """The same as a Gaussian log-density of principal components, for a determinant in full, up to a constant."""
    n, gamma = len(table), 0.01
    H = np.eye(n) - 1 / n
    eigenvalues, vectors = np.linalg.eigh(H @ kernel_matrix(table, (node,), 2.0) @ H)
    phi = vectors[:, eigenvalues > 1e-11] * np.sqrt(eigenvalues[eigenvalues > 1e-11])
    Kp = H @ kernel_matrix(table, parents, 2.0) @ H
    total = 0.0
    for v in np.array_split(np.arange(n), 10):
        t = np.setdiff1d(np.arange(n), v)
        predictor = np.linalg.solve(Kp[np.ix_(t, t)] + len(t) * regulariser * np.eye(len(t)), phi[t])
        residuals = phi[t] - Kp[np.ix_(t, t)] @ predictor
        covariance = residuals.T @ residuals / len(t) + gamma * np.eye(phi.shape[1])
        tested = phi[v] - Kp[np.ix_(v, t)] @ predictor
        total += multivariate_normal(np.zeros(len(covariance)), covariance).logpdf(tested).sum()
        total += 0.5 * len(v) * phi.shape[1] * np.log(2 * np.pi * gamma) - 0.5 * len(v) ** 2 * np.log(2 * np.pi)
    return total / 10


@pytest.mark.parametrize(("node", "parents"), SETS)
def test_exact_score_is_that_of_the_equations(table, node, parents):
    expected = by_the_paper(table, node, parents)
    assert GeneralisedScore(table, form="exact").local(node, parents) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("node", "parents"), SETS)
def test_full_determinant_makes_it_a_density(table, node, parents):
    score = GeneralisedScore(table[:100], form="exact", determinant_weight=1.0)
    assert score.local(node, parents) == pytest.approx(in_feature_space(table[:100], node, parents), rel=1e-8)


@pytest.mark.parametrize("options", [{"regulariser": 0.2}, {"n_folds": 3}])
def test_exact_score_follows_its_parameters(table, options):
    expected = by_the_paper(table, 1, (0,), **options)
    assert GeneralisedScore(table, form="exact", **options).local(1, (0,)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("likelihood", "error"), [("cross-validated", 0.1), ("marginal", 1.0)])
@pytest.mark.parametrize(("node", "parents"), SETS)
def test_low_rank_score_tends_to_the_exact_one(table, likelihood, error, node, parents):
    exact = GeneralisedScore(table, likelihood=likelihood, form="exact").local(node, parents)
    for tolerance, share in ((0.1, 1.0), (1e-4, 1e-2)):
        low_rank = GeneralisedScore(table, likelihood=likelihood, tolerance=tolerance)
        assert low_rank.local(node, parents) == pytest.approx(exact, abs=share * error)


def gains(score: GeneralisedScore, node: int, parents: tuple[int, ...]) -> np.ndarray:
    others = [i for i in range(score.n_variables) if i != node and i not in parents]
    return np.array([score.local(node, (*parents, i)) for i in others]) - score.local(node, parents)


@pytest.mark.parametrize("likelihood", ["cross-validated", "marginal"])
def test_low_rank_score_decides_like_the_exact_one(likelihood):
    scenario = draw_scenario("gauss-anm", erdos_renyi(10, 10, random_state=3), n_rows=200, random_state=3)
    values, truth = np.asarray(scenario.data), scenario.adjacency
    exact, low_rank = (GeneralisedScore(values, likelihood=likelihood, form=form) for form in ("exact", "low-rank"))
    starts = [(j, parents) for j in range(10) for parents in {(), tuple(np.flatnonzero(truth[:, j]).tolist())}]
    pairs = [(gains(exact, *start), gains(low_rank, *start)) for start in starts]
    same_sign = np.concatenate([np.sign(one) == np.sign(other) for one, other in pairs])
    assert same_sign.mean() >= 0.98
    assert np.mean([one.argmax() == other.argmax() for one, other in pairs]) >= 0.95


@pytest.mark.parametrize("regulariser", [1e-4, 1.0, 5.0, 9.0, 100.0, 1e4])
def test_low_rank_score_follows_the_regulariser(table, regulariser):
    """Over the paper's space: gains shrink with it, and keep their signs."""
    exact, low_rank = (GeneralisedScore(table, form=form, regulariser=regulariser) for form in ("exact", "low-rank"))
    one, other = gains(exact, 2, (0,)), gains(low_rank, 2, (0,))
    np.testing.assert_allclose(other, one, rtol=0.02)


@pytest.mark.parametrize(("node", "parents"), SETS)
def test_marginal_score_is_the_density_of_gaussian_processes(table, node, parents):
    n = len(table)
    H = np.eye(n) - 1 / n
    eigenvalues, vectors = np.linalg.eigh(H @ kernel_matrix(table, (node,), 2.5) @ H)
    is_kept = eigenvalues > 1e-5 * eigenvalues[-1]
    assert is_kept.sum() <= n // 4
    targets = 2 * np.sqrt(n) * vectors[:, is_kept] * np.sqrt(eigenvalues[is_kept] / eigenvalues[-1])
    K = kernel_matrix(table, parents, 2.5)

    def log_density(log_noise: float) -> float:
        process = multivariate_normal(np.zeros(n), K + np.exp(2 * log_noise) * np.eye(n))
        return float(process.logpdf(targets.T).sum())

    grid = np.linspace(-5, 2, 29)
    best = grid[np.argmax([log_density(log_noise) for log_noise in grid])]
    refined = minimize_scalar(lambda log_noise: -log_density(log_noise), bracket=(best - 0.25, best, best + 0.25))
    found = GeneralisedScore(table, likelihood="marginal", form="exact").local(node, parents)
    assert found == pytest.approx(-refined.fun, rel=1e-7)


def test_marginal_likelihood_of_given_noise(rng):
    factor, targets = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    eigenvalues, vectors = np.linalg.eigh(factor @ factor.T)
    kept = slice(-4, None)
    squares = ((vectors[:, kept].T @ targets) ** 2).sum(axis=1)
    likelihood = _MarginalLikelihood(eigenvalues[kept], squares, float((targets**2).sum()), *targets.shape)
    process = multivariate_normal(np.zeros(30), factor @ factor.T + 0.3 * np.eye(30))
    assert likelihood(np.log(np.sqrt(0.3))) == pytest.approx(process.logpdf(targets.T).sum())


FORMS = [(likelihood, form) for likelihood in ("cross-validated", "marginal") for form in ("low-rank", "exact")]


@pytest.mark.parametrize(("likelihood", "form"), FORMS)
def test_units_and_order_of_parents_do_not_matter(table, likelihood, form):
    score = GeneralisedScore(table, likelihood=likelihood, form=form).local(1, (0, 2, 3))
    other_units = GeneralisedScore(table * [1e6, -2.0, 1e-3, 7.0, 1.0] + 5.0, likelihood=likelihood, form=form)
    assert other_units.local(1, (3, 0, 2)) == pytest.approx(score, rel=1e-6)


@pytest.mark.parametrize(("likelihood", "form"), FORMS)
def test_order_of_rows_matters_between_folds_only(table, rng, likelihood, form):
    values = table[:100]
    within = np.concatenate([rng.permutation(rows) for rows in np.arange(100).reshape(10, 10)])
    score = GeneralisedScore(values, likelihood=likelihood, form=form).local(1, (0, 2))
    shuffled = GeneralisedScore(values[within], likelihood=likelihood, form=form).local(1, (0, 2))
    assert shuffled == pytest.approx(score, rel=1e-4 if form == "low-rank" else 1e-9)


@pytest.mark.parametrize(("likelihood", "form"), FORMS)
def test_parents_raise_the_score_and_strangers_lower_it(rng, likelihood, form):
    values = np.column_stack([nonlinear_chain(rng, 300), rng.normal(size=300)])
    score = GeneralisedScore(values, likelihood=likelihood, form=form)
    assert score.n_variables == 4
    assert score.local(2, (1,)) > score.local(2, ()) > score.local(2, (3,))
    assert score.local(2, (1,)) > score.local(2, (1, 3))


def test_scores_do_not_depend_on_what_was_kept(table, monkeypatch):
    expected = GeneralisedScore(table).local(1, (0, 2))
    monkeypatch.setattr("grandag.methods.equivalence.generalised_score._MAX_KEPT", 10)
    score = GeneralisedScore(table)
    for _ in range(2):
        assert score.local(0, (2,)) != expected
        assert score.local(1, (0, 2)) == expected


@pytest.mark.parametrize("form", ["low-rank", "exact"])
@pytest.mark.parametrize("likelihood", ["cross-validated", "marginal"])
def test_what_was_kept_goes_with_the_score(table, likelihood, form):
    """At once, without the garbage collector: hundreds of fits in a row would fill the memory."""
    gc.disable()
    try:
        score = GeneralisedScore(table, likelihood=likelihood, form=form)
        score.local(1, (0,))
        kept = weakref.ref(score._score)
        del score
        assert kept() is None
    finally:
        gc.enable()


def test_copies_are_no_accident(rng):
    column = rng.normal(size=200)
    values = np.column_stack([column, column, rng.normal(size=200)])
    for likelihood, form in FORMS:
        score = GeneralisedScore(values, likelihood=likelihood, form=form)
        assert np.isfinite(score.local(0, (1,)))
        assert score.local(0, (1,)) > score.local(0, ())


def test_errors_say_what_to_do(table):
    with pytest.raises(TableError, match="'X1' is constant"):
        GeneralisedScore(np.column_stack([table[:, 0], np.ones(len(table))]))
    with pytest.raises(ParameterError, match=r"'n_folds' must be at most the number of rows, 103; got 104"):
        GeneralisedScore(table, n_folds=104)
    with pytest.raises(ParameterError, match="'likelihood' must be one of 'cross-validated', 'marginal'; got 'cv'"):
        GeneralisedScore(table, likelihood="cv")
    with pytest.raises(ParameterError, match="'regulariser'"):
        GeneralisedScore(table, regulariser=0.0)
