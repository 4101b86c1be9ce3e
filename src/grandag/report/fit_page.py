"""One fit as a page: graph, edges, how training went, the curve of every edge, and what to be careful about.

Everything is read from what was learned; what a method does not have, its page does not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from grandag.intervention_check import describe_check, errors_by_regime
from grandag.learned import Learned
from grandag.methods.estimator import StructureLearner
from grandag.metrics.matching import matched
from grandag.report.environment import environment as this_environment
from grandag.report.facts import FitSummary, headline
from grandag.report.large_graph import large_graph
from grandag.report.page import render
from grandag.report.partial_effects import effect_chart
from grandag.report.training_charts import connectivity_chart, training_charts
from grandag.showing import edge_table, explanations
from grandag.table import MANY_ROWS, Table, as_table, rows_of, spread

__all__ = ["fit_page", "page_of"]

_MOST_MISSES = 20
"""Predictions of regimes that are furthest off."""

_MOST_CURVES, _MOST_ROWS = 200, 5000
"""Of the strongest edges, curves and rows of the table; the page says how many more there are."""


def fit_page(
    estimator: StructureLearner,
    X: Any,
    *,
    data: str = "a table",
    seconds: float | None = None,
    truth: Any = None,
    interventions: Any = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """One self-contained HTML page about a fitted estimator.

    Args:
        estimator: Any fitted method. `GraNDAG(record_A_phi=True)` also shows A_phi over training.
        X: The table that it was fitted to.
        data: The name of the table.
        seconds: The time that the fit took.
        truth: The true graph, if it is known: any graph on the same nodes.
        interventions: Which variables each row intervenes on, as `fit` takes it.
        environment: Versions and machine as text by name; by default those of now.

    Returns:
        The text of the page.

    Example:
        >>> from grandag import CAM, datasets
        >>> sachs = datasets.load_sachs()
        >>> page = fit_page(CAM().fit(sachs.data), sachs.data, data="Sachs", truth=sachs.adjacency)
        >>> page.startswith("<!DOCTYPE html>")
        True
    """
    table = as_table(X, missing=estimator.missing, kinds=estimator.kinds, interventions=interventions)
    return page_of(FitSummary(estimator, data, seconds), table, truth=truth, environment=environment)


def page_of(fit: FitSummary, table: Table, *, truth: Any = None, environment: Mapping[str, str] | None = None) -> str:
    """The page of a fit whose summary may have been shown elsewhere."""
    learned = fit.learned
    adjacency, names = learned.adjacency, learned.names
    true = None if truth is None else _truth(truth, adjacency, names)
    return render(
        "fit.html",
        facts=fit.facts,
        headline=headline(fit.facts),
        drawing=Markup(fit.svg),
        large=large_graph(fit),
        edges=_edges(fit.facts["edges"][:_MOST_ROWS], adjacency, names, true),
        n_unlisted=max(0, len(fit.edges) - _MOST_ROWS),
        missing=[] if true is None else _missing(adjacency, names, true),
        has_truth=true is not None,
        charts=[*training_charts(learned), *connectivity_chart(learned, true, fit.facts["parameters"])],
        curves=list(_curves(fit, table)),
        n_hidden=max(0, len(fit.edges) - _MOST_CURVES),
        check=_intervention_check(learned),
        parameters={name: repr(value) for name, value in fit.facts["parameters"].items()},
        environment=this_environment() if environment is None else environment,
    )


def _truth(truth: Any, adjacency: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """The true graph in the order of the learned one's nodes."""
    pair = matched(truth, (adjacency, names))
    order = [pair.names.index(name) for name in names]
    return pair.truth[np.ix_(order, order)]


def _edges(
    edges: list[dict[str, Any]], adjacency: np.ndarray, names: tuple[str, ...], true: np.ndarray | None
) -> dict[str, Any]:
    """The table of edges; one without direction is listed once."""
    position = {name: k for k, name in enumerate(names)}
    listed, seen = [], set()
    for edge in edges:
        i, j = position[edge["source"]], position[edge["target"]]
        if (j, i) not in seen:
            seen.add((i, j))
            listed.append((edge, i, j))
    header, texts = edge_table([edge for edge, _, _ in listed])
    rows = [
        {
            "source": names[i],
            "target": names[j],
            "arrow": "—" if adjacency[j, i] else "→",
            "cells": [
                {"text": cell, "value": edge[name.replace(" ", "_")]} for name, cell in zip(header, text, strict=True)
            ][2:],
            "verdict": "" if true is None else _verdict(true, i, j, directed=not adjacency[j, i]),
        }
        for (edge, i, j), text in zip(listed, texts, strict=True)
    ]
    return {"header": header[2:], "rows": rows, "explanations": explanations(header)}


def _verdict(true: np.ndarray, i: int, j: int, *, directed: bool) -> str:
    """How an edge compares with the truth."""
    if not (true[i, j] or true[j, i]):
        return "extra"
    if directed == (true[i, j] and true[j, i]):
        return "direction differs"
    return "found" if true[i, j] else "reversed"


def _missing(adjacency: np.ndarray, names: tuple[str, ...], true: np.ndarray) -> list[str]:
    """True edges between nodes that are not adjacent in the learned graph."""
    missing = true & ~(adjacency | adjacency.T)
    return [
        f"{names[i]} {'—' if missing[j, i] else '→'} {names[j]}"
        for i, j in np.argwhere(missing)
        if i < j or not missing[j, i]
    ]


def _intervention_check(learned: Learned) -> dict[str, Any] | None:
    """What refits without each regime predict for it, if that was looked at."""
    check = learned.values.get("intervention_check")
    if check is None:
        return None
    worst = check.reindex(check["error"].abs().sort_values(ascending=False, kind="stable").index)
    return {
        "sentence": describe_check(check),
        "regimes": errors_by_regime(check).to_dict(orient="records"),
        "worst": worst.head(_MOST_MISSES).to_dict(orient="records"),
    }


def _curves(fit: FitSummary, table: Table) -> Iterator[Markup]:
    """The effect of each parent on its child by the fitted conditionals, strongest edges first."""
    model = fit.learned.model
    if model is None:
        return
    like_the_model = as_table(table, kinds=model.columns, min_rows=1, min_columns=1)  # numbers, where it takes numbers
    rows = rows_of(like_the_model.values, spread(len(table.values), MANY_ROWS))
    for names in fit.edges.head(_MOST_CURVES)[["source", "target"]].itertuples(index=False):
        source, target = (model.names.index(name) for name in names)
        if not model.adjacency[source, target]:  # of an undirected edge, the direction that the model has
            source, target = target, source
        yield effect_chart(model, rows, source, target)
