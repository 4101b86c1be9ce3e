"""The workbench in a real browser, through the whole loop: learn, forbid, learn again, compare, ask what if, export."""

import json
import zipfile
from dataclasses import asdict

import pytest
from selenium.webdriver.common.keys import Keys

from grandag.report.table_facts import table_facts
from grandag.serve.tasks import _write as write_fit
from grandag.serve.workspace import Workspace
from grandag.table import as_table
from grandag.writing import write_text
from tests.report.browser import chromium
from tests.report.large import large_fit
from tests.serve.bench import Site, serving, wait_for
from tests.serve.tables import FILE, HOSTILE, QUOTED, write_hostile


@pytest.fixture(scope="module")
def session():
    with chromium() as session:
        yield session


@pytest.fixture(scope="module")
def empty():
    """A server without a table at first, for tests that bring theirs."""
    with serving("--max-upload", "1") as bench:
        yield bench


def assert_well_behaved(site):
    """No word of complaint in the console, nothing asked of another host, nothing run that came as a name."""
    assert site.messages() == []
    assert {url for url in site.requests() if not url.startswith(site.address)} == set()
    assert site.run("return document.title") == "grandag workbench"


def forbid_learn_and_compare(site, first, method):
    """From a drawn graph to the comparison with its successor; the forbidden edge."""
    forbidden = sorted(site.edges())[0]
    site.press_edge(*forbidden)
    site.see("#detail h3", forbidden[0])
    site.see("#detail .curve")
    site.press("#detail [data-edit=forbid]")
    site.see(".known li", "forbidden")
    site.choose("#method", method)
    site.press("#learn-button")
    site.wait_for_graph(first + 1)
    assert forbidden not in site.edges()
    site.tab("compare")
    site.see("#comparison")
    sides = site.run(
        "return [...document.querySelectorAll('.sides figure')].map((side) => "
        "[...side.querySelectorAll('.edge')].map((edge) => edge.getAttribute('aria-label')))"
    )
    arrow = f"{forbidden[0]} → {forbidden[1]}, "
    assert not any(label.startswith(arrow) for label in sides[0])
    assert any(label.startswith(arrow) for label in sides[1])
    return forbidden


def set_a_variable(site, cause, effect):
    """Set a cause, and read what it does to its effect."""
    site.tab("what-if")
    site.choose("#set-variable", cause)
    site.see(f"#changes [data-variable={json.dumps(effect)}]", "Change")
    before = site.see(f"#changes [data-variable={json.dumps(effect)}] .effect").text
    slider = site.see(".slider input[type=range]")
    slider.send_keys(Keys.HOME)

    def changed():
        words = site.run(
            "return document.querySelector(`#changes [data-variable=${arguments[0]}] .effect`)?.textContent",
            json.dumps(effect),
        )
        return words not in (None, before)

    wait_for(changed, "the effect followed the slider")


def set_a_label(site, bench, fit):
    """A variable with labels is set to one of them; the labels that are not set are variables of 0 and 1."""
    site.choose("#set-variable", "group")
    site.see(".slider select[data-variable=group]", "red")
    site.choose(".slider select[data-variable=group]", "<b>blue</b>")
    answer = bench.ask(f"api/fits/{fit}/changes", {"values": {"group": "red"}})
    found = {variable["name"]: variable for variable in answer["variables"]}
    assert found["group=red"]["is_set"]
    assert (found["group=red"]["means"]["after"], found["group=<b>blue</b>"]["means"]["after"]) == (1.0, 0.0)
    assert sum(found["group=red"]["counts"]["before"]) == sum(found["c"]["counts"]["before"])


