"""The command line as a person or a script uses it: what is printed, what is written, how it ends."""

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import grandag
from grandag import overview
from grandag.cli.fit import learn
from grandag.cli.simulate import GraphKind, Kind
from grandag.simulate.graphs import GRAPHS
from grandag.simulate.mechanisms import KINDS
from grandag.table import as_table
from tests.command import GRANDAG, run, run_alone
from tests.conftest import nonlinear_chain


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "chain.csv"
    frame = pd.DataFrame(nonlinear_chain(np.random.default_rng(1)), columns=["dose", "response", "out come"])
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def finished(table, tmp_path_factory):
    """A good run with all its output."""
    output = tmp_path_factory.mktemp("run") / "results"
    return run_alone("fit", table, "--seed", 3, "--output", output), output


def test_prints_a_table(finished):
    process, output = finished
    assert process.returncode == 0
    assert "dose" in process.stdout
    assert "converged after" in process.stdout
    assert "held-out log-likelihood" in process.stdout
    assert str(output / "graph.svg") in process.stdout.replace("\n", "")
    assert all(line.startswith("Compiling the ") for line in process.stderr.splitlines())


def test_the_table_shows_evidence(finished):
    """In the place of the strength, which is the same number, and with a sentence that says what it is."""
    process, output = finished
    text = " ".join(process.stdout.split())
    evidence = grandag.load(output / "model.npz").edges_["evidence"]
    assert text.startswith("source target evidence ")
    assert f" {evidence[0]:.1f} " in text
    assert "Evidence is what the log marginal likelihood loses, in nats, when the edge is taken out" in text
    assert f"; evidence {grandag.load(output / 'model.npz').evidence_:,.1f}; " in text
    report = (output / "report.md").read_text()
    assert "| source | target | evidence |" in report
    assert "Evidence is what the log marginal likelihood loses" in report
    assert "depend on the sample is not known" not in text + report  # halves of the rows were asked
    assert f", evidence {evidence[0]:.3g}</title>" in (output / "graph.svg").read_text()


def test_no_name_is_broken_in_a_pipe(tmp_path):
    names = ["concentration_of_the_first_substance_in_the_blood", "time_until_the_patient_could_leave_the_hospital"]
    pd.DataFrame(nonlinear_chain(np.random.default_rng(1))[:, :2], columns=names).to_csv(
        tmp_path / "long.csv", index=False
    )
    process = run(
        "fit", tmp_path / "long.csv", "--method", "cam", "--resamples", 0, env={**os.environ, "COLUMNS": "60"}
    )
    assert [line.split()[:2] for line in process.stdout.splitlines() if "_" in line] == [names]
    assert "2 nodes, 1 edge;" in process.stdout
    assert process.stdout.count("How far these edges depend on the sample is not known") == 1


def test_a_terminal_shows_notes_once(table):
    frame = pd.read_csv(table)
    frame.iloc[3, 1] = np.nan
    frame.to_csv(table.with_name("gaps.csv"))
    process = run("fit", table.with_name("gaps.csv"), "--method", "cam", "--missing", "drop", "--resamples", 2)
    for note in (
        "Note: Left out the first column, which has no name and counts the rows.",
        "Note: Dropped 1 of 1,000 rows, which have missing or infinite values: 'response' 0.1%.",
        "Note: Frequencies are from 2 refits on bootstrap samples.",
    ):
        assert (process.stdout + process.stderr).count(note.removeprefix("Note: ")) == 1
        assert note in process.stdout.splitlines()


