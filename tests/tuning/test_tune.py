"""The search: what wins, repeatability, failures, limits, interruption, samplers, and the command line."""

import json
import os
import signal
import subprocess
import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag import NOTEARS, TrainingError, tune
from grandag.knowledge import KnowledgeError
from grandag.parameters import ParameterError
from grandag.table import TableError
from grandag.tuning import tune as tuning
from grandag.tuning.held_out import HeldOutFit, held_out_fit
from grandag.tuning.spaces import Choice, draw, space_of
from grandag.tuning.tune import Trial, Tuning
from tests.command import GRANDAG, run
from tests.conftest import mixed_frame, nonlinear_chain
from tests.methods.linear import linear_data
from tests.tuning.test_held_out import by_hand

GRID = {"sparsity": Choice((0.01, 0.3)), "weight_threshold": Choice((0.05, 0.5, 1.5))}


@pytest.fixture
def linear(rng):
    values, _, _ = linear_data(rng, d=5, n_edges=5, n=400)
    return pd.DataFrame(values, columns=list("abcde"))


@pytest.fixture
def chain(rng):
    return pd.DataFrame(nonlinear_chain(rng, 150), columns=["a", "b", "c"])


def same(first, second):
    """Equal but for the time that it took."""
    pd.testing.assert_frame_equal(first.frame.drop(columns="seconds"), second.frame.drop(columns="seconds"))
    return True


def made(*trials, n_asked=None):
    """A tuning with trials of these (score, converged); None for one that failed."""
    fits = [
        trial and HeldOutFit("cam", {}, trial[0], ("a", "b"), np.zeros((2, 2), bool), trial[1], 7, 0.1)
        for trial in trials
    ]
    records = tuple(
        Trial(k, {"prune_cutoff": 0.1**k}, "done" if fit else "failed", fit, "" if fit else "It broke.")
        for k, fit in enumerate(fits, 1)
    )
    return Tuning("cam", "default", "random", 0, n_asked or len(records), {}, records)


def test_finds_the_best_of_a_grid(linear, monkeypatch):
    """The grid by brute force: every graph by NOTEARS itself, scored by least squares of our own."""
    order = np.arange(400)
    monkeypatch.setattr("grandag.table.split_rows", lambda n, share, rng: (order[80:], order[:80]))
    values = linear.to_numpy()
    scores = {}
    for sparsity, threshold in product(*(choice.values for choice in GRID.values())):
        graph = NOTEARS(sparsity=sparsity, weight_threshold=threshold).fit(values[80:]).adjacency_
        scores[sparsity, threshold] = by_hand(graph, values[80:], values[:80])
    result = tune(linear, "notears", 12, space=GRID, n_jobs=1)
    tried = {tuple(trial.parameters.values()) for trial in result.trials}
    assert tried == set(scores)
    for trial in result.trials:
        assert trial.score == pytest.approx(scores[tuple(trial.parameters.values())], rel=1e-9)
    assert scores[tuple(result.best_parameters.values())] == max(scores.values())
    assert max(scores.values()) > min(scores.values()) + 0.1


def test_trials_are_the_draws_and_their_fits(linear):
    result = tune(linear, "notears", 4, seed=5, n_jobs=1)
    assert [dict(trial.parameters) for trial in result.trials] == draw("notears", 4, seed=5)
    for trial in result.trials:
        assert trial.score == held_out_fit("notears", trial.parameters, linear, seed=5).score


@pytest.mark.parametrize(
    ("method", "sampler", "fixed"),
    [("grandag", "random", {"max_iterations": 300}), ("notears", "tpe", {}), ("notears", "genetic", {})],
)
def test_repeatable_for_any_number_of_processes(linear, method, sampler, fixed):
    pytest.importorskip("optuna", reason="samplers beyond random are in the extra tune")
    one, two = (tune(linear, method, 8, sampler=sampler, seed=3, fixed=fixed, n_jobs=n) for n in (1, 2))
    assert same(one, two)
    assert len(one.frame) == 8


