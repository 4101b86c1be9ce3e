"""What a job does: a pure function from a job to its result, whoever calls it.

Tasks: "fit", "validate" (a fifth of the rows is held out; both parts are scored), "trial" (a combination of
hyper-parameters, scored on held-out rows) and "trace" (a fit that keeps A_phi over training).
"""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grandag.methods.registry import METHODS, build
from grandag.metrics import score as compare
from grandag.reproduction.jobs import Job, JobResult, failure
from grandag.reproduction.samples import load_sample
from grandag.table import Table, as_table, constant_columns
from grandag.tuning.held_out import held_out_fit, hold_out

__all__ = ["work"]


class _Finding(NamedTuple):
    """What a task finds, before it is compared with the truth."""

    adjacency: np.ndarray
    converged: bool
    iterations: int | None
    scores: dict[str, float]
    trace: dict[str, Any] | None = None


def work(job: Job, _: None = None) -> JobResult:
    """Do a job; whatever goes wrong is a result, too. Jobs share nothing, which is the second argument."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sample = load_sample(job.data, job.path)
            table = as_table(sample.rows)
            start = time.process_time()
            finding = _TASKS[job.task](job, table)
            seconds = time.process_time() - start
            return _compared(job, table.names, sample.truth, finding, seconds)
    except Exception as error:
        where = traceback.format_exc(limit=-3)
        return failure(job, f"{type(error).__name__}: {error}\n{where}")


def _parameters(job: Job) -> dict[str, Any]:
    """The job's parameters, and one thread for methods that could use more."""
    known = METHODS[job.method].estimator()().get_params(deep=False)
    return {**job.parameters, **({"n_jobs": 1} if "n_jobs" in known else {})}


def _estimator(job: Job) -> Any:
    return build(job.method, _parameters(job), seed=job.seed)


def _fit(job: Job, table: Table) -> _Finding:
    learned = _estimator(job).fit(table).learned_
    joint = learned.values.get("held_out_log_likelihood")
    scores = {} if joint is None else {"validation": _per_variable(joint, table)}
    return _Finding(learned.adjacency, learned.converged, learned.n_iter, scores)


def _validate(job: Job, table: Table) -> _Finding:
    train, validation = hold_out(table, job.split_seed)
    model = _estimator(job).fit(train, held_out=validation)
    objective = _OBJECTIVES.get(job.method)
    scores = {
        name: objective(model, rows) if objective else _per_variable(model.score(rows), train)
        for name, rows in (("train", train), ("validation", validation))
    }
    learned = model.learned_
    return _Finding(learned.adjacency, learned.converged, learned.n_iter, scores)


def _trial(job: Job, table: Table) -> _Finding:
    fit = held_out_fit(job.method, _parameters(job), table, job.seed)
    score = _per_variable(fit.score, hold_out(table, job.seed)[0])
    return _Finding(fit.adjacency, fit.converged, fit.iterations, {"validation": score})


def _per_variable(per_row: float, train: Table) -> float:
    """A log-likelihood as the paper has it: a mean over the variables with a density, those that vary in training."""
    return per_row / int((~constant_columns(train.values)).sum())


def _trace(job: Job, table: Table) -> _Finding:
    model = _estimator(job).fit(table)
    learned = model.learned_
    trace = {
        "iterations": learned.trace["iteration"].tolist(),
        "A_phi": np.asarray(learned.matrices["A_phi_trace"], dtype=np.float64).tolist(),
        "epsilon": float(model.mask_threshold),
    }
    return _Finding(learned.adjacency, learned.converged, learned.n_iter, {}, trace)


_TASKS: dict[str, Callable[[Job, Table], _Finding]] = {
    "fit": _fit,
    "validate": _validate,
    "trial": _trial,
    "trace": _trace,
}


def _least_squares(model: Any, rows: Table) -> float:
    """-1/2 |x - W' x|^2 for centred rows, mean over rows: the objective of NOTEARS without its L1 term."""
    centred = rows.values - rows.values.mean(axis=0)
    residuals: np.ndarray = centred - centred @ model.learned_.matrices["coefficients"]
    return -0.5 * float(np.square(residuals).sum(axis=1).mean())


def _evidence_lower_bound(model: Any, rows: Table) -> float:
    return float(model.evidence_lower_bound(rows))


_OBJECTIVES: dict[str, Callable[[Any, Table], float]] = {
    "notears": _least_squares,
    "dag-gnn": _evidence_lower_bound,
}
"""Scores in the paper's ablation that are not log-likelihoods, by method."""


def _compared(job: Job, names: tuple[str, ...], truth: np.ndarray, finding: _Finding, seconds: float) -> JobResult:
    facts = compare((truth, names), (finding.adjacency, names))
    return JobResult(
        job.key,
        "done",
        shd=facts["shd"],
        shd_c=facts["shd_cpdag"],
        sid_lower=facts["sid_lower"],
        sid_upper=facts["sid_upper"],
        n_true_edges=facts["n_true_edges"],
        n_edges=facts["n_estimated_edges"],
        scores=finding.scores,
        iterations=finding.iterations,
        converged=finding.converged,
        seconds=seconds,
        names=list(names),
        truth=np.argwhere(truth).tolist(),
        edges=np.argwhere(finding.adjacency).tolist(),
        trace=finding.trace,
    )