def test_says_what_speaks_against_the_graph(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    frame = pd.DataFrame({"x": x, "y": np.sin(2 * x) + np.exp(x) * rng.exponential(size=400) / 5})
    frame.to_csv(tmp_path / "skewed.csv", index=False)
    arguments = ("fit", tmp_path / "skewed.csv", "--method", "cam", "--output", tmp_path / "results")
    process = run(*arguments)
    assert process.returncode == 0
    concerns = json.loads((tmp_path / "results" / "run.json").read_text())["warnings"]
    assert {"dependent noise", "non-Gaussian noise"} <= {concern["kind"] for concern in concerns}
    report = (tmp_path / "results" / "report.md").read_text()
    assert "## Reasons to doubt the graph" in report
    for concern in concerns:
        assert process.stderr.count(f"Warning: {concern['message']}") == 1
        assert f"- **{concern['kind']}**: {concern['message']}" in report
    assert run(*arguments, "--quiet").stderr == ""
    assert json.loads(run(*arguments, "--json").stdout)["warnings"] == concerns


def test_writes_files(finished, table):
    _, output = finished
    names = {"edges.csv", "graph.json", "graph.dot", "graph.gml", "graph.svg", "model.npz", "report.md", "run.json"}
    assert {path.name for path in output.iterdir()} == names
    model = grandag.load(output / "model.npz")
    edges = pd.read_csv(output / "edges.csv")
    pd.testing.assert_frame_equal(edges, model.edges_)
    content = json.loads((output / "graph.json").read_text())
    assert content["nodes"] == ["dose", "response", "out come"]
    pairs = set(edges[["source", "target"]].itertuples(index=False, name=None))
    assert {(edge["source"], edge["target"]) for edge in content["edges"]} == pairs
    assert set(nx.read_gml(output / "graph.gml").edges) == pairs
    assert (output / "graph.dot").read_text().count("->") == len(pairs)
    assert "out come" in (output / "graph.svg").read_text()
    assert "| dose | response |" in (output / "report.md").read_text()
    facts = json.loads((output / "run.json").read_text())
    assert facts["parameters"]["random_state"] == 3
    assert facts["data"] == str(table)
    assert facts["converged"] is True


def test_run_can_be_repeated_from_its_configuration(finished, table):
    _, output = finished
    facts = json.loads((output / "run.json").read_text())
    again = grandag.GraNDAG(**facts["parameters"]).fit(pd.read_csv(table))
    np.testing.assert_array_equal(again.expected_jacobian_, grandag.load(output / "model.npz").expected_jacobian_)


def test_report(finished, table, tmp_path):
    page = tmp_path / "new" / "page.html"
    process = run("fit", table, "--seed", 3, "--output", tmp_path / "results", "--report", page)
    assert process.returncode == 0, process.stderr
    assert f"Page: {page}" in process.stdout
    text = page.read_text(encoding="utf-8")
    assert "Entries of Aφ as training proceeds" in text
    assert "beside the true graph" not in text
    _, output = finished
    assert (tmp_path / "results" / "edges.csv").read_text() == (output / "edges.csv").read_text()


def test_a_report_changes_no_saved_parameter(finished, table, tmp_path):
    run("fit", table, "--seed", 3, "--output", tmp_path / "results", "--report", tmp_path / "page.html")
    with_page, without = (json.loads((path / "run.json").read_text()) for path in (tmp_path / "results", finished[1]))
    assert with_page["parameters"] == without["parameters"]
    assert grandag.load(tmp_path / "results" / "model.npz").record_A_phi is False
    assert "Entries of Aφ as training proceeds" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(("d", "recorded"), [(200, True), (201, False)])
def test_training_is_recorded_for_a_report_unless_that_would_fill_the_memory(d, recorded):
    given = []

    class Model:
        record_A_phi = False

        @property
        def recorded_for_reports(self):
            return {"record_A_phi": True}

        def set_params(self, **parameters):
            given.append(parameters)
            return self

        def fit(self, *_, **__):
            return self

    learn(Model(), as_table(np.eye(300)[:, :d]), quiet=True, for_report=True)
    assert given == ([{"record_A_phi": True}, {"record_A_phi": False}] if recorded else [{}, {}])


def test_files_and_page_share_one_drawing(table, tmp_path, monkeypatch):
    drawn = []
    real = overview.to_svg
    monkeypatch.setattr(
        overview, "to_svg", lambda *arguments, **options: drawn.append(1) or real(*arguments, **options)
    )
    places = ("--output", tmp_path / "results", "--report", tmp_path / "page.html")
    run("fit", table, "--method", "cam", "--resamples", 0, *places)
    assert len(drawn) == 1
    assert (tmp_path / "results" / "graph.svg").read_text().strip()[-6:] == "</svg>"


def test_report_beside_the_truth(table, tmp_path):
    page, truth = tmp_path / "page.html", tmp_path / "truth.csv"
    truth.write_text("source,target\ndose,response\n")
    arguments = ("--report", page, "--truth", truth, "--method", "cam")
    assert run("fit", table, "--quiet", *arguments).stdout == ""
    assert "beside the true graph" in page.read_text(encoding="utf-8")
    assert "edges" in json.loads(run("fit", table, "--json", *arguments).stdout)
    truth.write_text("source,target\ndose,other\n")
    process = run("fit", table, "--quiet", *arguments)
    assert (process.returncode, process.stderr.count("\n")) == (1, 1)
    assert "'other'" in process.stderr
    assert run("fit", "sachs", "--quiet", "--method", "random", "--report", page).returncode == 0
    assert "beside the true graph" in page.read_text(encoding="utf-8")


def test_json(table):
    process = run("fit", table, "--json", "--max-iterations", 100_000, "--seed", 3, "--n-layers", 1)
    facts = json.loads(process.stdout)
    assert facts["parameters"]["n_layers"] == 1
    assert facts["edges"][0].keys() == {"source", "target", "strength", "evidence", "kept", "explained"}
    assert isinstance(facts["evidence"], float)
    assert facts["nodes"] == ["dose", "response", "out come"]


def test_quiet(table):
    process = run("fit", table, "--quiet")
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (["--preset", "paper"], {"standardise": False, "later_learning_rate": 1e-4}),
        (["--preset", "paper", "--standardise"], {"standardise": True, "later_learning_rate": 1e-4}),
        (["--method", "grandag++", "--n-units", 5], {"density": "gaussian", "n_units": 5}),
        (["--activation", "squareplus", "--dtype", "float64"], {"activation": "squareplus", "dtype": "float64"}),
        (["--preset", "fast"], {"standardise": True, "refine": False}),
        (["--preset", "fast", "--refine"], {"refine": True}),
        (["--no-refine", "--no-prune"], {"refine": False, "prune": False}),
        (["--no-refine", "--prune-cutoff", 0.01], {"prune": True, "prune_cutoff": 0.01}),
        (
            ["--neighbour-selection", "yes", "--n-jobs", 1, "--no-retrain"],
            {"neighbour_selection": True, "n_jobs": 1, "retrain": False},
        ),
        (
            ["--learning-rate", 0.02, "--later-learning-rate", 0.003, "--batch-size", 32, "--mask-threshold", 1e-5],
            {"learning_rate": 0.02, "later_learning_rate": 0.003, "batch_size": 32, "mask_threshold": 1e-5},
        ),
        (
            ["--tolerance", 1e-6, "--subproblem-tolerance", 1e-3, "--neighbour-threshold", 0.5, "--missing", "drop"],
            {"tolerance": 1e-6, "subproblem_tolerance": 1e-3, "neighbour_threshold": 0.5, "missing": "drop"},
        ),
        (["--neighbour-selection", "yes", "--neighbour-trees", "scikit-learn"], {"neighbour_trees": "scikit-learn"}),
    ],
)
def test_options_reach_the_method(table, arguments, parameters):
    process = run("fit", table, "--json", "--max-iterations", 3, *arguments)
    facts = json.loads(process.stdout)["parameters"]
    assert {name: facts[name] for name in parameters} == parameters


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (["notears", "--sparsity", 0.05, "--weight-threshold", 0.2], {"sparsity": 0.05, "weight_threshold": 0.2}),
        (["notears", "--preset", "paper", "--prune", "--standardise"], {"prune": True, "standardise": True}),
        (
            ["dag-gnn", "--n-epochs", 30, "--n-encoder-units", 8, "--n-decoder-units", 9, "--batch-size", 50],
            {"n_epochs": 30, "n_encoder_units": 8, "n_decoder_units": 9, "batch_size": 50, "random_state": 0},
        ),
        (["random", "--n-edges", 2, "--seed", 4], {"n_edges": 2, "random_state": 4}),
        (["random", "--preset", "paper"], {"n_edges": "uniform"}),
    ],
)
def test_options_of_the_baselines(table, tmp_path, arguments, parameters):
    process = run("fit", table, "--json", "--output", tmp_path / "results", "--method", *arguments)
    assert process.returncode in (0, 3)
    facts = json.loads(process.stdout)
    assert facts["method"] == arguments[0]
    assert {name: facts["parameters"][name] for name in parameters} == parameters
    assert (tmp_path / "results" / "graph.svg").exists()


