"""The result of every method: what was learned from a table, and how far to trust it.

A method is a pure function

    learn(table, knowledge, config, rng, listener, held_out) -> Learned

of a table without constant columns, the edges that background knowledge allows and requires, its config, a random
generator, whoever listens to its progress, and rows that decide when to stop and nothing else. Estimators, command
line, reports, resampling, tuning and files read `Learned` and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from grandag.diagnostics import Concern
from grandag.drawing import WIDTHS, Drawing
from grandag.graph import to_dag, to_networkx, undirected_part
from grandag.kinds import ColumnKind
from grandag.knowledge import Masks
from grandag.model import CausalModel, Conditional, Fixed
from grandag.overview import draw
from grandag.progress import Listener
from grandag.showing import result_html
from grandag.table import Table
from grandag.wording import counted

__all__ = ["Convergence", "DoubtWarning", "GraphKind", "Learn", "Learned", "NotConvergedWarning", "TrainingError"]


class NotConvergedWarning(ConvergenceWarning):  # type: ignore[misc]
    """A result was returned that does not meet the tolerance of its method."""


class DoubtWarning(UserWarning):
    """There are reasons to doubt the graph, which `warnings_` has in full."""


class TrainingError(RuntimeError):
    """Training broke down; there is no result."""


@dataclass(frozen=True)
class Convergence:
    """How an iterative method ended: the constraint h, its tolerance, and what to do if it was not met."""

    converged: bool
    n_iter: int
    h: float
    tolerance: float
    advice: str  # the parameters to change, as in "Raise max_iterations"

    def concerns(self) -> list[Concern]:
        """A concern, if it did not converge."""
        if self.converged:
            return []
        message = (
            f"The graph was not acyclic after {self.n_iter:,} iterations (h = {self.h:.1e}, tolerance "
            f"{self.tolerance:.0e}); weak edges were removed until it was. {self.advice} before you rely on it."
        )
        numbers = {"iterations": self.n_iter, "h": self.h, "tolerance": self.tolerance}
        return [Concern("not converged", (), numbers, message, is_urgent=True)]


GraphKind = Literal["dag", "cpdag", "essential"]
"""A DAG; or the DAGs that observations (CPDAG) or interventions (interventional essential graph) leave together."""


@dataclass(frozen=True, repr=False)
class Learned:
    """A graph over named variables with everything that its method knows about it.

    Matrices are (d, d) with [i, j] for i -> j, in the order of the names.
    """

    names: tuple[str, ...]
    adjacency: np.ndarray  # bool; an undirected edge is there in both directions
    strength: np.ndarray  # the method's own measure of each edge; of a refined graph, its evidence
    kind: GraphKind = "dag"
    edge_facts: Mapping[str, np.ndarray] = field(default_factory=dict)  # by column of `edges`: p_value, frequency, ...
    matrices: Mapping[str, np.ndarray] = field(default_factory=dict)  # (..., d, d) further ones: A_phi, mask, ...
    values: Mapping[str, Any] = field(default_factory=dict)  # further results: plain values, arrays, data frames
    conditionals: tuple[Conditional, ...] | None = None  # of each variable given its parents in `dag`
    convergence: Convergence | None = None  # None where nothing iterates
    trace: pd.DataFrame | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    concerns: tuple[Concern, ...] = ()
    columns: tuple[ColumnKind, ...] = ()  # kind and labels of each variable, as the shell knows them from the table

    def __repr__(self) -> str:
        how = "" if self.convergence is None else ", converged" if self.converged else ", not converged"
        return f"<Learned {self.kind}: {self.size}{how}>"

    def _repr_html_(self) -> str:
        return self.html(f"Learned: {self.size}")

    def html(self, title: str) -> str:
        """The result as a notebook shows it: drawing, reasons to doubt it, notes and edges."""
        return result_html(
            title,
            self.graph,
            self.edges().to_dict(orient="records"),
            width_by=self.width_by,
            warnings=[concern.message for concern in self.concerns],
            notes=self.notes,
        )

    @property
    def size(self) -> str:
        """The numbers of nodes and edges in words."""
        return f"{counted(len(self.names), 'node')}, {counted(len(self.edges()), 'edge')}"

    @property
    def graph(self) -> nx.DiGraph[str]:
        """The graph with its names; edges carry what `edges` says of them."""
        graph = to_networkx(self.adjacency, self.names)
        for edge in self.facts_of(self.adjacency).to_dict(orient="records"):
            facts = {str(column): value for column, value in edge.items()}
            graph.edges[facts.pop("source"), facts.pop("target")].update(facts)
        return graph

    def plot(self, around: str | None = None, *, depth: int = 1) -> Drawing:
        """The graph as a drawing: shown in a notebook, or written by its `save`.

        Of a graph with more than 100 nodes or 200 edges it shows the strongest edges, as many as can be read.

        Args:
            around: Show the neighbourhood of this node instead.
            depth: Number of steps along edges, in any direction, to the furthest of its neighbours.
        """
        return draw(self.graph, width_by=self.width_by, around=around, depth=depth)

    @property
    def is_dag(self) -> bool:
        """Is the answer a DAG, or an equivalence class of DAGs?"""
        return self.kind == "dag"

    @property
    def dag(self) -> np.ndarray:
        """The DAG; of an equivalence class, the member whose edges follow the columns where they can."""
        return self.adjacency if self.is_dag else to_dag(self.adjacency)

    @property
    def was_interrupted(self) -> bool:
        """Did Ctrl-C end the search for the graph before it was done?"""
        return any(concern.kind == "interrupted" for concern in self.concerns)

    def check_not_interrupted(self) -> None:
        """Pass Ctrl-C on, where one of many graphs was being searched for: what is not done does not count."""
        if self.was_interrupted:
            raise KeyboardInterrupt

    @property
    def converged(self) -> bool:
        """Was the method's tolerance met? True where nothing iterates."""
        return self.convergence is None or self.convergence.converged

    @property
    def n_iter(self) -> int | None:
        """Iterations; None where nothing iterates."""
        return None if self.convergence is None else self.convergence.n_iter

    @property
    def model(self) -> CausalModel | None:
        """Graph and conditionals as a model to be used; of an equivalence class, those of `dag`."""
        if self.conditionals is None:
            return None
        return CausalModel(self.names, self.dag, self.conditionals, self.values.get("observed"), self.columns)

    @property
    def width_by(self) -> str:
        """The fact that the width of an edge shows in drawings."""
        return next((fact for fact in WIDTHS if fact in self.edge_facts), "strength")

    def edges(self) -> pd.DataFrame:
        """The edges, strongest first: source, target, strength and what else is known of each.

        In an equivalence class, `type` is -> or --, and an undirected edge (--) is listed once.
        """
        undirected = undirected_part(self.adjacency)
        listed = self.adjacency & ~np.tril(undirected)
        edges = self.facts_of(listed)
        if not self.is_dag:
            edges.insert(2, "type", np.where(undirected[listed], "--", "->"))
        return edges.sort_values("strength", ascending=False, kind="stable", ignore_index=True)

    def facts_of(self, adjacency: np.ndarray) -> pd.DataFrame:
        """One row for each entry of a matrix, row by row: source, target, and what is known of the edge."""
        sources, targets = np.nonzero(adjacency)
        names = np.array(self.names, dtype=object)
        facts = pd.DataFrame({"source": names[sources], "target": names[targets]})
        for column, matrix in {"strength": self.strength, **self.edge_facts}.items():
            facts[column] = matrix[sources, targets]
        return facts

    def with_note(self, note: str) -> Learned:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))

    def with_shares(self, explained: np.ndarray) -> Learned:
        """The same with the share of variance that each edge of `dag` explains among the facts about edges."""
        undirected = undirected_part(self.adjacency)
        shares = np.where(undirected & np.isnan(explained), explained.T, explained)
        return replace(self, edge_facts={**self.edge_facts, "explained": shares})

    def with_facts(self, facts: Mapping[str, np.ndarray], note: str) -> Learned:
        """The same with more facts about each edge, and a note on where they come from."""
        return replace(self.with_note(note), edge_facts={**self.edge_facts, **facts})

    def with_constants(self, names: Sequence[str], constants: np.ndarray) -> Learned:
        """The same with constant columns as isolated nodes; `constants` (d,) holds NaN for the variables learned."""
        varying = np.isnan(constants)
        if varying.all():
            return self
        rows, columns = np.ix_(varying, varying)

        def full(matrix: np.ndarray, fill: float = 0) -> np.ndarray:
            larger = np.full((*matrix.shape[:-2], len(names), len(names)), fill, matrix.dtype)
            larger[..., rows, columns] = matrix
            return larger

        conditionals: list[Conditional] | None = None
        if self.conditionals is not None:
            learned = iter(self.conditionals)
            conditionals = [next(learned) if varies else Fixed(float(constants[j])) for j, varies in enumerate(varying)]
        return replace(
            self,
            names=tuple(names),
            adjacency=full(self.adjacency),
            strength=full(self.strength),
            edge_facts={name: full(matrix, np.nan) for name, matrix in self.edge_facts.items()},
            matrices={name: full(matrix) for name, matrix in self.matrices.items()},
            conditionals=None if conditionals is None else tuple(conditionals),
        )


class Learn(Protocol):
    """A method."""

    def __call__(
        self,
        table: Table,
        knowledge: Masks,
        config: Any,
        rng: np.random.Generator,
        listener: Listener | None,
        held_out: Table | None,
    ) -> Learned:
        """Learn a graph."""
        ...
