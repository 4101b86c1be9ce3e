"""Jobs: one method with its parameters on one data set, independent of each other and of where they run.

A job is plain data. Its key is a hash of everything that its result depends on: task, method, all parameters, the
data's identity and the library's version. Its seed comes from the same configuration (without the version), so that a
result depends neither on the order of jobs nor on who works on them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from grandag.methods.registry import build
from grandag.reproduction.samples import authors_numbers, authors_sample
from grandag.reproduction.specification import Experiment, Learner, Setting
from grandag.tuning.spaces import draw
from grandag.version import __version__

__all__ = ["Job", "Planned", "plan"]

_IRRELEVANT = ("knowledge", "missing", "n_jobs", "random_state", "verbose")
"""Parameters that a job's result does not depend on, or that are the same in all jobs."""


@dataclass(frozen=True)
class Job:
    """What to do, with which method and parameters, on which data.

    `data` identifies the data: {"simulation": arguments}, {"bundled": name} or {"authors": setting, "number": k,
    "sha256": of rows and truth}. `path` is where the authors' files lie; it is no part of the job's identity.
    """

    task: str
    method: str
    parameters: Mapping[str, Any]
    data: Mapping[str, Any]
    path: str | None = None

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that the result depends on, but the version."""
        return {
            "task": self.task,
            "method": self.method,
            "parameters": dict(self.parameters),
            "data": dict(self.data),
        }

    @cached_property
    def key(self) -> str:
        """The job's place in the result store."""
        return digest({**self.configuration, "version": __version__})

    @cached_property
    def seed(self) -> int:
        """Of the method; the data have their own. Trials on one data set share it, and so their held-out rows."""
        configuration = self.configuration
        if self.task == "trial":
            del configuration["parameters"]
        return int(digest(configuration)[:8], 16)

    @property
    def split_seed(self) -> int:
        """Of the rows that are kept for validation: the same for all methods on a data set."""
        return int(digest(dict(self.data))[:8], 16)

    def as_dict(self) -> dict[str, Any]:
        """As plain data, from which `Job(**...)` makes it again."""
        return {**self.configuration, "path": self.path}


class Planned(NamedTuple):
    """A job and its place in a table."""

    row: str
    column: str
    data: str
    job: Job


def digest(value: Any) -> str:
    """SHA-256 of a value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


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
    law = dict(data["simulation"])
    graph = f"{law['graph'].upper()}{law['n_edges'] // law['n_nodes']}, " if "graph" in law else ""
    return f"{law['mechanism']}, {graph}{law['n_nodes']} nodes, {law['n_rows']:,} rows, seed {law['seed']}"


def _jobs(task: str, learner: Learner, data: Mapping[str, Any], path: str | None, n_trials: int) -> Iterator[Job]:
    if task == "search":
        yield Job("fit", learner.method, _parameters(learner), data, path)
        seed = int(digest({"search": learner.method, "data": dict(data)})[:8], 16)
        for drawn in draw(learner.method, n_trials, seed):
            yield Job("trial", learner.method, _parameters(learner, **drawn), data, path)
    else:
        recording = {"record_A_phi": True} if task == "trace" else {}
        yield Job(task, learner.method, _parameters(learner, **recording), data, path)


def _parameters(learner: Learner, **other: Any) -> dict[str, Any]:
    """All parameters with their values, so that a changed default or preset is another job."""
    known = build(learner.method, {**learner.parameters, **other}, preset=learner.preset).get_params(deep=False)
    return {name: value for name, value in sorted(known.items()) if name not in _IRRELEVANT}