def test_illegal_options_of_the_baselines(table):
    process = run("fit", table, "--method", "notears", "--n-units", 5)
    assert process.returncode == 2
    assert "No such option: --n-units" in process.stderr
    process = run("fit", table, "--method", "random", "--n-edges", "many")
    assert process.returncode == 2
    assert process.stderr.startswith(
        "Error: --n-edges must be 'uniform', 'fixed' or a whole number, at least 0; got 'many'"
    )


def test_not_converged(table):
    process = run("fit", table, "--max-iterations", 50)
    assert process.returncode == 3
    assert "did not converge" in process.stdout
    assert "Warning: The graph was not acyclic after 50 iterations" in process.stderr


@pytest.mark.parametrize("command", [("compare", "sachs"), ("refine", "graph.csv", "sachs")])
def test_an_unknown_way_with_missing_values_is_named(command):
    process = run(*command, "--missing", "dropp")
    assert process.returncode == 2
    assert process.stderr == "Error: --missing must be one of 'error', 'drop'; got 'dropp'.\n"


def test_diverged(table):
    process = run("fit", table, "--learning-rate", 1e30)
    assert process.returncode == 3
    assert process.stderr.splitlines()[-1].startswith("Error: Training produced numbers that are not finite")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, [], "Error: There is no file"),
        ("a,b\n" + "1,x\n2,y\n" * 20, ["--method", "cam"], "Error: Column 'b' is binary ('x', 'y'): CAM takes numbers"),
        ("a,b\n" + "1,x\n2,3\n" * 20, [], "Error: Column 'b' holds numbers and texts, for example '3' and 'x'"),
        ("a,b\n" + "1,2\n2,3\n" * 20, ["--kinds", "c=count"], "Error: kinds: the table has no column 'c'"),
        ("a,b\n" + "1,2\n" * 3, [], "Error: X has 3 sample(s)"),
        (
            "a,b\n" + "1,\n2,3\n" * 20,
            [],
            "Error: X contains missing or infinite values in 'b' (20 NaN, first in row 1)",
        ),
        ("a,b\n" + "1,2\n2,3\n" * 20, ["--columns", "a,bb"], "has no column 'bb'; did you mean 'b'?"),
        ("a;b\n" + "1;2\n2;3,4;5\n" * 20, [], "has one column, 'a;b': say what separates the columns, for"),
        ("a,b\n" + "1,2,3\n" * 20, [], "has lines with more fields than its 2 column names: give"),
    ],
)
def test_bad_input(tmp_path, content, arguments, message):
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_text(content)
    process = run("fit", path, *arguments)
    assert process.returncode == 1
    assert message in process.stderr
    assert "Traceback" not in process.stderr
    assert process.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"), [(["fit", "nowhere.csv"], 1, "Error: "), (["fitt", "sachs"], 2, "Usage")]
)
def test_a_process_ends_in_a_code_and_a_sentence(arguments, code, message):
    """The others of this kind run without a process of their own."""
    process = run_alone(*arguments)
    assert process.returncode == code
    assert message in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("arguments", [["fit"], ["fit", "sachs", "--seeed", "1"], ["fitt", "sachs"]])
