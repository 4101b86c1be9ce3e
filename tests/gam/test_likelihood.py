"""Regressions by family against R, finite differences and closed forms."""

import functools

import numpy as np
import pandas as pd
import pytest

from grandag.gam import LikelihoodTable
from grandag.gam.likelihood import _gradient, _problem, _solve
from grandag.table import TableError
from tests import reference

KINDS = {
    **dict.fromkeys(("x0", "x1", "x2", "x3", "y"), "continuous"),
    **dict.fromkeys(("heavy", "t"), "heavy-tailed"),
    **dict.fromkeys(("count", "c"), "count"),
    **dict.fromkeys(("binary", "b"), "binary"),
    **dict.fromkeys(("label", "m"), "categorical"),
}
FAMILIES = ("gaussian", "scaled t", "binomial", "multinomial", "negative binomial")


def as_table(frame: pd.DataFrame) -> LikelihoodTable:
    return LikelihoodTable(frame, [KINDS[name] for name in frame])


@functools.cache
def compared(family: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All regressions of a family, and all terms: R's numbers beside ours."""
    regressions, terms, tables = [], [], {}
    r_terms = reference.family_terms().set_index(["task", "parent", "predictor"])
    for task in reference.family_tasks().query("family == @family").itertuples():
        key = task.table, task.n_rows
        if key not in tables:
            tables[key] = as_table(reference.family_table(task.table)[: task.n_rows])
        fit = tables[key].regress(task.target, task.parents)
        ours = {
            "our_criterion": fit.criterion,
            "our_log_likelihood": fit.log_likelihood,
            "our_edf": fit.total_edf - len(fit.theta),
        }
        regressions.append({**task._asdict(), **ours})
        joint, single = fit.p_values(), fit.p_values_by_predictor()
        for term, parent in enumerate(task.parents):
            rows = {str(k): p[term] for k, p in enumerate(single)}
            if len(single) > 1:
                rows["joint"] = joint[term]
            for predictor, p_value in rows.items():
                row = r_terms.loc[task.Index, parent, predictor]
                is_whole = predictor == "joint" or len(single) == 1
                terms.append({**row, "our_p_value": p_value, "our_edf": fit.edf[term] if is_whole else np.nan})
    return pd.DataFrame(regressions), pd.DataFrame(terms)


@pytest.mark.parametrize("family", FAMILIES)
def test_decisions_are_those_of_r(family):
    """At least 60 regressions; p-values of all terms, of each label and of all labels together."""
    regressions, terms = compared(family)
    assert len(regressions) >= 60
    same = (terms["our_p_value"] < 0.001) == (terms["p_value"] < 0.001)
    assert same.mean() >= 0.98
    # R's default for binomial models is another criterion (UBRE), which mostly decides the same.
    assert ((terms["our_p_value"] < 0.001) == (terms["default_p_value"] < 0.001)).mean() >= 0.98


def in_r_s_terms(task) -> float:
    """What R's criterion has that ours lacks.

    Ours has standardised indicators of labels, R plain ones; R's multinomial log-likelihood is 1 too large for every
    row with the first label, whose predictor is 1 in its sum (mgcv 1.8-41).
    """
    rows = reference.family_table(task.table)[: task.n_rows]
    factors = [name for name in task.parents if KINDS[name] in ("binary", "categorical")]
    spreads = [(rows[name] == label).std(ddof=0) for name in factors for label in np.unique(rows[name])[1:]]
    is_multinomial = task.family == "multinomial"
    n_predictors = rows["m"].max() if is_multinomial else 1
    return -n_predictors * np.log(spreads).sum() + is_multinomial * (rows["m"] == 0).sum()


@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_are_those_of_r(family):
    """The criterion can have several maxima, and either program may end in the lower one: in 8 of 320 regressions."""
    regressions, terms = compared(family)
    constants = np.array([in_r_s_terms(task) for task in regressions.itertuples()])
    near = np.abs(regressions["our_criterion"] + constants - regressions["criterion"]) < 0.04
    assert near.mean() >= 0.92
    np.testing.assert_allclose(regressions["our_edf"][near], regressions["edf"][near], atol=0.4)
    compared_terms = terms.query("1e-9 < p_value < 0.5")
    distance = np.abs(np.log10(compared_terms["our_p_value"]) - np.log10(compared_terms["p_value"]))
    assert np.quantile(distance, 0.9) < 0.005


def small_table(rng: np.random.Generator, n: int = 120) -> LikelihoodTable:
    """A column of each kind, a little dependent, in the order of `FAMILIES`."""
    x = rng.normal(size=n)
    columns = {
        "y": np.sin(x) + rng.normal(size=n),
        "t": x + rng.standard_t(4, size=n),
        "b": (x + rng.logistic(size=n) > 0).astype(float),
        "m": np.clip(np.round(1 + x / 2 + rng.normal(size=n)), 0, 2),
        "c": rng.negative_binomial(2, 1 / (1 + np.exp(x) / 2)),
    }
    return as_table(pd.DataFrame(columns))


@pytest.mark.parametrize("target", range(5), ids=FAMILIES)
def test_derivatives_of_the_criterion(target, rng):
    """In smoothing and other parameters, by finite differences."""
    table = small_table(rng)
    problem = _problem(table, target, tuple(j for j in range(5) if j != target))
    intercepts, theta = problem.family.start(problem.y)
    n_smooths = problem.n_smooths * problem.n_predictors
    parameters = np.concatenate([rng.uniform(-4, 1, size=n_smooths), theta])
    beta = np.zeros((problem.n_predictors, problem.X.shape[1]))
    beta[:, 0] = intercepts
    gradient = _gradient(problem, _solve(problem, parameters, beta.ravel()))
    assert len(gradient) == len(parameters) >= 2
    for j in range(len(parameters)):
        change = 1e-4 * (np.arange(len(parameters)) == j)
        sides = [_solve(problem, parameters + sign * change, beta.ravel()).criterion for sign in (1, -1)]
        np.testing.assert_allclose(gradient[j], (sides[0] - sides[1]) / 2e-4, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("target", [0, 1], ids=FAMILIES[:2])
def test_units_of_the_target(target, rng):
    """Densities are per unit; a restricted likelihood has n - M of them, M coefficients being without a penalty."""
    table = small_table(rng)
    values = table.values.copy()
    values[:, target] = 1000 * values[:, target] - 5
    inputs = (2, 3, 4)
    plain, scaled = (each.regress(target, inputs) for each in (table, LikelihoodTable(values, table.kinds)))
    n_free = 1 + 1 + 2 + 1  # intercept, binary, three labels, the line of a spline
    np.testing.assert_allclose(scaled.log_likelihood - plain.log_likelihood, -120 * np.log(1000), rtol=1e-5)
    np.testing.assert_allclose(scaled.criterion - plain.criterion, -(120 - n_free) * np.log(1000))
    np.testing.assert_allclose(scaled.p_values(), plain.p_values(), rtol=1e-3)


def test_labels_that_separate_the_target_keep_finite_coefficients(rng):
    """A label that all have with 1 and none with 0: maximum likelihood is at infinity."""
    b = np.arange(200) % 2.0
    x = rng.normal(size=200)
    fit = LikelihoodTable(np.column_stack([b, b, x]), ["binary", "categorical", "continuous"]).regress(0, [1, 2])
    assert np.isfinite(fit.solution.beta).all() and np.isfinite(fit.p_values()).all()
    assert -5 < fit.log_likelihood < 0


def test_without_parents_the_intercept_is_all(rng):
    """Shares of labels are the best probabilities."""
    table = small_table(rng)
    counts = np.bincount(table.values[:, 3].astype(int))
    fit = table.regress("m", [])
    np.testing.assert_allclose(fit.log_likelihood, (counts * np.log(counts / counts.sum())).sum(), rtol=1e-6)
    assert fit.p_values().shape == (0,) and repr(fit) == "<LikelihoodFit: m ~ 1, multinomial, 120 rows>"


def test_summary(rng):
    fit = small_table(rng).regress("c", ["y", "b"])
    summary = fit.summary()
    assert list(summary["term"]) == ["y", "b"] and summary["edf"][1] == pytest.approx(1, abs=0.01)
    np.testing.assert_array_equal(summary["p_value"], fit.p_values())
    np.testing.assert_allclose(fit.total_edf, 1 + summary["edf"].sum() + 1, atol=0.01)  # intercept and size
    assert fit.bic == pytest.approx(fit.log_likelihood - fit.total_edf * np.log(120) / 2)


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([1, 2, 1, 2], "binary", "'a' is not binary: its values must be 0 and 1"),
        ([0.5, 1, 2, 3], "categorical", "'a' is not categorical: its labels must be whole numbers"),
        ([0, 1, -2, 3], "count", "'a' is no count"),
        ([0, 1, 2.5, 3], "count", "'a' is no count"),
        ([1, 1, 1, 1], "continuous", "'a' is constant"),
        ([0, 1, 2, 3], "ordinal", "'a' has the kind 'ordinal': the kinds are continuous, heavy-tailed"),
    ],
)
def test_columns_that_are_not_of_their_kind(values, kind, message):
    with pytest.raises(TableError, match=message):
        LikelihoodTable(pd.DataFrame({"a": 3 * values}, dtype=float), [kind])


def test_one_kind_per_column(rng):
    with pytest.raises(TableError, match="2 columns and 1 kinds"):
        LikelihoodTable(rng.normal(size=(10, 2)), ["continuous"])
    with pytest.raises(TableError, match="no column 'z'"):
        small_table(rng).regress("z", ["y"])
