"""How far can an edge be trusted? Refit on resampled rows, or from other starts, and count.

    bootstrap   as many rows as the table has, drawn with replacement: what another sample might have shown
    subsample   half of the rows without replacement: the same, without copies of rows
    restarts    the same rows with another random state: what chance in the method does (nothing, for one without any)

Of a table with interventions, rows are drawn from each regime by itself, so that all refits have as many of each.

Gaps that are filled in (`missing="impute"`) are filled in anew for each refit; the fits of `missing="impute"` itself
are counted in the same way, as "imputations".

A frequency is the share of refits with that edge. It speaks of the stability of a method on data like these, not of the
probability that the edge is true: docs/confidence.md has what was measured.
"""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.base import clone

from grandag.diagnostics import Concern, instability_concerns
from grandag.executors import ClusterLostError, Failure, open_executor
from grandag.graph import directed_part, is_acyclic, skeleton, to_networkx, undirected_part
from grandag.knowledge import Knowledge, KnowledgeError
from grandag.learned import Learned, TrainingError
from grandag.parameters import as_generator, check_parameters, integer, one_of
from grandag.parameters import cluster as cluster_rule
from grandag.parameters import n_jobs as n_jobs_rule
from grandag.progress import Listener, Progress
from grandag.table import Table, TableError, as_table
from grandag.wording import counted

__all__ = ["KINDS", "Confidence", "attach", "confidence", "describe", "halves_by_default", "quiet", "with_frequencies"]

KINDS = ("bootstrap", "subsample", "restarts")

_FEW_ROWS, _HALVES = 20_000, 4
"""Up to so many rows, so many refits to halves are made without being asked for, where the method is quick."""


class Estimator(Protocol):
    """What is needed of a method to refit it."""

    learned_: Learned
    missing: str
    kinds: Any
    quick_up_to: int

    def fit(self, X: Any) -> Any:
        """Learn from a table."""

    def get_params(self) -> dict[str, Any]:
        """The parameters by name."""

    def set_params(self, **parameters: Any) -> Any:
        """Change some parameters."""


