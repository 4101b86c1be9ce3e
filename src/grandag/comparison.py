"""Several methods on one table: how many edges each finds, how well it predicts, and where they agree."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from grandag.executors import Failure, open_executor
from grandag.graph import edge_mark, skeleton
from grandag.knowledge import Knowledge
from grandag.learned import Learned, TrainingError
from grandag.methods.registry import build
from grandag.parameters import ParameterError, check_parameters
from grandag.parameters import cluster as cluster_rule
from grandag.progress import Listener, Progress
from grandag.table import InterventionError, KindError, Table, as_table
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
        doubts = Markup("").join(Markup("<p>⚠ {}</p>").format(doubt) for doubt in self.doubts())
        return str(self.table().to_html(index=False)) + str(self.edges().to_html(index=False)) + str(doubts)

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

    def notes(self) -> list[str]:
        """Notes that all results have, on the table: dropped rows, how its file was read."""
        first, *others = self.results.values()
        return [note for note in first.notes if all(note in learned.notes for learned in others)]

    def doubts(self) -> list[str]:
        """Reasons to doubt all graphs in full, then by method the kinds of its own, which `results` has in full."""
        first, *others = ([concern.message for concern in learned.concerns] for learned in self.results.values())
        shared = [message for message in first if all(message in messages for messages in others)]
        found, reasons = list(shared), "Further reasons" if shared else "Reasons"
        for method, learned in self.results.items():
            kinds = [concern.kind for concern in learned.concerns if concern.message not in shared]
            found += [f"{reasons} to doubt the graph of {method}: {', '.join(kinds)}."] if kinds else []
        return found

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
    knowledge: Any = None,
    random_state: int = 0,
    missing: str = "error",
    kinds: Any = None,
    interventions: Any = None,
    intervention_kind: str = "perfect",
    cluster: str | None = None,
    listener: Listener | None = None,
) -> Comparison:
    """Fit several methods to one table, and score each on held-out rows of a second fit.

    Args:
        X: The table.
        methods: Names of methods as the command line has them.
        preset: The preset of all methods.
        knowledge: Forbidden and required edges for all methods, as estimators take them: a file, a `Knowledge`, or its
            fields in a dictionary.
        random_state: Seed of the fits and of the split.
        missing: Rows with missing values: "error" or "drop".
        kinds: Kinds of columns, as estimators take them. A method that cannot use one of them is listed without graph.
        interventions: Which variables each row intervenes on, as `fit` takes it; the same holds for them.
        intervention_kind: The `kind` of `fit`.
        cluster: Address of a Dask scheduler. Its workers fit all methods at the same time, one thread each, instead of
            one after the other on all cores of this machine; the graphs and scores are the same.
        listener: Called with the progress of each fit; on a cluster, after each method.

    Example:
        >>> from grandag import datasets
        >>> result = compare(datasets.load_sachs().data, ["cam", "pc"])
        >>> result.table().columns.tolist()
        ['method', 'edges', 'held_out', 'seconds', 'agreement', 'converged']
    """
    if not methods or len(set(methods)) < len(methods):
        raise ParameterError("methods", f"must be different names of methods; got {', '.join(methods) or 'none'}.")
    check_parameters({"cluster": cluster}, {"cluster": cluster_rule})
    for method in methods:
        build(method, {}, preset=preset)  # refuses an unknown name before any fit
    table = as_table(
        X,
        missing=missing,
        kinds=kinds,
        min_rows=FEWEST_ROWS,
        interventions=interventions,
        intervention_kind=intervention_kind,
    )
    known = None if knowledge is None else Knowledge.of(knowledge)
    if known is not None:
        known.masks(table.names)  # refuses a contradiction before any fit
    fit = partial(_entry, parameters={"missing": missing, "knowledge": known}, preset=preset, seed=random_state)
    if cluster is None:
        entries = [fit(method, table, listener=listener) for method in methods]
    else:
        entries = _on_cluster(partial(fit, is_alone=True), methods, table, cluster, listener)
    if all(entry.learned is None for entry in entries):
        raise TrainingError(f"{counted(len(entries), 'method')} failed, the first with: {entries[0].failure}")
    return Comparison(table.names, tuple(entries))


def _entry(
    method: str,
    table: Table,
    *,
    parameters: Mapping[str, Any],
    preset: str,
    seed: int,
    is_alone: bool = False,
    listener: Listener | None = None,
) -> Entry:
    """Fit a method to all rows, and again to 80 % of them, which the others score; `is_alone` is with one thread."""
    known = build(method, {}, preset=preset).get_params()
    parameters = {**parameters, **({"n_jobs": 1} if is_alone and "n_jobs" in known else {})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each result has its reasons to doubt it
        start = time.perf_counter()
        try:
            learned = build(method, parameters, preset=preset, seed=seed).fit(table, listener=listener).learned_
            seconds = time.perf_counter() - start
            learned.check_not_interrupted()
            held_out = held_out_fit(method, parameters, table, seed, preset=preset, listener=listener)
        except (TrainingError, KindError, InterventionError) as error:
            return Entry(method, failure=str(error))
    noted = learned.with_note(held_out.note) if held_out.note else learned
    return Entry(method, noted, held_out.score, seconds)


def _on_cluster(
    fit: Callable[[str, Table], Entry], methods: Sequence[str], table: Table, cluster: str, listener: Listener | None
) -> list[Entry]:
    """The entries of all methods, in their order."""
    entries: dict[str, Entry] = {}
    with open_executor(table, cluster=cluster) as executor, closing(executor.run(fit, methods)) as finished:
        for method, result in finished:
            entries[method] = Entry(method, failure=result.reason) if isinstance(result, Failure) else result
            if listener is not None:
                listener(Progress("compare", len(entries), len(methods)))
    return [entries[method] for method in methods]
