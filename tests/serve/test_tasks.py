"""Fits of the workbench: what the tasks read, learn and write, without a server."""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from grandag.methods.storage import load
from grandag.serve import views
from grandag.serve.tasks import learn
from grandag.serve.workspace import Workspace
from tests.serve.test_workspace import SETTINGS

N = 240


def fitted(directory, frame, **wishes):
    """A workspace with one table and a finished fit to it."""
    frame.to_csv(directory / "table.csv", index=False)
    space = Workspace(directory / "space")
    table = space.copied_table(directory / "table.csv")
    record = space.new_fit(**{**SETTINGS, **wishes})
    folders = {"fit_directory": space.fit_directory(record.id), "table_directory": space.table_directory(table.id)}
    learn({"fit": asdict(record), "table": asdict(table), **folders}, lambda progress: None)
    space.put_fit(replace(record, status="done"))
    return space


@pytest.mark.parametrize("method", ["notears", "cam"])
def test_curves_are_in_the_numbers_that_the_model_takes(rng, tmp_path, method):
    group = rng.permutation([1, 2] * (N // 2))
    frame = pd.DataFrame({"group": group, "y": 3 * group + 0.25 * rng.normal(size=N)})
    space = fitted(tmp_path, frame, method=method, knowledge={"required": [["group", "y"]]})
    found = views.curve(space, 1, "group", "y")
    assert set(found["parent"]) == {1.0, 2.0}
    residuals = np.subtract(found["partial_residual"], np.interp(found["parent"], found["x"], found["effect"]))
    assert residuals.std() < 0.3
    assert abs(residuals.mean()) < 0.1


def test_what_the_user_says_of_a_column_goes_before_what_is_found(rng, tmp_path):
    frame = pd.DataFrame({"x": rng.normal(size=N), "street": [f"street {k % 60}" for k in range(N)]})
    space = fitted(tmp_path, frame, method="pc", parameters={"kinds": "street=categorical"})
    assert len(load(space.model_file(1)).learned_.columns[1].labels) == 60


def test_gaps_are_filled_in(rng, tmp_path):
    x = rng.normal(size=N)
    frame = pd.DataFrame({"x": x, "y": x + 0.5 * rng.normal(size=N)}).mask(rng.random((N, 2)) < 0.05)
    space = fitted(tmp_path, frame, parameters={"missing": "impute", "imputations": "2"})
    model = load(space.model_file(1))
    assert "filled in by chained equations" in model.notes_[0]
    assert np.isfinite(views.curve(space, 1, *model.edges_[["source", "target"]].iloc[0])["partial_residual"]).all()