def test_wrong_usage(arguments):
    process = run(*arguments)
    assert process.returncode == 2
    assert "Usage" in process.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "magic"], "Error: --method must be one of grandag, grandag++, grandag-shared,"),
        (["--preset", "magic"], "Error: --preset must be one of default, fast, paper; got 'magic'."),
        (["--method", "cam", "--preset", "fast"], "Error: --preset must be one of default, paper; got 'fast'."),
        (["--prune-cutoff", 0.01], "Error: --prune-cutoff has no effect while 'refine' is on: leave it out,"),
        (["--n-layers", -1], "Error: --n-layers must be a whole number, at least 0; got -1."),
        (["--n-jobs", 0], "Error: --n-jobs must be None, -1 (all cores) or a count of threads; got 0."),
        (["--seed", -1], "Error: --seed must be None, a whole number"),
        (["--output", __file__], "name a directory."),
        (["--report", Path(__file__).parent], "is a directory; name a file."),
        (["--truth", __file__], "is for the page of --report, which was not asked for."),
    ],
)
def test_wrong_values(table, arguments, message):
    process = run("fit", table, *arguments, env={**os.environ, "COLUMNS": "300"})
    assert process.returncode == 2
    assert message in " ".join(process.stderr.split())


def test_files_as_people_have_them(tmp_path):
    path = tmp_path / "t.csv"
    values = nonlinear_chain(np.random.default_rng(1), n=100).round(3)
    rows = [f"p{k}/{a}/{b}/{-9 if k == 3 else c}".replace(".", ",") for k, (a, b, c) in enumerate(values.tolist())]
    path.write_bytes("\n".join(["Männer/x1/x2/y", *rows, ""]).encode("latin-1"))
    how = ("--sep", "/", "--decimal", ",", "--encoding", "latin-1", "--na-values", "-9", "--missing", "drop")
    facts = json.loads(run("fit", path, "--method", "cam", "--exclude", "M*", *how, "--json").stdout)
    assert facts["nodes"] == ["x1", "x2", "y"]
    assert facts["notes"][:2] == [
        "Columns of 't.csv' are separated by '/'.",
        "Dropped 1 of 100 rows, which have missing or infinite values: 'y' 1.0%.",
    ]


def test_score_edge_by_edge(tmp_path):
    truth, estimate = tmp_path / "truth.csv", tmp_path / "estimate.csv"
    truth.write_text("source,target\na,b\nb,c\n")
    estimate.write_text("source,target\nb,a\na,c\n")
    lines = run("score", estimate, truth, "--edges").stdout.splitlines()
    assert lines[-3:] == ["reversed           a -> b", "extra              a -> c", "missing            b -> c"]
    facts = json.loads(run("score", estimate, truth, "--edges", "--json").stdout)
    assert [edge["difference"] for edge in facts["edges"]] == ["reversed", "extra", "missing"]
    assert "edges" not in json.loads(run("score", estimate, truth, "--json").stdout)


