"""The last word on the edges of a DAG: refine it by its evidence, prune it by significance tests, or leave it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grandag.diagnostics import Concern
from grandag.evidence import is_mixed
from grandag.gam import LikelihoodTable, SplineTable
from grandag.knowledge import Masks
from grandag.methods.stages.prune import PruneConfig, prune
from grandag.methods.stages.refine import (
    RefineConfig,
    describe_changes,
    interruption,
    kept_edges,
    refine_graph,
    unstable_concerns,
)
from grandag.progress import Listener
from grandag.table import Table

__all__ = ["FinalEdges", "FinalEdgesConfig", "final_edges"]


@dataclass(frozen=True, kw_only=True)
class FinalEdgesConfig(PruneConfig, RefineConfig):
    """Parameters of both ways; refinement goes before pruning."""


@dataclass(frozen=True)
class FinalEdges:
    """The edges that are left, with what is known of them, as parts of `Learned`."""

    adjacency: np.ndarray
    strength: np.ndarray  # the method's own; after refinement, which knows edges that the method does not, evidence
    edge_facts: dict[str, np.ndarray] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    concerns: tuple[Concern, ...] = ()


def _refined(
    table: Table,
    adjacency: np.ndarray,
    knowledge: Masks,
    config: FinalEdgesConfig,
    rng: np.random.Generator,
    listener: Listener | None,
) -> FinalEdges:
    refined = refine_graph(table, adjacency, knowledge, config, rng, listener)
    facts = {"evidence": np.where(refined.adjacency, refined.edge_evidence, np.nan)}
    concerns = [*interruption(refined)]
    if config.check_halves and not refined.was_interrupted:
        facts["kept"] = kept_edges(table, refined.adjacency, knowledge, config, rng)
        concerns += unstable_concerns(facts["kept"], table.names)
    notes = (describe_changes(adjacency, refined.adjacency), *refined.notes)
    return FinalEdges(
        refined.adjacency, refined.edge_evidence, facts, {"evidence": refined.evidence}, notes, tuple(concerns)
    )


def final_edges(
    table: Table,
    adjacency: np.ndarray,
    strength: np.ndarray,
    knowledge: Masks,
    config: FinalEdgesConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    *,
    splines: SplineTable | None = None,
) -> FinalEdges:
    """Refine or prune a DAG, as the config says; `splines` are those of the table, if they have been made.

    In a table with labels or counts, the regressions have the families of their targets.
    """
    if config.refine:
        return _refined(table, adjacency, knowledge, config, rng, listener)
    if not config.prune:
        return FinalEdges(adjacency, strength)
    regressions: SplineTable | LikelihoodTable
    if is_mixed(table.kinds):
        regressions = LikelihoodTable(table, table.kinds)
    else:
        regressions = splines or SplineTable(table, depends_on_units=False)
    pruned = prune(
        regressions,
        adjacency,
        config.prune_cutoff,
        required=knowledge.required,
        listener=listener,
    )
    return FinalEdges(pruned.adjacency, strength, pruned.edge_facts, notes=(pruned.note,))
