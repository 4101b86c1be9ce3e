"""Mixed scenarios: parts of each kind, their distributions, labels, interventions, files."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from grandag.parameters import ParameterError
from grandag.simulate import draw_mixed, erdos_renyi, files, scale_free

CHAIN = np.array([[0, 1], [0, 0]], dtype=bool)
ALL_KINDS = ("binary", "categorical", "continuous", "count", "heavy-tailed")
ONLY = {
    "continuous": {},
    "heavy-tailed": {"heavy_tailed": 1.0},
    "binary": {"binary": 1.0},
    "categorical": {"categorical": 1.0},
    "count": {"count": 1.0},
}
NONE = {"binary": 0.0, "categorical": 0.0, "count": 0.0, "heavy_tailed": 0.0}


def test_parts_are_those_asked_for():
    shares = {"binary": 0.1, "categorical": 0.3, "count": 0.25, "heavy_tailed": 0.05}
    scenario = draw_mixed(scale_free(20, 1, 1), 50, 1, **shares)
    assert [scenario.kinds.count(kind) for kind in ALL_KINDS] == [2, 6, 6, 5, 1]
    sizes = [len(labels) for kind, labels in zip(scenario.kinds, scenario.labels, strict=True) if kind == "categorical"]
    assert min(sizes) >= 3
    assert max(sizes) <= 6
    for name, kind, labels in zip(scenario.names, scenario.kinds, scenario.labels, strict=True):
        column = scenario.data[name]
        assert set(column) <= set(labels) if labels else pd.api.types.is_numeric_dtype(column)
        if kind == "count":
            assert column.dtype == "int64"
            assert column.min() >= 0


@pytest.mark.parametrize("interactions", [False, True])
def test_predictors_depend_on_every_parent_in_the_table(interactions):
    """The variance of each predictor over the rows is amplitude^2: no parent's function is flat."""
    scenario = draw_mixed(erdos_renyi(10, 20, 2), 800, 3, interactions=interactions)
    codes = coded(scenario)
    for node, mechanism in enumerate(scenario.mechanisms):
        parents = codes[:, scenario.adjacency[:, node]]
        eta = mechanism.predictors(parents)
        for k in range(parents.shape[1]):
            shuffled = parents.copy()
            shuffled[:, k] = np.random.default_rng(0).permutation(shuffled[:, k])
            moved = np.abs(mechanism.predictors(shuffled) - eta).max(axis=0)
            assert (moved > 0.1 * mechanism.amplitude).all()
        if parents.shape[1] == 1:
            np.testing.assert_allclose(eta.std(axis=0), mechanism.amplitude, rtol=1e-6)


def coded(scenario):
    columns = [
        scenario.data[name].map({label: code for code, label in enumerate(labels)}) if labels else scenario.data[name]
        for name, labels in zip(scenario.names, scenario.labels, strict=True)
    ]
    return np.column_stack(columns).astype(float)


@pytest.mark.parametrize("kind", ONLY)
def test_distribution_given_parents(kind):
    """Means, variances and quantiles of 40,000 draws at one row of the parents, against scipy's distributions."""
    scenario = draw_mixed(CHAIN, 200, 5, **{**NONE, **ONLY[kind]})
    mechanism = scenario.mechanisms[1]
    parents = np.tile(coded(scenario)[:1, :1], (40_000, 1))
    eta = mechanism.predictors(parents)[0]
    drawn = mechanism.sample(parents, np.random.default_rng(1))
    if kind in ("binary", "categorical"):
        odds = np.exp([0.0, eta[0]]) if kind == "binary" else np.exp(eta)
        expected = odds / odds.sum()
        observed = np.bincount(drawn.astype(int), minlength=len(expected)) / len(drawn)
        np.testing.assert_allclose(observed, expected, atol=4 * 0.5 / np.sqrt(len(drawn)))
    elif kind == "count":
        mean = np.exp(eta[0])
        assert drawn.mean() == pytest.approx(mean, rel=0.03)
        assert drawn.var() == pytest.approx(mean + mean**2 / mechanism.spread, rel=0.06)
    else:
        law = stats.norm if kind == "continuous" else stats.t(3)
        assert stats.kstest((drawn - eta[0]) / mechanism.spread, law.cdf).pvalue > 1e-3


