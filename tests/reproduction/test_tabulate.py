"""Tables from job results: which runs count, what bounds and flags are, and what stands beside them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grandag.reproduction.jobs import JobResult
from grandag.reproduction.plan import plan
from grandag.reproduction.result_table import Figure
from grandag.reproduction.specification import EXPERIMENTS
from grandag.reproduction.tabulate import tabulate
from tests.reproduction.examples import small


def done(key, shd=3.0, sid=(5.0, 5.0), score=None, **other):
    scores = {} if score is None else {"validation": score}
    return JobResult(
        key, "done", shd=shd, shd_c=shd, sid_lower=sid[0], sid_upper=sid[1], scores=scores, seconds=1.0,
        **{"converged": True, "names": ["a", "b"], "truth": [[0, 1]], "edges": [[1, 0]], **other},
    )  # fmt: skip


def test_ours_beside_the_papers():
    experiment = small(methods=("random",))
    planned = plan(experiment, n_datasets=3)
    first, second, third = (item.job.key for item in planned)
    results = {first: done(first, 20), second: done(second, 30), third: JobResult(third, "failed", "broken")}
    table = tabulate(experiment, planned, results)
    assert (table.name, table.number, table.rows, table.columns) == ("table1", "1", ("RANDOM",), ("ER1",))
    cell = table.cells["RANDOM", "ER1", "SHD"]
    assert cell.ours == (Figure(25.0, math.sqrt(50)),)
    assert cell.paper == (Figure(26.3, 9.8),)
    assert cell.differences == pytest.approx([(25 - 26.3) / 9.8])
    assert [run.status for run in cell.runs] == ["done", "done", "failed"]
    assert cell.runs[2].error == "broken"
    run = cell.runs[0]
    assert (run.method, run.data, run.names) == ("random", planned[0].data, ("a", "b"))
    assert np.argwhere(run.truth).tolist() == [[0, 1]]
    assert np.argwhere(run.adjacency).tolist() == [[1, 0]]
    assert run.parameters["n_edges"] == "uniform"  # a default, which the job does not state


def test_what_is_not_finished_is_not_there():
    experiment = small(methods=("random",))
    cell = tabulate(experiment, plan(experiment, n_datasets=3), {}).cells["RANDOM", "ER1", "SID"]
    assert cell.runs == ()
    assert cell.ours == ()
    assert cell.differences == ()


def test_our_presets_stand_beside_the_paper():
    experiment = small(methods=("grandag",))
    table = tabulate(experiment, [], {})
    assert {row: table.cells[row, "ER1", "SHD"].paper for row in table.rows} == dict.fromkeys(
        ("GraN-DAG", "GraN-DAG (default)", "GraN-DAG (fast)"), (Figure(1.7, 2.5),)
    )


def test_bounds_if_an_edge_is_undirected():
    experiment = small(methods=("random",))
    planned = plan(experiment, n_datasets=2)
    first, second = (item.job.key for item in planned)
    undirected = {"edges": [[0, 1], [1, 0]], "sid": (1.0, 4.0)}
    results = {first: done(first, sid=(2.0, 2.0)), second: done(second, **undirected)}
    cell = tabulate(experiment, planned, results).cells["RANDOM", "ER1", "SID"]
    assert cell.values == ((2.0,), (1.0, 4.0))
    assert [figure.mean for figure in cell.ours] == [1.5, 3.0]


def test_likelihoods_and_iterations():
    experiment = replace(small(methods=("random",)), measures=("iterations", "NLL (train)", "score (validation)"))
    planned = plan(experiment, n_datasets=1)
    key = planned[0].job.key
    result = replace(done(key, iterations=23_100), scores={"train": -0.5, "validation": -0.75})
    cells = tabulate(experiment, planned, {key: result}).cells
    means = [cells["RANDOM", "ER1", measure].ours[0].mean for measure in experiment.measures]
    assert means == [23.1, 0.5, -0.75]


@pytest.fixture
def search():
    """One data set, three trials: the second has the best score, the third did not converge."""
    experiment = small("table15", ("cam",))
    planned = plan(experiment, n_datasets=1, n_trials=3)
    fit, first, second, third = (item.job.key for item in planned)
    results = {
        fit: done(fit, shd=9.0),
        first: done(first, shd=1.0, score=-3.0),
        second: done(second, shd=4.0, score=-1.0),
        third: JobResult(third, "out of time", "late"),
    }
    return experiment, planned, results


def test_best_held_out_score_wins(search):
    cell = tabulate(*search).cells["CAM", "ER1", "SHD"]
    assert [figure.mean for figure in cell.ours] == [4.0]
    assert [run.score for run in cell.runs] == [-1.0]
    assert cell.paper == (Figure(3.0, 4.2),)
    assert cell.remark == "-"
    assert cell.flags == "+ *"  # better than 9, by one value that has no deviation; 2 of 3 converged


def test_trials_that_converged_come_first(search):
    experiment, planned, results = search
    key = planned[2].job.key
    results[key] = replace(results[key], converged=False)
    cell = tabulate(experiment, planned, results).cells["CAM", "ER1", "SHD"]
    assert [run.score for run in cell.runs] == [-3.0]
    assert cell.flags == "+ **"  # 1 of 3 converged


def test_a_search_counts_when_all_trials_are_finished(search):
    experiment, planned, results = search
    del results[planned[-1].job.key]
    cell = tabulate(experiment, planned, results).cells["CAM", "ER1", "SHD"]
    assert cell.runs == ()
    assert cell.flags == ""


def test_a_search_without_any_score_is_a_failure(search):
    experiment, planned, results = search
    for item in planned[1:]:
        results[item.job.key] = JobResult(item.job.key, "out of time", "late")
    cell = tabulate(experiment, planned, results).cells["CAM", "ER1", "SHD"]
    assert [run.status for run in cell.runs] == ["out of time"]


def test_spaces_are_words():
    table = tabulate(EXPERIMENTS["table24"], [], {})
    assert table.cells["CAM", "all data", "space"].remark == "Log(Pruning cutoff) ~ U[-6, 0]"
