"""Interventional rows of a simulated truth.

A *perfect* intervention replaces the mechanism of its target by a noise of its own, of the law that variables without
parents have; an *imperfect* one draws function and noise anew, and the parents stay. All other mechanisms are as they
were. Every variable is a target in turn, in random order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from grandag.interventions import INTERVENTION_KINDS, MIN_REGIME_ROWS, SEPARATOR
from grandag.parameters import ParameterError, as_generator, check_parameters, integer, number, one_of
from grandag.simulate.mechanisms import KINDS, Mechanism, draw_mechanism, find_kind
from grandag.simulate.scenario import Scenario

__all__ = ["Regime", "draw_regimes"]


@dataclass(frozen=True)
class Regime:
    """What was done to the model, and how many rows were made under it."""

    kind: str
    mechanisms: dict[str, Mechanism]  # by target
    n_rows: int

    @property
    def targets(self) -> str:
        """The names of the targets, as the column `intervention` has them."""
        return SEPARATOR.join(self.mechanisms)

    def describe(self) -> dict[str, Any]:
        """All of it as plain values."""
        mechanisms = {name: mechanism.describe() for name, mechanism in self.mechanisms.items()}
        return {"targets": self.targets, "kind": self.kind, "rows": self.n_rows, "mechanisms": mechanisms}


def draw_regimes(
    scenario: Scenario,
    interventions: int | None = None,
    *,
    intervened: float = 0.5,
    n_targets: int = 1,
    intervention_kind: str = "perfect",
    random_state: Any = None,
) -> Scenario:
    """The same truth with as many rows, of which the share `intervened` was made under interventions.

    Args:
        scenario: Data and truth of one of the kinds of `draw_scenario`.
        interventions: Number of interventional regimes; by default as many as there are variables.
        intervened: Share of the rows that are interventional, divided evenly among the regimes; the other rows stay.
        n_targets: Number of variables that each regime intervenes on.
        intervention_kind: "perfect" or "imperfect".
        random_state: Seed of targets, new mechanisms and new rows.

    >>> from grandag import simulate
    >>> scenario = simulate.draw_scenario("lin", simulate.erdos_renyi(4, 4, random_state=1), 200, 1)
    >>> regimes = simulate.draw_regimes(scenario, intervened=0.4, random_state=1)
    >>> regimes.data.shape, [regime.n_rows for regime in regimes.regimes]
    ((200, 4), [20, 20, 20, 20])
    """
    n_nodes, n_rows = len(scenario.names), len(scenario.data)
    n_regimes = n_nodes if interventions is None else interventions
    check_parameters(
        {
            "interventions": n_regimes,
            "intervened": intervened,
            "n_targets": n_targets,
            "intervention_kind": intervention_kind,
        },
        {
            "interventions": integer(1),
            "intervened": number(0, 1, open_minimum=True),
            "n_targets": integer(1),
            "intervention_kind": one_of(*INTERVENTION_KINDS),
        },
    )
    if n_targets > n_nodes:
        raise ParameterError("n_targets", f"must be at most {n_nodes}, the number of variables; got {n_targets}.")
    if scenario.configuration.get("mechanism") not in KINDS:
        raise ParameterError("scenario", f"has no interventions; kinds that have are {', '.join(KINDS)}.")
    counts = _shares(round(intervened * n_rows), n_regimes)
    # Numbers of its own: children of the scenario's seed would repeat its noise, row by row.
    rng = np.random.default_rng(as_generator(random_state).integers(2**32, size=4))
    turns = np.resize(rng.permutation(n_nodes), n_regimes * n_targets).reshape(n_regimes, n_targets)
    n_observational = n_rows - sum(counts)
    parts, targets, regimes = [scenario.data.iloc[:n_observational]], [""] * n_observational, []
    for nodes, count, stream in zip(turns, counts, rng.spawn(n_regimes), strict=True):
        regime = Regime(intervention_kind, _mechanisms(scenario, np.sort(nodes), intervention_kind, stream), count)
        regimes.append(regime)
        parts.append(_changed(scenario, regime).sample(count, stream))
        targets += [regime.targets] * count
    data = pd.concat(parts, ignore_index=True)
    return replace(scenario, data=data, interventions=tuple(targets), regimes=tuple(regimes))


def _shares(n_rows: int, n_regimes: int) -> list[int]:
    """Rows of each regime."""
    counts = [len(part) for part in np.array_split(np.arange(n_rows), n_regimes)]
    if min(counts) < MIN_REGIME_ROWS:
        raise ParameterError(
            "intervened",
            f"leaves a regime {min(counts)} rows, and at least {MIN_REGIME_ROWS} are needed: raise it, or the number "
            "of rows, or take fewer regimes.",
        )
    return counts


def _mechanisms(scenario: Scenario, nodes: np.ndarray, kind: str, rng: np.random.Generator) -> dict[str, Mechanism]:
    """New mechanisms of some nodes; functions are drawn at the observational rows of their parents."""
    law = find_kind(scenario.configuration["mechanism"], scenario.configuration["distributions"])
    values = scenario.data.to_numpy()
    drawn = {}
    for node in nodes:
        parents = scenario.adjacency[:, node] & (kind == "imperfect")
        drawn[scenario.names[node]] = draw_mechanism(law, values[:, parents], rng)[0]
    return drawn


def _changed(scenario: Scenario, regime: Regime) -> Scenario:
    """The model under a regime."""
    adjacency, mechanisms = scenario.adjacency.copy(), list(scenario.mechanisms)
    for name, mechanism in regime.mechanisms.items():
        node = scenario.names.index(name)
        mechanisms[node] = mechanism
        if regime.kind == "perfect":
            adjacency[:, node] = False
    return replace(scenario, adjacency=adjacency, mechanisms=tuple(mechanisms))