def test_effect_with_its_interval(table):
    arguments = (
        "effect",
        table,
        "--of",
        "dose",
        "--on",
        "response",
        "--method",
        "cam",
        "--resamples",
        4,
        "--n-jobs",
        1,
    )
    facts = json.loads(run(*arguments, "--json").stdout)
    frame = pd.read_csv(table)
    assert [facts["low"], facts["high"]] == pytest.approx(np.quantile(frame["dose"], [0.25, 0.75]).tolist())
    model = grandag.CAM().fit(frame)
    same = model.average_effect("dose", "response", frame, resamples=4, n_jobs=1)
    assert (facts["effect"], tuple(facts["interval"])) == (same.effect, same.interval)
    sentence = run(*arguments, "--low", 0, "--high", 0.5, "--prune-cutoff", 0.01).stdout
    assert sentence.startswith("Setting dose to 0.5 instead of 0 changes the mean of response by 0.")
    assert "; 90% of 4 refits give " in sentence


def test_an_effect_says_what_a_fit_says(table, monkeypatch):
    """Notes, reasons to doubt the graph, and an intervention far from the data, each once and in words."""
    frame = pd.read_csv(table)
    frame.iloc[3, 1] = np.nan
    frame.assign(flag=np.arange(len(frame)) % 3).to_csv(table.with_name("gaps_of_effect.csv"), index=False)
    ends = ("--of", "dose", "--on", "response", "--low", 0, "--high", 1000)
    arguments = (
        "effect", table.with_name("gaps_of_effect.csv"), "--method", "ges", "--missing", "drop", "--resamples", 3,
        "--n-jobs", 1,
    )  # fmt: skip
    process = run(*arguments, *ends)
    dropped = "Note: Dropped 1 of 1,000 rows, which have missing or infinite values: 'response' 0.1%."
    assert dropped in process.stdout.splitlines()
    said = (
        "The intervention is outside of the data: dose = 1000", "Columns have few distinct values: 'flag'",
        "These edges are no straight lines: 'response -> out come'",
    )  # fmt: skip
    for line, beginning in zip(process.stderr.splitlines(), said, strict=True):
        assert line.startswith(f"Warning: {beginning}")
    facts = json.loads(run(*arguments, *ends, "--json").stdout)
    assert [concern["kind"] for concern in facts["warnings"]] == [
        "far intervention",
        "discrete columns",
        "curved relations",
    ]
    assert any(note.startswith("Dropped 1 of 1,000 rows") for note in facts["notes"])
    monkeypatch.setattr(grandag.GES, "fit", lambda *_, **__: pytest.fail("unknown columns are named before the fit"))
    for wrong in (("--of", "doze", "--on", "response"), ("--of", "dose", "--on", "respond")):
        process = run(*arguments, *wrong)
        assert process.returncode == 1
        assert "did you mean '" in process.stderr


def test_columns(table):
    facts = json.loads(run("fit", table, "--columns", "dose, out come", "--json", "--max-iterations", 3).stdout)
    assert facts["nodes"] == ["dose", "out come"]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """a -> b -> c as a table of edges; a -> b <- c and d in DOT; a -> b - c and d as an adjacency table."""
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "edges.csv").write_text("source,target,strength\na,b,0.5\nb,c,0.25\n")
    (folder / "truth.dot").write_text("digraph { d; c -> b; a -> b }")
    (folder / "mixed.tsv").write_text("\ta\tb\tc\td\na\t0\t1\t0\t0\nb\t0\t0\t1\t0\nc\t0\t1\t0\t0\nd\t0\t0\t0\t0\n")
    return folder


def test_score(graphs):
    process = run("score", graphs / "edges.csv", graphs / "truth.dot")
    assert (process.returncode, process.stderr) == (0, "")
    lines = {line[:22].strip(): line[22:].strip() for line in process.stdout.splitlines()}
    expected = {"nodes": "4", "SHD": "1", "SHD-C": "2", "SID": "3", "reversed edges": "1", "direction recall": "0.500"}
    assert {title: lines[title] for title in expected} == expected
    assert "SID, lower bound" not in lines


def test_score_of_a_mixed_graph(graphs):
    facts = json.loads(run("score", graphs / "mixed.tsv", graphs / "truth.dot", "--json").stdout)
    assert (facts["n_nodes"], facts["shd"], facts["mixed"], facts["sid"]) == (4, 1, 1, None)
    assert facts["sid_lower"] <= 3 <= facts["sid_upper"]
    assert facts["notes"][0].startswith("Not defined: parent_aid")
    text = run("score", graphs / "mixed.tsv", graphs / "truth.dot").stdout
    assert "SID, lower bound" in text
    assert "Note: Not defined: parent_aid" in text


