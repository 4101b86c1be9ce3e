"""Tables with columns of several kinds: numbers, heavy tails, counts, and labels of two or more values.

Every variable has one or more predictors, sums over its parents of nonlinear functions,

    eta_k = amplitude / sqrt(p) * sum_i f_ik(x_i) + shift_k,

each f_ik with mean 0 and variance 1 over the rows of the table, so that no parent is without effect. Of a number f_ik
is a Gaussian process with unit bandwidth (random Fourier features) of the standardised number, of a label a drawn value
per label. With `interactions`, one such process of all parents together takes the place of the sum; labels enter it as
points that have the distance 2 from each other.

| kind | given the predictors | amplitude | other constants |
|---|---|---|---|
| continuous | N(eta, s^2) | 1 | s ~ U[0.3, 0.6] |
| heavy-tailed | eta + s t_3 | 1 | s ~ U[0.2, 0.4] |
| binary | P(yes) = 1 / (1 + exp(-eta)) | U[2, 4] | shift ~ U[-0.5, 0.5] |
| categorical | P(k) proportional to exp(eta_k), 3 to 6 labels | U[1.5, 3] | shifts ~ U[-0.5, 0.5] |
| count | negative binomial with mean exp(eta) | U[0.4, 0.8] | shift ~ U[1, 2], size ~ U[2, 10] |

Roots have the same distributions with eta = shift, and s = 1 for numbers. Noise is drawn by quantiles (labels: by
Gumbel's variables), one number per row, so that rows with and without an intervention share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

from grandag.blas import one_blas_thread
from grandag.graph import topological_order
from grandag.parameters import ParameterError, as_generator, check_parameters, integer, number, one_of
from grandag.simulate.gaussian_process import FourierFunction
from grandag.simulate.scenario import Scenario, checked_graph, checked_names

__all__ = ["MixedMechanism", "draw_mixed"]

_LABELS = ("a", "b", "c", "d", "e", "f")
_LABEL_COUNTS = (3, 6)
_AMPLITUDES = {
    "continuous": (1.0, 1.0),
    "heavy-tailed": (1.0, 1.0),
    "binary": (2.0, 4.0),
    "categorical": (1.5, 3.0),
    "count": (0.4, 0.8),
}
_SHIFTS = {
    "continuous": (0.0, 0.0),
    "heavy-tailed": (0.0, 0.0),
    "binary": (-0.5, 0.5),
    "categorical": (-0.5, 0.5),
    "count": (1.0, 2.0),
}
_SPREADS = {"continuous": (0.3, 0.6), "heavy-tailed": (0.2, 0.4), "count": (2.0, 10.0)}
"""Of the noise of numbers; of counts, the size."""
_DEGREES_OF_FREEDOM = 3
_DISTANCE = 2.0
"""Between the points of any two labels, where they enter a Gaussian process."""


@dataclass(frozen=True)
class _Input:
    """How a function sees a parent: a number standardised, a label as one indicator per label."""

    n_labels: int  # 0: a number
    centre: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, values: np.ndarray, n_labels: int) -> _Input:
        if n_labels:
            return cls(n_labels)
        low, centre, high = np.quantile(values, [0.25, 0.5, 0.75])
        return cls(0, float(centre), float((high - low) / 1.349 or values.std() or 1.0))

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """(n, 1) or (n, labels)"""
        if self.n_labels:
            return np.asarray(values[:, None] == np.arange(self.n_labels), dtype=float)
        return ((values - self.centre) / self.scale)[:, None]


@dataclass(frozen=True)
class _LabelEffects:
    """A drawn value per label."""

    values: np.ndarray

    def __call__(self, indicators: np.ndarray) -> np.ndarray:
        return np.asarray(indicators @ self.values)


@dataclass(frozen=True)
class _Effect:
    """(function(some parents) - offset) / scale: mean 0 and variance 1 over the first rows."""

    parents: tuple[int, ...]
    function: FourierFunction | _LabelEffects
    offset: float = 0.0
    scale: float = 1.0

    def __call__(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        seen = np.column_stack([inputs[parent] for parent in self.parents])
        return (self.function(seen) - self.offset) / self.scale


@dataclass(frozen=True)
class MixedMechanism:
    """A variable of any kind given parents of any kind; labels are codes 0, 1, ..."""

    kind: str
    inputs: tuple[_Input, ...]
    effects: tuple[tuple[_Effect, ...], ...]  # of each predictor
    amplitude: float
    shifts: np.ndarray  # (predictors,)
    spread: float  # standard deviation or scale of the noise of a number, size of a count

    def predictors(self, parents: np.ndarray) -> np.ndarray:
        """eta (n, predictors) for given rows of the parents (n, p)."""
        seen = [see(column) for see, column in zip(self.inputs, parents.T, strict=True)]
        eta = np.tile(self.shifts, (len(parents), 1))
        for k, effects in enumerate(self.effects):
            for effect in effects:
                eta[:, k] += self.amplitude / np.sqrt(len(effects)) * effect(seen)
        return eta

    def sample(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The variable for given rows of its parents, with fresh noise."""
        eta = self.predictors(parents)
        if self.kind == "categorical":
            return np.asarray(np.argmax(eta + rng.gumbel(size=eta.shape), axis=1), dtype=float)
        u, eta = rng.random(len(eta)), eta[:, 0]
        if self.kind == "binary":
            return np.asarray(u < expit(eta), dtype=float)
        if self.kind == "count":
            return np.asarray(stats.nbinom.ppf(u, self.spread, self.spread / (self.spread + np.exp(eta))), dtype=float)
        noise = stats.norm if self.kind == "continuous" else stats.t(_DEGREES_OF_FREEDOM)
        return np.asarray(eta + self.spread * noise.ppf(u))

    def describe(self) -> dict[str, Any]:
        """Kind and constants as plain values; the functions' are too many."""
        names = {"count": "size"}.get(self.kind, "scale")
        constants = {} if self.kind in ("binary", "categorical") else {names: self.spread}
        return {
            "kind": self.kind,
            "function": "Gaussian processes and values per label" if self.inputs else None,
            "amplitude": self.amplitude,
            "shifts": self.shifts.tolist(),
            **constants,
        }


