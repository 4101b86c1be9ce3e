"""Pages that are made from the code are up to date: otherwise run `make generate`."""

import re
from types import SimpleNamespace

import pytest
from tools import document_commands, document_parameters, draw_architecture, pages, paper_tables
from tools.pages import DOCS, with_parts

from grandag.cli.app import app_for
from grandag.methods.registry import METHODS
from grandag.parameters import parameters_of
from grandag.reproduction.published import paper_cells
from grandag.reproduction.specification import EXPERIMENTS, find, narrowed
from grandag.version import __version__
from tests.import_graph import room_imports

PARTS = {
    "parameters.md": document_parameters.page_parts,
    "command_line.md": document_commands.page_parts,
    "architecture.md": draw_architecture.page_parts,
    "reproducing.md": paper_tables.page_parts,
}
TABLES = sorted(paper_tables.TABLES.glob("*.md"))


@pytest.mark.parametrize("name", PARTS)
def test_page_is_up_to_date(name):
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page == with_parts(page, PARTS[name]()), f"docs/{name} is out of date: run `make generate`"


def test_a_changed_part_makes_a_page_stale(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    page = "Before\n<!-- generated: sums, by `make generate` -->\n\n1 + 1 = 2\n\n<!-- end of sums -->\nAfter\n"
    (tmp_path / "page.md").write_text(page)
    assert with_parts(page, {"sums": "1 + 1 = 2"}) == page
    assert with_parts(page, {"sums": "1 + 1 = 3"}) == page.replace("2", "3")
    pages.write("page.md", {"sums": "1 + 1 = 2"})
    pages.write("page.md", {"sums": "1 + 1 = 4"})
    assert capsys.readouterr().out.splitlines() == ["docs/page.md: as it was", "docs/page.md: written"]
    assert "= 4" in (tmp_path / "page.md").read_text()
    with pytest.raises(ValueError, match="no single place for 'differences'"):
        with_parts(page, {"differences": "0"})


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_tables_of_the_paper_belong_to_this_version_and_are_complete(path):
    """`make tables` runs them again; changes by hand of the paper's figures or of a row show here."""
    (page,) = (page for page in paper_tables.PAGES if page.path == path)
    text = path.read_text(encoding="utf-8")
    assert f"`{page.command}`, grandag {__version__}:" in text, f"{path.name} is of another version: run `make tables`"
    experiment = EXPERIMENTS[page.experiment]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    columns = [column for column in experiment.columns if column.is_released or not page.is_of_authors]
    assert [line[:2] for line in lines[1:]] == [
        [column.name, row.name] for column in columns for row in experiment.rows
    ]
    first = [cell for cell in lines[1:] if cell[1] == experiment.rows[0].name]
    for column, line in zip(columns, first, strict=True):
        known = paper_cells()[experiment.number, experiment.rows[0].name, column.name, experiment.measures[0]]
        assert f"{known.figures[0].mean:,.1f}" in line[3]


def test_a_page_of_a_table_says_what_was_run(tmp_path, monkeypatch):
    few = narrowed(find("table1")[0], methods=["random", "notears"], graphs=["ER1"])
    monkeypatch.setattr(paper_tables, "TABLES", tmp_path)
    monkeypatch.setattr(paper_tables, "PAGES", (paper_tables.Page("table1", n_datasets=2), paper_tables.Page("table2")))
    monkeypatch.setattr(paper_tables, "find", lambda name: (few,))
    written = {}
    monkeypatch.setattr(paper_tables, "write", lambda name, parts: written.update({name: parts}))
    paper_tables.main(["table1", "--store", str(tmp_path / "results.sqlite"), "--n-jobs", "1"])
    lines = (tmp_path / "table1.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Table 1: Gauss-ANM, 10 nodes"
    assert lines[2].startswith(f"`grandag paper table1 --datasets 2`, grandag {__version__}: 4 jobs, 0 CPU minutes.")
    assert [line.split(" | ")[1] for line in lines if line.startswith("| ER1")] == ["NOTEARS", "RANDOM"]
    assert not (tmp_path / "table2.md").exists()
    (part,) = written["reproducing.md"].values()
    assert part.startswith("- [Table 1: Gauss-ANM, 10 nodes](tables/table1.md). NOTEARS is the best of 2 methods in ")


def test_tables_leave_out_empty_columns_and_keep_bars():
    assert pages.table(("a", "b", "c"), [("1", "", "x|y"), ("2", "", "")]).splitlines() == [
        "| a | c |",
        "| --- | --- |",
        "| 1 | x\\|y |",
        "| 2 |  |",
    ]


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_of_every_method_is_documented(method):
    estimator = METHODS[method].estimator()
    page = (DOCS / "parameters.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {estimator.__name__}\n")[2].partition("\n## ")[0]
    common = page.partition("\n## Every method\n")[2].partition("\n## ")[0]
    assert f"`{method}`" in section
    for name, declared in parameters_of(estimator).items():
        (row,) = re.findall(rf"^\| `{name}` \|.*$", common if f"\n| `{name}` |" in common else section, re.MULTILINE)
        assert declared.description.replace("|", "\\|") in row
        assert declared.rule.description in row
        assert declared.source in row


def test_values_of_the_paper_stand_out_where_they_differ():
    page = (DOCS / "parameters.md").read_text(encoding="utf-8")
    assert "| `standardise` | `True` | **`False`** | one of True, False |" in page
    assert "The preset `fast` sets `refine=False`, `neighbour_threshold=0.75`," in page
    assert "`threshold_all=True`, `sparsity=0.0` and `tolerance=1e-08`." in page
    assert "| 10^U[-4, -3] |" in page
    assert "| `n_layers` | `2` | same |" in page


def test_every_option_of_the_program_is_documented():
    """Compared with what typer makes of the declarations, which the page does not read."""
    import typer.main

    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    group = typer.main.get_command(app_for([]))
    assert list(document_commands.commands()) == list(group.commands)
    for name, command in group.commands.items():
        section = page.partition(f"\n### grandag {name}\n")[2].partition("\n### ")[0].partition("\n## ")[0]
        for parameter in command.params:
            if parameter.name != "help":
                words = parameter.opts if parameter.param_type_name == "option" else [parameter.name.upper()]
                assert all(word in section for word in words), (name, words)
    for method in METHODS:
        section = page.partition(f"\n### --method {method}\n")[2].partition("\n### ")[0]
        command = typer.main.get_command(app_for(["fit", "--method", method])).commands["fit"]
        known = {word for parameter in group.commands["fit"].params for word in parameter.opts}
        added = [word for parameter in command.params for word in parameter.opts if word not in known]
        assert sorted(added) == sorted(re.findall(r"^\| `(--[\w-]+)", section, re.MULTILINE))


def test_every_room_is_drawn():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    drawing = page.partition("```text\n")[2].partition("```")[0]
    rooms = re.findall(r"[a-z_]+", drawing)
    assert sorted(rooms) == sorted(room_imports())
    for room, imported in room_imports().items():
        (row,) = re.findall(rf"^\| `{room}` \|.*$", page, re.MULTILINE)
        assert row.endswith(f"| {', '.join(sorted(imported)) or 'nothing'} |")


def test_the_site_says_defaults_once():
    pytest.importorskip("griffe", reason="the documentation tools are in the extra docs")
    from tools.read_docstrings import without_defaults

    text = "Args:\n    limit: Ends it. Default: 1e-08.\n    way: Which\n        one. Default: 'one of two'.\n\nMore."
    assert without_defaults(text) == "Args:\n    limit: Ends it.\n    way: Which\n        one.\n\nMore."


def test_examples_of_docstrings_become_code():
    griffe = pytest.importorskip("griffe", reason="the documentation tools are in the extra docs")
    from tools.read_docstrings import ReadDocstrings, fenced

    text = "Text.\n\n    Example:\n        >>> [[0]]\n        [[0]]\n\nMore.\n"
    expected = "Text.\n\n    Example:\n        ```python\n        >>> [[0]]\n        [[0]]\n        ```\n\nMore.\n"
    assert fenced(text) == expected
    assert fenced("No example.") == "No example."
    borrowed = SimpleNamespace(is_attribute=True, docstring=griffe.Docstring(__import__("inspect").getdoc(str)))
    ReadDocstrings().on_object(obj=borrowed)
    assert borrowed.docstring is None
