"""LiNGAM against the package lingam, brute force, and the truth."""

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import FastICA

from grandag import DoubtWarning, LiNGAM, NotConvergedWarning
from grandag.knowledge import Knowledge
from grandag.methods.lingam.components import components, contrast, descend, whitening
from grandag.methods.lingam.direct import compare, direct_order, entropy
from grandag.methods.lingam.ica import order_by_size, sizes_of
from grandag.methods.lingam.lingam import must_precede
from grandag.methods.lingam.parents import loss_without, parents_in_order, select_parents
from grandag.simulate import draw_graph, draw_scenario
from grandag.table import TableError
from tests.reference.make_lingam import TABLES, table

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "lingam.json").read_text())["results"]

each_algorithm = pytest.mark.parametrize("algorithm", ["direct", "ica"])
pytestmark = pytest.mark.filterwarnings("ignore::grandag.DoubtWarning")


def standardised(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


def free(d):
    return np.zeros((d, d), dtype=bool)


def n_backwards(order, truth):
    place = np.argsort(order)
    return sum(place[i] > place[j] for i, j in np.argwhere(truth))


def plain_entropy(u):
    """The formula, word by word."""
    log_cosh, odd = np.log(np.cosh(u)).mean(), (u * np.exp(-(u**2) / 2)).mean()
    return (1 + np.log(2 * np.pi)) / 2 - 79.047 * (log_cosh - 0.37457) ** 2 - 7.4129 * odd**2


@pytest.mark.parametrize("reference", REFERENCE, ids=lambda reference: str(reference["table"]))
def test_orders_of_the_package(reference):
    values, _ = table(*reference["table"])
    assert direct_order(standardised(values), free(values.shape[1])) == reference["direct"]


@pytest.mark.parametrize("reference", REFERENCE, ids=lambda reference: str(reference["table"]))
def test_independent_components_agree_with_the_package(reference):
    """Of the edges that it finds, those that there are, go forwards; on the last table it finds others, too."""
    values, weights = table(*reference["table"])
    order = [int(name[1:]) for name in LiNGAM(algorithm="ica").fit(values).causal_order_]
    truth = free(len(order))
    truth[tuple(np.transpose(reference["ica_edges"]))] = True
    assert (truth & (weights != 0)).sum() >= 4
    assert n_backwards(order, truth & (weights != 0)) == 0


def test_entropy_and_comparison(rng):
    rows = np.ascontiguousarray(standardised(rng.exponential(size=(1300, 3)) @ [[1, 0.8, 0], [0, 1, 0], [0, 0, 1]]).T)
    entropies = np.array([entropy(row, row, 0.0) for row in rows])
    np.testing.assert_allclose(entropies, [plain_entropy(row) for row in rows], rtol=1e-12)
    for i, j in itertools.permutations(range(3), 2):
        rho = np.corrcoef(rows[i], rows[j])[0, 1]
        residuals = rows[i] - rho * rows[j], rows[j] - rho * rows[i]
        of_i, of_j = (plain_entropy(residual / residual.std()) for residual in residuals)
        expected = plain_entropy(rows[j]) + of_i - plain_entropy(rows[i]) - of_j
        found = compare(rows, i, np.array([j]), np.array([rho]), entropies)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@each_algorithm
@pytest.mark.parametrize("kind", ["lin-uniform", "lin-laplace", "lin-exponential"])
def test_true_order(algorithm, kind):
    """Weak edges, which U[0, 1] has, may go anywhere; of the others none goes backwards."""
    truth = draw_graph("er", 8, 8, 3)
    scenario = draw_scenario(kind, truth, 4000, 5)
    model = LiNGAM(algorithm=algorithm).fit(scenario.data)
    reversed_edges = model.adjacency_ & np.asarray(scenario.adjacency, dtype=bool).T
    assert not reversed_edges.any()
    assert (model.adjacency_ != scenario.adjacency).sum() <= 1


@each_algorithm
@pytest.mark.parametrize("case", TABLES[:3], ids=str)
def test_neither_columns_nor_units_matter(algorithm, case, rng):
    values, weights = table(*case)
    expected = LiNGAM(algorithm=algorithm).fit(values)
    assert (expected.adjacency_ != (weights != 0)).sum() <= 1
    order, units = rng.permutation(values.shape[1]), 10.0 ** rng.uniform(-5, 5, values.shape[1])
    permuted = LiNGAM(algorithm=algorithm).fit(values[:, order])
    np.testing.assert_array_equal(permuted.adjacency_, expected.adjacency_[np.ix_(order, order)])
    rescaled = LiNGAM(algorithm=algorithm).fit(values * units)
    assert rescaled.causal_order_ == expected.causal_order_
    np.testing.assert_array_equal(rescaled.adjacency_, expected.adjacency_)
    np.testing.assert_allclose(rescaled.coefficients_ * units[:, None] / units, expected.coefficients_, atol=1e-8)


@pytest.fixture
def chain(rng):
    noise = rng.uniform(-1, 1, (2000, 3))
    b = noise[:, 0] + noise[:, 1]
    return pd.DataFrame({"a": noise[:, 0], "b": b, "c": b + noise[:, 2]})


@each_algorithm
def test_knowledge_binds(algorithm, chain):
    def fitted(**knowledge):
        return LiNGAM(algorithm=algorithm, knowledge=knowledge).fit(chain)

    assert set(fitted().graph_.edges) == {("a", "b"), ("b", "c")}
    assert fitted(required=[("c", "a")]).causal_order_.index("c") < 2
    assert ("c", "a") in fitted(required=[("c", "a")]).graph_.edges
    assert fitted(tiers=[["c"], ["b"], ["a"]]).causal_order_ == ["c", "b", "a"]
    assert fitted(forbidden=[("a", "c")]).causal_order_ == ["a", "b", "c"]
    assert ("b", "c") not in fitted(forbidden=[("b", "c")]).graph_.edges


def test_what_must_precede():
    names = tuple("abcd")
    tiers = must_precede(Knowledge(tiers=[["a", "b"], ["c", "d"]]).masks(names))
    np.testing.assert_array_equal(tiers, np.kron([[0, 1], [0, 0]], np.ones((2, 2))).astype(bool))
    assert not must_precede(Knowledge(forbidden=[("a", "c")]).masks(names)).any()
    required = must_precede(Knowledge(required=[("a", "b"), ("b", "c")]).masks(names))
    assert {(i, j) for i, j in np.argwhere(required)} == {(0, 1), (0, 2), (1, 2)}


def test_order_by_size_leaves_out_what_contradicts():
    size = np.zeros((3, 3))
    size[2, 1], size[1, 0], size[0, 2] = 3, 2, 1
    assert order_by_size(size, free(3)) == [2, 1, 0]
    precedes = free(3)
    precedes[1, 2] = True
    assert order_by_size(size, precedes) == [1, 0, 2]


def test_coefficients_from_rows_in_any_order(rng):
    """In units of the noises, whatever the units of the columns and the order, the signs and the scales of the rows."""
    weights = 3 * table("uniform", 6, 10, 3)[1]
    deviation = rng.uniform(0.5, 2, 6)
    rows = (np.eye(6) - weights.T) / deviation[:, None] + rng.normal(0, 1e-3, (6, 6))
    shuffled = rows[rng.permutation(6)] * rng.choice([-1, 1], (6, 1)) * 10.0 ** rng.uniform(-3, 3, 6)
    expected = np.abs(weights) * deviation[:, None] / deviation
    np.testing.assert_allclose(sizes_of(shuffled) - np.eye(6), expected, atol=0.05)


def test_contrast(rng):
    y = 5 * rng.normal(size=(3, 200))
    tanh, log_cosh = contrast(y)
    np.testing.assert_allclose(tanh, np.tanh(y), rtol=1e-12)
    np.testing.assert_allclose(log_cosh, np.log(np.cosh(y)).mean(axis=1), rtol=1e-12)


def test_components_are_stationary(rng):
    """No rotation of two of them by a small angle is better, by the objective as it is written."""
    values, _ = table("laplace", 5, 1000, 1)
    values[:, :2] = rng.uniform(-1, 1, (1000, 2)) + 0.5 * values[:, 3:]
    whitener = whitening(standardised(values))
    z = whitener @ standardised(values).T
    np.testing.assert_allclose(z @ z.T / 1000, np.eye(5), atol=1e-10)
    rotation, converged = descend(z, 1000)
    assert converged
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(5), atol=1e-12)
    y = rotation @ z
    k = (1 - np.tanh(y) ** 2).mean(axis=1) - (y * np.tanh(y)).mean(axis=1)
    assert {-1, 1} == set(np.sign(k))
    for i, j in itertools.combinations(range(5), 2):
        objectives = []
        for angle in (-1e-3, 0.0, 1e-3):
            turned = y.copy()
            turned[i], turned[j] = (
                np.cos(angle) * y[i] + np.sin(angle) * y[j],
                np.cos(angle) * y[j] - np.sin(angle) * y[i],
            )
            objectives.append(float(np.sign(k) @ np.log(np.cosh(turned)).mean(axis=1)))
        assert objectives[1] <= min(objectives[0], objectives[2])
        assert abs(objectives[2] - objectives[0]) / 2e-3 < 1e-5


