"""Scenarios: the same model again, interventions, seeds, files."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from grandag.parameters import ParameterError
from grandag.simulate import complete, draw_scenario, draw_syntren, erdos_renyi, files, gaussian_process
from grandag.simulate.mechanisms import KINDS

FORK = np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=bool)  # 0 -> 1, 2 -> 3


def draw(kind, random_state=0):
    if kind == "syntren":
        return draw_syntren(30, 200, random_state)
    return draw_scenario(kind, erdos_renyi(8, 14, 1), 300, random_state)


@pytest.mark.parametrize("kind", [*KINDS, "syntren"])
def test_interventions_change_descendants_only(kind):
    scenario = draw(kind)
    graph = scenario.graph
    target = max(graph, key=lambda name: (graph.in_degree(name) > 0) * len(nx.descendants(graph, name)))
    assert nx.descendants(graph, target)
    before = scenario.sample(200, 9)
    after = scenario.sample(200, 9, do={target: float(before[target].quantile(0.9))})
    changed = {name for name in scenario.names if (before[name] != after[name]).any()}
    assert changed <= nx.descendants(graph, target) | {target}
    assert set(graph.successors(target)) <= changed


@pytest.mark.parametrize("kind", [*KINDS, "syntren"])
def test_seeds(kind):
    first, second, other = draw(kind, 4), draw(kind, 4), draw(kind, 5)
    pd.testing.assert_frame_equal(first.data, second.data)
    np.testing.assert_array_equal(first.sample(20, 1), second.sample(20, 1))
    assert not np.array_equal(first.data.to_numpy(), other.data.to_numpy())
    assert not np.array_equal(first.sample(20, 1).to_numpy(), first.sample(20, 2).to_numpy())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exact_rows", [3000, 0])
def test_new_rows_have_the_distribution_of_the_first(kind, exact_rows, monkeypatch):
    """Two-sample tests per variable, on a graph with up to 7 parents."""
    monkeypatch.setattr(gaussian_process, "EXACT_ROWS", exact_rows)
    scenario = draw_scenario(kind, complete(8, 2), 800, 3)
    again = scenario.sample(800, 4)
    pvalues = [stats.ks_2samp(scenario.data[name], again[name]).pvalue for name in scenario.names]
    assert min(pvalues) > 1e-4


def test_do_is_the_adjusted_distribution_and_not_the_conditional_one():
    """0 -> 1, 2 -> 3, all linear: E[x3 | do(x1)] has slope w13; regression on x1 alone is confounded by 0."""
    scenario = draw_scenario("lin", FORK, 4000, 14)
    w01, w02 = (scenario.mechanisms[node].function.coefficients[0] for node in (1, 2))
    w13, w23 = scenario.mechanisms[3].function.coefficients
    low, high = (scenario.sample(4000, 1, do={"X1": value})["X3"].mean() for value in (0.0, 1.0))
    assert high - low == pytest.approx(w13, abs=1e-9)
    variance = scenario.mechanisms[1].noise.scale ** 2
    confounded = w13 + w23 * w01 * w02 / 3 / (w01**2 / 3 + variance)
    slope = np.polyfit(scenario.data["X1"], scenario.data["X3"], 1)[0]
    assert slope == pytest.approx(confounded, abs=0.05)
    assert abs(confounded - w13) > 0.1


def test_several_interventions_at_once():
    scenario = draw("gauss-anm")
    rows = scenario.sample(10, 0, do={"X0": 1.0, "X5": -2})
    assert (rows["X0"] == 1).all()
    assert (rows["X5"] == -2).all()


def test_way_of_drawing_is_stated(monkeypatch):
    assert draw("gauss-anm").configuration["functions_drawn_by"] == "Cholesky"
    assert draw("lin").configuration["functions_drawn_by"] is None
    monkeypatch.setattr(gaussian_process, "EXACT_ROWS", 100)
    assert draw("pnl-gp").configuration["functions_drawn_by"] == "random Fourier features"


def test_names_and_graph():
    scenario = draw_scenario("lin", FORK, 20, 0, names=["a", "b", "c", "d"])
    assert set(scenario.graph.edges) == {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")}
    assert scenario.names == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_scenario("lin", FORK, 0), "'n_rows' must be a whole number, at least 1; got 0"),
        (lambda: draw_scenario("lin", FORK[:2]), r"'adjacency' must be a square matrix; got shape \(2, 4\)"),
        (lambda: draw_scenario("lin", FORK | FORK.T), "'adjacency' must be acyclic"),
        (lambda: draw_scenario("lin", FORK, names=["a", "a", "b", "c"]), "'names' must be 4 different names"),
        (lambda: draw("lin").sample(5, do={"Y": 1.0}), "'do' names the variable 'Y'; there are X0, X1"),
        (lambda: draw("lin").sample(5, do={"X0": float("nan")}), "'do' must set finite numbers; 'X0' has nan"),
    ],
)
def test_wrong_values(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_files(tmp_path, kind):
    scenario = files.simulate("pnl-gp", graph="sf", n_nodes=6, n_edges=12, n_rows=50, seed=3)
    known = files.facts(scenario, 3)
    written = files.write_scenario(scenario, tmp_path / "new", known, kind)
    assert {path.name for path in written} == {f"data.{kind}", "truth.json", "truth.csv", "simulation.json"}
    readers = {"csv": pd.read_csv, "parquet": pd.read_parquet, "npy": lambda path: pd.DataFrame(np.load(path))}
    np.testing.assert_allclose(readers[kind](tmp_path / "new" / f"data.{kind}"), scenario.data, rtol=1e-12)
    matrix = pd.read_csv(tmp_path / "new" / "truth.csv", index_col=0)
    assert list(matrix.index) == list(matrix.columns) == list(scenario.names)
    np.testing.assert_array_equal(matrix, scenario.adjacency.astype(int))
    graph = json.loads((tmp_path / "new" / "truth.json").read_text())
    assert {(edge["source"], edge["target"]) for edge in graph["edges"]} == set(scenario.graph.edges)
    configuration = json.loads((tmp_path / "new" / "simulation.json").read_text())
    assert configuration["mechanism"] == "pnl-gp"
    assert configuration["seed"] == 3
    assert configuration["varsortability"] == 0.5
    assert set(configuration["mechanisms"]) == set(scenario.names)
