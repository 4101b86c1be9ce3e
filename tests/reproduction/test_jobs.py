"""Jobs: what their keys and seeds depend on, and their results as plain data."""

import json
from dataclasses import replace

import numpy as np

from grandag.reproduction import jobs
from grandag.reproduction.jobs import Job, JobResult
from tests.reproduction.examples import DATA, RANDOM

OTHER_DATA = {"simulation": {**DATA["simulation"], "seed": 2}}
VARIANTS = [
    RANDOM,
    replace(RANDOM, task="validate"),
    replace(RANDOM, parameters={"n_edges": 3}),
    replace(RANDOM, method="notears"),
    replace(RANDOM, data=OTHER_DATA),
]


def test_key_depends_on_everything_that_counts(monkeypatch):
    assert len({job.key for job in VARIANTS}) == len(VARIANTS)
    assert replace(RANDOM, path="/elsewhere").key == RANDOM.key
    monkeypatch.setattr(jobs, "__version__", "another")
    again = replace(RANDOM)
    assert again.key != RANDOM.key
    assert again.seed == RANDOM.seed


def test_key_depends_on_the_seed(monkeypatch):
    """Results of another way to choose seeds are never taken for ours."""
    monkeypatch.setattr(jobs, "seed_from", lambda identity: 7)
    assert replace(RANDOM).key != RANDOM.key


def test_seed_depends_on_data_and_method_alone():
    same, other_method, other_data = VARIANTS[:3], VARIANTS[3], VARIANTS[4]
    assert {job.seed for job in same} == {RANDOM.seed}
    assert len({RANDOM.seed, other_method.seed, other_data.seed}) == 3


def test_validation_rows_depend_on_the_data_alone():
    assert {job.split_seed for job in VARIANTS[:4]} == {RANDOM.split_seed}
    assert replace(RANDOM, data=OTHER_DATA).split_seed != RANDOM.split_seed


def test_order_of_parameters_does_not_count():
    first = Job("fit", "m", {"a": 1, "b": 2}, {})
    assert first.key == Job("fit", "m", {"b": 2, "a": 1}, {}).key


def test_survives_json():
    again = Job(**json.loads(json.dumps(RANDOM.as_dict())))
    assert again.key == RANDOM.key
    assert again.seed == RANDOM.seed


def test_graphs_of_a_result():
    result = JobResult("key", "done", names=["a", "b", "c"], truth=[[0, 1]], edges=[[1, 2], [2, 1]])
    assert np.argwhere(result.true_adjacency).tolist() == [[0, 1]]
    assert np.argwhere(result.adjacency).tolist() == [[1, 2], [2, 1]]
    assert result.adjacency.shape == (3, 3)
    assert not replace(result, truth=[]).true_adjacency.any()