def draw_mixed(
    adjacency: np.ndarray,
    n_rows: int = 1000,
    random_state: Any = None,
    *,
    binary: float = 0.2,
    categorical: float = 0.2,
    count: float = 0.2,
    heavy_tailed: float = 0.2,
    interactions: bool = False,
    names: Sequence[str] | None = None,
) -> Scenario:
    """A model with columns of several kinds on a graph, and rows of it: labels are texts.

    `binary`, `categorical`, `count` and `heavy_tailed` are the parts of the nodes of these kinds, rounded to whole
    nodes, which are drawn; the others are continuous.

    >>> from grandag import simulate
    >>> scenario = simulate.draw_mixed(simulate.erdos_renyi(5, 5, random_state=1), 200, random_state=1)
    >>> sorted(scenario.kinds)
    ['binary', 'categorical', 'continuous', 'count', 'heavy-tailed']
    >>> label = next(name for name, kind in zip(scenario.names, scenario.kinds) if kind == "binary")
    >>> scenario.sample(3, random_state=2, do={label: "yes"})[label].tolist()
    ['yes', 'yes', 'yes']
    """
    shares = {"binary": binary, "categorical": categorical, "count": count, "heavy_tailed": heavy_tailed}
    check_parameters(
        {"n_rows": n_rows, "interactions": interactions, **shares},
        {"n_rows": integer(1), "interactions": one_of(True, False), **dict.fromkeys(shares, number(0, 1))},
    )
    if sum(shares.values()) > 1 + 1e-9:
        raise ParameterError("binary", f"and the other parts add up to {sum(shares.values()):g}: 1 is the most.")
    adjacency = checked_graph(adjacency)
    columns = checked_names(names, len(adjacency))
    kinds_stream, *streams = as_generator(random_state).spawn(len(adjacency) + 1)
    kinds = _draw_kinds(len(adjacency), {name.replace("_", "-"): share for name, share in shares.items()}, kinds_stream)
    labels = tuple(_draw_labels(kind, kinds_stream) for kind in kinds)
    values = np.empty((n_rows, len(adjacency)))
    mechanisms: dict[int, MixedMechanism] = {}
    with one_blas_thread():
        for node in topological_order(adjacency):
            parents = np.flatnonzero(adjacency[:, node])
            rows = values[:, parents]
            inputs = tuple(_Input.of(values[:, i], len(labels[i])) for i in parents)
            mechanisms[node] = _draw_mechanism(
                kinds[node], len(labels[node]), inputs, rows, streams[node], interactions=interactions
            )
            values[:, node] = mechanisms[node].sample(rows, streams[node])
    configuration: dict[str, Any] = {
        "mechanism": "mixed",
        **shares,
        "interactions": interactions,
        "rows": n_rows,
        "nodes": len(adjacency),
        "kinds": dict(zip(columns, kinds, strict=True)),
        "labels": {name: list(some) for name, some in zip(columns, labels, strict=True) if some},
    }
    ordered = tuple(mechanisms[node] for node in range(len(adjacency)))
    empty = pd.DataFrame(columns=columns)
    scenario = Scenario(empty, adjacency, ordered, configuration, kinds=kinds, labels=labels)
    return scenario.with_rows(values)


