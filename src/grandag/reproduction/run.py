"""Reproduce tables: plan the jobs, run those that the store does not have, tabulate all of them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from joblib import cpu_count
from rich.console import Console

from grandag.report import environment
from grandag.reproduction.executors import cluster_size, run_locally, run_on_cluster
from grandag.reproduction.figure1 import curves_csv, curves_svg
from grandag.reproduction.jobs import Job, Planned, plan
from grandag.reproduction.monitor import Tally, watching
from grandag.reproduction.page import paper_page
from grandag.reproduction.rendering import to_csv, to_latex, to_markdown
from grandag.reproduction.result_table import ResultTable
from grandag.reproduction.specification import Experiment
from grandag.reproduction.store import Store
from grandag.reproduction.tabulate import tabulate
from grandag.reproduction.tasks import Outcome

__all__ = ["Execution", "Reproduction", "reproduce", "write_results"]


@dataclass(frozen=True)
class Execution:
    """Where jobs run, and how long each may take. `n_workers` of None stands for all cores."""

    n_workers: int | None = None
    cluster: str | None = None
    time_limit: float = 12 * 3600.0

    def run(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Outcome]]:
        """Outcomes of the jobs, as they are finished."""
        if self.cluster is not None:
            return run_on_cluster(jobs, self.cluster, self.time_limit)
        return run_locally(jobs, self.size(), self.time_limit)

    def size(self) -> int:
        """How many jobs run at the same time."""
        return cluster_size(self.cluster) if self.cluster is not None else self.n_workers or int(cpu_count())


@dataclass(frozen=True)
class Reproduction:
    """Experiments, their jobs, and what came of them."""

    experiments: tuple[Experiment, ...]
    planned: Mapping[str, Sequence[Planned]]
    outcomes: Mapping[str, Outcome]

    def table(self, experiment: Experiment) -> ResultTable:
        """An experiment's table, as far as its jobs are done."""
        return tabulate(experiment, self.planned[experiment.name], self.outcomes)

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
        experiments: See `grandag.reproduction.specification`.
        store: Results are read from here and written to here, each when its job is finished.
        n_datasets: Per column; None for as many as the paper has.
        n_trials: Combinations of hyper-parameters per data set, in the tables of the search.
        authors: Where the authors' released files lie, to use them instead of simulated data.
        retry: Run jobs again that failed or were out of time.
        execution: Where jobs run; None for all cores of this machine.
        quiet: Show no progress.
        console: Where progress is shown; None for standard error.
    """
    execution = execution or Execution()
    planned = {
        experiment.name: plan(experiment, n_datasets=n_datasets, n_trials=n_trials, authors=authors)
        for experiment in experiments
    }
    jobs = {item.job.key: item.job for items in planned.values() for item in items}
    outcomes = store.get(jobs)
    if retry:
        unsuccessful = [key for key, outcome in outcomes.items() if outcome.status != "done"]
        store.forget(unsuccessful)
        for key in unsuccessful:
            del outcomes[key]
    result = Reproduction(tuple(experiments), planned, outcomes)
    waiting = [job for key, job in jobs.items() if key not in outcomes]
    tally = Tally(waiting, execution.size() if waiting else 0, n_known=len(outcomes))
    latest = _Latest(result)
    with watching(tally, latest.table, quiet=quiet, console=console) as watch, closing(execution.run(waiting)) as done:
        for job, outcome in done:
            store.put(job, outcome)
            outcomes[job.key] = outcome
            latest.note(job)
            watch(job, outcome)
    return result


class _Latest:
    """The table to which the last finished job belongs."""

    def __init__(self, result: Reproduction) -> None:
        self._result = result
        self._experiment = result.experiments[0]
        self._where = {
            item.job.key: experiment for experiment in result.experiments for item in result.planned[experiment.name]
        }

    def note(self, job: Job) -> None:
        self._experiment = self._where[job.key]

    def table(self) -> ResultTable:
        return self._result.table(self._experiment)


def write_results(result: Reproduction, directory: Path) -> list[Path]:
    """One page with everything; each table as Markdown, LaTeX and CSV, too; the figure as SVG and CSV."""
    directory.mkdir(parents=True, exist_ok=True)
    files = {"index.html": paper_page(result.tables(), environment())}
    for experiment in result.experiments:
        table = result.table(experiment)
        files[f"{table.name}.md"] = to_markdown(table)
        files[f"{table.name}.tex"] = to_latex(table)
        files[f"{table.name}.csv"] = to_csv(table)
        for number, outcome in enumerate(_traced(experiment, result), start=1):
            files[f"{table.name}-curves-{number}.svg"] = curves_svg(outcome)
            files[f"{table.name}-curves-{number}.csv"] = curves_csv(outcome)
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    return [directory / name for name in files]


def _traced(experiment: Experiment, result: Reproduction) -> list[Outcome]:
    """The outcomes that keep A_phi over training."""
    found = (result.outcomes.get(item.job.key) for item in result.planned[experiment.name])
    return [outcome for outcome in found if outcome is not None and outcome.trace is not None]
