"""Jobs on the workers of an existing Dask cluster."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from grandag.executors.calls import Failure, opened, packed
from grandag.executors.process import JobProcess
from grandag.version import __version__

__all__ = ["ClusterError", "ClusterLostError", "cluster_size", "open_cluster", "work_remotely"]

_PATIENCE = 10
"""Seconds to wait for a scheduler to answer."""


class ClusterError(ValueError):
    """The cluster cannot be used."""


class ClusterLostError(ClusterError):
    """The cluster was there, and is gone; jobs that it had not finished have no result."""


@contextmanager
def open_cluster(address: str, shared: Path | None, time_limit: float) -> Iterator[Cluster]:
    """The cluster with a scheduler at this address; its workers get the content of the file `shared` once each."""
    with _client(address) as client:
        yield Cluster(client, address, shared, time_limit)


def cluster_size(address: str) -> int:
    """The number of jobs that the cluster runs at the same time."""
    with _client(address) as client:
        return sum(client.nthreads().values())


class Cluster:
    """The workers of a Dask cluster. A job of a worker that is lost goes to another one."""

    def __init__(self, client: Any, address: str, shared: Path | None, time_limit: float) -> None:
        self._client, self._address, self._time_limit = client, address, time_limit
        self._name = f"grandag-{uuid4().hex}"
        self._shared = None if shared is None else self._spread(shared.read_bytes())

    def size(self) -> int:
        """The number of threads of all workers."""
        with self._reachable():
            return sum(self._client.nthreads().values())

    def run(self, function: Callable[[Any, Any], Any], jobs: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Each job with its result, as they are finished. Leaving it early ends those that run."""
        waiting, running = iter(jobs), dict[Any, Any]()
        completed = _distributed().as_completed()
        while True:
            n_free = max(1, self.size()) - len(running)
            for job in islice(waiting, max(0, n_free)):
                future = self._submit(packed(function, job))
                running[future] = job
                completed.add(future)
            if not running:
                return
            future = next(completed)
            yield running.pop(future), opened(self._answer(future))

    def _spread(self, content: bytes) -> Any:
        """What jobs share on every worker, as the result of a task, which is done again where all copies are lost."""
        import dask

        with self._reachable(), dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
            future = self._client.submit(_same, content, key=f"{self._name}-shared")
            _distributed().wait(future)
            if (error := self._error(future)) is not None:
                raise error
            self._client.replicate(future)
        return future

    def _submit(self, call: bytes) -> Any:
        key = f"{self._name}-{uuid4().hex}"
        arguments = (call, self._shared, self._name, self._time_limit, __version__)
        with self._reachable():
            return self._client.submit(work_remotely, *arguments, key=key)

    def _answer(self, future: Any) -> bytes | Failure:
        if (error := self._error(future)) is not None:
            return Failure(f"{type(error).__name__}: {error}")
        with self._reachable():
            answer: bytes | Failure = future.result()
        return answer

    def _error(self, future: Any) -> Exception | None:
        """What Dask has against a task of ours; raised if it would have it against all of them."""
        if future.status == "cancelled":
            raise self._lost()
        error: Exception | None = future.exception()
        if isinstance(error, ClusterError):
            raise error
        if isinstance(error, ImportError | AttributeError | RuntimeError):  # raised where our functions are unpacked
            raise ClusterError(
                f"The cluster at {self._address!r} needs grandag {__version__} on its scheduler and its workers, and "
                f"has something else ({type(error).__name__})."
            )
        return error

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        """Dask's errors about connections in one sentence, and at once where it knows that there is none any more."""
        if self._client.status != "running":
            raise self._lost()
        try:
            yield
        except (OSError, _distributed().CancelledError):
            raise self._lost() from None

    def _lost(self) -> ClusterLostError:
        return ClusterLostError(f"The cluster at {self._address!r} is gone.")


def _client(address: str) -> Any:
    try:
        return _distributed().Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        if isinstance(error, ClusterError):
            raise
        raise ClusterError(f"There is no Dask scheduler at {address!r} ({type(error).__name__}).") from None


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError("A cluster needs the package distributed: pip install 'grandag[cluster]'.") from None
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # a lost scheduler is ours to say, without tracebacks
    return distributed


def _same(content: bytes) -> bytes:
    return content


_own = threading.local()


def work_remotely(call: bytes, shared: bytes | None, run: str, time_limit: float, version: str) -> bytes | Failure:
    """Make a call in a process of its own, which can be killed without harm to the cluster's worker."""
    if version != __version__:
        raise ClusterError(
            f"The cluster's workers have grandag {__version__}, but this is {version}: install the same version."
        )
    from distributed import get_worker

    worker = get_worker()
    task = worker.get_current_task()

    def is_wanted() -> bool:
        state = worker.state.tasks.get(task)
        return state is not None and state.state != "cancelled"

    if not hasattr(_own, "process"):
        _own.process = JobProcess()
    process: JobProcess = _own.process
    file = None if shared is None else _kept(shared, run, Path(worker.local_directory))
    return process.run(call, file, time_limit, is_wanted)


def _kept(content: bytes, run: str, folder: Path) -> Path:
    """A file of this thread with what the jobs of a run share, in place of that of the run before."""
    file = folder / f"{run}-{threading.get_ident()}"
    if getattr(_own, "file", None) != file:
        if hasattr(_own, "file"):
            _own.file.unlink(missing_ok=True)
        file.write_bytes(content)
        _own.file = file
    return file
