"""`grandag compare`: several methods on one table. Nothing heavy is imported before it runs."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grandag.cli.common import OUTPUT, AsJson, Cluster, KnowledgeFile, Missing, Quiet, Seed, json_text, visible
from grandag.cli.fit import DATA_HELP, METHOD_NAMES
from grandag.cli.inputs import Reading, complete_rows, reads_a_table
from grandag.cli.outputs import check_output_directory, check_output_file
from grandag.progress import progress_line
from grandag.writing import replacing_directory, write_text

if TYPE_CHECKING:
    from grandag.comparison import Comparison

__all__ = ["compare"]


@reads_a_table
def compare(
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Names of methods, separated by commas: {METHOD_NAMES}.")
    ] = "grandag,cam,notears,ges,pc",
    preset: Annotated[str, typer.Option(metavar="NAME", help="Preset of all methods.")] = "default",
    seed: Seed = 0,
    cluster: Cluster = None,
    reading: Reading = Reading(),  # noqa: B008
    knowledge: KnowledgeFile = None,
    missing: Missing = "error",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Directory for methods.csv and edges.csv.", rich_help_panel=OUTPUT),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="An HTML page: the table, edges by method, and all graphs.", rich_help_panel=OUTPUT),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit several methods to one table: edges, held-out score, time and agreement of each, and who has which edge."""
    from grandag.comparison import compare as fit_all

    check_output_directory(output, report, data, knowledge)
    check_output_file(report, data, knowledge, option="--report")
    names = [name.strip() for name in methods.split(",")]
    table = complete_rows(data, reading, missing)
    with nullcontext(None) if quiet else progress_line() as listener:
        result = fit_all(
            table, names, preset=preset, knowledge=knowledge, random_state=seed, missing=missing, cluster=cluster,
            listener=listener,
        )  # fmt: skip
    if output is not None:
        _write(result, output)
    if report is not None:
        from grandag.report.compare_page import compare_page

        report.parent.mkdir(parents=True, exist_ok=True)
        write_text(report, compare_page(result, data=data))
    if as_json:
        facts = {name: json.loads(frame.to_json(orient="records")) for name, frame in
                 (("methods", result.table()), ("edges", result.edges()))}  # fmt: skip
        typer.echo(json_text({"data": data, **facts}))
    elif not quiet:
        from grandag.cli.terminal import print_comparison

        print_comparison(result)
    if not quiet:
        doubts = result.doubts()
        for doubt in doubts:
            typer.echo(f"Warning: {visible(doubt)}", err=True)
        if doubts and report is None:
            typer.echo("The page of --report has all reasons with numbers and advice.", err=True)


def _write(result: Comparison, directory: Path) -> None:
    """Both files take the place of earlier ones at once."""
    from grandag.report.files import write_edges

    with replacing_directory(directory) as new:
        result.table().to_csv(new / "methods.csv", index=False)
        write_edges(result.edges(), new / "edges.csv")
