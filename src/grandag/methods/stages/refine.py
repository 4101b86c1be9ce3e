"""Selection and search by the evidence of Gaussian processes in the place of pruning: ours, not the paper's.

Pruning tests additive regressions, which cannot see a function of several parents that is not additive; and nothing
after training turns an edge round. `grandag.evidence` does both (docs/evidence.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from grandag.diagnostics import Concern, instability_concerns
from grandag.evidence import Refined, kept_by_halves, refine
from grandag.interventions import Regimes
from grandag.knowledge import Masks
from grandag.parameters import boolean, n_jobs, parameter
from grandag.progress import Listener, Progress
from grandag.table import Table

__all__ = [
    "RefineConfig",
    "describe_changes",
    "interruption",
    "kept_edges",
    "refine_graph",
    "rows_to_ask",
    "unstable_concerns",
]


@dataclass(frozen=True, kw_only=True)
class RefineConfig:
    """Whether the graph is refined by its evidence."""

    refine: bool = parameter(
        False,
        boolean,
        "Select parents and search for a better graph by the evidence of Gaussian processes, instead of pruning: ours, "
        "not the paper's.",
        source="ours (docs/evidence.md)",
        paper=False,
    )
    check_halves: bool = parameter(
        True,
        boolean,
        "See which edges halves of the rows keep, after refinement.",
        source="ours (docs/confidence.md)",
    )
    n_jobs: int | None = parameter(
        -1, n_jobs, "Number of threads, -1 for all cores; used where they pay. Results do not depend on it."
    )


def refine_graph(
    table: Table,
    adjacency: np.ndarray,
    knowledge: Masks,
    config: RefineConfig,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Refined:
    """The best graph that selection and search by evidence find from a DAG."""
    if listener is not None:
        listener(Progress("select", 0, len(table.names)))  # before code is compiled, if it has to be
    return refine(
        table.values,
        adjacency,
        kinds=table.kinds,
        allowed=knowledge.allowed,
        required=knowledge.required,
        rng=rng,
        n_threads=int(effective_n_jobs(config.n_jobs)),
        names=table.names,
        are_free=rows_to_ask(table.regimes),
        listener=listener,
    )


def rows_to_ask(regimes: Regimes | None) -> np.ndarray | None:
    """(n, d) the rows that tell the causes of each variable, None: all.

    Under perfect interventions those that leave it alone. Under imperfect ones there are groups (g, n, d), each with a
    regression of its own: first those, then the rows of every regime that targets it.
    """
    if regimes is None:
        return None
    if regimes.kind == "perfect":
        return regimes.free
    order = np.cumsum(regimes.targets, axis=0)  # the how manieth of its regimes is it?
    turn = np.where(regimes.targets, order, 0)[regimes.of_row]
    return np.array([regimes.free, *(turn == place for place in range(1, int(order[-1].max()) + 1))])


def kept_edges(
    table: Table, adjacency: np.ndarray, knowledge: Masks, config: RefineConfig, rng: np.random.Generator
) -> np.ndarray:
    """The share of halves of the rows that keep each edge."""
    return kept_by_halves(
        table.values,
        adjacency,
        kinds=table.kinds,
        allowed=knowledge.allowed,
        required=knowledge.required,
        rng=rng,
        n_threads=int(effective_n_jobs(config.n_jobs)),
        are_free=rows_to_ask(table.regimes),
    )


def unstable_concerns(kept: np.ndarray, names: Sequence[str]) -> list[Concern]:
    """A concern, if halves of the rows do not keep many of the edges."""
    return instability_concerns(
        kept,
        names,
        "kept by at most half of four halves of the rows",
        "Another sample might not show them: get more rows, and see how often refits find them (--resamples).",
    )


def describe_changes(before: np.ndarray, after: np.ndarray) -> str:
    """One sentence on what refinement did to a graph."""
    n_kept, n_turned = int((after & before).sum()), int((after & before.T).sum())
    n_new = int(after.sum()) - n_kept - n_turned
    return (
        f"Refinement by evidence kept {n_kept:,} of {int(before.sum()):,} edges, turned {n_turned:,} round and added "
        f"{n_new:,}."
    )


def interruption(refined: Refined) -> tuple[Concern, ...]:
    """A concern, if the search was interrupted."""
    message = "The search by evidence was interrupted: the graph is the best one found until then."
    return (Concern("interrupted", (), {}, message, is_urgent=True),) if refined.was_interrupted else ()
