"""The page of the paper's tables: its markup and contents."""

import json
import re

import numpy as np
import pytest

from grandag.report import environment
from grandag.reproduction.page import paper_page
from grandag.reproduction.result_table import Cell, Figure, ResultTable, Run
from tests.report.html import addresses, parse
from tests.reproduction.tables import COLUMNS, HOSTILE, METHODS, make_table, make_tables

ENVIRONMENT = {"grandag": "0.1.0", "processor": "<x> & y"}


@pytest.fixture(scope="module")
def tables():
    return make_tables(4)


@pytest.fixture(scope="module")
def page(tables):
    return paper_page(tables, ENVIRONMENT)


@pytest.fixture(scope="module")
def tree(page):
    return parse(page)


def stored(tree):
    return json.loads(tree.one("script", id="data").text)


def small_table(*runs, paper=(), measure="SHD", remark=""):
    cell = Cell("GES", "ER1", measure, runs, paper, remark)
    return ResultTable("small", "S.1", "Small", ("GES",), ("ER1",), (measure,), {("GES", "ER1", measure): cell})


def done(key, *value, **known):
    return Run(key, "ges", f"set {key}", {}, "done", measures={"SHD": value}, seconds=1.0, **known)


def cell_of(tree, table, row, number):
    (line,) = tree.one("section", id=table).one("table", class_="matrix").all("tr", data_row=row)
    return line.all("td")[number]


def test_nothing_is_fetched(page, tree):
    assert all(address.startswith(("#", "data:,")) for address in addresses(tree))
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_links_lead_somewhere(tree):
    data = stored(tree)
    identities = {
        node.attributes["id"] for tag in ("section", "dialog") for node in tree.all(tag) if "id" in node.attributes
    }
    for address in {link.attributes["href"] for link in tree.all("a")}:
        if cell := re.fullmatch(r"#cell-(\d+)", address):
            assert data["cells"][int(cell[1])]["runs"]
        else:
            assert address.removeprefix("#") in identities


def test_text_is_never_markup(page, tree):
    assert HOSTILE in tree.one("section", id="failures").text
    assert len(tree.all("script")) == 2
    assert "alert" not in page.replace("alert(&#39;x&#39;)", "").replace("\\u003cscript>alert('x')\\u003c/script>", "")
    assert "<i>as data</i>" in tree.one("section", id="table5").one("h2").text
    assert "<x> & y" in tree.one("section", id="environment").text
    assert stored(tree)["parameters"][0]["note"] == "<b>bold</b>"


def test_tables_are_marked_up(tree):
    for table in tree.all("table"):
        if table.attributes.get("id") != "runs-table":  # filled by the script
            assert table.one("caption").text.strip()
            assert all("scope" in head.attributes for head in table.all("th"))
    matrix = tree.one("section", id="table1").one("table", class_="matrix")
    assert [head.text for head in matrix.all("th", scope="colgroup")] == list(COLUMNS)
    assert [head.text for head in matrix.all("th", scope="row")] == list(METHODS)
    sortable = [head for head in matrix.all("th") if "aria-sort" in head.attributes]
    assert [head.one("button").text for head in sortable] == ["Method", *["SHD", "SID"] * 4]


def test_cell_has_ours_beside_the_papers():
    runs = done("a", 1.0), done("b", 4.0), done("c", 4.0)
    tree = parse(paper_page([small_table(*runs, paper=(Figure(1.5, 2.0),))], {}))
    cell = cell_of(tree, "small", "GES", 0)
    assert [figure.text.strip() for figure in cell.all("span", class_="figure")] == [
        "ours3.0±\u20091.7",
        "paper1.5±\u20092.0",
    ]
    assert cell.one("span", class_="difference").text == "+0.8 sd"
    assert "apart" not in cell.one("span", class_="difference").attributes["class"]
    assert cell.one("a").text == "3 runs"
    assert (cell.attributes["data-ours"], cell.attributes["data-paper"]) == ("3.0", "1.5")
    assert tree.one("section", id="small").one("h2").text == "S.1 Small"


def test_bounds_remarks_and_decimals():
    runs = done("a", 1.0, 3.0), done("b", 2.0)
    paper = Figure(5.0, 1.0), Figure(2.25, 0.5)
    cell = cell_of(parse(paper_page([small_table(*runs, paper=paper, remark="*")], {})), "small", "GES", 0)
    texts = [figure.text.strip() for figure in cell.all("span", class_="figure")]
    assert texts == ["ours≥1.50±\u20090.71", "≤2.50±\u20090.71", "paper≥5.00±\u20091.00", "≤2.25±\u20090.50"]
    assert cell.one("span", class_="difference").text == "\u22123.5, +0.5 sd"
    assert "apart" in cell.one("span", class_="difference").attributes["class"]
    assert cell.one("span", class_="remark").text == "*"


def test_differences_without_a_deviation():
    def difference(*paper):
        tree = parse(paper_page([small_table(done("a", 1.0, 3.0), paper=paper)], {}))
        return [span.text for span in cell_of(tree, "small", "GES", 0).all("span", class_="difference")]

    assert difference(Figure(5.0), Figure(2.0, 0.5)) == ["\u2013, +2.0 sd"]
    assert difference(Figure(5.0), Figure(2.0)) == []


