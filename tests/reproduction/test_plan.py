"""Plans: which jobs an experiment has, and what is in them."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import grandag
from grandag.methods.registry import METHODS, build
from grandag.reproduction import plan as plan_module
from grandag.reproduction.plan import all_parameters, describe, plan
from grandag.reproduction.specification import EXPERIMENTS, narrowed
from tests.reproduction.examples import small


def test_plan_goes_by_data_set():
    planned = plan(small(), n_datasets=2)
    assert [item.row for item in planned] == ["NOTEARS", "RANDOM"] * 2
    assert [item.data.rpartition(" ")[2] for item in planned] == ["1", "1", "2", "2"]
    assert planned[0].data == "gauss-anm, ER1, 10 nodes, 1,000 rows, seed 1"


def test_only_differences_from_the_default_are_in_the_job():
    recipe, default, fast = (item.job for item in plan(small(methods=("grandag",)), n_datasets=1))
    assert dict(recipe.parameters) == dict(grandag.GraNDAG.preset("paper").get_params().items() - defaults())
    assert dict(default.parameters) == {}
    for_many_variables = {"sparsity": 0.0, "tolerance": 1e-8, "neighbour_threshold": 0.75, "n_trees": 500}
    without_search = {"refine": False, "later_learning_rate": 1e-3, "threshold_all": True}
    assert dict(fast.parameters) == without_search | for_many_variables


def defaults():
    return grandag.GraNDAG().get_params().items()


def test_all_parameters_of_a_job():
    recipe, *_ = plan(small(methods=("grandag",)), n_datasets=1)
    known = grandag.GraNDAG.preset("paper").get_params()
    shown = all_parameters(recipe.job)
    assert shown.items() <= known.items()
    assert set(known) - set(shown) == {"knowledge", "missing", "n_jobs", "random_state", "verbose"}


def test_a_new_parameter_at_its_default_changes_no_job(monkeypatch):
    before = plan(small(), n_datasets=1)

    def build_with_another(*arguments, **options):
        known = build(*arguments, **options).get_params(deep=False)
        return SimpleNamespace(get_params=lambda deep: {**known, "neutral": 1.0})

    monkeypatch.setattr(plan_module, "build", build_with_another)
    after = plan(small(), n_datasets=1)
    assert [item.job.key for item in after] == [item.job.key for item in before]
    assert [item.job.seed for item in after] == [item.job.seed for item in before]


def test_arms_of_an_ablation_share_their_seed():
    planned = plan(EXPERIMENTS["table5"], n_datasets=2)
    assert len({item.job.key for item in planned}) == 10
    assert len({item.job.seed for item in planned}) == 2


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
    assert len({item.job.seed for item in planned}) == 2
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
    arguments = {"mechanism": "syntren", "n_nodes": 20, "n_rows": 500, "seed": 7}
    assert describe({"simulation": arguments}) == "syntren, 20 nodes, 500 rows, seed 7"
    assert describe({"bundled": "sachs"}) == "sachs"


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.name)
def test_every_job_of_the_paper_can_be_planned(experiment):
    planned = plan(narrowed(experiment, methods=list(METHODS)), n_datasets=1, n_trials=1)
    assert {item.column for item in planned} == {setting.name for setting in experiment.columns}
    assert all(item.job.method in METHODS for item in planned)


def test_unknown_method():
    with pytest.raises(ValueError, match="'nothing'"):
        plan(replace(small(), rows=(replace(small().rows[0], method="nothing"),)))