def test_a_sampler_of_optuna(linear):
    optuna = pytest.importorskip("optuna", reason="samplers beyond random are in the extra tune")
    verbosity = optuna.logging.get_verbosity()
    result = tune(linear, "notears", 6, sampler=optuna.samplers.RandomSampler(seed=0), space=GRID, n_jobs=1)
    for trial in result.trials:
        assert all(trial.parameters[name] in choice.values for name, choice in GRID.items())
    assert result.sampler == "RandomSampler"
    assert optuna.logging.get_verbosity() == verbosity


def test_samplers_learn(linear, capfd):
    """A method whose score is a known function of its parameter: TPE ends near the maximum, and says nothing."""
    pytest.importorskip("optuna", reason="samplers beyond random are in the extra tune")

    def score_by_cutoff(model, X):
        return -5 * (np.log10(model.prune_cutoff) + 2.5) ** 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grandag.CAM, "score", score_by_cutoff)
        patch.setattr(grandag.CAM, "checks_noise", False)
        result = tune(linear[:60][["a", "b"]], "cam", 60, sampler="tpe", seed=1, n_jobs=1)
    distance = np.abs(np.log10(result.frame["prune_cutoff"]) + 2.5)
    assert distance[30:].mean() < 0.5 * distance[:10].mean()
    assert distance.min() < 0.1
    assert capfd.readouterr() == ("", "")


