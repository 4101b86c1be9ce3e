"""What all methods of the library have in common: conventions of the estimators, and one file per fitted model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from grandag import __version__
from grandag.graph import to_networkx, topological_order

__all__ = ["NotConvergedWarning", "StructureLearner", "TrainingError", "as_generator", "load"]

_FORMAT = 1


class NotConvergedWarning(ConvergenceWarning):  # type: ignore[misc]
    """A result was returned that does not meet the tolerance of its method."""


class TrainingError(RuntimeError):
    """Training broke down; there is no result."""


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator from None, a seed, a numpy Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    return np.random.default_rng(random_state)


class StructureLearner(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators: `fit(X)` sets `adjacency_` (adjacency_[i, j]: i -> j), `strength_` and names.

    A subclass names itself in `method`, and the arrays and plain values that make up a fitted model in
    `_fitted_state` and `_restore`.
    """

    method = ""

    names_: tuple[str, ...]
    adjacency_: np.ndarray
    strength_: np.ndarray

    @property
    def graph_(self) -> Any:
        """The graph as a networkx DiGraph with the table's column names; edges carry their strength."""
        return to_networkx(self.adjacency_, self.names_, self.strength_)

    @property
    def edges_(self) -> pd.DataFrame:
        """The edges, strongest first: source, target, strength."""
        sources, targets = np.nonzero(self.adjacency_)
        names = np.array(self.names_, dtype=object)
        edges = pd.DataFrame(
            {"source": names[sources], "target": names[targets], "strength": self.strength_[sources, targets]}
        )
        return edges.sort_values("strength", ascending=False, kind="stable", ignore_index=True)

    @property
    def causal_order_(self) -> list[str]:
        """The names in an order in which every edge points forwards."""
        return [self.names_[node] for node in topological_order(self.adjacency_)]

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file: arrays and JSON in a zip archive (numpy's npz), nothing pickled."""
        arrays, values = self._fitted_state()
        parameters = {name: value for name, value in self.get_params(deep=False).items() if _is_plain(value)}
        meta = {
            "format": _FORMAT,
            "grandag": __version__,
            "method": self.method,
            "parameters": parameters,
            "names": list(self.names_),
            "has_own_names": hasattr(self, "feature_names_in_"),
            "values": values,
        }
        contents: dict[str, Any] = {"adjacency": self.adjacency_, "strength": self.strength_, **arrays}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, meta=np.array(json.dumps(meta)), **contents)

    def _fitted_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        raise NotImplementedError

    def _restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def _set_names(self, names: tuple[str, ...], has_own_names: bool) -> None:
        """scikit-learn's attributes for columns, and ours."""
        self.names_ = names
        self.n_features_in_ = len(names)
        if has_own_names:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    @classmethod
    def _from_file(cls, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        model = cls(**meta["parameters"])
        model._set_names(tuple(meta["names"]), meta["has_own_names"])
        model.adjacency_, model.strength_ = arrays["adjacency"], arrays["strength"]
        model._restore(arrays, meta["values"])
        return model


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int | float)


def load(path: str | Path) -> StructureLearner:
    """A fitted model from a file that `save` wrote. No code in the file is run."""
    from grandag.methods.registry import METHODS

    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays.pop("meta")))
    except (KeyError, OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{str(path)!r} is not a model that grandag saved: {error}") from None
    if meta["format"] > _FORMAT:
        raise ValueError(f"{str(path)!r} was written by grandag {meta['grandag']}: upgrade to read it.")
    model: StructureLearner = METHODS[meta["method"]].estimator()._from_file(meta, arrays)
    return model
