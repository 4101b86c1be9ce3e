"""Where jobs run: worker processes on this machine, or an existing Dask cluster. Results come as jobs finish."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from queue import SimpleQueue
from typing import Any

from grandag.reproduction.jobs import Job, JobResult, failure
from grandag.reproduction.process import JobProcess
from grandag.version import __version__

__all__ = ["ClusterError", "cluster_size", "run_locally", "run_on_cluster"]

_PATIENCE = 10
"""Seconds to wait for a scheduler to answer."""


class ClusterError(ValueError):
    """The cluster cannot be used; jobs that it has not finished are not recorded."""


def run_locally(jobs: Sequence[Job], n_workers: int, time_limit: float) -> Generator[tuple[Job, JobResult]]:
    """Run all jobs in `n_workers` processes of one thread each. Closing the iterator ends the processes."""
    waiting, finished = deque(jobs), SimpleQueue[tuple[Job, JobResult]]()
    processes = [JobProcess() for _ in range(min(n_workers, len(jobs)))]

    def serve(process: JobProcess) -> None:
        with closing(process), suppress(IndexError):  # raised when nothing is waiting any more
            while True:
                job = waiting.popleft()
                finished.put((job, _attempt(process, job, time_limit)))

    threads = [threading.Thread(target=serve, args=(process,), daemon=True) for process in processes]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            yield finished.get()
    finally:
        waiting.clear()
        for process in processes:
            process.kill()
        for thread in threads:
            thread.join()


def _attempt(process: JobProcess, job: Job, time_limit: float) -> JobResult:
    try:
        return process.run(job, time_limit)
    except Exception as error:
        return failure(job, f"{type(error).__name__}: {error}")


def run_on_cluster(jobs: Sequence[Job], address: str, time_limit: float) -> Generator[tuple[Job, JobResult]]:
    """Run all jobs on the workers of a Dask cluster; jobs of a worker that is lost go to another one."""
    with _client(address) as client:
        futures = {
            client.submit(work_remotely, job.as_dict(), time_limit, __version__, key=f"grandag-{job.key}"): job
            for job in jobs
        }
        for future in _distributed().as_completed(list(futures)):
            job = futures.pop(future)
            yield job, _collected(future, job, address)


def cluster_size(address: str) -> int:
    """The number of jobs that the cluster runs at the same time."""
    with _client(address) as client:
        return sum(client.nthreads().values())


def _client(address: str) -> Any:
    try:
        return _distributed().Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        if isinstance(error, ClusterError):
            raise
        raise ClusterError(f"There is no Dask scheduler at {address!r} ({type(error).__name__}).") from None


def _collected(future: Any, job: Job, address: str) -> JobResult:
    if future.status == "cancelled":
        raise ClusterError(f"The cluster at {address!r} is gone. Finished jobs are stored: run it again to continue.")
    error = future.exception()
    if isinstance(error, ClusterError):
        raise error
    if error is not None:
        return failure(job, f"{type(error).__name__}: {error}")
    return JobResult(**future.result())


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError("--cluster needs the package distributed: pip install 'grandag[cluster]'.") from None
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # a lost scheduler is ours to say, without tracebacks
    return distributed


_own = threading.local()


def work_remotely(job: dict[str, Any], time_limit: float, version: str) -> dict[str, Any]:
    """Do a job in a process of its own, which can be killed without harm to the cluster's worker."""
    if version != __version__:
        raise ClusterError(
            f"The cluster's workers have grandag {__version__}, but this is {version}: install the same version."
        )
    if not hasattr(_own, "process"):
        _own.process = JobProcess()
    process: JobProcess = _own.process
    return process.run(Job(**job), time_limit).as_dict()
