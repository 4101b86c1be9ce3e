"""The page of one fit: what it shows of which method."""

import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from grandag import CAM, GES, PC, GraNDAG, RandomGraph
from grandag.distributions import Gaussian
from grandag.methods.registry import METHODS
from grandag.model import CausalModel
from grandag.report import fit_page
from grandag.report.partial_effects import partial_effect
from tests.conftest import mixed_frame, nonlinear_chain
from tests.report.html import addresses, parse
from tests.report.large import large_fit

NAMES = ("do<b>se", 'respo"nse', "out & come")
TRUTH = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(nonlinear_chain(np.random.default_rng(1), n=300), columns=list(NAMES))


@pytest.fixture(scope="module")
def neural(frame):
    return GraNDAG(record_A_phi=True, random_state=3, n_jobs=1).fit(frame)


def titles(tree):
    return [caption.text for caption in tree.all("figcaption")]


def edges_of(tree):
    return [row.attributes["data-row"] for row in tree.one("table", class_="edges").one("tbody").all("tr")]


def test_page_of_a_neural_fit(neural, frame):
    page = fit_page(neural, frame, data="chain.csv", seconds=1.5, truth=(TRUTH, NAMES), environment={"grandag": "0"})
    tree = parse(page)
    assert tree.one("h1").text == "Graph learned from chain.csv"
    assert "converged after" in tree.one("p", class_="lead").text
    assert "1.5 s" in tree.one("p", class_="lead").text
    assert edges_of(tree)[0] in {f"{a} → {b}" for a in NAMES for b in NAMES}
    assert len(edges_of(tree)) == neural.adjacency_.sum()
    table = tree.one("table", class_="edges")
    assert [head.text.strip() for head in table.one("thead").all("th")][:2] == ["Edge", "evidence"]
    cells = [row.all("td")[0] for row in table.one("tbody").all("tr")]
    assert [float(cell.attributes["data-value"]) for cell in cells] == neural.edges_["evidence"].tolist()
    assert [cell.text for cell in cells] == [f"{value:.1f}" for value in neural.edges_["evidence"]]
    notes = [note.text for note in tree.one("section", id="edges").all("p", class_="note")]
    assert notes[0].startswith("Evidence is what the log marginal likelihood loses, in nats,")
    names = ["Acyclicity constraint h", "Log-likelihood", "Entries of Aφ as training proceeds"]
    assert titles(tree)[:3] == names
    assert sorted(titles(tree)[3:]) == sorted(edges_of(tree))
    facts = tree.one("section", id="environment")
    assert (facts.one("dt").text, facts.one("dd").text) == ("grandag", "0")
    assert "random_state" in tree.one("section", id="parameters").text
    assert all(address.startswith(("#", "data:,")) for address in addresses(tree))


def test_names_are_text(neural, frame):
    page = fit_page(neural, frame)
    assert "<b>" not in page
    assert "do&lt;b&gt;se" in page
    assert "out &amp; come" in page
    assert 'aria-label="do<b>se' not in page


def test_edges_beside_the_truth(neural, frame):
    model = GraNDAG(random_state=3, n_jobs=1).fit(frame)
    other = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]], dtype=bool)
    model.learned_ = replace(model.learned_, adjacency=other, conditionals=None)
    shuffled = (TRUTH[::-1, ::-1], NAMES[::-1])
    tree = parse(fit_page(model, frame, truth=shuffled))
    rows = tree.one("table", class_="edges").one("tbody").all("tr")
    verdicts = {row.attributes["data-row"]: row.all("td")[-1].text for row in rows}
    assert verdicts == {f"{NAMES[0]} → {NAMES[2]}": "extra", f"{NAMES[1]} → {NAMES[0]}": "reversed"}
    missing = next(note.text for note in tree.all("p", class_="note") if "missing" in note.text)
    assert missing == f"True edges that are missing: {NAMES[1]} → {NAMES[2]}."
    assert not tree.all("section", id="curves")


