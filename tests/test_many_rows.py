"""Tables of many rows: nothing is copied, memory is bounded, and results are those of the stated rows."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from grandag import CAM, DAGGNN, GES, GSF, NOTEARS, PC, ExactSearch, GraNDAG, evidence
from grandag.methods.stages.linear_gaussian import moments
from grandag.table import MANY_ROWS, Scaling, as_table, draw_rows, quartiles, rows_of, spread
from tests.conftest import nonlinear_chain


@pytest.fixture
def few_are_many(monkeypatch):
    """From 1,000 rows on a table counts as long."""
    for module in (
        "table",
        "table_diagnostics",
        "gam.basis",
        "methods.dag_gnn.dag_gnn",
        "methods.estimator",
        "methods.grandag.data",
        "methods.stages.weights",
    ):
        monkeypatch.setattr(f"grandag.{module}.MANY_ROWS", 1000)


def mapped(values, path):
    np.save(path, values)
    return np.load(path, mmap_mode="r")


def test_single_precision_is_not_copied(rng, tmp_path):
    values = rng.normal(size=(50, 3)).astype(np.float32)
    on_disk = mapped(values, tmp_path / "t.npy")
    frame = pd.DataFrame(values, copy=False)
    for given in (values, on_disk, frame):
        found = as_table(given).values
        assert found.dtype == np.float32
        assert np.shares_memory(found, np.asarray(given))
    by_column = pd.DataFrame(dict(zip("abc", values.T.copy(), strict=True)))
    assert as_table(by_column).values.dtype == np.float32
    np.testing.assert_array_equal(as_table(by_column).values, values)
    assert as_table(by_column.astype({"a": "float64"})).values.dtype == np.float64


def test_statistics_of_blocks_are_those_of_numpy(rng):
    values = (1e4 + rng.normal(size=(150_000, 3)) * [1, 10, 0.5]).astype(np.float32)
    exact = values.astype(np.float64)
    scaling, found = Scaling.standard(values), moments(values)
    np.testing.assert_allclose(scaling.mean, exact.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(scaling.scale, exact.std(axis=0), rtol=1e-10)
    np.testing.assert_allclose(found.covariance, np.cov(exact.T, bias=True), rtol=1e-8, atol=1e-8)
    standard = moments(values, scaling)
    np.testing.assert_allclose(standard.covariance, np.corrcoef(exact.T), atol=1e-8)


def test_quartiles(rng, monkeypatch):
    table = as_table(rng.normal(size=(5000, 2)).astype(np.float32))
    expected = np.quantile(table.values.astype(np.float64), [0, 0.25, 0.5, 0.75, 1], axis=0)
    np.testing.assert_array_equal(quartiles(table), expected)
    monkeypatch.setattr("grandag.table.MANY_ROWS", 500)
    np.testing.assert_array_equal(quartiles(table)[[0, 4]], expected[[0, 4]])
    np.testing.assert_allclose(quartiles(table)[1:4], expected[1:4], atol=0.2)


def test_chosen_rows(rng):
    assert spread(5, 10).tolist() == [0, 1, 2, 3, 4]
    assert spread(101, 3).tolist() == [0, 50, 100]
    for n, most in ((100, 10), (100, 1000), (MANY_ROWS + 5, 100), (MANY_ROWS + 5, 10**6)):
        drawn = draw_rows(n, most, rng)
        assert len(set(drawn.tolist())) == len(drawn) == min(n, most)
        assert drawn.min() >= 0
        assert drawn.max() < n
    values = rng.normal(size=(20, 2)).astype(np.float32)
    numbers = np.array([7, 0, 19, 7])
    np.testing.assert_array_equal(rows_of(values, numbers), values[numbers].astype(np.float64))


FITS = {
    "default": lambda: GraNDAG(random_state=0, max_iterations=3000),
    "fast": lambda: GraNDAG.preset("fast", random_state=0, max_iterations=3000),
    "CAM": lambda: CAM(preselection=True),
    "NOTEARS": lambda: NOTEARS(standardise=True, random_state=0),
    "GES": GES,
    "exact": ExactSearch,
    "PC": PC,
    "DAG-GNN": lambda: DAGGNN(standardise=True, n_epochs=2, max_penalty=10, random_state=0),
    "GSF": lambda: GSF(max_rows=300),
}


AS_GIVEN = {"DAG-GNN": {"standardise": False}}
"""Changes that fit a standardised table as it is."""


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore")
def test_a_mapped_table_has_the_result_of_the_same_numbers_in_memory(rng, tmp_path, few_are_many, name):
    values = nonlinear_chain(rng, 3000).astype(np.float32)
    found = [FITS[name]().fit(X) for X in (values, mapped(values, tmp_path / "t.npy"), values.astype(np.float64))]
    for other in found[1:]:
        np.testing.assert_array_equal(other.adjacency_, found[0].adjacency_)
        np.testing.assert_array_equal(other.strength_, found[0].strength_)
        assert other.notes_ == found[0].notes_
        np.testing.assert_array_equal(other.log_prob(values[:50]), found[0].log_prob(values[:50]))


@pytest.mark.filterwarnings("ignore")
def test_notes_say_which_rows_were_used(rng, few_are_many):
    notes = FITS["fast"]().fit(nonlinear_chain(rng, 3000)).notes_
    assert "Quartiles are those of 1,000 of the 3,000 rows, evenly spread." in notes
    assert "Batches are drawn from 1,000 of 2,400 rows at a time, which others then replace." in notes
    assert "The expected Jacobian is from 1,000 of 2,400 rows." in notes


@pytest.mark.parametrize(
    ("name", "most", "note"),
    [
        ("DAG-GNN", 1000, "The autoencoder was trained on 1,000 of the 3,000 rows, evenly spread."),
        ("GSF", 300, "The generalised score is that of 300 of the 3,000 rows, evenly spread."),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_evenly_spread_rows_stand_for_all(rng, few_are_many, name, most, note):
    """The result is that of these rows alone, on the scale of all of them."""
    values = nonlinear_chain(rng, 3000).astype(np.float32)
    all_rows, some = FITS[name]().fit(values), FITS[name]().set_params(**AS_GIVEN.get(name, {}))
    if name in AS_GIVEN:
        values = Scaling.standard(values).apply(values, "float64")
    some.fit(values[spread(3000, most)])
    np.testing.assert_array_equal(all_rows.strength_, some.strength_)
    assert note in all_rows.notes_
    assert not any("evenly spread" in other for other in some.notes_)


def test_the_evidence_of_a_long_table_is_that_of_stated_rows(rng):
    values = nonlinear_chain(rng, 500).astype(np.float32)
    chain = np.eye(3, k=1, dtype=bool)
    config = evidence.EvidenceConfig(max_rows=100)
    found = evidence.evaluate(values, chain, config=config)
    some = values[spread(500, 100)].astype(np.float64)
    assert found.score == evidence.evaluate(some, chain, config=config).score
    assert found.notes == ("The evidence is that of 100 of the 500 rows, evenly spread.",)
    assert evidence.evaluate(some, chain, config=config).notes == ()


PROGRAM = """
import resource, sys, warnings
from pathlib import Path
import numpy as np, pandas as pd
from grandag import CAM, GES, NOTEARS, PC, GraNDAG, read_table

