"""The table of methods: one entry per name of the command line."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """Where an estimator lives, and what this name sets in it."""

    location: str
    description: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def estimator(self) -> Any:
        """The estimator class (imported on demand)."""
        module, _, name = self.location.partition(":")
        return getattr(importlib.import_module(module), name)


METHODS = {
    "grandag": Method("grandag.methods.grandag.estimator:GraNDAG", "GraN-DAG: additive Gaussian noise"),
    "grandag++": Method(
        "grandag.methods.grandag.estimator:GraNDAG",
        "GraN-DAG++: mean and variance depend on the parents",
        {"density": "gaussian"},
    ),
    "cam": Method("grandag.methods.cam:CAM", "CAM: greedy search over additive models"),
    "notears": Method("grandag.methods.notears:NOTEARS", "NOTEARS: linear, by continuous optimisation"),
    "dag-gnn": Method("grandag.methods.dag_gnn:DAGGNN", "DAG-GNN: variational autoencoder"),
    "ges": Method("grandag.methods.ges:GES", "GES: greedy search over equivalence classes, linear"),
    "gsf": Method("grandag.methods.gsf:GSF", "GSF: the same search with kernel regressions, nonlinear"),
    "pc": Method("grandag.methods.pc:PC", "PC: independence tests, linear"),
    "random": Method("grandag.methods.random_graph:RandomGraph", "RANDOM: a random graph, whatever the data"),
}
