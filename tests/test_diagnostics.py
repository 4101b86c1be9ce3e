"""Warnings that come when they should, and do not when they should not."""

import json
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
import pytest

from grandag import CAM, CausalModel, GraNDAG, diagnostics
from grandag.diagnostics import (
    MAX_ROWS,
    column_concerns,
    graph_concerns,
    isolated_concerns,
    noise_concerns,
    overfitting_concerns,
)
from grandag.distributions import Gaussian


@dataclass(frozen=True)
class Linear:
    """N(x, 1) given one parent x, or N(0, 1) without."""

    def given(self, parents):
        return Gaussian(parents.sum(axis=1), np.ones(len(parents)))


def pair_model(d=2):
    """X0 -> X1, X2 -> X3, ...: linear with noise of variance 1."""
    adjacency = np.zeros((d, d), dtype=bool)
    adjacency[np.arange(0, d, 2), np.arange(1, d, 2)] = True
    return CausalModel(tuple(f"X{j}" for j in range(d)), adjacency, (Linear(),) * d)


def kinds(model, values):
    return {concern.kind: concern.variables for concern in noise_concerns(model.check_noise(values))}


@pytest.mark.parametrize("n", [30, 300, 100_000])
def test_the_right_model_is_not_accused(n):
    model = pair_model(40)
    assert kinds(model, model.sample(n, random_state=1).to_numpy()) == {}


def test_p_values_of_the_right_model_are_not_too_small():
    """Corrected for two tests: at most 5 % of 200 variables below 0.05, and chance."""
    model = pair_model(400)
    checks = model.check_noise(model.sample(300, random_state=2).to_numpy()).iloc[1::2]
    assert (checks["dependence_p_value"] < 0.05).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert (checks["gaussian_p_value"] < 0.05).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_noise_is_checked_at_a_cost_that_grows_with_the_edges(monkeypatch):
    """Each variable in a table with its own parents: one table of all columns takes 6 GB for 1,000 variables."""
    sizes = []
    real = diagnostics.SplineTable
    monkeypatch.setattr(diagnostics, "SplineTable", lambda X: sizes.append(X.values.shape[1]) or real(X))
    model = pair_model(40)
    model.check_noise(model.sample(100, random_state=1).to_numpy())
    assert sizes == [2] * 40  # residuals and their size, of 20 effects


def test_noise_of_one_size_is_not_taken_for_dependent(rng):
    """Of signs alone the absolute value is constant, and nothing can explain it."""
    x = rng.integers(-8, 9, size=300) / 4.0  # binary fractions: residuals are without rounding
    checks = pair_model().check_noise(np.column_stack([x, x + rng.choice([-1.0, 1.0], size=300)]))
    assert checks.loc["X1", "size_explained"] == 0
    assert checks.loc["X1", "dependence_p_value"] > 0.001


@pytest.mark.parametrize(
    ("effect", "column"),
    [
        (lambda x, noise: x + noise * np.exp(x / 2), "size_explained"),
        (lambda x, noise: x + 0.7 * (x**2 - 1) + noise, "mean_explained"),
    ],
    ids=["size", "mean"],
)
def test_noise_that_depends_on_the_parent(rng, effect, column):
    x = rng.normal(size=1000)
    values = np.column_stack([x, effect(x, rng.normal(size=1000))])
    checks = pair_model().check_noise(values)
    assert checks.loc["X1", "dependence_p_value"] < 1e-6
    assert checks.loc["X1", column] > 0.1
    assert checks.loc["X0", "dependence_p_value"] == 1
    assert kinds(pair_model(), values)["dependent noise"] == ("X1",)


def test_explained_parts_are_those_of_the_closed_form(rng):
    """r = s (x^2 - 1) + e has the variance 2 s^2 + 1, of which x explains 2 s^2."""
    x = rng.normal(size=2000)
    values = np.column_stack([x, x + 0.5 * (x**2 - 1) + rng.normal(size=2000)])
    assert pair_model().check_noise(values).loc["X1", "mean_explained"] == pytest.approx(1 / 3, abs=0.06)


@pytest.mark.parametrize(
    ("draw", "skewness", "excess_kurtosis"),
    [
        (lambda rng, n: rng.exponential(size=n) - 1, 2, 6),
        (lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n), 0, -1.2),
    ],
    ids=["exponential", "uniform"],
)
def test_noise_that_is_not_gaussian(rng, draw, skewness, excess_kurtosis):
    x = rng.normal(size=2000)
    values = np.column_stack([x, x + draw(rng, 2000)])
    checks = pair_model().check_noise(values)
    assert checks.loc["X1", "skewness"] == pytest.approx(skewness, abs=0.5)
    assert checks.loc["X1", "excess_kurtosis"] == pytest.approx(excess_kurtosis, rel=0.5, abs=0.2)
    (concern,) = noise_concerns(checks)
    assert (concern.kind, concern.variables) == ("non-Gaussian noise", ("X1",))
    assert f"skewness {checks.loc['X1', 'skewness']:.1f}" in concern.message


