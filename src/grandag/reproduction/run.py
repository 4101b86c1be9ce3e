"""Reproduce tables: plan the jobs, run those that the store does not have, tabulate all of them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from joblib import effective_n_jobs
from rich.console import Console

from grandag.executors import Failure, cluster_size, open_executor
from grandag.report import environment
from grandag.reproduction.estimate import Estimate, estimate
from grandag.reproduction.figure1 import curves_csv, curves_svg
from grandag.reproduction.jobs import Job, JobResult, failure
from grandag.reproduction.monitor import Tally, watching
from grandag.reproduction.page import paper_page
from grandag.reproduction.plan import Planned, plan
from grandag.reproduction.rendering import to_csv, to_latex, to_markdown
from grandag.reproduction.result_table import ResultTable
from grandag.reproduction.specification import Experiment
from grandag.reproduction.store import Store
from grandag.reproduction.tabulate import tabulate
from grandag.reproduction.tasks import work
from grandag.writing import replacing_directory

__all__ = ["Execution", "Reproduction", "cost", "reproduce", "write_results"]


@dataclass(frozen=True)
class Execution:
    """Where jobs run, and how long each may take in seconds. `n_jobs=-1` stands for one job per core."""

    n_jobs: int = -1
    cluster: str | None = None
    time_limit: float = 12 * 3600.0

    def run(self, jobs: Sequence[Job]) -> Generator[tuple[Job, JobResult]]:
        """Run the jobs; each comes with its result as soon as it is finished."""
        where = open_executor(n_jobs=self.n_jobs, cluster=self.cluster, time_limit=self.time_limit)
        with where as executor, closing(executor.run(work, jobs)) as finished:
            for job, result in finished:
                if not isinstance(result, Failure):
                    yield job, result
                elif result.is_late:
                    yield job, failure(job, result.reason, "out of time", self.time_limit)
                else:
                    yield job, failure(job, result.reason)

    def size(self) -> int:
        """The number of jobs that run at the same time."""
        return cluster_size(self.cluster) if self.cluster is not None else int(effective_n_jobs(self.n_jobs))


@dataclass(frozen=True)
class Reproduction:
    """Experiments, their jobs, and the results of those that are finished."""

    experiments: tuple[Experiment, ...]
    planned: Mapping[str, Sequence[Planned]]
    results: Mapping[str, JobResult]

    def table(self, experiment: Experiment) -> ResultTable:
        """An experiment's table, as far as its jobs are done."""
        return tabulate(experiment, self.planned[experiment.name], self.results)

    def tables(self) -> list[ResultTable]:
        """The tables of all experiments."""
        return [self.table(experiment) for experiment in self.experiments]


def reproduce(
    experiments: Sequence[Experiment],
    store: Store,
    *,
    n_datasets: int | None = None,
    n_trials: int = 50,
    authors: Path | None = None,
    retry: bool = False,
    execution: Execution | None = None,
    quiet: bool = True,
    console: Console | None = None,
) -> Reproduction:
    """Run what the store does not have, and return everything.

    Args:
        experiments: Tables and figures, from `grandag.reproduction.specification`.
        store: Store of finished jobs; each result is written when its job is finished.
        n_datasets: Number of data sets per column; default: as many as in the paper.
        n_trials: Number of combinations per data set in the tables of the hyper-parameter search.
        authors: Folder of the authors' released files, to be used instead of simulated data.
        retry: Whether to run jobs again that failed or ran out of time.
        execution: Where jobs run; default: on all cores of this machine.
        quiet: Whether to show no progress.
        console: Console for the progress; default: standard error.
    """
    execution = execution or Execution()
    planned = _planned(experiments, n_datasets, n_trials, authors)
    jobs = _jobs(planned)
    results = store.get(jobs)
    if retry:
        unsuccessful = [key for key, result in results.items() if result.status != "done"]
        store.forget(unsuccessful)
        for key in unsuccessful:
            del results[key]
    reproduction = Reproduction(tuple(experiments), planned, results)
    waiting = [job for key, job in jobs.items() if key not in results]
    tally = Tally(waiting, execution.size() if waiting else 0, n_known=len(results))
    latest = _Latest(reproduction)
    with watching(tally, latest.table, quiet=quiet, console=console) as watch, closing(execution.run(waiting)) as done:
        for job, result in done:
            store.put(job, result)
            results[job.key] = result
            latest.note(job)
            watch(job, result)
    return reproduction


def cost(
    experiments: Sequence[Experiment],
    store: Store,
    n_cores: int,
    *,
    n_datasets: int | None = None,
    n_trials: int = 50,
    authors: Path | None = None,
) -> Estimate:
    """What `reproduce` with an empty store would cost on so many cores, from jobs in this one that are like its own."""
    jobs = _jobs(_planned(experiments, n_datasets, n_trials, authors))
    return estimate(list(jobs.values()), store.get(jobs), n_cores)


def _planned(
    experiments: Sequence[Experiment], n_datasets: int | None, n_trials: int, authors: Path | None
) -> dict[str, Sequence[Planned]]:
    return {
        experiment.name: plan(experiment, n_datasets=n_datasets, n_trials=n_trials, authors=authors)
        for experiment in experiments
    }


def _jobs(planned: Mapping[str, Sequence[Planned]]) -> dict[str, Job]:
    """All jobs by key; one that several experiments need is there once."""
    return {item.job.key: item.job for items in planned.values() for item in items}


class _Latest:
    """The table to which the last finished job belongs."""

    def __init__(self, reproduction: Reproduction) -> None:
        self._reproduction = reproduction
        self._experiment = reproduction.experiments[0]
        self._where = {
            item.job.key: experiment
            for experiment in reproduction.experiments
            for item in reproduction.planned[experiment.name]
        }

    def note(self, job: Job) -> None:
        self._experiment = self._where[job.key]

    def table(self) -> ResultTable:
        return self._reproduction.table(self._experiment)


def write_results(reproduction: Reproduction, directory: Path) -> list[Path]:
    """Write one page with everything; each table as Markdown, LaTeX and CSV as well; the figure as SVG and CSV."""
    tables = reproduction.tables()
    files = {"index.html": paper_page(tables, environment())}
    for experiment, table in zip(reproduction.experiments, tables, strict=True):
        files[f"{table.name}.md"] = to_markdown(table)
        files[f"{table.name}.tex"] = to_latex(table)
        files[f"{table.name}.csv"] = to_csv(table)
        for number, result in enumerate(_traced(experiment, reproduction), start=1):
            files[f"{table.name}-curves-{number}.svg"] = curves_svg(result)
            files[f"{table.name}-curves-{number}.csv"] = curves_csv(result)
    with replacing_directory(directory) as new:
        for name, text in files.items():
            (new / name).write_text(text, encoding="utf-8")
    return [directory / name for name in files]


def _traced(experiment: Experiment, reproduction: Reproduction) -> list[JobResult]:
    """The results that keep A_phi over training."""
    found = (reproduction.results.get(item.job.key) for item in reproduction.planned[experiment.name])
    return [result for result in found if result is not None and result.trace is not None]