def test_lines_of_A_phi(neural, frame):  # noqa: N802
    def lines(truth):
        tree = parse(fit_page(neural, frame, truth=truth))
        figure = tree.one("div", class_="whole")
        marks = figure.one("div", class_="plot").all("path")
        return {mark.attributes["class"]: mark.attributes["d"].count("M") for mark in marks}

    assert lines(None) | {"grid": 0} == {
        "grid": 0,
        "line-other": 6 - len(neural.edges_),
        "line-one": len(neural.edges_),
        "line-threshold": 1,
    }
    assert lines(TRUTH) | {"grid": 0} == {"grid": 0, "line-false": 4, "line-true": 2, "line-threshold": 1}


def test_no_record_no_chart(frame):
    model = GraNDAG(max_iterations=200, random_state=3, n_jobs=1, retrain=False)
    with pytest.warns(UserWarning, match="not acyclic"):
        model.fit(frame)
    tree = parse(fit_page(model, frame))
    assert titles(tree) == ["Acyclicity constraint h", "Log-likelihood"]
    concerns = tree.one("section", id="warnings").text
    assert "not converged" in concerns


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_page_of_every_method(method, frame):
    entry = METHODS[method]
    quick = {"max_iterations": 100, "n_epochs": 5, "random_state": 1, "n_jobs": 1, "n_edges": 2}
    known = entry.estimator()().get_params()
    model = entry.estimator()(**entry.parameters, **{name: value for name, value in quick.items() if name in known})
    tree = parse(fit_page(model.fit(frame), frame, truth=TRUTH))
    assert method in tree.one("p", class_="lead").text
    assert bool(tree.all("section", id="training")) == (model.trace_ is not None)
    assert bool(tree.all("section", id="curves")) == bool(model.adjacency_.any())


def test_edges_without_direction(frame):
    model = RandomGraph(random_state=1).fit(frame)
    mixed = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]], dtype=bool)
    model.learned_ = replace(model.learned_, adjacency=mixed, kind="cpdag", conditionals=None)
    tree = parse(fit_page(model, frame, truth=TRUTH))
    assert sorted(edges_of(tree)) == sorted([f"{NAMES[0]} — {NAMES[1]}", f"{NAMES[1]} → {NAMES[2]}"])
    verdicts = [row.all("td")[-1].text for row in tree.one("table", class_="edges").one("tbody").all("tr")]
    assert sorted(verdicts) == ["direction differs", "found"]
    drawing = tree.one("div", class_="drawing")
    assert len(drawing.all("g", class_="edge")) == 2
    assert len(drawing.all("polygon")) == 1


def test_frequencies_are_listed(frame):
    model = CAM().fit(frame)
    model.learned_ = model.learned_.with_facts({"frequency": np.full((3, 3), 0.875)}, "Made up.")
    tree = parse(fit_page(model, frame))
    heads = [head.text.strip() for head in tree.one("table", class_="edges").one("thead").all("th")]
    assert heads == ["Edge", "strength", "p value", "degrees of freedom", "explained", "frequency"]
    assert tree.one("table", class_="edges").one("tbody").all("tr")[0].all("td")[-1].text == "0.88"


def test_a_large_graph_has_neighbourhoods_and_clusters():
    model, data = large_fit()
    page = fit_page(model, data)
    tree = parse(page)
    assert tree.one("div", class_="drawing", aria_label="Drawing of the graph").all("g", class_="edge")
    assert "The strongest of 170 edges: " in tree.one("section", id="graph").text
    facts = json.loads(tree.one("script", id="large-graph").text)
    edges = {(facts["names"][source], facts["names"][target]) for source, target, *_ in facts["edges"]}
    assert edges == set(model.graph_.edges)
    assert [edge[3:] for edge in facts["edges"]] == [
        [f"{edge.strength:.3f}", f"{edge.explained:.1%}"] for edge in model.edges_.itertuples()
    ]
    assert {option.attributes["value"] for option in tree.all("option")} == set(model.names_)
    rows = [
        [cell.text for cell in row.all("td")] for row in tree.one("table", class_="clusters").one("tbody").all("tr")
    ]
    isolated = nx.number_of_isolates(model.graph_)
    assert f" {isolated} variables have no edges" in tree.one("section", id="clusters").text
    assert sum(int(row[0]) for row in rows) == len(model.names_) - isolated
    assert "</script><b>" not in page
    assert all(address.startswith(("#", "data:,")) for address in addresses(tree))


