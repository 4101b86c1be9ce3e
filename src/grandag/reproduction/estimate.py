"""What a run costs, from the CPU times of finished jobs that are like its own, before it is run."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grandag.reproduction.jobs import Job, JobResult
from grandag.reproduction.monitor import duration
from grandag.wording import counted

__all__ = ["Estimate", "estimate"]


@dataclass(frozen=True)
class Estimate:
    """The cost of jobs on so many cores, all in seconds; jobs of a kind that was never run do not count."""

    n_jobs: int
    n_cores: int
    cpu_seconds: float
    seconds: float
    longest: float
    unknown: Mapping[str, int]
    """The number of jobs that do not count, by what they are."""

    def describe(self) -> str:
        """The cost in words.

        >>> print(Estimate(280, 100, 7200.0, 300.0, 60.0, {}).describe())
        280 jobs: about 2.0 h of CPU time, about 5 min on 100 cores; the longest job takes 60 s.
        """
        text = (
            f"{counted(self.n_jobs, 'job')}: {duration(self.cpu_seconds)} of CPU time, {duration(self.seconds)} on "
            f"{counted(self.n_cores, 'core')}; the longest job takes {duration(self.longest)}."
        )
        if not self.unknown:
            return text
        n_unknown = sum(self.unknown.values())
        return (
            f"{text} Without {n_unknown:,} of them, like which none is finished in the store: "
            f"{'; '.join(f'{n:,} x {kind}' for kind, n in self.unknown.items())}."
        )


def estimate(jobs: Sequence[Job], results: Mapping[str, JobResult], n_cores: int) -> Estimate:
    """The cost of all jobs in their order: each takes as long as it took, or as those of its kind did on average."""
    known = {job.key: seconds for job in jobs if (seconds := _seconds(results.get(job.key))) is not None}
    of_kind = defaultdict(list)
    for job in jobs:
        if job.key in known:
            of_kind[_kind(job)].append(known[job.key])
    costs: list[float] = []
    unknown: dict[str, int] = defaultdict(int)
    for job in jobs:
        like = of_kind.get(_kind(job))
        if like is None:
            unknown[_words(job)] += 1
        else:
            costs.append(known.get(job.key, sum(like) / len(like)))
    return Estimate(len(jobs), n_cores, sum(costs), _together(costs, n_cores), max(costs, default=0.0), dict(unknown))


def _seconds(result: JobResult | None) -> float | None:
    return None if result is None else result.seconds


def _together(costs: Iterable[float], n_cores: int) -> float:
    """When the last job ends, if each begins on the core that is free first."""
    free = [0.0] * n_cores
    for cost in costs:
        heapq.heapreplace(free, free[0] + cost)
    return max(free)


def _kind(job: Job) -> str:
    """What jobs share that differ in the data set only; trials also differ in the parameters that they try."""
    parameters = {} if job.task == "trial" else dict(job.parameters)
    return json.dumps([job.task, job.method, parameters, _without_seed(job)], sort_keys=True)


def _without_seed(job: Job) -> dict[str, object]:
    data = dict(job.data)
    simulation = data.get("simulation")
    if simulation is None:
        return {name: value for name, value in data.items() if name in ("bundled", "authors")}
    return {name: value for name, value in simulation.items() if name != "seed"}


def _words(job: Job) -> str:
    """A kind of job for people: "grandag, 100 nodes"."""
    data = _without_seed(job)
    size = f"{data['n_nodes']} nodes" if "n_nodes" in data else str(next(iter(data.values())))
    return f"{job.method}, {size}"
