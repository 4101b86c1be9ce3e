"""The same bits in threads and processes of all kinds, with any cache of compiled code, and with any hash seed."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import joblib
import pytest

import grandag
from tests.everywhere import FEW, METHODS, digests
from tests.executors.conftest import running_cluster

pytestmark = pytest.mark.filterwarnings("ignore")  # here: filters inside of the fits would be those of all threads

ALL = tuple(METHODS)
LIBRARY = Path(grandag.__file__).parent


@pytest.fixture(scope="module")
def few():
    return digests(FEW)


@pytest.fixture(scope="module")
def everything():
    return digests()


def start(methods=ALL, n_jobs=1, library=LIBRARY.parent, prefix=(), **environment):
    """A program of its own."""
    path = os.pathsep.join([str(library), str(Path(__file__).parents[1])])
    return subprocess.Popen(
        [*prefix, sys.executable, "-W", "ignore", "-m", "tests.everywhere", json.dumps([n_jobs, *methods])],
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )


def answer(process):
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(output), errors


def test_threads_of_one_process(few):
    """Two fits of each method at the same time."""
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(digests, [FEW, FEW[::-1]])) == [few, few]


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_hash_seeds_and_numbers_of_threads(few, hash_seed):
    """Of the method, of numba and of BLAS."""
    threads = dict.fromkeys(("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "2")
    assert answer(start(FEW, n_jobs=2 + int(hash_seed), PYTHONHASHSEED=hash_seed, **threads))[0] == few


def test_a_forked_process(few):
    """Of a process that has compiled and fitted."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        assert pool.submit(digests, FEW).result() == few


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_of_a_method(everything, n_jobs):
    assert digests(n_jobs=n_jobs) == everything


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(everything, method):
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert list(pool.map(digests, [ALL, ALL[::-1]])) == [everything] * 2


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib(everything, backend):
    found = joblib.Parallel(2, backend=backend)(joblib.delayed(digests)(methods) for methods in (ALL, ALL[::-1]))
    assert found == [everything] * 2


@pytest.mark.slow
def test_dask(everything, tmp_path):
    """Fits on workers of a cluster, asked for by its own means."""
    with running_cluster(tmp_path) as cluster:
        import distributed

        with distributed.Client(cluster.address) as client:
            assert client.gather(client.map(digests, [ALL, ALL[::-1]])) == [everything] * 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_hash_seeds(everything, seed):
    assert answer(start(PYTHONHASHSEED=seed))[0] == everything


@pytest.mark.slow
def test_two_first_compilations_at_once_and_every_kind_of_cache(everything, tmp_path):
    """Both begin with an empty cache; a third process finds it full, a fourth full and read-only."""
    place = tmp_path / "cache"
    both = [start(NUMBA_CACHE_DIR=str(place)) for _ in range(2)]
    answers = [answer(process) for process in both]
    assert [found for found, _ in answers] == [everything] * 2
    assert any("Compiling the engine" in errors for _, errors in answers)  # the other may have come late
    assert answer(start(NUMBA_CACHE_DIR=str(place))) == (everything, "")
    prefix = (shutil.which("setpriv"), "--bounding-set", "-dac_override") if os.getuid() == 0 else ()
    if None in prefix:
        pytest.skip("setpriv is not installed")
    paths = [place, *place.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert answer(start(NUMBA_CACHE_DIR=str(place), prefix=prefix)) == (everything, "")
    finally:
        for path in paths:
            path.chmod(0o755)


@pytest.mark.slow
def test_no_cache(everything, tmp_path):
    """Files are where its directories should be."""
    copy = tmp_path / "library" / "grandag"
    shutil.copytree(LIBRARY, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in copy.rglob("*.py")}:
        (folder / "__pycache__").write_text("not a directory")
    found, errors = answer(start(library=copy.parent, HOME=str(copy / "version.py" / "below"), XDG_CACHE_HOME=""))
    assert found == everything
    assert "Compiled code cannot be cached here" in errors
