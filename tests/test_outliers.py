"""Gross outliers: found beyond a gap where nothing goes with them, never in heavy tails or where they have effects."""

import warnings

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from grandag import CAM, GraNDAG, load
from grandag.datasets import load_sachs
from grandag.distributions import StudentT
from grandag.gam.families import LEAST_DF
from grandag.methods.stages.heavy_tails import HeavyTailed, _likeliest
from grandag.metrics import shd
from grandag.outliers import find_outliers
from grandag.simulate.files import simulate
from grandag.table import as_table


def body(n=1000, d=6, seed=0):
    """Columns each of which follows the one before it."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n)]
    for _ in range(d - 1):
        columns.append(np.sin(2 * columns[-1]) + 0.3 * rng.normal(size=n))
    return np.column_stack(columns)


def hit(values, share=0.02, size=20.0, seed=1, *, rows=False):
    """Values with outliers, and where they are."""
    rng = np.random.default_rng(seed)
    where = np.broadcast_to(rng.random((len(values), 1 if rows else values.shape[1])) < share, values.shape)
    moved = values + size * values.std(axis=0) * rng.choice([-1, 1], values.shape)
    return np.where(where, moved, values), where


@pytest.mark.parametrize("unit", [1.0, 1e-9, -1e9])
@pytest.mark.parametrize("seed", range(5))
def test_outliers_in_single_cells_are_found_exactly_and_in_any_unit(seed, unit):
    values, where = hit(body(seed=seed), seed=seed)
    values = 7 + unit * values
    found = find_outliers(as_table(values))
    np.testing.assert_array_equal((values < found.low) | (values > found.high), where)
    np.testing.assert_array_equal(found.rows(values), where.any(axis=1))


def test_rows_with_errors_everywhere_are_found():
    values, where = hit(body(), rows=True)
    np.testing.assert_array_equal(find_outliers(as_table(values)).rows(values), where.any(axis=1))


def test_the_rows_of_a_long_table_are_found_from_some_of_them():
    values, where = hit(body(50_000, d=3))
    np.testing.assert_array_equal(find_outliers(as_table(values)).rows(values), where.any(axis=1))


@pytest.mark.parametrize("weight", [1.0, -0.5])
def test_what_has_an_effect_is_no_error(weight):
    values, _ = hit(body(d=1))
    effect = weight * values[:, 0] + np.random.default_rng(5).normal(size=len(values))
    assert find_outliers(as_table(np.column_stack([values, effect, body(d=1, seed=3)]))) is None


def test_a_switch_that_goes_with_outliers_explains_them():
    values, where = hit(body(d=2))
    assert find_outliers(as_table(np.column_stack([values[:, :1], where[:, 0]]))) is None
    assert find_outliers(as_table(np.column_stack([values[:, :1], where[:, 1]]))) is not None


@pytest.mark.parametrize("degrees_of_freedom", [1, 2, 3])
def test_heavy_tails_are_no_outliers(degrees_of_freedom):
    for seed in range(10):
        rows = np.random.default_rng(seed).standard_t(degrees_of_freedom, (1000, 10))
        assert find_outliers(as_table(rows)) is None


@pytest.mark.parametrize("name", ["iris", "wine", "diabetes", "breast_cancer", "linnerud", "digits"])
def test_there_are_none_in_tables_of_scikit_learn(name):
    assert find_outliers(as_table(getattr(sklearn_datasets, f"load_{name}")(as_frame=True).frame)) is None


def test_there_are_none_in_sachs():
    assert find_outliers(as_table(load_sachs().data)) is None


def test_if_too_few_rows_would_be_left_all_are_kept():
    rng = np.random.default_rng(0)
    values, where = hit(rng.normal(size=(400, 60)), share=0.03)
    assert where.any(axis=1).mean() > 0.75
    assert find_outliers(as_table(values)) is None


def test_labels_and_counts_have_none():
    values, _ = hit(body(d=2))
    counts = np.random.default_rng(0).poisson(2.0, len(values)).astype(float)
    counts[::50] = 900
    table = as_table(np.column_stack([body(), counts]))
    assert table.kinds[-1] == "count"
    assert find_outliers(table) is None


def fitted(X, **parameters):
    with warnings.catch_warnings(record=True):
        return CAM(**parameters).fit(X)


class TestFit:
    def test_outliers_are_not_learned_from_but_said(self):
        clean = body()
        values, where = hit(clean)
        model = fitted(values)
        alone = fitted(values[~where.any(axis=1)])
        np.testing.assert_array_equal(model.adjacency_, alone.adjacency_)
        concern = next(concern for concern in model.warnings_ if concern.kind == "gross outliers")
        assert concern.variables == ("X0", "X1", "X2", "X3", "X4", "X5")
        assert concern.numbers["rows"] == where.any(axis=1).sum()
        n_first = int(where[:, 0].sum())
        inside = values[~where[:, 0], 0]
        assert f"'X0' ({n_first}; the others from {inside.min():.3g} to {inside.max():.3g})" in concern.message
        assert "outliers='keep'" in concern.message

    def test_they_can_be_kept(self):
        values, _ = hit(body())
        model = fitted(values, outliers="keep")
        assert "gross outliers" not in {concern.kind for concern in model.warnings_}
        assert {column.kind for column in model.learned_.columns} == {"continuous"}
        assert CAM.preset("paper").outliers == "keep"

    def test_an_outlier_costs_nats_and_not_thousands_and_the_file_knows(self, tmp_path):
        values, where = hit(body())
        values = np.column_stack([values[:, 0], body()[:, 1:]])
        model = fitted(values)
        assert [column.kind for column in model.learned_.columns] == ["heavy-tailed", *["continuous"] * 5]
        assert isinstance(model.learned_.conditionals[0], HeavyTailed)
        densities = model.model_.log_densities(values)["X0"]
        assert densities[where[:, 0]].min() > -30  # a Gaussian's are below -150
        found = model.learned_.conditionals[0].given(np.empty((len(values), 0)))
        for factor in (0.9, 1.1):
            other = StudentT(found.mean, factor * found.scale, found.degrees_of_freedom)
            assert other.log_density(values[:, 0]).sum() < densities.sum()
        model.save(tmp_path / "model.npz")
        np.testing.assert_array_equal(load(tmp_path / "model.npz").log_prob(values), model.log_prob(values))

    def test_rows_held_out_have_none_either(self):
        values, _ = hit(body(d=3))
        held_out, _ = hit(body(200, d=3, seed=9), seed=9)
        clean_only = held_out[~find_outliers(as_table(values)).rows(held_out)]
        fits = [GraNDAG(max_iterations=300, refine=False, prune=False, retrain=False, random_state=0) for _ in range(2)]
        with pytest.warns(UserWarning):
            A_phi = [
                fit.fit(values, held_out=rows).A_phi_ for fit, rows in zip(fits, (held_out, clean_only), strict=True)
            ]
        np.testing.assert_array_equal(*A_phi)


def test_the_noise_is_the_likeliest_of_students():
    """The maximum, by a grid around it."""
    noise = np.random.default_rng(0).standard_t(4, 2000) * 1.7
    spread, degrees = _likeliest(noise)
    assert abs(spread - 1.7) < 0.15
    assert 3.2 < degrees < 5.5

    def likelihood(s, nu):
        return StudentT(np.zeros(1), np.array([s]), nu).log_density(noise).sum()

    best = likelihood(spread, degrees)
    assert all(
        likelihood(spread * factor, LEAST_DF + (degrees - LEAST_DF) * other) < best + 1e-3
        for factor in (0.97, 1.0, 1.03)
        for other in (0.9, 1.0, 1.1)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_the_default_loses_at_most_two_edges(seed):
    scenario = simulate("gauss-anm", n_nodes=10, n_edges=10, n_rows=1000, seed=seed)
    values, _ = hit(scenario.data.to_numpy())
    with pytest.warns(UserWarning):
        found = GraNDAG(random_state=seed, retrain=False).fit(values).adjacency_
        clean = GraNDAG(random_state=seed, retrain=False).fit(scenario.data).adjacency_
    assert shd(scenario.adjacency, found) <= shd(scenario.adjacency, clean) + 2