def test_the_whole_loop_on_sachs(session, tmp_path):
    with serving("sachs", "--workspace", tmp_path / "kept") as bench:
        site = Site(session, bench.address).visit()
        site.see(".columns-table th", "PKA")
        site.choose("#method", "notears")
        site.press("#learn-button")
        site.wait_for_graph(1)
        assert site.edges() == {(edge["source"], edge["target"]) for edge in bench.ask("api/fits/1")["edges"]}
        site.see("#concerns li")
        forbidden = forbid_learn_and_compare(site, 1, "notears")
        site.tab("graph")
        site.run("document.querySelector('#resamples').value = 2")
        site.press("#refit-button")
        site.see(".refits", "2 refits (bootstrap)")
        site.see("#edges th", "frequency")
        site.tab("compare")
        site.choose("#compare-right", "truth")
        site.see("#panel-compare", "distances from the true graph")
        edge = bench.ask("api/fits/2")["edges"][0]
        set_a_variable(site, edge["source"], edge["target"])
        site.tab("take-away")
        site.see("#files", "Report page")
        assert forbidden[0] in site.see("pre", "knowledge.toml").text
        assert_well_behaved(site)
        archive = tmp_path / "workspace.zip"
        archive.write_bytes(bench.ask("workspace.zip"))
    with serving(archive) as bench:
        site = Site(session, bench.address).visit(width=390)
        site.wait_for_graph(2)
        assert site.too_wide() == []
        assert forbidden not in site.edges()
        site.see(".known li", "forbidden")
        site.press("[data-fit='1'] .fit-open")
        site.wait_for_graph(1)
        assert forbidden in site.edges()
        assert_well_behaved(site)


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_the_whole_loop_on_a_hostile_table(session, empty, tmp_path, width):
    site = Site(session, empty.address).visit(width=width, height=844, scheme="dark")
    first = len(empty.ask("api/state")["fits"]) + 1
    if first == 1:
        site.see("#data .empty", "No table yet")
    site.find("#file").send_keys(str(write_hostile(tmp_path)))
    site.see("#panel-table h2", FILE)
    site.see(".columns-table th", HOSTILE)
    site.see(".columns-table td", "binary")
    site.see("#learn label", "1 column with gaps")
    assert site.too_wide() == []
    site.choose("#method", "grandag")
    site.press("#learn-button")
    site.wait_for_graph(first)
    assert site.see("#panel-graph .notes").text
    assert {HOSTILE, QUOTED} in [set(edge) for edge in site.edges()]
    assert site.too_wide() == []
    forbid_learn_and_compare(site, first, "grandag")
    assert site.too_wide() == []
    edges = empty.ask(f"api/fits/{first + 1}")["edges"]
    number = next(edge for edge in edges if "group" not in (edge["source"], edge["target"]))
    set_a_variable(site, number["source"], number["target"])
    assert site.too_wide() == []
    set_a_label(site, empty, first + 1)
    assert site.too_wide() == []
    site.tab("take-away")
    site.see("#files")
    assert site.too_wide() == []
    assert_well_behaved(site)


def test_two_tabs_show_the_same(session, empty):
    site = Site(session, empty.address).visit()
    first = session.current_window_handle
    session.switch_to.new_window("tab")
    try:
        other = Site(session, empty.address).visit()
        other.press("#more-data summary")
        other.press("[data-bundled=sachs]")
        other.see(".columns-table th", "PKA")
        other.choose("#method", "pc")
        other.press("#learn-button")
        number = wait_for(
            lambda: [fit["id"] for fit in empty.ask("api/state")["fits"] if fit["method"] == "pc"], "a fit"
        )[0]
        other.wait_for_graph(number)
        drawn = other.edges()
        assert_well_behaved(other)
    finally:
        session.close()
        session.switch_to.window(first)
    site.wait_for_graph(number)
    assert site.edges() == drawn
    site.see(f".fit.current[data-fit='{number}']", "done")


def test_what_goes_wrong_is_said_where_it_is_wrong(session, empty, tmp_path):
    site = Site(session, empty.address).visit()
    site.press("#more-data summary")
    big = tmp_path / "big.csv"
    big.write_bytes(b"a,b\n" + b"1,2\n" * 300_000)
    site.find("#file").send_keys(str(big))
    assert "larger than 1 MB" in site.see("#drop .trouble").text
    (tmp_path / "text.csv").write_text("1.5,2.5\n3,4\n")
    site.find("#file").send_keys(str(tmp_path / "text.csv"))
    assert "add a line with names" in site.see("#panel-table .trouble").text
    (tmp_path / "photo.jpeg").write_bytes(b"\xff")
    site.find("#file").send_keys(str(tmp_path / "photo.jpeg"))
    assert "convert the file" in site.see("#drop .trouble", "jpeg").text
    assert [message for message in site.messages() if "400" not in message] == []


