"""A model with a variable of every kind, as an analyst uses it: against closed forms and scipy."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit, softmax

from grandag import CausalModel
from grandag.distributions import Bernoulli, Categorical, Gaussian, NegativeBinomial, StudentT
from grandag.kinds import ColumnKind
from grandag.learned import Learned
from grandag.methods import storage
from grandag.parameters import ParameterError
from grandag.report.partial_effects import effect_chart, label_effect
from grandag.table import TableError

NAMES = ("age", "city", "smoker", "visits", "pressure", "treated")
COLUMNS = (
    ColumnKind("continuous"),
    ColumnKind("categorical", ("Bonn", "Oslo", "Rome")),
    ColumnKind("binary", ("no", "yes")),
    ColumnKind("count"),
    ColumnKind("heavy-tailed"),
    ColumnKind("binary", ("False", "True")),
)
LOGITS = np.array([[0.0, 0.3, -0.2], [0.0, 0.8, -0.5]])  # intercepts and slopes in age
OF_CITY = np.array([-1.0, 0.5, 2.0])


@dataclass(frozen=True)
class Age:
    def given(self, parents):
        return Gaussian(np.zeros(len(parents)), np.ones(len(parents)))


@dataclass(frozen=True)
class City:
    def given(self, age):
        return Categorical(softmax(LOGITS[0] + age * LOGITS[1], axis=1))


@dataclass(frozen=True)
class Smoker:
    def given(self, age):
        return Bernoulli(expit(0.4 + age[:, 0]))


@dataclass(frozen=True)
class Visits:
    def given(self, parents):  # city, smoker
        return NegativeBinomial(np.exp(0.2 * parents[:, 0] + 0.7 * parents[:, 1]), 0.3)


@dataclass(frozen=True)
class Pressure:
    def given(self, city):
        return StudentT(OF_CITY[city[:, 0].astype(int)], np.full(len(city), 0.5), 3.0)


@dataclass(frozen=True)
class Treated:
    def given(self, parents):
        return Bernoulli(np.full(len(parents), 0.25))


@pytest.fixture
def model():
    adjacency = np.zeros((6, 6), dtype=bool)
    for cause, effect in ((0, 1), (0, 2), (1, 3), (2, 3), (1, 4)):
        adjacency[cause, effect] = True
    conditionals = (Age(), City(), Smoker(), Visits(), Pressure(), Treated())
    return CausalModel(NAMES, adjacency, conditionals, columns=COLUMNS)


@pytest.fixture
def rows(model):
    return model.sample(3000, random_state=5)


def city_given(age):
    return softmax(LOGITS[0] + np.asarray(age)[:, None] * LOGITS[1], axis=1)


def test_samples_have_labels(rows):
    assert set(rows["city"]) == {"Bonn", "Oslo", "Rome"}
    assert set(rows["smoker"]) == {"no", "yes"}
    assert rows["treated"].dtype == bool
    assert (rows["visits"] == rows["visits"].round()).all()
    assert rows["treated"].mean() == pytest.approx(0.25, abs=0.03)
    shares = city_given(rows["age"]).mean(axis=0)
    assert rows["city"].value_counts(normalize=True).sort_index().tolist() == pytest.approx(shares.tolist(), abs=0.03)


def test_densities(model, rows):
    found = model.log_densities(rows)
    codes = rows["city"].map({"Bonn": 0, "Oslo": 1, "Rome": 2}).to_numpy()
    is_smoker = (rows["smoker"] == "yes").to_numpy()
    mean = np.exp(0.2 * codes + 0.7 * is_smoker)
    expected = {
        "age": stats.norm.logpdf(rows["age"]),
        "city": np.log(city_given(rows["age"])[np.arange(len(rows)), codes]),
        "smoker": stats.bernoulli.logpmf(is_smoker, expit(0.4 + rows["age"])),
        "visits": stats.nbinom.logpmf(rows["visits"], 1 / 0.3, 1 / (1 + 0.3 * mean)),
        "pressure": stats.t.logpdf(rows["pressure"], 3, OF_CITY[codes], 0.5),
        "treated": np.log(np.where(rows["treated"], 0.25, 0.75)),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(model.log_prob(rows), sum(expected.values()), atol=1e-8)


def test_predictions_of_labels_are_probabilities(model, rows):
    found = model.predict(rows, "city")
    assert found.columns.tolist() == ["Bonn", "Oslo", "Rome"]
    np.testing.assert_allclose(found, city_given(rows["age"]))
    np.testing.assert_allclose(model.predict(rows[["age"]], "smoker")["yes"], expit(0.4 + rows["age"]))
    everything = model.predict(rows)
    assert everything.columns.tolist() == [
        "age", "city=Bonn", "city=Oslo", "city=Rome", "smoker=no", "smoker=yes", "visits", "pressure",
        "treated=False", "treated=True",
    ]  # fmt: skip
    of_city = dict(zip(COLUMNS[1].labels, OF_CITY, strict=True))
    np.testing.assert_allclose(everything["pressure"], rows["city"].map(of_city))
    assert isinstance(model.predict(rows, "visits"), pd.Series)


def test_interventions_take_labels(model):
    changed = model.intervene({"city": "Rome", "smoker": "no"})
    drawn = changed.sample(50, 1)
    assert set(drawn["city"]) == {"Rome"}
    assert set(drawn["smoker"]) == {"no"}
    mean = changed.mean(100)
    assert mean["visits"] == pytest.approx(np.exp(0.4))
    assert mean["pressure"] == pytest.approx(2.0)
    assert (mean["city=Rome"], mean["city=Oslo"], mean["smoker=yes"]) == (1, 0, 0)
    assert model.intervene({"treated": True}).mean(10)["treated=True"] == 1
    assert model.intervene({"treated": 1}).mean(10)["treated=True"] == 1


def test_rows_with_and_without_an_intervention_share_their_noise(model, rows):
    changed = model.intervene({"smoker": "yes"}).sample(3000, random_state=5)
    for name in ("age", "city", "pressure", "treated"):
        assert changed[name].equals(rows[name])
    assert (changed["visits"] >= rows["visits"]).all()
    assert (changed["visits"] > rows["visits"]).any()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"city": "Roma"}, "must be labels of 'city', and 'Roma' is none; did you mean 'Rome'"),
        ({"city": 7}, "and 7 is none; its labels are 'Bonn', 'Oslo', 'Rome'"),
        ({"visits": 1.5}, "counts to 0, 1, 2, ...; 'visits' has 1.5"),
        ({"visits": -1}, "'visits' has -1"),
        ({"age": "old"}, "must set finite numbers; 'age' has 'old'"),
    ],
)
def test_values_that_cannot_be(model, values, message):
    with pytest.raises(ParameterError, match=message):
        model.intervene(values)


def test_effects(model):
    effect = model.average_effect("smoker", "visits", n=2000)
    city = city_given(model.sample(2000, 3)["age"])
    expected = (city @ np.exp(0.2 * np.arange(3))).mean() * (np.exp(0.7) - 1)
    assert effect.effect == pytest.approx(expected, rel=0.03)
    assert effect.describe().startswith("Setting smoker to yes instead of no changes the mean of visits by ")
    pressure = model.average_effect("city", "pressure", low="Bonn", high="Rome", n=100)
    assert pressure.effect == pytest.approx(3.0)
    of_label = model.average_effect("age", "city", low=0.0, high=1.0, label="Oslo", n=100)
    before, after = city_given([0.0, 1.0])[:, 1]
    assert of_label.effect == pytest.approx(after - before)
    assert "changes the probability of city = Oslo by" in of_label.describe()
    binary = model.average_effect("age", "smoker", low=0.0, high=1.0, n=100)
    assert binary.effect == pytest.approx(expit(1.4) - expit(0.4))
    assert binary.label == "yes"
    with pytest.raises(ParameterError, match="'high' must be labels of 'city': 'Bonn', 'Oslo', 'Rome'"):
        model.average_effect("city", "pressure")
    with pytest.raises(ParameterError, match="must be one of those of 'city': Bonn, Oslo, Rome"):
        model.average_effect("age", "city", low=0.0, high=1.0)
    with pytest.raises(ParameterError, match="is for outcomes with labels; 'visits' is count"):
        model.average_effect("age", "visits", low=0.0, high=1.0, label="1")


def test_residuals_are_noise_of_a_standard_normal_distribution(model, rows):
    found = model.residuals(rows, standardised=True)
    for name in NAMES:
        assert stats.kstest(found[name], "norm").pvalue > 0.001, name
    assert found.equals(model.residuals(rows, standardised=True))
    raw = model.residuals(rows)
    np.testing.assert_allclose(raw["pressure"], rows["pressure"] - model.predict(rows)["pressure"])
    assert raw["visits"].equals(found["visits"])


def test_the_check_of_the_noise_sees_what_is_wrong(model, rows):
    good = model.check_noise(rows)
    assert good.index.tolist() == list(NAMES)
    assert (good["dependence_p_value"] > 0.001).all()
    assert (good["gaussian_p_value"] > 0.001).all()
    adjacency = model.adjacency.copy()
    wrong = [*model.conditionals]
    wrong[4] = _Without(wrong[4], np.array([0.0, 2.0, 0.0]))  # not in the order of the codes
    bad = CausalModel(NAMES, adjacency, tuple(wrong), columns=COLUMNS).check_noise(rows)
    assert bad.loc["pressure", "dependence_p_value"] < 1e-10
    assert bad.loc["visits", "dependence_p_value"] == good.loc["visits", "dependence_p_value"]


@dataclass(frozen=True)
class _Without:
    """A conditional whose mean is off by a number for each code of its parent."""

    right: Pressure
    error: np.ndarray

    def given(self, city):
        found = self.right.given(city)
        return StudentT(found.mean + self.error[city[:, 0].astype(int)], found.scale, 3.0)


def test_new_rows_must_have_known_labels(model, rows):
    with pytest.raises(TableError, match="Column 'city' has the label 'Paris'"):
        model.log_prob(rows.assign(city="Paris"))
    few = rows[rows["city"] == "Rome"]
    np.testing.assert_array_equal(model.log_prob(few), model.log_prob(rows)[few.index])


def test_bars_of_labels(model, rows):
    values = model._rows(rows, "error").values
    of_city = label_effect(model, values, 1, 4)
    assert of_city.places == ("Bonn", "Oslo", "Rome")
    np.testing.assert_allclose(of_city.height[:, 0], OF_CITY)
    on_city = label_effect(model, values, 0, 1)
    assert on_city.labels == ("Bonn", "Oslo", "Rome")
    np.testing.assert_allclose(on_city.height, city_given(np.quantile(rows["age"], [0.1, 0.5, 0.9])))
    chart = str(effect_chart(model, values, 1, 4))
    assert chart.count("M") >= 3
    assert all(f">{name}</span>" in chart for name in ("Bonn", "Oslo", "Rome"))
    assert "mean of pressure" in chart
    assert "probability of city" in str(effect_chart(model, values, 0, 1))
    curve = str(effect_chart(model, values, 0, 2))  # two labels of the child: the curve of the second's probability
    assert "line-one" in curve


@pytest.mark.parametrize(
    "columns",
    [
        [{"kind": "number", "labels": []}] * 2,
        [{"kind": "continuous", "labels": ["a"]}] * 2,
        [{"kind": "binary", "labels": ["a", "a"]}] * 2,
        [{"kind": "binary", "labels": []}] * 2,
        [{"kind": "binary", "labels": [1, 2]}] * 2,
        [{"kind": "continuous", "labels": []}],
    ],
)
def test_kinds_in_a_strangers_file_are_checked(columns):
    learned = Learned(("a", "b"), np.zeros((2, 2), dtype=bool), np.zeros((2, 2)))
    given = tuple(ColumnKind(column["kind"], tuple(column["labels"])) for column in columns)
    good = Learned(**{**vars(learned), "columns": (ColumnKind("continuous"), ColumnKind("binary", ("a", "b")))})
    storage._check(good, _Any)
    with pytest.raises(ValueError, match="kinds of columns"):
        storage._check(Learned(**{**vars(learned), "columns": given}), _Any)


class _Any:
    @staticmethod
    def is_consistent(learned):
        return True
