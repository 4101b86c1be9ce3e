"""Jobs and their results as plain data, independent of each other and of where they run.

A job is one method with its parameters on one data set. Three numbers identify what it does:

    seed        of the method: a hash of the data's identity and the method's name, nothing else
    split_seed  of the rows kept for validation: a hash of the data's identity alone
    key         in the result store: a hash of everything that the result depends on

So all variants of a method on a data set (arms of an ablation, presets, trials of a search) share their random numbers,
and no result depends on the order of jobs or on where they run. `parameters` are those that differ from the method's
defaults: a new parameter whose default changes nothing leaves keys and seeds as they are. A changed default is a change
of the code, which the library's version stands for; and the version is part of the key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from grandag.version import __version__

__all__ = ["Job", "JobResult", "digest", "failure", "seed_from"]


@dataclass(frozen=True)
class Job:
    """What to do, with which method and parameters, on which data.

    `data` identifies the data: {"simulation": arguments}, {"bundled": name} or {"authors": setting, "number": k,
    "sha256": of rows and truth}. `path` is the folder of the authors' files; it is not part of the job's identity.
    """

    task: str
    method: str
    parameters: Mapping[str, Any]  # those that differ from the method's defaults
    data: Mapping[str, Any]
    path: str | None = None

    @property
    def configuration(self) -> dict[str, Any]:
        """The job's identity as plain data."""
        return {
            "task": self.task,
            "method": self.method,
            "parameters": dict(self.parameters),
            "data": dict(self.data),
        }

    @cached_property
    def key(self) -> str:
        """The job's place in the result store."""
        return digest({**self.configuration, "seed": self.seed, "version": __version__})

    @cached_property
    def seed(self) -> int:
        """The random state of the method; simulated data have their own seed."""
        return seed_from({"method": self.method, "data": dict(self.data)})

    @property
    def split_seed(self) -> int:
        """The seed of the validation rows, which are the same for all methods on a data set."""
        return seed_from(dict(self.data))

    def as_dict(self) -> dict[str, Any]:
        """The job as plain data, from which `Job(**...)` makes it again."""
        return {**self.configuration, "path": self.path}


@dataclass(frozen=True)
class JobResult:
    """How a job ended, as plain data. What a task, a method or a failure leaves open is None.

    `scores` has "validation" and "train": means over rows (per variable if it is a log-likelihood). Edges are pairs
    (i, j), positions in `names`, for i -> j; an undirected edge is there in both directions. `seconds` is CPU time; of
    a job that ran out of time, its limit. `trace` is A_phi over training: "iterations", "A_phi" (a list of matrices)
    and the threshold "epsilon".
    """

    key: str
    status: str
    error: str = ""
    shd: float | None = None
    shd_c: float | None = None
    sid_lower: float | None = None
    sid_upper: float | None = None
    n_true_edges: int | None = None
    n_edges: int | None = None
    scores: dict[str, float] = field(default_factory=dict)
    iterations: int | None = None
    converged: bool | None = None
    seconds: float | None = None
    names: list[str] = field(default_factory=list)
    truth: list[list[int]] = field(default_factory=list)
    edges: list[list[int]] = field(default_factory=list)
    trace: dict[str, Any] | None = None

    @property
    def true_adjacency(self) -> np.ndarray:
        """The true graph as a matrix (d, d); [i, j] is i -> j."""
        return _matrix(self.truth, len(self.names))

    @property
    def adjacency(self) -> np.ndarray:
        """The learned graph as a matrix (d, d); an undirected edge is there in both directions."""
        return _matrix(self.edges, len(self.names))

    def as_dict(self) -> dict[str, Any]:
        """The result as plain data, from which `JobResult(**...)` makes it again."""
        return asdict(self)


def _matrix(edges: Sequence[Sequence[int]], d: int) -> np.ndarray:
    adjacency = np.zeros((d, d), dtype=bool)
    for i, j in edges:
        adjacency[i, j] = True
    return adjacency


def failure(job: Job, error: str, status: str = "failed", seconds: float | None = None) -> JobResult:
    """The result of a job that learned nothing."""
    return JobResult(job.key, status, error, seconds=seconds)


def digest(value: Any) -> str:
    """SHA-256 of a value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def seed_from(identity: Any) -> int:
    """A seed of 32 bits that depends on a value's canonical JSON."""
    return int(digest(identity)[:8], 16)
