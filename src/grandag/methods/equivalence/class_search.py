"""What GES and GSF share: the parameters of the greedy search, and its answer as an equivalence class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from grandag.graph import to_dag, undirected_part
from grandag.knowledge import Masks
from grandag.learned import GraphKind, Learned
from grandag.methods.equivalence.class_state import MOST_CLIQUES
from grandag.methods.equivalence.greedy_search import Step, greedy_search
from grandag.methods.equivalence.local_score import CachedScore
from grandag.parameters import boolean, count, optional, parameter
from grandag.progress import Listener

__all__ = ["SearchConfig", "edge_gains", "search_class"]

_CUT = f"Some variables have so many neighbours in common that only the {MOST_CLIQUES} smallest groups were looked at."


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Parameters of the greedy search."""

    turning: bool = parameter(True, boolean, "Also turn edges, after the forward and the backward phase.")
    repeat: bool = parameter(True, boolean, "Start again with the first phase until a whole round changes nothing.")
    max_parents: int | None = parameter(
        None, optional(count), "Maximum number of parents per variable; None: no limit."
    )
    max_degree: int | None = parameter(
        None,
        optional(count),
        "Maximum number of variables that a variable has an edge with; None: no limit.",
    )


def search_class(
    score: CachedScore,
    names: tuple[str, ...],
    knowledge: Masks,
    config: SearchConfig,
    listener: Listener | None,
    groups: np.ndarray | None = None,
    n_threads: int = 1,
) -> Learned:
    """The class with the best score that the greedy search finds, without conditionals.

    Background knowledge directs some edges of the CPDAG; an edge's strength is how much it adds to the score of `dag`.
    Where interventions tell `groups` (d,) of variables apart, the class is an interventional one.
    """
    adjacency, steps, is_cut = greedy_search(
        score,
        *knowledge,
        phases=("forward", "backward", "turning") if config.turning else ("forward", "backward"),
        repeat=config.repeat,
        max_parents=config.max_parents,
        max_degree=config.max_degree,
        groups=groups,
        n_threads=n_threads,
        listener=listener,
    )
    dag = to_dag(adjacency)
    strength = np.where(adjacency, edge_gains(score, adjacency, dag), 0.0)
    values = {"search": _named(steps, names), "score": score.total(dag)}
    kind: GraphKind = "cpdag" if groups is None or not groups.any() else "essential"
    return Learned(names, adjacency, strength, kind=kind, values=values, notes=(_CUT,) if is_cut else ())


def _named(steps: Sequence[Step], names: Sequence[str]) -> pd.DataFrame:
    rows = [
        (step.phase, names[step.source], names[step.target], ", ".join(names[k] for k in step.clique), step.gain)
        for step in steps
    ]
    return pd.DataFrame(rows, columns=["phase", "source", "target", "with", "gain"])


def edge_gains(score: CachedScore, adjacency: np.ndarray, dag: np.ndarray) -> np.ndarray:
    """How much each edge adds to the score of a DAG of the class; the same in both directions of an undirected edge."""
    gains = np.zeros(adjacency.shape)
    for x, y in np.argwhere(dag).tolist():
        parents = sum(1 << k for k in np.flatnonzero(dag[:, y]).tolist())
        gains[x, y] = max(score(y, parents) - score(y, parents & ~(1 << x)), 0.0)
    return np.where(undirected_part(adjacency), gains + gains.T, gains)