def test_without_optuna(linear, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert len(tune(linear, "notears", 2, n_jobs=1).trials) == 2
    with pytest.raises(ParameterError, match=r"'tpe' needs Optuna: pip install 'grandag\[tune\]'"):
        tune(linear, "notears", 2, sampler="tpe", n_jobs=1)


def test_fixed_parameters_are_not_searched(linear):
    free = tune(linear, "notears", 4, seed=2, n_jobs=1)
    fixed = tune(linear, "notears", 4, seed=2, n_jobs=1, fixed={"sparsity": 0.2})
    shared = ["weight_threshold", "tolerance"]
    pd.testing.assert_frame_equal(free.frame[shared], fixed.frame[shared])
    assert "sparsity" not in fixed.frame
    assert {trial.fit.parameters["sparsity"] for trial in fixed.trials} == {0.2}
    assert fixed.best_estimator(linear).sparsity == 0.2


def test_parameters_without_effect_are_not_searched(chain):
    """Pruning has a cutoff; refinement, which is GraN-DAG's default, has none."""
    settings = {"fixed": {"max_iterations": 50, "retrain": True}, "n_jobs": 1, "seed": 1}
    refined, pruned = (tune(chain[:60], "grandag", 1, preset=preset, **settings) for preset in ("default", "fast"))
    assert dict(pruned.trials[0].parameters) == draw("grandag", 1, seed=1)[0]
    rest = {name: value for name, value in pruned.trials[0].parameters.items() if name != "prune_cutoff"}
    assert dict(refined.trials[0].parameters) == rest
    with pytest.raises(ParameterError, match="'fixed' must leave something to search: the search is over prune_cutoff"):
        tune(chain, "cam", 1, fixed={"refine": True})
    with pytest.raises(ParameterError, match="'prune_cutoff' has no effect while 'refine' is on"):
        tune(chain, "cam", 1, fixed={"refine": True}, space={"prune_cutoff": Choice((0.1, 0.2))}, n_jobs=1)


def test_a_score_without_a_penalty(chain):
    generalised = {"fixed": {"local_score": "generalised"}, "n_jobs": 1}
    with pytest.raises(ParameterError, match="over penalty, and beside these values penalty has no effect"):
        tune(chain, "exact", 1, **generalised)
    result = tune(chain, "exact", 1, **generalised, space={"max_parents": Choice((1,))})
    assert dict(result.best.parameters) == {"max_parents": 1}
    assert set(tune(chain, "exact", 1, fixed={"local_score": "additive"}, n_jobs=1).best.parameters) == {"penalty"}


def test_knowledge_binds_in_every_trial(linear):
    knowledge = {"forbidden": [("b", "a")], "required": [("a", "b")]}
    result = tune(linear, "notears", 4, n_jobs=1, fixed={"knowledge": knowledge})
    adjacencies = [trial.fit.adjacency for trial in result.trials] + [result.best_estimator(linear).adjacency_]
    assert all(adjacency[0, 1] and not adjacency[1, 0] for adjacency in adjacencies)
    with pytest.raises(KnowledgeError, match="nowhere"):
        tune(linear, "notears", 2, n_jobs=1, fixed={"knowledge": {"forbidden": [("nowhere", "a")]}})


def test_best_estimator_is_fitted_to_all_rows(linear):
    result = tune(linear, "notears", 5, seed=1, n_jobs=1)
    model = result.best_estimator(linear)
    alone = NOTEARS(**result.best_parameters).fit(linear)
    np.testing.assert_array_equal(model.adjacency_, alone.adjacency_)
    np.testing.assert_array_equal(model.coefficients_, alone.coefficients_)
    assert model.notes_[-1] == result.describe()


def test_presets_and_seeds_reach_every_fit(chain):
    result = tune(chain, "grandag++", 2, seed=9, preset="paper", n_jobs=1, fixed={"max_iterations": 50})
    model = result.estimator()
    assert (model.density, model.standardise, model.random_state, model.max_iterations) == ("gaussian", False, 9, 50)
    assert set(result.best_parameters) == set(space_of("grandag++"))


def test_failing_trials_are_recorded_and_the_rest_goes_on(chain):
    space = {"learning_rate": Choice((1e-2, 1e30))}
    result = tune(chain, "grandag", 8, space=space, n_jobs=1, fixed={"max_iterations": 300}, seed=1)
    frame = result.frame
    failed = frame["learning_rate"] == 1e30
    assert 0 < failed.sum() < 8
    assert (frame["status"] == np.where(failed, "failed", "done")).all()
    assert frame.loc[failed, "score"].isna().all()
    assert frame.loc[failed, "error"].str.startswith("TrainingError: Training produced numbers").all()
    assert result.best_parameters == {"learning_rate": 1e-2}
    assert not frame["converged"].any()
    assert f"{failed.sum()} failed (the first: TrainingError" in result.describe()
    assert f"{8 - failed.sum()} did not converge" in result.describe()
    with pytest.raises(TrainingError, match="No trial gave a score: TrainingError: Training produced numbers"):
        tune(chain, "grandag", 2, space={"learning_rate": Choice((1e30,))}, n_jobs=1)


def test_the_best_converged():
    assert made((-1.0, False), (-3.0, True), None, (-2.0, True)).best.number == 4
    assert made((-2.0, False), None, (-1.0, False)).best.number == 3
    assert made((-2.0, True), (-2.0, True)).best.number == 1
    result = made((-1.0, False), (-3.0, True), None, n_asked=5)
    assert result.n_converged == 1
    assert result.describe() == (
        "Hyper-parameters are those of trial 2, the best of 3 (random search) by their held-out log-likelihood per "
        "row, -3; 2 of the 5 trials asked for were not run; 1 failed (the first: It broke); 1 did not converge."
    )


def test_save(tmp_path):
    result = made((-2.0, True), None, (-1.0, True))
    result.save(tmp_path / "new")
    read = pd.read_csv(tmp_path / "new" / "trials.csv")
    assert read["trial"].tolist() == [1, 2, 3]
    assert read["score"].tolist()[::2] == [-2.0, -1.0]
    assert read.loc[1, ["status", "error"]].tolist() == ["failed", "It broke."]
    best = json.loads((tmp_path / "new" / "best.json").read_text())
    assert best["parameters"] == {"prune_cutoff": pytest.approx(0.001)}
    assert (best["trial"], best["score"], best["trials"], best["trials_converged"]) == (3, -1.0, 3, 2)


def test_progress_and_interruption(linear):
    told = []

    def stop_at_two(progress):
        told.append(progress)
        if progress.step == 2:
            raise KeyboardInterrupt

    result = tune(linear, "notears", 5, seed=1, n_jobs=1, listener=stop_at_two)
    assert [(progress.stage, progress.step, progress.n_steps) for progress in told] == [("tune", 1, 5), ("tune", 2, 5)]
    assert (told[-1].held_out, told[-1].n_edges) == (result.best.score, result.best.fit.n_edges)
    assert (len(result.trials), result.was_interrupted) == (2, True)
    assert "3 of the 5 trials asked for were not run" in result.describe()


def test_interruption_before_there_is_anything(linear, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "held_out_fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tune(linear, "notears", 5, n_jobs=1)


class Clock:
    """A clock that `step` moves on with every look at it."""

    def __init__(self, monkeypatch, step):
        self.now, self.step = 0.0, step
        monkeypatch.setattr(tuning, "time", SimpleNamespace(monotonic=self.look))

    def look(self):
        self.now += self.step
        return self.now


def test_time_limit_of_a_trial(linear, monkeypatch):
    Clock(monkeypatch, step=1.0)
    with pytest.raises(TrainingError, match="No trial gave a score: Out of time after"):
        tune(linear, "cam", 2, n_jobs=1, time_limit=5.0)  # CAM tells of each of many regressions
    result = tune(linear, "cam", 2, n_jobs=1, time_limit=1e6)
    assert result.frame["status"].tolist() == ["done", "done"]


def test_time_limit_of_all_trials(linear, monkeypatch):
    clock = Clock(monkeypatch, step=0.0)

    def ten_seconds_later(_):
        clock.now += 10

    result = tune(linear, "notears", 9, n_jobs=1, total_time_limit=25, listener=ten_seconds_later)
    assert len(result.trials) == 3  # begun at 0, 10 and 20
    assert not result.was_interrupted
    assert "6 of the 9 trials asked for were not run" in result.describe()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trials": 0}, "'trials' must be a whole number, at least 1"),
        ({"seed": -1}, "'seed' must be a whole number"),
        ({"time_limit": 0}, "'time_limit' must be None or a number above 0"),
        ({"sampler": "magic"}, "'sampler' must be one of 'random', 'tpe', 'genetic'; got 'magic'"),
        ({"sampler": 3}, "'sampler' must be a name, or a sampler of Optuna's"),
        ({"method": "random"}, "'method' must have a search space"),
        ({"fixed": {"n_units": 3}}, "'n_units' has no meaning for the method 'notears'"),
        ({"fixed": {"tolerance": -1}, "n_jobs": 2}, "'tolerance' must be"),
        (
            {"method": "cam", "fixed": {"prune_cutoff": 0.1}},
            "'fixed' must leave something to search: .* over prune_cutoff",
        ),
    ],
)
def test_illegal_arguments(linear, arguments, message):
    pytest.importorskip("optuna", reason="samplers beyond random are in the extra tune")
    with pytest.raises(ParameterError, match=message):
        tune(linear, **{"method": "notears", "trials": 2, "n_jobs": 1, **arguments})


