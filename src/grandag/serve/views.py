"""What the page shows of a workspace, as plain values: graphs, curves, comparisons and interventions.

All of it is asked of the library; here it gets the shape of JSON.
"""

from __future__ import annotations

import functools
import math
import threading
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from grandag import datasets
from grandag.drawing import BOX_HEIGHT, picture
from grandag.graph import GraphError, as_graph, read_graph, to_networkx
from grandag.incoming import read_array
from grandag.kinds import LABELLED, ColumnKind, label_of
from grandag.knowledge import Knowledge
from grandag.learned import Learned
from grandag.methods.registry import METHODS, find, options_of
from grandag.methods.storage import load
from grandag.metrics import edge_differences, score
from grandag.model import CausalModel
from grandag.overview import clusters, is_readable, neighbourhood, strongest_part
from grandag.parameters import boolean, word_of
from grandag.report.facts import FitSummary
from grandag.report.partial_effects import has_bars, label_effect, partial_effect
from grandag.serve.workspace import TableRecord, Workspace, WorkspaceError
from grandag.showing import edge_table, explanations
from grandag.table import TableError, suggestion

__all__ = ["changes", "comparison", "curve", "fit_view", "graph_view", "methods", "true_graph"]

_BINS, _DRAWS, _DRAWS_OF_REFITS = 24, 4000, 1000
"""Of a histogram of what an intervention does; rows behind it, and behind each refit of its interval."""

_MOST_EDGES = 2000
"""In the list of edges, the strongest."""


def methods() -> list[dict[str, Any]]:
    """Every method with its presets and options, as the library declares them."""
    with _ONE_AT_A_TIME:
        return _methods()


@functools.cache
def _methods() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "description": entry.description,
            "presets": list(find(name).estimator().presets),
            "options": [_option(name, option) for option in options_of(name) if option != "knowledge"],
        }
        for name, entry in METHODS.items()
    ]


def _option(method: str, name: str) -> dict[str, Any]:
    declared = options_of(method)[name]
    return {
        "name": name,
        "help": declared.description,
        "limits": declared.rule.description,
        "words": list(declared.rule.words),
        "is_boolean": declared.rule is boolean,
        "defaults": {preset: word_of(declared.value_in(preset)) for preset in find(method).estimator().presets},
        "unused_with": declared.unused_with,
    }


_ONE_AT_A_TIME = threading.RLock()
"""For what is kept once it was made: many who ask at once make it once."""


@functools.lru_cache(maxsize=32)
def _loaded(path: Path, _changed: int) -> Any:
    return load(path)


def _model(path: Path) -> Any:
    """A saved model; one that was read before is still there, unless its file is another."""
    with _ONE_AT_A_TIME:
        return _loaded(path, path.stat().st_mtime_ns)


def fit_view(workspace: Workspace, number: int) -> dict[str, Any]:
    """A fit with all but its drawing: facts of the edges as numbers and texts, notes, reasons to doubt it."""
    workspace.finished(number)
    model = _model(workspace.model_file(number))
    facts = FitSummary(model, "").facts
    edges = facts["edges"]
    header, rows = edge_table(edges[:_MOST_EDGES])
    return _plain(
        {
            "id": number,
            "names": facts["nodes"],
            "kind": model.learned_.kind,
            "width_by": model.learned_.width_by,
            "edges": edges[:_MOST_EDGES],
            "texts": rows,
            "header": header,
            "n_edges": len(edges),
            "explanations": explanations(header),
            "notes": facts["notes"],
            "concerns": facts["warnings"],
            "parameters": {name: word_of(value) for name, value in facts["parameters"].items() if name != "knowledge"},
            "has_model": model.learned_.model is not None,
            "observed": _observed(model.learned_.values.get("observed"), facts["nodes"]),
            "labels": {name: list(column.labels) for name, column in _labelled(model.learned_)},
            "clusters": [] if is_readable(model.graph_) else _clusters(model.graph_),
        }
    )


def _observed(observed: np.ndarray | None, names: Iterable[str]) -> dict[str, list[float]]:
    """Minimum, quartiles and maximum of each variable."""
    return {} if observed is None else {name: list(map(float, observed[:, j])) for j, name in enumerate(names)}


