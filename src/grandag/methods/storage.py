"""One file per fitted model: arrays and JSON in a zip archive (numpy's npz). Nothing is pickled, no code is run.

Arrays have the names of the parts of `Learned` that they belong to: "adjacency", "edge_facts.p_value",
"conditionals.3.layers.0". Conditionals are dataclasses of numbers, arrays, other dataclasses and tuples of these; their
types say how to put them together again.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grandag.diagnostics import Concern
from grandag.graph import is_acyclic
from grandag.incoming import read_arrays
from grandag.kinds import KINDS, LABELLED, ColumnKind
from grandag.knowledge import Knowledge
from grandag.learned import Convergence, GraphKind, Learned
from grandag.methods.registry import find
from grandag.model import Conditional, Fixed
from grandag.parameters import check_parameters, parameters_of
from grandag.version import __version__
from grandag.writing import replacing

__all__ = ["load", "save"]

_FORMAT = 4

_MATRICES = ("edge_facts", "matrices")


def save(
    path: str | Path, learned: Learned, method: str, parameters: Mapping[str, Any], *, has_own_names: bool
) -> None:
    """Write what was learned, with the method and its parameters; those that are no plain values are left out."""
    values = {name: value for name, value in learned.values.items() if not _is_large(value)}
    meta = {
        "format": _FORMAT,
        "grandag": __version__,
        "method": method,
        "parameters": {name: value for name, value in parameters.items() if _is_plain(value)},
        "names": list(learned.names),
        "has_own_names": has_own_names,
        "kind": learned.kind,
        "columns": [asdict(column) for column in learned.columns],
        "values": values,
        "convergence": None if learned.convergence is None else asdict(learned.convergence),
        "has_conditionals": learned.conditionals is not None,
        "notes": list(learned.notes),
        "concerns": [asdict(concern) for concern in learned.concerns],
    }
    with replacing(path) as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **_arrays(learned))  # type: ignore[arg-type]


def _arrays(learned: Learned) -> dict[str, np.ndarray]:
    arrays = {"adjacency": learned.adjacency, "strength": learned.strength}
    for part in _MATRICES:
        arrays |= {f"{part}.{name}": matrix for name, matrix in getattr(learned, part).items()}
    for name, value in learned.values.items():
        if isinstance(value, pd.DataFrame):
            arrays |= _columns(f"values.{name}", value)
        elif isinstance(value, np.ndarray):
            arrays[f"values.{name}"] = value
    if learned.trace is not None:
        arrays |= _columns("trace", learned.trace)
    for node, conditional in enumerate(learned.conditionals or ()):
        arrays |= _flat(f"conditionals.{node}", conditional)
    return arrays


def _columns(name: str, frame: pd.DataFrame) -> dict[str, np.ndarray]:
    """The columns of a data frame in their order; text as fixed-width text, since objects would be pickled."""
    columns = {}
    for position, column in enumerate(frame.columns):
        values = frame[column].to_numpy()
        columns[f"{name}.{position}.{column}"] = values.astype(str) if values.dtype.kind in "OTU" else values
    return columns


def _flat(name: str, value: Any) -> dict[str, np.ndarray]:
    """A dataclass as arrays by the names of its fields; None is left out."""
    if value is None:
        return {}
    if isinstance(value, np.ndarray | float | int):
        return {name: np.asarray(value)}
    if isinstance(value, tuple):
        parts = [_flat(f"{name}.{position}", part) for position, part in enumerate(value)]
    else:
        parts = [_flat(f"{name}.{field.name}", getattr(value, field.name)) for field in dataclasses.fields(value)]
    return {key: array for part in parts for key, array in part.items()}


Tree = dict[str, Any]
"""Arrays by name, nested at the dots of their names."""


def _tree(arrays: Mapping[str, np.ndarray]) -> Tree:
    root: Tree = {}
    for name, array in arrays.items():
        *path, last = name.split(".")
        node = root
        for part in path:
            node = node.setdefault(part, {})
        node[last] = array
    return root


def _built(node: Any, kind: Any) -> Any:
    """What `_flat` took apart, by its type; `node` is None where nothing was written."""
    if isinstance(kind, types.UnionType):
        return None if node is None else _built(node, _member(kind, node))
    if kind is np.ndarray:
        return _finite(node)
    if kind in (float, int):
        return kind(_finite(node)[()])
    if typing.get_origin(kind) is tuple:
        part = typing.get_args(kind)[0]
        return tuple(_built(node[str(position)], part) for position in range(len(node or ())))
    _require(isinstance(node, dict) and set(node) <= _fields(kind), "it has arrays that belong nowhere")
    hints = typing.get_type_hints(kind)
    return kind(**{name: _built(node.get(name), hints[name]) for name in _fields(kind)})


def _member(union: types.UnionType, node: Any) -> Any:
    """The member of a union that has all fields of the node; of something and None, the something."""
    kinds = [kind for kind in union.__args__ if kind is not types.NoneType]
    fitting = (kind for kind in kinds if isinstance(node, dict) and set(node) <= _fields(kind))
    return next(fitting, kinds[0])


def _fields(kind: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


def _finite(array: Any) -> np.ndarray:
    """An array of finite numbers, or of truth values."""
    is_good = isinstance(array, np.ndarray) and array.dtype.kind in "bif" and bool(np.isfinite(array).all())
    _require(is_good, "it has numbers that are missing or not finite")
    return np.asarray(array)


def _require(is_good: bool, complaint: str) -> None:
    if not is_good:
        raise ValueError(complaint)


def _frame(node: Tree) -> pd.DataFrame:
    """What `_columns` wrote."""
    return pd.DataFrame({name: node[str(k)][name] for k in range(len(node)) for name in node[str(k)]})


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int | float | dict)


def _is_large(value: Any) -> bool:
    return isinstance(value, np.ndarray | pd.DataFrame)


def load(path: str | Path) -> Any:
    """A fitted model from a file that `save` wrote.

    No code in the file is run, and nothing in it is used before names, types, shapes and sizes of all arrays have been
    found to fit together; otherwise a ValueError says what is wrong.
    """
    if Path(path).is_file() and not zipfile.is_zipfile(path):
        raise ValueError(
            f"{str(path)!r} is not a model that grandag saved, which is one file that `save` wrote; tables are read by "
            "`grandag.read_table`, graphs by `grandag.graph.read_graph`."
        )
    try:
        Path(path).stat()
    except OSError as error:
        raise type(error)(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    try:
        arrays = read_arrays(Path(path))
        meta = json.loads(str(arrays.pop("meta")))
        _check_format(meta)
        estimator = find(meta["method"]).estimator()
        _check_parameters(meta["parameters"], estimator)
        learned = _learned(meta, _tree(arrays), estimator.conditional)
        _check(learned, estimator)
        return estimator.restored(learned, meta["parameters"], has_own_names=meta["has_own_names"])
    except Exception as error:  # whatever a stranger's file brings up
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise ValueError(f"{str(path)!r} is not a model that this version of grandag saved: {reason}") from None


def _check_format(meta: Any) -> None:
    _require(isinstance(meta, dict) and isinstance(meta.get("format"), int), "it has no format")
    _require(meta["format"] <= _FORMAT, f"it was written by grandag {meta.get('grandag')}: upgrade to read it")
    _require(meta["format"] == _FORMAT, "it has an older format: fit the model again")
    kinds = {
        "method": str, "parameters": dict, "names": list, "has_own_names": bool, "kind": str, "values": dict,
        "has_conditionals": bool, "notes": list, "concerns": list, "columns": list,
    }  # fmt: skip
    for name, kind in kinds.items():
        _require(isinstance(meta.get(name), kind), f"its {name} are missing or of another type")
    _require(all(isinstance(text, str) for text in (*meta["names"], *meta["notes"])), "a name or note in it is no text")
    _require(0 < len(set(meta["names"])) == len(meta["names"]), "its names are not unique")
    _require(meta["kind"] in typing.get_args(GraphKind), "its kind of graph is unknown")
    json.dumps(meta, ensure_ascii=False).encode("utf-8")  # raises for text that cannot be written anywhere


def _check_parameters(given: Mapping[str, Any], estimator: Any) -> None:
    declared = parameters_of(estimator)
    _require(set(given) <= set(declared), "it has parameters that its method has not")
    values = {name: given.get(name, parameter.default) for name, parameter in declared.items()}
    check_parameters(values, {name: parameter.rule for name, parameter in declared.items()})
    if isinstance(given.get("knowledge"), Mapping):
        Knowledge.of(given["knowledge"])


def _learned(meta: Mapping[str, Any], tree: Tree, conditional: Any) -> Learned:
    known = ("adjacency", "strength", *_MATRICES, "values", "trace", "conditionals")
    _require(set(tree) <= set(known), "it has arrays that belong nowhere")
    large = {name: _frame(node) if isinstance(node, dict) else node for name, node in tree.get("values", {}).items()}
    convergence = meta.get("convergence")
    return Learned(
        names=tuple(meta["names"]),
        adjacency=tree["adjacency"],
        strength=_finite(tree["strength"]),
        kind=meta["kind"],
        edge_facts=dict(tree.get("edge_facts", {})),
        matrices={name: _finite(matrix) for name, matrix in tree.get("matrices", {}).items()},
        values={**meta["values"], **large},
        conditionals=_conditionals(tree["conditionals"], conditional) if meta["has_conditionals"] else None,
        convergence=None if convergence is None else _record(Convergence, convergence),
        trace=_frame(tree["trace"]) if "trace" in tree else None,
        notes=tuple(meta["notes"]),
        columns=tuple(_record(ColumnKind, {**record, "labels": tuple(record["labels"])}) for record in meta["columns"]),
        concerns=tuple(
            _record(Concern, {**record, "variables": tuple(record["variables"])}) for record in meta["concerns"]
        ),
    )


def _record(kind: Any, values: Mapping[str, Any]) -> Any:
    """A dataclass of plain values, each of the type that it has there."""
    record = kind(**values)
    for name, hint in typing.get_type_hints(kind).items():
        expected = typing.get_origin(hint) or hint
        value = getattr(record, name)
        is_right = isinstance(value, (int, float) if expected is float else expected)
        _require(is_right and isinstance(value, bool) == (expected is bool), f"its {kind.__name__} is of another type")
    return record


def _conditionals(tree: Tree, conditional: Any) -> tuple[Conditional, ...]:
    """One conditional per variable; constant columns have their value only."""
    return tuple(_built(tree[str(node)], Fixed | conditional) for node in range(len(tree)))


def _is_kind(column: ColumnKind) -> bool:
    """A known kind, with different texts as labels if it is one of labels."""
    are_texts = all(isinstance(label, str) for label in column.labels)
    has_labels = 0 < len(set(column.labels)) == len(column.labels) if column.kind in LABELLED else not column.labels
    return column.kind in KINDS and are_texts and has_labels


def _check(learned: Learned, estimator: Any) -> None:
    """Do all arrays have the shapes that names and graph imply, and the values that the method needs?"""
    d = len(learned.names)
    _require(
        learned.adjacency.dtype == bool and learned.adjacency.shape == (d, d), "its graph is no matrix of its names"
    )
    _require(len(learned.columns) == d and all(map(_is_kind, learned.columns)), "its kinds of columns are not right")
    _require(not learned.adjacency.diagonal().any(), "its graph has a loop")
    _require(is_acyclic(learned.dag), "its graph has a cycle")
    _require(learned.strength.shape == (d, d), "its strengths are no matrix of its names")
    for name, matrix in learned.edge_facts.items():
        is_good = isinstance(matrix, np.ndarray) and matrix.shape == (d, d) and matrix.dtype.kind in "bif"
        _require(is_good and not np.isinf(matrix).any(), f"its {name[:50]!r} is no matrix of its names")
    for name, matrix in learned.matrices.items():
        _require(matrix.ndim >= 2 and matrix.shape[-2:] == (d, d), f"its {name[:50]!r} is no matrix of its names")
    trace = () if learned.trace is None else learned.trace.dtypes
    _require(all(dtype.kind in "bif" for dtype in trace), "its trace does not hold numbers")
    for name, value in learned.values.items():
        is_plain = value is None or isinstance(value, str | bool | int | pd.DataFrame)
        _require(is_plain or bool(np.isfinite(value).all()), f"its {name[:50]!r} is not finite")
    if learned.conditionals is not None:
        _require(len(learned.conditionals) == d, "it has not one conditional per variable")
        for conditional, parents in zip(learned.conditionals, learned.dag.T, strict=True):
            _require(conditional.is_consistent(int(parents.sum())), "a conditional in it does not fit its parents")
    _require(estimator.is_consistent(learned), "it has not the values of its method")
