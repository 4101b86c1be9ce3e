"""Names of columns come from files of strangers: nobody obeys them."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from grandag.graph import GraphError, read_graph, write_graph
from tests.command import run

HOSTILE = [
    "\x1b[2J\x1b[31mred", "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "![seen](http://example.invalid/seen.png)"
]  # fmt: skip


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    place = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 4))
    values[:, 3] += values[:, :3].sum(axis=1)
    pd.DataFrame(values, columns=HOSTILE).assign(**{"\x1b]0;title\x07": 1.0}).to_csv(place / "data.csv", index=False)
    arguments = ("--method", "pc", "--resamples", 2, "--n-jobs", 1, "--output", place / "result")
    return run("fit", place / "data.csv", *arguments), place / "result"


def test_no_escape_sequence_reaches_the_terminal(result):
    process, _ = result
    assert process.returncode == 0
    assert "\\x1b[2J" in process.stdout
    assert "\\x1b]0;title" in process.stderr
    assert "\x1b[2J" not in process.stdout
    assert "\x1b]0" not in process.stderr
    broken = run("fit", "\x1b[2Jnowhere.csv")
    assert broken.returncode == 1
    assert "\x1b" not in broken.stderr


def test_json_escapes_what_terminals_obey(tmp_path):
    """JSON itself asks that of the first control characters only, neither of 0x7f to 0x9f nor of marks of direction."""
    names = ["\x9b2J", "\x7f\x1b[2J", "\u202eabc"]
    values = np.random.default_rng(0).normal(size=(50, 3)) @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    pd.DataFrame(values, columns=names).to_csv(tmp_path / "data.csv", index=False)
    process = run("fit", tmp_path / "data.csv", "--method", "pc", "--json", "--quiet")
    assert process.returncode == 0
    assert all(letter.isprintable() or letter == "\n" for letter in process.stdout)
    assert {edge["source"] for edge in json.loads(process.stdout)["edges"]} <= set(names)
    assert "\\u009b2J" in process.stdout


def test_markdown_has_no_html_and_loads_no_picture(result):
    _, directory = result
    text = (directory / "report.md").read_text()
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "\x1b" not in text
    assert r"!\[seen\](http" in text
    assert re.findall(r"(?<!\\)\[", text) == ["["]  # of the drawing


def test_tables_have_no_formulas(result):
    _, directory = result
    compared = directory.with_name("compared")
    data = directory.with_name("data.csv")
    assert run("compare", data, "--methods", "pc,ges", "--output", compared, "--quiet").returncode == 0
    for path in (directory / "edges.csv", directory / "confidence.csv", compared / "edges.csv"):
        cells = pd.read_csv(path)[["source", "target"]].to_numpy().ravel()
        assert "'" + HOSTILE[2] in cells
        assert not any(cell.startswith("=") for cell in cells)
        _, names = read_graph(path)
        assert set(names) == set(HOSTILE)


def test_graphml_refuses_what_it_cannot_hold(tmp_path):
    graph = np.zeros((2, 2), dtype=bool), ("a", "b\x1b")
    with pytest.raises(GraphError, match=r"cannot hold the name 'b\\x1b'"):
        write_graph(graph, tmp_path / "graph.graphml")
    write_graph((graph[0], ("a", "b<&>")), tmp_path / "graph.graphml")
    assert read_graph(tmp_path / "graph.graphml")[1] == ("a", "b<&>")
