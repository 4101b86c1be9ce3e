"""Interventions that were made as a test of a causal graph that needs no truth: leave one regime out, and predict it.

    p(x | do(x_T)) = prod over j not in T of p_j(x_j | parents of j)

For each regime of interventions the method is refitted to the rows of all others. Its model then says what the regime
looks like, with the targets T as they were observed there, and all else following from them: the mean and the spread of
every other variable. Beside it stands what one would say without any model: that nothing changes.
"""

from __future__ import annotations

import math
import warnings
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from grandag.executors import Failure, open_executor
from grandag.graph import ancestors
from grandag.kinds import LABELLED
from grandag.knowledge import KnowledgeError
from grandag.learned import Learned, TrainingError
from grandag.model import CausalModel
from grandag.parameters import check_parameters
from grandag.parameters import n_jobs as n_jobs_rule
from grandag.progress import Listener, Progress
from grandag.resampling import Estimator, quiet
from grandag.table import Table, TableError, as_table
from grandag.wording import levels_to_the_user

__all__ = ["check_interventions", "describe_check", "errors_by_regime", "with_check"]

_DRAWS = 10_000
"""Rows behind a prediction, at least."""


class _Predicted(NamedTuple):
    """What a refit says of a regime that it has not seen; or why it says nothing."""

    frame: pd.DataFrame | None = None
    failure: str = ""


def check_interventions(
    estimator: Estimator,
    X: Any,
    interventions: Any = None,
    kind: str = "perfect",
    *,
    n_jobs: int | None = -1,
    listener: Listener | None = None,
) -> pd.DataFrame:
    """Refit an estimator without each regime in turn, and compare what it predicts for it with the regime's rows.

    One row per regime and variable that is no target of it and holds numbers: `observed_mean`, `predicted_mean` and
    `unchanged_mean`, the mean without intervention; the same of the standard deviation (`_sd`); `error` and
    `unchanged_error`, the two means minus the observed one, in standard deviations of the rows without intervention;
    `standard_errors`, the first in standard errors of the observed mean; and `is_downstream`, whether the refitted
    graph has a path from a target to the variable. `errors_by_regime` sums it up.

    Args:
        estimator: Any method that makes use of interventions, fitted or not; it is not changed.
        X: The table.
        interventions: Which variables each row intervenes on, as `fit` takes it.
        kind: "perfect" or "imperfect", as `fit` takes it. What an imperfect intervention makes of a target given its
            parents is not predicted: its values are set from outside here, too.
        n_jobs: Processes for the refits, -1 for all cores. Results do not depend on it.
        listener: Called after every refit.

    Example:
        >>> from grandag import CAM, simulate
        >>> scenario = simulate.draw_scenario("lin", simulate.erdos_renyi(4, 4, random_state=1), 400, 1)
        >>> regimes = simulate.draw_regimes(scenario, random_state=1)
        >>> found = check_interventions(CAM(), regimes.data, regimes.interventions, n_jobs=1)
        >>> sorted(errors_by_regime(found)["regime"])
        ['X0', 'X1', 'X2', 'X3', 'all']
    """
    check_parameters({"n_jobs": n_jobs}, {"n_jobs": n_jobs_rule})
    table = as_table(
        X, missing=estimator.missing, kinds=estimator.kinds, interventions=interventions, intervention_kind=kind
    )
    if table.regimes is None:
        raise TableError("There are no interventions to check: say which rows have which targets (interventions=...).")
    regimes = np.flatnonzero(table.regimes.targets.any(axis=1)).tolist()
    done: dict[int, _Predicted] = {}
    with (
        open_executor(table, n_jobs=n_jobs) as executor,
        closing(executor.run(partial(_check, quiet(estimator)), regimes)) as finished,
    ):
        for regime, result in finished:
            done[regime] = _Predicted(failure=result.reason) if isinstance(result, Failure) else result
            if listener is not None:
                listener(Progress("check", len(done), len(regimes)))
    frames = [done[regime].frame for regime in sorted(done) if done[regime].frame is not None]
    failures = [done[regime].failure for regime in sorted(done) if done[regime].frame is None]
    if not frames:
        raise TrainingError(f"No refit without a regime gave a model: {failures[0]}")
    if failures:
        message = f"{len(failures)} of {len(done)} regimes could not be left out: {failures[0]}"
        warnings.warn(message, stacklevel=levels_to_the_user())
    return pd.concat(frames, ignore_index=True)


