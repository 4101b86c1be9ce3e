import json

import numpy as np
import pytest
from scipy.stats import ks_2samp

from grandag import simulate
from grandag.parameters import ParameterError
from grandag.simulate import files

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def chain(n_rows=6000, kind="lin"):
    return simulate.draw_scenario(kind, CHAIN, n_rows, 0)


def rows_of(scenario, targets):
    return scenario.data[[entry == targets for entry in scenario.interventions]]


def test_rows_and_targets():
    scenario = chain(600)
    drawn = simulate.draw_regimes(scenario, 4, intervened=0.4, n_targets=2, random_state=1)
    assert drawn.data.shape == scenario.data.shape
    assert [regime.n_rows for regime in drawn.regimes] == [60, 60, 60, 60]
    np.testing.assert_array_equal(drawn.data[:360], scenario.data[:360])
    assert drawn.interventions[:360] == ("",) * 360
    assert [len(regime.mechanisms) for regime in drawn.regimes] == [2, 2, 2, 2]
    assert {name for regime in drawn.regimes for name in regime.mechanisms} == set(scenario.names)
    np.testing.assert_array_equal(drawn.adjacency, scenario.adjacency)


def test_the_same_seed_gives_the_same_rows():
    one, other = (simulate.draw_regimes(chain(300), random_state=5).data for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mechanism", ["gauss-anm", "lin"])
def test_no_row_repeats_the_noise_of_another(mechanism):
    """Whatever the seeds: rows that share the values of all roots look like a law among them."""
    by_files = files.simulate(mechanism, graph="empty", n_nodes=5, n_rows=100, seed=3)
    by_hand = simulate.draw_scenario(mechanism, simulate.empty(5), 100, 3)
    for scenario in (by_files, by_hand):
        drawn = simulate.draw_regimes(scenario, random_state=3)
        assert all(drawn.data[name].is_unique for name in drawn.data)


def slope(rows, cause, effect):
    return np.polyfit(rows[cause], rows[effect], 1)[0]


def test_a_perfect_intervention_cuts_its_target_off_and_leaves_the_others():
    """X1 no longer follows X0; X2 follows X1 with the same weight, and X0 has the same distribution."""
    scenario = chain()
    rows = rows_of(simulate.draw_regimes(scenario, random_state=1), "X1")
    assert abs(np.corrcoef(rows["X0"], rows["X1"])[0, 1]) < 0.1
    assert abs(np.corrcoef(scenario.data["X0"], scenario.data["X1"])[0, 1]) > 0.5
    assert slope(rows, "X1", "X2") == pytest.approx(slope(scenario.data, "X1", "X2"), abs=0.05)
    assert ks_2samp(rows["X0"], scenario.data["X0"]).pvalue > 0.01


def test_an_imperfect_intervention_changes_how_its_target_follows():
    scenario = chain()
    drawn = simulate.draw_regimes(scenario, intervention_kind="imperfect", random_state=2)
    rows, (new,) = rows_of(drawn, "X1"), next(r for r in drawn.regimes if r.targets == "X1").mechanisms.values()
    assert slope(rows, "X0", "X1") == pytest.approx(new.function.coefficients[0], abs=0.05)
    assert slope(scenario.data, "X0", "X1") == pytest.approx(scenario.mechanisms[1].function.coefficients[0], abs=0.05)
    assert abs(new.function.coefficients[0] - scenario.mechanisms[1].function.coefficients[0]) > 0.1


@pytest.mark.parametrize("kind", ["gauss-anm", "add-func", "pnl-gp", "pnl-mult", "mlp-standard"])
@pytest.mark.parametrize("intervention", ["perfect", "imperfect"])
def test_every_kind_of_data_has_interventions(kind, intervention):
    drawn = simulate.draw_regimes(chain(90, kind), intervention_kind=intervention, random_state=1)
    assert np.isfinite(drawn.data).all(axis=None)
    assert {regime["kind"] for regime in json.loads(json.dumps(drawn.describe()))["regimes"]} == {intervention}


def test_errors():
    with pytest.raises(ParameterError, match="'intervened' leaves a regime 5 rows, and at least 10 are needed"):
        simulate.draw_regimes(chain(30))
    with pytest.raises(ParameterError, match="n_targets"):
        simulate.draw_regimes(chain(300), n_targets=4)
    with pytest.raises(ParameterError, match="intervention_kind"):
        simulate.draw_regimes(chain(300), intervention_kind="soft")
    with pytest.raises(ParameterError, match="'scenario' has no interventions"):
        simulate.draw_regimes(simulate.draw_syntren(20, 100, 1))
    for mechanism in ("syntren", "mixed"):
        with pytest.raises(ParameterError, match=f"'interventions' has no meaning for {mechanism}"):
            files.simulate(mechanism, interventions=files.Interventions(2))
