"""Real clusters: a scheduler and two workers, processes of their own."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from grandag.executors import ClusterError, cluster_size
from tests.executors.machinery import wait_for

ROOT = Path(__file__).parents[2]


@contextmanager
def running_cluster(folder):
    """Workers without nannies, so that one that is killed stays away."""
    pytest.importorskip("distributed", reason="the cluster is in the extra cluster")
    file = folder / "scheduler.json"
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # workers know the functions of the tests
    settings = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    settings["env"] = {**os.environ, "PYTHONPATH": path}
    module = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*module, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--no-show", "--scheduler-file", str(file)], **settings,
    )  # fmt: skip
    worker = [*module, "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny",
              "--no-dashboard", "--local-directory", str(folder)]  # fmt: skip
    workers = []

    def start_worker():
        workers.append(subprocess.Popen(worker, **settings))

    start_worker()
    start_worker()
    try:
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        wait_for(lambda: n_threads(address) == 2)
        yield SimpleNamespace(
            address=address, workers=workers, start_worker=start_worker, scheduler=scheduler, folder=folder
        )
    finally:
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()


def n_threads(address):
    """None while there is no answer."""
    with suppress(ClusterError):
        return cluster_size(address)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A cluster that tests leave as it is."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def own_cluster(tmp_path):
    """A cluster of which a test may kill what it likes."""
    with running_cluster(tmp_path) as cluster:
        yield cluster