def models():
    yield GraNDAG.preset("fast", prune=False, max_iterations=2500, random_state=0, n_jobs=1)
    yield NOTEARS()
    yield PC()

def held():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmData:")[2].split()[0])

warnings.simplefilter("ignore")
path, allowed = sys.argv[1], int(sys.argv[2])
small = np.random.default_rng(0).normal(size=(500, 20)).astype(np.float32)
for model in models():  # what is imported and compiled is not what is measured
    model.fit(small)
if path.endswith(".parquet"):
    pd.DataFrame(small).add_prefix("X").to_parquet(path + ".small.parquet")
    read_table(path + ".small.parquet")
limit = held() + allowed
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
X = read_table(path) if path.endswith(".parquet") else np.load(path, mmap_mode="r")
for model in models():
    model.fit(X)
"""
"""Fits a table of a million rows with so many bytes beyond what small fits leave; a copy too many is a MemoryError."""


@pytest.mark.parametrize(
    ("kind", "times_the_table"), [("npy", 0.9), ("parquet", 2.5)], ids=["mapped: less than the table", "read"]
)
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by a means of Linux")
def test_memory(rng, tmp_path, kind, times_the_table):
    n, d = 10**6, 20
    values = rng.normal(size=(n, d)).astype(np.float32)
    values[:, 1] += values[:, 0]
    path = tmp_path / f"t.{kind}"
    if kind == "npy":
        np.save(path, values)
    else:
        pd.DataFrame(values, copy=False).add_prefix("X").to_parquet(path)
    allowed = str(int(times_the_table * 4 * n * d))
    done = subprocess.run([sys.executable, "-c", PROGRAM, path, allowed], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
