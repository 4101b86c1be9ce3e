"""From outcomes of jobs to tables: ours beside the paper's, as far as the jobs are done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, cast

import numpy as np

from grandag.reproduction.jobs import Planned
from grandag.reproduction.published import PaperCell, paper_cells, search_spaces
from grandag.reproduction.result_table import Cell, Figure, ResultTable, Run
from grandag.reproduction.specification import Experiment, Learner, Setting
from grandag.reproduction.tasks import Outcome
from grandag.tuning.held_out import convergence_flag, improvement_flag

__all__ = ["tabulate"]

Outcomes = Mapping[str, Outcome]


def tabulate(experiment: Experiment, planned: Sequence[Planned], outcomes: Outcomes) -> ResultTable:
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
        for cell in _cells(experiment, learner, setting, places[learner.name, setting.name], outcomes)
    }
    rows, columns = (tuple(each.name for each in axis) for axis in (experiment.rows, experiment.columns))
    heading = experiment.name, experiment.number, experiment.title
    return ResultTable(*heading, rows, columns, experiment.measures, cells, experiment.remarks)


def _spaces(experiment: Experiment) -> ResultTable:
    """The table that has words instead of figures and jobs."""
    column, measure, spaces = "all data", "space", search_spaces()
    cells = {
        (row, column, measure): Cell(row, column, measure, (), (), "; ".join(laws)) for row, laws in spaces.items()
    }
    heading = experiment.name, experiment.number, experiment.title
    return ResultTable(*heading, tuple(spaces), (column,), (measure,), cells)


def _cells(
    experiment: Experiment, learner: Learner, setting: Setting, here: Sequence[Planned], outcomes: Outcomes
) -> Iterator[Cell]:
    """One cell per measure, of the jobs in one place."""
    finished = [item for item in here if item.job.key in outcomes and item.job.task != "trial"]
    fits = tuple(_run(item, outcomes[item.job.key]) for item in finished)
    is_search = experiment.task == "search"
    runs = _selected(here, outcomes) if is_search else fits
    for measure in experiment.measures:
        key = experiment.number, learner.paper_row, setting.name, measure
        paper = paper_cells().get(key, PaperCell(experiment.number))
        flags = _flags(here, outcomes, fits, runs, measure) if is_search else ""
        yield Cell(learner.name, setting.name, measure, runs, paper.figures, paper.note, flags)


def _run(item: Planned, outcome: Outcome) -> Run:
    d = len(outcome.names)
    return Run(
        key=item.job.key,
        method=item.job.method,
        data=item.data,
        parameters=item.job.parameters,
        status=cast(Literal["done", "failed", "out of time"], outcome.status),
        error=outcome.error,
        measures=_measures(outcome),
        seconds=float("nan") if outcome.seconds is None else outcome.seconds,
        iterations=outcome.iterations,
        score=outcome.scores.get("validation"),
        names=tuple(outcome.names),
        truth=_matrix(outcome.truth, d) if d else None,
        adjacency=_matrix(outcome.edges, d) if d else None,
    )


def _matrix(edges: Sequence[Sequence[int]], d: int) -> np.ndarray:
    adjacency = np.zeros((d, d), dtype=bool)
    for i, j in edges:
        adjacency[i, j] = True
    return adjacency


def _measures(outcome: Outcome) -> dict[str, tuple[float, ...]]:
    """What is known, by the names of the tables; SID has bounds if the graph has an undirected edge."""
    values: dict[str, Any] = {"SHD": (outcome.shd,), "SHD-C": (outcome.shd_c,), "SID": (outcome.sid_lower,)}
    directed = {(i, j) for i, j in outcome.edges}
    if any((j, i) in directed for i, j in directed):
        values["SID"] = outcome.sid_lower, outcome.sid_upper
    values["iterations"] = (None if outcome.iterations is None else outcome.iterations / 1000,)
    for part, score in outcome.scores.items():
        values |= {f"score ({part})": (score,), f"NLL ({part})": (-score,)}
    return {name: tuple(map(float, value)) for name, value in values.items() if None not in value}


def _trials(here: Sequence[Planned], outcomes: Outcomes) -> list[list[tuple[Planned, Outcome]]]:
    """The trials of each data set, of data sets whose trials are all finished."""
    trials = [item for item in here if item.job.task == "trial"]
    groups = [list(group) for _, group in groupby(trials, key=lambda item: item.data)]
    return [
        [(item, outcomes[item.job.key]) for item in group]
        for group in groups
        if all(item.job.key in outcomes for item in group)
    ]


def _selected(here: Sequence[Planned], outcomes: Outcomes) -> tuple[Run, ...]:
    """Per data set the best trial; the first failure where no trial has a score."""
    best = []
    for trials in _trials(here, outcomes):
        scored = [(item, outcome) for item, outcome in trials if "validation" in outcome.scores]
        item, outcome = max(scored, key=lambda pair: _merit(pair[1])) if scored else trials[0]
        best.append(_run(item, outcome))
    return tuple(best)


def _merit(outcome: Outcome) -> tuple[bool, float]:
    """Trials that converged come before others; then the held-out score decides."""
    return _has_converged(outcome), outcome.scores["validation"]


def _has_converged(outcome: Outcome) -> bool:
    """A method that does not iterate has converged when it is done."""
    return outcome.status == "done" and outcome.converged is not False


def _flags(
    here: Sequence[Planned], outcomes: Outcomes, fits: tuple[Run, ...], selected: tuple[Run, ...], measure: str
) -> str:
    """What the search did to a measure, and how many of its trials converged, as the paper flags it."""
    before, after = (
        {run.data: _middle(run, measure) for run in runs if measure in run.measures} for runs in (fits, selected)
    )
    both = [data for data in after if data in before]
    if not both:
        return ""
    trials = _trials(here, outcomes)
    converged = [sum(_has_converged(outcome) for _, outcome in group) for group in trials]
    flags = (
        improvement_flag([before[data] for data in both], [after[data] for data in both]),
        convergence_flag(Figure.of(converged).mean, len(trials[0])),
    )
    return " ".join(filter(None, flags))


def _middle(run: Run, measure: str) -> float:
    """The value; the middle of bounds."""
    return float(np.mean(run.measures[measure]))