@dataclass(frozen=True, repr=False)
class Confidence:
    """What the refits have in common; matrices are (d, d) in the order of the names."""

    names: tuple[str, ...]
    kind: str
    n_asked: int
    adjacencies: np.ndarray  # (refits, d, d) bool
    strengths: np.ndarray  # (refits, d, d)
    n_not_converged: int = 0
    failures: tuple[str, ...] = field(default=(), repr=False)
    models: tuple[Estimator, ...] = field(default=(), repr=False)  # the refitted ones, if they were to be kept
    ended_by: BaseException | None = field(default=None, repr=False)
    """What ended it before all refits were done: Ctrl-C, or the loss of the cluster."""

    def __repr__(self) -> str:
        n_edges = counted(int((self.frequency > 0).sum()), "edge")
        return f"<Confidence: {counted(self.n_done, 'refit')} ({self.kind}), {n_edges} in any of them>"

    @property
    def n_done(self) -> int:
        """Refits that gave a graph."""
        return len(self.adjacencies)

    @property
    def was_interrupted(self) -> bool:
        """Did it end before all refits were done?"""
        return self.ended_by is not None

    @property
    def frequency(self) -> np.ndarray:
        """Share of refits with i -> j; an undirected edge of an equivalence class does not count here."""
        return np.asarray(np.mean([directed_part(adjacency) for adjacency in self.adjacencies], axis=0))

    @property
    def adjacency_frequency(self) -> np.ndarray:
        """Share of refits in which i and j are adjacent, in whatever direction."""
        return np.asarray(np.mean([skeleton(adjacency) for adjacency in self.adjacencies], axis=0))

    @property
    def mean_strength(self) -> np.ndarray:
        """Mean over the refits with i -> j; NaN if there is none."""
        count = self.adjacencies.sum(axis=0)
        total = np.where(self.adjacencies, self.strengths, 0.0).sum(axis=0)
        return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))

    def edges(self) -> pd.DataFrame:
        """All edges that some refit has, most frequent first."""
        frequency = self.frequency
        sources, targets = np.nonzero(frequency)
        names = np.array(self.names, dtype=object)
        table = pd.DataFrame(
            {
                "source": names[sources],
                "target": names[targets],
                "frequency": frequency[sources, targets],
                "reverse_frequency": frequency[targets, sources],
                "adjacency_frequency": self.adjacency_frequency[sources, targets],
                "mean_strength": self.mean_strength[sources, targets],
            }
        )
        return table.sort_values(["frequency", "mean_strength"], ascending=False, kind="stable", ignore_index=True)

    def consensus(self, threshold: float = 0.5) -> np.ndarray:
        """A DAG (d, d) of the edges with a frequency above the threshold, the most frequent first.

        An edge that would close a cycle is left out; of equally frequent ones the stronger comes first. More than half
        of acyclic graphs can have a cycle between them: a -> b, b -> c, c -> a in two of three each.
        """
        adjacency = np.zeros((len(self.names),) * 2, dtype=bool)
        position = {name: k for k, name in enumerate(self.names)}
        edges = self.edges()
        frequent = edges[edges["frequency"] > threshold]
        for source, target in zip(frequent["source"], frequent["target"], strict=True):
            i, j = position[source], position[target]
            adjacency[i, j] = True
            if not is_acyclic(adjacency):
                adjacency[i, j] = False
        return adjacency

    def consensus_graph(self, threshold: float = 0.5) -> nx.DiGraph[str]:
        """The same as a networkx graph; edges carry `frequency` and `reverse_frequency`, and are drawn by them."""
        graph = to_networkx(self.consensus(threshold), self.names)
        frequent = {(edge["source"], edge["target"]): edge for edge in self.edges().to_dict(orient="records")}
        for pair, attributes in graph.edges.items():
            attributes |= {name: frequent[pair][name] for name in ("frequency", "reverse_frequency")}
        return graph


class _Refit(NamedTuple):
    """A fitted model or what was learned, whichever is to be kept; or why there is none."""

    learned: Learned | None = None
    model: Estimator | None = None
    failure: str | None = None


