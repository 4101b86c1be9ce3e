"""Pruning: what is kept, and what is told of it."""

import numpy as np
import pytest

from grandag.gam import LikelihoodTable, SplineTable
from grandag.methods.stages.prune import prune
from grandag.table import as_table
from tests import reference
from tests.conftest import SHARED, nonlinear_chain


@pytest.fixture
def complete():
    return np.triu(np.ones((3, 3), dtype=bool), 1)


def test_keeps_the_chain_and_drops_the_shortcut(rng, complete):
    result = prune(SplineTable(nonlinear_chain(rng)), complete)
    np.testing.assert_array_equal(np.argwhere(result.adjacency), [[0, 1], [1, 2]])
    assert result.p_values[0, 1] < 1e-100
    assert result.p_values[0, 2] >= 0.001
    assert np.isnan(result.p_values[~complete]).all()
    assert (result.degrees_of_freedom[complete] >= 1 - 1e-6).all()
    assert np.isnan(result.degrees_of_freedom[~complete]).all()


def test_cutoff(rng, complete):
    table = SplineTable(nonlinear_chain(rng))
    assert not prune(table, complete, 0.0).adjacency.any()
    np.testing.assert_array_equal(prune(table, complete, 1.0).adjacency, complete)


def test_order_of_columns_does_not_matter(rng, complete):
    values = nonlinear_chain(rng)
    order = [2, 0, 1]
    straight = prune(SplineTable(values), complete)
    permuted = prune(SplineTable(values[:, order]), complete[np.ix_(order, order)])
    np.testing.assert_allclose(permuted.p_values, straight.p_values[np.ix_(order, order)], rtol=1e-5)


def test_progress(rng, complete):
    heard = []
    prune(SplineTable(nonlinear_chain(rng)), complete, listener=heard.append)
    assert [(progress.stage, progress.step, progress.n_steps) for progress in heard] == [
        ("prune", j, 3) for j in (1, 2, 3)
    ]
    assert heard[-1].n_edges == 2


@pytest.mark.parametrize(("name", "stopped_early"), [("dag10", [6]), ("dag15", [])])
def test_p_values_and_decisions_of_r(name, stopped_early):
    """Complete graphs in the order of the columns; R kept the edges with p < 0.001. Where its search for the smoothing
    parameters stopped early, its p-values are of another fit, and only decisions are compared."""
    rows = reference.table(name)
    d = rows.shape[1]
    theirs = np.full((d, d), np.nan)
    for task in reference.regressions().query("table == @name").itertuples():
        theirs[task.parents, task.target] = task.precise_p_value
    result = prune(SplineTable(rows), np.triu(np.ones((d, d), dtype=bool), 1))
    np.testing.assert_array_equal(result.adjacency, theirs < 0.001)
    assert result.adjacency.sum() == 20
    compared = (theirs > 1e-9) & ~np.isin(np.arange(d), stopped_early)
    np.testing.assert_allclose(result.p_values[compared], theirs[compared], rtol=0.05)


@pytest.mark.filterwarnings("ignore:Reading:UserWarning")
def test_decisions_of_r():
    """Complete graphs pruned by R's CAM; every fourth of the reference's graphs."""
    path = SHARED / "reference" / "prune_reference.npz"
    if not path.is_file():
        pytest.skip("the reference values are not beside the project")
    values, agree = dict(np.load(path)), []
    for i in range(0, len(values["d"]), 4):
        d, file = values["d"][i], f"{values['name'][i]}/data{values['dataset'][i]}.npy"
        before, after = (values[name][i, :d, :d].astype(bool) for name in ("input", "output"))
        result = prune(SplineTable(np.load(SHARED / "data" / "authors" / file).astype(float)), before)
        agree += (result.adjacency == after)[before].tolist()
    assert np.mean(agree) >= 0.99


def test_blocks_of_rows_give_the_same(rng, complete, monkeypatch):
    """Cross-products are summed over blocks; their size is no part of the result."""
    values = nonlinear_chain(rng, 3000)
    whole = prune(SplineTable(values), complete)
    from grandag.gam import regression

    in_blocks = regression._designs
    monkeypatch.setattr(regression, "_designs", lambda bases, values: in_blocks(bases, values, block=257))
    np.testing.assert_allclose(prune(SplineTable(values), complete).p_values, whole.p_values, rtol=1e-5)


@pytest.fixture
def changed(rng):
    """x2 depends on x0; in the last third of the rows it was changed, and depends on x1 instead."""
    values = rng.normal(size=(600, 3))
    values[:, 2] = np.where(np.arange(600) < 400, values[:, 0], 2 * values[:, 1]) + 0.3 * values[:, 2]
    return values, [""] * 400 + ["X2"] * 200


BOTH = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)


@pytest.mark.parametrize("kinds", [None, ("continuous", "continuous", "heavy-tailed")])
def test_perfect_interventions_leave_their_rows_out(changed, kinds):
    values, targets = changed
    table = as_table(values, interventions=targets)
    regressions = SplineTable(table) if kinds is None else LikelihoodTable(table, kinds)
    pruned = prune(regressions, BOTH)
    np.testing.assert_array_equal(np.argwhere(pruned.adjacency), [[0, 2]])
    alone = values[:400]
    own = SplineTable(alone) if kinds is None else LikelihoodTable(alone, kinds)
    np.testing.assert_allclose(pruned.p_values[:2, 2], prune(own, BOTH).p_values[:2, 2], rtol=0.2, atol=1e-12)


@pytest.mark.parametrize("kinds", [None, ("continuous", "continuous", "heavy-tailed")])
def test_after_imperfect_interventions_a_parent_stays_that_matters_in_any_regime(changed, kinds):
    values, targets = changed
    table = as_table(values, interventions=targets, intervention_kind="imperfect")
    regressions = SplineTable(table) if kinds is None else LikelihoodTable(table, kinds)
    pruned = prune(regressions, BOTH)
    np.testing.assert_array_equal(np.argwhere(pruned.adjacency), [[0, 2], [1, 2]])
    unrelated = values.copy()
    unrelated[:, :2] = values[::-1, :2]
    table = as_table(unrelated, interventions=targets, intervention_kind="imperfect")
    tests = prune(SplineTable(table), BOTH, cutoff=1.0).p_values[:2, 2]
    free, own = (
        SplineTable(table).regress(2, [0, 1], regimes=np.array(regimes)).p_values()
        for regimes in ([True, False], [False, True])
    )
    np.testing.assert_allclose(tests, np.minimum(2 * np.minimum(free, own), 1))
