"""`grandag draw`: a drawing of a graph, or of the neighbourhood of a node. Nothing heavy is imported before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grandag.cli.common import Quiet, visible
from grandag.cli.inputs import the_graph
from grandag.cli.outputs import check_output_file

__all__ = ["draw"]


def draw(
    graph: Annotated[
        str,
        typer.Argument(
            help="A graph: a model that `fit` wrote (.npz), which knows how strong edges are, a graph file of any kind "
            "that `score` reads, or the name of a bundled data set."
        ),
    ],
    output: Annotated[Path, typer.Argument(help="The drawing: .svg or .png.")],
    around: Annotated[
        str | None, typer.Option(metavar="NAME", help="Draw the neighbourhood of this node: its causes and effects.")
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="Steps along edges from that node, in any direction.")] = 1,
    quiet: Quiet = False,
) -> None:
    """Draw a graph: the whole of a small one, the strongest edges of a large one, or what is around one node."""
    check_output_file(output, graph, option="OUTPUT")
    from grandag.graph.boundary import as_networkx
    from grandag.overview import draw as drawing_of

    drawing_of(as_networkx(the_graph(graph)), around=around, depth=depth).save(output)
    if not quiet:
        typer.echo(f"Drawing: {visible(str(output))}")
