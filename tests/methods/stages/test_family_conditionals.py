"""Conditionals of tables with labels and counts, against the likelihood of the regressions that they come from."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax

from grandag import GES, PC, load
from grandag.gam import LikelihoodTable
from grandag.methods.stages.family_conditionals import FamilyConditional, family_conditionals
from grandag.table import as_table

N = 600
EFFECT = np.array([-1.5, 0.0, 1.5])


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    age = rng.normal(50, 10, N)
    city = rng.integers(3, size=N)
    z = (age - 50) / 10
    smoker = rng.random(N) < expit(1.5 * np.sin(2 * z) + EFFECT[city])
    logits = np.column_stack([np.zeros(N), z, -z])
    drink = (rng.random(N)[:, None] > np.cumsum(softmax(logits, axis=1), axis=1)).sum(axis=1)
    return pd.DataFrame(
        {
            "age": age,
            "city": np.array(["Bonn", "Oslo", "Rome"])[city],
            "smoker": np.where(smoker, "yes", "no"),
            "drink": np.array(["tea", "water", "coffee"])[drink],
            "visits": rng.poisson(np.exp(0.3 + 0.8 * smoker + 0.3 * z)),
            "pressure": 120 + 10 * EFFECT[city] + 5 * z**2 + 2 * rng.normal(size=N),
            "cost": 3.0 * z + rng.standard_t(4, N),
        }
    )


@pytest.fixture(scope="module")
def table(frame):
    return as_table(frame, kinds={"cost": "heavy-tailed"})


GRAPH = np.zeros((7, 7), dtype=bool)
GRAPH[[0, 1], 2] = GRAPH[0, 3] = GRAPH[[0, 2, 3], 4] = GRAPH[[0, 1], 5] = GRAPH[[0, 2], 6] = True


def test_log_densities_add_up_to_the_likelihood_of_the_regression(table):
    regressions = LikelihoodTable(table, table.kinds)
    for j, conditional in enumerate(family_conditionals(table, GRAPH)):
        parents = np.flatnonzero(GRAPH[:, j])
        found = conditional.given(table.values[:, parents]).log_density(table.values[:, j]).sum()
        expected = regressions.regress(j, parents.tolist()).log_likelihood
        assert found == pytest.approx(expected, abs=0.2), table.names[j]
        assert conditional.is_consistent(len(parents))
        assert not conditional.is_consistent(len(parents) + 1)


def test_curves_go_on_as_lines(table):
    of_cost = family_conditionals(table, GRAPH)[6]
    far = of_cost.given(np.array([[150.0, 0.0], [200.0, 0.0], [250.0, 0.0]])).mean
    assert far[2] - far[1] == pytest.approx(far[1] - far[0], rel=1e-6)
    assert far[1] - far[0] == pytest.approx(15.0, rel=0.3)


def test_labels_of_no_row_are_possible_but_hardly(table):
    """As in a bootstrap sample without them."""
    part = table.take(np.flatnonzero((table.values[:, 3] != 1) & (table.values[:, 1] != 2)))
    found = family_conditionals(part, GRAPH)
    p = found[3].given(part.values[:5, [0]]).probabilities()
    assert p.shape == (5, 3)
    np.testing.assert_allclose(p[:, 1], 1e-12, rtol=1e-6)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.isfinite(found[5].given(np.array([[50.0, 2.0]])).mean).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", [PC(max_conditions=1), GES()])
def test_methods_have_scores_samples_and_files(method, frame, tmp_path):
    few = frame[["age", "city", "smoker", "pressure"]]
    model = method.fit(few)
    assert all(isinstance(some, FamilyConditional) for some in model.model_.conditionals)
    assert set(model.sample(200, 1)["city"]) == {"Bonn", "Oslo", "Rome"}
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.score(few) == model.score(few)
    assert again.sample(20, 1).equals(model.sample(20, 1))
    assert again.learned_.columns == model.learned_.columns
    changed = again.intervene({"city": "Rome"}).mean(200)
    assert changed["city=Rome"] == 1
