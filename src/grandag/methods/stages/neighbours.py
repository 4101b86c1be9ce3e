"""Preliminary neighbour selection (appendix A.3 of the paper): candidate parents by extremely randomised trees.

For each variable a forest predicts it from all others; an input stays if its importance (total reduction of
variance, as a share of each tree's total) is at least 0.75 times the mean importance over all d inputs, the variable
itself counting with 0.

The importance of a forest is a mean over independent trees, so its standard error is known after a few dozen of them.
Trees are added until the decisions are clear: with mean share s_i, standard error e_i and limit l, the expected part of
the inputs that trees without end would put on the other side of the limit,

    1/d sum_i Phi(-|s_i - l| / e_i),

is at most 1 %, about what 500 trees leave open on average (docs/neighbours.md).

Among very many variables that rule leaves dozens of irrelevant inputs to each, and with them networks learn the rows by
heart: from 150 variables on the limit is 1.2 times the mean, and 50 trees are enough for it.

A variable that is read in several columns, a label as indicators, has the sum of their importances. The importance for
it is that for each of its indicators, the mean of them with their variances as weights, as in a tree that predicts all
of them at once. Its own other indicators are no inputs.

Very many variables are screened first: trees see at most twice as many as may become candidates (`screen.py`), the mean
importance is that of these, and of the candidates the most important stay.

Under interventions the trees of a variable see the rows that leave it alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, replace
from threading import Event
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.special import ndtr

from grandag.engine.random import new_state
from grandag.methods.stages.screen import most_dependent
from grandag.methods.stages.trees import LANES, grow
from grandag.parameters import count, n_jobs, number, one_of, optional, parameter
from grandag.progress import Listener, Progress

__all__ = [
    "IMPLEMENTATIONS",
    "Groups",
    "NeighboursConfig",
    "Selection",
    "compiled_importance",
    "neighbours",
    "scikit_learn_importance",
    "select_neighbours",
]

_FEWEST_TREES = 50
"""Minimum number of trees; that many give a usable standard error."""

_TREES_PER_CALL = 10
"""Compiled code cannot be interrupted, so its calls are short."""

_LARGEST_DOUBT = 0.01

_SCREENED = 2
"""Variables that trees see, at most, as a multiple of the candidates that they may leave."""

_SELECTION_FROM = 50
"""Number of variables from which neighbours are selected first (section 3.5 of the paper)."""

_STRICT_FROM = 150
"""Number of variables from which candidates need more importance, and get fewer trees."""


@dataclass(frozen=True, kw_only=True)
class NeighboursConfig:
    """Whether and how neighbours are selected. Our own trees stop before `n_trees` where the decisions are clear."""

    neighbour_selection: bool | str = parameter(
        "auto",
        one_of("auto", True, False),
        "Select candidate parents by trees first; 'auto': from 50 variables on.",
        source="appendix Preliminary neighborhood selection",
        paper="auto",
    )
    neighbour_threshold: float | None = parameter(
        None,
        optional(number(0)),
        "Candidates have at least this multiple of the mean importance; None: 0.75, from 150 variables on 1.2.",
        source="appendix Preliminary neighborhood selection",
        paper=0.75,
    )
    n_trees: int | None = parameter(
        None,
        optional(count),
        "Maximum number of trees per variable in neighbour selection, fewer where the decisions are clear; None: 500, "
        "from 150 variables on 50.",
        source="appendix Preliminary neighborhood selection",
        paper=500,
    )
    max_neighbours: int = parameter(
        100,
        count,
        "Maximum number of candidate parents per variable; of more than twice as many variables, trees see those it "
        "depends on most.",
        source="ours (docs/neighbours.md)",
        paper=10**9,
    )
    n_jobs: int | None = parameter(
        -1, n_jobs, "Number of threads, -1 for all cores; used where they pay. Results do not depend on it."
    )

    def rule(self, n_variables: int) -> tuple[float, int]:
        """Threshold and maximum number of trees for so many variables."""
        threshold, n_trees = (0.75, 500) if n_variables < _STRICT_FROM else (1.2, 50)
        return (
            threshold if self.neighbour_threshold is None else self.neighbour_threshold,
            n_trees if self.n_trees is None else self.n_trees,
        )


class Groups(NamedTuple):
    """Variables that are read in several columns."""

    columns: Sequence[Sequence[int]]  # of each variable
    weights: np.ndarray  # of all of these columns in that order: how much each counts as a target

    @classmethod
    def of_single_columns(cls, d: int) -> Groups:
        """Every variable is a column."""
        return cls([[j] for j in range(d)], np.ones(d))

    @property
    def owner(self) -> np.ndarray:
        """The variable of each column, the columns being in the order of the variables."""
        return np.repeat(np.arange(len(self.columns)), [len(columns) for columns in self.columns])


class Selection(NamedTuple):
    """The inputs that neighbour selection leaves open, and what a reader should know about it."""

    mask: np.ndarray
    notes: tuple[str, ...] = ()


def select_neighbours(
    values: np.ndarray,
    config: NeighboursConfig,
    rng: np.random.Generator,
    *,
    groups: Groups | None = None,
    are_free: np.ndarray | None = None,
    trees: str = "compiled",
    max_rows: int = 20_000,
    listener: Listener | None = None,
) -> Selection:
    """The inputs to start from: all other variables, or those that neighbour selection leaves."""
    n, d = len(values), values.shape[1] if groups is None else len(groups.columns)
    is_asked = d >= _SELECTION_FROM if config.neighbour_selection == "auto" else config.neighbour_selection
    if not is_asked or d < 2:
        return Selection(~np.eye(d, dtype=bool))
    mask = neighbours(
        values, config, rng, groups=groups, are_free=are_free, trees=trees, max_rows=max_rows, listener=listener
    )
    notes = [f"Neighbour selection left {int(mask.sum()):,} of {d * (d - 1):,} possible edges open."]
    n_limited = int((mask.sum(axis=0) == config.max_neighbours).sum())
    if n_limited > 0:
        notes.append(
            f"{n_limited:,} of {d:,} variables have {config.max_neighbours} candidate parents, the most that are "
            "kept (max_neighbours)."
        )
    if n > max_rows:
        notes.insert(0, f"Neighbours were selected with {max_rows:,} of the {n:,} rows (max_neighbour_rows).")
    return Selection(mask, tuple(notes))


Importances = Generator[tuple[int, np.ndarray], None, None]
"""Variables in the order in which they are done, each with the importance of its inputs, itself among them."""

Rows = Sequence[np.ndarray]
"""Numbers of the rows that the trees of each column see."""


def neighbours(
    values: np.ndarray,
    config: NeighboursConfig,
    rng: np.random.Generator,
    *,
    groups: Groups | None = None,
    are_free: np.ndarray | None = None,
    trees: str = "compiled",
    max_rows: int = 20_000,
    listener: Listener | None = None,
) -> np.ndarray:
    """mask[i, j]: is variable i a candidate parent of variable j? Uses at most `max_rows` rows of `values` (n, d).

    With `groups`, `values` has the columns that they name. A variable is predicted in the rows that `are_free` (n, d)
    of interventions on it, None: in all.
    """
    n = len(values)
    if n > max_rows:
        chosen = rng.choice(n, max_rows, replace=False)
        values, are_free = values[chosen], None if are_free is None else are_free[chosen]
    if groups is None:
        groups = Groups.of_single_columns(values.shape[1])
    else:
        values = values[:, [column for columns in groups.columns for column in columns]]
    d, owner = len(groups.columns), groups.owner
    mask = np.zeros((d, d), dtype=bool)
    threshold, n_trees = config.rule(d)
    config = replace(config, neighbour_threshold=threshold, n_trees=n_trees)
    inputs = _inputs(values, groups, config, are_free)
    rows = None if are_free is None else [np.flatnonzero(are_free[:, j]) for j in owner]
    totals, n_left = np.zeros((d, d)), np.bincount(owner)
    n_jobs = int(effective_n_jobs(config.n_jobs))
    with closing(IMPLEMENTATIONS[trees](values, inputs, config, rng, n_jobs, rows)) as forests:
        for column, importance in forests:
            j, seen = owner[column], owner[inputs[column]]
            totals[j] += groups.weights[column] * np.bincount(seen, importance, minlength=d)
            n_left[j] -= 1
            if n_left[j]:
                continue
            seen = np.unique(seen)
            mask[_strong(totals[j, seen], seen, threshold, config.max_neighbours), j] = True
            mask[j, j] = False
            if listener is not None:
                listener(Progress("neighbours", int((n_left == 0).sum()), d, n_edges=int(mask.sum())))
    return mask


def _strong(importance: np.ndarray, seen: np.ndarray, threshold: float, most: int) -> np.ndarray:
    """Those of the variables seen that are important enough, at most so many."""
    strongest = np.argsort(-importance, kind="stable")[:most]
    return np.asarray(seen[strongest[importance[strongest] >= threshold * importance.mean()]])


def _inputs(
    values: np.ndarray, groups: Groups, config: NeighboursConfig, are_free: np.ndarray | None
) -> list[np.ndarray]:
    """The columns that each column's trees see, itself among them: all, or those of the variables it depends on most.

    Other columns of the same variable are not among them.
    """
    d, owner = len(groups.columns), groups.owner
    n_seen = _SCREENED * config.max_neighbours
    columns = np.arange(len(owner))
    if d - 1 <= n_seen:
        return [columns[(owner != owner[column]) | (columns == column)] for column in columns]
    found = most_dependent(values, n_seen, owner, None if are_free is None else are_free[:, owner])
    return [columns[np.isin(owner, found[owner[column]]) | (columns == column)] for column in columns]


def scikit_learn_importance(
    values: np.ndarray,
    inputs: Sequence[np.ndarray],
    config: NeighboursConfig,
    rng: np.random.Generator,
    n_jobs: int,
    rows: Rows | None = None,
) -> Importances:
    """The reference: as in the released program."""
    from sklearn.ensemble import ExtraTreesRegressor

    _, n_trees = config.rule(values.shape[1])
    for j, seen in enumerate(inputs):
        own = values if rows is None else values[rows[j]]
        others = np.where(seen == j, 0, own[:, seen]).astype(np.float32)
        forest = ExtraTreesRegressor(n_trees, n_jobs=n_jobs, random_state=int(rng.integers(2**31)))
        yield j, forest.fit(others, own[:, j]).feature_importances_


def compiled_importance(
    values: np.ndarray,
    inputs: Sequence[np.ndarray],
    config: NeighboursConfig,
    rng: np.random.Generator,
    n_jobs: int,
    rows: Rows | None = None,
) -> Importances:
    """Our own trees; each variable has its own random numbers, so that threads do not matter."""
    standard = np.array(values, dtype=np.float64)
    standard -= standard.mean(axis=0)
    scale = standard.std(axis=0)
    standard /= np.where(scale > 0, scale, 1)
    whole = _padded(standard)
    rule = config.rule(values.shape[1])
    is_over = Event()

    def importance(j: int, state: np.ndarray) -> tuple[int, np.ndarray]:
        seen = inputs[j]
        if rows is None:
            own_rows = whole if len(seen) == standard.shape[1] else _padded(standard[:, seen])
            response = np.ascontiguousarray(standard[:, j])
        else:
            own_rows, response = _padded(standard[rows[j]][:, seen]), standard[rows[j], j]
        own = int(np.searchsorted(seen, j))
        return j, _shares(own_rows, response, own, len(seen), rule, state, is_over).mean(axis=0)

    with ThreadPoolExecutor(n_jobs, thread_name_prefix="grandag") as pool:
        try:
            forests = [pool.submit(importance, j, new_state(rng)) for j in range(len(inputs))]
            for forest in as_completed(forests):
                yield forest.result()
        finally:  # after Ctrl-C or a listener's exception nobody waits for the other forests
            is_over.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _padded(standard: np.ndarray) -> np.ndarray:
    """The form that trees are grown from."""
    n, d = standard.shape
    padded = np.zeros((n, -(-d // LANES) * LANES), dtype=np.float32)
    padded[:, :d] = standard
    return padded


def _shares(
    rows: np.ndarray,
    response: np.ndarray,
    own: int,
    n_inputs: int,
    rule: tuple[float, int],
    state: np.ndarray,
    is_over: Event,
) -> np.ndarray:
    """The share of each input in the reduction of variance by each tree (trees, inputs), for as many trees as needed.

    Column `own` of `rows` is the response itself.
    """
    threshold, most_trees = rule
    shares = np.zeros((most_trees, n_inputs))
    n_trees, is_clear = 0, False
    while not is_clear:
        new = shares[n_trees : n_trees + _TREES_PER_CALL]
        grow(rows, response, own, state, new)
        new /= np.maximum(new.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        n_trees += len(new)
        is_clear = n_trees >= _FEWEST_TREES and _doubt(shares[:n_trees], threshold) <= _LARGEST_DOUBT
        if n_trees == most_trees or is_over.is_set():
            break
    return shares[:n_trees]


def _doubt(shares: np.ndarray, threshold: float) -> float:
    """Expected part of the inputs that trees without end would put on the other side of the threshold."""
    mean = shares.mean(axis=0)
    error = shares.std(axis=0, ddof=1) / math.sqrt(len(shares))
    distance = np.abs(mean - threshold * mean.mean())
    is_random = error > 0
    return float(ndtr(-distance[is_random] / error[is_random]).sum()) / len(mean)


Forests = Callable[
    [np.ndarray, Sequence[np.ndarray], NeighboursConfig, np.random.Generator, int, Rows | None], Importances
]

IMPLEMENTATIONS: dict[str, Forests] = {
    "compiled": compiled_importance,
    "scikit-learn": scikit_learn_importance,
}
