"""`grandag score`: compare two graphs. Nothing heavy is imported before it runs."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import typer

from grandag.cli.common import AsJson, json_text, visible
from grandag.cli.inputs import the_graph

__all__ = ["score"]


def score(
    estimate: Annotated[
        str,
        typer.Argument(
            help="A graph: .dot, .gv, .gml, .graphml, .json, .dagitty or .txt (dagitty), .csv or .tsv (table of edges, "
            "or adjacency table with names), .npy (adjacency matrix), or a model that `fit` wrote (.npz)."
        ),
    ],
    truth: Annotated[str, typer.Argument(help="The true graph: a file as above, or the name of a bundled data set.")],
    edges: Annotated[bool, typer.Option("--edges", help="List the graphs edge by edge, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare an estimated graph with the true one: SHD, SHD-C, SID with bounds, errors by kind, and more."""
    from grandag import metrics

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)  # what packages owe each other is nothing to a user
        warnings.showwarning = lambda message, *_, **__: typer.echo(f"Warning: {message}", err=True)
        estimated = the_graph(estimate)
        true = the_graph(truth, estimated)
        estimated = the_graph(estimate, true)
        facts = metrics.score(true, estimated)
    differences = metrics.edge_differences(true, estimated).to_dict(orient="records") if edges else []
    if as_json:
        facts = {**facts, "edges": differences} if edges else facts
        typer.echo(json_text(facts))
        return
    for title, value in _score_rows(facts):
        typer.echo(f"{title:<22}{value:>9}")
    for edge in differences:
        pair = f"{edge['source']} {edge['truth'] or edge['estimate']} {edge['target']}"
        typer.echo(f"{edge['difference']:<18} {visible(pair)}")
    for note in facts["notes"]:
        typer.echo(f"Note: {note}")


def _score_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Title and value of each line of the table."""

    def shown(value: float | None) -> str:
        if value is None:
            return "-"
        return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"

    titles = {
        "n_nodes": "nodes",
        "n_true_edges": "true edges",
        "n_estimated_edges": "estimated edges",
        "shd": "SHD",
        "shd_cpdag": "SHD-C",
        "sid": "SID",
        "sid_lower": "SID, lower bound",
        "sid_upper": "SID, upper bound",
        "missing": "missing edges",
        "extra": "extra edges",
        "reversed": "reversed edges",
        "mixed": "directed in one only",
        "parent_aid": "parent AID",
        "ancestor_aid": "ancestor AID",
        "oset_aid": "optimal-set AID",
    }
    if facts["sid"] is not None:
        del titles["sid_lower"], titles["sid_upper"]
    rows = [(title, shown(facts[name])) for name, title in titles.items()]
    for group in ("adjacency", "direction"):
        rows += [(f"{group} {name}", shown(value)) for name, value in facts[group].items()]
    return rows
