"""Jobs on this machine: one after the other here, or several at a time in processes of one thread each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from threadpoolctl import threadpool_limits

from grandag.blas import one_blas_thread
from grandag.executors.calls import Failure, opened, packed
from grandag.executors.process import JobProcess

__all__ = ["Here", "Processes"]


class Here:
    """This process, without a time limit."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    def size(self) -> int:
        """One job at a time."""
        return 1

    def run(self, function: Callable[[Any, Any], Any], jobs: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Each job with its result, in order."""
        for job in jobs:
            with one_blas_thread(), threadpool_limits(1, "openmp"):  # as in a process of one thread: the same bits
                result = function(job, self._shared)
            yield job, result


class Processes:
    """Processes of this machine, which map what jobs share from a file."""

    def __init__(self, n_processes: int, shared: Path | None, time_limit: float) -> None:
        self._processes = [JobProcess() for _ in range(n_processes)]
        self._shared, self._time_limit = shared, time_limit

    def size(self) -> int:
        """The number of processes."""
        return len(self._processes)

    def run(self, function: Callable[[Any, Any], Any], jobs: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Each job with its result, as they are finished. Leaving it early ends the processes."""
        waiting, finished = _Waiting(jobs), SimpleQueue[tuple[Any, bytes | Failure] | None]()

        def serve(process: JobProcess) -> None:
            try:
                for job in waiting.until(lambda: process.is_closed):
                    finished.put((job, self._attempt(process, function, job)))
            finally:
                finished.put(None)

        threads = [threading.Thread(target=serve, args=(process,), daemon=True) for process in self._processes]
        for thread in threads:
            thread.start()
        try:
            for _ in threads:
                while (pair := finished.get()) is not None:
                    yield pair[0], opened(pair[1])
        except BaseException:
            self._kill()
            raise
        finally:
            for thread in threads:
                thread.join()

    def _attempt(self, process: JobProcess, function: Callable[[Any, Any], Any], job: Any) -> bytes | Failure:
        try:
            return process.run(packed(function, job), self._shared, self._time_limit)
        except Exception as error:
            return Failure(f"{type(error).__name__}: {error}")

    def _kill(self) -> None:
        for process in self._processes:
            process.kill()

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.close()


class _Waiting:
    """Jobs that several threads take from one iterator, each when it is free."""

    def __init__(self, jobs: Iterable[Any]) -> None:
        self._jobs, self._lock = iter(jobs), threading.Lock()

    def until(self, is_over: Callable[[], bool]) -> Iterator[Any]:
        """The next jobs of a thread."""
        while not is_over():
            with self._lock:
                try:
                    job = next(self._jobs)
                except StopIteration:
                    return
            yield job
