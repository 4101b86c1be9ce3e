"""GraN-DAG on tables with columns of every kind."""

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag import GraNDAG

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

KINDS = {"city": "categorical", "smokes": "binary", "visits": "count", "loss": "heavy-tailed", "size": "continuous"}
P_SMOKES = {"Rome": 0.1, "Oslo": 0.5, "Lima": 0.9}
VISITS = {"no": 2.0, "yes": 6.0}


def table(rng, n):
    """city -> smokes -> visits -> loss, with known probabilities and means; size is alone."""
    city = rng.choice(list(P_SMOKES), size=n)
    smokes = np.where(rng.random(n) < pd.Series(city).map(P_SMOKES), "yes", "no")
    visits = rng.negative_binomial(4, 4 / (4 + pd.Series(smokes).map(VISITS).to_numpy()))
    loss = 100 + 20 * np.sqrt(visits) + rng.standard_t(3, size=n)
    columns = {"city": city, "smokes": smokes, "visits": visits, "loss": loss, "size": rng.normal(size=n)}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def data():
    return table(np.random.default_rng(3), 2000)


def quick(**parameters):
    return GraNDAG(**{"refine": False, "prune": False, "n_layers": 1, "random_state": 0, "n_jobs": 1, **parameters})


CHAIN = [("city", "smokes"), ("smokes", "visits"), ("visits", "loss")]


@pytest.fixture(scope="module")
def chain(data):
    """The conditionals of the true graph: nothing is left to search."""
    allowed = {"required": CHAIN, "forbidden": [(a, b) for a in KINDS for b in KINDS if a != b and (a, b) not in CHAIN]}
    return quick(knowledge=allowed, kinds=KINDS, max_iterations=6000).fit(data)


def test_conditionals_are_those_that_made_the_rows(chain, data):
    probabilities = chain.predict(pd.DataFrame({"city": list(P_SMOKES)}), "smokes")
    np.testing.assert_allclose(probabilities["yes"], list(P_SMOKES.values()), atol=0.06)
    means = chain.predict(pd.DataFrame({"smokes": list(VISITS)}), "visits")
    np.testing.assert_allclose(means, list(VISITS.values()), rtol=0.12)
    visits = chain.model_.conditionals[2].given(np.array([[0.0]]))
    assert visits.dispersion == pytest.approx(1 / 4, rel=0.4)
    loss = chain.model_.conditionals[3].given(np.array([[4.0], [9.0]]))
    np.testing.assert_allclose(loss.mean, [140, 160], atol=1.0)
    assert 2 < loss.degrees_of_freedom < 5
    city = chain.predict(data)[[f"city={name}" for name in sorted(P_SMOKES)]].iloc[0]
    np.testing.assert_allclose(city, data["city"].value_counts(normalize=True).sort_index(), atol=0.03)


def test_score_is_that_of_the_table(chain, data):
    """The sum of log-probabilities and log-densities, as the true model has it up to what was estimated."""
    from scipy.stats import nbinom, t

    p = data["city"].map(P_SMOKES)
    mean = data["smokes"].map(VISITS)
    truth = np.log(1 / 3) + np.log(np.where(data["smokes"] == "yes", p, 1 - p))
    truth = truth + nbinom.logpmf(data["visits"], 4, 4 / (4 + mean))
    truth = truth + t.logpdf(data["loss"] - 100 - 20 * np.sqrt(data["visits"]), 3)
    truth = truth - 0.5 * data["size"] ** 2 - 0.5 * np.log(2 * np.pi)
    assert chain.score(data) == pytest.approx(truth.mean(), abs=0.15)
    assert chain.held_out_log_likelihood_ == pytest.approx(truth.mean(), abs=0.4)


def test_interventions_and_samples(chain):
    chosen = chain.intervene({"city": "Lima"})
    assert chosen.mean(2000)["smokes=yes"] == pytest.approx(0.9, abs=0.06)
    rows = chain.sample(500, random_state=1)
    assert set(rows["city"]) <= set(P_SMOKES)
    assert (rows["visits"] % 1 == 0).all()


def test_saved_and_loaded(chain, data, tmp_path):
    chain.save(tmp_path / "model.npz")
    loaded = grandag.load(tmp_path / "model.npz")
    assert loaded.score(data) == chain.score(data)
    assert (loaded.density, loaded.kinds) == ("auto", KINDS)


def test_a_network_for_other_labels_is_not_loaded(chain, tmp_path):
    chain.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    arrays["meta"] = np.array(str(arrays["meta"]).replace('"Rome"', '"Rome", "Bonn"'))
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.raises(ValueError, match="has not the values of its method"):
        grandag.load(tmp_path / "other.npz")


def test_training_on_every_kind(data):
    """Kinds are found but for heavy tails; what training leaves has the true edges in one direction or the other."""
    model = quick(max_iterations=2500, density={"loss": "student-t"}).fit(data)
    left = model.mask_ | model.mask_.T
    names = list(data)
    assert all(left[names.index(a), names.index(b)] for a, b in CHAIN)
    assert model.A_phi_.shape == model.expected_jacobian_.shape == (5, 5)
    densities = [type(found.given(np.zeros((1, n)))).__name__ for found, n in with_parents(model)]
    assert densities == ["Categorical", "Bernoulli", "NegativeBinomial", "StudentT", "Gaussian"]


def test_densities_in_the_order_of_the_columns(data, tmp_path):
    """Constant columns count, and the file knows the list."""
    frame = data[["loss", "size"]].assign(same=1.0)[["same", "loss", "size"]]
    density = ["gaussian", "student-t", "additive-gaussian"]
    with pytest.warns(UserWarning):
        model = quick(max_iterations=300, density=density).fit(frame)
    found = [type(conditional.given(np.zeros((1, n)))).__name__ for conditional, n in with_parents(model)]
    assert found == ["PointMass", "StudentT", "Gaussian"]
    model.save(tmp_path / "model.npz")
    assert grandag.load(tmp_path / "model.npz").density == density


def with_parents(model):
    return zip(model.model_.conditionals, model.dag_.sum(axis=0).tolist(), strict=True)


def test_constant_columns_may_be_named(data):
    frame = data[["size", "loss"]].assign(same=1.0)
    model = quick(density={"same": "gaussian", "size": "gaussian"}, max_iterations=50).fit(frame)
    assert len(model.model_.conditionals[0].layers[-1]) == 2


def test_the_density_of_the_plus_plus_variant_is_for_numbers(data):
    model = grandag.methods.registry.build("grandag++", {"max_iterations": 20, "refine": False, "prune": False}, seed=0)
    model.fit(data[["size", "smokes"]])
    first, second = model.model_.conditionals
    assert (len(first.layers[-1]), len(second.layers[-1])) == (2, 1)
    assert model.method == "grandag++"


def test_auto_is_additive_gaussian_for_numbers(rng):
    """Bit for bit."""
    values = rng.normal(size=(200, 4))
    values[:, 1] += np.sin(values[:, 0])
    auto, named = (quick(density=density, max_iterations=300).fit(values) for density in ("auto", "additive-gaussian"))
    np.testing.assert_array_equal(auto.A_phi_, named.A_phi_)
    assert auto.score(values) == named.score(values)


def test_an_illegal_density_is_refused_before_anything_is_computed(data):
    with pytest.raises(grandag.parameters.ParameterError, match="'gaussian' for 'city', which is categorical"):
        GraNDAG(density={"city": "gaussian"}).fit(data)
    with pytest.raises(grandag.parameters.ParameterError, match="which is no column"):
        GraNDAG(density={"town": "gaussian"}).fit(data)
