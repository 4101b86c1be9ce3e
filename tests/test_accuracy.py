"""The graphs that are found, on the authors' released data sets where they are present, and on simulated data."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from grandag import GraNDAG
from grandag.metrics import shd, sid

pytestmark = pytest.mark.filterwarnings("ignore:Reading:UserWarning")

BENCHMARK = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "accuracy.py"))


def test_dense_graph_of_the_authors(authors):
    """10 nodes, 40 edges: training gets nearly all directions right, and the search by evidence nearly all edges."""
    folder = authors / "data_p10_e40_n1000_GP"
    rows, truth = np.load(folder / "data11.npy"), np.load(folder / "DAG11.npy").astype(bool)
    model = GraNDAG(retrain=False, random_state=0).fit(rows)
    before = model.thresholded_
    assert model.converged_
    assert (truth & before).sum() >= 0.9 * truth.sum()
    assert sid(truth, before) <= 15
    assert shd(truth, model.adjacency_) <= 3
    assert sid(truth, model.adjacency_) <= 8


@pytest.mark.slow
@pytest.mark.parametrize("preset", BENCHMARK["PRESETS"])
@pytest.mark.parametrize("setting", BENCHMARK["SETTINGS"].values(), ids=BENCHMARK["SETTINGS"])
def test_means_over_data_sets_and_seeds(authors, setting, preset):
    results = BENCHMARK["fit_all"](authors, setting, preset, 3, n_jobs=1)
    mean, limits = BENCHMARK["Measured"](*results.mean(axis=(0, 1))), setting.limits(preset)
    assert mean.converged == 1
    for name, limit in limits._asdict().items():
        assert limit is None or getattr(mean, name) <= limit, name


def test_simulated_order_is_found():
    """Five variables, a dense nonlinear model: no direction is wrong, and just the true edges are left."""
    rng = np.random.default_rng(7)
    n = 1000
    a = rng.normal(size=n)
    b = np.sin(2 * a) + 0.2 * rng.normal(size=n)
    c = a * b + 0.2 * rng.normal(size=n)
    d = np.cos(2 * c) - b**2 + 0.2 * rng.normal(size=n)
    e = np.sin(a + d) + 0.2 * rng.normal(size=n)
    columns, truth = np.column_stack([a, b, c, d, e]), np.zeros((5, 5), dtype=bool)
    for source, target in ("ab", "ac", "bc", "cd", "bd", "ae", "de"):
        truth["abcde".index(source), "abcde".index(target)] = True
    order = rng.permutation(5)
    model, fast = (
        GraNDAG.preset(preset, random_state=0, retrain=False).fit(columns[:, order]) for preset in ("default", "fast")
    )
    truth = truth[np.ix_(order, order)]
    assert (truth <= fast.thresholded_).all()
    assert sid(truth, fast.thresholded_) == 0
    assert not (fast.adjacency_ & ~truth).any()
    assert (truth & ~fast.adjacency_).sum() <= 2  # c depends on a and b by their product, which no additive test sees
    np.testing.assert_array_equal(model.adjacency_, truth)
