"""A simulated truth: data, the graph they came from, and the model itself, observed or under interventions.

The observational distribution is  x_j = f_j(x_parents(j), N_j)  with independent noises, in topological order. Under
do(x_i = v) the equation of x_i is replaced by x_i = v and all others stay: this is the distribution that the
structural intervention distance (SID) is about, and a learner can be tested against it here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import networkx as nx
import numpy as np
import pandas as pd

from grandag.blas import one_blas_thread
from grandag.graph import is_acyclic, to_networkx, topological_order
from grandag.parameters import ParameterError, as_generator, check_parameters, integer
from grandag.simulate.gaussian_process import GaussianProcessFunction
from grandag.simulate.mechanisms import Mechanism, draw_mechanism, find_kind

__all__ = ["NodeMechanism", "Scenario", "checked_graph", "checked_names", "draw_scenario"]


class NodeMechanism(Protocol):
    """The mechanism of one variable, as a scenario uses it."""

    def sample(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The variable for given rows of its parents (n, p), with fresh noise."""

    def describe(self) -> dict[str, Any]:
        """The mechanism's kind and constants as plain values."""


class InterventionalRegime(Protocol):
    """Rows made under an intervention, as a scenario describes them."""

    def describe(self) -> dict[str, Any]:
        """Targets, kind, rows and new mechanisms as plain values."""


@dataclass(frozen=True)
class Scenario:
    """Simulated data with the truth behind them.

    `mechanisms[j]` makes variable j from its parents, which come in column order. Hidden causes, if there are any
    (SynTReN's external conditions), are roots made by `hidden`; `hidden_adjacency[k, j]` says whether the k-th is a
    cause of variable j, and they come before the other parents. `measure` is what measurement does to all values after
    they are made. Mechanisms make codes 0, 1, ... of the labels of a variable that has any (`labels`); tables show the
    labels. `kinds` are those of the variables, None if all of them are numbers. Of rows made under interventions
    (`draw_regimes`), `interventions` has the targets and `regimes` what was done to them.
    """

    data: pd.DataFrame
    adjacency: np.ndarray
    mechanisms: tuple[NodeMechanism, ...]
    configuration: dict[str, Any] = field(default_factory=dict)
    hidden: tuple[NodeMechanism, ...] = ()
    hidden_adjacency: np.ndarray | None = None
    measure: Callable[[np.ndarray, np.random.Generator], np.ndarray] | None = None
    interventions: tuple[str, ...] | None = None  # one text per row, "" for an observational one
    regimes: tuple[InterventionalRegime, ...] = ()
    kinds: tuple[str, ...] | None = None
    labels: tuple[tuple[str, ...], ...] = ()  # of each variable, none for numbers; nothing: all are numbers

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(self.data.columns)

    @property
    def graph(self) -> nx.DiGraph[str]:
        """The true graph with the column names."""
        return to_networkx(self.adjacency, self.names)

    def with_rows(self, values: np.ndarray) -> Scenario:
        """The same model with these rows as its data."""
        return replace(self, data=self._frame(values))

    def sample(
        self, n_rows: int, random_state: Any = None, *, do: Mapping[str, float | str] | None = None
    ) -> pd.DataFrame:
        """New rows of the same model; `do={"X3": 1.0}` sets variables by intervention, `do={"X4": "yes"}` labels.

        Every variable has its own stream of noise: with the same seed, rows with and without an intervention differ
        in the descendants of the intervened variables only, and these share their noise (counterfactual pairs).
        Measurement noise, where there is any, applies to intervened variables too.
        """
        check_parameters({"n_rows": n_rows}, {"n_rows": integer(1)})
        fixed = self._fixed(do or {})
        mechanisms = self.hidden + self.mechanisms
        adjacency, n_hidden = self._with_hidden(), len(self.hidden)
        *streams, measurement = as_generator(random_state).spawn(len(mechanisms) + 1)
        values = np.empty((n_rows, len(mechanisms)))
        with one_blas_thread():
            for node in topological_order(adjacency):
                if node - n_hidden in fixed:
                    values[:, node] = fixed[node - n_hidden]
                else:
                    values[:, node] = mechanisms[node].sample(values[:, adjacency[:, node]], streams[node])
        observed = values[:, n_hidden:]
        if self.measure is not None:
            observed = self.measure(observed, measurement)
        return self._frame(observed)

    def _frame(self, values: np.ndarray) -> pd.DataFrame:
        """Rows with names, and with labels in the place of their codes; counts as whole numbers."""
        frame = pd.DataFrame(values, columns=list(self.names))
        for name, some in zip(self.names, self.labels, strict=False):
            if some:
                frame[name] = np.array(some, dtype=object)[frame[name].to_numpy().astype(int)]
        for name, kind in zip(self.names, self.kinds or (), strict=False):
            if kind == "count" and (frame[name] == frame[name].round()).all():  # not where an intervention set 2.5
                frame[name] = frame[name].astype("int64")
        return frame

    def describe(self) -> dict[str, Any]:
        """Configuration and mechanisms as plain values."""
        described = {name: m.describe() for name, m in zip(self.names, self.mechanisms, strict=True)}
        regimes = {"regimes": [regime.describe() for regime in self.regimes]} if self.regimes else {}
        return {**self.configuration, "mechanisms": described, **regimes}

    def _with_hidden(self) -> np.ndarray:
        if self.hidden_adjacency is None:
            return self.adjacency
        n_hidden, n_nodes = self.hidden_adjacency.shape
        adjacency = np.zeros((n_hidden + n_nodes, n_hidden + n_nodes), dtype=bool)
        adjacency[:n_hidden, n_hidden:] = self.hidden_adjacency
        adjacency[n_hidden:, n_hidden:] = self.adjacency
        return adjacency

    def _fixed(self, do: Mapping[str, float | str]) -> dict[int, float]:
        return {self._node(name): self._code(name, value) for name, value in do.items()}

    def _node(self, name: str) -> int:
        if name not in self.names:
            raise ParameterError("do", f"names the variable {name!r}; there are {', '.join(self.names)}.")
        return self.names.index(name)

    def _code(self, name: str, value: float | str) -> float:
        """A value as mechanisms take it: a number as it is, a label as its code."""
        labels = self.labels[self.names.index(name)] if self.labels else ()
        if labels:
            if value not in labels:
                raise ParameterError(
                    "do", f"must set {name!r} to one of the labels {', '.join(labels)}; got {value!r}."
                )
            return float(labels.index(str(value)))
        if isinstance(value, str) or not math.isfinite(value):
            raise ParameterError("do", f"must set finite numbers; {name!r} has {value!r}.")
        return float(value)


