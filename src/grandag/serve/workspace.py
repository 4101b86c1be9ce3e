"""A workspace on disk: the tables of a session, the knowledge about each, and every fit with its settings.

    tables/1/   about.json, facts.json, data.csv (or .parquet, ...), knowledge.json, truth.json
    fits/2/     about.json, fitted.npz, rows.npy, result/ (as `grandag fit --output` writes it), resamples/

Who is killed leaves a workspace that can be opened again: files are replaced as a whole, a result is there or is not.
A workspace in a zip archive comes from strangers: its members have known names and are in proportion.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, Self, TypeVar, get_origin, get_type_hints

from grandag import datasets
from grandag.incoming import UNPACKERS, InputError, check_proportion
from grandag.knowledge import Knowledge
from grandag.writing import write_text

__all__ = ["ENDED", "FitRecord", "TableRecord", "Workspace", "WorkspaceError", "data_ending"]

ENDED = ("done", "stopped", "failed")
"""How a fit, or its refits, may end; before that it waits or runs."""

_STATES = {"waiting", "running", *ENDED}
_ENDINGS = (".csv", ".tsv", ".txt", ".tab", ".parquet", ".pq", ".npy")
_DATA = re.compile(r"data(\.(csv|tsv|txt|tab|parquet|pq|npy))(\.(gz|bz2|xz|zip))?")
_MEMBER = re.compile(
    rf"workspace\.json|tables/\d+/(about\.json|facts\.json|knowledge\.json|truth\.json|{_DATA.pattern})"
    r"|fits/\d+/(about\.json|fitted\.npz|rows\.npy|resamples/\d+\.npz|result/[a-z]+\.[a-z]+)"
)
"""What an archive may hold."""


class WorkspaceError(InputError):
    """A workspace cannot be opened, or has not what was asked for."""


@dataclass(frozen=True)
class TableRecord:
    """A table of the workspace."""

    id: int
    name: str  # as the person calls it: any text
    origin: str  # file, bundled or simulated
    status: str = "waiting"
    message: str = ""  # why it could not be read
    options: dict[str, Any] = field(default_factory=dict)  # of `read_table`, or of the simulation


@dataclass(frozen=True)
class FitRecord:
    """A fit of the workspace: its settings, how it went, and what came of it in a few words."""

    id: int
    table: int
    method: str
    preset: str
    seed: int
    parameters: dict[str, Any]  # words, as on the command line
    left_out: list[Any]  # columns
    knowledge: dict[str, Any]
    status: str = "waiting"
    message: str = ""
    headline: str = ""
    score: float | None = None  # mean log-density of a row
    n_concerns: int = 0
    n_resamples: int = 0
    refits: str = ""  # status of the refits, once they were asked for
    refits_message: str = ""
    refits_asked: int = 0
    refits_kind: str = ""


Record = TypeVar("Record", TableRecord, FitRecord)


class Workspace:
    """The records in memory and on disk, which are always the same."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("tables", "fits", "incoming"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        if not (root / "workspace.json").exists():
            write_text(root / "workspace.json", json.dumps({"format": 1}))
        self.tables = {record.id: record for record in _records(root / "tables", TableRecord)}
        self.fits = {record.id: record for record in _records(root / "fits", FitRecord)}
        self._end_what_was_running()

    @classmethod
    def unpacked(cls, archive: Path, root: Path) -> Self:
        """The workspace of a zip archive, in an empty directory."""
        try:
            with zipfile.ZipFile(archive) as source:
                members = [member for member in source.infolist() if not member.is_dir()]
                check_proportion(archive, sum(member.file_size for member in members))
                for member in members:
                    if not _MEMBER.fullmatch(member.filename):
                        raise WorkspaceError(f"{member.filename[:80]!r} in it is no part of a workspace")
                if "workspace.json" not in {member.filename for member in members}:
                    raise WorkspaceError("it holds no workspace.json")
                for member in members:
                    source.extract(member, root)
            return cls(root)
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise WorkspaceError(f"{archive.name!r} is no workspace of grandag serve: {error}.") from None

    @staticmethod
    def is_one(path: Path) -> bool:
        """Is this a directory with a workspace, or an archive that may hold one?"""
        if path.is_dir():
            return (path / "workspace.json").exists()
        return path.suffix == ".zip" and zipfile.is_zipfile(path) and _holds_workspace(path)

    def _end_what_was_running(self) -> None:
        """Nobody runs what an earlier server left behind."""
        message = "The workbench ended before this was done: learn it again."
        for record in list(self.fits.values()):
            if record.status not in ENDED:
                self.put_fit(replace(record, status="stopped", message=message))
            elif record.refits and record.refits not in ENDED:
                self.put_fit(replace(record, refits="stopped", refits_message=message))
        for incoming in (self.root / "incoming").iterdir():
            incoming.unlink()

    # Records

    def new_table(self, name: str, origin: str, options: Mapping[str, Any]) -> TableRecord:
        """A table to come."""
        record = TableRecord(_next(self.tables), name, origin, options=dict(options))
        self.table_directory(record.id).mkdir()
        self.put_table(record)
        return record

    def bundled_table(self, name: str) -> TableRecord:
        """A bundled table by name; the workspace has each of them once."""
        if datasets.load(name).interventions is not None:
            raise WorkspaceError(f"The workbench learns from no interventions, as {name!r} has: use `grandag fit`.")
        known = (record for record in self.tables.values() if record.origin == "bundled" and record.name == name)
        return next(known, None) or self.new_table(name, "bundled", {})

    def copied_table(self, path: Path) -> TableRecord:
        """A table of which a copy comes into the workspace."""
        ending = data_ending(path.name)
        if not path.is_file():
            raise WorkspaceError(f"There is no file {str(path)!r}: check the path, or see `grandag datasets`.")
        record = self.new_table(path.name, "file", {})
        shutil.copyfile(path, self.table_directory(record.id) / f"data{ending}")
        return record

    def new_fit(self, **settings: Any) -> FitRecord:
        """A fit to come."""
        record = FitRecord(_next(self.fits), **settings)
        self.fit_directory(record.id).mkdir()
        self.put_fit(record)
        return record

    def put_table(self, record: TableRecord) -> None:
        """Keep a changed record."""
        self.tables[record.id] = record
        _write(self.table_directory(record.id) / "about.json", asdict(record))

    def put_fit(self, record: FitRecord) -> None:
        """Keep a changed record."""
        self.fits[record.id] = record
        _write(self.fit_directory(record.id) / "about.json", asdict(record))

    def table(self, number: int) -> TableRecord:
        """A record by its number."""
        return _found(self.tables, number, "table")

    def fit(self, number: int) -> FitRecord:
        """A record by its number."""
        return _found(self.fits, number, "fit")

    def finished(self, number: int) -> FitRecord:
        """A fit that has a graph."""
        record = self.fit(number)
        if not self.model_file(number).exists():
            raise WorkspaceError(f"Fit {number} has no graph.")
        return record

    def remove_fit(self, number: int) -> None:
        """Forget a fit."""
        self.fit(number)
        del self.fits[number]
        shutil.rmtree(self.fit_directory(number))

    # Files

    def table_directory(self, number: int) -> Path:
        """Where a table is."""
        return self.root / "tables" / str(number)

    def fit_directory(self, number: int) -> Path:
        """Where a fit is."""
        return self.root / "fits" / str(number)

    def model_file(self, number: int) -> Path:
        """The fitted model."""
        return self.fit_directory(number) / "result" / "model.npz"

    def facts(self, number: int) -> dict[str, Any]:
        """What is known of a table that was read."""
        self.table(number)
        path = self.table_directory(number) / "facts.json"
        return dict(_read(path)) if path.exists() else {}

    def has_truth(self, number: int) -> bool:
        """Is the true graph of a table known?"""
        is_bundled = self.table(number).origin == "bundled"
        return is_bundled or (self.table_directory(number) / "truth.json").exists()

    def incoming(self, ending: str) -> Path:
        """A new empty file for what is being uploaded or packed."""
        with tempfile.NamedTemporaryFile(dir=self.root / "incoming", suffix=ending, delete=False) as file:
            return Path(file.name)

    # Knowledge about a table, with all earlier states

    def knowledge(self, number: int) -> Knowledge:
        """What is known about the edges."""
        return Knowledge.of(self._states(number)[-1])

    def can_undo(self, number: int) -> bool:
        """Is there an earlier state?"""
        return len(self._states(number)) > 1

    def learn_knowledge(self, number: int, knowledge: Knowledge) -> None:
        """Another state, after the others."""
        states = self._states(number)
        if knowledge.as_dict() != states[-1]:
            _write(self.table_directory(number) / "knowledge.json", [*states, knowledge.as_dict()])

    def undo_knowledge(self, number: int) -> None:
        """Back to the state before."""
        states = self._states(number)
        _write(self.table_directory(number) / "knowledge.json", states[:-1] or [{}])

    def _states(self, number: int) -> list[dict[str, Any]]:
        self.table(number)
        path = self.table_directory(number) / "knowledge.json"
        return list(_read(path)) if path.exists() else [{}]

    # The whole in one file

    def pack(self) -> Path:
        """All of it but what is being done, as a zip archive, which the caller removes."""
        target = self.incoming(".zip")
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(self.root.rglob("*")):
                name = path.relative_to(self.root).as_posix()
                if path.is_file() and _MEMBER.fullmatch(name):
                    archive.write(path, name)
        return target


