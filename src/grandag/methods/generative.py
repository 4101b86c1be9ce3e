"""Methods that learn conditional distributions with the graph: what can be done with them after a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from grandag.methods.base import StructureLearner, TrainingError
from grandag.model import CausalModel, Conditional, Effect, Fixed

__all__ = ["GenerativeLearner"]


class GenerativeLearner(StructureLearner):
    """Base of estimators whose `_varying_conditionals` gives one conditional per varying column, or None.

    All methods here are those of `model_`, a `grandag.model.CausalModel`, in the units of the table.
    """

    @property
    def model_(self) -> CausalModel:
        """Graph and conditionals as a model to be used."""
        check_is_fitted(self, "adjacency_")
        model = self._causal_model()
        if model is None:
            raise TrainingError("This model has a graph but no conditionals: fit it with retrain=True.")
        return model

    def _varying_conditionals(self) -> Sequence[Conditional] | None:
        raise NotImplementedError

    def _causal_model(self) -> CausalModel | None:
        learned = self._varying_conditionals()
        if learned is None:
            return None
        conditionals: list[Conditional] = [Fixed(float(value)) for value in self._constants_]
        for node, conditional in zip(np.flatnonzero(self._varying_), learned, strict=True):
            conditionals[node] = conditional
        return CausalModel(self.names_, self.adjacency_, tuple(conditionals))

    def sample(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """New rows of the learned distribution."""
        return self.model_.sample(n, random_state)

    def intervene(self, values: Mapping[str, float]) -> CausalModel:
        """The model in which these variables have been set: `intervene({"PKA": 2.0}).sample(n)`, `.mean()`."""
        return self.model_.intervene(values)

    def average_effect(self, cause: str, outcome: str, **options: Any) -> Effect:
        """The change of the outcome's mean by an intervention on the cause: see `CausalModel.average_effect`."""
        return self.model_.average_effect(cause, outcome, **options)

    def log_prob(self, X: Any) -> pd.Series:
        """log p(x) of each row of X."""
        return self.model_.log_prob(X)

    def residuals(self, X: Any, *, standardised: bool = False) -> pd.DataFrame:
        """Each value minus its mean given its parents; `standardised` divides by its standard deviation."""
        return self.model_.residuals(X, standardised=standardised)

    def check_noise(self, X: Any) -> pd.DataFrame:
        """Is the noise of each variable independent of its parents, and Gaussian? One row per variable."""
        return self.model_.check_noise(X)

    def predict(self, X: Any, target: str | None = None) -> Any:
        """The mean of the target given its parents in X; without a target, of every variable given its own."""
        model = self.model_
        if target is not None:
            return model.predict(X, target)
        predicted = model.predict(self._values_like_training(X, missing="error"))
        return predicted.set_index(X.index) if isinstance(X, pd.DataFrame) else predicted

    def score(self, X: Any, y: Any = None) -> float:
        """Mean over the rows of X of log p(x) = sum_j log p_j(x_j | parents), in the units of the table.

        Constant columns have no density and do not count. `y` is ignored.
        """
        model = self.model_
        return float(model.log_prob(self._values_like_training(X, missing=self.missing)).mean())
