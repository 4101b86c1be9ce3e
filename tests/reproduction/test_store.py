"""The result store: whole rows, by key, in a file of our own."""

import sqlite3
from dataclasses import replace

import pytest

from grandag.reproduction.jobs import JobResult
from grandag.reproduction.store import Store
from tests.reproduction.examples import RANDOM, WRONG

RESULT = JobResult(
    RANDOM.key, "done", shd=2, shd_c=1, sid_lower=3, sid_upper=4, n_true_edges=1, n_edges=1,
    scores={"validation": -1.5}, iterations=10, converged=True, seconds=0.5, names=["a", "b"], truth=[[0, 1]],
    edges=[[0, 1], [1, 0]], trace={"iterations": [0], "A_phi": [[[0.0, 1.0], [0.0, 0.0]]]},
)  # fmt: skip


def test_what_is_put_is_there_later(tmp_path):
    failed = JobResult(WRONG.key, "failed", "because")
    with Store(tmp_path / "store.sqlite") as store:
        store.put(RANDOM, RESULT)
        store.put(WRONG, failed)
    with Store(tmp_path / "store.sqlite") as store:
        assert len(store) == 2
        assert store.get([RANDOM.key, "unknown"]) == {RANDOM.key: RESULT}
        assert store.get([WRONG.key]) == {WRONG.key: failed}
        store.forget([WRONG.key])
        assert store.get([RANDOM.key, WRONG.key]) == {RANDOM.key: RESULT}


def test_configuration_is_in_the_row(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(RANDOM, RESULT)
    database = sqlite3.connect(path)
    row = database.execute("SELECT method, parameters, seed, task, shd FROM results").fetchone()
    database.close()
    assert row == ("random", '{"n_edges": "uniform"}', str(RANDOM.seed), "fit", 2)


def test_other_files_are_refused(tmp_path):
    text = tmp_path / "text.sqlite"
    text.write_text("no database, but long enough to be looked at " * 10)
    with pytest.raises(ValueError, match="is not a result store"):
        Store(text)
    other = tmp_path / "other.sqlite"
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE something (x)")
    database.commit()
    database.close()
    with pytest.raises(ValueError, match="tables of another program"):
        Store(other)
    with pytest.raises(FileNotFoundError, match="no directory"):
        Store(tmp_path / "nowhere" / "store.sqlite")


def test_other_formats_are_refused(tmp_path):
    path = tmp_path / "store.sqlite"
    Store(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ValueError, match="its format is 99"):
        Store(path)


def test_faults_are_said_plainly_and_at_once(tmp_path, monkeypatch):
    """A directory, a file that cannot be written, one that another process holds, and one that is damaged."""
    path = tmp_path / "store.sqlite"
    with pytest.raises(IsADirectoryError, match="is a directory; name a file"):
        Store(tmp_path)
    with Store(path) as store:
        for number in range(200):
            store.put(RANDOM, replace(RESULT, key=str(number)))
    connect = sqlite3.connect
    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", lambda path, **more: connect(f"file:{path}?mode=ro", uri=True, **more))
        with pytest.raises(OSError, match=r"cannot be used: attempt to write a readonly database\."):
            Store(path)
    monkeypatch.setattr("grandag.reproduction.store._PATIENCE", 0.01)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(OSError, match=r"cannot be used: database is locked\."):
        Store(path)
    other.close()
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a result store, or damaged"), Store(path) as store:
        store.get(["1"])


def test_a_full_disk_is_said_plainly(tmp_path):
    """A limit for the size of the file stands for it; what was finished is kept."""
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(RANDOM, RESULT)
        store._database.execute("PRAGMA max_page_count = 1")
        with pytest.raises(OSError, match=r"cannot be used: database or disk is full\."):
            for number in range(100):
                store.put(RANDOM, replace(RESULT, key=str(number)))
    with Store(path) as store:
        assert store.get([RANDOM.key]) == {RANDOM.key: RESULT}


@pytest.mark.parametrize("text", ["{", "", "[" * 100_000, b"\xff"])
def test_what_is_no_json_is_said_plainly(tmp_path, text):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(RANDOM, RESULT)
        store._database.execute("UPDATE results SET scores = ?", [text])
        with pytest.raises(ValueError, match="is not a result store, or damaged"):
            store.get([RANDOM.key])


def test_a_store_runs_no_code(tmp_path):
    """A view in the place of the table, which would load a library if SQLite were told that it may."""
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        columns = [name for _, name, *_ in store._database.execute("PRAGMA table_info(results)")]
        store._database.execute("DROP TABLE results")
        asked = ", ".join(f"load_extension('library') AS {name}" for name in columns)
        store._database.execute(f"CREATE VIEW results AS SELECT {asked}")
    with Store(path) as store, pytest.raises(OSError, match=r"unsafe use of load_extension|not authorized"):
        store.get([RANDOM.key])