def _draw_kinds(n_nodes: int, shares: dict[str, float], rng: np.random.Generator) -> tuple[str, ...]:
    """As many nodes of each kind as its part says, rounded so that the sum of all is."""
    bounds = np.rint(np.cumsum([0.0, *shares.values()]) * n_nodes).astype(int)
    drawn = [kind for kind, n in zip(shares, np.diff(bounds), strict=True) for _ in range(n)]
    kinds = drawn + ["continuous"] * (n_nodes - len(drawn))
    return tuple(kinds[k] for k in rng.permutation(n_nodes))


def _draw_labels(kind: str, rng: np.random.Generator) -> tuple[str, ...]:
    if kind == "binary":
        return ("no", "yes")
    return _LABELS[: int(rng.integers(*_LABEL_COUNTS, endpoint=True))] if kind == "categorical" else ()


def _draw_mechanism(
    kind: str,
    n_labels: int,
    inputs: tuple[_Input, ...],
    rows: np.ndarray,
    rng: np.random.Generator,
    *,
    interactions: bool,
) -> MixedMechanism:
    n_predictors = n_labels if kind == "categorical" else 1
    seen = [see(column) for see, column in zip(inputs, rows.T, strict=True)]
    everything = tuple(range(len(inputs)))
    groups = ((everything,) if everything else ()) if interactions else tuple((i,) for i in everything)
    effects = tuple(tuple(_draw_effect(group, inputs, seen, rng) for group in groups) for _ in range(n_predictors))
    spread = rng.uniform(*_SPREADS.get(kind, (1.0, 1.0)))
    return MixedMechanism(
        kind,
        inputs,
        effects,
        float(rng.uniform(*_AMPLITUDES[kind])),
        rng.uniform(*_SHIFTS[kind], n_predictors),
        float(spread if inputs or kind == "count" else 1.0),
    )


def _draw_effect(
    group: tuple[int, ...], inputs: tuple[_Input, ...], seen: list[np.ndarray], rng: np.random.Generator
) -> _Effect:
    """A function of some parents, standardised over these rows."""
    function: FourierFunction | _LabelEffects
    if len(group) == 1 and inputs[group[0]].n_labels:
        function = _LabelEffects(rng.normal(size=inputs[group[0]].n_labels))
    else:
        drawn = FourierFunction.draw(sum(seen[i].shape[1] for i in group), rng)
        spans = [np.full(seen[i].shape[1], _DISTANCE / np.sqrt(2) if inputs[i].n_labels else 1.0) for i in group]
        function = replace(drawn, frequencies=drawn.frequencies * np.concatenate(spans)[:, None])
    values = _Effect(group, function)(seen)
    return _Effect(group, function, float(values.mean()), float(values.std()) or 1.0)
