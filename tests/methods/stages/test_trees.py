import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from grandag.engine.random import new_state
from grandag.methods.stages.trees import LANES, grow


def grown(values: np.ndarray, target: int, n_trees: int, seed: int = 0) -> np.ndarray:
    """Importance by tree and input."""
    n, d = values.shape
    inputs = np.zeros((n, -(-d // LANES) * LANES), dtype=np.float32)
    inputs[:, :d] = values
    importance = np.zeros((n_trees, d))
    response = np.array(values[:, target], dtype=np.float64)
    grow(inputs, response, target, new_state(np.random.default_rng(seed)), importance)
    return importance


def test_two_rows_are_separated_by_all_inputs_alike():
    values = np.array([[1.0, 0.0, 5.0, 3.0], [7.0, 1.0, 4.0, 3.5]])
    np.testing.assert_allclose(grown(values, 0, 3), [[0, 6, 6, 6]] * 3)


def test_three_rows_by_hand():
    """Response (0, 3, 6). Cutting off 0 or 6 gains 13.5, cutting off 3 nothing; the pair left gains 4.5 for all alike.

    The first input, (0, 1, 10), always cuts off 0 or 6; the second, (0, 10, 1), cuts off 0 with probability 0.1 and 3
    otherwise. So one time in ten they share 13.5, else it goes to the first.
    """
    values = np.array([[0.0, 0.0, 0.0], [3.0, 1.0, 10.0], [6.0, 10.0, 1.0]])
    importance = grown(values, 0, 4000)
    shared, alone = [13.5 / 2 + 2.25, 13.5 / 2 + 2.25], [13.5 + 2.25, 2.25]
    is_shared = np.isclose(importance[:, 1:], shared).all(axis=1)
    assert (is_shared | np.isclose(importance[:, 1:], alone).all(axis=1)).all()
    assert abs(is_shared.mean() - 0.1) < 4 * np.sqrt(0.1 * 0.9 / 4000)


def test_trees_grow_until_everything_is_explained(rng):
    values = rng.normal(size=(300, 5))
    total = np.sum((values[:, 2] - values[:, 2].mean()) ** 2)
    importance = grown(values, 2, 20)
    np.testing.assert_allclose(importance.sum(axis=1), total, rtol=1e-5)
    assert (importance[:, 2] == 0).all()
    assert (np.delete(importance, 2, axis=1) > 0).all()


def test_rows_that_no_input_separates(rng):
    values = np.column_stack([rng.normal(size=40), np.repeat([0.0, 1.0], 20), np.ones(40)])
    values[20:, 0] += 2
    halves = values[:20, 0], values[20:, 0]
    between = 10 * (halves[0].mean() - halves[1].mean()) ** 2
    np.testing.assert_allclose(grown(values, 0, 5), [[0, between, 0]] * 5, rtol=1e-5)


def test_interaction_without_main_effects():
    """y = a xor b: the first split gains nothing, the two below it everything, 20 * 0.25 in all."""
    a, b = np.repeat([0.0, 0.0, 1.0, 1.0], 5), np.repeat([0.0, 1.0, 0.0, 1.0], 5)
    importance = grown(np.column_stack([a != b, a, b]).astype(float), 0, 10)
    np.testing.assert_allclose(importance.sum(axis=1), 5)
    assert set(importance[:, 1].round(9)) == {0.0, 5.0}


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_law_is_that_of_scikit_learn(rng, kind):
    """Means over trees differ by their standard errors only, for relevant and irrelevant inputs."""
    values = rng.normal(size=(150, 6))
    values[:, 0] = np.sin(2 * values[:, 1]) + 0.5 * values[:, 2] ** 2 + 0.2 * values[:, 0]
    if kind == "discrete":
        values[:, 1:] = np.round(values[:, 1:])
    ours = grown(values, 0, 1000)
    ours /= ours.sum(axis=1, keepdims=True)
    inputs = values.astype(np.float32)
    inputs[:, 0] = 0
    forest = ExtraTreesRegressor(1000, random_state=0).fit(inputs, values[:, 0])
    theirs = np.array([tree.feature_importances_ for tree in forest.estimators_])
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / 1000)
    difference = (ours.mean(axis=0) - theirs.mean(axis=0))[1:] / error[1:]
    assert np.abs(difference).max() < 3.5
    assert (ours.std(axis=0) <= 1.05 * theirs.std(axis=0)).all()


def test_seed_and_streams(rng):
    values = rng.normal(size=(50, 4))
    np.testing.assert_array_equal(grown(values, 1, 4, seed=5), grown(values, 1, 4, seed=5))
    trees = grown(values, 1, 4, seed=5)
    assert len({tuple(tree) for tree in trees}) == 4
    assert not np.array_equal(trees, grown(values, 1, 4, seed=6))
