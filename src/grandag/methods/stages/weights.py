"""What NOTEARS and DAG-GNN do before and after they find a weighted adjacency matrix.

    scale -> neighbours -> (weights) -> threshold -> prune -> (conditionals)

These stages are those of GraN-DAG, so that the paper's ablation (each method with and without neighbour selection and
pruning) compares what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from grandag.knowledge import Masks
from grandag.methods.stages.final_edges import FinalEdges, FinalEdgesConfig, final_edges
from grandag.methods.stages.neighbours import NeighboursConfig, select_neighbours
from grandag.methods.stages.prune import PruneConfig
from grandag.methods.stages.threshold import threshold
from grandag.parameters import boolean, number, parameter, positive, redeclared
from grandag.progress import Listener
from grandag.table import MANY_ROWS, Scaling, Table, rows_of, spread

__all__ = ["Opened", "WeightsConfig", "cut_weights", "open_edges"]

_MAX_ROWS = 20_000
"""Rows in neighbour selection."""

_UNITS = "The graph depends on the units of the columns, as that of the published program; not with standardise=True."


@dataclass(frozen=True, kw_only=True)
class WeightsConfig(NeighboursConfig, FinalEdgesConfig):
    """Parameters that both methods have. The published programs neither select neighbours nor prune."""

    weight_threshold: float = parameter(
        0.3,
        number(0),
        "Edges with a smaller absolute weight are dropped; if a cycle is left, the weakest go until there is none.",
        source="released program",
    )
    tolerance: float = parameter(
        1e-8, positive, "Training ends when the acyclicity constraint h is at most this.", source="released program"
    )
    standardise: bool = parameter(
        False,
        boolean,
        "Scale columns to mean 0 and variance 1 first. The published program does not: with equal noise variances the "
        "scale of the columns tells the order of causes.",
        source="released program",
    )
    neighbour_selection: bool | str = redeclared(NeighboursConfig, "neighbour_selection", False)
    prune: bool = redeclared(PruneConfig, "prune", False)


class Opened(NamedTuple):
    """How the method sees the columns, and the edges that it may use."""

    scaling: Scaling
    allowed: np.ndarray
    notes: tuple[str, ...]


def open_edges(
    table: Table, knowledge: Masks, config: WeightsConfig, rng: np.random.Generator, listener: Listener | None
) -> Opened:
    """Scale the columns if asked for, and find the edges that neighbour selection and knowledge leave."""
    scaling = table.scaling if config.standardise else Scaling.identity(len(table.names))
    n = len(table.values)
    numbers = spread(n, n if n <= MANY_ROWS else _MAX_ROWS)
    rows = scaling.apply(rows_of(table.values, numbers), "float64")
    are_free = None if table.regimes is None else table.regimes.take(numbers).free
    selected = select_neighbours(rows, config, rng, are_free=are_free, max_rows=_MAX_ROWS, listener=listener)
    notes = selected.notes if config.standardise else (*selected.notes, _UNITS)
    if selected.notes and len(rows) < n:
        notes = (f"Neighbours were selected with {len(rows):,} of the {n:,} rows, evenly spread.", *notes)
    return Opened(scaling, (selected.mask & knowledge.allowed) | knowledge.required, notes)


def cut_weights(
    weights: np.ndarray,
    table: Table,
    knowledge: Masks,
    config: WeightsConfig,
    rng: np.random.Generator,
    listener: Listener | None,
) -> FinalEdges:
    """The required edges and those at or above the threshold, without cycles, pruned or refined if asked for."""
    strength = np.abs(weights)
    strong = strength >= config.weight_threshold
    np.fill_diagonal(strong, False)
    adjacency = threshold(strength, strong, knowledge.required)
    n_cut = int((strong & ~adjacency & (strength > 0)).sum())
    cut = f"the weakest edge{'' if n_cut == 1 else f's, {n_cut:,},'} above the threshold"
    notes = (f"Dropped {cut}, which left a cycle.",) if n_cut else ()
    final = final_edges(table, adjacency, strength, knowledge, config, rng, listener)
    return replace(final, notes=(*notes, *final.notes))
