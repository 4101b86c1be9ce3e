"""What all methods of the library have in common: conventions of the estimators, and one file per fitted model."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from grandag import __version__
from grandag.graph import to_networkx, topological_order
from grandag.methods.parameters import plain

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

    A subclass gives its name in the registry as `method`, and the arrays and plain values that make up a fitted model
    in `_fitted_state` and `_restore`.
    """

    names_: tuple[str, ...]
    adjacency_: np.ndarray
    strength_: np.ndarray

    @property
    def method(self) -> str:
        """The name of this method in the registry, as the command line knows it."""
        raise NotImplementedError

    @property
    def graph_(self) -> Any:
        """The graph as a networkx DiGraph with the table's column names; edges carry their strength."""
        check_is_fitted(self, "adjacency_")
        return to_networkx(self.adjacency_, self.names_, self.strength_)

    @property
    def edges_(self) -> pd.DataFrame:
        """The edges, strongest first: source, target, strength."""
        check_is_fitted(self, "adjacency_")
        sources, targets = np.nonzero(self.adjacency_)
        names = np.array(self.names_, dtype=object)
        edges = pd.DataFrame(
            {"source": names[sources], "target": names[targets], "strength": self.strength_[sources, targets]}
        )
        return edges.sort_values("strength", ascending=False, kind="stable", ignore_index=True)

    @property
    def causal_order_(self) -> list[str]:
        """The names in an order in which every edge points forwards."""
        check_is_fitted(self, "adjacency_")
        return [self.names_[node] for node in topological_order(self.adjacency_)]

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file: arrays and JSON in a zip archive (numpy's npz), nothing pickled."""
        check_is_fitted(self, "adjacency_")
        arrays, values = self._fitted_state()
        given = {name: plain(value) for name, value in self.get_params(deep=False).items()}
        parameters = {name: value for name, value in given.items() if _is_plain(value)}
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

    def _take_over(self, fitted: Self) -> None:
        """Replace the fitted state by that of another estimator: a fit that fails leaves everything as it was."""
        for name in self._fitted_names():
            delattr(self, name)
        for name in fitted._fitted_names():
            setattr(self, name, getattr(fitted, name))

    def _fitted_names(self) -> list[str]:
        return [name for name in vars(self) if name.endswith("_")]

    def _set_names(self, names: tuple[str, ...], has_own_names: bool) -> None:
        """scikit-learn's attributes for columns, and ours."""
        self.names_ = names
        self.n_features_in_ = len(names)
        if has_own_names:
            self.feature_names_in_ = np.array(names, dtype=object)

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
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays.pop("meta")))
        if meta["format"] > _FORMAT:
            raise ValueError(f"it was written by grandag {meta['grandag']}: upgrade to read it")
    except FileNotFoundError:
        raise
    except (EOFError, KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{str(path)!r} is not a model that this version of grandag saved: {error}") from None
    model: StructureLearner = METHODS[meta["method"]].estimator()._from_file(meta, arrays)
    return model