def test_keys_are_enough(session, empty):
    """Tab to the graph, arrows through it, Enter, and an edit; tabs by arrows."""
    bench = empty
    table = bench.ask("api/tables", {"bundled": "sachs"})["id"]
    bench.wait_for_table(table)
    number = bench.learn(table=table, method="pc", seed=7)["id"]
    site = Site(session, bench.address).visit()
    site.press(f"[data-fit='{number}'] .fit-open")
    site.wait_for_graph(number)
    site.run("document.querySelector('#panel-graph .canvas [tabindex=\"0\"]').focus()")
    active = session.switch_to.active_element
    first = active.get_attribute("aria-label")
    active.send_keys(Keys.ARROW_RIGHT)
    second = session.switch_to.active_element
    assert second.get_attribute("aria-label") not in (None, first)
    second.send_keys(Keys.ENTER)
    assert session.switch_to.active_element.find_element("xpath", "ancestor::*[@id='detail']").is_displayed()
    site.press("#detail [data-edit=root]")
    site.see(".known li", "root")
    site.press("#undo")
    wait_for(lambda: not site.find_all(".known li"), "the edit was taken back")
    tab = site.find("#tab-graph")
    tab.send_keys(Keys.ARROW_RIGHT)
    assert session.switch_to.active_element.get_attribute("id") == "tab-compare"
    unnamed = site.run(
        "return [...document.querySelectorAll('input, select, button, [role=button]')].filter((some) => "
        "!(some.labels?.length || some.getAttribute('aria-label') || some.textContent.trim()))"
        ".map((some) => some.outerHTML)"
    )
    assert unnamed == []


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A workspace with a graph of hundreds of nodes."""
    root = tmp_path_factory.mktemp("large")
    workspace = Workspace(root)
    model, data = large_fit(500, 600)
    record = workspace.new_table("genes", "file", {})
    directory = workspace.table_directory(record.id)
    data.to_csv(directory / "data.csv", index=False)
    write_text(directory / "facts.json", json.dumps(table_facts(data)))
    table = type(record)(**{**asdict(record), "status": "done"})
    workspace.put_table(table)
    settings = {
        "table": 1,
        "method": "cam",
        "preset": "default",
        "seed": 0,
        "parameters": {},
        "left_out": [],
        "knowledge": {},
    }
    fit = workspace.new_fit(**settings)
    facts = write_fit(workspace.fit_directory(fit.id), {"table": asdict(table)}, model, as_table(data), None, 1.0)
    workspace.put_fit(type(fit)(**{**asdict(fit), "status": "done", **facts}))
    with serving(root) as bench:
        yield bench, model


def test_a_large_graph_stays_usable_and_says_what_is_left_out(session, large):
    bench, model = large
    assert len(model.names_) >= 500
    site = Site(session, bench.address).visit()
    site.wait_for_graph(1)
    assert f"of {len(model.names_):,} nodes" in site.see("#caption").text
    drawn = site.edges()
    assert 0 < len(drawn) <= 200
    hidden = next(
        name for name in model.names_ if model.graph_.degree(name) and not any(name in edge for edge in drawn)
    )
    search = site.find("#search")
    search.send_keys(hidden, Keys.TAB)
    site.see("#caption", f"Around {hidden}")
    near = {edge for edge in model.graph_.edges if hidden in edge}
    assert near <= site.edges()
    site.tab("table")
    assert "columns are listed" in site.see("#panel-table .note", "listed").text
    assert_well_behaved(site)


def test_the_archive_holds_no_more_than_the_workspace(empty, tmp_path):
    path = tmp_path / "w.zip"
    path.write_bytes(empty.ask("workspace.zip"))
    with zipfile.ZipFile(path) as archive:
        assert all(name.startswith(("tables/", "fits/")) or name == "workspace.json" for name in archive.namelist())
