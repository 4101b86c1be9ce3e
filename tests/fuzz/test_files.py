"""Whatever a file holds: it is used, or one short sentence of ours refuses it, within seconds and a gigabyte."""

import gzip
import io
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import grandag
from tests.command import run
from tests.fuzz import files

needs_proc = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is measured by /proc")

LONG = 1800
"""Seconds to wait for all files, on however busy a machine; only a file that is waited for in vain takes so long."""

COSTLY = ("bomb", "million", "hundred thousand", "long.parquet", "many", "edges.dot")
"""Files that take seconds to make or to refuse: one of each kind of fault is in the suite by another name."""


def outcomes(tmp_path, kind, numbers) -> dict:
    """In a process of its own, which limits of memory and computing time may end."""
    process = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.files", kind, str(tmp_path), *map(str, numbers)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=LONG,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return json.loads(process.stdout)


def some(kind) -> list[int]:
    """Every sixth of those by hand, but for costly ones, and some by chance."""
    cheap = [k for k, name in enumerate(files.BY_HAND[kind]) if not name.startswith(COSTLY)]
    return [*cheap[::6], *range(files.n_cases(kind) - 20, files.n_cases(kind))]


@needs_proc
@pytest.mark.parametrize("kind", files.READERS)
def test_some_files(tmp_path, kind):
    found = outcomes(tmp_path, kind, some(kind))
    assert found["faults"] == {}
    assert found["used"] > 0
    assert found["refused"] > found["used"]


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("kind", files.READERS)
def test_all_files(tmp_path, kind):
    assert outcomes(tmp_path, kind, range(files.n_cases(kind)))["faults"] == {}


@pytest.mark.parametrize(("kind", "name"), [("tables", "t.csv"), ("knowledge", "k.toml"), ("graphs", "g.json")])
def test_good_files_are_used(tmp_path, kind, name):
    """Or nothing would be said by a file that is not."""
    path = tmp_path / name
    path.write_bytes(files.ORIGINALS[kind][name])
    files.READERS[kind](path)


@pytest.mark.parametrize(
    ("number", "message"),
    [(0, "has not the size of its shape"), (1, "is no array of numbers"), (2, "is no array of numbers")],
)
def test_arrays_are_refused_for_what_they_claim(tmp_path, number, message):
    """Before anything of that size or kind is made."""
    path = tmp_path / "claims.npy"
    path.write_bytes(files.npy_claiming(files.HEADERS[number]))
    for read in (files.read_as_table, files.read_as_graph):
        with pytest.raises(files.OURS, match=message):
            read(path)


class Runs:
    """Unpickling it leaves a file."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_no_file_runs_code(tmp_path):
    """Neither a pickled object nor an array of such, by any name, with which numpy and pandas would run it."""
    trace = tmp_path / "trace"
    array, pickled = files.npy(np.array([[Runs(trace)]], dtype=object)), pickle.dumps(Runs(trace))
    archive = files.zipped({"data.npy": array, "names.npy": array, "format.npy": array})
    for name in (
        "t.npy",
        "t.npz",
        "t.csv",
        "t.tsv",
        "t.parquet",
        "t.pkl",
        "g.json",
        "g.graphml",
        "g.gml",
        "k.toml",
        "k.txt",
    ):
        for content in (array, pickled, archive, gzip.compress(pickled)):
            (tmp_path / name).write_bytes(content)
            for read in (*files.READERS.values(), grandag.load):
                with pytest.raises(ValueError):
                    read(tmp_path / name)
    assert not trace.exists()
    np.load(io.BytesIO(array), allow_pickle=True)
    assert trace.exists(), "they would leave no trace"


def test_graphs_of_too_many_nodes_are_refused(tmp_path, monkeypatch):
    for room in ("boundary", "formats"):
        monkeypatch.setattr(f"grandag.graph.{room}.MOST_VARIABLES", 3)
    for name, text, message in (
        ("g.json", '{"nodes": ["a", "b", "c", "d"], "edges": []}', "has 4 nodes; 3 is the most"),
        ("g.csv", ",a,b,c,d\n", "has more than 3 columns"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(files.GraphError, match=message):
            files.read_as_graph(tmp_path / name)


def test_the_command_line_says_the_same(tmp_path):
    """One line and exit code 1, also for what is read through options."""
    good = tmp_path / "good.csv"
    good.write_bytes(files.ORIGINALS["tables"]["t.csv"])
    bad = {name: tmp_path / name for name in ("data.csv.xz", "knowledge.toml", "graph.json")}
    for path in bad.values():
        path.write_bytes(b"[" * 100_000)
    for arguments in (
        ["fit", bad["data.csv.xz"], "--method", "pc"],
        ["fit", good, "--method", "pc", "--knowledge", bad["knowledge.toml"]],
        ["score", bad["graph.json"], bad["graph.json"]],
    ):
        process = run(*arguments)
        assert process.returncode == 1, process.stderr
        assert process.stderr.startswith("Error: ")
        assert process.stderr.count("\n") == 1
        assert len(process.stderr) < 600
