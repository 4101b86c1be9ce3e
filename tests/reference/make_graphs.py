"""Write `graphs.json`: the graph of every method on a few tables, for given seeds and parameters.

    python tests/reference/make_graphs.py

The file in the repository was made by the library as it was before its redesign (commit 8eb2c5e), so that the test
that reads it shows that the redesign changed no graph. The default of GraN-DAG was then what is its preset "fast" now.
The graph with a required edge is of later: such edges count as 1 in the acyclicity constraint since then.
Make the file anew only when a method is meant to give other graphs.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import grandag

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("sachs", "GraNDAG", {"preset": "fast", "random_state": 1}),
    ("sachs", "GraNDAG", {"preset": "paper", "random_state": 2, "max_iterations": 8000}),
    ("additive", "GraNDAG", {"preset": "fast", "random_state": 3}),
    ("additive", "GraNDAG", {"preset": "fast", "random_state": 4, "density": "gaussian", "n_layers": 1}),
    (
        "additive",
        "GraNDAG",
        {"preset": "fast", "random_state": 5, "neighbour_selection": True, "activation": "squareplus"},
    ),
    (
        "linear",
        "GraNDAG",
        {"preset": "fast", "random_state": 6, "prune": False, "standardise": False, "weight_threshold": 0.01},
    ),
    (
        "additive",
        "GraNDAG",
        {"preset": "fast", "random_state": 7, "knowledge": {"forbidden": [["x0", "x1"]], "required": [["x5", "x2"]]}},
    ),
    ("sachs", "CAM", {}),
    ("additive", "CAM", {"preselection": True, "prune_cutoff": 0.01}),
    ("additive", "CAM", {"max_parents": 2, "prune": False}),
    ("linear", "NOTEARS", {}),
    ("sachs", "NOTEARS", {"standardise": True, "weight_threshold": 0.2}),
    ("sachs", "NOTEARS", {"preset": "paper"}),
    ("additive", "NOTEARS", {"neighbour_selection": True, "prune": True, "weight_threshold": 0.05, "random_state": 1}),
    ("linear", "DAGGNN", {"random_state": 1, "n_epochs": 40}),
    ("additive", "DAGGNN", {"random_state": 2, "n_epochs": 20, "prune": True, "weight_threshold": 0.1}),
    ("sachs", "GES", {}),
    ("sachs", "GES", {"preset": "paper"}),
    ("additive", "GES", {"turning": False, "max_parents": 2}),
    ("sachs", "PC", {}),
    ("linear", "PC", {"alpha": 0.05, "max_conditions": 2}),
    ("additive", "GSF", {"max_parents": 3}),
    ("additive", "GSF", {"likelihood": "marginal", "regulariser": 0.1}),
    ("sachs", "RandomGraph", {"random_state": 4}),
    ("linear", "RandomGraph", {"random_state": 5, "n_edges": 9}),
]
"""Table, estimator, parameters."""


def tables() -> dict[str, pd.DataFrame]:
    """The tables of the cases; one column of two of them is constant."""
    rng = np.random.default_rng(20261117)
    names = [f"x{k}" for k in range(8)]
    linear, additive = rng.normal(size=(400, 8)), rng.normal(size=(400, 8))
    for j in range(1, 8):
        for i in rng.permutation(j)[:2]:
            linear[:, j] += rng.uniform(0.6, 1.4) * linear[:, i]
            additive[:, j] = 0.4 * additive[:, j] + np.sin(rng.uniform(1, 2) * additive[:, i] + rng.uniform(0, 3))
    order = rng.permutation(8)
    shuffled = [pd.DataFrame(values[:, order], columns=names) for values in (linear, additive)]
    return {
        "sachs": grandag.datasets.load_sachs().data,
        "linear": shuffled[0].assign(constant=3.0),
        "additive": shuffled[1].assign(constant=-1.0),
    }


def outcome(frame: pd.DataFrame, estimator: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Edges as pairs of names, the score of the training rows, and the sum of all strengths."""
    parameters = dict(parameters)
    model = getattr(grandag, estimator).preset(parameters.pop("preset", "default"), **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame)
    edges = [f"{model.names_[i]}>{model.names_[j]}" for i, j in np.argwhere(model.adjacency_)]
    return {"edges": " ".join(edges), "score": model.score(frame), "strength": float(model.strength_.sum())}


def main() -> None:
    """Write the file beside this script."""
    frames = tables()
    records = [
        {
            "table": table,
            "estimator": estimator,
            "parameters": parameters,
            **outcome(frames[table], estimator, parameters),
        }
        for table, estimator, parameters in CASES
    ]
    lines = ",\n".join(json.dumps(record) for record in records)
    Path(__file__).with_name("graphs.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