def _clusters(graph: nx.DiGraph[str]) -> list[dict[str, Any]]:
    found = clusters(graph)
    return [{"names": list(cluster.nodes[:8]), "n_nodes": len(cluster.nodes)} for cluster in found[:12]]


def graph_view(workspace: Workspace, number: int, around: str | None, depth: int) -> dict[str, Any]:
    """The drawing of a fit's graph, or of what is around a node; a caption says what is left out."""
    workspace.finished(number)
    path = workspace.model_file(number)
    with _ONE_AT_A_TIME:
        return _drawn(path, path.stat().st_mtime_ns, around, depth)


@functools.lru_cache(maxsize=64)
def _drawn(path: Path, changed: int, around: str | None, depth: int) -> dict[str, Any]:
    learned = _loaded(path, changed).learned_
    graph, caption = learned.graph, ""
    if around is not None:
        graph, caption = neighbourhood(graph, around, by=learned.width_by, depth=depth)
    elif not is_readable(graph):
        graph, caption = strongest_part(graph, by=learned.width_by)
    return _shapes(graph, caption, learned.width_by)


def _shapes(graph: nx.DiGraph[str], caption: str, width_by: str) -> dict[str, Any]:
    drawn = picture(graph, width_by=width_by)
    return _plain(
        {
            "caption": caption,
            "frame": drawn.frame,
            "width_by": width_by,
            "doubt": drawn.doubt,
            "nodes": [
                {"name": name, "x": box.x, "y": box.y, "width": box.width, "height": BOX_HEIGHT}
                for name, box in drawn.boxes.items()
            ],
            "edges": [{**edge._asdict(), "path": path, "head": head} for edge, path, head in drawn.lines],
        }
    )


def curve(workspace: Workspace, number: int, source: str, target: str) -> dict[str, Any]:
    """The effect of a cause on its effect by the fitted conditional, with rows of the table beside it.

    Of labels, the mean of the effect or the probabilities of its labels for each of them.
    """
    workspace.finished(number)
    model = _model(workspace.model_file(number)).learned_.model
    if model is None:
        raise WorkspaceError("This graph has no curves: its method fits none.")
    i, j = (_place(model, name) for name in (source, target))
    if not model.adjacency[i, j]:  # of an undirected edge, the direction that the model has
        i, j = j, i
    if not model.adjacency[i, j]:
        raise WorkspaceError(f"There is no edge between {source!r} and {target!r}.")
    rows = read_array(workspace.fit_directory(number) / "rows.npy")
    found = label_effect(model, rows, i, j) if has_bars(model, i, j) else partial_effect(model, rows, i, j)
    values = {name: np.asarray(value).tolist() for name, value in found._asdict().items()}
    return _plain({"source": model.names[i], "target": model.names[j], **values})


def _place(model: CausalModel, name: str) -> int:
    if name not in model.names:
        raise TableError(f"The graph has no node {name!r}{suggestion(name, list(model.names)) or '.'}")
    return model.names.index(name)


def _labelled(learned: Learned | CausalModel) -> list[tuple[str, ColumnKind]]:
    """The variables with labels."""
    columns = zip(learned.names, learned.columns, strict=True)
    return [(name, column) for name, column in columns if column.kind in LABELLED]


def changes(workspace: Workspace, number: int, values: Mapping[str, Any], *, with_interval: bool) -> dict[str, Any]:
    """What setting some variables does to all: means before and after, and both distributions.

    A variable with labels is one variable for each, which is 0 or 1.
    """
    workspace.finished(number)
    model = _model(workspace.model_file(number)).learned_.model
    if model is None:
        raise WorkspaceError("This graph has no model to set variables in: its method fits none.")
    folder = workspace.fit_directory(number) / "resamples"
    files = sorted(folder.glob("*.npz"), key=lambda path: int(path.stem)) if with_interval and folder.exists() else []
    refits = [_model(path).learned_.model for path in files]
    n = _DRAWS_OF_REFITS if len(refits) > 1 else _DRAWS
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = model.changes(values, resamples=refits if len(refits) > 1 else (), n=n)
        before, after = model.sample(_DRAWS, 0), model.intervene(values).sample(_DRAWS, 0)
    said = dict.fromkeys(str(warning.message) for warning in caught)
    variables = []
    indicators = {f"{name}={label}": (name, label) for name, column in _labelled(model) for label in column.labels}
    for entry, row in table.to_dict(orient="index").items():
        name, label = indicators.get(entry, (entry, None))
        pair = {"before": _values(before[name], label), "after": _values(after[name], label)}
        scale = float(pair["before"].std())
        variables.append({"name": entry, "is_set": name in values, "scale": scale, "means": row, **_histograms(pair)})
    return _plain({"variables": variables, "n_refits": len(refits) if len(refits) > 1 else 0, "warnings": list(said)})


