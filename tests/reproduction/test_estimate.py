"""What a run would cost, by jobs that took known times."""

from dataclasses import replace

import pytest

from grandag.reproduction.estimate import estimate
from grandag.reproduction.jobs import Job, JobResult
from grandag.reproduction.plan import plan
from grandag.reproduction.run import cost
from grandag.reproduction.store import Store
from tests.reproduction.examples import DATA, small


def job(method="cam", seed=1, task="fit", **parameters):
    simulation = {**DATA["simulation"], "seed": seed}
    return Job(task, method, parameters, {"simulation": simulation})


def took(**seconds):
    """Results of jobs of CAM by the seed of their data."""
    return {job(seed=int(seed[1:])).key: JobResult("", "done", seconds=value) for seed, value in seconds.items()}


def test_jobs_take_as_long_as_they_took_or_as_others_of_their_kind():
    jobs = [job(seed=seed) for seed in (1, 2, 3, 4)]
    found = estimate(jobs, took(s1=10.0, s2=20.0), 2)
    assert found.cpu_seconds == 10 + 20 + 15 + 15
    assert (found.longest, found.unknown) == (20.0, {})
    assert found.seconds == 35.0  # 10 and 15 on one core, 20 and 15 on the other
    assert estimate(jobs, took(s1=10.0, s2=20.0), 100).seconds == 20.0


def test_jobs_of_a_kind_that_was_never_run_do_not_count_and_are_named():
    other = Job("fit", "cam", {}, {"simulation": {**DATA["simulation"], "n_nodes": 50}})
    jobs = [job(), other, job("ges"), job("ges", seed=2), Job("fit", "pc", {}, {"bundled": "sachs"})]
    found = estimate(jobs, took(s1=3600.0), 1)
    assert found.cpu_seconds == 3600.0
    assert found.unknown == {"cam, 50 nodes": 1, "ges, 5 nodes": 2, "pc, sachs": 1}
    assert found.describe() == (
        "5 jobs: about 60 min of CPU time, about 60 min on 1 core; the longest job takes about 60 min. "
        "Without 4 of them, like which none is finished in the store: "
        "1 x cam, 50 nodes; 2 x ges, 5 nodes; 1 x pc, sachs."
    )


def test_parameters_make_another_kind_but_for_trials():
    assert estimate([job(), job(prune=False)], took(s1=1.0), 1).unknown == {"cam, 5 nodes": 1}
    trials = [job(task="trial", prune_cutoff=cutoff) for cutoff in (0.1, 0.2)]
    assert estimate(trials, {trials[0].key: JobResult("", "done", seconds=1.0)}, 1).cpu_seconds == 2.0


def test_a_job_without_a_time_tells_nothing():
    assert estimate([job()], {job().key: JobResult("", "failed")}, 1).unknown == {"cam, 5 nodes": 1}


def test_the_cost_of_a_table(tmp_path):
    """One data set of ten is in the store."""
    (first, *_) = plan(replace(small(methods=("random",))), n_datasets=1)
    with Store(tmp_path / "store.sqlite") as store:
        store.put(first.job, JobResult(first.job.key, "done", seconds=2.0))
        assert cost([small(methods=("random",))], store, 5).describe() == (
            "10 jobs: 20 s of CPU time, 4 s on 5 cores; the longest job takes 2 s."
        )
        assert cost([small(methods=("random",))], store, 5, n_datasets=3).cpu_seconds == pytest.approx(6.0)