def test_score_of_a_fit(finished, tmp_path):
    _, output = finished
    truth = tmp_path / "truth.json"
    truth.write_text((output / "graph.json").read_text())
    for name in ("graph.json", "graph.dot", "graph.gml", "edges.csv", "model.npz"):
        facts = json.loads(run("score", output / name, truth, "--json").stdout)
        assert (facts["shd"], facts["sid"], facts["n_nodes"]) == (0, 0, 3)


def test_score_against_a_bundled_data_set(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\nRaf,Mek\n")
    facts = json.loads(run("score", path, "sachs", "--json").stdout)
    assert (facts["n_nodes"], facts["n_true_edges"], facts["missing"]) == (11, 17, 16)


def test_score_warns_before_it_starts_something_long(tmp_path):
    path = tmp_path / "star.dagitty"
    path.write_text("pdag { hub -- {" + " ".join(f"n{k}" for k in range(17)) + "} }")
    truth = tmp_path / "truth.dagitty"
    truth.write_text("dag { hub -> {" + " ".join(f"n{k}" for k in range(17)) + "} }")
    process = run("score", path, truth)
    assert process.returncode == 0
    assert process.stderr.startswith("Warning: 'hub' has 17 undirected neighbours: 2^17 parent sets will be checked")


@pytest.mark.parametrize(
    ("estimate", "truth", "message"),
    [
        ("edges.csv", "none.gml", "Error: There is no file"),
        ("truth.dot", "sachs", "Error: The graphs have different nodes: the estimate has no 'Raf', 'Mek'"),
        ("edges.csv", "cycle.dot", "Error: The true graph has a cycle, a -> b -> c -> a"),
        ("broken.dot", "truth.dot", "Error: 'broken.dot' could not be read as a graph: Line 1 has"),
    ],
)
def test_score_of_bad_input(graphs, estimate, truth, message):
    (graphs / "cycle.dot").write_text("digraph { a -> b -> c -> a; d }")
    (graphs / "broken.dot").write_text("digraph { a -> }")
    process = run("score", graphs / estimate, truth if truth == "sachs" else graphs / truth)
    assert process.returncode == 1
    assert message in process.stderr
    assert process.stderr.count("\n") == 1


def test_draws_a_model_and_what_is_around_a_node(finished, tmp_path):
    model = finished[1] / "model.npz"
    process = run("draw", model, tmp_path / "whole.svg")
    assert process.stdout.strip() == f"Drawing: {tmp_path / 'whole.svg'}"
    assert (tmp_path / "whole.svg").read_text() == (finished[1] / "graph.svg").read_text()
    node = grandag.load(model).edges_.iloc[0]["target"]
    run("draw", model, tmp_path / "part.svg", "--around", node, "--depth", "2", "--quiet")
    assert f"Around {node}, up to 2 steps: " in (tmp_path / "part.svg").read_text()


def test_draws_graph_files_and_says_what_it_cannot(tmp_path):
    run("draw", "sachs", tmp_path / "sachs.svg", "--around", "PKA")
    assert "Around PKA: 7 nodes" in (tmp_path / "sachs.svg").read_text()
    unknown, wrong = (
        run("draw", "sachs", tmp_path / "no.svg", "--around", "PKB"),
        run("draw", "sachs", tmp_path / "no.pdf"),
    )
    assert (unknown.returncode, wrong.returncode) == (1, 1)
    assert "The graph has no node 'PKB'; did you mean 'PK" in unknown.stderr
    assert unknown.stderr.strip().endswith("'?")
    assert "does not end in .svg or .png" in wrong.stderr
    assert not list(tmp_path.glob("no.*"))


def test_datasets():
    process = run("datasets")
    assert process.returncode == 0
    assert process.stdout.startswith("sachs: 853 rows, 11 columns, 17 reference edges.")


def test_help_and_version():
    assert run_alone("--version").stdout.strip() == grandag.__version__
    text = run("fit", "--help", env={**os.environ, "COLUMNS": "120"}).stdout
    for option in ("--method", "--seed", "--output", "--quiet", "--json", "--n-layers", "--later-learning-rate"):
        assert option in text


def heed_interrupts():
    """As a person's shell has it: in the background of a script, processes are born to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def on_a_terminal(*arguments, interrupt_after=None):
    """Run on a pseudo-terminal; everything that was shown, and the exit code."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150"}
    process = subprocess.Popen(
        [GRANDAG, *map(str, arguments)], stdout=follower, stderr=follower, stdin=follower, env=environment,
        preexec_fn=heed_interrupts,
    )  # fmt: skip
    os.close(follower)
    shown, is_interrupted = b"", False
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if interrupt_after is not None and not is_interrupted and interrupt_after in shown:
            is_interrupted = True
            process.send_signal(signal.SIGINT)
    os.close(leader)
    return process.wait(), shown.decode()