def test_bad_tables_are_refused_at_once(linear):
    gaps = linear.copy()
    gaps.loc[3, "c"] = np.nan
    with pytest.raises(TableError, match="missing or infinite values in 'c'"):
        tune(gaps, "notears", 2, n_jobs=1)
    assert len(tune(gaps, "notears", 2, n_jobs=1, fixed={"missing": "drop"}).trials) == 2


def test_a_table_too_small_to_be_split_is_refused_before_any_trial(linear, monkeypatch):
    monkeypatch.setattr(tuning, "held_out_fit", lambda *_, **__: pytest.fail("a trial was run"))
    with pytest.raises(TableError, match="X has 12 sample"):
        tune(linear[:12], "notears", 2, n_jobs=1)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "chain.csv"
    rows = nonlinear_chain(np.random.default_rng(1), 200)
    pd.DataFrame(rows, columns=["dose", "response", "outcome"]).to_csv(path, index=False)
    return path


def test_command(table, tmp_path):
    output = tmp_path / "results"
    arguments = ("tune", table, "--method", "cam", "--trials", 3, "--seed", 4, "--output", output, "--n-jobs", 1)
    process = run(*arguments)
    assert process.returncode == 0, process.stderr
    log = [line for line in process.stderr.splitlines() if line.startswith("Tuning, best so far:")]
    assert [line.split()[4] for line in log] == ["1/3,", "2/3,", "3/3,"]
    assert "prune_cutoff" in process.stdout
    assert "the best of 3 (random search)" in process.stdout
    assert "dose" in process.stdout
    trials, best = pd.read_csv(output / "trials.csv"), json.loads((output / "best.json").read_text())
    assert trials["prune_cutoff"].tolist() == [values["prune_cutoff"] for values in draw("cam", 3, seed=4)]
    assert best["score"] == trials["score"].max()
    model = grandag.load(output / "model.npz")
    assert model.prune_cutoff == best["parameters"]["prune_cutoff"]
    np.testing.assert_array_equal(
        model.adjacency_, grandag.CAM(prune_cutoff=model.prune_cutoff).fit(pd.read_csv(table)).adjacency_
    )
    assert "the best of 3" in json.loads((output / "run.json").read_text())["notes"][-1]
    assert "the best of 3" in (output / "report.md").read_text()