def test_trifles_in_long_tables_are_no_concern(rng):
    x, noise = rng.normal(size=(2, 200_000))
    values = np.column_stack([x, x + noise * (1 + 0.02 * x) + 0.02 * noise**2])
    assert kinds(pair_model(), values) == {}


def test_long_tables_are_checked_on_some_rows():
    """Rows that are not looked at do not count: here those are all but every hundredth."""
    n = 100 * MAX_ROWS
    values = np.zeros((n, 2))
    values[np.linspace(0, n - 1, MAX_ROWS).round().astype(int)] = pair_model().sample(MAX_ROWS, 1)
    assert kinds(pair_model(), values) == {}


def test_few_rows_per_parent():
    adjacency = np.zeros((4, 4), dtype=bool)
    adjacency[:3, 3], adjacency[0, 1] = True, True
    assert graph_concerns(adjacency, "abcd", 150) == []
    (concern,) = graph_concerns(adjacency, "abcd", 149)
    assert concern.variables == ("d",)
    assert concern.numbers == {"d": {"parents": 3.0, "rows_per_parent": 149 / 3}}
    assert "'d' (3 parents, 50 rows for each)" in concern.message


def test_overfitting_needs_a_gap_that_chance_does_not_make(rng):
    training = rng.normal(-1, 1, size=(200, 3))
    held_out = rng.normal([-1.2, -2, -2], [1, 1, 20], size=(50, 3))  # little worse, worse, and too few rows to tell
    (concern,) = overfitting_concerns(training, held_out, ["a", "b", "c"])
    assert concern.variables == ("b",)
    means = {"training": training[:, 1].mean(), "held_out": held_out[:, 1].mean()}
    assert concern.numbers["b"] == pytest.approx(means)


def test_isolated_columns_that_depend_on_others(rng):
    a = rng.normal(size=200)
    values = np.column_stack(
        [a, -np.exp(a) + 0.01 * rng.normal(size=200), rng.normal(size=200), a + rng.normal(size=200)]
    )
    adjacency = np.zeros((4, 4), dtype=bool)
    adjacency[0, 3] = True
    (concern,) = isolated_concerns(values, adjacency, list("abcd"))
    assert (concern.kind, concern.variables) == ("isolated columns", ("b",))
    assert concern.numbers["b"]["correlation"] > 0.99
    assert "with 'a'" in concern.message
    adjacency[1, 0] = True
    assert isolated_concerns(values, adjacency, list("abcd")) == []


def test_nearly_the_same_columns(rng):
    x = rng.normal(size=500)
    others = np.column_stack([x + 0.01 * rng.normal(size=500), np.exp(-3 * x), x + rng.normal(size=500)])
    values = np.column_stack([x, others, np.ones(500)])
    (concern,) = column_concerns(values, "abcde")
    assert concern.variables == ("a", "b", "c")
    assert set(concern.numbers) == {"a and b", "a and c", "b and c"}
    assert concern.numbers["a and c"]["correlation"] == pytest.approx(1)
    (rest,) = column_concerns(values, "abcde", copies=[("a", "b")])
    assert set(rest.numbers) == {"a and c", "b and c"}


def test_many_variables_make_one_sentence(rng):
    model = pair_model(20)
    values = rng.exponential(size=(500, 20))
    concern = next(c for c in noise_concerns(model.check_noise(values)) if c.kind == "non-Gaussian noise")
    assert len(concern.variables) == len(concern.numbers) > 5
    assert concern.message.count("skewness") == 5
    assert f"and {len(concern.variables) - 5} more" in concern.message


@pytest.mark.parametrize("estimator", [GraNDAG(random_state=0), CAM()], ids=["grandag", "cam"])
def test_a_fit_says_what_is_wrong(estimator):
    """Multiplicative noise and a nearly copied column."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=600)
    y = np.sin(x) + x + np.exp(x) * rng.normal(size=600) / 3
    frame = pd.DataFrame({"x": x, "y": y, "near": x + 0.02 * rng.normal(size=600)})
    estimator.set_params(knowledge={"required": [("x", "y")], "forbidden": [("near", "y"), ("y", "near")]})
    by_kind = {concern.kind: concern for concern in estimator.fit(frame).warnings_}
    assert by_kind["near-duplicate columns"].variables == ("x", "near")
    assert "y" in by_kind["dependent noise"].variables
    assert json.loads(json.dumps([asdict(concern) for concern in estimator.warnings_]))


def test_a_copied_column_is_told_once(rng):
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "inches": x / 2.54, "y": np.sin(2 * x) + 0.2 * rng.normal(size=200)})
    with pytest.warns(UserWarning, match="hold the same numbers"):
        model = CAM().fit(frame)
    about_copies = [concern.kind for concern in model.warnings_ if "inches" in concern.variables]
    assert about_copies[:1] == ["copied columns"]
    assert "near-duplicate columns" not in about_copies
    assert not any("same numbers" in note for note in model.notes_)


def test_tiny_and_odd_tables_are_checked_without_error(rng):
    frame = pd.DataFrame({"a": rng.normal(size=10), "b": rng.integers(0, 2, 10), "c": [1e9] + [0.0] * 9})
    assert isinstance(CAM(prune=False).fit(frame).warnings_, list)
