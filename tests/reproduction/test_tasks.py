"""What a job does, and that its result says what happened."""

import json

import numpy as np
import pytest

import grandag
from grandag import metrics
from grandag.learned import Learned
from grandag.reproduction import tasks
from grandag.reproduction.jobs import Job, JobResult
from grandag.reproduction.plan import plan
from grandag.reproduction.samples import authors_numbers, authors_sample, load_sample
from grandag.reproduction.tasks import work
from grandag.simulate.files import simulate
from grandag.table import as_table
from grandag.tuning.held_out import held_out_fit, hold_out
from tests.reproduction.examples import DATA, RANDOM, WRONG, small

NONLINEAR = {
    "simulation": {"mechanism": "gauss-anm", "n_nodes": 4, "n_rows": 200, "seed": 1, "graph": "er", "n_edges": 4}
}


def test_fit_is_what_a_user_gets():
    result = work(RANDOM)
    scenario = simulate(**DATA["simulation"])
    model = grandag.RandomGraph(n_edges="uniform", random_state=RANDOM.seed).fit(scenario.data)
    assert result.status == "done"
    assert result.edges == np.argwhere(model.adjacency_).tolist()
    assert result.truth == np.argwhere(scenario.adjacency).tolist()
    assert result.shd == metrics.shd(scenario.adjacency, model.adjacency_)
    assert result.shd_c == metrics.shd_cpdag(scenario.adjacency, model.adjacency_)
    assert result.sid_lower == result.sid_upper == metrics.sid(scenario.adjacency, model.adjacency_)
    assert (result.n_true_edges, result.n_edges) == (scenario.adjacency.sum(), model.adjacency_.sum())
    assert JobResult(**json.loads(json.dumps(result.as_dict()))) == result


def test_failure_is_an_outcome():
    result = work(WRONG)
    assert result.status == "failed"
    assert "n_edges" in result.error.splitlines()[0]
    assert result.shd is None


def test_validation_scores_of_notears_are_its_objective():
    """-|x - W'x|^2 / 2 on each part, W by least squares on the training part."""
    job = Job("validate", "notears", {}, DATA)
    result = work(job)
    assert result.status == "done", result.error
    train, validation = hold_out(as_table(simulate(**DATA["simulation"]).data), job.split_seed)
    assert (len(train.values), len(validation.values)) == (160, 40)
    adjacency = np.zeros((5, 5), dtype=bool)
    adjacency[tuple(np.transpose(result.edges))] = True
    expected = dict.fromkeys(("train", "validation"), 0.0)
    for j in range(5):
        parts = {"train": train.values, "validation": validation.values}
        centred = {name: part - part.mean(axis=0) for name, part in parts.items()}
        parents = np.flatnonzero(adjacency[:, j])
        weights = np.linalg.lstsq(centred["train"][:, parents], centred["train"][:, j], rcond=None)[0]
        for name, part in centred.items():
            expected[name] -= 0.5 * np.mean((part[:, j] - part[:, parents] @ weights) ** 2)
    assert result.scores == pytest.approx(expected)


def test_trace_has_a_matrix_for_every_evaluation():
    job = Job("trace", "grandag", {"record_A_phi": True, "max_iterations": 300, "retrain": False}, NONLINEAR)
    result = work(job)
    assert result.status == "done", result.error
    assert result.iterations == 300
    assert result.converged is False
    assert np.shape(result.trace["A_phi"]) == (len(result.trace["iterations"]), 4, 4)
    assert result.trace["epsilon"] == 1e-4


def test_trial_is_scored_on_held_out_rows():
    job = Job("trial", "cam", {"prune_cutoff": 0.01}, NONLINEAR)
    result = work(job)
    assert result.status == "done", result.error
    fit = held_out_fit("cam", {"prune_cutoff": 0.01}, simulate(**NONLINEAR["simulation"]).data, job.seed)
    assert result.scores == {"validation": fit.score / 4}  # per variable, as the paper has it
    assert result.edges == np.argwhere(fit.adjacency).tolist()


def test_a_method_that_does_not_iterate_has_converged():
    result = work(RANDOM)
    assert (result.converged, result.iterations) == (True, None)


def test_bounds_for_a_graph_with_undirected_edges(monkeypatch):
    class Undirected:
        def fit(self, table):
            adjacency = np.zeros((5, 5), dtype=bool)
            adjacency[0, 1] = adjacency[1, 0] = True
            self.learned_ = Learned(table.names, adjacency, adjacency.astype(float), kind="cpdag")
            return self

    monkeypatch.setattr(tasks, "_estimator", lambda job: Undirected())
    result = work(RANDOM)
    assert result.n_edges == 1
    assert result.edges == [[0, 1], [1, 0]]
    assert result.sid_lower <= result.sid_upper


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


def test_tables_with_labels_and_counts():
    data = {"simulation": {"mechanism": "mixed", "n_nodes": 4, "n_rows": 150, "seed": 1, "graph": "er", "n_edges": 4}}
    result = work(Job("fit", "pc", {}, data))
    assert result.status == "done", result
    scenario = simulate(**data["simulation"])
    assert result.edges == np.argwhere(grandag.PC().fit(scenario.data).adjacency_).tolist()
    refused = work(Job("fit", "notears", {}, data))
    assert refused.status == "failed"
    assert "methods that take labels are grandag" in refused.error