def test_cells_without_runs_or_figures(tree):
    assert cell_of(tree, "table1", "RANDOM", 7).text.strip() == "\u2013"
    empty = parse(paper_page([small_table()], {}))
    assert cell_of(empty, "small", "GES", 0).text.strip() == "\u2013"
    assert not empty.all("figure")
    assert not empty.all("section", id="failures")
    one = parse(paper_page([small_table(done("a", 2.0), paper=(Figure(13.0),))], {}))
    figures = cell_of(one, "small", "GES", 0).all("span", class_="figure")
    assert [figure.text.strip() for figure in figures] == ["ours2.0", "paper13.0"]
    assert parse(paper_page([], {})).one("h1")


def test_runs_without_a_result_are_listed_once(tree):
    rows = tree.one("section", id="failures").one("tbody").all("tr")
    found = {(row.all("td")[0].text, row.all("td")[1].text, row.all("td")[4].text) for row in rows}
    assert len(rows) == len(found) == 4
    assert ("table1", "NOTEARS", "failed") in found
    assert ("table5", "DAG-GNN", "out of time") in found
    assert cell_of(tree, "table1", "NOTEARS", 2).one("a").text == "3 of 4 runs"


def test_every_cell_has_a_box_plot(tree, tables):
    section = tree.one("section", id="table1")
    strips = [lane for lane in section.all("div", class_="lane") if lane.all("svg")]
    assert len(strips) == len(tables[0].cells)
    panels = section.all("figure", class_="panel")
    assert [panel.attributes["data-column"] for panel in panels] == [column for column in COLUMNS for _ in range(2)]
    bounds = next(lane for lane in panels[1].all("div", class_="lane") if lane.attributes.get("data-row") == "GSF")
    assert len(bounds.all("path", class_="box")) == 2


def test_time_counts_each_run_once(tree, tables):
    times = tree.one("section", id="table1").one("table", class_="times")
    row = next(row for row in times.one("tbody").all("tr") if row.attributes["data-row"] == "CAM")
    runs = [
        run
        for (method, _, measure), cell in tables[0].cells.items()
        if (method, measure) == ("CAM", "SHD")
        for run in cell.runs
    ]
    values = [cell.attributes.get("data-value") for cell in row.all("td")]
    assert int(values[4]) == len(runs) == 16
    assert float(values[5]) == pytest.approx(sum(run.seconds for run in runs))
    er1 = [run.seconds for run in tables[0].cells["CAM", "ER1", "SHD"].runs]
    assert float(values[0]) == pytest.approx(np.median(er1))


def test_script_has_every_run_once_and_graphs_by_truth(tree, tables):
    data = stored(tree)
    runs = {run.key: run for table in tables for cell in table.cells.values() for run in cell.runs}
    assert {run["key"] for run in data["runs"]} == set(runs)
    assert len(data["runs"]) == len(runs)
    assert len(data["graphs"]) == 4 * (4 + 2)
    for record in data["runs"]:
        run, graph = runs[record["key"]], data["graphs"][record["graph"]]
        assert graph["truth"] == np.flatnonzero(run.truth).tolist()
        assert record["edges"] == (None if run.adjacency is None else np.flatnonzero(run.adjacency).tolist())
        assert len(graph["boxes"]) == len(run.names)


def test_graphs_without_a_truth_and_numbers_that_are_not_finite():
    adjacency = np.array([[0, 1], [0, 0]], dtype=bool)
    run = Run(
        "a",
        "pc",
        "set",
        {"x": np.float64(2.5), "y": float("nan"), "z": (1, 2)},
        "done",
        adjacency=adjacency,
        score=float("inf"),
    )
    data = stored(parse(paper_page([small_table(run)], {})))
    assert data["graphs"][0]["names"] == ["X0", "X1"]
    assert data["graphs"][0]["truth"] is None
    assert (data["runs"][0]["seconds"], data["runs"][0]["score"]) == (None, None)
    assert data["parameters"][0] == {"x": 2.5, "y": "nan", "z": "(1, 2)"}


def test_measures_that_are_not_numbers_are_shown_and_not_drawn():
    tree = parse(paper_page([small_table(done("a", float("nan")), done("b", 2.0))], {}))
    cell = cell_of(tree, "small", "GES", 0)
    assert cell.one("span", class_="mean").text == "nan"
    assert cell.attributes["data-ours"] == ""
    assert tree.one("figure").one("path", class_="value").attributes["d"].count("M") == 1


def test_same_tables_same_page(tables, page):
    assert paper_page(make_tables(4), ENVIRONMENT) == page


def test_page_of_a_thousand_runs_is_small():
    table = make_table("large", "9", "Large", 10, 42, np.random.default_rng(1))
    page = paper_page([table], {})
    assert len(stored(parse(page))["runs"]) == 42 * 4 * len(METHODS) == 1008
    assert len(page.encode()) < 1_000_000


def test_environment_names_versions():
    found = environment()
    assert found["numpy"] == np.__version__
    assert {"grandag", "Python", "numba", "processor", "cores"} <= set(found)
    assert all(isinstance(value, str) and value for value in found.values())
