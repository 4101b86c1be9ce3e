"""Simulations by name, and what they leave on disk: data, truth in two formats, configuration."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from grandag.graph import write_graph
from grandag.parameters import ParameterError, check_parameters, integer
from grandag.simulate.graphs import draw_graph
from grandag.simulate.mixed import draw_mixed
from grandag.simulate.regimes import draw_regimes
from grandag.simulate.scenario import Scenario, draw_scenario
from grandag.simulate.sortability import r2_sortability, varsortability
from grandag.simulate.syntren import draw_syntren
from grandag.version import __version__
from grandag.wording import counted
from grandag.writing import replacing_directory, write_text

__all__ = ["COLUMN", "Interventions", "facts", "headline", "simulate", "write_scenario"]


COLUMN = "intervention"
"""The column of a file that has the targets of each row."""


class Interventions(NamedTuple):
    """Arguments of `draw_regimes`, as the command line has them."""

    interventions: int | None = None
    intervened: float = 0.5
    n_targets: int = 1
    intervention_kind: str = "perfect"


def simulate(
    mechanism: str,
    *,
    graph: str | None = None,
    n_nodes: int | None = None,
    n_edges: float | None = None,
    n_rows: int | None = None,
    distributions: str | None = None,
    interventions: Interventions | None = None,
    seed: int = 0,
    **mixture: Any,
) -> Scenario:
    """A scenario by the name of its mechanism, as the command line has it; None stands for the paper's choice.

    `mixture` are parameters of `draw_mixed`, for "mixed" alone.
    """
    check_parameters({"random_state": seed}, {"random_state": integer(0)})
    mixture = {name: value for name, value in mixture.items() if value is not None}
    if mixture and mechanism != "mixed":
        raise ParameterError(next(iter(mixture)), f"has a meaning for mixed only, not for {mechanism}: leave it out.")
    if mechanism == "mixed" and distributions is not None:
        raise ParameterError("distributions", "has no meaning for mixed, which the paper does not have: leave it out.")
    if mechanism == "mixed" and interventions is not None:
        raise ParameterError(
            "interventions", "has no meaning for mixed, whose mechanisms are not drawn anew: leave it out."
        )
    if mechanism == "syntren":
        own = {"graph": graph, "n_edges": n_edges, "distributions": distributions, "interventions": interventions}
        for name, value in own.items():
            if value is not None:
                raise ParameterError(
                    name, "has no meaning for syntren, which has its own graph and noise: leave it out."
                )
        return draw_syntren(20 if n_nodes is None else n_nodes, 500 if n_rows is None else n_rows, seed)
    nodes = 10 if n_nodes is None else n_nodes
    graph_stream, data_stream, regime_stream = np.random.default_rng(seed).spawn(3)
    adjacency = draw_graph(graph or "er", nodes, nodes if n_edges is None else n_edges, graph_stream)
    rows = 1000 if n_rows is None else n_rows
    if mechanism == "mixed":
        scenario = draw_mixed(adjacency, rows, data_stream, **mixture)
    else:
        scenario = draw_scenario(mechanism, adjacency, rows, data_stream, distributions=distributions or "released")
    if interventions is not None:
        scenario = draw_regimes(scenario, **interventions._asdict(), random_state=regime_stream)
    chosen = {"graph": graph or "er", "expected_edges": n_edges}
    return replace(scenario, configuration={**chosen, **scenario.configuration})


def facts(scenario: Scenario, seed: int) -> dict[str, Any]:
    """Version, seed, configuration, diagnostics and mechanisms as plain values; labels have no variance to sort by."""
    has_labels = any(scenario.labels)
    diagnostics = {
        score.__name__: math.nan if has_labels else score(scenario.data, scenario.adjacency)
        for score in (varsortability, r2_sortability)
    }
    described = scenario.describe()
    return {
        "grandag": __version__,
        "seed": seed,
        **scenario.configuration,
        "edges": int(scenario.adjacency.sum()),
        **{name: None if math.isnan(value) else value for name, value in diagnostics.items()},
        **{name: described[name] for name in ("mechanisms", "regimes") if name in described},
    }


def write_scenario(scenario: Scenario, directory: Path, known: dict[str, Any], kind: str = "csv") -> list[Path]:
    """Write data.{csv,parquet,npy}, truth.json, truth.csv (0/1, row -> column) and simulation.json, all at once.

    The targets of interventions are one more column of the data, which a matrix cannot have.
    """
    data, table = f"data.{kind}", scenario.data
    if scenario.interventions is not None:
        if kind == "npy":
            raise ParameterError("format", "must be csv or parquet, which can name the targets of interventions.")
        table = table.assign(**{COLUMN: scenario.interventions})
    if kind == "npy" and any(scenario.labels):
        raise ParameterError("format", "npy holds numbers only, and this table has labels: choose csv or parquet.")
    with replacing_directory(directory) as new:
        if kind == "csv":
            table.to_csv(new / data, index=False)
        elif kind == "parquet":
            _write_parquet(table, new / data)
        else:
            np.save(new / data, table.to_numpy())
        for name in ("truth.json", "truth.csv"):
            write_graph(scenario.graph, new / name)
        write_text(new / "simulation.json", json.dumps(known, indent=2, ensure_ascii=False) + "\n")
    return [directory / name for name in (data, "truth.json", "truth.csv", "simulation.json")]


def _write_parquet(data: pd.DataFrame, path: Path) -> None:
    try:
        data.to_parquet(path, index=False)
    except ImportError:
        raise ValueError("Writing Parquet needs pyarrow: pip install 'grandag[parquet]'.") from None


def headline(known: dict[str, Any]) -> str:
    """A simulation in two lines: its sizes, and how sortable the data are."""

    def share(name: str) -> str:
        return "not defined" if known[name] is None else f"{known[name]:.2f}"

    sizes = f"{known['mechanism']}: {known['rows']:,} rows, {known['nodes']} nodes, {known['edges']} edges"
    if "regimes" in known:
        regimes = known["regimes"]
        sizes += f"; {sum(regime['rows'] for regime in regimes):,} rows under {counted(len(regimes), 'intervention')}"
    kinds = [*known.get("kinds", {}).values()]
    sizes += f" ({', '.join(f'{kinds.count(kind)} {kind}' for kind in dict.fromkeys(sorted(kinds)))})" if kinds else ""
    drawn = f"; functions drawn by {known['functions_drawn_by']}" if known.get("functions_drawn_by") else ""
    return (
        f"{sizes}{drawn}\n"
        f"varsortability {share('varsortability')}, R2-sortability {share('r2_sortability')} "
        "(0.5: the score says nothing about the order; near 0 or 1: sorting by it is enough)"
    )