def test_progress_on_a_terminal(table):
    code, shown = on_a_terminal("fit", table)
    assert code == 0
    assert "Training" in shown
    assert "held-out log-likelihood" in shown
    assert "/100,000, h " in shown


def test_interrupt(table, tmp_path):
    output = tmp_path / "results"
    code, shown = on_a_terminal(
        "fit", table, "--tolerance", 0, "--subproblem-tolerance", 0, "--mask-threshold", 0,
        "--max-iterations", 10_000_000, "--output", output,
        interrupt_after=b"Training",
    )  # fmt: skip
    assert code == 130
    assert "Interrupted; nothing was written." in shown
    assert "Traceback" not in shown
    assert not output.exists()


def test_plus_plus_with_one_layer_on_sachs():
    process = run("fit", "sachs", "--method", "grandag++", "--n-layers", 1, "--json")
    facts = json.loads(process.stdout)
    assert process.returncode == 0
    assert facts["converged"] is True
    assert len(facts["nodes"]) == 11


def test_simulate_then_fit(tmp_path):
    sizes = ("--graph", "er", "--n-nodes", 5, "--n-edges", 6, "--n-rows", 200)
    process = run("simulate", "gauss-anm", *sizes, "--seed", 1, "-o", tmp_path / "new")
    assert process.returncode == 0, process.stderr
    assert "gauss-anm: 200 rows, 5 nodes" in process.stdout
    assert "varsortability 0." in process.stdout
    assert "R2-sortability 0." in process.stdout
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "data.csv", "truth.json", "truth.csv", "simulation.json",
    }  # fmt: skip
    fitted = run("fit", tmp_path / "new" / "data.csv", "--json", "--max-iterations", 3)
    truth = json.loads((tmp_path / "new" / "truth.json").read_text())
    assert json.loads(fitted.stdout)["nodes"] == truth["nodes"]


def test_every_kind_can_be_simulated():
    """The command names them itself, so as to import nothing heavy for --help."""
    assert [str(kind) for kind in Kind] == [*KINDS, "mixed", "syntren"]
    assert [str(kind) for kind in GraphKind] == [*GRAPHS]


def test_simulations_repeat_by_seed(tmp_path):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert (
            run(
                "simulate", "syntren", "--n-nodes", 8, "--n-rows", 40, "--seed", seed, "-q", "-o", tmp_path / folder
            ).stdout
            == ""
        )
    first, second, third = ((tmp_path / folder / "data.csv").read_text() for folder in "abc")
    assert first == second
    assert first != third


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gauss-anm", "--n-edges", 100], "Error: --n-edges must be at most 45"),
        (["gauss-anm", "--graph", "sf", "--n-edges", 15], "Error: --n-edges must be a multiple of the 10 nodes"),
        (["lin", "--graph", "er-exact", "--n-edges", 9.5], "Error: --n-edges must be a whole number if it is exact"),
        (["gauss-anm", "--n-rows", 0], "Error: --n-rows must be a whole number, at least 1; got 0."),
        (["gauss-anm", "--seed", -1], "Error: --seed must be a whole number, at least 0; got -1."),
        (["syntren", "--distributions", "text"], "Error: --distributions has no meaning for syntren"),
        (["magic"], "Invalid value"),
    ],
)
def test_simulate_wrong_values(tmp_path, arguments, message):
    process = run("simulate", *arguments, "-o", tmp_path / "new", env={**os.environ, "COLUMNS": "300"})
    assert process.returncode == 2
    assert message in process.stderr
    assert not (tmp_path / "new").exists()


def test_knowledge(table, tmp_path):
    path = tmp_path / "knowledge.toml"
    path.write_text('required = [["out come", "dose"]]\n')
    process = run("fit", table, "--json", "--method", "cam", "--knowledge", path)
    facts = json.loads(process.stdout)
    assert ("out come", "dose") in {(edge["source"], edge["target"]) for edge in facts["edges"]}
    assert facts["parameters"]["knowledge"] == str(path)
    path.write_text('required = [["outcome", "dose"]]\n')
    process = run("fit", table, "--method", "cam", "--knowledge", path)
    assert process.returncode == 1
    assert "no such column; did you mean 'out come'?" in process.stderr


def test_resamples(table, tmp_path):
    arguments = ("--method", "cam", "--resamples", 3, "--resample-kind", "subsample", "--n-jobs", 1)
    process = run("fit", table, "--json", "--output", tmp_path, *arguments)
    facts = json.loads(process.stdout)
    edge = facts["edges"][0]
    assert 0 <= edge["reverse_frequency"] <= edge["frequency"] <= 1
    assert "Frequencies are from 3 refits on halves of the rows." in facts["notes"]
    consensus = json.loads((tmp_path / "consensus.json").read_text())
    assert all(edge["frequency"] > 0.5 for edge in consensus["edges"])
    assert consensus["edges"]
    assert ", frequency " in (tmp_path / "consensus.svg").read_text()
    assert len(pd.read_csv(tmp_path / "confidence.csv")) >= 1
    assert ", frequency " in (tmp_path / "graph.svg").read_text()
    assert "depend on the sample is not known" not in (tmp_path / "report.md").read_text()
    process = run("fit", table, "--method", "cam", "--resamples", -2)
    assert process.returncode == 2
    assert "--resamples" in process.stderr


