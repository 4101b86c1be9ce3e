"""The one way to run independent jobs, wherever they run."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

import joblib

from grandag.executors.calls import Failure
from grandag.executors.cluster import open_cluster
from grandag.executors.local import Here, Processes

__all__ = ["Executor", "open_executor"]

Job = TypeVar("Job")
Result = TypeVar("Result")


class Executor(Protocol):
    """Runs jobs, several at a time, each with one thread."""

    def size(self) -> int:
        """The number of jobs that run at the same time."""

    def run(
        self, function: Callable[[Job, Any], Result], jobs: Iterable[Job]
    ) -> Generator[tuple[Job, Result | Failure]]:
        """Each job with the result of `function(job, shared)`, as they are finished.

        A job is taken from the iterator when there is a place for it. An error that the function raises is raised here
        and ends all jobs; a job whose process died, or was late, has a `Failure` instead of a result.
        """


@contextmanager
def open_executor(
    shared: Any = None, *, n_jobs: int | None = -1, cluster: str | None = None, time_limit: float = math.inf
) -> Iterator[Executor]:
    """An executor for jobs that share a value, which is brought to every process or worker once.

    `cluster` is the address of a Dask scheduler; without it jobs run on this machine, `n_jobs` at a time (-1 for all
    cores). A single job at a time runs in this process, unless there is a time limit in seconds, after which a job is
    killed. Leaving the context ends what still runs.
    """
    n_processes = int(joblib.effective_n_jobs(n_jobs))
    if cluster is None and n_processes == 1 and time_limit == math.inf:
        yield Here(shared)
        return
    with TemporaryDirectory(prefix="grandag-") as folder:
        file = None if shared is None else Path(folder) / "shared"
        if file is not None:
            joblib.dump(shared, file)
        if cluster is not None:
            with open_cluster(cluster, file, time_limit) as workers:
                yield workers
        else:
            with closing(Processes(n_processes, file, time_limit)) as processes:
                yield processes
