"""Refits, trials and methods on a real cluster: the bits of this machine, whatever dies, and what is done is kept."""

import json
import os
import signal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from grandag import CAM, GraNDAG, compare, confidence, tune
from grandag.executors import ClusterLostError
from grandag.executors import cluster as dask_cluster
from grandag.parameters import ParameterError
from grandag.resampling import describe
from grandag.tuning import tune as tuning
from tests.command import run
from tests.conftest import nonlinear_chain
from tests.executors.machinery import children, needs_proc


@pytest.fixture
def chain(rng):
    return pd.DataFrame(nonlinear_chain(rng, 150), columns=["a", "b", "c"])


@pytest.fixture
def file(chain, tmp_path):
    chain.to_csv(tmp_path / "chain.csv", index=False)
    return tmp_path / "chain.csv"


def assert_same(one, other):
    np.testing.assert_array_equal(one.adjacencies, other.adjacencies)
    np.testing.assert_array_equal(one.strengths, other.strengths)


def test_refits(cluster, chain):
    estimator = GraNDAG.preset("fast", max_iterations=200, retrain=False)
    arguments = (estimator, chain, 4, "subsample")
    here = confidence(*arguments, random_state=3, n_jobs=1)
    assert_same(here, confidence(*arguments, random_state=3, cluster=cluster.address))


def test_knowledge_in_a_file_of_this_machine(cluster, chain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "knowledge.toml").write_text('required = [["c", "a"]]\n')
    refits = confidence(CAM(knowledge="knowledge.toml"), chain, 2, random_state=1, cluster=cluster.address)
    assert refits.adjacencies[:, 2, 0].all()
    fixed = {"knowledge": "knowledge.toml"}
    trials = tune(chain, "notears", 2, fixed=fixed, cluster=cluster.address).trials
    assert all(trial.fit.adjacency[2, 0] for trial in trials)


@needs_proc
def test_a_killed_worker_costs_only_its_refit(own_cluster, chain):
    killed = []

    def kill_one(_):
        busy = [worker for worker in own_cluster.workers if children(worker.pid)]
        if not killed and len(busy) == 2:
            killed.append(busy[0])
            os.kill(busy[0].pid, signal.SIGKILL)

    there = confidence(CAM(), chain, 8, random_state=1, cluster=own_cluster.address, listener=kill_one)
    assert killed
    assert_same(confidence(CAM(), chain, 8, random_state=1, n_jobs=1), there)


def test_trials(cluster, chain):
    here, there = (tune(chain, "notears", 5, seed=2, **where).frame for where in ({"n_jobs": 1}, on(cluster)))
    pd.testing.assert_frame_equal(here.drop(columns="seconds"), there.drop(columns="seconds"))


def test_methods(cluster, chain):
    told = []
    here, there = compare(chain, ["cam", "pc"]), compare(chain, ["cam", "pc"], **on(cluster), listener=told.append)
    pd.testing.assert_frame_equal(here.table().drop(columns="seconds"), there.table().drop(columns="seconds"))
    pd.testing.assert_frame_equal(here.edges(), there.edges())
    assert [(progress.stage, progress.step, progress.n_steps) for progress in told] == [
        ("compare", 1, 2),
        ("compare", 2, 2),
    ]


def test_an_effect(cluster, chain):
    model = CAM().fit(chain)
    here, there = (
        model.average_effect("a", "b", chain, resamples=3, **where) for where in ({"n_jobs": 1}, on(cluster))
    )
    assert here == there
    assert here.n_resamples == 3


def on(cluster):
    return {"cluster": cluster.address}


def test_interrupted(cluster, chain):
    def stop_at_two(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    refits = confidence(CAM(), chain, 50, random_state=1, **on(cluster), listener=stop_at_two)
    assert (refits.n_done, refits.was_interrupted) == (2, True)
    search = tune(chain, "notears", 50, **on(cluster), listener=stop_at_two)
    assert (len(search.trials), search.was_interrupted) == (2, True)


def test_total_time_limit(cluster, chain, monkeypatch):
    """The clock is that of the machine that asks, on which a trial takes three hours: two begin at 0, and two later."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(tuning, "time", clock)

    def three_hours_later(_):
        clock.now += 3 * 3600

    result = tune(chain, "notears", 9, **on(cluster), total_time_limit=7 * 3600, listener=three_hours_later)
    assert [trial.number for trial in result.trials] == [1, 2, 3, 4]
    assert not result.was_interrupted


def test_refits_of_a_lost_cluster_are_kept(own_cluster, chain):
    def lose(progress):
        if progress.step == 2:
            own_cluster.scheduler.kill()
            own_cluster.scheduler.wait()

    refits = confidence(CAM(), chain, 50, random_state=1, **on(own_cluster), listener=lose)
    assert 2 <= refits.n_done < 50
    assert isinstance(refits.ended_by, ClusterLostError)
    assert f"from {refits.n_done} refits on bootstrap samples; the cluster was lost before all 50" in describe(refits)


def test_trials_of_a_lost_cluster_are_kept(own_cluster, chain):
    def lose(progress):
        if progress.step == 2:
            own_cluster.scheduler.kill()
            own_cluster.scheduler.wait()

    search = tune(chain, "notears", 50, **on(own_cluster), listener=lose)
    n = len(search.trials)
    assert 2 <= n < 50
    assert f"{50 - n} of the 50 trials asked for were not run, since the cluster was lost" in search.describe()


def test_commands(cluster, file):
    arguments = ("fit", file, "--method", "cam", "--resamples", 4, "--seed", 1, "--json")
    here, there = (run(*arguments, *where) for where in ((), ("--cluster", cluster.address)))
    assert here.returncode == there.returncode == 0, there.stderr
    assert json.loads(here.stdout)["edges"] == json.loads(there.stdout)["edges"]
    assert "frequency" in json.loads(there.stdout)["edges"][0]
    for arguments in (
        ("tune", file, "--method", "notears", "--trials", 2),
        ("compare", file, "--methods", "cam,pc"),
        ("effect", file, "--method", "cam", "--of", "a", "--on", "b", "--resamples", 2),
    ):
        process = run(*arguments, "--cluster", cluster.address)
        assert process.returncode == 0, process.stderr


def test_wrong_usage(file, chain, monkeypatch):
    process = run("fit", file, "--cluster", "tcp://127.0.0.1:9")
    assert process.returncode == 2
    assert "is for --resamples" in process.stderr
    pytest.importorskip("distributed", reason="the cluster is in the extra cluster")
    monkeypatch.setattr(dask_cluster, "_PATIENCE", 0.5)
    process = run("fit", file, "--resamples", 2, "--cluster", "tcp://127.0.0.1:9")
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr.startswith("Error: There is no Dask scheduler at 'tcp://127.0.0.1:9'")
    with pytest.raises(ParameterError, match="'cluster' must be None or the address of a Dask scheduler"):
        confidence(CAM(), chain, cluster=8786)