def test_command_quiet_and_json(table):
    arguments = (
        "tune",
        table,
        "--method",
        "notears",
        "--trials",
        2,
        "--sparsity",
        0.2,
        "--standardise",
        "--n-jobs",
        1,
    )
    process = run(*arguments, "--quiet")
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    facts = json.loads(run(*arguments, "--json", "--columns", "dose,outcome").stdout)
    assert facts["parameters"]["sparsity"] == 0.2
    assert facts["parameters"]["standardise"] is True
    assert facts["nodes"] == ["dose", "outcome"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--method", "random"], 2, "Error: --method must have a search space"),
        (["--method", "notears", "--tolerance", "many"], 2, "must be a number above 0; got 'many'"),
        (["--method", "notears", "--tolerance", -1], 2, "Error: --tolerance must be a number above 0; got -1.0"),
        (["--method", "cam", "--prune-cutoff", 0.1], 2, "Error: The method's options must leave something to search"),
        (["--method", "cam", "--standardise"], 2, "No such option: --standardise"),
        (["--knowledge", "nowhere.toml"], 1, "nowhere.toml"),
    ],
)
def test_command_with_bad_input(table, arguments, code, message):
    process = run("tune", table, "--trials", 2, "--n-jobs", 1, *arguments)
    assert process.returncode == code
    assert message in " ".join(process.stderr.replace("│", "").split())
    assert "Traceback" not in process.stderr


def test_command_interrupted(table, tmp_path):
    """Ctrl-C reaches all processes of the command; what is done is kept."""
    command = [GRANDAG, "tune", str(table), "--method", "cam", "--trials", "5000", "--n-jobs", "2", "-o", "results"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # scripts' children may ignore it
    )  # fmt: skip
    for line in process.stderr:
        if "2/5,000" in line:
            os.killpg(process.pid, signal.SIGINT)
            break
    output, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "of the 5000 trials asked for were not run" in " ".join(output.split())
    assert len(pd.read_csv(tmp_path / "results" / "trials.csv")) >= 2
    assert (tmp_path / "results" / "graph.svg").exists()


def test_tables_with_labels_and_counts():
    found = tune(mixed_frame(), "ges", 2, n_jobs=1)
    assert [trial.status for trial in found.trials] == ["done", "done"]
    model = found.best_estimator(mixed_frame())
    assert [column.kind for column in model.learned_.columns] == ["continuous", "categorical", "count"]
