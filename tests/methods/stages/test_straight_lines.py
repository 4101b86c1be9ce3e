"""Curves and noise that methods for classes of linear models should say something about."""

import numpy as np
import pandas as pd
import pytest

from grandag import GES, PC, ExactSearch
from grandag.methods.stages.linear_gaussian import least_squares, moments
from grandag.methods.stages.straight_lines import Lines, curve_concerns
from grandag.simulate.files import simulate
from grandag.table import as_table

each_method = pytest.mark.parametrize("method", [GES, PC, ExactSearch])


def curved(model):
    return [concern for concern in model.warnings_ if concern.kind == "curved relations"]


def told_by_noise(model):
    return [note for note in model.notes_ if "LiNGAM can tell" in note]


def chain(draw, n=500):
    """a -> b -> c, whose directions nothing but the noise tells."""
    a, b, c = draw(size=(3, n))
    return pd.DataFrame({"a": a, "b": a + b, "c": a + b + c})


@each_method
def test_curves_are_a_reason_to_doubt(method):
    scenario = simulate("gauss-anm", graph="er", n_nodes=8, n_edges=8, n_rows=400, seed=1)
    model = method().fit(scenario.data)
    (concern,) = curved(model)
    edges = [f"{model.names_[i]} -> {model.names_[j]}" for i, j in np.argwhere(model.dag_)]
    assert set(concern.numbers) <= set(edges)
    assert "assumes lines" in concern.message
    assert not told_by_noise(model)


@each_method
def test_straight_lines_with_gaussian_noise_are_none(method, rng):
    model = method().fit(chain(rng.normal))
    assert not curved(model)
    assert not told_by_noise(model)


@each_method
def test_no_edges_no_curves(method, rng):
    model = method(knowledge={"forbidden": [["*", "*"]]}).fit(chain(rng.uniform))
    assert not model.adjacency_.any()
    assert not curved(model)
    assert not told_by_noise(model)


@each_method
def test_noise_that_tells_directions(method, rng):
    model = method().fit(chain(rng.uniform))
    assert not model.is_dag_
    assert not curved(model)
    assert told_by_noise(model) == [
        "The noise of 3 variables is clearly not Gaussian: if relations are straight lines, LiNGAM can tell the "
        "direction of 2 undirected edges."
    ]


def test_noise_that_is_nearly_gaussian_tells_nothing(rng):
    """Significant in so many rows, and no help to LiNGAM."""
    model = GES().fit(chain(lambda size: rng.gamma(20, size=size), n=2000))
    assert not model.is_dag_
    assert not told_by_noise(model)


@pytest.mark.parametrize("method", [GES, PC])
def test_labels_and_counts_have_no_lines(method, rng):
    count = rng.poisson(2, 300)
    model = method(kinds={"count": "count"}).fit(
        pd.DataFrame({"count": count, "x": count**2 + rng.exponential(size=300)})
    )
    assert len(model.edges_) == 1
    assert not curved(model)
    assert not told_by_noise(model)


def test_scores_that_fit_curves_say_nothing(rng):
    cause = rng.normal(size=200)
    model = ExactSearch(local_score="additive").fit(pd.DataFrame({"a": cause, "b": cause**3 + rng.normal(size=200)}))
    assert len(model.edges_) == 1
    assert not curved(model)


def test_rows_that_interventions_made_do_not_count(rng):
    """Where b was set, it follows no line of a."""
    a, b = rng.normal(size=(2, 400))
    b += a
    is_set = np.arange(400) < 100
    b[is_set] = 3 * a[is_set] ** 2
    data = pd.DataFrame({"a": a, "b": b})
    assert curved(GES(outliers="keep").fit(data))
    assert not curved(GES().fit(data, interventions=np.where(is_set, "b", "")))


def test_shares_are_those_of_regressions(rng):
    """Of what a line leaves, by regressing it on the square or the cube beyond the line."""
    a, b = rng.exponential(size=(2, 300))
    data = np.column_stack([a, a + 0.8 * a**2 + b])
    dag = np.array([[False, True], [False, False]])
    lines = Lines.of(as_table(data), dag, least_squares(moments(data), dag).conditionals(dag))
    (concern,) = curve_concerns(lines, "Beware.")
    left, shares = lines.noise[:, 1], []
    for power in (2, 3):
        line = np.column_stack([np.ones(300), lines.rows[:, 0]])
        whole = np.column_stack([line, lines.rows[:, 0] ** power])
        shares.append(1 - (left - whole @ np.linalg.lstsq(whole, left, rcond=None)[0]).var() / left.var())
    assert concern.numbers["X0 -> X1"]["share"] == pytest.approx(max(shares), rel=1e-9)
    assert concern.variables == ("X0", "X1")
    assert concern.message.endswith("Beware.")


@pytest.mark.parametrize(("n", "share", "is_clear"), [(2000, 0.2, True), (2000, 0.05, False), (30, 0.2, False)])
def test_both_size_and_significance_are_needed(n, share, is_clear, rng):
    """Of noise of which a square explains just so much."""
    cause, rest = rng.normal(size=(2, n))
    line = np.column_stack([np.ones(n), cause])
    square = cause**2 - line @ np.linalg.lstsq(line, cause**2, rcond=None)[0]
    rest -= rest.mean() + square * (square @ rest) / (square @ square)
    noise = np.sqrt(share) * square / square.std() + np.sqrt(1 - share) * rest / rest.std()
    columns, dag = np.column_stack([cause, noise]), np.array([[False, True], [False, False]])
    lines = Lines(dag, columns, columns, np.ones((n, 2), dtype=bool), ("a", "b"))
    assert bool(curve_concerns(lines, "Beware.")) == is_clear
