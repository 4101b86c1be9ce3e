"""Fits that are scored on held-out rows (appendix "Hyperparameter Selection via Held-out Score" of the paper).

    score = 1 / n  sum over the n held-out rows and all variables of  log p_j(x_j | parents of j)

in the units of the table, without regulariser, for the model that was retrained on its final graph. Everything else
uses the other 80 % of the rows: candidates, training, thresholds, pruning, scaling, retraining. As in the paper, the
held-out 20 % decide when GraN-DAG stops, and the score.

Training rows and held-out rows are tables of their own: of a very long table, some rows stand for all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grandag.learned import TrainingError
from grandag.methods.registry import build
from grandag.progress import Listener
from grandag.table import MANY_ROWS, MIN_ROWS, Table, as_table, draw_rows, split_rows, split_table

__all__ = ["FEWEST_ROWS", "HELD_OUT_FRACTION", "MOST_ROWS", "HeldOutFit", "as_splittable", "held_out_fit", "hold_out"]

HELD_OUT_FRACTION = 0.2

FEWEST_ROWS = math.ceil(MIN_ROWS / (1 - HELD_OUT_FRACTION))
"""The smallest table whose training rows suffice for a fit."""

MOST_ROWS = 8 * MANY_ROWS
"""Of a longer table, so many rows, drawn at random, are split instead of all: a copy of them is small beside it."""


@dataclass(frozen=True)
class HeldOutFit:
    """A fit to 80 % of the rows, and its score on the others."""

    method: str
    parameters: Mapping[str, Any]
    score: float  # mean log-density per row
    names: tuple[str, ...]
    adjacency: np.ndarray  # [i, j]: i -> j
    converged: bool
    iterations: int | None  # None where a method does not iterate
    seconds: float
    note: str = ""  # on the rows that were used, if they are not all

    @property
    def n_edges(self) -> int:
        """The number of edges; an undirected edge of an equivalence class counts once."""
        return int((self.adjacency | self.adjacency.T).sum()) // 2


def as_splittable(X: Any, estimator: Any, interventions: Any = None, intervention_kind: str = "perfect") -> Table:
    """A table as an estimator reads it, with rows enough to hold some out."""
    return as_table(
        X,
        missing=estimator.missing,
        kinds=estimator.kinds,
        min_rows=FEWEST_ROWS,
        interventions=interventions,
        intervention_kind=intervention_kind,
    )


def hold_out(table: Table, seed: int) -> tuple[Table, Table]:
    """A random 80 % of the rows, of each regime, to train on, and the others; the same seed gives the same split.

    Of more than `MOST_ROWS` rows so many are drawn first. They stay in order, as a memory-mapped file is read best.
    """
    rng, n = np.random.default_rng(seed), len(table.values)
    if n <= MOST_ROWS:
        train, held_out = split_table(table, HELD_OUT_FRACTION, rng)
    else:
        train, held_out = split_rows(MOST_ROWS, HELD_OUT_FRACTION, rng)
        drawn = np.sort(draw_rows(n, MOST_ROWS, rng))
        train, held_out = drawn[np.sort(train)], drawn[np.sort(held_out)]
    return table.take(train), table.take(held_out)


def held_out_fit(
    method: str,
    parameters: Mapping[str, Any],
    X: Any,
    seed: int = 0,
    *,
    preset: str = "default",
    interventions: Any = None,
    intervention_kind: str = "perfect",
    listener: Listener | None = None,
) -> HeldOutFit:
    """Fit a method to a random 80 % of the rows and score it on the rest.

    The seed decides the split, and is the method's random state: fits with the same seed can be compared.

    Args:
        method: The method's name in the registry.
        parameters: Parameters of its estimator; all others are those of the preset.
        X: The table.
        seed: Seed of the split and of the fit.
        preset: The preset that `parameters` change.
        interventions: Which variables each row intervenes on, as `fit` takes it.
        intervention_kind: The `kind` of `fit`.
        listener: Called with the progress of the fit; an exception that it raises ends the fit.

    Raises:
        TrainingError: If training broke down, or the score is not finite.

    Example:
        >>> from grandag import datasets
        >>> fit = held_out_fit("cam", {"prune_cutoff": 0.01}, datasets.load_sachs().data, seed=1)
        >>> fit.adjacency.shape, fit.converged
        ((11, 11), True)
    """
    estimator = build(method, parameters, preset=preset, seed=seed)
    table = as_splittable(X, estimator, interventions, intervention_kind)
    train, held_out = hold_out(table, seed)
    start = time.perf_counter()
    estimator.fit(train, held_out=held_out, listener=listener).learned_.check_not_interrupted()
    score = estimator.score(held_out)
    if not math.isfinite(score):
        raise TrainingError(f"The held-out score of {method!r} is {score}: its model gives some row no probability.")
    learned, n = estimator.learned_, len(table.values)
    note = f"The held-out score is from {MOST_ROWS:,} of the {n:,} rows, drawn at random." if n > MOST_ROWS else ""
    return HeldOutFit(
        method,
        dict(parameters),
        score,
        table.names,
        learned.adjacency,
        learned.converged,
        learned.n_iter,
        time.perf_counter() - start,
        note,
    )
