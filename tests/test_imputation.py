"""Gaps: filled in with observed values that keep what columns have to do with each other, and counted over several."""

import numpy as np
import pandas as pd
import pytest

from grandag import CAM, GES, PC, confidence
from grandag.imputation import fill_in
from grandag.table import Table, TableError, as_table


def curve(n=600, seed=0):
    """y is a parabola of x, and a label says on which side x is."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": x**2 + 0.1 * rng.normal(size=n), "side": np.where(x > 0, "right", "left")})


def with_gaps(frame, share, seed=1):
    gaps = np.random.default_rng(seed).random(frame.shape) < share
    return frame.mask(gaps), gaps


def test_only_gaps_are_filled_and_with_values_of_the_same_column():
    frame, gaps = with_gaps(curve(), 0.2)
    table = as_table(frame, missing="impute")
    np.testing.assert_array_equal(table.gaps, gaps)
    assert table.kinds == ("continuous", "continuous", "binary")
    for j, name in enumerate(frame):
        observed = ~gaps[:, j]
        codes = frame[name].map({"left": 0.0, "right": 1.0}) if name == "side" else frame[name]
        np.testing.assert_array_equal(table.values[observed, j], codes[observed])
        assert set(table.values[gaps[:, j], j]) <= set(codes[observed])


def test_what_is_filled_in_follows_the_curve_and_the_label():
    """A line, or draws from the column alone, would typically be off by half a unit or more, the noise by 0.07."""
    complete = curve()
    frame, gaps = with_gaps(complete, 0.2)
    values = as_table(frame, missing="impute").values
    x_is_there = gaps[:, 1] & ~gaps[:, 0]
    error = np.abs(values[x_is_there, 1] - values[x_is_there, 0] ** 2)
    assert np.median(error) < 0.2
    label = gaps[:, 2] & ~gaps[:, 0]
    assert np.mean(values[label, 2] == (complete["x"][label] > 0)) > 0.9


def test_draws_have_the_noise_of_the_observed():
    """y = x + noise of variance 1: means of several fills would have less variance than y, draws have the same."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=4000)
    values = np.column_stack([x, x + rng.normal(size=4000)])
    gaps = np.zeros(values.shape, dtype=bool)
    gaps[:2000, 1] = True
    filled = fill_in(np.where(gaps, np.nan, values), gaps, [False, False], np.random.default_rng(0))
    residuals = (filled - values[:, :1])[:2000, 1]
    assert residuals.var() == pytest.approx(1.0, abs=0.15)
    assert np.corrcoef(residuals, x[:2000])[0, 1] == pytest.approx(0.0, abs=0.1)


def test_seeds():
    table = as_table(with_gaps(curve(), 0.2)[0], missing="impute")
    np.testing.assert_array_equal(table.completed(3).values, table.completed(3).values)
    assert (table.completed(3).values != table.completed(4).values).any()
    assert table.completed(3).gaps is None
    rows = table.take(np.arange(50))
    np.testing.assert_array_equal(rows.gaps, table.gaps[:50])
    np.testing.assert_array_equal(table.select(np.array([1, 2])).gaps, table.gaps[:, [1, 2]])


def test_a_complete_table_is_left_alone():
    table = as_table(curve(), missing="impute")
    assert table.gaps is None
    assert table.completed(1) is table
    assert isinstance(table, Table)


def numbers(n=400, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = np.sin(2 * a) + 0.2 * rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "c": b**2 + 0.2 * rng.normal(size=n), "d": rng.normal(size=n)})


@pytest.mark.parametrize("learner", [CAM, PC, GES])
def test_fit_counts_the_graphs_of_several_completed_tables(learner):
    frame, gaps = with_gaps(numbers(), 0.1)
    model = learner(missing="impute", imputations=4).fit(frame)
    table = as_table(frame, missing="impute")
    graphs = [learner().fit(table.completed(seed)).adjacency_ for seed in range(4)]
    directed = [graph & ~graph.T for graph in graphs]
    np.testing.assert_array_equal(model.frequency_, np.mean(directed, axis=0))
    assert any((model.adjacency_ == graph).all() for graph in graphs)
    distance = [(model.adjacency_ != graph).sum() for graph in graphs]
    assert sum(distance) == min(sum((one != other).sum() for other in graphs) for one in graphs)
    assert ((model.frequency_ > 0.5) >= model.consensus_).all()
    shares = model.notes_[0]
    for j, name in enumerate(frame):
        assert f"{name!r} {gaps[:, j].mean():.1%}" in shares
    assert any("tables with gaps filled in anew" in note for note in model.notes_)


def test_refits_fill_in_anew():
    frame, _ = with_gaps(numbers(), 0.3)
    result = confidence(CAM(missing="impute"), frame, 4, "restarts", random_state=1, n_jobs=1)
    assert (result.strengths.std(axis=0) > 0).any()  # CAM has no random numbers of its own


def test_a_model_is_asked_about_complete_rows():
    frame, gaps = with_gaps(numbers(), 0.1)
    model = CAM(missing="impute", imputations=2).fit(frame)
    assert len(model.log_prob(frame)) == (~gaps.any(axis=1)).sum()


def test_errors_name_both_ways():
    frame, _ = with_gaps(numbers(), 0.1)
    with pytest.raises(
        TableError, match=r"missing='drop' \(--missing drop\), or .* missing='impute' \(fit --missing impute"
    ):
        CAM().fit(frame)
    frame["d"] = np.nan
    frame.loc[:4, "d"] = 1.0
    with pytest.raises(TableError, match=r"'d' has only 5 values that are not missing"):
        CAM(missing="impute").fit(frame)
