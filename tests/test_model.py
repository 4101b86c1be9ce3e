"""The model as an analyst uses it: against closed forms, and against simulated truth."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import multivariate_normal, norm

import grandag
from grandag import CAM, CausalModel, GraNDAG, TrainingError, simulate
from grandag.distributions import Gaussian
from grandag.model import Fixed
from grandag.parameters import ParameterError
from grandag.table import TableError
from tests.conftest import nonlinear_chain

NAMES = ("age", "dose", "weight", "outcome")
B = np.array([[0, 1.5, -0.5, 0], [0, 0, 2.0, 0.7], [0, 0, 0, -1.2], [0, 0, 0, 0]])  # B[i, j]: coefficient of i in j
INTERCEPT = np.array([3.0, -1.0, 0.5, 10.0])
SCALE = np.array([1.0, 0.5, 2.0, 0.3])
TOTAL = np.linalg.inv(np.eye(4) - B)  # TOTAL[i, j]: sum over all paths from i to j of the products of coefficients
MEAN = INTERCEPT @ TOTAL
COVARIANCE = TOTAL.T @ np.diag(SCALE**2) @ TOTAL


@dataclass(frozen=True)
class Linear:
    intercept: float
    coefficients: np.ndarray
    scale: float

    def given(self, parents):
        return Gaussian(self.intercept + parents @ self.coefficients, np.full(len(parents), self.scale))


def linear_model(names=NAMES, coefficients=B):
    conditionals = [
        Linear(intercept, column[column != 0], scale)
        for intercept, column, scale in zip(INTERCEPT, coefficients.T, SCALE, strict=True)
    ]
    return CausalModel(names, coefficients != 0, tuple(conditionals))


@pytest.fixture(scope="module")
def linear():
    return linear_model()


@pytest.fixture(scope="module")
def chain():
    """X0 -> X1 -> X2 with functions drawn from Gaussian processes, and rows of it."""
    adjacency = np.diag([True, True], k=1)
    return simulate.draw_scenario("gauss-anm", adjacency, 1000, random_state=3)


@pytest.fixture(scope="module", params=["grandag", "grandag++", "cam"])
def fitted(request, chain):
    estimators = {
        "grandag": GraNDAG(random_state=0),
        "grandag++": GraNDAG(density="gaussian", random_state=0),
        "cam": CAM(),
    }
    return estimators[request.param].fit(chain.data)


def test_samples_have_the_mean_and_covariance_of_the_closed_form(linear):
    rows = linear.sample(200_000, random_state=1)
    assert list(rows.columns) == list(NAMES)
    deviation = np.sqrt(np.diag(COVARIANCE))
    np.testing.assert_allclose((rows.mean() - MEAN) / deviation, 0, atol=4 / np.sqrt(200_000))
    np.testing.assert_allclose(np.cov(rows, rowvar=False) / np.outer(deviation, deviation),
                               COVARIANCE / np.outer(deviation, deviation), atol=0.015)  # fmt: skip


def test_a_seed_repeats_and_none_does_not(linear):
    pd.testing.assert_frame_equal(linear.sample(5, random_state=1), linear.sample(5, random_state=1))
    assert not linear.sample(5).equals(linear.sample(5))


def test_mean_of_a_linear_model_is_exact(linear):
    np.testing.assert_allclose(linear.mean(n=10), MEAN, rtol=1e-12)
    assert list(linear.mean(n=10).index) == list(NAMES)


def test_mean_under_intervention_is_the_closed_form(linear):
    cut, fixed = B.copy(), INTERCEPT.copy()
    cut[:, 1], fixed[1] = 0, 7.0
    expected = fixed @ np.linalg.inv(np.eye(4) - cut)
    np.testing.assert_allclose(linear.intervene({"dose": 7.0}).mean(n=10), expected, rtol=1e-12)
    both = linear.intervene({"dose": 7.0}).intervene({"weight": 0.0})
    assert both.mean(n=10)["outcome"] == pytest.approx(10 + 0.7 * 7)
    pd.testing.assert_series_equal(both.mean(n=10), linear.intervene({"weight": 0, "dose": 7}).mean(n=10))


def test_an_intervention_cuts_the_parents_and_leaves_what_is_not_behind_it(linear):
    plain, shifted = linear.sample(50, random_state=4), linear.intervene({"weight": 1.0}).sample(50, random_state=4)
    assert (shifted["weight"] == 1.0).all()
    pd.testing.assert_frame_equal(plain[["age", "dose"]], shifted[["age", "dose"]])
    np.testing.assert_allclose(shifted["outcome"] - plain["outcome"], -1.2 * (1.0 - plain["weight"]))


@pytest.mark.parametrize(("cause", "outcome"), [("age", "outcome"), ("dose", "weight"), ("outcome", "age")])
def test_effect_is_the_sum_over_paths(linear, cause, outcome):
    effect = linear.average_effect(cause, outcome, low=1.0, high=3.5, n=10)
    assert effect.effect == pytest.approx(2.5 * TOTAL[NAMES.index(cause), NAMES.index(outcome)], abs=1e-12)
    assert (effect.low, effect.high, effect.interval) == (1.0, 3.5, None)


def test_effect_is_between_quartiles_unless_told(linear):
    effect = linear.average_effect("dose", "weight")
    expected = norm.ppf([0.25, 0.75], MEAN[1], np.sqrt(COVARIANCE[1, 1]))
    np.testing.assert_allclose([effect.low, effect.high], expected, atol=0.1)


def test_the_quartiles_are_those_of_the_table():
    rng = np.random.default_rng(6)
    x = rng.exponential(size=300)  # skewed: a Gaussian model of it has other quartiles
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=300)})
    effect = CAM(knowledge={"required": [("x", "y")]}).fit(frame).average_effect("x", "y", n=10)
    assert [effect.low, effect.high] == np.quantile(x, [0.25, 0.75]).tolist()


def test_interval_is_the_middle_of_the_effects_of_the_resamples(linear):
    coefficients = [0.5, 1.0, 2.0, 4.0, 5.0]
    resamples = []
    for value in coefficients:
        changed = B.copy()
        changed[1, 2] = value
        resamples.append(linear_model(coefficients=changed))
    effect = linear.average_effect("dose", "weight", low=0, high=1, resamples=resamples, level=0.5)
    assert effect.effect == pytest.approx(2.0)
    assert effect.interval == pytest.approx((1.0, 4.0))
    assert (effect.level, effect.n_resamples) == (0.5, 5)


def test_changes_by_an_intervention_on_two_variables(linear):
    found = linear.changes({"dose": 4.0, "weight": -2.0}, n=10)
    outcome = INTERCEPT[3] + B[1, 3] * 4.0 + B[2, 3] * -2.0
    np.testing.assert_allclose(found["before"], MEAN)
    np.testing.assert_allclose(found["after"], [MEAN[0], 4.0, -2.0, outcome])
    np.testing.assert_allclose(found["change"], found["after"] - found["before"])
    with pytest.raises(ParameterError, match="finite"):
        linear.changes({"dose": np.nan})


def test_changes_have_the_interval_of_the_resamples(linear):
    resamples = []
    for value in (0.5, 1.0, 2.0, 4.0, 5.0):
        changed = B.copy()
        changed[1, 3] = value
        resamples.append(linear_model(NAMES, changed))
    dose = MEAN[1] + 1.0
    found = linear.changes({"dose": dose, "weight": MEAN[2]}, resamples=resamples, level=0.5, n=10)
    assert tuple(found.loc["outcome", ["low", "high"]]) == pytest.approx((1.0, 4.0))
    assert found.loc["outcome", "change"] == pytest.approx(B[1, 3])


def test_interval_covers_the_truth_with_refitted_estimators():
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, 500)
    frame = pd.DataFrame({"x": x, "y": np.exp(x) + 0.3 * rng.normal(size=500)})
    estimator = CAM(knowledge={"required": [("x", "y")]})
    resamples = [
        CAM(knowledge={"required": [("x", "y")]}).fit(frame.iloc[rng.integers(500, size=500)]) for _ in range(20)
    ]
    effect = estimator.fit(frame).average_effect("x", "y", low=-0.5, high=0.5, resamples=resamples, level=0.95)
    low, high = effect.interval
    assert low < np.exp(0.5) - np.exp(-0.5) < high
    assert low < effect.effect < high
    assert high - low < 0.3


def test_log_prob_is_the_joint_density(linear):
    rows = linear.sample(20, random_state=2)
    np.testing.assert_allclose(linear.log_prob(rows), multivariate_normal(MEAN, COVARIANCE).logpdf(rows), rtol=1e-10)


def test_residuals_are_the_noise(linear):
    rows = linear.sample(1000, random_state=2)
    residuals = linear.residuals(rows)
    np.testing.assert_allclose(residuals["weight"], rows["weight"] - 0.5 + 0.5 * rows["age"] - 2 * rows["dose"])
    np.testing.assert_allclose(linear.residuals(rows, standardised=True), residuals / SCALE)
    assert list(linear.check_noise(rows).index) == list(NAMES)


def test_prediction_needs_the_parents_only(linear):
    rows = pd.DataFrame({"dose": [1.0, 2.0], "age": [0.0, 4.0], "other": ["a", "b"]}, index=["p", "q"])
    predicted = linear.predict(rows, "weight")
    pd.testing.assert_series_equal(predicted, pd.Series([2.5, 2.5], index=["p", "q"], name="weight"))
    assert linear.predict(rows, "age").tolist() == [3.0, 3.0]


def test_columns_are_found_by_name(linear):
    rows = linear.sample(10, random_state=2)
    expected = linear.log_prob(rows)
    shuffled = rows[["outcome", "age", "weight", "dose"]].assign(more=1.0)
    pd.testing.assert_series_equal(linear.log_prob(shuffled), expected)
    np.testing.assert_allclose(linear.log_prob(rows.to_numpy()), expected)
    np.testing.assert_allclose(linear.log_prob(pl.from_pandas(rows)), expected)
    assert linear.residuals(rows.set_index(np.arange(10) + 5)).index[0] == 5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.intervene({"dosis": 1.0}), TableError, "no variable 'dosis'; did you mean 'dose'"),
        (lambda m: m.intervene({"dose": np.nan}), ParameterError, "'dose' has nan"),
        (lambda m: m.intervene({"dose": "high"}), ParameterError, "'dose' has 'high'"),
        (lambda m: m.intervene(["dose"]), ParameterError, "dictionary"),
        (lambda m: m.sample(0), ParameterError, "'n' must be a whole number, at least 1; got 0"),
        (lambda m: m.sample(5, random_state="a"), ParameterError, "random_state"),
        (lambda m: m.average_effect("dose", "outcom"), TableError, "did you mean 'outcome'"),
        (lambda m: m.average_effect("dose", "outcome", high=np.inf), ParameterError, "inf"),
        (lambda m: m.average_effect("dose", "outcome", level=1), ParameterError, "level"),
        (lambda m: m.average_effect("dose", "outcome", resamples=[m]), ParameterError, "two or more"),
        (lambda m: m.average_effect("dose", "outcome", resamples=[1, 2]), ParameterError, "fitted estimators"),
        (lambda m: m.average_effect("dose", "outcome", resamples=20), ParameterError, "given the table as X"),
        (lambda m: m.log_prob(pd.DataFrame({"age": [1.0]})), TableError, "no column 'dose'"),
        (lambda m: m.predict(pd.DataFrame({"ages": [1.0]}), "dose"), TableError, "no column 'age'.*'ages'"),
        (lambda m: m.log_prob(np.ones((3, 2))), TableError, "2 columns, but the model has 4"),
        (lambda m: m.log_prob(np.array([[1, 2, np.inf, 3]])), TableError, "infinite values in 'X2'"),
        (lambda m: m.predict(np.ones((3, 4)), "outcomes"), TableError, "did you mean 'outcome'"),
    ],
)
def test_errors(linear, call, error, message):
    with pytest.raises(error, match=message):
        call(linear)


def test_a_model_must_fit_together():
    with pytest.raises(ValueError, match="2 names"):
        CausalModel(("a", "b"), np.zeros((3, 3), bool), (Fixed(0), Fixed(0)))
    with pytest.raises(ValueError, match="cycle"):
        CausalModel(("a", "b"), ~np.eye(2, dtype=bool), (Fixed(0), Fixed(0)))


def test_interventional_means_of_a_simulated_chain(chain, fitted):
    """The truth is simulated with the same seed; noise of about 0.25 leaves estimation errors below 0.12."""
    assert (fitted.adjacency_ == chain.adjacency).all()
    for do in ({"X0": -1.0}, {"X0": 1.0}, {"X1": 0.5}, {"X2": 1.0}):
        truth = chain.sample(20_000, random_state=1, do=do).mean()
        np.testing.assert_allclose(fitted.intervene(do).mean(), truth, atol=0.12, err_msg=str(do))
        np.testing.assert_allclose(fitted.intervene(do).sample(20_000, random_state=2).mean(), truth, atol=0.12)


def test_effect_in_a_simulated_chain(chain, fitted):
    effect = fitted.average_effect("X0", "X2")
    means = [chain.sample(20_000, random_state=1, do={"X0": value})["X2"].mean() for value in (effect.low, effect.high)]
    assert effect.effect == pytest.approx(means[1] - means[0], abs=0.15)
    assert fitted.average_effect("X2", "X0").effect == 0


def test_samples_look_like_the_table(chain, fitted):
    rows = fitted.sample(20_000, random_state=1)
    np.testing.assert_allclose(rows.mean(), chain.data.mean(), atol=0.15)
    np.testing.assert_allclose(rows.std(), chain.data.std(), rtol=0.1)


def test_score_is_the_mean_log_prob_and_that_the_networks_were_trained_with(chain, fitted):
    assert fitted.score(chain.data) == pytest.approx(fitted.log_prob(chain.data).mean())
    if isinstance(fitted, GraNDAG):
        assert fitted.score(chain.data) == pytest.approx(fitted.held_out_log_likelihood_, abs=0.3)


def test_prediction_of_all_is_the_table_without_its_residuals(chain, fitted):
    some = chain.data.iloc[5:9]
    pd.testing.assert_frame_equal(fitted.predict(some), some - fitted.residuals(some))
    pd.testing.assert_series_equal(fitted.predict(some)["X2"], fitted.predict(some[["X1"]], "X2"))
    np.testing.assert_array_equal(fitted.predict(some.to_numpy()), fitted.predict(some))


@pytest.mark.parametrize("labels", [None, "frame", "polars"])
def test_missing_values_in_the_use_of_a_model(chain, labels):
    """With missing="drop", rows with gaps are left out of every answer, and the others keep their labels."""
    values = np.asarray(chain.data)[:8].copy()
    values[[0, 5], 1] = np.nan
    complete, numbers = np.delete(values, [0, 5], axis=0), [1, 2, 3, 4, 6, 7]
    kinds = {
        None: values,
        "frame": pd.DataFrame(values, columns=["X0", "X1", "X2"], index=list("abcdefgh")),
        "polars": pl.DataFrame(values, schema=["X0", "X1", "X2"]),
    }
    rows, expected = kinds[labels], list("bcdegh") if labels == "frame" else numbers
    model, strict = CAM(missing="drop").fit(chain.data), CAM().fit(chain.data)
    uses = {
        "log_prob": lambda model, rows: model.log_prob(rows),
        "residuals": lambda model, rows: model.residuals(rows, standardised=True),
        "predict": lambda model, rows: model.predict(rows),
        "predict X2": lambda model, rows: model.predict(rows, "X2"),
    }
    for name, use in uses.items():
        found = use(model, rows)
        assert found.index.tolist() == expected, name
        np.testing.assert_array_equal(found, use(strict, complete), err_msg=name)
        with pytest.raises(TableError, match="missing or infinite values in 'X1'"):
            use(strict, rows)
    assert model.score(rows) == pytest.approx(float(strict.log_prob(complete).mean()))
    assert model.check_noise(np.vstack([chain.data, values])).equals(
        strict.check_noise(np.vstack([chain.data, complete]))
    )


def test_gaps_in_columns_that_are_not_needed_do_not_matter(linear):
    rows = linear.sample(4, random_state=1)
    whole = linear.predict(rows, "dose")
    rows.loc[2, "outcome"] = np.nan
    assert linear.predict(rows, "dose", missing="drop").equals(whole)
    with pytest.raises(ParameterError, match="missing"):
        linear.predict(rows, "dose", missing="fill")


def test_a_saved_model_is_the_same_model(chain, fitted, tmp_path):
    fitted.save(tmp_path / "model.npz")
    again = grandag.load(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(again.sample(50, random_state=1), fitted.sample(50, random_state=1))
    pd.testing.assert_series_equal(again.log_prob(chain.data), fitted.log_prob(chain.data))
    assert again.warnings_ == fitted.warnings_


@pytest.mark.parametrize("preset", ["default", "fast"])
def test_gaussian_processes_and_linear_networks_have_the_effects_of_the_closed_form(preset):
    """With the graph known, no hidden layer, and units far from 1."""
    rows = linear_model().sample(2000, random_state=7) * [1, 1000, 1, 0.01]
    required = [(NAMES[i], NAMES[j]) for i, j in np.argwhere(B)]
    model = GraNDAG.preset(preset, n_layers=0, knowledge={"required": required}, random_state=0).fit(rows)
    assert (model.adjacency_ == (B != 0)).all()
    effect = model.average_effect("age", "outcome", low=0, high=1).effect
    assert effect == pytest.approx(0.01 * TOTAL[0, 3], rel=0.1)
    assert model.average_effect("dose", "outcome", low=0, high=1000).effect == pytest.approx(
        0.01 * TOTAL[1, 3], rel=0.1
    )
    np.testing.assert_allclose(model.residuals(rows).std(), SCALE * [1, 1000, 1, 0.01], rtol=0.1)


def test_additive_regressions_have_the_effects_of_the_closed_form():
    rows = linear_model().sample(2000, random_state=7)
    model = CAM(knowledge={"required": [(NAMES[i], NAMES[j]) for i, j in np.argwhere(B)]}).fit(rows)
    assert (model.adjacency_ == (B != 0)).all()
    for i, j in np.argwhere(np.triu(TOTAL, 1)):
        effect = model.average_effect(NAMES[i], NAMES[j], low=2, high=3).effect
        assert effect == pytest.approx(TOTAL[i, j], abs=0.2), (i, j)


@pytest.mark.parametrize("estimator", [GraNDAG(random_state=0, max_iterations=2000), CAM()], ids=["grandag", "cam"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Constant columns:UserWarning")
def test_constant_columns_keep_their_value(estimator, tmp_path):
    frame = pd.DataFrame(nonlinear_chain(np.random.default_rng(1), 300), columns=["a", "b", "c"])
    frame.insert(1, "site", 4.5)
    model = estimator.fit(frame)
    model.save(tmp_path / "model.npz")
    for each in (model, grandag.load(tmp_path / "model.npz")):
        rows = each.sample(10, random_state=1)
        assert list(rows.columns) == ["a", "site", "b", "c"]
        assert (rows["site"] == 4.5).all()
        assert (each.residuals(frame, standardised=True)["site"] == 0).all()
        assert np.isfinite(each.log_prob(frame)).all()
        with pytest.warns(UserWarning, match=r"outside of the data: site = 1 \(the table has 4\.5 to 4\.5\)"):
            assert each.intervene({"site": 1.0}).mean(10)["site"] == 1.0


def test_without_conditionals_there_is_a_clear_error():
    model = GraNDAG(retrain=False, max_iterations=100)
    with pytest.warns(grandag.NotConvergedWarning):
        model.fit(nonlinear_chain(np.random.default_rng(1), 200))
    with pytest.raises(TrainingError, match="retrain=True"):
        model.sample(3)


def test_graph_of_an_intervened_model_is_the_graph_without_the_edges_into_it(linear):
    adjacency = linear.intervene({"weight": 0.0}).adjacency
    graph = nx.from_numpy_array((B != 0).astype(int), create_using=nx.DiGraph)
    graph.remove_edges_from(list(graph.in_edges(2)))
    np.testing.assert_array_equal(adjacency, nx.to_numpy_array(graph).astype(bool))


def test_an_effect_in_words(linear):
    """`age` is a cause of `outcome`, and not the other way round."""
    effect = linear.average_effect("age", "outcome", low=1.0, high=2.0)
    assert effect.describe() == (
        f"Setting age to 2 instead of 1 changes the mean of outcome by {effect.effect:.4g}, by this model; give the "
        "table for an interval."
    )
    words = linear.average_effect("outcome", "age", low=1.0, high=2.0).describe()
    assert words.startswith("Setting outcome to 2 instead of 1 does not change age: in this graph no path leads there,")