def test_quick_methods_are_refitted_to_halves_of_the_rows(table, tmp_path, monkeypatch):
    """By the sizes of the table, so that the result does not depend on how fast the machine is."""
    process = run("fit", table, "--method", "ges", "--output", tmp_path / "results")
    assert "Note: Frequencies are from 4 refits on halves of the rows." in process.stdout.splitlines()
    assert process.stdout.count("Frequency is the share of the refits that have the edge in this direction") == 1
    assert "an undirected edge counts only there" in process.stdout
    assert "depend on the sample is not known" not in process.stdout
    assert "frequency" in pd.read_csv(tmp_path / "results" / "edges.csv").columns
    assert ", frequency " in (tmp_path / "results" / "graph.svg").read_text()
    for arguments in (("ges", "--resamples", 0), ("random", "--n-edges", 2)):
        process = run("fit", table, "--method", *arguments)
        assert "depend on the sample is not known" in process.stdout
    rows = np.random.default_rng(0).normal(size=(60, 21))
    pd.DataFrame(rows, columns=[f"x{k}" for k in range(21)]).to_csv(tmp_path / "wide.csv", index=False)
    pd.read_csv(table).head(12).to_csv(tmp_path / "short.csv", index=False)
    for name in ("wide.csv", "short.csv"):  # too many columns, and halves that are too short
        process = run("fit", tmp_path / name, "--method", "ges")
        assert (process.returncode, "refits on halves" in process.stdout) == (0, False)
    monkeypatch.setattr("grandag.resampling._FEW_ROWS", 999)
    assert "refits on halves" not in run("fit", table, "--method", "ges").stdout


@pytest.mark.parametrize("file_format", ["csv", "npy"])
def test_simulate_fit_score(tmp_path, file_format):
    """The three commands work on each other's files without further words."""
    run("simulate", "gauss-anm", "--n-nodes", 5, "--n-rows", 300, "--format", file_format, "-o", tmp_path / "simulated")
    data = tmp_path / "simulated" / f"data.{file_format}"
    process = run("fit", data, "--method", "cam", "--quiet", "--output", tmp_path / "fitted")
    assert process.returncode == 0, process.stderr
    for truth in ("truth.json", "truth.csv"):
        process = run("score", tmp_path / "fitted" / "edges.csv", tmp_path / "simulated" / truth, "--json")
        facts = json.loads(process.stdout)
        assert facts["n_nodes"] == 5
        assert facts["shd"] == facts["missing"] + facts["extra"] + facts["reversed"]


def test_threads_are_for_every_method(table):
    for method in ("pc", "cam"):
        process = run("fit", table, "--method", method, "--n-jobs", 1, "--quiet")
        assert (process.returncode, process.stderr) == (0, "")


def test_kinds_and_labels(tmp_path):
    """Kinds from the command line, a note on what was decided, labels as ends of an effect."""
    rng = np.random.default_rng(0)
    city = rng.choice(["Bonn", "Oslo", "Rome"], 200)
    stage = rng.integers(1, 4, 200)
    level = 3.0 * (city == "Rome") + rng.normal(size=200)
    pd.DataFrame({"city": city, "stage": stage, "level": level}).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "k.toml").write_text('required = [["city", "level"]]\n')
    process = run(
        "fit", tmp_path / "t.csv", "--method", "pc", "--kinds", "stage=categorical", "--resamples", 0, "--json"
    )
    facts = json.loads(process.stdout)
    assert facts["parameters"]["kinds"] == "stage=categorical"
    assert any(note.startswith("Kinds of columns, by their values: categorical 'city'") for note in facts["notes"])
    assert not any("Taken for numbers" in note for note in facts["notes"])
    arguments = ("effect", tmp_path / "t.csv", "--method", "pc", "--knowledge", tmp_path / "k.toml", "--of", "city",
                 "--on", "level", "--low", "Bonn", "--resamples", 2, "--n-jobs", 1)  # fmt: skip
    assert run(*arguments, "--high", "Rome").stdout.startswith("Setting city to Rome instead of Bonn changes the mean")
    wrong = run(*arguments, "--high", "Roma")
    assert wrong.returncode == 2
    assert "one of the labels Bonn" in " ".join(wrong.stderr.split())
