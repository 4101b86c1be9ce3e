"""Regimes that are left out of a fit, and predicted by it."""

import math

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag import CAM, NOTEARS
from grandag.intervention_check import check_interventions, describe_check, errors_by_regime
from grandag.report import fit_page
from grandag.table import TableError

TARGETS = [""] * 300 + ["b"] * 60 + ["a"] * 60


@pytest.fixture
def chain(rng):
    """a -> b -> c, all slopes 2; b is set around 3, and a around -2."""
    a = rng.normal(size=420)
    a[360:] -= 2
    b = 2 * a + rng.normal(size=420)
    b[300:360] = rng.normal(3, 0.5, size=60)
    return pd.DataFrame({"a": a, "b": b, "c": 2 * b + rng.normal(size=420)})


LINE = {"required": [("a", "b"), ("b", "c")], "forbidden": [("a", "c")]}


def test_a_regime_is_predicted_by_a_fit_to_all_others(chain):
    """By hand: c given b by least squares in the rows without interventions on b, at the values b was set to."""
    found = check_interventions(NOTEARS(knowledge=LINE), chain, TARGETS, n_jobs=1)
    assert found[["regime", "variable"]].to_numpy().tolist() == [["b", "a"], ["b", "c"], ["a", "b"], ["a", "c"]]
    assert found["rows"].tolist() == [60] * 4
    assert found["is_downstream"].tolist() == [False, True, True, True]
    others, regime = chain[np.array(TARGETS) != "b"], chain[np.array(TARGETS) == "b"]
    slope, intercept = np.polyfit(others["b"], others["c"], 1)
    noise = (others["c"] - slope * others["b"] - intercept).std(ddof=0)
    c = found.iloc[1]
    assert c["predicted_mean"] == pytest.approx(slope * regime["b"].mean() + intercept, abs=0.05)
    assert c["predicted_sd"] == pytest.approx(math.hypot(slope * regime["b"].std(ddof=0), noise), rel=0.03)
    usual = chain["c"][:300]
    assert c["unchanged_mean"] == pytest.approx(usual.mean())
    assert c["observed_mean"] == pytest.approx(regime["c"].mean())
    assert c["error"] == pytest.approx((c["predicted_mean"] - regime["c"].mean()) / usual.std(ddof=0))
    assert c["unchanged_error"] == pytest.approx((usual.mean() - regime["c"].mean()) / usual.std(ddof=0))
    expected = (c["predicted_mean"] - regime["c"].mean()) / (regime["c"].std(ddof=0) / math.sqrt(60))
    assert c["standard_errors"] == pytest.approx(expected)
    assert abs(c["error"]) < 0.1 < 0.5 < abs(c["unchanged_error"])


def test_a_wrong_graph_predicts_worse(chain):
    turned = {"required": [("c", "b"), ("b", "a")], "forbidden": [("c", "a")]}
    right, wrong = (
        errors_by_regime(check_interventions(NOTEARS(knowledge=known), chain, TARGETS, n_jobs=1)).iloc[-1]["error"]
        for known in (LINE, turned)
    )
    assert right < 0.15 < 0.5 < wrong


def test_errors_by_regime():
    check = pd.DataFrame(
        {
            "regime": ["x", "x", "y"],
            "error": [0.3, 0.4, 1.0],
            "unchanged_error": [0.0, 1.0, 1.0],
            "observed_sd": [1.0, 1.0, 2.0],
            "predicted_sd": [math.e, 1.0, 2.0],
            "unchanged_sd": [1.0, 1.0, 0.0],
        }
    )
    summary = errors_by_regime(check)
    assert summary["regime"].tolist() == ["x", "y", "all"]
    assert summary["variables"].tolist() == [2, 1, 3]
    np.testing.assert_allclose(summary["error"], np.sqrt([0.125, 1.0, 1.25 / 3]))
    np.testing.assert_allclose(summary["spread_error"], np.sqrt([0.5, 0.0, 1 / 3]))
    assert summary["unchanged_spread_error"].tolist()[0] == 0
    assert math.isnan(summary["unchanged_spread_error"][1])
    assert "off by 0.65 standard deviations (root mean square of 3): less than the 0.82" in describe_check(check)


def test_an_estimator_keeps_the_check(chain, tmp_path):
    model = NOTEARS(knowledge=LINE).fit(chain, interventions=TARGETS)
    found = model.check_interventions(chain, TARGETS, n_jobs=1)
    pd.testing.assert_frame_equal(model.intervention_check_, found)
    assert model.notes_[-1] == describe_check(found)
    model.save(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(grandag.load(tmp_path / "model.npz").intervention_check_, found)
    page = fit_page(model, chain, interventions=TARGETS)
    assert "Interventions that were left out, and predicted" in page
    assert f"{found['observed_mean'][1]:.4g}" in page
    assert "left out, and predicted" not in fit_page(NOTEARS(knowledge=LINE).fit(chain), chain)


def test_results_do_not_depend_on_processes(chain):
    here, there = (check_interventions(CAM(), chain, TARGETS, n_jobs=n) for n in (1, 2))
    pd.testing.assert_frame_equal(here, there)


def test_without_interventions_there_is_nothing_to_check(chain):
    with pytest.raises(TableError, match="no interventions to check"):
        check_interventions(CAM(), chain)


def test_without_observational_rows_nothing_changes_from_other_regimes(chain):
    """A regime stands beside the rows of all others that leave the variable alone."""
    targets = ["c"] * 40 + TARGETS[300:]
    rows = chain[260:].reset_index(drop=True)
    found = check_interventions(NOTEARS(), rows, targets, n_jobs=1).set_index(["regime", "variable"])
    assert found.loc[("b", "c"), "unchanged_mean"] == pytest.approx(rows["c"][100:].mean())
    assert found.loc[("b", "a"), "unchanged_mean"] == pytest.approx(rows["a"][:40].mean())


def test_a_regime_that_cannot_be_left_out_is_named(chain):
    """Without the regime of b, all rows are interventions on a."""
    targets = ["b"] * 300 + ["a|c"] * 60 + ["a"] * 60
    with pytest.warns(UserWarning, match=r"1 of 3 regimes could not be left out: Column 'a' does not vary in rows"):
        found = check_interventions(NOTEARS(), chain, targets, n_jobs=1)
    assert found["regime"].unique().tolist() == ["a|c", "a"]


def test_a_refit_has_not_seen_the_regime(chain):
    """Whatever came of the intervention on b does not change what is predicted for it."""
    changed = chain.copy()
    changed.loc[300:359, "c"] += 1000
    found = [check_interventions(NOTEARS(knowledge=LINE), data, TARGETS, n_jobs=1)[:2] for data in (chain, changed)]
    np.testing.assert_array_equal(*(check["predicted_mean"] for check in found))
    assert found[1]["error"][1] < -100
    assert abs(found[0]["error"][1]) < 0.5
