"""The pages in a real browser: they render, sort, filter, open runs, fit a phone, and ask for nothing."""

import pytest

from grandag import GraNDAG, datasets
from grandag.graph.algebra import undirected_part
from grandag.metrics import edge_errors
from grandag.report import environment, fit_page
from grandag.reproduction.page import paper_page
from tests.report.browser import Page, chromium
from tests.report.large import HOSTILE as HOSTILE_NODE
from tests.report.large import large_fit
from tests.reproduction.tables import HOSTILE, METHODS, make_tables

MATRIX = "#table1 table.matrix"


@pytest.fixture(scope="module")
def session():
    with chromium() as session:
        yield session


@pytest.fixture(scope="module")
def tables():
    return make_tables(4)


@pytest.fixture(scope="module")
def paper(session, tables, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "paper page.html"
    path.write_text(paper_page(tables, environment()), encoding="utf-8")
    return Page(session, path)


@pytest.fixture(scope="module")
def fit(session, tmp_path_factory):
    sachs = datasets.load_sachs()
    model = GraNDAG(max_iterations=300, n_layers=1, record_A_phi=True, random_state=1, n_jobs=1)
    with pytest.warns(UserWarning):
        model.fit(sachs.data)
    path = tmp_path_factory.mktemp("pages") / "fit.html"
    page = fit_page(model, sachs.data, data="sachs", truth=(sachs.adjacency, sachs.names))
    path.write_text(page, encoding="utf-8")
    return Page(session, path)


@pytest.fixture(scope="module")
def large_model():
    return large_fit()


@pytest.fixture(scope="module")
def large(session, large_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "large.html"
    path.write_text(fit_page(*large_model, data="genes"), encoding="utf-8")
    return Page(session, path)


@pytest.fixture(params=["paper", "fit", "large"])
def page(request):
    return request.getfixturevalue(request.param)


def rows_of(page, table=MATRIX):
    return [row.get_attribute("data-row") for row in page.find_all(f"{table} tbody tr") if row.is_displayed()]


def head(page, number):
    """The number-th button that sorts the matrix: the method, then SHD and SID of each column."""
    return page.find_all(f"{MATRIX} button.sort")[number]


def sort_state(page):
    return [cell.get_attribute("aria-sort") for cell in page.find_all(f"{MATRIX} th[aria-sort]")]


def choose(page, identity, text):
    for option in page.find_all(f"#{identity} option"):
        if option.text == text:
            option.click()


def open_cell(page, method, measure_number):
    open_runs(page, page.find_all(f"{MATRIX} tr[data-row='{method}'] a.runs")[measure_number])


def open_runs(page, link):
    link.click()
    assert page.wait(page.find("#runs").is_displayed)


def drawn_around(page):
    """What the page shows of a neighbourhood: names in boxes, lines by their titles, rows of the table."""
    boxes = {box.get_attribute("data-node") for box in page.find_all("#neighbourhood g.node")}
    lines = [title.get_attribute("textContent") for title in page.find_all("#neighbourhood .drawing g > title")]
    rows = [
        [cell.text for cell in row.find_elements("css selector", "td")]
        for row in page.find_all("#neighbourhood tbody tr")
    ]
    return boxes, sorted(line.removesuffix(": learned") for line in lines), rows


def around(model, node):
    """The same by the model."""
    near = {node, *model.graph_.pred[node], *model.graph_.succ[node]}
    return near, sorted(f"{source} → {target}" for source, target in model.graph_.subgraph(near).edges)


def test_a_large_graph_opens_at_the_node_with_the_most_edges_and_goes_on_to_others(large, large_model):
    model = large_model[0]
    large.open()
    hub = max(model.names_, key=model.graph_.degree)
    boxes, lines, rows = drawn_around(large)
    assert (boxes, lines) == around(model, hub)
    assert sorted((name, role) for name, role, *_ in rows) == sorted(
        [(name, "a cause") for name in model.graph_.pred[hub]]
        + [(name, "an effect") for name in model.graph_.succ[hub]]
    )
    assert large.find("#around-status").text == f"{len(rows)} edges of {hub}"
    heights = {box.get_attribute("data-node"): box.location["y"] for box in large.find_all("#neighbourhood g.node")}
    assert all(heights[cause] < heights[hub] for cause in model.graph_.pred[hub])
    assert all(heights[effect] > heights[hub] for effect in model.graph_.succ[hub])
    other = rows[0][0]
    large.find("#neighbourhood tbody button").click()
    assert large.find("#around-name").get_attribute("value") == other
    assert drawn_around(large)[:2] == around(model, other)


def test_a_node_is_chosen_by_its_name_whatever_the_name(large, large_model):
    large.open()
    chooser = large.find("#around-name")
    chooser.clear()
    chooser.send_keys(HOSTILE_NODE)
    assert large.wait(lambda: HOSTILE_NODE in large.find("#around-status").text)
    assert drawn_around(large)[:2] == around(large_model[0], HOSTILE_NODE)
    chooser.send_keys("?")
    assert large.find("#around-status").text == "There is no variable of this name."
    assert large.messages() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_renders_without_errors_or_requests(page, width, scheme):
    page.open(width=width, scheme=scheme)
    assert page.find("h1").is_displayed()
    assert all(table.size["height"] > 0 for table in page.find_all("main table"))
    assert page.messages() == []
    assert page.requests() == {page.path.as_uri()}


def test_charts_fill_their_places(fit):
    fit.open()
    plots = fit.find_all(".plot > svg")
    assert len(plots) > 3
    for plot in plots:
        marks = plot.find_elements("css selector", "path:not(.grid)")
        assert marks
        assert all(mark.size["width"] > 0 for mark in marks)


def test_sorts_by_clicks_and_keys(paper, tables):
    means = {row: tables[0].cells[row, "ER1", "SHD"].ours[0].mean for row in METHODS}
    ascending = sorted(METHODS, key=means.__getitem__)
    paper.open()
    assert rows_of(paper) == list(METHODS)
    head(paper, 1).click()
    assert rows_of(paper) == ascending
    assert sort_state(paper) == ["none", "ascending", *["none"] * 7]
    paper.run("arguments[0].focus()", head(paper, 1))
    paper.session.switch_to.active_element.send_keys("\ue007")  # Enter
    assert [means[row] for row in rows_of(paper)] == sorted(means.values(), reverse=True)
    assert sort_state(paper)[1] == "descending"
    head(paper, 0).click()
    assert rows_of(paper) == sorted(METHODS, key=str.lower)


def test_sorts_by_the_papers_and_by_differences(paper, tables):
    cells = {row: tables[0].cells[row, "ER4", "SHD"] for row in METHODS}
    paper.open()
    head(paper, 3).click()
    choose(paper, "sort-key", "difference")
    assert rows_of(paper) == sorted(METHODS, key=lambda row: cells[row].differences[0])
    choose(paper, "sort-key", "the paper\u2019s")
    assert rows_of(paper) == sorted(METHODS, key=lambda row: cells[row].paper[0].mean)


def test_cells_without_a_figure_come_last_either_way(paper):
    paper.open()
    for _ in range(2):
        head(paper, 8).click()
        assert rows_of(paper)[-1] == "RANDOM"


def test_sorts_times(paper, tables):
    totals = {row: sum(run.seconds for column in tables[0].columns for run in tables[0].cells[row, column, "SHD"].runs
                       if run.status == "done") for row in METHODS}  # fmt: skip
    paper.open()
    paper.find_all("#table1 table.times button.sort")[-1].click()
    assert rows_of(paper, "#table1 table.times") == sorted(METHODS, key=totals.__getitem__)


def test_filters_rows(paper):
    paper.open()
    paper.find("#filter-text").send_keys("dag")
    wanted = ["GraN-DAG", "DAG-GNN"]
    assert rows_of(paper) == wanted
    assert rows_of(paper, "#table5 table.matrix") == wanted
    lanes = [lane.get_attribute("data-row") for lane in paper.find_all("#table1 .panel:first-child .lane[data-row]")
             if lane.is_displayed()]  # fmt: skip
    assert lanes == wanted
    assert paper.find("#filter-status").text == "4 of 12 rows shown"
    paper.find("#filter-text").clear()
    paper.find("#filter-text").send_keys("\ue007")
    assert rows_of(paper) == list(METHODS)
    assert paper.messages() == []


def test_filters_methods_and_columns(paper):
    paper.open()
    paper.find(".methods summary").click()
    paper.find("input[value='RANDOM']").click()
    paper.find("input[value='CAM']").click()
    assert rows_of(paper) == [row for row in METHODS if row not in ("RANDOM", "CAM")]
    choose(paper, "filter-column", "SF1")
    shown = {cell.get_attribute("data-column") for cell in paper.find_all("[data-column]") if cell.is_displayed()}
    assert shown == {"SF1"}


def test_legend_of_the_box_plots_stands_off(paper):
    paper.open()
    legend, title = (paper.find(f"#table1 details {part}").rect for part in ("ul.legend", "figcaption"))
    assert title["y"] - legend["y"] - legend["height"] >= 8


def test_opens_a_run_and_draws_its_graph(paper, tables):
    paper.open()
    open_cell(paper, "NOTEARS", 0)
    runs = tables[0].cells["NOTEARS", "ER1", "SHD"].runs
    assert paper.find("#runs").is_displayed()
    assert paper.find("#runs-title").text == "NOTEARS, ER1, SHD"
    assert len(paper.find_all("#runs-table tbody tr")) == len(runs)
    heads = [button.text for button in paper.find_all("#runs-table button.sort")]
    assert heads == ["Data", "Outcome", "SHD", "SID", "CPU seconds", "Iterations", "Score"]
    for number, run in enumerate(runs):
        paper.find_all("#runs-table button.show")[number].click()
        errors = edge_errors(run.truth, run.adjacency)
        counts = {
            kind: len(paper.find_all(f"#run .drawing path.edge.{kind}"))
            for kind in ("missing", "extra", "reversed", "found")
        }
        assert (counts["missing"], counts["extra"], counts["reversed"]) == errors[:3]
        assert counts["found"] == (run.truth & run.adjacency).sum()
        assert len(paper.find_all("#run .node")) == len(run.names)
        assert len(paper.find_all("#run .drawing .edge-head")) == sum(counts.values())
    assert paper.messages() == []


def test_kinds_of_edges_differ_in_colour_and_in_line(paper):
    paper.open()
    looks = paper.run(
        """
        const run = document.getElementById("run"), kinds = ["found", "missing", "extra", "reversed", "undirected"];
        const paths = kinds.map((kind) => {
          const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
          path.setAttribute("class", `edge ${kind}`);
          run.append(path);
          return getComputedStyle(path);
        });
        return paths.map((style) => [style.stroke, style.strokeDasharray]);
        """
    )
    colours, dashes = zip(*looks, strict=True)
    assert len(set(colours)) == len(set(dashes)) == 5


def test_edges_without_direction_have_no_head(paper, tables):
    paper.open()
    open_cell(paper, "GSF", 0)
    for number, run in enumerate(tables[0].cells["GSF", "ER1", "SHD"].runs):
        paper.find_all("#runs-table button.show")[number].click()
        n_undirected = int(undirected_part(run.adjacency).sum()) // 2
        assert len(paper.find_all("#run .drawing .edge.undirected")) == n_undirected
        n_directed = int(run.adjacency.sum()) - 2 * n_undirected
        assert len(paper.find_all("#run .drawing .edge-head")) == n_directed
    assert any(undirected_part(run.adjacency).any() for run in tables[0].cells["GSF", "ER1", "SHD"].runs)


def test_lines_avoid_boxes_they_do_not_end_at(paper, tables):
    """In sparse graphs there is always a way around."""
    paper.open()
    open_cell(paper, "GraN-DAG", 0)
    hits = paper.run(
        """
        const boxes = [...document.querySelectorAll("#run .node rect")].map((box) => box.getBBox());
        let hits = 0;
        for (const path of document.querySelectorAll("#run .drawing path.edge")) {
          for (let k = 1; k < 100; k++) {
            const point = path.getPointAtLength(path.getTotalLength() * (0.02 + 0.0096 * k));
            const isBetween = (value, low, size) => value > low + 1 && value < low + size - 1;
            hits += boxes.some((box) => isBetween(point.x, box.x, box.width) && isBetween(point.y, box.y, box.height));
          }
        }
        return hits;
        """
    )
    assert hits == 0
    assert tables[0].cells["GraN-DAG", "ER1", "SHD"].runs[0].truth.sum() == 10


def test_wide_drawings_are_shown_whole_and_in_full_size(paper):
    paper.open(width=390)
    open_runs(paper, paper.find_all("#table5 table.matrix tr[data-row='CAM'] a.runs")[2])
    drawing, button = paper.find("#run .drawing"), paper.find("#run button.zoom")
    assert paper.run("return arguments[0].scrollWidth <= arguments[0].clientWidth", drawing)
    button.click()
    assert paper.run("return arguments[0].scrollWidth > arguments[0].clientWidth", drawing)
    assert button.get_attribute("aria-pressed") == "true"
    paper.open(width=1280)
    open_cell(paper, "CAM", 0)
    assert not paper.find("#run button.zoom").is_displayed()


def test_failed_run_shows_its_error_as_text(paper):
    paper.open()
    open_cell(paper, "NOTEARS", 2)
    paper.find_all("#runs-table button.show")[1].click()
    assert HOSTILE in paper.find("#run pre").text
    assert "There is no graph." in paper.find("#run").text
    assert paper.messages() == []


def test_dialog_is_left_by_keys_and_by_going_back(paper):
    paper.open()
    open_cell(paper, "CAM", 1)
    fragment = paper.run("return location.hash")
    paper.session.switch_to.active_element.send_keys("\ue00c")  # Escape
    assert paper.wait(lambda: not paper.find("#runs").is_displayed())
    assert paper.wait(lambda: paper.run("return location.hash") == "")
    paper.open(fragment=fragment)
    assert paper.find("#runs-title").text == "CAM, ER1, SID"
    paper.find("#runs button.close").click()
    assert paper.wait(lambda: not paper.find("#runs").is_displayed())


FONTS = """
const small = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, parent = node.parentElement;
  if (!node.textContent.trim() || parent.closest("script, style, .drawing") || !parent.checkVisibility()) continue;
  if (parseFloat(getComputedStyle(parent).fontSize) < 12) small.push(node.textContent.trim());
}
return small;
"""


@pytest.mark.parametrize("fragment", ["", "#cell-0"])
def test_readable_on_a_phone(page, fragment):
    page.open(width=390, height=844, fragment=fragment)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    assert page.run("return innerWidth") == 390
    assert page.run(FONTS) == []
    wide = page.run(
        """
        const ends = [...document.querySelectorAll("h1, h2, p, figure, .scroll, .tools > *, .facts, dialog[open] > *")];
        const isWide = (part) => part.checkVisibility() && part.getBoundingClientRect().right > innerWidth + 1;
        return ends.filter(isWide).map((part) => part.outerHTML.slice(0, 80));
        """
    )
    assert wide == []


CONTRAST = """
const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const light = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(channel);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = light(getComputedStyle(document.body).backgroundColor);
return [...new Set(arguments[0])].map((selector) => {
  const ink = light(getComputedStyle(document.querySelector(selector)).color);
  return [selector, (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)];
});
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(paper, scheme):
    paper.open(scheme=scheme)
    selectors = [
        "h1",
        ".lead",
        "a",
        ".figure.paper .mean",
        ".who",
        ".difference:not(.apart)",
        ".difference.apart",
        "caption",
    ]
    for selector, ratio in paper.run(CONTRAST, selectors):
        assert ratio >= 4.5, selector  # WCAG 2.2, level AA


def test_edges_of_a_fit_sort_and_filter(fit):
    fit.open()
    strengths = [float(cell.get_attribute("data-value")) for cell in fit.find_all("table.edges tbody td:nth-child(2)")]
    assert strengths == sorted(strengths, reverse=True)
    fit.find_all("table.edges button.sort")[1].click()
    cells = fit.find_all("table.edges tbody td:nth-child(2)")
    assert [float(cell.get_attribute("data-value")) for cell in cells] == sorted(strengths)
    every = rows_of(fit, "table.edges")
    fit.find("#filter-text").send_keys("pka")
    assert rows_of(fit, "table.edges") == [edge for edge in every if "PKA" in edge]


def test_works_without_a_script(paper):
    paper.session.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        paper.open()
        assert len(paper.find_all(f"{MATRIX} tbody tr")) == len(METHODS)
        assert paper.find("#failures").is_displayed()
    finally:
        paper.session.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
