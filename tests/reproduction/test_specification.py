"""The specification: what the paper says of its experiments."""

import pytest

from grandag.methods.registry import build
from grandag.reproduction.specification import EXPERIMENTS, find, narrowed, released


def test_names():
    assert list(EXPERIMENTS) == [*(f"table{number}" for number in range(1, 25)), "figure1"]
    assert [experiment.name for experiment in find("all")] == list(EXPERIMENTS)
    with pytest.raises(ValueError, match=r"has no 'table25'.* There are table1"):
        find("table25")


def test_real_data_use_one_hidden_layer():
    for name in ("table3", "table23"):
        networks = [row for row in EXPERIMENTS[name].rows if row.method.startswith("grandag")]
        assert {row.name for row in networks} >= {"GraN-DAG", "GraN-DAG++"}
        assert all(row.parameters["n_layers"] == 1 for row in networks)


def test_random_graphs_follow_the_scheme_of_their_table():
    edges = {
        name: row.parameters.get("n_edges", "uniform")
        for name, experiment in EXPERIMENTS.items()
        for row in experiment.rows
        if row.method == "random"
    }
    assert [name for name, scheme in edges.items() if scheme == "fixed"] == ["table12", "table13", "table14"]
    assert set(edges.values()) == {"uniform", "fixed"}


def test_ablation_has_all_stages_and_the_threshold():
    stages = [tuple(row.parameters.values()) for row in EXPERIMENTS["table5"].rows]
    assert stages == [(False, False), (True, False), (False, True), (True, True), (False, False, 0.3)]


def test_nothing_of_the_paper_is_searched_by_evidence():
    """Only the row that says so has it: the search is ours, not the paper's."""
    rows = [row for experiment in EXPERIMENTS.values() for row in experiment.rows]
    models = [build(row.method, row.parameters, preset=row.preset) for row in rows]
    searching = {row.name for row, model in zip(rows, models, strict=True) if getattr(model, "refine", False)}
    assert searching == {"GraN-DAG (default)"}


def test_simulations_have_d_or_4d_edges():
    columns = {setting.name: setting for setting in EXPERIMENTS["table8"].columns}
    assert columns["SF4"].simulation(3) == {
        "mechanism": "gauss-anm", "n_nodes": 20, "n_rows": 1000, "seed": 3, "graph": "sf", "n_edges": 80,
    }  # fmt: skip
    assert "graph" not in EXPERIMENTS["table3"].columns[1].simulation(1)


@pytest.mark.parametrize(
    ("table", "column", "name"),
    [("table1", 3, "sf4-10"), ("table14", 1, "pnl-mult-er1-10"), ("table3", 0, "sachs"), ("table3", 1, "syntren")],
)
def test_names_of_the_authors_settings(table, column, name):
    assert EXPERIMENTS[table].columns[column].authors_name == name


@pytest.mark.parametrize(("table", "what"), [("table12", "of lin with 10 nodes, ER1"), ("table7", "and 500 rows")])
def test_what_the_authors_did_not_release(table, what):
    with pytest.raises(ValueError, match=what):
        _ = EXPERIMENTS[table].columns[0].authors_name


def test_methods_that_the_paper_does_not_have():
    table = narrowed(EXPERIMENTS["table12"], methods=["CAM", "LiNGAM", "resit"])
    assert [row.name for row in table.rows] == ["CAM", "lingam", "resit"]
    assert [row.name for row in narrowed(EXPERIMENTS["table21"], methods=["exact"]).rows] == ["exact"]
    assert {row.name for row in EXPERIMENTS["table12"].rows}.isdisjoint({"lingam", "resit"})
    for name in ("table5", "table24", "figure1"):
        assert not narrowed(EXPERIMENTS[name], methods=["lingam"]).rows


def test_narrowed():
    table = EXPERIMENTS["table10"]
    few = narrowed(table, methods=["pc", "GraN-DAG"], nodes=[10, 20], graphs=["er4"])
    assert [row.name for row in few.rows] == ["GraN-DAG", "PC"]
    assert [column.name for column in few.columns] == ["10 nodes ER4", "20 nodes ER4"]
    assert len(narrowed(table, methods=["grandag"]).rows) == 3
    assert [column.name for column in narrowed(EXPERIMENTS["table7"], n_rows=[500]).columns] == ["500 rows"]
    assert narrowed(table) == table
    assert few.remarks == ()


def test_notes_are_about_what_is_there():
    table = EXPERIMENTS["table3"]
    assert [note.split()[0] for note in table.remarks] == ["GraN-DAG", "GraN-DAG", "Sachs", "GraN-DAG++"]
    assert [note.split()[0] for note in narrowed(table, methods=["random", "pc"]).remarks] == ["Sachs"]
    assert narrowed(table, methods=["pc"], nodes=[20]).remarks == ()
    assert narrowed(EXPERIMENTS["table4"], methods=["grandag"]).remarks == table.remarks[1:2]
    assert len(narrowed(EXPERIMENTS["table15"], methods=["cam"]).remarks) == 2


def test_only_what_the_authors_released():
    assert [column.name for column in released(EXPERIMENTS["table7"]).columns] == ["1,000 rows"]
    assert released(EXPERIMENTS["table12"]).columns == ()
    assert all(released(EXPERIMENTS[name]) == EXPERIMENTS[name] for name in ("table1", "table3", "table14", "table24"))