def data_ending(name: str) -> str:
    """The ending that says what a file is; its name may be any text. An error if the library reads no such files."""
    suffixes = [suffix.lower() for suffix in Path(name.replace("\\", "/")).suffixes[-2:]]
    packed = suffixes[-1] if suffixes and suffixes[-1] in UNPACKERS else ""
    kind = suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    if kind not in _ENDINGS:
        raise WorkspaceError(
            f"{name[:80]!r} does not end in .csv, .tsv, .parquet or .npy: convert the file or rename it."
        )
    return kind + packed


def data_file(directory: Path) -> Path:
    """The table in a directory of the workspace."""
    found = [path for path in directory.iterdir() if _DATA.fullmatch(path.name)]
    if len(found) != 1:
        raise WorkspaceError("The table's file is not there.")
    return found[0]


def _holds_workspace(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return "workspace.json" in archive.namelist()


def _records(folder: Path, kind: type[Record]) -> Iterator[Record]:
    """The records in a folder; one without a record was never finished."""
    for directory in sorted(folder.iterdir(), key=lambda path: path.name.zfill(12)):
        if (directory / "about.json").exists():
            yield _record(directory, kind)


def _record(directory: Path, kind: type[Record]) -> Record:
    """A record whose values have the types that are declared; a stranger may have written it."""
    try:
        content = _read(directory / "about.json")
        hints = get_type_hints(kind)
        for declared in fields(kind):
            expected = get_origin(hints[declared.name]) or hints[declared.name]
            expected = hints[declared.name] if expected is UnionType else expected
            if not isinstance(content[declared.name], expected):
                raise ValueError(f"{declared.name} is {content[declared.name]!r}")
        record = kind(**content)
        if str(record.id) != directory.name or record.status not in _STATES:
            raise ValueError("it is in the wrong place")
        return record
    except (KeyError, TypeError, ValueError) as error:
        raise WorkspaceError(f"The record of {directory.parent.name}/{directory.name} is damaged: {error}.") from None


def _found(records: Mapping[int, Record], number: int, kind: str) -> Record:
    if number not in records:
        raise WorkspaceError(f"There is no {kind} {number} in this workspace.")
    return records[number]


def _next(records: Mapping[int, Any]) -> int:
    return max(records, default=0) + 1


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _write(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, ensure_ascii=False))
