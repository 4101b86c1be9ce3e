"""Search over hyper-parameters for the best held-out score, on all cores or a cluster.

All trials share the split, the random state and the number of threads (one): they differ in their parameters only.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from grandag.executors import ClusterLostError, Executor, Failure, open_executor
from grandag.knowledge import Knowledge
from grandag.learned import TrainingError
from grandag.methods.estimator import StructureLearner
from grandag.methods.registry import build
from grandag.parameters import ParameterError, check_parameters, integer, number, optional, plain
from grandag.parameters import cluster as cluster_rule
from grandag.parameters import n_jobs as n_jobs_rule
from grandag.progress import Listener, Progress
from grandag.table import Table, TableError
from grandag.tuning.best_trial import best_trial
from grandag.tuning.held_out import HeldOutFit, as_splittable, held_out_fit
from grandag.tuning.samplers import Search, searching
from grandag.tuning.spaces import Space, space_of, used_part
from grandag.version import __version__
from grandag.wording import counted
from grandag.writing import replacing_directory

__all__ = ["Trial", "Tuning", "tune"]

_RULES = {
    "trials": integer(1),
    "seed": integer(0),
    "n_jobs": n_jobs_rule,
    "cluster": cluster_rule,
    "time_limit": optional(number(0, open_minimum=True)),
    "total_time_limit": optional(number(0, open_minimum=True)),
}


@dataclass(frozen=True)
class Trial:
    """One combination of parameters, and its scored fit, or the reason why there is none."""

    number: int
    parameters: Mapping[str, Any]
    status: Literal["done", "failed", "out of time"]
    fit: HeldOutFit | None = None
    error: str = ""

    @property
    def score(self) -> float:
        """The held-out score; NaN without a fit."""
        return math.nan if self.fit is None else self.fit.score

    @property
    def converged(self) -> bool:
        """Did the fit end, and meet the tolerance of its method?"""
        return self.fit is not None and self.fit.converged


@dataclass(frozen=True, repr=False)
class Tuning:
    """The trials of a search, in the order in which they were drawn."""

    method: str
    preset: str
    sampler: str
    seed: int
    n_asked: int
    fixed: Mapping[str, Any]
    trials: tuple[Trial, ...]
    ended_by: BaseException | None = None
    """What ended it before all trials were done: Ctrl-C, or the loss of the cluster."""

    def __repr__(self) -> str:
        return f"<Tuning of {self.method}: {counted(len(self.trials), 'trial')}>"

    @property
    def was_interrupted(self) -> bool:
        """Did it end before all trials were done, other than by its time limit?"""
        return self.ended_by is not None

    @property
    def frame(self) -> pd.DataFrame:
        """One row per trial: score, edges, converged, iterations, seconds, status, error and the parameters."""
        rows = [_row(trial) for trial in self.trials]
        return pd.DataFrame(rows).astype({"edges": "Int64", "iterations": "Int64"})

    @property
    def best(self) -> Trial:
        """The trial with the highest score among those that converged, or among all if none did."""
        best = best_trial(self.trials)
        if best is None:
            raise TrainingError("No trial has a score.")
        return best

    @property
    def best_parameters(self) -> dict[str, Any]:
        """The parameters that the search chose; those that were given are in `fixed`."""
        return dict(self.best.parameters)

    @property
    def n_converged(self) -> int:
        """How many trials converged."""
        return sum(trial.converged for trial in self.trials)

    def estimator(self) -> StructureLearner:
        """An unfitted estimator with the best parameters."""
        parameters = {**self.best_parameters, **self.fixed}
        estimator: StructureLearner = build(self.method, parameters, preset=self.preset, seed=self.seed)
        return estimator

    def best_estimator(self, X: Any, *, listener: Listener | None = None) -> StructureLearner:
        """An estimator with the best parameters, fitted to all rows of X."""
        model = self.estimator().fit(X, listener=listener)
        model.learned_ = model.learned_.with_note(self.describe())
        return model

    def describe(self) -> str:
        """One sentence on the search."""
        n = len(self.trials)
        n_without = sum(trial.fit is None for trial in self.trials)
        n_not_converged = n - n_without - self.n_converged
        parts = [
            f"Hyper-parameters are those of trial {self.best.number}, the best of {n} ({self.sampler} search) by their "
            f"held-out log-likelihood per row, {self.best.score:.4g}"
        ]
        if n < self.n_asked:
            reason = ", since the cluster was lost" if isinstance(self.ended_by, ClusterLostError) else ""
            parts.append(f"{self.n_asked - n} of the {self.n_asked} trials asked for were not run{reason}")
        if n_without:
            first = next(trial.error for trial in self.trials if trial.fit is None)
            parts.append(f"{n_without} failed (the first: {' '.join(first.split()).rstrip('.')})")
        if n_not_converged:
            parts.append(f"{n_not_converged} did not converge")
        sentences = ["; ".join(parts) + ".", self.best.fit.note if self.best.fit else ""]
        return " ".join(filter(None, sentences))

    def save(self, directory: str | Path) -> None:
        """Write trials.csv, and best.json with the best parameters and the configuration of the search."""
        with replacing_directory(directory) as new:
            self.write(new)

    def write(self, directory: Path) -> None:
        """Write these files to a directory that is there."""
        self.frame.to_csv(directory / "trials.csv", index=False)
        best = {
            "method": self.method,
            "preset": self.preset,
            "parameters": self.best_parameters,
            "fixed": {name: plain(value) for name, value in self.fixed.items()},
            "trial": self.best.number,
            "score": self.best.score,
            "converged": self.best.converged,
            "trials": len(self.trials),
            "trials_asked": self.n_asked,
            "trials_converged": self.n_converged,
            "sampler": self.sampler,
            "seed": self.seed,
            "grandag": __version__,
        }
        text = json.dumps(best, indent=2, ensure_ascii=False, default=str)
        (directory / "best.json").write_text(text + "\n", encoding="utf-8")


def _row(trial: Trial) -> dict[str, Any]:
    fit = trial.fit
    return {
        "trial": trial.number,
        "score": trial.score,
        "edges": fit and fit.n_edges,
        "converged": trial.converged,
        "iterations": fit and fit.iterations,
        "seconds": math.nan if fit is None else fit.seconds,
        "status": trial.status,
        "error": trial.error,
        **trial.parameters,
    }


def tune(
    X: Any,
    method: str = "grandag",
    trials: int = 50,
    *,
    sampler: Any = "random",
    seed: int = 0,
    n_jobs: int | None = -1,
    cluster: str | None = None,
    preset: str = "default",
    fixed: Mapping[str, Any] | None = None,
    space: Space | None = None,
    time_limit: float | None = None,
    total_time_limit: float | None = None,
    interventions: Any = None,
    intervention_kind: str = "perfect",
    listener: Listener | None = None,
) -> Tuning:
    """Search the hyper-parameters of a method for the best score on held-out rows (80 % train, 20 % score).

    A trial that fails is recorded and the rest goes on. Ctrl-C, or the loss of the cluster, ends the search early with
    the trials that are done.

    Args:
        X: The table.
        method: Name of a method with a search space: "grandag", "grandag++", "grandag-shared", "dag-gnn", "notears",
            "cam", "ges", "fges", "gsf", "lingam", "ica-lingam", "resit", "resit-gp", "equal-variance", "top-down",
            "exact".
        trials: Number of combinations to try.
        sampler: "random"; "tpe" or "genetic", which learn from earlier trials (package optuna); or any sampler of
            Optuna, which then has its own seed.
        seed: Seed of the draws, of the split, and of every fit.
        n_jobs: Number of processes, -1 for all cores; each trial has one thread. Results do not depend on it.
        cluster: Address of a Dask scheduler whose workers run the trials instead, with the same results.
        preset: Preset of all other parameters: "default", "paper" or, for GraN-DAG, "fast".
        fixed: Parameters that are not searched, such as {"knowledge": "knowledge.toml"} or {"n_layers": 1}.
        space: Distribution of each parameter to be searched; default: the paper's search space, without parameters
            that have no effect (the cutoff of pruning, if edges are refined instead; the penalty of exact search with
            the generalised score).
        time_limit: Seconds for one trial, which fails after that, at its next report of progress.
        total_time_limit: Seconds for all trials; those that have not begun by then are left out.
        interventions: Which variables each row intervenes on, as `fit` takes it.
        intervention_kind: The `kind` of `fit`.
        listener: Called after every trial with the best score so far.

    Example:
        >>> from grandag import datasets
        >>> result = tune(datasets.load_sachs().data, "cam", trials=3, seed=1, n_jobs=1)
        >>> result.frame[["score", "edges", "converged", "prune_cutoff"]].shape
        (3, 4)
    """
    given = {"trials": trials, "seed": seed, "n_jobs": n_jobs, "cluster": cluster}
    check_parameters(given | {"time_limit": time_limit, "total_time_limit": total_time_limit}, _RULES)
    fixed = dict(fixed or {})
    offered = space_of(method) if space is None else space
    estimator = build(method, fixed, preset=preset, seed=seed)
    searched = used_part(offered, estimator) if space is None else space
    if not set(searched) - set(fixed):
        idle = [name for name in offered if name not in searched]
        reason = f", and beside these values {', '.join(idle)} has no effect" if idle else ""
        raise ParameterError(
            "fixed", f"must leave something to search: the search is over {', '.join(offered)}{reason}."
        )
    table = as_splittable(X, estimator, interventions, intervention_kind)
    knowledge = Knowledge.of(estimator.knowledge)
    knowledge.masks(table.names)  # refuses contradictions before any trial runs
    alone = {"n_jobs": 1} if "n_jobs" in estimator.get_params() else {}
    known = {"knowledge": knowledge} if "knowledge" in fixed else {}  # a file may not be where trials run
    task = _Task(method, preset, {**fixed, **alone, **known}, seed)
    limits = _Limits(time_limit, total_time_limit)
    done: list[Trial] = []
    ended_by: BaseException | None = None
    try:
        where = open_executor(table, n_jobs=n_jobs, cluster=cluster)
        with (
            searching(sampler, searched, fixed, seed) as search,
            where as executor,
            closing(_run(search, task, trials, limits, executor)) as finished,
        ):
            for trial in finished:
                done.append(trial)
                if listener is not None:
                    listener(_progress(done, trials))
    except (KeyboardInterrupt, ClusterLostError) as error:
        if not any(trial.fit for trial in done):
            raise
        ended_by = error.with_traceback(None)
    if not any(trial.fit for trial in done):
        reason = next((trial.error for trial in done), "there was no time for the first.")
        raise TrainingError(f"No trial gave a score: {reason}")
    name = sampler if isinstance(sampler, str) else type(sampler).__name__
    in_order = tuple(sorted(done, key=lambda trial: trial.number))
    return Tuning(method, preset, name, seed, trials, fixed, in_order, ended_by)


def _progress(done: Sequence[Trial], n_asked: int) -> Progress:
    best = best_trial(done)
    if best is None or best.fit is None:
        return Progress("tune", len(done), n_asked)
    return Progress("tune", len(done), n_asked, held_out=best.score, n_edges=best.fit.n_edges)


class _Task(NamedTuple):
    """What all trials share, but for the table."""

    method: str
    preset: str
    parameters: dict[str, Any]
    seed: int


class _Draw(NamedTuple):
    """What is a trial's own."""

    number: int
    parameters: dict[str, Any]
    seconds: float
    """The longest that it may take."""


