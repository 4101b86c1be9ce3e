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
from grandag.learned import Convergence, Learned
from grandag.methods.registry import find
from grandag.model import Conditional, Fixed
from grandag.version import __version__

__all__ = ["load", "save"]

_FORMAT = 3

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
        "values": values,
        "convergence": None if learned.convergence is None else asdict(learned.convergence),
        "has_conditionals": learned.conditionals is not None,
        "notes": list(learned.notes),
        "concerns": [asdict(concern) for concern in learned.concerns],
    }
    with Path(path).open("wb") as file:
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
    if isinstance(kind, types.UnionType):  # of something and None
        return None if node is None else _built(node, kind.__args__[0])
    if kind is np.ndarray:
        return node
    if kind in (float, int):
        return kind(node)
    if typing.get_origin(kind) is tuple:
        part = typing.get_args(kind)[0]
        return tuple(_built(node[str(position)], part) for position in range(len(node or ())))
    hints = typing.get_type_hints(kind)
    return kind(**{field.name: _built(node.get(field.name), hints[field.name]) for field in dataclasses.fields(kind)})


def _frame(node: Tree) -> pd.DataFrame:
    """What `_columns` wrote."""
    return pd.DataFrame({name: node[str(k)][name] for k in range(len(node)) for name in node[str(k)]})


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int | float | dict)


def _is_large(value: Any) -> bool:
    return isinstance(value, np.ndarray | pd.DataFrame)


def load(path: str | Path) -> Any:
    """A fitted model from a file that `save` wrote. No code in the file is run."""
    if Path(path).exists() and not zipfile.is_zipfile(path):
        raise ValueError(
            f"{str(path)!r} is not a model that grandag saved, which is one file that `save` wrote; tables are read by "
            "`grandag.read_table`, graphs by `grandag.graph.read_graph`."
        )
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays.pop("meta")))
        if meta["format"] > _FORMAT:
            raise ValueError(f"it was written by grandag {meta['grandag']}: upgrade to read it")
        if meta["format"] < _FORMAT:
            raise ValueError("it has an older format: fit the model again")
        estimator = find(meta["method"]).estimator()
        learned = _learned(meta, _tree(arrays), estimator.conditional)
        return estimator.restored(learned, meta["parameters"], has_own_names=meta["has_own_names"])
    except FileNotFoundError:
        raise
    except (EOFError, KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{str(path)!r} is not a model that this version of grandag saved: {error}") from None


def _learned(meta: Mapping[str, Any], tree: Tree, conditional: type[Conditional]) -> Learned:
    convergence = meta["convergence"]
    large = {name: _frame(node) if isinstance(node, dict) else node for name, node in tree.get("values", {}).items()}
    return Learned(
        names=tuple(meta["names"]),
        adjacency=tree["adjacency"],
        strength=tree["strength"],
        kind=meta["kind"],
        edge_facts=tree.get("edge_facts", {}),
        matrices=tree.get("matrices", {}),
        values={**meta["values"], **large},
        conditionals=_conditionals(tree["conditionals"], conditional) if meta["has_conditionals"] else None,
        convergence=None if convergence is None else Convergence(**convergence),
        trace=_frame(tree["trace"]) if "trace" in tree else None,
        notes=tuple(meta["notes"]),
        concerns=tuple(Concern(**{**record, "variables": tuple(record["variables"])}) for record in meta["concerns"]),
    )


def _conditionals(tree: Tree, conditional: type[Conditional]) -> tuple[Conditional, ...]:
    """One conditional per variable; constant columns have their value only."""
    nodes = [tree[str(node)] for node in range(len(tree))]
    return tuple(_built(node, Fixed if "value" in node else conditional) for node in nodes)
