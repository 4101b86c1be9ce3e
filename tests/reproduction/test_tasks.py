"""What a job does, and that its outcome says what happened."""

import json

import numpy as np
import pytest

import grandag
from grandag import metrics
from grandag.reproduction import tasks as work_module
from grandag.reproduction.jobs import Job, plan
from grandag.reproduction.samples import authors_numbers, authors_sample, load_sample
from grandag.reproduction.tasks import Outcome, work
from grandag.simulate.files import simulate
from tests.reproduction.examples import DATA, RANDOM, WRONG, small

NONLINEAR = {
    "simulation": {"mechanism": "gauss-anm", "n_nodes": 4, "n_rows": 200, "seed": 1, "graph": "er", "n_edges": 4}
}


def test_fit_is_what_a_user_gets():
    outcome = work(RANDOM)
    scenario = simulate(**DATA["simulation"])
    model = grandag.RandomGraph(n_edges="uniform", random_state=RANDOM.seed).fit(scenario.data)
    assert outcome.status == "done"
    assert outcome.edges == np.argwhere(model.adjacency_).tolist()
    assert outcome.truth == np.argwhere(scenario.adjacency).tolist()
    assert outcome.shd == metrics.shd(scenario.adjacency, model.adjacency_)
    assert outcome.shd_c == metrics.shd_cpdag(scenario.adjacency, model.adjacency_)
    assert outcome.sid_lower == outcome.sid_upper == metrics.sid(scenario.adjacency, model.adjacency_)
    assert (outcome.n_true_edges, outcome.n_edges) == (scenario.adjacency.sum(), model.adjacency_.sum())
    assert Outcome(**json.loads(json.dumps(outcome.as_dict()))) == outcome


def test_failure_is_an_outcome():
    outcome = work(WRONG)
    assert outcome.status == "failed"
    assert "n_edges" in outcome.error.splitlines()[0]
    assert outcome.shd is None


def test_validation_scores_of_notears_are_its_objective():
    """-|x - W'x|^2 / 2 on each part, W by least squares on the training part."""
    job = Job("validate", "notears", {}, DATA)
    outcome = work(job)
    assert outcome.status == "done", outcome.error
    rows = simulate(**DATA["simulation"]).data
    train, validation = work_module.split_rows(200, 0.2, np.random.default_rng(job.split_seed))
    assert (len(train), len(validation)) == (160, 40)
    adjacency = np.zeros((5, 5), dtype=bool)
    adjacency[tuple(np.transpose(outcome.edges))] = True
    expected = dict.fromkeys(("train", "validation"), 0.0)
    for j in range(5):
        parts = {"train": rows.iloc[train].to_numpy(), "validation": rows.iloc[validation].to_numpy()}
        centred = {name: part - part.mean(axis=0) for name, part in parts.items()}
        parents = np.flatnonzero(adjacency[:, j])
        weights = np.linalg.lstsq(centred["train"][:, parents], centred["train"][:, j], rcond=None)[0]
        for name, part in centred.items():
            expected[name] -= 0.5 * np.mean((part[:, j] - part[:, parents] @ weights) ** 2)
    assert outcome.scores == pytest.approx(expected)


def test_trace_has_a_matrix_for_every_evaluation():
    job = Job("trace", "grandag", {"record_A_phi": True, "max_iterations": 300, "retrain": False}, NONLINEAR)
    outcome = work(job)
    assert outcome.status == "done", outcome.error
    assert outcome.iterations == 300
    assert outcome.converged is False
    assert np.shape(outcome.trace["A_phi"]) == (len(outcome.trace["iterations"]), 4, 4)


def test_trial_is_scored_on_held_out_rows():
    outcome = work(Job("trial", "cam", {"prune_cutoff": 0.01}, NONLINEAR))
    assert outcome.status == "done", outcome.error
    assert np.isfinite(outcome.scores["validation"])


def test_bounds_for_a_graph_with_undirected_edges(monkeypatch):
    class Undirected:
        def __init__(self, random_state=None):
            self.random_state = random_state

        def fit(self, rows):
            self.adjacency_ = np.zeros((5, 5), dtype=bool)
            self.adjacency_[0, 1] = self.adjacency_[1, 0] = True
            return self

    monkeypatch.setattr(work_module, "_estimator", lambda job: Undirected())
    outcome = work(RANDOM)
    assert outcome.n_edges == 1
    assert outcome.edges == [[0, 1], [1, 0]]
    assert outcome.sid_lower <= outcome.sid_upper


def test_authors_files_are_checked(authors, tmp_path):
    (item, *_) = plan(small(methods=("random",)), n_datasets=1, authors=authors)
    sample = load_sample(item.job.data, item.job.path)
    assert sample.rows.shape == (1000, 10)
    assert authors_numbers(authors, "er1-10") == list(range(11, 21))
    changed = authors_sample(authors, "er1-10", 11)
    folder = tmp_path / "data_p10_e10_n1000_GP"
    folder.mkdir()
    np.save(folder / "data11.npy", changed.rows.to_numpy() + 1)
    np.save(folder / "DAG11.npy", changed.truth)
    with pytest.raises(ValueError, match="is not the one of this job"):
        load_sample(item.job.data, str(tmp_path))
