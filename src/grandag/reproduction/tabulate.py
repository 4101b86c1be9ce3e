"""From job results to tables: ours beside the paper's, as far as the jobs are done."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from grandag.reproduction.flags import convergence_flag, improvement_flag
from grandag.reproduction.jobs import JobResult
from grandag.reproduction.plan import Planned, all_parameters
from grandag.reproduction.published import PaperCell, paper_cells, search_spaces
from grandag.reproduction.result_table import Cell, Figure, ResultTable, Run
from grandag.reproduction.specification import Experiment, Learner, Setting
from grandag.tuning.best_trial import best_trial

__all__ = ["tabulate"]

JobResults = Mapping[str, JobResult]
"""Results by the key of their job."""


class _Trial(NamedTuple):
    """A finished trial of a search."""

    planned: Planned
    result: JobResult

    @property
    def score(self) -> float:
        return self.result.scores.get("validation", math.nan)

    @property
    def converged(self) -> bool:
        return bool(self.result.converged)


def tabulate(experiment: Experiment, planned: Sequence[Planned], results: JobResults) -> ResultTable:
    """The table of an experiment; a data set of a search counts when all of its trials are finished."""
    if not experiment.rows:
        return _spaces(experiment)
    places: dict[tuple[str, str], list[Planned]] = defaultdict(list)
    for item in planned:
        places[item.row, item.column].append(item)
    cells = {
        (cell.row, cell.column, cell.measure): cell
        for learner in experiment.rows
        for setting in experiment.columns
        for cell in _cells(experiment, learner, setting, places[learner.name, setting.name], results)
    }
    rows, columns = (tuple(each.name for each in axis) for axis in (experiment.rows, experiment.columns))
    heading = experiment.name, experiment.number, experiment.title
    own = tuple(learner.name for learner in experiment.rows if learner.beside is not None)
    return ResultTable(*heading, rows, columns, experiment.measures, cells, experiment.remarks, own)


def _spaces(experiment: Experiment) -> ResultTable:
    """The table of search spaces, which has words instead of figures and no jobs."""
    column, measure, spaces = "all data", "space", search_spaces()
    cells = {
        (row, column, measure): Cell(row, column, measure, (), (), "; ".join(lines)) for row, lines in spaces.items()
    }
    heading = experiment.name, experiment.number, experiment.title
    return ResultTable(*heading, tuple(spaces), (column,), (measure,), cells)


def _cells(
    experiment: Experiment, learner: Learner, setting: Setting, here: Sequence[Planned], results: JobResults
) -> Iterator[Cell]:
    """One cell per measure for the jobs in one place of the table."""
    finished = [item for item in here if item.job.key in results and item.job.task != "trial"]
    fits = tuple(_run(item, results[item.job.key]) for item in finished)
    is_search = experiment.task == "search"
    runs = _selected(here, results) if is_search else fits
    for measure in experiment.measures:
        key = experiment.number, learner.paper_row, setting.name, measure
        paper = paper_cells().get(key, PaperCell(experiment.number))
        flags = _flags(here, results, fits, runs, measure) if is_search else ""
        yield Cell(learner.name, setting.name, measure, runs, paper.figures, paper.note, flags)


def _run(item: Planned, result: JobResult) -> Run:
    return Run(
        key=item.job.key,
        method=item.job.method,
        data=item.data,
        parameters=all_parameters(item.job),
        status=cast(Literal["done", "failed", "out of time"], result.status),
        error=result.error,
        measures=_measures(result),
        seconds=float("nan") if result.seconds is None else result.seconds,
        iterations=result.iterations,
        score=result.scores.get("validation"),
        names=tuple(result.names),
        truth=result.true_adjacency if result.names else None,
        adjacency=result.adjacency if result.names else None,
    )


def _measures(result: JobResult) -> dict[str, tuple[float, ...]]:
    """The measures by their names in the tables; SID has bounds if the graph has an undirected edge."""
    values: dict[str, Any] = {"SHD": (result.shd,), "SHD-C": (result.shd_c,), "SID": (result.sid_lower,)}
    directed = {(i, j) for i, j in result.edges}
    if any((j, i) in directed for i, j in directed):
        values["SID"] = result.sid_lower, result.sid_upper
    values["iterations"] = (None if result.iterations is None else result.iterations / 1000,)
    for part, score in result.scores.items():
        values |= {f"score ({part})": (score,), f"NLL ({part})": (-score,)}
    return {name: tuple(map(float, value)) for name, value in values.items() if None not in value}


def _trials(here: Sequence[Planned], results: JobResults) -> list[list[_Trial]]:
    """The trials of each data set whose trials are all finished."""
    trials = [item for item in here if item.job.task == "trial"]
    groups = [list(group) for _, group in groupby(trials, key=lambda item: item.data)]
    return [
        [_Trial(item, results[item.job.key]) for item in group]
        for group in groups
        if all(item.job.key in results for item in group)
    ]


def _selected(here: Sequence[Planned], results: JobResults) -> tuple[Run, ...]:
    """The best trial of each data set; the first failure where no trial has a score."""
    return tuple(_run(*(best_trial(trials) or trials[0])) for trials in _trials(here, results))


def _flags(
    here: Sequence[Planned], results: JobResults, fits: tuple[Run, ...], selected: tuple[Run, ...], measure: str
) -> str:
    """The paper's flags: what the search did to a measure, and how many of its trials converged."""
    before, after = (
        {run.data: _middle(run, measure) for run in runs if measure in run.measures} for runs in (fits, selected)
    )
    both = [data for data in after if data in before]
    if not both:
        return ""
    trials = _trials(here, results)
    converged = [sum(trial.converged for trial in group) for group in trials]
    flags = (
        improvement_flag([before[data] for data in both], [after[data] for data in both]),
        convergence_flag(Figure.of(converged).mean, len(trials[0])),
    )
    return " ".join(filter(None, flags))


def _middle(run: Run, measure: str) -> float:
    """The value of a measure, or the middle of its bounds."""
    return float(np.mean(run.measures[measure]))
