import numpy as np

from grandag.methods.grandag.neighbours import NeighboursConfig, neighbours


def test_keeps_related_and_drops_unrelated(rng):
    n = 400
    noise = rng.normal(size=(n, 8))
    values = noise.copy()
    values[:, 1] = np.sin(2 * values[:, 0]) + 0.1 * noise[:, 1]
    steps = []
    mask = neighbours(values, NeighboursConfig(n_trees=50), np.random.default_rng(0), listener=steps.append)
    assert mask[0, 1]
    assert mask[1, 0]
    assert mask[:, 1].sum() == 1
    assert not np.diagonal(mask).any()
    assert [step.step for step in steps] == list(range(1, 9))


def test_rule_and_seed(rng):
    values = rng.normal(size=(100, 6))
    config = NeighboursConfig(n_trees=20)
    first, second = (neighbours(values, config, np.random.default_rng(3), n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(first, second)
    everything = neighbours(values, NeighboursConfig(20, threshold=0), np.random.default_rng(3))
    np.testing.assert_array_equal(everything, ~np.eye(6, dtype=bool))
    nothing = neighbours(values, NeighboursConfig(20, threshold=100), np.random.default_rng(3))
    assert not nothing.any()
