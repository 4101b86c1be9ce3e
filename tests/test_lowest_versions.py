"""One way through the library that uses every dependency; `make test-lowest` goes it with the lowest versions."""

import importlib
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tools.lowest_versions import ROOT, lowest_versions

from grandag import CAM, confidence, load
from grandag.graph import write_graph
from tests.command import run
from tests.serve.bench import serving

EXTRAS = ("cluster", "parquet", "png", "serve", "tune")
MODULES = {"scikit-learn": "sklearn"}
"""Of packages that are imported by another name."""


def good(*arguments) -> str:
    process = run(*arguments)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_every_dependency_has_a_lower_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = [*project["dependencies"], *(line for extra in EXTRAS for line in project["optional-dependencies"][extra])]
    assert [line.partition(">=")[0] for line in stated] == list(lowest_versions(EXTRAS))


@pytest.mark.skipif(not (Path(sys.prefix) / "constraints.txt").exists(), reason="for the environment of test-lowest")
def test_these_are_the_lowest_versions():
    for name, lowest in lowest_versions(EXTRAS).items():
        assert f"{version(name)}.0.0".startswith(f"{lowest}.")


@pytest.mark.filterwarnings("ignore")  # what Dask warns of is not ours
def test_every_dependency_is_used(tmp_path):
    values = np.random.default_rng(0).normal(size=(60, 3))
    values[:, 1] += 2 * values[:, 0]
    pd.DataFrame(values, columns=list("abc")).to_parquet(tmp_path / "data.parquet")
    data, result = tmp_path / "data.parquet", tmp_path / "result"
    assert "--prune-cutoff" in good("fit", "--method", "cam", "--help")
    refits = ("--resamples", 2, "--n-jobs", 1)
    good("fit", data, "--method", "cam", *refits, "--output", result, "--report", tmp_path / "page.html")
    assert "SID" in good("score", result / "graph.json", result / "consensus.json")
    good("tune", data, "--method", "cam", "--trials", 2, "--sampler", "tpe", "--output", tmp_path / "tuned")
    write_graph(load(result / "model.npz"), tmp_path / "graph.png")
    importlib.import_module("grandag.serve.run")
    with serving(data) as bench:
        assert bench.wait_for_table()["status"] == "done"
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(1, processes=False, threads_per_worker=1, dashboard_address=":0") as cluster:
        refitted = confidence(CAM(max_parents=1), values, 2, random_state=1, cluster=cluster.scheduler_address)
    assert refitted.n_done == 2
    assert [name for name in lowest_versions(EXTRAS) if MODULES.get(name, name) not in sys.modules] == []
