"""Variables that are scored on rows of their own."""

import numpy as np
import pytest

from grandag.evidence import EvidenceConfig, evaluate, refine
from grandag.evidence.sample import Sample
from grandag.evidence.scores import LocalScores
from grandag.evidence.transform import standardise


@pytest.fixture
def chain():
    """x0 -> x1 -> x2, linear and Gaussian; in the last half of the rows x1 was set, and depends on nothing."""
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(400, 3))
    x0 = noise[:, 0]
    x1 = np.where(np.arange(400) < 200, 0.9 * x0 + 0.4 * noise[:, 1], 1 + 2 * noise[:, 1])
    values = np.column_stack([x0, x1, 0.8 * x1 + 0.4 * noise[:, 2]])
    are_free = np.ones((400, 3), dtype=bool)
    are_free[200:, 1] = False
    return values, are_free


def test_a_variable_is_scored_as_if_there_were_no_other_rows(chain):
    values, are_free = chain
    scores = LocalScores(standardise(values, 10)[0], EvidenceConfig(), np.random.default_rng(0), 1, are_free)
    alone = LocalScores(standardise(values[:200], 10)[0], EvidenceConfig(), np.random.default_rng(0), 1)
    everything = LocalScores(standardise(values, 10)[0], EvidenceConfig(), np.random.default_rng(0), 1)
    for parents in ((), (0,), (0, 2)):
        assert scores.full(1, parents) == pytest.approx(alone.full(1, parents), abs=0.1)
    for child, parents in ((0, ()), (0, (1,)), (2, (1,))):
        assert scores.full(child, parents) == everything.full(child, parents)
    assert scores.promise(1, ())[0] > scores.promising
    assert abs(scores.full(1, (0,)) - everything.full(1, (0,))) > 50


def test_columns_of_a_sample_are_standardised_among_its_rows(chain):
    values, _ = chain
    rows = np.arange(0, 400, 3)
    sample = Sample(values.T.astype(np.float32), EvidenceConfig(), rows)
    found = sample.of([2, 0], len(rows))
    wanted = standardise(values[rows], np.inf)[0][:, [2, 0]].T
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    np.testing.assert_array_equal(sample.column(2, 20), found[0, :20])


def test_interventions_tell_directions_that_observations_cannot(chain):
    """Of a linear Gaussian chain only the class is known, until its middle is set."""
    values, are_free = chain
    start = np.zeros((3, 3), dtype=bool)
    found = refine(values, start, are_free=are_free).adjacency
    np.testing.assert_array_equal(np.argwhere(found), [[0, 1], [1, 2]])
    truth, turned = found, np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=bool)
    observed = [evaluate(values[:200], graph).score for graph in (truth, turned)]
    free = [evaluate(values, graph, are_free=are_free).score for graph in (truth, turned)]
    assert abs(observed[0] - observed[1]) < 5
    assert free[0] - free[1] > 20


def test_rows_that_are_all_free_change_nothing(chain):
    values, are_free = chain
    start = np.zeros((3, 3), dtype=bool)
    one, other = (refine(values, start, are_free=free) for free in (None, np.ones_like(are_free)))
    assert one.score == other.score
    np.testing.assert_array_equal(one.edge_evidence, other.edge_evidence)