def test_interventions_change_descendants_only_and_share_the_noise():
    scenario = draw_mixed(erdos_renyi(10, 18, 1), 300, 4)
    graph = scenario.graph
    before = scenario.sample(300, 9)
    for name, kind, labels in zip(scenario.names, scenario.kinds, scenario.labels, strict=True):
        value = labels[-1] if labels else 3.0
        after = scenario.sample(300, 9, do={name: value})
        assert (after[name] == value).all(), kind
        changed = {other for other in scenario.names if (before[other] != after[other]).any()}
        assert changed <= nx.descendants(graph, name) | {name}


def test_intervention_is_the_truth_about_the_mean():
    """a -> b: the mean of b under do(a = label) is its mean in the rows with that label, since a is a root."""
    drawn = (draw_mixed(CHAIN, 100, seed, **{**NONE, "binary": 0.5}) for seed in range(20))
    scenario = next(scenario for scenario in drawn if scenario.kinds[0] == "binary")
    observed = scenario.sample(20_000, 1)
    means = observed.groupby("X0")["X1"].mean()
    for label in ("no", "yes"):
        assert scenario.sample(20_000, 2, do={"X0": label})["X1"].mean() == pytest.approx(means[label], abs=0.05)
    assert abs(means["yes"] - means["no"]) > 0.5


def test_seeds_and_new_rows():
    first, second, other = (draw_mixed(erdos_renyi(6, 9, 1), 900, seed) for seed in (4, 4, 5))
    pd.testing.assert_frame_equal(first.data, second.data)
    assert not first.data.equals(other.data)
    again = first.sample(900, 1)
    pd.testing.assert_frame_equal(again, second.sample(900, 1))
    for name, labels in zip(first.names, first.labels, strict=True):
        if labels:
            counts = np.array([[(frame[name] == label).sum() for label in labels] for frame in (first.data, again)])
            assert stats.chi2_contingency(counts[:, counts.any(axis=0)]).pvalue > 1e-4
        else:
            assert stats.ks_2samp(first.data[name], again[name]).pvalue > 1e-4


def test_files(tmp_path):
    scenario = files.simulate("mixed", n_nodes=5, n_rows=30, seed=1)
    known = files.facts(scenario, 1)
    files.write_scenario(scenario, tmp_path / "out", known)
    written = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert written["kinds"] == dict(zip(scenario.names, scenario.kinds, strict=True))
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "data.csv"), scenario.data, check_dtype=False)
    assert "1 binary, 1 categorical, 1 continuous, 1 count, 1 heavy-tailed" in files.headline(known)
    with pytest.raises(ParameterError, match=r"choose csv or parquet"):
        files.write_scenario(scenario, tmp_path / "other", known, "npy")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_mixed(CHAIN, 10, 0, binary=0.7, count=0.7), r"binary.*add up to 1\.8"),
        (lambda: files.simulate("mixed", distributions="text"), r"distributions.*no meaning for mixed"),
        (lambda: files.simulate("lin", binary=0.5), r"binary.*has a meaning for mixed only"),
        (lambda: label_scenario().sample(1, 0, do={"X0": "perhaps"}), r"do.*labels no, yes; got 'perhaps'"),
        (lambda: label_scenario().sample(1, 0, do={"X0": 1.0}), r"do.*labels no, yes"),
        (lambda: draw_mixed(CHAIN, 10, 0, **NONE).sample(1, 0, do={"X0": "yes"}), r"do.*finite numbers"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def label_scenario():
    return draw_mixed(CHAIN, 10, 0, **{**NONE, "binary": 1.0})
