"""Several methods on one table, by results that are made by hand and by real fits."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from grandag import compare, datasets
from grandag.comparison import Comparison, Entry
from grandag.diagnostics import Concern
from grandag.knowledge import KnowledgeError
from grandag.learned import Learned, TrainingError
from grandag.methods.registry import METHODS
from grandag.parameters import ParameterError
from grandag.report import compare_page
from tests.command import run

NAMES = ("a", "b", "<c>")


def learned(*edges, kind="dag"):
    adjacency = np.zeros((3, 3), dtype=bool)
    for source, target in edges:
        adjacency[NAMES.index(source), NAMES.index(target)] = True
    return Learned(NAMES, adjacency, adjacency.astype(float), kind=kind)


@pytest.fixture
def comparison():
    return Comparison(
        NAMES,
        (
            Entry("first", learned(("a", "b"), ("b", "<c>")), -1.0, 2.0),
            Entry("second", learned(("b", "a"), ("a", "<c>")), -2.0, 3.0),
            Entry("third", learned(("b", "a"), ("a", "b"), kind="cpdag"), -3.0, 4.0),
            Entry("fourth", learned(("b", "a")), -4.0, 5.0),
            Entry("broken", failure="It broke <down>."),
        ),
    )


def test_table_of_methods(comparison):
    table = comparison.table().set_index("method")
    assert table["edges"].tolist() == [2, 2, 1, 1, pd.NA]
    assert table["agreement"].tolist()[:4] == [0.5, 0.5, 1.0, 1.0]  # only a and b is common to half of the others
    assert table.loc["first", ["held_out", "seconds", "converged"]].tolist() == [-1.0, 2.0, True]
    assert np.isnan(table.loc["broken", "held_out"])


def test_edges_by_method(comparison):
    edges = comparison.edges()
    assert edges.columns.tolist() == ["source", "target", "first", "second", "third", "fourth", "methods"]
    assert edges.to_numpy().tolist() == [
        ["b", "a", "<-", "->", "--", "->", 4],
        ["a", "<c>", "", "->", "", "", 1],
        ["b", "<c>", "->", "", "", "", 1],
    ]


def test_page(comparison):
    page = compare_page(comparison, data="my <table>", environment={})
    assert "Methods compared on my &lt;table&gt;" in page
    assert '<th scope="row" data-value="b → a">b → a</th>' in page
    assert page.count("<svg ") == 4
    assert "broken failed: It broke &lt;down&gt;." in page
    assert "<c>" not in page


def test_real_methods_and_one_that_fails(monkeypatch):
    def fail(*_):
        raise TrainingError("No.")

    data = datasets.load_sachs().data
    monkeypatch.setattr(METHODS["random"].estimator(), "learn", fail)
    result = compare(data, ["cam", "random", "pc"], random_state=1)
    assert list(result.results) == ["cam", "pc"]
    assert result.entries[1].failure == "No."
    table = result.table()
    assert table["held_out"][0] > table["held_out"][2]  # curves beat lines on these data
    assert repr(result) == "<Comparison of cam, random, pc>"
    with pytest.raises(TrainingError, match="1 method failed, the first with: No"):
        compare(data, ["random"])


def test_what_holds_for_all_methods_is_said_once(comparison):
    few = Concern("few", (), {}, "Few <rows>.")
    bent, noisy = Concern("bent", (), {}, "It is bent."), Concern("noisy", (), {}, "It is noisy.")
    entries = (
        Entry("first", replace(learned(), concerns=(few, bent, noisy), notes=("Dropped 3 rows.", "Pruned."))),
        Entry("second", replace(learned(), concerns=(few, bent), notes=("Dropped 3 rows.",))),
        Entry("third", replace(learned(), concerns=(few,), notes=("Thinned.", "Dropped 3 rows."))),
        Entry("broken", failure="It broke down."),
    )
    several = Comparison(NAMES, entries)
    assert several.notes() == ["Dropped 3 rows."]
    assert several.doubts() == [
        "Few <rows>.",
        "Further reasons to doubt the graph of first: bent, noisy.",
        "Further reasons to doubt the graph of second: bent.",
    ]
    assert Comparison(NAMES, (*entries[1:2], Entry("plain", learned()))).doubts() == [
        "Reasons to doubt the graph of second: few, bent."
    ]
    assert "<p>⚠ Few &lt;rows&gt;.</p>" in several._repr_html_()
    assert "Dropped 3 rows." in compare_page(several, environment={})


KNOWLEDGE = {"required": [("Jnk", "Akt")], "forbidden": [("PKC", "P38"), ("P38", "PKC")]}


def test_knowledge_binds_all_methods():
    data = datasets.load_sachs().data[["Akt", "Jnk", "PKC", "P38"]]
    edges = compare(data, ["cam", "pc"], knowledge=KNOWLEDGE).edges().set_index(["source", "target"])
    assert edges.loc[("Jnk", "Akt"), ["cam", "pc"]].tolist() == ["->", "->"]
    assert ("PKC", "P38") not in edges.index
    assert ("P38", "PKC") not in edges.index
    with pytest.raises(KnowledgeError, match="'Raf'"):
        compare(data, ["cam"], knowledge={"roots": ["Raf"]})


@pytest.mark.parametrize("methods", [[], ["cam", "cam"], ["magic"]])
def test_wrong_methods(methods):
    with pytest.raises(ParameterError):
        compare(datasets.load_sachs().data, methods)


def test_command(tmp_path):
    arguments = ("compare", "sachs", "--methods", "cam,pc", "--columns", "P*", "-o", tmp_path / "out")
    process = run(*arguments, "--report", tmp_path / "page.html")
    assert process.returncode == 0, process.stderr
    assert [line.split()[0] for line in process.stdout.splitlines()[3:5]] == ["cam", "pc"]
    assert "PKC" in process.stdout
    methods = pd.read_csv(tmp_path / "out" / "methods.csv")
    edges = pd.read_csv(tmp_path / "out" / "edges.csv", keep_default_na=False)
    assert (methods["edges"] == [(edges[name] != "").sum() for name in ("cam", "pc")]).all()
    assert "easons to doubt the graph of cam: " in process.stderr
    assert "The page of --report" not in process.stderr
    assert "The page of --report has all reasons" in run(*arguments).stderr
    assert "Methods compared on sachs" in (tmp_path / "page.html").read_text(encoding="utf-8")
    facts = json.loads(run(*arguments, "--json").stdout)
    assert facts["edges"] == edges.to_dict(orient="records")
    assert run("compare", "sachs", "--methods", "cam,magic").returncode == 2


def test_command_with_knowledge(tmp_path):
    arguments = ("compare", "sachs", "--methods", "cam", "--columns", "Jnk,Akt,Mek", "--json")
    (tmp_path / "known.toml").write_text('required = [["Jnk", "Akt"]]\nleaves = ["Mek"]\n')
    facts = json.loads(run(*arguments, "--knowledge", tmp_path / "known.toml").stdout)
    assert {"source": "Jnk", "target": "Akt", "cam": "->", "methods": 1} in facts["edges"]
    wrong = run(*arguments, "--knowledge", tmp_path / "missing.toml")
    assert (wrong.returncode, "There is no file" in wrong.stderr) == (1, True)