def errors_by_regime(check: pd.DataFrame) -> pd.DataFrame:
    """One row per regime, and the last one for all: how far off the means are, and how far without any model.

    `error` and `unchanged_error` are roots of mean squares over the variables, in standard deviations; `spread_error`
    and `unchanged_spread_error` the same of the logarithms of the ratio of standard deviations.
    """
    groups = [*check.groupby("regime", sort=False), ("all", check)]
    return pd.DataFrame([{"regime": regime, **_errors(rows)} for regime, rows in groups])


def describe_check(check: pd.DataFrame) -> str:
    """One sentence."""
    total = errors_by_regime(check).iloc[-1]
    better = "less" if total["error"] < total["unchanged_error"] else "more"
    return (
        f"Regimes that were left out of a refit are predicted with means that are off by {total['error']:.2f} standard "
        f"deviations (root mean square of {total['variables']:.0f}): {better} than the {total['unchanged_error']:.2f} "
        "of saying that nothing changes."
    )


def with_check(learned: Learned, check: pd.DataFrame) -> Learned:
    """What was learned, with the check and a note on it."""
    return replace(learned.with_note(describe_check(check)), values={**learned.values, "intervention_check": check})


def _errors(rows: pd.DataFrame) -> dict[str, Any]:
    return {
        "variables": len(rows),
        "error": _root_mean_square(rows["error"].to_numpy()),
        "unchanged_error": _root_mean_square(rows["unchanged_error"].to_numpy()),
        "spread_error": _spread_error(rows, "predicted_sd"),
        "unchanged_spread_error": _spread_error(rows, "unchanged_sd"),
    }


def _spread_error(rows: pd.DataFrame, column: str) -> float:
    """Of variables that vary, here and there."""
    pair = rows[[column, "observed_sd"]].to_numpy()
    found, observed = pair[(pair > 0).all(axis=1)].T
    return _root_mean_square(np.log(found / observed))


def _root_mean_square(values: np.ndarray) -> float:
    return math.sqrt(float((values**2).mean())) if len(values) else math.nan


def _check(estimator: Estimator, regime: int, table: Table) -> _Predicted:
    """Refit without a regime, and predict it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            learned = clone(estimator).fit(table.without_regime(regime)).learned_
        except (KnowledgeError, TableError, TrainingError) as error:
            return _Predicted(failure=str(error))
    learned.check_not_interrupted()
    if learned.model is None:
        return _Predicted(failure="the method has no conditionals to predict by.")
    return _Predicted(_compared(learned.model, table, regime))


def _compared(model: CausalModel, table: Table, regime: int) -> pd.DataFrame:
    """What a model says of a regime beside its rows, and beside the rows without intervention."""
    regimes = table.regimes
    assert regimes is not None
    is_target, rows = regimes.targets[regime], table.values[regimes.of_row == regime]
    times = math.ceil(_DRAWS / len(rows))
    targets = {table.names[j]: np.tile(rows[:, j], times) for j in np.flatnonzero(is_target)}
    drawn = model.sample_under(targets, random_state=0)
    downstream = ancestors(model.adjacency)[is_target].any(axis=0)
    records = []
    for j, name in enumerate(table.names):
        if is_target[j] or table.kinds[j] in LABELLED:
            continue
        observed, usual, predicted = rows[:, j], _unchanged(table, regime, j), drawn[name].to_numpy()
        unit, off = usual.std(), float(predicted.mean() - observed.mean())
        records.append(
            {
                "regime": regimes.titles(table.names)[regime],
                "variable": name,
                "rows": len(rows),
                "is_downstream": bool(downstream[j]),
                "observed_mean": observed.mean(),
                "predicted_mean": predicted.mean(),
                "unchanged_mean": usual.mean(),
                "observed_sd": observed.std(),
                "predicted_sd": predicted.std(),
                "unchanged_sd": unit,
                "error": _ratio(off, unit),
                "unchanged_error": _ratio(float(usual.mean() - observed.mean()), unit),
                "standard_errors": _ratio(off, observed.std() / math.sqrt(len(rows))),
            }
        )
    return pd.DataFrame(records)


def _ratio(difference: float, unit: float) -> float:
    """A difference in some unit; of values that do not vary, 0 or infinite."""
    if unit > 0:
        return difference / unit
    return 0.0 if difference == 0 else math.copysign(math.inf, difference)


def _unchanged(table: Table, regime: int, variable: int) -> np.ndarray:
    """The values of a variable without intervention; if no row is without, those of other regimes that leave it be."""
    regimes = table.regimes
    assert regimes is not None
    is_free = regimes.free
    rows = is_free.all(axis=1)
    if not rows.any():
        rows = is_free[:, variable] & (regimes.of_row != regime)
    return np.asarray(table.values[rows, variable], dtype=np.float64)
