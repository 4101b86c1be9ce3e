"""Adding a method is one folder and one line in the registry: a toy that joins columns that correlate."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import grandag
from grandag.learned import Learned
from grandag.methods.estimator import StructureLearner, estimator
from grandag.methods.registry import METHODS, Method
from grandag.methods.stages.linear_gaussian import least_squares, moments
from grandag.parameters import PowerOfTen, parameter, probability
from grandag.report import fit_page
from tests.command import run


@dataclass(frozen=True, kw_only=True)
class ToyConfig:
    """Parameters of the toy."""

    cutoff: float = parameter(
        0.3, probability, "Correlation from which columns are joined.", search=PowerOfTen(-2, -0.1), paper=0.5
    )


def learn(table, knowledge, config, rng, listener, held_out):
    """Join columns that correlate, from left to right."""
    correlation = np.abs(np.corrcoef(table.values, rowvar=False))
    adjacency = np.triu((correlation > config.cutoff) & knowledge.allowed, 1) | knowledge.required
    conditionals = least_squares(moments(table.values), adjacency).conditionals(adjacency)
    return Learned(table.names, adjacency, correlation, conditionals=conditionals)


@estimator
class Toy(StructureLearner, ToyConfig):
    """Join columns that correlate."""

    learn = staticmethod(learn)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(METHODS, "toy", Method(f"{__name__}:Toy", "Toy: correlation"))


@pytest.fixture
def frame(rng):
    a, b, c = rng.normal(size=(3, 200))
    return pd.DataFrame({"a": a, "b": a + b, "c": a + b + c, "same": 1.0})


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def edges(model):
    return {tuple(edge) for edge in model.edges_[["source", "target"]].to_numpy()}


@pytest.mark.filterwarnings("ignore:Constant columns")
def test_estimator(frame):
    model = Toy().fit(frame)
    assert edges(model) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert model.converged_
    assert Toy.preset("paper").cutoff == 0.5
    assert "cutoff: Correlation from which columns are joined. Default: 0.3." in Toy.__doc__
    assert list(model.sample(3, random_state=1)["same"]) == [1.0, 1.0, 1.0]


def test_on_the_command_line(file, tmp_path):
    result = run("fit", file, "--method", "toy", "--cutoff", 0.6, "--json", "--output", tmp_path / "results")
    facts = json.loads(result.stdout)
    assert facts["method"] == "toy"
    assert facts["parameters"]["cutoff"] == 0.6
    assert "Constant columns are isolated nodes of the graph: 'same'." in result.stderr
    assert run("fit", file, "--method", "toy", "--cutoff", 2).stderr.startswith("Error: --cutoff must be a number")
    model = grandag.load(tmp_path / "results" / "model.npz")
    assert isinstance(model, Toy)
    assert model.cutoff == 0.6
    assert model.score(pd.read_csv(file)) == pytest.approx(
        Toy(cutoff=0.6).fit(pd.read_csv(file).iloc[:, :3]).score(pd.read_csv(file).iloc[:, :3])
    )


@pytest.mark.parametrize("command", ["fit", "tune"])
def test_help_shows_its_options_only(command):
    text = run(command, "sachs", "--method", "toy", "--help", env={"COLUMNS": "150"}).stdout
    assert "--cutoff" in text
    assert "Correlation from which columns are joined." in text
    assert "0.3" in text
    assert "--knowledge" in text
    for other in ("--n-layers", "--prune-cutoff", "--alpha"):
        assert other not in text
    assert "0.5" in run(command, "sachs", "--method", "toy", "--preset", "paper", "--help").stdout


@pytest.mark.filterwarnings("ignore:Constant columns")
def test_everything_else_knows_it(frame):
    forbidding = Toy(knowledge={"forbidden": [["a", "b"]], "required": [["c", "a"]]}).fit(frame)
    assert edges(forbidding) == {("a", "c"), ("b", "c"), ("c", "a")} - {("a", "c")}
    assert "toy" in fit_page(forbidding, frame)
    frequencies = grandag.confidence(Toy(), frame, 3, random_state=1, n_jobs=1)
    assert frequencies.frequency[0, 1] == 1.0
    tuned = grandag.tune(frame, "toy", 3, n_jobs=1)
    assert set(tuned.best_parameters) == {"cutoff"}
