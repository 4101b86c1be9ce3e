import threading

import numpy as np
import pytest

from grandag.methods.stages import neighbours as module
from grandag.methods.stages.neighbours import (
    IMPLEMENTATIONS,
    Groups,
    NeighboursConfig,
    neighbours,
    select_neighbours,
)
from grandag.methods.stages.screen import dependence


@pytest.fixture
def related(rng):
    """X0 -> X1 among eight variables."""
    values = rng.normal(size=(400, 8))
    values[:, 1] = np.sin(2 * values[:, 0]) + 0.1 * values[:, 1]
    return values


@pytest.mark.parametrize("trees", IMPLEMENTATIONS)
def test_keeps_related_and_drops_unrelated(related, trees):
    steps = []
    mask = neighbours(
        related, NeighboursConfig(n_trees=50), np.random.default_rng(0), trees=trees, listener=steps.append
    )
    assert mask[0, 1]
    assert mask[1, 0]
    assert mask[:, 1].sum() == 1
    assert not np.diagonal(mask).any()
    assert [step.step for step in steps] == list(range(1, 9))
    assert {step.n_steps for step in steps} == {8}
    assert steps[-1].n_edges == mask.sum()


@pytest.mark.parametrize("trees", IMPLEMENTATIONS)
def test_rule_and_seed(rng, trees):
    values = rng.normal(size=(100, 6))

    def select(**settings):
        return neighbours(values, NeighboursConfig(n_trees=20, **settings), np.random.default_rng(3), trees=trees)

    first, second = (select(n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(select(neighbour_threshold=0), ~np.eye(6, dtype=bool))
    assert not select(neighbour_threshold=100).any()


def test_threads_do_not_matter_with_adaptive_forests(related):
    masks = [neighbours(related, NeighboursConfig(n_jobs=n), np.random.default_rng(1)) for n in (1, 2, 3)]
    np.testing.assert_array_equal(masks[0], masks[1])
    np.testing.assert_array_equal(masks[0], masks[2])


def test_units_do_not_matter(related):
    powers_of_two = 2.0 ** np.arange(-40, 40, 10)
    masks = [
        neighbours(x, NeighboursConfig(n_trees=60), np.random.default_rng(1))
        for x in (related, related * powers_of_two)
    ]
    np.testing.assert_array_equal(*masks)


def test_both_implementations_select_the_same(rng):
    """A chain of 12 variables with strong effects: all decisions that are clear agree."""
    values = rng.normal(size=(300, 12))
    for j in range(1, 12):
        values[:, j] = np.sin(2 * values[:, j - 1]) + 0.2 * values[:, j]
    shares = np.zeros((12, 12))
    everything = [np.arange(12)] * 12
    for j, importance in IMPLEMENTATIONS["scikit-learn"](values, everything, NeighboursConfig(n_trees=200), rng, 1):
        shares[:, j] = importance
    mask = neighbours(values, NeighboursConfig(), np.random.default_rng(0))
    is_clear = np.abs(shares - 0.75 / 12) > 0.02
    assert is_clear.mean() > 0.7
    np.testing.assert_array_equal(mask[is_clear], (shares >= 0.75 / 12)[is_clear])


@pytest.fixture
def n_trees(monkeypatch) -> dict[int, int]:
    """How many trees were grown, by variable."""
    counts: dict[int, int] = {}

    def counting(inputs, response, target, state, importance):
        counts[target] = counts.get(target, 0) + len(importance)
        grow(inputs, response, target, state, importance)

    grow = module.grow
    monkeypatch.setattr(module, "grow", counting)
    return counts


def test_clear_decisions_need_few_trees(related, n_trees):
    """With a limit of 1/7, the mean share of seven irrelevant inputs, only the related variables are easy."""
    neighbours(related, NeighboursConfig(neighbour_threshold=8 / 7), np.random.default_rng(0))
    assert n_trees[1] == 50
    assert max(n_trees.values()) == 500
    n_trees.clear()
    neighbours(related, NeighboursConfig(n_trees=7), np.random.default_rng(0))
    assert set(n_trees.values()) == {7}


@pytest.mark.parametrize(("n_variables", "rule"), [(149, (0.75, 500)), (150, (1.2, 50))])
def test_many_variables_need_more_importance_and_fewer_trees(n_variables, rule):
    assert NeighboursConfig().rule(n_variables) == rule
    assert NeighboursConfig(neighbour_threshold=0, n_trees=7).rule(n_variables) == (0, 7)


@pytest.mark.parametrize("trees", ["compiled", "scikit-learn"])
def test_the_rule_of_many_variables_is_applied(rng, trees, monkeypatch):
    values = rng.normal(size=(60, 10))
    masks = []
    for rule in (0.75, 30), (1.2, 30):
        monkeypatch.setattr(NeighboursConfig, "rule", lambda *_, rule=rule: rule)
        masks.append(neighbours(values, NeighboursConfig(), np.random.default_rng(0), trees=trees))
    assert 0 < masks[1].sum() < masks[0].sum()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interruption_ends_all_threads(related, n_trees, n_jobs):
    """The related variables are done after 50 trees; the others would take all."""

    def interrupt(progress):
        raise KeyboardInterrupt

    config = NeighboursConfig(n_trees=20_000, neighbour_threshold=8 / 7, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        neighbours(related, config, np.random.default_rng(0), listener=interrupt)
    assert not any(thread.name.startswith("grandag") for thread in threading.enumerate())
    assert max(n_trees.values()) < 20_000


def test_doubt():
    """Shares 0.2 ± 0.1 of two trees at a limit of 0.2, and 0.3 ± 0.05 that is 2 standard errors above it."""
    shares = np.array([[0.1, 0.25, 0.0], [0.3, 0.35, 0.0]])
    mean_share = 0.5 / 3
    assert module._doubt(shares, threshold=0.2 / mean_share) == pytest.approx((0.5 + 0.0227501) / 3, abs=1e-6)
    assert module._doubt(np.array([[0.4, 0.6], [0.4, 0.6]]), threshold=0.75) == 0


def test_rows_are_capped(rng, monkeypatch):
    seen = []

    def recorder(values, inputs, config, rng, n_jobs, rows):
        seen.append(values)
        yield 0, np.ones(values.shape[1])

    monkeypatch.setitem(IMPLEMENTATIONS, "compiled", recorder)
    values = np.arange(300.0).reshape(100, 3)
    for max_rows in (40, 100):
        neighbours(values, NeighboursConfig(), rng, max_rows=max_rows)
    assert seen[0].shape == (40, 3)
    assert len(np.unique(seen[0], axis=0)) == 40
    assert np.isin(seen[0][:, 0], values[:, 0]).all()
    assert seen[1] is values


def test_constant_columns(rng):
    values = np.column_stack([rng.normal(size=(60, 3)), np.ones(60)])
    mask = neighbours(values, NeighboursConfig(n_trees=20), rng)
    assert not mask[3, :3].any()


@pytest.mark.parametrize("trees", ["compiled", "scikit-learn"])
def test_of_many_variables_trees_see_those_that_a_variable_depends_on(rng, trees):
    values = rng.normal(size=(300, 40))
    values[:, 7] = np.sin(2 * values[:, 20]) + 0.3 * values[:, 7]
    values[:, 33] *= values[:, 20]
    config = NeighboursConfig(neighbour_selection=True, max_neighbours=3, n_trees=60)
    selection = select_neighbours(values, config, np.random.default_rng(0), trees=trees)
    assert selection.mask[20, 7] and selection.mask[20, 33] and selection.mask[7, 20]
    assert selection.mask.sum(axis=0).max() == 3
    assert not selection.mask.diagonal().any()
    n_limited = int((selection.mask.sum(axis=0) == 3).sum())
    assert f"{n_limited} of 40 variables have 3 candidate parents, the most that are kept" in selection.notes[-1]


def test_screening_never_binds_where_trees_can_see_everything(related):
    d = related.shape[1]
    masks = [
        neighbours(related, NeighboursConfig(n_trees=60, max_neighbours=most), np.random.default_rng(1))
        for most in (d - 1, 10**9)
    ]
    np.testing.assert_array_equal(*masks)


@pytest.fixture
def labelled(rng):
    """number -> label -> other among six variables; labels 0, 1, 2 and an irrelevant 0 .. 3, each as indicators."""
    n = 600
    numbers = rng.normal(size=(n, 4))
    label = np.digitize(numbers[:, 0] + 0.2 * rng.normal(size=n), [-0.5, 0.5])
    numbers[:, 1] = np.array([0.0, 3.0, 1.0])[label] + 0.3 * numbers[:, 1]
    codes = [label, rng.integers(4, size=n)]
    values = np.column_stack([numbers, *(code[:, None] == np.arange(code.max() + 1) for code in codes)]).astype(float)
    columns = [[0], [1], [2], [3], [4, 5, 6], [7, 8, 9, 10]]
    return values, Groups(columns, values.var(axis=0))


@pytest.mark.parametrize("trees", IMPLEMENTATIONS)
def test_labels_are_inputs_and_targets_as_a_whole(labelled, trees):
    values, groups = labelled
    steps = []
    mask = neighbours(
        values, NeighboursConfig(n_trees=60), np.random.default_rng(0), groups=groups, trees=trees,
        listener=steps.append,
    )  # fmt: skip
    assert mask.shape == (6, 6)
    assert mask[0, 4]
    assert mask[4, 0]
    assert mask[4, 1]
    assert mask[1, 4]
    assert mask[:, 1].sum() == 1  # nothing else, not even its own indicators, says what the label is
    assert mask[:, 4].sum() == 2
    assert not np.diagonal(mask).any()
    assert [step.step for step in steps] == list(range(1, 7))


def test_groups_of_one_column_are_columns(related):
    expected = neighbours(related, NeighboursConfig(n_trees=60), np.random.default_rng(1))
    found = neighbours(
        np.column_stack([related, related]), NeighboursConfig(n_trees=60), np.random.default_rng(1),
        groups=Groups([[j] for j in range(8)], np.full(8, 0.3)),
    )  # fmt: skip
    np.testing.assert_array_equal(found, expected)


def test_screening_takes_labels_as_a_whole(labelled):
    """Of five others, trees see two: those that the variable depends on by any of its indicators."""
    values, groups = labelled
    config = NeighboursConfig(n_trees=60, max_neighbours=1)
    inputs = module._inputs(values, groups, config, None)
    assert {*inputs[1].tolist()} >= {1, 4, 5, 6}
    assert {0, 1, 5} <= {*inputs[5].tolist()}
    assert not {4, 6} & {*inputs[5].tolist()}
    mask = neighbours(values, config, np.random.default_rng(0), groups=groups)
    assert mask[4, 1]
    assert (mask.sum(axis=0) <= 1).all()


@pytest.mark.parametrize("trees", IMPLEMENTATIONS)
def test_trees_of_a_variable_see_the_rows_that_leave_it_alone(rng, trees):
    """Where it was set, it follows another variable; that one is no candidate, nor a candidate of the screen."""
    values, are_free = rng.normal(size=(300, 5)), np.ones((300, 5), dtype=bool)
    are_free[::3, 4] = False
    values[:, 4] = np.where(are_free[:, 4], values[:, 0], 3 * values[:, 1]) + 0.1 * values[:, 4]
    config = NeighboursConfig(n_trees=50)
    mask = neighbours(values, config, rng, are_free=are_free, trees=trees)
    assert mask[0, 4] and not mask[1, 4]
    assert neighbours(values, config, rng, trees=trees)[1, 4]


def test_screening_sees_the_rows_that_leave_a_variable_alone(rng):
    values, are_free = rng.normal(size=(600, 4)), np.ones((600, 4), dtype=bool)
    are_free[::3, 3] = False
    values[:, 3] = np.where(are_free[:, 3], values[:, 0], 9 * values[:, 1]) + 0.1 * values[:, 3]
    strength, pooled = dependence(values, are_free), dependence(values)
    assert strength[0, 3] > 10 * strength[1, 3]
    assert pooled[1, 3] > pooled[0, 3]
    alone = dependence(values[are_free[:, 3]])
    np.testing.assert_allclose(strength[:3, 3], alone[:3, 3], rtol=0.2)  # bins are those of all rows
    np.testing.assert_allclose(strength[:, :3], pooled[:, :3], rtol=1e-5)
