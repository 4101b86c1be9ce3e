"""The table of methods: one entry per name of the command line. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grandag.parameters import Parameter

__all__ = [
    "METHODS",
    "Method",
    "build",
    "find",
    "methods_that_take",
    "methods_that_take_interventions",
    "name_of",
    "options_of",
]


@dataclass(frozen=True)
class Method:
    """Where an estimator lives, and what this name sets in it."""

    location: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def estimator(self) -> Any:
        """The estimator class (imported on demand)."""
        module, _, name = self.location.partition(":")
        return getattr(importlib.import_module(module), name)


METHODS = {
    "grandag": Method("grandag.methods.grandag.grandag:GraNDAG", "GraN-DAG: additive Gaussian noise"),
    "grandag++": Method(
        "grandag.methods.grandag.grandag:GraNDAG",
        "GraN-DAG++: mean and variance depend on the parents",
        {"density": "gaussian"},
    ),
    "grandag-shared": Method(
        "grandag.methods.grandag.grandag:GraNDAG",
        "GraN-DAG with one network for all variables",
        {"networks": "shared"},
    ),
    "cam": Method("grandag.methods.cam.cam:CAM", "CAM: greedy search over additive models"),
    "notears": Method("grandag.methods.notears.notears:NOTEARS", "NOTEARS: linear, by continuous optimisation"),
    "lingam": Method("grandag.methods.lingam.lingam:LiNGAM", "DirectLiNGAM: linear, noise that is not Gaussian"),
    "ica-lingam": Method(
        "grandag.methods.lingam.lingam:LiNGAM",
        "ICA-LiNGAM: the same, from independent components",
        {"algorithm": "ica"},
    ),
    "resit": Method("grandag.methods.resit.resit:RESIT", "RESIT: additive noise, by independent residuals"),
    "resit-gp": Method(
        "grandag.methods.resit.resit:RESIT",
        "RESIT: the same, with Gaussian processes",
        {"regression": "gaussian-process"},
    ),
    "equal-variance": Method(
        "grandag.methods.equal_variance.equal_variance:EqualVariance",
        "Equal variances: linear, greedy search over DAGs",
    ),
    "top-down": Method(
        "grandag.methods.equal_variance.equal_variance:EqualVariance",
        "Equal variances: the same, by an order of conditional variances",
        {"algorithm": "top-down"},
    ),
    "dag-gnn": Method("grandag.methods.dag_gnn.dag_gnn:DAGGNN", "DAG-GNN: variational autoencoder"),
    "ges": Method(
        "grandag.methods.equivalence.ges:GES",
        "GES: greedy search over equivalence classes, linear; GIES if given interventions",
    ),
    "fges": Method(
        "grandag.methods.equivalence.ges:GES",
        "FGES: GES with a limit on edges per variable, for thousands of variables",
        {"max_degree": 100},
    ),
    "gsf": Method("grandag.methods.equivalence.gsf:GSF", "GSF: the same search with kernel regressions, nonlinear"),
    "exact": Method("grandag.methods.exact.exact:ExactSearch", "Exact search: the best score of all, few variables"),
    "pc": Method("grandag.methods.equivalence.pc:PC", "PC: independence tests, linear"),
    "random": Method("grandag.methods.random_graph.random_graph:RandomGraph", "RANDOM: a random graph"),
}


def find(method: str) -> Method:
    """The entry of a name, or an error that says which there are."""
    from grandag.parameters import ParameterError
    from grandag.table import suggestion

    if method not in METHODS:
        raise ParameterError(
            "method", f"must be one of {', '.join(METHODS)}; got {method!r}{suggestion(method, list(METHODS))}"
        )
    return METHODS[method]


def methods_that_take(kind: str) -> list[str]:
    """The names of the methods that make use of a kind of columns."""
    return [name for name, entry in METHODS.items() if kind in entry.estimator().takes]


def methods_that_take_interventions(kind: str) -> list[str]:
    """The names of the methods that make use of interventions of a kind."""
    return [name for name, entry in METHODS.items() if kind in entry.estimator().takes_interventions]


_ELSEWHERE = ("n_jobs", "random_state", "verbose")
"""Parameters that commands have options of their own for, which mean more than the parameter."""


def options_of(method: str) -> dict[str, Parameter]:
    """What a person may choose of a method: its parameters, but for those that its name sets, seed and threads."""
    from grandag.parameters import parameters_of

    entry = find(method)
    declared = parameters_of(entry.estimator())
    return {name: some for name, some in declared.items() if name not in (*_ELSEWHERE, *entry.parameters)}


def build(method: str, parameters: Mapping[str, Any], *, preset: str = "default", seed: int | None = None) -> Any:
    """An estimator by the name of its method: a preset, changed by parameters; a deterministic method takes no seed."""
    from grandag.parameters import ParameterError, parameters_of

    entry = find(method)
    estimator = entry.estimator()
    known = parameters_of(estimator)
    for name in parameters:
        if name not in known:
            raise ParameterError(name, f"has no meaning for the method {method!r}.")
    chance = {"random_state": seed} if "random_state" in known else {}
    return estimator.preset(preset, **{**entry.parameters, **chance, **parameters})


def name_of(estimator: Any) -> str:
    """The name of an estimator's method: the entry of its class that sets most of its parameters as they are."""
    locations = [f"{base.__module__}:{base.__name__}" for base in type(estimator).__mro__]
    fitting = [
        name
        for name, entry in METHODS.items()
        if entry.location in locations
        and all(getattr(estimator, key) == value for key, value in entry.parameters.items())
    ]
    if not fitting:
        raise LookupError(f"{type(estimator).__name__} is not in the registry of methods (grandag.methods.registry).")
    return max(fitting, key=lambda name: len(METHODS[name].parameters))
