"""Several methods on one table: how many edges each finds, how well it predicts, and where they agree."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from grandag.graph import edge_mark, skeleton
from grandag.learned import Learned, TrainingError
from grandag.methods.registry import build
from grandag.parameters import ParameterError
from grandag.progress import Listener
from grandag.table import as_table
from grandag.tuning.held_out import FEWEST_ROWS, held_out_fit
from grandag.wording import counted

__all__ = ["DEFAULT_METHODS", "Comparison", "Entry", "compare"]

DEFAULT_METHODS = ("grandag", "cam", "notears", "ges", "pc")
"""One of each kind: neural, additive, linear, and two that give equivalence classes."""


@dataclass(frozen=True, repr=False)
class Entry:
    """What one method made of the table; without a result, why."""

    method: str
    learned: Learned | None = None
    held_out: float = math.nan
    """Mean log-density of held-out rows, per row, of a fit to the other 80 % of the rows."""
    seconds: float = math.nan
    """For the fit to all rows."""
    failure: str = ""


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of several methods, in the order in which they were asked for."""

    names: tuple[str, ...]
    entries: tuple[Entry, ...]

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(entry.method for entry in self.entries)}>"

    def _repr_html_(self) -> str:
        return str(self.table().to_html(index=False)) + str(self.edges().to_html(index=False))

    @property
    def results(self) -> dict[str, Learned]:
        """What was learned, by method; a method that failed is not in it."""
        return {entry.method: entry.learned for entry in self.entries if entry.learned is not None}

    def table(self) -> pd.DataFrame:
        """One row per method: edges, held-out log-likelihood per row, seconds, agreement, converged.

        Agreement is the share of the method's edges that at least half of the other methods have, in any direction.
        """
        rows = [
            {
                "method": entry.method,
                "edges": np.nan if entry.learned is None else int(skeleton(entry.learned.adjacency).sum()) // 2,
                "held_out": entry.held_out,
                "seconds": entry.seconds,
                "agreement": self._agreement(entry.method),
                "converged": entry.learned is not None and entry.learned.converged,
            }
            for entry in self.entries
        ]
        return pd.DataFrame(rows).astype({"edges": "Int64"})

    def edges(self) -> pd.DataFrame:
        """One row for each pair that is adjacent by any method, the pairs of most methods first.

        Columns are source, target, a column for each method with -> (source to target), <- or -- (undirected), or
        nothing, and `methods`, how many have the pair. Source and target are as most methods have them.
        """
        results = self.results
        found = np.sum([skeleton(learned.adjacency) for learned in results.values()], axis=0)
        forward = np.sum([learned.adjacency & ~learned.adjacency.T for learned in results.values()], axis=0)
        rows = []
        for i, j in np.argwhere(np.triu(found) > 0).tolist():
            source, target = (j, i) if forward[j, i] > forward[i, j] else (i, j)
            marks = {name: edge_mark(learned.adjacency, source, target) for name, learned in results.items()}
            pair = {"source": self.names[source], "target": self.names[target]}
            rows.append({**pair, **marks, "methods": int(found[i, j])})
        columns = ["source", "target", *results, "methods"]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.sort_values("methods", ascending=False, kind="stable", ignore_index=True)

    def _agreement(self, method: str) -> float:
        results = self.results
        others = [skeleton(learned.adjacency) for name, learned in results.items() if name != method]
        if method not in results or not others:
            return math.nan
        own = np.triu(skeleton(results[method].adjacency))
        shared = np.mean(others, axis=0) >= 0.5
        return float(shared[own].mean()) if own.any() else math.nan


def compare(
    X: Any,
    methods: Sequence[str] = DEFAULT_METHODS,
    *,
    preset: str = "default",
    random_state: int = 0,
    missing: str = "error",
    listener: Listener | None = None,
) -> Comparison:
    """Fit several methods to one table, and score each on held-out rows of a second fit.

    Args:
        X: The table.
        methods: Names of methods as the command line has them.
        preset: The preset of all methods.
        random_state: Seed of the fits and of the split.
        missing: Rows with missing values: "error" or "drop".
        listener: Called with the progress of each fit.

    Example:
        >>> from grandag import datasets
        >>> result = compare(datasets.load_sachs().data, ["cam", "pc"])
        >>> result.table().columns.tolist()
        ['method', 'edges', 'held_out', 'seconds', 'agreement', 'converged']
    """
    if not methods or len(set(methods)) < len(methods):
        raise ParameterError("methods", f"must be different names of methods; got {', '.join(methods) or 'none'}.")
    estimators = [build(method, {"missing": missing}, preset=preset, seed=random_state) for method in methods]
    table = as_table(X, missing=missing, min_rows=FEWEST_ROWS)
    entries = []
    for method, estimator in zip(methods, estimators, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each result has its reasons to doubt it
            start = time.perf_counter()
            try:
                learned = estimator.fit(table, listener=listener).learned_
                seconds = time.perf_counter() - start
                learned.check_not_interrupted()
                score = held_out_fit(method, {}, table, random_state, preset=preset, listener=listener).score
            except TrainingError as error:
                entries.append(Entry(method, failure=str(error)))
            else:
                entries.append(Entry(method, learned, score, seconds))
    if all(entry.learned is None for entry in entries):
        raise TrainingError(f"{counted(len(entries), 'method')} failed, the first with: {entries[0].failure}")
    return Comparison(table.names, tuple(entries))
