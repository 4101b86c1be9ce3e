"""Workspaces on disk and in archives: what goes in comes out, and what strangers send stays harmless."""

import json
import zipfile
from dataclasses import replace

import pytest

from grandag.knowledge import Knowledge, KnowledgeError
from grandag.serve.edits import about_columns, edited
from grandag.serve.workspace import Workspace, WorkspaceError, data_ending

SETTINGS = {
    "table": 1,
    "method": "cam",
    "preset": "default",
    "seed": 0,
    "parameters": {},
    "left_out": [],
    "knowledge": {},
}


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    space = Workspace(tmp_path / "space")
    space.copied_table(tmp_path / "table.csv")
    space.put_fit(replace(space.new_fit(**SETTINGS), status="done", headline="2 nodes"))
    space.learn_knowledge(1, Knowledge(forbidden=[("a", "b")]))
    return space


def pack(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_an_archive_gives_the_workspace_back(workspace, tmp_path):
    again = Workspace.unpacked(workspace.pack(), tmp_path / "again")
    assert (again.tables, again.fits) == (workspace.tables, workspace.fits)
    assert again.knowledge(1) == Knowledge(forbidden=[("a", "b")])
    assert (again.table_directory(1) / "data.csv").read_text() == "a,b\n1,2\n"


def test_what_was_running_is_stopped_and_what_was_done_stays(workspace):
    workspace.put_fit(replace(workspace.new_fit(**SETTINGS), status="running"))
    workspace.new_fit(**SETTINGS)
    workspace.put_fit(replace(workspace.fit(1), refits="running"))
    again = Workspace(workspace.root)
    assert [fit.status for fit in again.fits.values()] == ["done", "stopped", "stopped"]
    assert again.fit(1).refits == "stopped"
    assert again.fit(1).headline == "2 nodes"


@pytest.mark.parametrize(
    "name",
    [
        "../outside.csv",
        "/etc/outside.csv",
        "tables/1/../../outside.csv",
        "tables/1/data.csv/../../../x",
        "tables/1/data.py",
        "fits/1/result/../../../model.npz",
        "tables\\1\\about.json",
        "notes.txt",
    ],
)
def test_archives_with_anything_else_are_refused(tmp_path, name):
    archive = pack(tmp_path / "bad.zip", {"workspace.json": "{}", name: "x"})
    root = tmp_path / "deep" / "root"
    with pytest.raises(WorkspaceError, match="no part of a workspace"):
        Workspace.unpacked(archive, root)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [archive]


def test_an_archive_that_unpacks_to_far_more_is_refused(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("workspace.json", "{}")
        with archive.open("tables/1/data.csv", "w", force_zip64=True) as member:
            for _ in range(300):
                member.write(bytes(1 << 20))
    with pytest.raises(WorkspaceError, match="unpack to"):
        Workspace.unpacked(path, tmp_path / "root")


def test_links_in_an_archive_become_files(tmp_path):
    """An entry may claim to be a symbolic link, through which a later one would be written elsewhere."""
    path = tmp_path / "link.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("workspace.json", "{}")
        link = zipfile.ZipInfo("tables/1/data.csv")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    Workspace.unpacked(path, tmp_path / "root")
    assert not (tmp_path / "root" / "tables" / "1" / "data.csv").is_symlink()


@pytest.mark.parametrize("damage", [{"status": "dancing"}, {"id": 7}, {"name": ["x"]}, {"options": None}])
def test_damaged_records_are_named(workspace, tmp_path, damage):
    path = workspace.table_directory(1) / "about.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    with pytest.raises(WorkspaceError, match="tables/1 is damaged"):
        Workspace(workspace.root)


def test_names_of_files_are_texts_and_endings_are_known(tmp_path):
    assert data_ending("../../x.CSV") == ".csv"
    assert data_ending("C:\\tables\\x.tsv.gz") == ".tsv.gz"
    for name in ("x.exe", "x", "", ".csv/../x.py", "x.csv.py"):
        with pytest.raises(WorkspaceError, match="convert the file"):
            data_ending(name)


def test_knowledge_is_undone_step_by_step(workspace):
    workspace.learn_knowledge(1, Knowledge(roots=["a"]))
    workspace.undo_knowledge(1)
    assert workspace.knowledge(1) == Knowledge(forbidden=[("a", "b")])
    workspace.undo_knowledge(1)
    assert workspace.knowledge(1) == Knowledge()
    assert not workspace.can_undo(1)
    workspace.undo_knowledge(1)
    assert workspace.knowledge(1) == Knowledge()


def test_removed_fits_leave_nothing(workspace):
    workspace.remove_fit(1)
    assert list((workspace.root / "fits").iterdir()) == []
    with pytest.raises(WorkspaceError, match="no fit 1"):
        workspace.fit(1)


COLUMNS = ["a", "b", "c"]


def edit_all(*steps):
    knowledge = Knowledge()
    for word, *names in steps:
        knowledge = edited(knowledge, word, names, COLUMNS)
    return knowledge.as_dict()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("forbid", "a", "b"), ("require", "a", "b")], {"required": [["a", "b"]]}),
        ([("require", "a", "b"), ("reverse", "a", "b")], {"required": [["b", "a"]]}),
        ([("forbid", "b", "a"), ("reverse", "a", "b")], {"required": [["b", "a"]]}),
        ([("forbid", "a", "b"), ("forbid", "a", "b")], {"forbidden": [["a", "b"]]}),
        ([("forbid", "a", "b"), ("free", "a", "b")], {}),
        ([("root", "a"), ("leaf", "a")], {"leaves": ["a"]}),
        ([("tier 1", "a"), ("tier 0", "b")], {"tiers": [["b"], ["a"]]}),
        ([("tier 2", "a"), ("tier", "a")], {}),
        ([("root", "a"), ("forbid", "b", "c"), ("clear",)], {}),
    ],
)
def test_edits(steps, expected):
    assert edit_all(*steps) == expected


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([("require", "a", "b"), ("root", "b")], "its effect is among the roots"),
        ([("require", "a", "b"), ("require", "b", "c"), ("require", "c", "a")], "have a cycle"),
        ([("forbid", "a", "z")], "no column 'z'"),
        ([("tier 1000", "a")], "at most 100 tiers"),
        ([("dance", "a")], "no edit"),
        ([("forbid", "a", "a")], "no edit"),
    ],
)
def test_edits_that_contradict_are_refused(steps, words):
    with pytest.raises(KnowledgeError, match=words):
        edit_all(*steps)


def test_knowledge_about_columns_that_are_left_out_does_not_count():
    knowledge = Knowledge(forbidden=[("a", "b"), ("a", "c")], tiers=[["b"], ["a", "c"]], roots=["b"])
    assert about_columns(knowledge, ["a", "c"]).as_dict() == {"forbidden": [["a", "c"]], "tiers": [[], ["a", "c"]]}
