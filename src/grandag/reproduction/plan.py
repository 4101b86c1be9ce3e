"""All jobs of an experiment: every method on every data set, with every combination of hyper-parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from grandag.methods.registry import build
from grandag.reproduction.jobs import Job, seed_from
from grandag.reproduction.samples import authors_numbers, authors_sample
from grandag.reproduction.specification import Experiment, Learner, Setting
from grandag.tuning.spaces import draw

__all__ = ["Planned", "all_parameters", "describe", "plan"]

_IRRELEVANT = ("knowledge", "missing", "n_jobs", "random_state", "verbose")
"""Parameters that a job's result does not depend on, or that are the same in all jobs."""


class Planned(NamedTuple):
    """A job and its place in a table."""

    row: str
    column: str
    data: str
    job: Job


def plan(
    experiment: Experiment, *, n_datasets: int | None = None, n_trials: int = 50, authors: Path | None = None
) -> list[Planned]:
    """All jobs of an experiment, data set by data set, so that a table fills evenly."""
    wanted = n_datasets or experiment.n_datasets
    data = {setting.name: _identities(setting, wanted, authors) for setting in experiment.columns}
    most = max(map(len, data.values()), default=0)
    path = None if authors is None else str(authors.absolute())
    return [
        Planned(learner.name, setting.name, describe(data[setting.name][k]), job)
        for k in range(most)
        for setting in experiment.columns
        if k < len(data[setting.name])
        for learner in experiment.rows
        for job in _jobs(experiment.task, learner, data[setting.name][k], path, n_trials)
    ]


def _identities(setting: Setting, n_datasets: int, authors: Path | None) -> list[dict[str, Any]]:
    """What identifies each data set of a setting: seeds 1, 2, ... or the authors' numbers, lowest first."""
    if authors is not None:
        name = setting.authors_name
        numbers = authors_numbers(authors, name)[:n_datasets]
        return [
            {"authors": name, "number": number, "sha256": authors_sample(authors, name, number).sha256}
            for number in numbers
        ]
    if setting.is_bundled:
        return [{"bundled": setting.kind}]
    return [{"simulation": setting.simulation(seed)} for seed in range(1, n_datasets + 1)]


def describe(data: Mapping[str, Any]) -> str:
    """A data set's identity in words.

    >>> describe({"authors": "er1-10", "number": 11, "sha256": "..."})
    "authors' er1-10, number 11"
    """
    if "simulation" not in data:
        return str(data["bundled"]) if "bundled" in data else f"authors' {data['authors']}, number {data['number']}"
    given = data["simulation"]
    graph = f"{given['graph'].upper()}{given['n_edges'] // given['n_nodes']}, " if "graph" in given else ""
    return f"{given['mechanism']}, {graph}{given['n_nodes']} nodes, {given['n_rows']:,} rows, seed {given['seed']}"


def _jobs(task: str, learner: Learner, data: Mapping[str, Any], path: str | None, n_trials: int) -> Iterator[Job]:
    if task == "search":
        yield Job("fit", learner.method, _changes(learner), data, path)
        seed = seed_from({"search": learner.method, "data": dict(data)})
        for drawn in draw(learner.method, n_trials, seed):
            yield Job("trial", learner.method, _changes(learner, **drawn), data, path)
    else:
        recording = {"record_A_phi": True} if task == "trace" else {}
        yield Job(task, learner.method, _changes(learner, **recording), data, path)


def _changes(learner: Learner, **other: Any) -> dict[str, Any]:
    """The parameters in which a learner differs from its method's defaults, those of its preset included."""
    default = build(learner.method, {}).get_params(deep=False)
    chosen = build(learner.method, {**learner.parameters, **other}, preset=learner.preset).get_params(deep=False)
    return {name: value for name, value in _relevant(chosen).items() if value != default[name]}


def all_parameters(job: Job) -> dict[str, Any]:
    """All parameters of a job with their values, defaults included."""
    return _relevant(build(job.method, job.parameters).get_params(deep=False))


def _relevant(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in sorted(parameters.items()) if name not in _IRRELEVANT}
