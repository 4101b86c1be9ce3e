"""Tables that nobody wants and everybody has."""

import numpy as np
import pytest

from grandag.evidence import EvidenceConfig, evaluate, refine
from grandag.evidence.transform import normal_scores, standardise


def empty(d: int) -> np.ndarray:
    return np.zeros((d, d), dtype=bool)


def wave(n: int, seed: int = 0) -> np.ndarray:
    """Two columns, 0 -> 1."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=n)
    return np.column_stack([cause, np.sin(2 * cause) + 0.2 * rng.normal(size=n)])


def test_two_rows_have_no_edges():
    assert not refine(np.array([[0.0, 1.0, 2.0], [1.0, 3.0, 2.0]]), empty(3)).adjacency.any()


def test_constant_columns_have_no_edges_and_are_named():
    values = np.column_stack([wave(100), np.full(100, 7.0)])
    result = refine(values, empty(3))
    assert np.argwhere(result.adjacency).tolist() == [[0, 1]]
    assert result.notes == ("Constant columns have no edges: 'X2'.",)


def test_duplicated_columns():
    values = wave(100)
    result = refine(np.column_stack([values, values[:, 0]]), empty(3))
    assert np.isfinite(result.score)
    assert result.adjacency[0, 2] != result.adjacency[2, 0]


def test_few_valued_columns():
    rng = np.random.default_rng(0)
    switch = rng.integers(2, size=200).astype(float)
    values = np.column_stack([switch, switch + 0.3 * rng.normal(size=200)])
    result = refine(values, empty(2))
    assert result.adjacency.sum() == 1
    assert np.isfinite(result.edge_evidence).all()


def test_more_columns_than_rows():
    values = np.random.default_rng(0).normal(size=(10, 40))
    assert np.isfinite(refine(values, empty(40)).score)


@pytest.mark.slow
def test_a_hundred_columns_with_ten_rows():
    values = np.random.default_rng(0).normal(size=(10, 100))
    assert np.isfinite(refine(values, empty(100)).score)


def test_more_rows_than_a_block_are_cut_and_said_so():
    config = EvidenceConfig(max_rows_at_once=100, block_rows=100, n_training_blocks=1)
    result = refine(wave(350), empty(2), config=config)
    assert np.argwhere(result.adjacency).tolist() == [[0, 1]]
    assert result.notes == ("The evidence is the sum over 4 blocks of rows with common hyper-parameters.",)


def test_without_parents_all_rows_count_however_many_blocks_there_are():
    """Standardised columns: n / 2 (log 2 pi + 1) nats for each."""
    config = EvidenceConfig(max_rows_at_once=100, block_rows=100, n_training_blocks=1)
    values = np.random.default_rng(0).normal(size=(350, 3))
    assert evaluate(values, empty(3), config=config).evidence == pytest.approx(-525 * (np.log(2 * np.pi) + 1), abs=0.01)


def test_weak_edges_survive_many_blocks():
    """Ten blocks of rows: an edge that explains a tenth of the variance is worth some fifty nats in all."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=1000)
    values = np.column_stack([cause, np.tanh(cause) + 2 * rng.normal(size=1000)])
    config = EvidenceConfig(max_rows_at_once=100, block_rows=100)
    kept = refine(values, np.array([[False, True], [False, False]]), config=config)
    assert kept.adjacency.sum() == 1


def test_heavy_tails_become_normal_scores_and_nothing_else_does():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=300), np.exp(3 * rng.normal(size=300))])
    columns, is_heavy = standardise(values, 10.0)
    assert is_heavy.tolist() == [False, True]
    assert np.abs(columns[:, 1]).max() < 3.5
    assert (np.argsort(columns[:, 1]) == np.argsort(values[:, 1])).all()
    assert (
        evaluate(values, empty(2))
        .notes[0]
        .startswith("Columns with heavy tails are replaced by their normal scores: 'X1'")
    )


def test_normal_scores_give_ties_the_same_value():
    assert normal_scores(np.array([3.0, 1.0, 3.0, 2.0])).round(2).tolist() == [0.67, -1.15, 0.67, -0.32]


def test_huge_and_tiny_units_survive():
    values = wave(100) * [1e300, 1e-300]
    assert np.argwhere(refine(values, empty(2)).adjacency).tolist() == [[0, 1]]


def test_no_parents_are_a_plain_gaussian():
    values = wave(100)
    assert evaluate(values, empty(2)).evidence == pytest.approx(-100 * (np.log(2 * np.pi) + 1), rel=1e-6)
