"""The cache of compiled code: what invalidates it, and what a user is told."""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numba
import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

import grandag
from grandag.engine import cache
from grandag.engine.compiled import announcing_compilation, compiled
from grandag.engine.optimiser import rmsprop
from grandag.engine.threads import run_together
from grandag.evidence.optimiser import _update as evidence_update

LIBRARY = Path(grandag.__file__).parent

FIT = (
    "import numpy as np, warnings; warnings.simplefilter('ignore'); from grandag import CAM; "
    "print(CAM().fit(np.random.default_rng(0).normal(size=(100, 3))).strength_.tobytes().hex())"
)


def run(program, *, prefix=(), **environment):
    """In a process of its own with nothing but these variables in its environment."""
    environment = {"PYTHONPATH": str(LIBRARY.parent), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(
        [*prefix, sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment, cwd="/"
    )


def test_everything_is_compiled_in_one_way():
    """Past `engine/compiled.py`, numba fails where it cannot write."""
    sources = {path.relative_to(LIBRARY).as_posix(): path.read_text() for path in LIBRARY.rglob("*.py")}
    assert [name for name, text in sources.items() if "njit" in text or "numba.jit" in text] == ["engine/compiled.py"]


def test_stamp_contains_all_sources(tmp_path):
    """Those of the engine, and of the folder that a function is in."""
    assert rmsprop._cache._stamp != evidence_update._cache._stamp
    assert cache.fingerprint(LIBRARY / "engine") != cache.fingerprint(LIBRARY / "evidence")
    (tmp_path / "code.py").write_text("one")
    before = cache.fingerprint(tmp_path)
    cache.fingerprint.cache_clear()
    (tmp_path / "code.py").write_text("two")
    assert cache.fingerprint(tmp_path) != before


def test_compilation_is_announced_once(caplog):
    @compiled
    def add(a, b):
        return a + b

    add._cache.flush()  # an earlier run of this test has left its code on disk
    with caplog.at_level(logging.WARNING, logger="grandag"), announcing_compilation():
        add.compile((numba.int64, numba.int64))
        add.compile((numba.float32, numba.float32))
    assert [record.message for record in caplog.records] == [
        "Compiling the engine for this machine; this takes up to 20 seconds and happens only once."
    ]
    with announcing_compilation():
        add(1, 2)
    assert len(caplog.records) == 1


def test_compilation_of_the_evidence_is_announced_by_itself(caplog):
    """Not as what it calls, which is compiled within."""

    @compiled
    def add(a, b):
        return a + b

    def add_twice(a, b):
        return add(add(a, b), b)

    add_twice.__module__ = "grandag.evidence.some"
    add_twice = compiled(add_twice)
    for function in (add, add_twice):
        function._cache.flush()
    with caplog.at_level(logging.WARNING, logger="grandag"), announcing_compilation():
        add_twice.compile((numba.int64, numba.int64))
        assert len(caplog.records) == 1
        add.compile((numba.float32, numba.float32))
    assert [record.message.split(" for ")[0] for record in caplog.records] == [
        "Compiling the search by evidence",
        "Compiling the engine",
    ]


def test_fresh_and_cached_code_give_the_same_bits(tmp_path):
    """Two processes, the first with an empty cache: the optimiser may differ, the numbers may not."""
    program = (
        "import numpy as np, warnings; warnings.simplefilter('ignore'); from grandag import GraNDAG; "
        "X = np.random.default_rng(0).normal(size=(100, 18)); "
        "m = GraNDAG.preset('fast', max_iterations=150, random_state=0, retrain=False, n_jobs=1).fit(X); "
        "print(m.A_phi_.tobytes().hex(), m.expected_jacobian_.tobytes().hex())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env={"NUMBA_CACHE_DIR": str(tmp_path)},
        )
        for _ in range(2)
    ]
    assert "Compiling" in outputs[0].stderr
    assert outputs[1].stderr == ""
    assert outputs[0].stdout == outputs[1].stdout
    assert len(outputs[0].stdout) > 18 * 18 * 8


@pytest.fixture
def place():
    """A directory below which anybody may read, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def library_without_cache(place):
    """A copy of the library in which nothing can be cached, whoever runs it: files are where directories should be."""
    copy = place / "lib" / "grandag"
    shutil.copytree(LIBRARY, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in copy.rglob("*.py")}:
        (folder / "__pycache__").write_text("not a directory")
    return str(copy.parent)


def test_works_where_nothing_can_be_cached(library_without_cache, place):
    """A read-only container without a home: every process compiles, and says why."""
    nowhere = str(place / "lib" / "grandag" / "version.py" / "below")
    process = run(FIT, PYTHONPATH=library_without_cache, HOME=nowhere)
    assert process.stdout == run(FIT).stdout
    assert process.stderr.count("Compiled code cannot be cached here") == 1
    assert "NUMBA_CACHE_DIR" in process.stderr


def test_a_filled_cache_that_is_read_only_is_used(library_without_cache, place):
    """As in a container whose image was built with the code compiled; root steps down from writing anywhere."""
    prefix = (shutil.which("setpriv"), "--bounding-set", "-dac_override") if os.getuid() == 0 else ()
    if None in prefix:
        pytest.skip("setpriv is not installed")
    cached = place / "cache"
    environment = {"PYTHONPATH": library_without_cache, "NUMBA_CACHE_DIR": str(cached)}
    environment |= {"HOME": str(place / "home")}
    first = run(FIT, **environment)
    assert "Compiling" in first.stderr
    paths = [cached, *cached.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        second = run(FIT, prefix=prefix, **environment)
    finally:
        for path in paths:
            path.chmod(0o755)
    assert second.stdout == first.stdout
    assert second.stderr == ""


def test_directories_are_the_users_own(tmp_path):
    run(FIT, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "cache").iterdir()} == {0o700}


def test_a_directory_that_anybody_may_write_to_is_not_used(tmp_path):
    """Code from there is unpickled, and could be anybody's."""
    assert cache._is_safe(tmp_path, LIBRARY)
    tmp_path.chmod(0o777)
    assert not cache._is_safe(tmp_path, LIBRARY)


@pytest.fixture
def somebody_elses(tmp_path, monkeypatch):
    """A directory of another user; sources that belong to root."""
    if os.getuid() == 0:
        os.chown(tmp_path, 4321, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 4321)
    return tmp_path


def test_a_directory_of_somebody_else_is_not_used(somebody_elses):
    """Its owner could put any code there; root's and those of the library's owner are as good as one's own."""
    assert not cache._is_safe(somebody_elses, Path("/"))
    assert cache._is_safe(somebody_elses, somebody_elses)
    assert cache._is_safe(Path("/"), LIBRARY)


def test_unsafe_directories_are_neither_read_nor_written(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    places = cache._places.__wrapped__
    (place,) = places(LIBRARY / "engine" / "cache.py")
    assert place.parent == tmp_path
    place.mkdir(mode=0o700)
    assert places(LIBRARY / "engine" / "cache.py") == (place,)
    place.chmod(0o702)
    assert places(LIBRARY / "engine" / "cache.py") == ()


def test_a_damaged_cache_is_rebuilt(tmp_path):
    """Cut short, emptied, or with bits flipped anywhere: nothing of it is used."""
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    first = run(FIT, **place)
    files = sorted(tmp_path.rglob("*.code"))
    assert len(files) > 3
    for number, path in enumerate(files):
        code = bytearray(path.read_bytes())
        code[len(code) // 2] ^= 1
        path.write_bytes([bytes(code), code[:100], b""][number % 3])
    second, third = run(FIT, **place), run(FIT, **place)
    assert "is damaged; it is compiled anew" in second.stderr
    assert third.stderr == ""
    assert first.stdout == second.stdout == third.stdout


LOCKS = [global_compiler_lock, ffi.lib._lock]


@pytest.fixture(params=LOCKS, ids=["numba", "llvmlite"])
def taken(request):
    """Take a lock of the compiler's, and be interrupted before that is noted."""
    lock = request.param

    def take(then=lambda: None):
        lock.__enter__()
        then()
        raise KeyboardInterrupt

    yield take, lock._lock
    while lock._lock._is_owned():
        lock._lock.release()


def test_ctrl_c_leaves_no_lock_to_the_other_threads(taken):
    """They would wait for it for ever, and so would the pool that they are in."""
    take, lock = taken
    is_taken, was_free = threading.Event(), []

    def function(thread, *_):
        if thread == 0:
            take(is_taken.set)
        is_taken.wait()
        was_free.append(lock.acquire(timeout=60))
        lock.release()

    with pytest.raises(KeyboardInterrupt):
        run_together(function, [None, None])
    assert was_free == [True]


def test_ctrl_c_leaves_no_lock_to_later_fits(taken):
    take, lock = taken
    with pytest.raises(KeyboardInterrupt), announcing_compilation():
        take()
    assert not lock._is_owned()


def test_threads_do_not_leave_settings_behind():
    threads = numba.get_num_threads()
    rmsprop(np.ones(16), np.ones(16), 1.0, np.zeros(16), 0.1)
    assert numba.get_num_threads() == threads
