"""`grandag refine`: judge and improve a graph by its evidence. Nothing heavy is imported before it runs."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from grandag.cli.common import OUTPUT, AsJson, Kinds, KnowledgeFile, Missing, Outliers, Quiet, Seed, json_text, visible
from grandag.cli.exits import INTERRUPTED
from grandag.cli.inputs import Reading, complete_rows, reads_a_table, the_graph
from grandag.cli.outputs import check_output_file
from grandag.progress import progress_line

__all__ = ["refine"]


@reads_a_table
def refine(
    graph: Annotated[
        str, typer.Argument(help="A DAG: a graph file, a model that `fit` wrote, or the name of a bundled data set.")
    ],
    data: Annotated[str, typer.Argument(help="The table: a file, or the name of a bundled data set.")],
    seed: Seed = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads, -1 for all cores; results do not depend on it.")] = -1,
    reading: Reading = Reading(),  # noqa: B008
    knowledge: KnowledgeFile = None,
    missing: Missing = "error",
    kinds: Kinds = None,
    outliers: Outliers = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File for the refined graph; its ending decides the format.", rich_help_panel=OUTPUT
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge a graph by its evidence, and search for one with more: prints what each edge is worth, in nats."""
    import numpy as np

    from grandag.graph import check_ending, to_networkx, write_graph
    from grandag.refinement import judge
    from grandag.refinement import refine as search

    check_output_file(output, graph, data, knowledge)
    if output is not None:
        check_ending(output)
    table = complete_rows(data, reading, missing, kinds)
    given = the_graph(graph, (np.zeros((len(table.names),) * 2, dtype=bool), table.names))
    how: Any = {"outliers": outliers, "random_state": seed, "n_jobs": n_jobs}
    before = judge(given, table, **how)
    with nullcontext(None) if quiet else progress_line() as listener:
        after = search(given, table, knowledge=knowledge, **how, listener=listener)
    facts = {
        "evidence_before": before.values["evidence"],
        "evidence": after.values["evidence"],
        "notes": list(after.notes),
        "warnings": [concern.message for concern in after.concerns],
        "edges": after.edges().to_dict(orient="records"),
        "edges_before": before.edges().to_dict(orient="records"),
    }
    if output is not None:
        write_graph(to_networkx(after.adjacency, after.names, after.strength), output)
    if as_json:
        typer.echo(json_text(facts))
    elif not quiet:
        from grandag.cli.terminal import print_refinement

        print_refinement(before, after)
    if not quiet:
        for concern in after.concerns:
            typer.echo(f"Warning: {visible(concern.message)}", err=True)
    if after.was_interrupted:
        raise typer.Exit(INTERRUPTED)
