"""Hyper-parameters by held-out score (appendix "Hyperparameter Selection via Held-out Score" of the paper).

    score = 1 / (n d)  sum over the n held-out rows and the d variables of  log p_j(x_j | parents of j)

in the units of the table, without regulariser, of the model that was trained anew on its final graph. 80 % of the rows
are for everything else: candidates, training, thresholds, pruning, scaling, retraining. The held-out 20 % decide when
GraN-DAG stops, as the paper has it, and the score.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from grandag.learned import TrainingError
from grandag.methods.registry import METHODS, build
from grandag.parameters import ParameterError
from grandag.progress import Listener
from grandag.reproduction.result_table import Figure
from grandag.table import MIN_ROWS, as_table, constant_columns, split_rows

__all__ = ["HELD_OUT_FRACTION", "HeldOutFit", "convergence_flag", "held_out_fit", "improvement_flag", "per_variable"]

HELD_OUT_FRACTION = 0.2

_CONVERGENCE_FLAGS = {"***": 10 / 50, "**": 25 / 50, "*": 45 / 50}
"""The share of converged trials below which a flag is due."""


@dataclass(frozen=True)
class HeldOutFit:
    """A fit to 80 % of the rows, and its score on the others."""

    method: str
    parameters: Mapping[str, Any]
    score: float  # mean log-density per row and variable
    names: tuple[str, ...]
    adjacency: np.ndarray  # [i, j]: i -> j
    converged: bool
    iterations: int | None  # None where a method does not iterate
    seconds: float

    @property
    def n_edges(self) -> int:
        """An undirected edge of an equivalence class is one."""
        return int((self.adjacency | self.adjacency.T).sum()) // 2


def held_out_fit(
    method: str,
    parameters: Mapping[str, Any],
    X: Any,
    seed: int = 0,
    *,
    preset: str = "default",
    listener: Listener | None = None,
) -> HeldOutFit:
    """Fit a method to a random 80 % of the rows and score it on the rest.

    The seed decides the split, and is the method's random state: fits with the same seed compare.

    Args:
        method: Its name in the registry.
        parameters: Of its estimator; all others are the preset's.
        X: The table.
        seed: Of split and fit.
        preset: What `parameters` are changes to.
        listener: Told how far the fit is; an exception of its own ends it.

    Raises:
        TrainingError: If training broke down, or the score is no number.

    Example:
        >>> from grandag import datasets
        >>> fit = held_out_fit("cam", {"prune_cutoff": 0.01}, datasets.load_sachs().data, seed=1)
        >>> fit.adjacency.shape, fit.converged
        ((11, 11), True)
    """
    estimator = build(method, parameters, preset=preset, seed=seed)
    if not hasattr(estimator, "score"):
        scored = ", ".join(name for name, entry in METHODS.items() if hasattr(entry.estimator(), "score"))
        raise ParameterError("method", f"must have a density to be scored by, as {scored} have; got {method!r}.")
    fewest = math.ceil(MIN_ROWS / (1 - HELD_OUT_FRACTION))
    table = as_table(X, missing=estimator.missing, min_rows=fewest)
    rows = pd.DataFrame(table.values, columns=list(table.names))
    chosen = split_rows(len(rows), HELD_OUT_FRACTION, np.random.default_rng(seed))
    train, held_out = (rows.iloc[indices].reset_index(drop=True) for indices in chosen)
    start = time.perf_counter()
    estimator.fit(train, held_out=held_out, listener=listener)
    score = per_variable(estimator.score(held_out), train)
    if not math.isfinite(score):
        raise TrainingError(f"The held-out score of {method!r} is {score}: its model gives some row no probability.")
    return HeldOutFit(
        method,
        dict(parameters),
        score,
        table.names,
        estimator.adjacency_,
        bool(getattr(estimator, "converged_", True)),
        getattr(estimator, "n_iter_", None),
        time.perf_counter() - start,
    )


def per_variable(joint: float, train: pd.DataFrame) -> float:
    """A joint log-likelihood as a mean over the variables that have a density, those that vary in the training rows."""
    return joint / int((~constant_columns(train.to_numpy())).sum())


def improvement_flag(
    default_values: Iterable[float], tuned_values: Iterable[float], *, lower_is_better: bool = True
) -> str:
    """What hyper-parameter search did to a measure: "++", "+", "-", "--", or "" if its mean is the same.

    Doubled if the means differ by more than one standard deviation. The paper does not say of which runs. Its figures
    do: with that of the tuned ones 339 of 362 flags follow from the figures beside them, with that of the default ones
    313 (tools/count_flags.py). A single value, as for Sachs, has no deviation, and no flag of it is doubled.
    """
    default, tuned = Figure.of(default_values), Figure.of(tuned_values)
    gain = default.mean - tuned.mean if lower_is_better else tuned.mean - default.mean
    if gain == 0:
        return ""
    is_clear = tuned.deviation is not None and abs(gain) > tuned.deviation
    return ("+" if gain > 0 else "-") * (2 if is_clear else 1)


def convergence_flag(mean_converged: float, trials: int = 50) -> str:
    """How few of the trials converged, on average over data sets: "***", "**", "*", or "" for nearly all.

    Below 10, 25 and 45 of the paper's 50, and the same shares of any other number; a limit itself counts as reached.
    """
    return next((flag for flag, share in _CONVERGENCE_FLAGS.items() if mean_converged < share * trials), "")
