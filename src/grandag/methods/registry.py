"""The table of methods: one entry per name of the command line."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grandag.methods.base import StructureLearner

__all__ = ["METHODS", "Method", "build"]


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
    "cam": Method("grandag.methods.cam.cam:CAM", "CAM: greedy search over additive models"),
    "notears": Method("grandag.methods.notears.notears:NOTEARS", "NOTEARS: linear, by continuous optimisation"),
    "dag-gnn": Method("grandag.methods.dag_gnn.dag_gnn:DAGGNN", "DAG-GNN: variational autoencoder"),
    "ges": Method("grandag.methods.equivalence.ges:GES", "GES: greedy search over equivalence classes, linear"),
    "gsf": Method("grandag.methods.equivalence.gsf:GSF", "GSF: the same search with kernel regressions, nonlinear"),
    "pc": Method("grandag.methods.equivalence.pc:PC", "PC: independence tests, linear"),
    "random": Method(
        "grandag.methods.random_graph.random_graph:RandomGraph", "RANDOM: a random graph, whatever the data"
    ),
}


def build(
    method: str, parameters: Mapping[str, Any], *, preset: str = "default", seed: int | None = None
) -> StructureLearner:
    """An estimator by the name of its method: a preset, changed by parameters; a method without chance has no seed."""
    from grandag.parameters import ParameterError

    if method not in METHODS:
        raise ParameterError("method", f"must be one of {', '.join(METHODS)}; got {method!r}.")
    entry = METHODS[method]
    estimator = entry.estimator()
    known = estimator().get_params()
    for name in parameters:
        if name not in known:
            raise ParameterError(name, f"has no meaning for the method {method!r}.")
    chance = {"random_state": seed} if "random_state" in known else {}
    model: StructureLearner = estimator.preset(preset, **{**entry.parameters, **chance, **parameters})
    return model
