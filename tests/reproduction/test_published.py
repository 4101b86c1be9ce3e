"""The paper's figures: the data file is what the source says, and what the tables ask for."""

import csv
import importlib.util
import io
from pathlib import Path

import pytest

from grandag.reproduction import published as paper
from grandag.reproduction.published import paper_cells, search_spaces
from grandag.reproduction.result_table import Figure
from grandag.reproduction.specification import EXPERIMENTS
from tests.conftest import SHARED

ROOT = Path(__file__).parents[2]


def tool(name):
    """A script of `tools`, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def parser():
    return tool("parse_paper")


def test_data_file_is_what_the_source_says(parser):
    sources = sorted((SHARED / "paper").glob("*.txt")) if (SHARED / "paper").is_dir() else []
    if not sources:
        pytest.skip("the paper's source is not beside the project")
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([parser.HEADER, *parser.lines(sources[0].read_text(encoding="utf-8"))])
    assert file.getvalue() == (ROOT / "src/grandag/reproduction/published.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "figures", "flags", "remark"),
    [
        (r"\textbf{1.7$\pm$2.5}", (("1.7", "2.5"),), "", ""),
        ("13", (("13", ""),), "", ""),
        (r"[76.7$\pm$51.1, 109.9$\pm$39.9]", (("76.7", "51.1"), ("109.9", "39.9")), "", ""),
        (r"$\mathbf{[10\pm6.3^{--}_{**}}$ ; $\mathbf{60.1\pm17.2]}$", (("10", "6.3"), ("60.1", "17.2")), "-- **", ""),
        (r"$195.6\pm9.9_{**}$", (("195.6", "9.9"),), "**", ""),
        ("$>$ 12 hours", (), "", "> 12 hours"),
        ("---", (), "", "not given"),
        (r"20.1$36.4\pm$6.5", (), "", r"corrupt in the source: 20.1$36.4\pm$6.5"),
    ],
)  # fmt: skip
def test_cell(parser, source, figures, flags, remark):
    assert parser.parse(parser._plain(source)) == (figures, flags, remark)


@pytest.mark.parametrize(
    ("key", "figures"),
    [  # read off the compiled paper by eye
        (("1", "GraN-DAG", "ER4", "SID"), [(21.8, 8.9)]),
        (("1", "GSF", "SF4", "SID"), [(13.2, 6.8), (20.6, 12.1)]),
        (("2", "RANDOM", "SF4", "SID"), [(1198.9, 304.6)]),
        (("3", "PC", "Sachs", "SID"), [(47, None), (62, None)]),
        (("4", "NOTEARS", "100 nodes ER4", "iterations"), [(232.4, 12.9)]),
        (("5", "GraN-DAG +PNS -pruning", "50 nodes ER1", "NLL (validation)"), [(1.16, 0.17)]),
        (("6", "NOTEARS +PNS +pruning", "50 nodes ER1", "score (train)"), [(-26.23, 2.2)]),
        (("7", "GraN-DAG", "10,000 rows", "SID"), [(453.4, 171.7)]),
        (("10", "PC", "100 nodes SF4", "SHD"), [(314.2, 17.5)]),
        (("11", "GES", "50 nodes SF1", "SID"), [(171.6, 70.1), (182.7, 77)]),
        (("14", "GSF", "PNL-GP 50 nodes ER4", "SID"), [(1573.7, 121.2), (1620, 102.8)]),
        (("23", "GES", "SynTReN", "SID"), [(75.3, 24.4), (97.6, 30.8)]),
    ],
)
def test_figures(key, figures):
    assert paper_cells()[key].figures == tuple(Figure(*figure) for figure in figures)


def test_what_is_missing_is_said():
    missing = {key: cell.remark for key, cell in paper_cells().items() if not cell.figures}
    assert missing.pop(("10", "PC", "20 nodes ER1", "SHD")).startswith("corrupt")
    assert {row for _, row, _, _ in missing} == {"GSF"}
    assert sorted(set(missing.values())) == ["> 12 hours", "not given"]


def test_every_figure_of_the_paper_has_its_place_in_a_table():
    """And every place of a table its figure, but for what the paper leaves out."""
    places = {
        (experiment.number, learner.paper_row, setting.name, measure)
        for experiment in EXPERIMENTS.values()
        for learner in experiment.rows
        for setting in experiment.columns
        for measure in experiment.measures
        if experiment.name.startswith("table")
    }
    assert set(paper_cells()) <= places
    without = {(number, row, measure) for number, row, _, measure in places - set(paper_cells())}
    variant = "GraN-DAG -PNS -pruning A_phi>=0.3"
    assert without == {("5", variant, "NLL (train)"), ("5", variant, "NLL (validation)")}


def test_search_spaces():
    assert list(search_spaces()) == ["GraN-DAG", "DAG-GNN", "NOTEARS", "CAM", "GSF", "GES"]
    assert "epsilon ~ U{1e-3, 1e-4, 1e-5}" in search_spaces()["GraN-DAG"]


def test_note_has_flags_and_remark():
    assert paper.PaperCell("1", (), "-- *", "odd").note == "-- *; odd"


def test_counts_of_flags_in_the_docs(capsys):
    tool("count_flags").main()
    *rows, tuned, default = capsys.readouterr().out.splitlines()
    page = " ".join((ROOT / "docs" / "hyperparameters.md").read_text(encoding="utf-8").split())
    assert len(rows) == 7
    assert all(row in page for row in rows)
    assert tuned.removeprefix("tuned: ").removesuffix(" follow from the figures") in page
    assert f"with that of the default runs {default.split()[1]}" in page


def test_flags_by_hand():
    """Table 15 beside table 1, ER1: GraN-DAG's SHD 1.7 to 1.0±1.6, NOTEARS' 12.2 to 26.7±6.9; GES is in table 10."""
    count = tool("count_flags")
    first = {cell.method: cell for cell in reversed(list(count.flagged_cells())) if cell.tuned.table == "15"}
    assert first["GraN-DAG"].default.figures == (Figure(1.7, 2.5),)
    assert (first["GraN-DAG"].flag, first["NOTEARS"].flag) == ("+", "--")
    assert count.follows(first["NOTEARS"], first["NOTEARS"].tuned)
    assert first["GES"].default.table == "10"