def confidence(
    estimator: Estimator,
    X: Any,
    resamples: int = 50,
    kind: str = "bootstrap",
    *,
    random_state: Any = None,
    n_jobs: int | None = -1,
    cluster: str | None = None,
    keep_models: bool = False,
    interventions: Any = None,
    intervention_kind: str = "perfect",
    listener: Listener | None = None,
) -> Confidence:
    """Refit an estimator and count its edges.

    Refits run in parallel, one thread each; the same random state gives the same result for any number of processes,
    and on a cluster. Ctrl-C, or the loss of the cluster, ends it early with the refits that are done, if there are any.

    Args:
        estimator: Any method of the library, fitted or not; it is not changed.
        X: The table.
        resamples: Number of refits.
        kind: "bootstrap", "subsample" or "restarts".
        random_state: Seed of the resampling and of the refits.
        n_jobs: Processes, -1 for all cores.
        cluster: Address of a Dask scheduler whose workers refit instead of this machine.
        keep_models: Keep the refitted estimators in `models`, for the interval of `average_effect(resamples=...)`.
        interventions: Which variables each row intervenes on, as `fit` takes it.
        intervention_kind: The `kind` of `fit`.
        listener: Called after every refit.

    Example:
        >>> from grandag import CAM, datasets
        >>> result = confidence(CAM(max_parents=1), datasets.load_sachs().data, 4, random_state=1, n_jobs=1)
        >>> result.edges().columns.tolist()
        ['source', 'target', 'frequency', 'reverse_frequency', 'adjacency_frequency', 'mean_strength']
    """
    check_parameters(
        {"resamples": resamples, "kind": kind, "n_jobs": n_jobs, "cluster": cluster},
        {"resamples": integer(1), "kind": one_of(*KINDS), "n_jobs": n_jobs_rule, "cluster": cluster_rule},
    )
    table = as_table(
        X,
        missing=estimator.missing,
        kinds=estimator.kinds,
        interventions=interventions,
        intervention_kind=intervention_kind,
    )
    streams = as_generator(random_state).spawn(resamples)
    refit = partial(_refit, quiet(estimator), kind, keep_models)
    done: dict[int, _Refit] = {}
    ended_by: BaseException | None = None
    try:
        where = open_executor(table, n_jobs=n_jobs, cluster=cluster)
        with where as executor, closing(executor.run(refit, enumerate(streams))) as finished:
            for (number, _), result in finished:
                done[number] = _counted(result)
                if listener is not None:
                    listener(Progress("resample", len(done), resamples))
    except (KeyboardInterrupt, ClusterLostError) as error:
        ended_by = error.with_traceback(None)
    refits = [done[number] for number in sorted(done)]
    good = [refit.learned for refit in refits if refit.learned is not None]
    if not good and ended_by is not None:
        raise ended_by
    if not good:
        reason = next(refit.failure for refit in refits if refit.failure)
        raise TrainingError(f"No refit gave a graph: {reason}")
    return Confidence(
        table.names,
        kind,
        resamples,
        adjacencies=np.array([learned.adjacency for learned in good]),
        strengths=np.array([learned.strength for learned in good]),
        n_not_converged=sum(not learned.converged for learned in good),
        failures=tuple(refit.failure for refit in refits if refit.failure),
        models=tuple(refit.model for refit in refits if refit.model is not None),
        ended_by=ended_by,
    )


def halves_by_default(estimator: Estimator, table: Table) -> int:
    """Number of refits to halves of the rows that `grandag fit` makes by itself, where they take seconds.

    By sizes: a result must not depend on how fast a machine is. Refined graphs have a check of their own.
    """
    n_rows, n_columns = table.values.shape
    is_refined = estimator.get_params().get("refine", False)
    return _HALVES if n_columns <= estimator.quick_up_to and n_rows <= _FEW_ROWS and not is_refined else 0


def _counted(result: _Refit | Failure) -> _Refit:
    """A finished refit; one whose search was interrupted ends them all."""
    if isinstance(result, Failure):
        return _Refit(failure=result.reason)
    if result.learned is not None:
        result.learned.check_not_interrupted()
    return result


def quiet(estimator: Estimator) -> Estimator:
    """A copy that uses one thread, shows nothing, and needs no file."""
    copy: Estimator = clone(estimator)
    given = copy.get_params()
    changes: dict[str, Any] = {"n_jobs": 1, "verbose": False}
    if isinstance(given.get("knowledge"), str | Path):
        changes["knowledge"] = Knowledge.of(given["knowledge"])
    copy.set_params(**{name: value for name, value in changes.items() if name in given})
    return copy


def _refit(
    estimator: Estimator, kind: str, keep_model: bool, job: tuple[int, np.random.Generator], table: Table
) -> _Refit:
    _, rng = job
    estimator = clone(estimator)
    if kind != "restarts":
        table = table.take(_drawn(table, kind, rng))
    if table.gaps is not None:
        table = table.completed(int(rng.integers(2**31)))
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = estimator.fit(table)
        except (KnowledgeError, TableError, TrainingError) as error:  # a rare value may be missing from a sample
            return _Refit(failure=str(error))
    return _Refit(model.learned_, model if keep_model else None)