def test_components_are_those_of_fast_ica():
    for noise, d, n, seed in TABLES[:3]:
        values = standardised(table(noise, d, n, seed)[0])
        found = components(values, 1000)
        assert found.converged
        theirs = FastICA(whiten="unit-variance", max_iter=1000, tol=1e-8, random_state=0).fit(values).components_
        similarity = np.abs(found.unmixing @ values.T @ (theirs @ values.T).T) / n
        np.testing.assert_allclose(similarity.max(axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(similarity.max(axis=0), 1, atol=1e-6)


def test_many_components():
    """Of 40 variables each with edges to most others; errors that depend on units, or a random start, reverse many."""
    truth = draw_graph("er", 40, 160, 3)
    scenario = draw_scenario("lin-uniform", truth, 2000, 5)
    order = [scenario.data.columns.get_loc(name) for name in LiNGAM(algorithm="ica").fit(scenario.data).causal_order_]
    assert n_backwards(order, np.asarray(truth, dtype=bool)) <= 0.02 * 160


def residual_variance(values, target, parents):
    design = np.column_stack([np.ones(len(values)), values[:, parents]])
    return (values[:, target] - design @ np.linalg.lstsq(design, values[:, target], rcond=None)[0]).var()


def test_parents_against_all_subsets():
    """The stepwise choice has the best criterion of all subsets, on tables where effects are clear."""
    for seed in range(5):
        values, _ = table("uniform", 6, 400, seed)
        correlation, n = np.corrcoef(values.T), len(values)
        candidates, price = np.arange(5), np.log(n) + 2 * np.log(5)
        subsets = [list(s) for size in range(6) for s in itertools.combinations(range(5), size)]
        best = min(subsets, key=lambda s: n * np.log(residual_variance(values, 5, s)) + price * len(s))
        found = select_parents(correlation, 5, candidates, np.array([], dtype=int), n, price)
        assert sorted(found) == best


def test_loss_without_a_parent():
    values, _ = table("uniform", 6, 400, 1)
    loss = loss_without(np.corrcoef(values.T), 4, [2, 3, 5])
    whole = residual_variance(values, 4, [2, 3, 5])
    expected = [np.log(residual_variance(values, 4, rest) / whole) for rest in ([3, 5], [2, 5], [2, 3])]
    np.testing.assert_allclose(loss, expected, rtol=1e-8, atol=1e-10)


def test_few_false_edges_among_many_candidates(rng):
    values = rng.uniform(size=(500, 60))
    order, allowed = list(range(60)), ~np.eye(60, dtype=bool)
    assert parents_in_order(np.corrcoef(values.T), order, allowed, free(60), 500, 1.0).sum() <= 2


@each_algorithm
@pytest.mark.filterwarnings("ignore::grandag.NotConvergedWarning")
def test_gaussian_noise_is_a_reason_to_doubt(algorithm):
    values, _ = table("normal", 6, 1000, 1)
    with pytest.warns(DoubtWarning, match="Gaussian noise"):
        model = LiNGAM(algorithm=algorithm, max_iterations=200).fit(values)
    concern = next(concern for concern in model.warnings_ if concern.kind == "Gaussian noise")
    assert "a guess" in concern.message
    assert concern.numbers["edges"] >= 1
    values, _ = table("exponential", 6, 1000, 1)
    kinds = [concern.kind for concern in LiNGAM(algorithm=algorithm).fit(values).warnings_]
    assert "Gaussian noise" not in kinds


@each_algorithm
@pytest.mark.parametrize("power", [2, 3])
def test_curved_relations_are_a_reason_to_doubt(algorithm, power, rng):
    cause, noise, other = rng.exponential(size=(3, 500)) - 1
    straight = pd.DataFrame({"cause": cause, "effect": cause + 0.5 * noise, "other": other})
    kinds = [concern.kind for concern in LiNGAM(algorithm=algorithm).fit(straight).warnings_]
    assert "curved relations" not in kinds
    curved = straight.assign(effect=lambda table: table["effect"] + np.sign(cause) * np.abs(cause) ** power)
    concerns = LiNGAM(algorithm=algorithm).fit(curved).warnings_
    (concern,) = (concern for concern in concerns if concern.kind == "curved relations")
    assert set(concern.variables) == {"cause", "effect"}
    assert "no straight lines" in concern.message


@pytest.mark.filterwarnings("ignore:Columns .* hold the same numbers")
def test_columns_that_follow_from_others(rng):
    values = rng.uniform(size=(300, 3))
    values = np.column_stack([values, values[:, 0] + values[:, 1], 2 * values[:, 2]])
    assert LiNGAM().fit(values).is_dag_
    with pytest.raises(TableError, match="algorithm='direct'"):
        LiNGAM(algorithm="ica").fit(values)


def test_components_that_were_not_found():
    values, _ = table(*TABLES[1])
    with pytest.warns(NotConvergedWarning, match="Raise max_iterations"):
        LiNGAM(algorithm="ica", max_iterations=1).fit(values)
