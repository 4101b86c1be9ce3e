"""Neither units nor the order of columns matter where the documentation says so."""

import functools

import numpy as np
import pytest

import grandag
from grandag.table import TableError
from tests.methods.linear import linear_data

FREE = {
    "cam": lambda: grandag.CAM(),
    "ges": lambda: grandag.GES(),
    "gsf": lambda: grandag.GSF(),
    "exact": lambda: grandag.ExactSearch(),
    "pc": lambda: grandag.PC(),
    "notears": lambda: grandag.NOTEARS(standardise=True),
    "lingam": lambda: grandag.LiNGAM(),
    "ica-lingam": lambda: grandag.LiNGAM(algorithm="ica"),
    "resit": lambda: grandag.RESIT(random_state=0),
    "dag-gnn": lambda: grandag.DAGGNN(n_epochs=3, standardise=True, random_state=0),
    "random": lambda: grandag.RandomGraph(random_state=0, n_edges=3),
    "grandag": lambda: grandag.GraNDAG(max_iterations=200, n_units=4, random_state=0),
}
"""Methods whose graph is the same in any unit."""


def table(seed: int, d: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(150, d))
    for j in range(1, d):
        for i in np.flatnonzero(rng.random(j) < 0.5):
            values[:, j] += rng.uniform(0.5, 1.5) * values[:, i] if seed % 2 else np.sin(2 * values[:, i])
    return values


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", FREE)
def test_any_unit_gives_the_same_graph(method):
    for seed in range(2):
        values = table(seed)
        expected = FREE[method]().fit(values)
        separate = np.random.default_rng(seed).uniform(-100, 100, values.shape[1])
        for scale in (1e-100, 1e-5, 1e100, 2.0**-20, 10.0**separate, 2.0 ** np.round(3 * separate)):
            fitted = FREE[method]().fit(values * scale)
            np.testing.assert_array_equal(fitted.adjacency_, expected.adjacency_)
            log_volume = np.log(np.broadcast_to(scale, values.shape[1])).sum()
            np.testing.assert_allclose(fitted.score(values * scale) + log_volume, expected.score(values), rtol=1e-4)


def test_units_out_of_range_are_refused_by_name():
    values = table(0)
    for scale in (1e-160, 1e160, 1e-300, 1e300):
        with pytest.raises(TableError, match=r"Column 'X2' has .* choose another unit"):
            grandag.PC().fit(values * [1, 1, scale, 1])


def test_what_lapack_did_not_end_with_is_refused():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(15, 4)) * 10.0 ** rng.uniform(-300, 300, 4)
    with pytest.raises(TableError, match="choose another unit"):
        grandag.RandomGraph(random_state=0, n_edges=6).fit(values)


def test_pc_does_not_depend_on_the_order_of_columns():
    """Small and noisy tables, in which tests contradict each other and ties are left to decide."""
    n_contradictory = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values, *_ = linear_data(rng, n=60, n_edges=14)
        order = rng.permutation(8)
        first, second = grandag.PC(alpha=0.05).fit(values), grandag.PC(alpha=0.05).fit(values[:, order])
        np.testing.assert_array_equal(first.adjacency_[np.ix_(order, order)], second.adjacency_)
        n_contradictory += any("contradict" in note for note in first.notes_)
    assert n_contradictory > 10


@pytest.mark.parametrize("learner", [grandag.NOTEARS, functools.partial(grandag.DAGGNN, n_epochs=2, random_state=0)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_methods_that_depend_on_units_say_so(learner):
    """Once, as a note: it is what the published programs do."""
    values = table(0)
    assert sum("depends on the units" in note for note in learner().fit(values).notes_) == 1
    assert not any("units" in note for note in learner(standardise=True).fit(values).notes_)


def test_notears_depends_on_units():
    """Or the note were wrong."""
    values = table(0)
    graphs = [grandag.NOTEARS().fit(values * scale).adjacency_ for scale in (1.0, 0.01)]
    assert not np.array_equal(*graphs)