class _Limits:
    """The seconds that a trial may take, and all of them together; None for no limit."""

    def __init__(self, of_one: float | None, of_all: float | None) -> None:
        self._of_one = of_one or math.inf
        self._end = time.monotonic() + (of_all or math.inf)

    def now(self) -> float:
        """The seconds for a trial that begins now; none are left if it is not positive."""
        return min(self._of_one, self._end - time.monotonic())


def _run(search: Search, task: _Task, n_trials: int, limits: _Limits, executor: Executor) -> Generator[Trial]:
    """Trials as they are finished, round by round, until there is no time for another one."""
    n_done = 0
    while n_done < n_trials:
        proposed = search.ask(n_trials - n_done)
        trials: dict[int, Trial] = {}
        with closing(executor.run(partial(_trial, task), _draws(proposed, n_done, limits))) as finished:
            for draw, result in finished:
                trials[draw.number] = _recorded(draw, result)
                yield trials[draw.number]
        if len(trials) < len(proposed):
            return
        search.tell([trials[k].score for k in sorted(trials)])
        n_done += len(trials)


def _draws(proposed: Sequence[dict[str, Any]], n_done: int, limits: _Limits) -> Iterator[_Draw]:
    """The trials of a round, each when there is a place for it, while there is time."""
    for k, parameters in enumerate(proposed, n_done + 1):
        seconds = limits.now()
        if seconds <= 0:
            return
        yield _Draw(k, parameters, seconds)


def _recorded(draw: _Draw, result: Trial | Failure) -> Trial:
    """A finished trial; it has failed if its process died."""
    if isinstance(result, Failure):
        return Trial(draw.number, draw.parameters, "failed", error=result.reason)
    return result


class _OutOfTimeError(Exception):
    """Raised from within a fit."""


def _trial(task: _Task, draw: _Draw, table: Table) -> Trial:
    """Run one trial. Input that no trial can use is an error of the whole search."""
    start = time.monotonic()

    def look_at_the_clock(_: Progress) -> None:
        if time.monotonic() > start + draw.seconds:
            raise _OutOfTimeError

    values = {**draw.parameters, **task.parameters}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = held_out_fit(task.method, values, table, task.seed, preset=task.preset, listener=look_at_the_clock)
    except _OutOfTimeError:
        error = f"Out of time after {time.monotonic() - start:.1f} s."
        return Trial(draw.number, draw.parameters, "out of time", error=error)
    except (ParameterError, TableError):
        raise
    except Exception as error:
        return Trial(draw.number, draw.parameters, "failed", error=f"{type(error).__name__}: {error}")
    return Trial(draw.number, draw.parameters, "done", fit)
