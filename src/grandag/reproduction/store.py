"""The result store: an SQLite file with one row per finished job.

A row is written in one transaction when its job is finished, so that a killed run leaves only whole rows. Only the
process that coordinates a run writes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grandag.reproduction.jobs import Job, JobResult
from grandag.version import __version__

__all__ = ["Store"]

_FORMAT = 1
_PATIENCE = 60
"""Seconds to wait for another process that writes."""

_APPLICATION = 0x6772646E  # "grdn"

_PLAIN = (
    "key", "status", "error", "shd", "shd_c", "sid_lower", "sid_upper", "n_true_edges", "n_edges", "iterations",
    "converged", "seconds",
)  # fmt: skip
_AS_JSON = ("scores", "names", "truth", "edges", "trace")
_CONTEXT = ("version", "task", "method", "parameters", "data", "seed", "finished")

_TABLE = f"""
CREATE TABLE results (
    key TEXT PRIMARY KEY, status TEXT NOT NULL, error TEXT NOT NULL,
    shd REAL, shd_c REAL, sid_lower REAL, sid_upper REAL, n_true_edges INTEGER, n_edges INTEGER,
    iterations INTEGER, converged INTEGER, seconds REAL,
    {", ".join(f"{name} TEXT NOT NULL" for name in (*_AS_JSON, *_CONTEXT))}
) WITHOUT ROWID
"""


class Store:
    """Job results by the key of their job. Use it as a context manager, or close it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.absolute().parent.is_dir():
            raise FileNotFoundError(f"There is no directory {str(self.path.absolute().parent)!r} for --store.")
        if self.path.is_dir():
            raise IsADirectoryError(f"{str(self.path)!r} is a directory; name a file for --store.")
        with self._speaking_plainly():
            self._database = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            try:
                self._prepare()
            except sqlite3.DatabaseError:
                self._database.close()
                raise

    @contextmanager
    def _speaking_plainly(self) -> Iterator[None]:
        """Errors of SQLite, and of what is stored as JSON, in a sentence that names the file."""
        try:
            yield
        except sqlite3.OperationalError as error:  # locked, read-only, full, ...
            raise OSError(f"The result store {str(self.path)!r} cannot be used: {error}.") from None
        except (sqlite3.DatabaseError, RecursionError, ValueError) as error:
            raise ValueError(
                f"{str(self.path)!r} is not a result store, or damaged ({error}): name another file."
            ) from None

    def _prepare(self) -> None:
        """Make the table in a new file; refuse a file of another kind."""
        self._database.execute("BEGIN IMMEDIATE")
        (n_tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if n_tables == 0:
            self._database.execute(_TABLE)
            self._database.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._database.execute(f"PRAGMA user_version = {_FORMAT}")
        self._database.execute("COMMIT")
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise sqlite3.DatabaseError("it has the tables of another program")
        if version != _FORMAT:
            raise sqlite3.DatabaseError(f"its format is {version}, this version of grandag has {_FORMAT}")
        self._database.execute(
            f"PRAGMA user_version = {_FORMAT}"
        )  # fails now, not after hours, if it cannot be written

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def put(self, job: Job, result: JobResult) -> None:
        """Write the result of a job, in one transaction."""
        facts = result.as_dict()
        row: dict[str, Any] = {name: facts[name] for name in _PLAIN}
        row |= {name: json.dumps(facts[name]) for name in _AS_JSON}
        row |= {
            "version": __version__,
            "task": job.task,
            "method": job.method,
            "parameters": json.dumps(dict(job.parameters), sort_keys=True),
            "data": json.dumps(dict(job.data), sort_keys=True),
            "seed": str(job.seed),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        names = ", ".join(row)
        marks = ", ".join(f":{name}" for name in row)
        with self._speaking_plainly():
            self._database.execute(f"INSERT OR REPLACE INTO results ({names}) VALUES ({marks})", row)

    def get(self, keys: Collection[str]) -> dict[str, JobResult]:
        """The stored results of these jobs, by key."""
        wanted = set(keys)
        names = (*_PLAIN, *_AS_JSON)
        with self._speaking_plainly():
            rows = self._database.execute(f"SELECT {', '.join(names)} FROM results")
            return {row[0]: _result(dict(zip(names, row, strict=True))) for row in rows if row[0] in wanted}

    def forget(self, keys: Iterable[str]) -> None:
        """Drop results, so that their jobs are run again."""
        with self._speaking_plainly():
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany("DELETE FROM results WHERE key = ?", [(key,) for key in keys])
            self._database.execute("COMMIT")

    def __len__(self) -> int:
        (count,) = self._database.execute("SELECT count(*) FROM results").fetchone()
        return int(count)


def _result(row: dict[str, Any]) -> JobResult:
    converged = row.pop("converged")
    decoded = {name: json.loads(row.pop(name)) for name in _AS_JSON}
    return JobResult(**row, **decoded, converged=None if converged is None else bool(converged))
