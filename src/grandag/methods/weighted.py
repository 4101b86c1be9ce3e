"""What NOTEARS and DAG-GNN share: neighbours -> a weighted adjacency matrix -> threshold -> prune -> retrain.

The stages around the weights are those of GraN-DAG, so that the paper's ablation (each method with and without
neighbour selection and pruning) compares what it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from grandag import parameters
from grandag.diagnostics import Concern
from grandag.gam import SplineTable
from grandag.methods.base import NotConvergedWarning, StructureLearner, as_generator
from grandag.methods.stages.neighbours import NeighboursConfig
from grandag.methods.stages.threshold import threshold
from grandag.parameters import boolean, integer, number, one_of
from grandag.progress import Listener
from grandag.table import Scaling, Table

__all__ = ["RULES", "WeightedLearner"]

RULES = {
    "weight_threshold": number(0),
    "tolerance": number(0, open_minimum=True),
    "max_penalty": number(1),
    "standardise": boolean,
    "neighbour_selection": one_of("auto", True, False),
    "neighbour_threshold": number(0),
    "n_trees": integer(1),
    "prune": boolean,
    "prune_cutoff": number(0, 1),
    "knowledge": parameters.knowledge,
    "missing": one_of("error", "drop"),
    "n_jobs": parameters.n_jobs,
    "random_state": parameters.random_state,
    "verbose": boolean,
}
"""Of the parameters that both methods have."""


class WeightedLearner(StructureLearner):
    """Base of methods that learn a weighted adjacency matrix and cut it.

    A subclass finds the weights (`_learn_weights`), the conditionals of the final graph (`_retrain`) and their density
    (`_log_density`), on columns that vary, scaled if asked for.
    """

    presets = {"default": {}, "paper": {}}  # noqa: RUF012 (typed in the base class); the defaults are the paper's

    weight_threshold: float
    standardise: bool
    neighbour_selection: bool | str
    neighbour_threshold: float
    n_trees: int
    prune: bool
    prune_cutoff: float
    n_jobs: int | None
    random_state: Any
    tolerance: float
    n_iter_: int

    def _learn(self, table: Table, listener: Listener | None) -> None:
        values = self._varying_values(table)
        neighbours_rng, weights_rng, retrain_rng = as_generator(self.random_state).spawn(3)
        self._warn_of_copies(values)
        self._scaling_ = Scaling.standard(values) if self.standardise else Scaling.identity(values.shape[1])
        scaled = self._scaling_.apply(values, "float64")
        config = NeighboursConfig(self.n_trees, self.neighbour_threshold)
        selected = self._open_inputs(scaled, self.neighbour_selection, config, neighbours_rng, self.n_jobs, listener)
        allowed, required = self._knowledge()
        weights = self._learn_weights(scaled, (selected & allowed) | required, weights_rng, listener)
        adjacency = self._cut(np.abs(weights), required)
        if self.prune:
            adjacency = self._prune(SplineTable(values), adjacency, self.prune_cutoff, listener)
        self._retrain(scaled, adjacency, retrain_rng)
        self.weights_ = self._for_all_columns(weights)
        self.strength_ = np.abs(self.weights_)
        self.adjacency_ = self._for_all_columns(adjacency)

    def _learn_weights(
        self, values: np.ndarray, allowed: np.ndarray, rng: np.random.Generator, listener: Listener | None
    ) -> np.ndarray:
        """The weighted adjacency matrix; keeps how it came about."""
        raise NotImplementedError

    def _retrain(self, values: np.ndarray, adjacency: np.ndarray, rng: np.random.Generator) -> None:
        """Set the conditionals of the graph, learned anew without regulariser or constraint."""
        raise NotImplementedError

    def _log_density(self, values: np.ndarray) -> float:
        """Mean over rows of the joint log-density of the retrained model."""
        raise NotImplementedError

    def _cut(self, strength: np.ndarray, required: np.ndarray) -> np.ndarray:
        """The required edges and those at or above the threshold; in cycles the weakest go until there is none."""
        strong = strength >= self.weight_threshold
        np.fill_diagonal(strong, False)
        adjacency = threshold(strength, strong, required)
        n_cut = int((strong & ~adjacency & (strength > 0)).sum())
        if n_cut:
            self.notes_.append(f"Dropped the {n_cut:,} weakest edges above the threshold, which left a cycle.")
        return adjacency

    def score(self, X: Any, y: Any = None) -> float:
        """Mean over the rows of X of log p(x) = sum_j log p_j(x_j | parents), in the units of the table.

        Of the model that was retrained on the final graph. Constant columns do not count. `y` is ignored.
        """
        check_is_fitted(self, "adjacency_")
        values = np.asarray(self._values_like_training(X, missing=self.missing)[:, self._varying_], dtype=np.float64)
        scaled = self._scaling_.apply(values, "float64")
        return self._log_density(scaled) - float(np.log(self._scaling_.scale).sum())

    def _keep_convergence(self, converged: bool, h: float, parameter: str) -> None:
        self.converged_ = converged
        if not converged:
            message = (
                f"The graph was not acyclic after {self.n_iter_:,} iterations (h = {h:.1e}, tolerance "
                f"{self.tolerance:.0e}); weak edges were removed until it was. Raise {parameter}, or scale the columns "
                "with standardise=True, before you rely on it."
            )
            numbers = {"iterations": self.n_iter_, "h": h, "tolerance": self.tolerance}
            self._warn(Concern("not converged", (), numbers, message), NotConvergedWarning)

    def _fitted_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, values = self._model_state()
        scaling = {"mean": self._scaling_.mean, "scale": self._scaling_.scale}
        arrays = {"weights_before_threshold": self.weights_, "varying": self._varying_, **scaling, **arrays}
        return arrays, {"converged": self.converged_, "n_iter": self.n_iter_, "notes": self.notes_, **values}

    def _restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        self.weights_, self._varying_ = arrays["weights_before_threshold"], arrays["varying"]
        self._scaling_ = Scaling(arrays["mean"], arrays["scale"])
        self.converged_, self.n_iter_, self.notes_ = values["converged"], values["n_iter"], values["notes"]
        self._restore_model(arrays, values)

    def _model_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and plain values of the weights' learning and the conditionals."""
        raise NotImplementedError

    def _restore_model(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        raise NotImplementedError