def _values(column: pd.Series, label: str | None) -> np.ndarray:
    """Numbers, or whether they are a label."""
    return column.to_numpy() if label is None else np.array([float(label_of(value) == label) for value in column])


def _histograms(samples: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Both distributions with the same bins, in which nearly all of both lie."""
    both = np.concatenate(list(samples.values()))
    low, high = np.quantile(both, [0.005, 0.995])
    if not high > low:
        low, high = low - 0.5, high + 0.5
    counts = {
        name: np.histogram(np.clip(values, low, high), bins=_BINS, range=(low, high))[0].tolist()
        for name, values in samples.items()
    }
    return {"low": float(low), "high": float(high), "counts": counts}


def true_graph(directory: Path, record: TableRecord) -> tuple[np.ndarray, tuple[str, ...]]:
    """The true graph of a table: that of a bundled one, or the file that came with it."""
    if record.origin == "bundled":
        dataset = datasets.load(record.name)
        return dataset.adjacency, dataset.names
    path = directory / "truth.json"
    if not path.exists():
        raise WorkspaceError("The true graph of this table is not known: give it first.")
    adjacency, names = read_graph(path)
    return adjacency, names or ()


def comparison(workspace: Workspace, left: int, right: str) -> dict[str, Any]:
    """Two fits, or a fit and the true graph ("truth"): the edges of either, and how far they are apart.

    Nodes that only one of the two has are left out, and named.
    """
    record = workspace.finished(left)
    ours = _graph_of(workspace, left)
    if right == "truth":
        table = workspace.table(record.table)
        adjacency, names = true_graph(workspace.table_directory(table.id), table)
        theirs = to_networkx(np.asarray(adjacency), names)
    else:
        theirs = _graph_of(workspace, int(right))
    shared = [name for name in ours if name in theirs]
    if len(shared) < 2:
        raise GraphError("The two graphs have fewer than two nodes in common.")
    pair = [as_graph(graph.subgraph(shared)) for graph in (ours, theirs)]
    facts = score(pair[1], pair[0])
    edges = edge_differences(pair[1], pair[0]).to_dict(orient="records")
    both = nx.DiGraph(theirs.subgraph(shared))
    both.add_edges_from(ours.subgraph(shared).edges(data=True))
    shapes = _shapes(both, "", "strength") if is_readable(both) else None
    only = {
        "left": [name for name in ours if name not in theirs],
        "right": [name for name in theirs if name not in ours],
    }
    return _plain({"edges": edges, "score": facts, "only": only, "drawing": shapes})


def _graph_of(workspace: Workspace, number: int) -> nx.DiGraph[str]:
    workspace.finished(number)
    graph: nx.DiGraph[str] = _model(workspace.model_file(number)).graph_
    return graph


def state(workspace: Workspace, running: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that is listed: tables, fits and knowledge."""
    tables = [
        {
            **asdict(record),
            "has_truth": workspace.has_truth(record.id),
            "knowledge": workspace.knowledge(record.id).as_dict(),
            "can_undo": workspace.can_undo(record.id),
        }
        for record in workspace.tables.values()
    ]
    return _plain(
        {"tables": tables, "fits": [asdict(fit) for fit in workspace.fits.values()], "running": dict(running)}
    )


def knowledge_file(workspace: Workspace, number: int) -> str:
    """What is known of a table as the file that `--knowledge` reads."""
    return Knowledge.to_toml(workspace.knowledge(number)) or "# Nothing is known yet.\n"


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _json(value) for name, value in values.items()}


def _json(value: Any) -> Any:
    """Plain values that JSON can hold: no NaN, no infinity, no numpy."""
    if isinstance(value, Mapping):
        return _plain(value)
    if isinstance(value, list | tuple):
        return [_json(some) for some in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
