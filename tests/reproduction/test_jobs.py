"""Jobs: identity and seed come from the configuration, all of it and nothing else."""

import json
from dataclasses import replace

import pytest

import grandag
from grandag.methods.registry import METHODS
from grandag.reproduction import jobs
from grandag.reproduction.jobs import Job, describe, plan
from grandag.reproduction.specification import EXPERIMENTS, narrowed
from tests.reproduction.examples import DATA, RANDOM, small


def test_key_depends_on_everything_that_counts(monkeypatch):
    other_data = {"simulation": {**DATA["simulation"], "seed": 2}}
    variants = [
        RANDOM,
        replace(RANDOM, task="validate"),
        replace(RANDOM, method="notears"),
        replace(RANDOM, parameters={"n_edges": 3}),
        replace(RANDOM, data=other_data),
    ]
    assert len({job.key for job in variants}) == len(variants)
    assert len({job.seed for job in variants}) == len(variants)
    assert replace(RANDOM, path="/elsewhere").key == RANDOM.key
    assert len({job.split_seed for job in variants}) == 2
    monkeypatch.setattr(jobs, "__version__", "another")
    again = replace(RANDOM)
    assert again.key != RANDOM.key
    assert again.seed == RANDOM.seed


def test_order_of_parameters_does_not_count():
    first = Job("fit", "m", {"a": 1, "b": 2}, {})
    assert first.key == Job("fit", "m", {"b": 2, "a": 1}, {}).key


def test_survives_json():
    again = Job(**json.loads(json.dumps(RANDOM.as_dict())))
    assert again.key == RANDOM.key
    assert again.seed == RANDOM.seed


def test_plan_goes_by_data_set():
    planned = plan(small(), n_datasets=2)
    assert [item.row for item in planned] == ["NOTEARS", "RANDOM"] * 2
    assert [item.data.rpartition(" ")[2] for item in planned] == ["1", "1", "2", "2"]
    assert planned[0].data == "gauss-anm, ER1, 10 nodes, 1,000 rows, seed 1"


def test_all_parameters_are_in_the_job():
    job = plan(small(methods=("GraN-DAG",)), n_datasets=1)[0].job
    known = grandag.GraNDAG.preset("paper").get_params()
    assert dict(job.parameters).items() <= known.items()
    assert set(known) - set(job.parameters) == {"knowledge", "missing", "n_jobs", "random_state", "verbose"}


def test_tables_share_jobs():
    keys = [{item.job.key for item in plan(small(name, ("GraN-DAG",)), n_datasets=1)} for name in ("table1", "table10")]
    assert keys[0] < keys[1]


def test_real_data_come_once():
    planned = plan(small("table3", ("random",), ()), n_datasets=3)
    assert [item.column for item in planned] == ["Sachs", "SynTReN", "SynTReN", "SynTReN"]


def test_search_has_trials_and_a_fit_to_compare_with():
    planned = plan(small("table15", ("cam",)), n_datasets=2, n_trials=3)
    assert [item.job.task for item in planned] == (["fit"] + ["trial"] * 3) * 2
    assert len({item.job.key for item in planned}) == 8
    for data in {item.data for item in planned}:
        assert len({item.job.seed for item in planned if item.data == data and item.job.task == "trial"}) == 1
    more = plan(small("table15", ("cam",)), n_datasets=1, n_trials=5)
    assert {item.job.key for item in planned[:4]} < {item.job.key for item in more}


def test_figure_records_its_curves():
    (item,) = plan(EXPERIMENTS["figure1"])
    assert item.job.task == "trace"
    assert item.job.parameters["record_A_phi"] is True


def test_authors_data(authors):
    planned = plan(small(methods=("random",)), n_datasets=3, authors=authors)
    assert [item.data for item in planned] == [f"authors' er1-10, number {k}" for k in (11, 12, 13)]
    assert len({item.job.data["sha256"] for item in planned}) == 3


def test_data_in_words():
    law = {"mechanism": "syntren", "n_nodes": 20, "n_rows": 500, "seed": 7}
    assert describe({"simulation": law}) == "syntren, 20 nodes, 500 rows, seed 7"
    assert describe({"bundled": "sachs"}) == "sachs"


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.name)
def test_every_job_of_the_paper_can_be_planned(experiment):
    planned = plan(narrowed(experiment, methods=list(METHODS)), n_datasets=1, n_trials=1)
    assert {item.column for item in planned} == {setting.name for setting in experiment.columns}
    assert all(item.job.method in METHODS for item in planned)


def test_unknown_method():
    with pytest.raises(ValueError, match="'nothing'"):
        plan(replace(small(), rows=(replace(small().rows[0], method="nothing"),)))
