"""What PC, GES and GSF share: their answer is an equivalence class, not a DAG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from grandag import parameters
from grandag.graph import to_dag, undirected_part
from grandag.methods.base import StructureLearner
from grandag.methods.equivalence.greedy_search import CachedScore, Step, greedy_search
from grandag.methods.stages.linear_gaussian import LinearGaussian
from grandag.parameters import boolean, integer, one_of, optional
from grandag.progress import Listener

__all__ = ["RULES", "SEARCH_RULES", "EquivalenceLearner", "GreedyLearner"]

RULES = {"knowledge": parameters.knowledge, "missing": one_of("error", "drop"), "verbose": boolean}
"""Of the parameters that all have."""

SEARCH_RULES = {"turning": boolean, "repeat": boolean, "max_parents": optional(integer(1)), **RULES}
"""Of those that search greedily."""


class EquivalenceLearner(StructureLearner):
    """Base of estimators whose `adjacency_` is a CPDAG, with undirected edges in both directions.

    Background knowledge directs some of its edges: then it is the part of the class that knowledge allows. `dag_` is
    one DAG of the class, to which everything belongs that needs directions: `causal_order_` and `score`. A subclass
    sets `_conditionals_`, linear regressions of the varying columns on their parents in `dag_`, or overrides the three
    methods that use them.
    """

    is_dag_ = False
    _conditionals_: LinearGaussian

    def score(self, X: Any, y: Any = None) -> float:
        """Mean over the rows of X of log p(x) = sum_j log p_j(x_j | parents in `dag_`), in the units of the table.

        Constant columns have no density and do not count. `y` is ignored.
        """
        check_is_fitted(self, "adjacency_")
        values = self._values_like_training(X, missing=self.missing)[:, self._varying_]
        return self._log_density(np.asarray(values, dtype=np.float64))

    def _log_density(self, values: np.ndarray) -> float:
        """Mean over the rows of the joint log-density of the varying columns."""
        return self._conditionals_.log_density(values)

    def _conditional_arrays(self) -> dict[str, np.ndarray]:
        return self._conditionals_._asdict()

    def _restore_conditionals(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._conditionals_ = LinearGaussian(*(arrays[name] for name in LinearGaussian._fields))

    def _keep_class(self, adjacency: np.ndarray, strength: np.ndarray) -> np.ndarray:
        """Set `adjacency_` and `strength_` from those of the varying columns; returns a DAG of the class."""
        self.adjacency_ = self._for_all_columns(adjacency)
        self.strength_ = self._for_all_columns(np.where(adjacency, strength, 0.0))
        return to_dag(adjacency)

    def _outcome(self) -> dict[str, Any]:
        """Plain values by the name of the attribute that holds them (without its _), to be saved."""
        raise NotImplementedError

    def _fitted_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays = {"varying": self._varying_, **self._conditional_arrays()}
        return arrays, {"notes": self.notes_, **self._outcome()}

    def _restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        self._varying_ = arrays["varying"]
        self._restore_conditionals(arrays)
        for name, value in values.items():
            setattr(self, f"{name}_", value)


class GreedyLearner(EquivalenceLearner):
    """Base of estimators that search greedily for the class with the best score."""

    turning: bool
    repeat: bool
    max_parents: int | None
    search_: pd.DataFrame
    score_: float

    def _search(self, score: CachedScore, listener: Listener | None) -> np.ndarray:
        """Set the class, the steps that led to it, and its score; returns a DAG of it."""
        adjacency, steps = greedy_search(
            score,
            *self._knowledge(),
            phases=("forward", "backward", "turning") if self.turning else ("forward", "backward"),
            repeat=self.repeat,
            max_parents=self.max_parents,
            listener=listener,
        )
        dag = self._keep_class(adjacency, _edge_gains(score, adjacency))
        self.score_ = score.total(dag)
        self._keep_steps(steps)
        return dag

    def _keep_steps(self, steps: list[Step]) -> None:
        names = [name for name, varies in zip(self.names_, self._varying_, strict=True) if varies]
        rows = [
            (step.phase, names[step.source], names[step.target], ", ".join(names[k] for k in step.clique), step.gain)
            for step in steps
        ]
        self.search_ = pd.DataFrame(rows, columns=["phase", "source", "target", "with", "gain"])

    def _outcome(self) -> dict[str, Any]:
        return {"search": self.search_.to_dict(orient="list"), "score": self.score_}

    def _restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        super()._restore(arrays, {**values, "search": pd.DataFrame(values["search"])})


def _edge_gains(score: CachedScore, adjacency: np.ndarray) -> np.ndarray:
    """How much each edge adds to the score of a DAG of the class; the same in both directions of an undirected edge."""
    dag = to_dag(adjacency)
    gains = np.zeros(adjacency.shape)
    for x, y in np.argwhere(dag).tolist():
        parents = sum(1 << k for k in np.flatnonzero(dag[:, y]).tolist())
        gains[x, y] = max(score(y, parents) - score(y, parents & ~(1 << x)), 0.0)
    return np.where(undirected_part(adjacency), gains + gains.T, gains)
