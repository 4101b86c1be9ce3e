"""What a job does: a pure function from a job to its outcome, whoever calls it.

Tasks: "fit", "validate" (a fifth of the rows is held out; scores of both parts), "trial" (a combination of
hyper-parameters, scored on held-out rows) and "trace" (a fit that keeps A_phi over training).
"""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from grandag.methods.registry import METHODS, build
from grandag.metrics import score as compare
from grandag.reproduction.jobs import Job
from grandag.reproduction.samples import Sample, load_sample
from grandag.table import split_rows
from grandag.tuning.held_out import held_out_fit, per_variable

__all__ = ["Outcome", "failure", "work"]

_VALIDATION_FRACTION = 0.2


@dataclass(frozen=True)
class Outcome:
    """What came of a job, as plain data. What a task, a method or a failure leaves open is None.

    `scores` has "validation" and "train": means over rows (per variable if it is a log-likelihood). Edges are pairs
    (i, j), positions in `names`, for i -> j; an undirected edge is there in both directions. `seconds` are CPU time; of
    a job that was out of time, its limit. `trace` is A_phi over training: "iterations" and "A_phi", a list of matrices.
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

    def as_dict(self) -> dict[str, Any]:
        """As plain data, from which `Outcome(**...)` makes it again."""
        return asdict(self)


@dataclass(frozen=True)
class _Learned:
    """What a task finds out, before it is compared with the truth."""

    adjacency: np.ndarray
    converged: bool | None
    iterations: int | None
    scores: dict[str, float] = field(default_factory=dict)
    trace: dict[str, Any] | None = None


def work(job: Job) -> Outcome:
    """Do a job; whatever goes wrong is an outcome, too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sample = load_sample(job.data, job.path)
            start = time.process_time()
            learned = _TASKS[job.task](job, sample)
            seconds = time.process_time() - start
            return _compared(job, sample, learned, seconds)
    except Exception as error:
        where = traceback.format_exc(limit=-3)
        return failure(job, f"{type(error).__name__}: {error}\n{where}")


def failure(job: Job, error: str, status: str = "failed", seconds: float | None = None) -> Outcome:
    """The outcome of a job that has no result."""
    return Outcome(job.key, status, error, seconds=seconds)


def _parameters(job: Job) -> dict[str, Any]:
    """Of the job, and one thread for methods that could use more."""
    known = METHODS[job.method].estimator()().get_params(deep=False)
    return {**job.parameters, **({"n_jobs": 1} if "n_jobs" in known else {})}


def _estimator(job: Job) -> Any:
    return build(job.method, _parameters(job), seed=job.seed)


def _learned(model: Any, **other: Any) -> _Learned:
    return _Learned(model.adjacency_, getattr(model, "converged_", None), getattr(model, "n_iter_", None), **other)


def _fit(job: Job, sample: Sample) -> _Learned:
    model = _estimator(job).fit(sample.rows)
    joint = getattr(model, "held_out_log_likelihood_", None)
    return _learned(model, scores={} if joint is None else {"validation": per_variable(joint, sample.rows)})


def _validate(job: Job, sample: Sample) -> _Learned:
    chosen = split_rows(len(sample.rows), _VALIDATION_FRACTION, np.random.default_rng(job.split_seed))
    train, validation = (sample.rows.iloc[np.sort(rows)].reset_index(drop=True) for rows in chosen)
    model = _estimator(job).fit(train, held_out=validation)
    objective = _OBJECTIVES.get(job.method)
    scores = {
        name: objective(model, rows) if objective else per_variable(model.score(rows), train)
        for name, rows in (("train", train), ("validation", validation))
    }
    return _learned(model, scores=scores)


def _trial(job: Job, sample: Sample) -> _Learned:
    fit = held_out_fit(job.method, _parameters(job), sample.rows, job.seed)
    return _Learned(fit.adjacency, fit.converged, fit.iterations, {"validation": fit.score})


def _trace(job: Job, sample: Sample) -> _Learned:
    model = _estimator(job).fit(sample.rows)
    A_phi = np.asarray(model.A_phi_trace_, dtype=np.float64)
    trace = {"iterations": model.trace_["iteration"].tolist(), "A_phi": A_phi.tolist()}
    return _learned(model, trace=trace)


_TASKS: dict[str, Callable[[Job, Sample], _Learned]] = {
    "fit": _fit,
    "validate": _validate,
    "trial": _trial,
    "trace": _trace,
}


def _least_squares(model: Any, rows: pd.DataFrame) -> float:
    """-1/2 |x - W' x|^2 for centred rows, mean over rows: the objective of NOTEARS without its L1 term."""
    values = rows.to_numpy()
    centred = values - values.mean(axis=0)
    residuals: np.ndarray = centred - centred @ model.coefficients_
    return -0.5 * float(np.square(residuals).sum(axis=1).mean())


def _evidence_lower_bound(model: Any, rows: pd.DataFrame) -> float:
    return float(model.evidence_lower_bound(rows))


_OBJECTIVES: dict[str, Callable[[Any, pd.DataFrame], float]] = {
    "notears": _least_squares,
    "dag-gnn": _evidence_lower_bound,
}
"""Methods whose score in the paper's ablation is not a log-likelihood."""


def _compared(job: Job, sample: Sample, learned: _Learned, seconds: float) -> Outcome:
    names = [str(name) for name in sample.rows.columns]
    facts = compare((sample.truth, names), (learned.adjacency, names))
    return Outcome(
        job.key,
        "done",
        shd=facts["shd"],
        shd_c=facts["shd_cpdag"],
        sid_lower=facts["sid_lower"],
        sid_upper=facts["sid_upper"],
        n_true_edges=facts["n_true_edges"],
        n_edges=facts["n_estimated_edges"],
        scores=learned.scores,
        iterations=learned.iterations,
        converged=learned.converged,
        seconds=seconds,
        names=names,
        truth=np.argwhere(sample.truth).tolist(),
        edges=np.argwhere(learned.adjacency).tolist(),
        trace=learned.trace,
    )