def draw_scenario(
    mechanism: str,
    adjacency: np.ndarray,
    n_rows: int = 1000,
    random_state: Any = None,
    *,
    distributions: str = "released",
    names: Sequence[str] | None = None,
) -> Scenario:
    """A model of the given kind on a graph, and rows of it.

    The paper's kinds are "gauss-anm", "lin", "add-func", "pnl-gp" and "pnl-mult"; "mlp", "mlp-standard", "mim",
    "sigmoid" and "sigmoid-mix" are from elsewhere. `distributions="released"` follows the authors' files, "text" the
    paper's appendix (see `grandag.simulate.mechanisms`).

    >>> from grandag import simulate
    >>> scenario = simulate.draw_scenario("gauss-anm", simulate.erdos_renyi(10, 10, random_state=1), random_state=1)
    >>> scenario.data.shape
    (1000, 10)
    >>> scenario.sample(5, random_state=2, do={"X3": 1.5})["X3"].tolist()
    [1.5, 1.5, 1.5, 1.5, 1.5]
    """
    kind = find_kind(mechanism, distributions)
    check_parameters({"n_rows": n_rows}, {"n_rows": integer(1)})
    adjacency = checked_graph(adjacency)
    n_nodes = len(adjacency)
    columns = checked_names(names, n_nodes)
    streams = as_generator(random_state).spawn(n_nodes)
    values = np.empty((n_rows, n_nodes))
    mechanisms: dict[int, Mechanism] = {}
    with one_blas_thread():  # threads cost more CPU time than they save on matrices of this size
        for node in topological_order(adjacency):
            mechanisms[node], values[:, node] = draw_mechanism(kind, values[:, adjacency[:, node]], streams[node])
    ordered = tuple(mechanisms[node] for node in range(n_nodes))
    configuration: dict[str, Any] = {
        "mechanism": mechanism,
        "distributions": distributions,
        "rows": n_rows,
        "nodes": n_nodes,
    }
    methods = {m.function.method for m in ordered if isinstance(m.function, GaussianProcessFunction)}
    configuration["functions_drawn_by"] = methods.pop() if methods else None
    return Scenario(pd.DataFrame(values, columns=columns), adjacency, ordered, configuration)


def checked_names(names: Sequence[str] | None, n_nodes: int) -> list[str]:
    """The names of the columns: X0, X1, ... if none are given."""
    columns = [f"X{node}" for node in range(n_nodes)] if names is None else [str(name) for name in names]
    if len(set(columns)) != n_nodes or len(columns) != n_nodes:
        raise ParameterError("names", f"must be {n_nodes} different names, one for each node; got {columns!r}.")
    return columns


def checked_graph(adjacency: np.ndarray) -> np.ndarray:
    """The matrix of a DAG, as booleans."""
    matrix = np.asarray(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ParameterError("adjacency", f"must be a square matrix; got shape {matrix.shape}.")
    if not is_acyclic(matrix.astype(bool)):
        raise ParameterError("adjacency", "must be acyclic; the given graph has a cycle.")
    return matrix.astype(bool)
