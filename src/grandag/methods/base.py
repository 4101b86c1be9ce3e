"""What all methods of the library have in common: conventions of the estimators, and one file per fitted model."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from grandag import __version__
from grandag.diagnostics import Concern, column_concerns, graph_concerns, noise_checks, noise_concerns
from grandag.gam import SplineTable
from grandag.graph import to_dag, to_networkx, topological_order, undirected_part
from grandag.knowledge import Knowledge, KnowledgeError, Masks
from grandag.methods.stages.neighbours import NeighboursConfig, neighbours
from grandag.methods.stages.prune import prune
from grandag.model import CausalModel
from grandag.parameters import Rule, as_generator, check_parameters, plain
from grandag.progress import Listener, progress_line
from grandag.table import Scaling, Table, TableError, as_table, constant_columns, same_columns

__all__ = ["NotConvergedWarning", "StructureLearner", "TrainingError", "as_generator", "load"]

_FORMAT = 2

_SELECTION_FROM = 50
"""Number of variables from which neighbours are selected first (section 3.5 of the paper)."""

_EDGE_COLUMNS = {
    "strength": "strength_",
    "p_value": "p_values_",
    "degrees_of_freedom": "degrees_of_freedom_",
    "frequency": "frequency_",
    "reverse_frequency": "reverse_frequency_",
    "adjacency_frequency": "adjacency_frequency_",
}
"""What is known of an edge, and the attribute with the matrix of it."""


class NotConvergedWarning(ConvergenceWarning):  # type: ignore[misc]
    """A result was returned that does not meet the tolerance of its method."""


class TrainingError(RuntimeError):
    """Training broke down; there is no result."""


class StructureLearner(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators: `fit(X)` sets `adjacency_` (adjacency_[i, j]: i -> j), `strength_` and names.

    `warnings_` then has what speaks against trusting the graph, `notes_` what else a reader should know.
    A method that tests its edges sets `p_values_` and `degrees_of_freedom_` too, and `grandag.confidence` can add
    frequencies; what is known appears with every edge.
    A subclass gives its name in the registry as `method`, the legal values of its parameters as `_rules`, what it does
    with a table as `_learn`, and the arrays and plain values that make up a fitted model in `_fitted_state` and
    `_restore`. All have the parameters `knowledge`, `missing` and `verbose`, and heed what `_knowledge` says.
    """

    _masks_: Masks
    _held_out: np.ndarray | None
    _varying_: np.ndarray
    _constants_: np.ndarray

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    _rules: ClassVar[Mapping[str, Rule]]

    knowledge: Any
    missing: str
    verbose: bool
    names_: tuple[str, ...]
    notes_: list[str]
    warnings_: list[Concern]
    adjacency_: np.ndarray
    strength_: np.ndarray
    p_values_: np.ndarray
    degrees_of_freedom_: np.ndarray
    frequency_: np.ndarray
    reverse_frequency_: np.ndarray
    adjacency_frequency_: np.ndarray

    is_dag_ = True
    """Is the answer a DAG, or an equivalence class of DAGs?"""

    @property
    def method(self) -> str:
        """The name of this method in the registry, as the command line knows it."""
        raise NotImplementedError

    @classmethod
    def preset(cls, name: str, **parameters: Any) -> Self:
        """An estimator with the values of a preset, other parameters as given."""
        if name not in cls.presets:
            raise ValueError(f"There is no preset {name!r}: choose from {', '.join(cls.presets)}.")
        return cls(**{**cls.presets[name], **parameters})

    def fit(self, X: Any, y: Any = None, *, held_out: Any = None, listener: Listener | None = None) -> Self:
        """Learn the graph of the columns of X (array, pandas or polars data frame).

        Args:
            X: The table.
            y: Ignored.
            held_out: More rows, which decide when to stop and nothing else; a method that stops early then trains on
                all of X instead of holding out a part of it. A method without early stopping never looks at them.
            listener: Told how far it is.
        """
        given = self.get_params(deep=False)
        check_parameters(given, self._rules)
        fitted = type(self)(**{name: plain(value) for name, value in given.items()})
        table = as_table(X, missing=self.missing)
        fitted._set_names(table.names, table.has_own_names)
        fitted.notes_, fitted.warnings_ = [], []
        fitted._masks_ = Knowledge.of(self.knowledge).masks(table.names)
        fitted._held_out = None if held_out is None else fitted._values_like_training(held_out, missing=self.missing)
        with progress_line() if self.verbose and listener is None else nullcontext(listener) as listener:
            fitted._learn(table, listener)
        fitted._find_concerns(table)
        self._take_over(fitted)
        return self

    def _learn(self, table: Table, listener: Listener | None) -> None:
        """Set all fitted attributes."""
        raise NotImplementedError

    def _causal_model(self) -> CausalModel | None:
        """Graph and conditionals, where the method has learned any."""
        return None

    def _find_concerns(self, table: Table) -> None:
        """Set `warnings_`: what was warned of before, and what columns, graph and noise say against the result."""
        copies = [concern.variables for concern in self.warnings_ if concern.kind == "copied columns"]
        self.warnings_ += column_concerns(table.values, table.names, copies)
        self.warnings_ += graph_concerns(self.dag_, table.names, len(table.values))
        model = self._causal_model()
        if model is not None:
            self.warnings_ += noise_concerns(noise_checks(model, table.values))

    @property
    def graph_(self) -> Any:
        """The graph as a networkx DiGraph with the table's column names; edges carry what `edges_` says of them."""
        check_is_fitted(self, "adjacency_")
        graph = to_networkx(self.adjacency_, self.names_)
        for edge in self._edge_facts(self.adjacency_).to_dict(orient="records"):
            graph.edges[edge.pop("source"), edge.pop("target")].update(edge)
        return graph

    @property
    def edges_(self) -> pd.DataFrame:
        """The edges, strongest first: source, target, strength; p_value and degrees_of_freedom if they were tested.

        If the method finds equivalence classes, `type` is -> or --, and an undirected edge (--) is listed once.
        """
        check_is_fitted(self, "adjacency_")
        undirected = undirected_part(self.adjacency_)
        listed = self.adjacency_ & ~np.tril(undirected)
        edges = self._edge_facts(listed)
        if not self.is_dag_:
            edges.insert(2, "type", np.where(undirected[listed], "--", "->"))
        return edges.sort_values("strength", ascending=False, kind="stable", ignore_index=True)

    def _edge_facts(self, adjacency: np.ndarray) -> pd.DataFrame:
        """One row for each entry of a matrix, row by row: source, target, and what is known of the edge."""
        sources, targets = np.nonzero(adjacency)
        names = np.array(self.names_, dtype=object)
        facts = pd.DataFrame({"source": names[sources], "target": names[targets]})
        for column, attribute in _EDGE_COLUMNS.items():
            if hasattr(self, attribute):
                facts[column] = getattr(self, attribute)[sources, targets]
        return facts

    @property
    def dag_(self) -> np.ndarray:
        """(d, d) bool, the DAG; of an equivalence class, the member whose edges follow the columns where they can."""
        check_is_fitted(self, "adjacency_")
        return self.adjacency_ if self.is_dag_ else to_dag(self.adjacency_)

    @property
    def causal_order_(self) -> list[str]:
        """The names in an order in which every edge of `dag_` points forwards."""
        return [self.names_[node] for node in topological_order(self.dag_)]

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
            "warnings": [asdict(concern) for concern in self.warnings_],
        }
        edge_arrays = {
            attribute.removesuffix("_"): getattr(self, attribute)
            for attribute in _EDGE_COLUMNS.values()
            if hasattr(self, attribute)
        }
        contents: dict[str, Any] = {"adjacency": self.adjacency_, **edge_arrays, **arrays}
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

    def _varying_values(self, table: Table) -> np.ndarray:
        """The columns that are not constant, which `_varying_` tells from now on; notes what was left out."""
        is_constant = constant_columns(table.values)
        if is_constant.all():
            raise TableError("All columns of X are constant: there is nothing to learn from.")
        if table.n_dropped:
            rows = "1 row" if table.n_dropped == 1 else f"{table.n_dropped:,} rows"
            self.notes_.append(f"Dropped {rows} with missing or infinite values.")
        self._varying_, self._constants_ = ~is_constant, np.where(is_constant, table.values[0], np.nan)
        if not is_constant.any():
            return table.values
        constant = ", ".join(repr(table.names[j]) for j in np.flatnonzero(is_constant))
        self.notes_.append(f"Constant columns are isolated nodes of the graph: {constant}.")
        warnings.warn(self.notes_[-1], UserWarning, stacklevel=4)
        return np.asarray(table.values[:, self._varying_])

    def _knowledge(self) -> Masks:
        """What is allowed and required between the varying columns."""
        allowed, required = self._masks_
        for i, j in np.argwhere(required):
            constant = j if not self._varying_[j] else i
            if not self._varying_[constant]:
                raise KnowledgeError(
                    f"The edge {self.names_[i]} -> {self.names_[j]} is required, but {self.names_[constant]!r} is "
                    "constant: drop the edge or the column."
                )
        varying = np.ix_(self._varying_, self._varying_)
        return Masks(allowed[varying], required[varying])

    def _values_like_training(self, X: Any, *, missing: str) -> np.ndarray:
        """The numbers of X, which must have the columns of the training table in the same order."""
        table = as_table(X, missing=missing, min_rows=1, min_columns=1)
        if len(table.names) != self.n_features_in_:
            raise TableError(
                f"X has {len(table.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        if table.has_own_names and hasattr(self, "feature_names_in_") and table.names != self.names_:
            raise TableError(
                "The feature names should match those that were passed during fit: X has the columns "
                f"{', '.join(table.names[:10])}, the model {', '.join(self.names_[:10])}; give them in this order."
            )
        return table.values

    def _warn_of_copies(self, values: np.ndarray) -> None:
        """Of varying columns that are the same up to units."""
        names = [name for name, varies in zip(self.names_, self._varying_, strict=True) if varies]
        for first, second in same_columns(Scaling.standard(values).apply(values, "float32"), names):
            message = (
                f"Columns {first!r} and {second!r} hold the same numbers, up to units: edges from one of them may as "
                "well be from the other. Leave one out."
            )
            self._warn(Concern("copied columns", (first, second), {}, message))

    def _for_all_columns(self, matrix: np.ndarray, fill: float = 0) -> np.ndarray:
        """A matrix over the varying columns with one value for the constant ones."""
        full = np.full((len(self._varying_),) * 2, fill, matrix.dtype)
        full[np.ix_(self._varying_, self._varying_)] = matrix
        return full

    def _open_inputs(
        self,
        values: np.ndarray,
        selection: bool | str,
        config: NeighboursConfig,
        rng: np.random.Generator,
        n_jobs: int | None,
        listener: Listener | None,
    ) -> np.ndarray:
        """The mask to start from: all other variables, or those that neighbour selection leaves."""
        d = values.shape[1]
        is_asked = d >= _SELECTION_FROM if selection == "auto" else selection
        if not is_asked or d < 2:
            return ~np.eye(d, dtype=bool)
        if len(values) > config.max_rows:
            self.notes_.append(
                f"Neighbours were selected with {config.max_rows:,} of the {len(values):,} rows (max_neighbour_rows)."
            )
        mask = neighbours(values, config, rng, n_jobs=effective_n_jobs(n_jobs), listener=listener)
        self.notes_.append(f"Neighbour selection left {int(mask.sum()):,} of {d * (d - 1):,} possible edges open.")
        return mask

    def _prune(self, table: SplineTable, adjacency: np.ndarray, cutoff: float, listener: Listener | None) -> np.ndarray:
        """The significant or required edges between varying columns; keeps and notes the tests."""
        result = prune(table, adjacency, cutoff, required=self._knowledge().required, listener=listener)
        self.p_values_ = self._for_all_columns(result.p_values, np.nan)
        self.degrees_of_freedom_ = self._for_all_columns(result.degrees_of_freedom, np.nan)
        n_dropped, n_edges = int((adjacency & ~result.adjacency).sum()), int(adjacency.sum())
        self.notes_.append(f"Pruning dropped {n_dropped:,} of {n_edges:,} edges (p-value {cutoff:g} or more).")
        return result.adjacency

    def _warn(self, concern: Concern, category: type[Warning] = UserWarning) -> None:
        """Keep a concern that cannot wait for the end of the fit, and warn of it."""
        self.warnings_.append(concern)
        warnings.warn(concern.message, category, stacklevel=4)

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
        model.adjacency_ = arrays["adjacency"]
        for attribute in _EDGE_COLUMNS.values():
            if attribute.removesuffix("_") in arrays:
                setattr(model, attribute, arrays[attribute.removesuffix("_")])
        model.warnings_ = [
            Concern(**{**record, "variables": tuple(record["variables"])}) for record in meta["warnings"]
        ]
        model._restore(arrays, meta["values"])
        return model


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int | float | dict)


def load(path: str | Path) -> StructureLearner:
    """A fitted model from a file that `save` wrote. No code in the file is run."""
    from grandag.methods.registry import METHODS

    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays.pop("meta")))
        if meta["format"] > _FORMAT:
            raise ValueError(f"it was written by grandag {meta['grandag']}: upgrade to read it")
        if meta["format"] < _FORMAT:
            raise ValueError("it has an older format: fit the model again")
    except FileNotFoundError:
        raise
    except (EOFError, KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{str(path)!r} is not a model that this version of grandag saved: {error}") from None
    model: StructureLearner = METHODS[meta["method"]].estimator()._from_file(meta, arrays)
    return model