def test_a_small_graph_has_neither(frame):
    tree = parse(fit_page(RandomGraph(n_edges=2, random_state=1).fit(frame), frame))
    assert not [section for name in ("around", "clusters") for section in tree.all("section", id=name)]


def test_a_page_of_1000_variables_is_no_heavier_than_a_photo():
    """An issue asks for less than 20 MB."""
    model, data = large_fit(1000, 1000)
    assert len(fit_page(model, data).encode()) < 3e6


def test_of_very_many_edges_the_strongest_are_listed(frame, monkeypatch):
    monkeypatch.setitem(fit_page.__globals__, "_MOST_ROWS", 1)
    model = RandomGraph(n_edges=3, random_state=1).fit(frame)
    tree = parse(fit_page(model, frame))
    assert len(edges_of(tree)) == 1
    assert "2 weaker edges are left out here" in tree.one("section", id="edges").text


def test_no_edges(frame):
    model = RandomGraph(n_edges=0, random_state=1).fit(frame)
    assert "The graph has no edges." in fit_page(model, frame)


def test_rows_with_missing_values_are_left_out_as_in_the_fit(frame):
    holes = frame.copy()
    holes.iloc[0, 0] = np.nan
    model = CAM(missing="drop").fit(holes)
    assert parse(fit_page(model, holes)).all("section", id="curves")


class Given:
    """A conditional with a known mean."""

    def __init__(self, mean):
        self.mean = mean

    def given(self, parents):
        return Gaussian(self.mean(parents), np.ones(len(parents)))


def model_of(mean):
    """x -> z <- y with the given mean of z."""
    adjacency = np.zeros((3, 3), dtype=bool)
    adjacency[:2, 2] = True
    nothing = Given(lambda parents: np.zeros(len(parents)))
    return CausalModel(("x", "y", "z"), adjacency, (nothing, nothing, Given(mean)))


def test_effect_in_an_additive_model_is_the_parents_own_curve(rng):
    values = rng.normal(size=(500, 3))
    found = partial_effect(model_of(lambda p: np.exp(p[:, 0]) + 3 * p[:, 1]), values, 1, 2)
    np.testing.assert_allclose(np.diff(found.effect), 3 * np.diff(found.x))
    np.testing.assert_allclose(found.low, found.high, atol=1e-10)
    assert found.effect.mean() == pytest.approx(0, abs=1e-12)
    assert found.x[[0, -1]] == pytest.approx(np.quantile(values[:, 1], [0.01, 0.99]))


def test_points_are_the_effect_and_what_is_unexplained(rng):
    values = rng.normal(size=(100, 3))
    values[:, 2] = 3 * values[:, 1] + values[:, 0] ** 2 + 0.5
    found = partial_effect(model_of(lambda p: 3 * p[:, 1] + p[:, 0] ** 2), values, 1, 2)
    np.testing.assert_allclose(found.partial_residual - np.interp(found.parent, found.x, found.effect), 0.5)


def test_band_shows_that_the_effect_depends_on_the_other_parents(rng):
    values = rng.normal(size=(500, 3))
    found = partial_effect(model_of(lambda p: p[:, 0] * p[:, 1]), values, 0, 2)
    assert (found.high - found.low)[0] > 2
    assert np.abs(found.effect).max() < 0.5


def test_curves_of_undirected_edges(rng):
    """In the direction that the model has, whatever the order of the columns."""
    a = rng.normal(size=300)
    b = a + 0.5 * rng.normal(size=300)
    frame = pd.DataFrame({"a": a, "c": b + 0.5 * rng.normal(size=300), "b": b})
    model = GES().fit(frame)
    assert set(model.edges_["type"]) == {"--"}
    assert len(titles(parse(fit_page(model, frame)))) == len(model.edges_) == 2


def test_page_of_a_table_with_labels_and_counts():
    """A label's effects are bars, one for each label."""
    table = mixed_frame()
    model = PC(knowledge={"required": [["x", "city"], ["city", "visits"]]}).fit(table)
    tree = parse(fit_page(model, table, data="visits.csv", environment={}))
    assert {"x → city", "city → visits"} <= set(titles(tree))
    bars = next(figure for figure in tree.all("figure") if figure.one("figcaption").text == "city → visits")
    assert {"Bonn", "Oslo", "Rome"} <= {tick.text for tick in bars.all("span")}
