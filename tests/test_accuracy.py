"""The graphs that are found, on the authors' released data sets where they are present, and on simulated data."""

import runpy
from pathlib import Path

import gadjid
import numpy as np
import pytest

from grandag import GraNDAG

pytestmark = pytest.mark.filterwarnings("ignore:Reading:UserWarning")

BENCHMARK = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "accuracy.py"))
SETTINGS = [
    (folder, preset, limit)
    for folder, *limits in BENCHMARK["SETTINGS"].values()
    for preset, limit in zip(("paper", "default"), limits, strict=True)
]


def sid(truth, estimate):
    return gadjid.sid(truth.astype(np.int8), estimate.astype(np.int8), edge_direction="from row to column")[1]


def fit_authors(folder, number, **parameters):
    rows, truth = np.load(folder / f"data{number}.npy"), np.load(folder / f"DAG{number}.npy").astype(bool)
    return GraNDAG.preset(**parameters, retrain=False).fit(rows), truth


def test_dense_graph_of_the_authors(authors):
    """10 nodes, 40 edges: nearly all directions are right with the default."""
    model, truth = fit_authors(authors / "data_p10_e40_n1000_GP", 11, name="default", random_state=0)
    assert model.converged_
    assert (truth & model.adjacency_).sum() >= 0.9 * truth.sum()
    assert sid(truth, model.adjacency_) <= 15


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "preset", "limit"), SETTINGS)
def test_mean_sid_over_data_sets_and_seeds(authors, folder, preset, limit):
    distances = []
    for number in range(11, 21):
        for seed in range(5):
            model, truth = fit_authors(authors / folder, number, name=preset, random_state=seed, n_jobs=1)
            assert model.converged_
            distances.append(sid(truth, model.adjacency_))
    assert np.mean(distances) <= limit


def test_simulated_order_is_found():
    """Five variables, a dense nonlinear model: no direction is wrong."""
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
    model = GraNDAG(random_state=0, retrain=False).fit(columns[:, order])
    truth = truth[np.ix_(order, order)]
    assert (truth <= model.adjacency_).all()
    assert sid(truth, model.adjacency_) == 0