def _drawn(table: Table, kind: str, rng: np.random.Generator) -> np.ndarray:
    """The numbers of the rows of a refit; as many of each regime as there would be without chance."""
    of_each = [np.arange(len(table.values))] if table.regimes is None else table.regimes.members()
    if kind == "bootstrap":
        return np.concatenate([rows[rng.integers(len(rows), size=len(rows))] for rows in of_each if len(rows)])
    return np.concatenate([rng.permutation(rows)[: max(1, len(rows) // 2)] for rows in of_each])


def attach(model: Estimator, result: Confidence) -> None:
    """Give a fitted model the frequencies of its edges, so that they appear wherever its edges do.

    Edges that the refits would rather turn round, and many that at most half of them have, are reasons to doubt the
    graph; the latter take the place of what halves of the rows said of single edges.
    """
    model.learned_ = with_frequencies(model.learned_, result)


def with_frequencies(learned: Learned, result: Confidence) -> Learned:
    """What was learned, with the frequencies of its edges."""
    facts = {"frequency": result.frequency, "reverse_frequency": result.frequency.T.copy()}
    if not learned.is_dag:
        facts["adjacency_frequency"] = result.adjacency_frequency
    learned = learned.with_facts(facts, describe(result))
    others = [concern for concern in learned.concerns if concern.kind != "unstable edges"]
    concerns = (*others, *_rare_concerns(learned, result), *_turned_concerns(learned))
    return replace(learned, concerns=concerns)


def _rare_concerns(learned: Learned, result: Confidence) -> list[Concern]:
    """A concern, if at most half of the refits have many of the edges; an undirected one, in whatever direction."""
    undirected = undirected_part(learned.adjacency)
    shares = np.where(undirected, result.adjacency_frequency, result.frequency)
    listed = learned.adjacency & ~np.tril(undirected)
    another = "Another random state" if result.kind == "restarts" else "Another sample"
    return instability_concerns(
        np.where(listed, shares, np.nan),
        learned.names,
        f"in at most half of {_refits_in_words(result)}",
        f"{another} might not show them: get more rows, and rely on the edges that most refits have.",
        undirected=undirected,
    )


def _turned_concerns(learned: Learned) -> list[Concern]:
    """Edges whose opposite is more frequent among the refits, most frequent first."""
    edges = learned.facts_of(directed_part(learned.adjacency))
    turned = edges[edges["reverse_frequency"] > edges["frequency"]].sort_values("reverse_frequency", ascending=False)
    if turned.empty:
        return []
    records = turned.to_dict(orient="records")
    shares = {
        f"{edge['source']} -> {edge['target']}": {
            name: float(edge[name]) for name in ("frequency", "reverse_frequency")
        }
        for edge in records
    }
    shown = [
        f"{edge} ({share['frequency']:.0%} of the refits, {share['reverse_frequency']:.0%} the other way)"
        for edge, share in list(shares.items())[:5]
    ]
    others = f" and {len(shares) - 5} more" if len(shares) > 5 else ""
    involved = tuple(dict.fromkeys(edge[end] for edge in records for end in ("source", "target")))
    message = (
        f"The refits prefer the other direction of {', '.join(shown)}{others}: do not rely on these directions, and "
        "see the consensus graph."
    )
    return [Concern("direction against the refits", involved, shares, message)]


def describe(result: Confidence) -> str:
    """One sentence on the refits."""
    parts = [f"Frequencies are from {_refits_in_words(result)}"]
    if result.was_interrupted:
        how = "interrupted" if isinstance(result.ended_by, KeyboardInterrupt) else "the cluster was lost"
        parts.append(f"{how} before all {result.n_asked} were done")
    if result.failures:
        parts.append(f"{len(result.failures)} others failed (the first: {result.failures[0]})")
    if result.n_not_converged:
        parts.append(f"{result.n_not_converged} did not converge")
    return "; ".join(parts) + "."


def _refits_in_words(result: Confidence) -> str:
    words = {"bootstrap": "bootstrap samples", "subsample": "halves of the rows", "restarts": "other random states",
             "imputations": "tables with gaps filled in anew"}  # fmt: skip
    return f"{counted(result.n_done, 'refit')} on {words[result.kind]}"
