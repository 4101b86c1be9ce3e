"""`grandag simulate`: data with a known graph. Nothing heavy is imported before it runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from grandag.cli.common import Quiet
from grandag.cli.outputs import check_output_directory

__all__ = ["simulate"]


class Kind(StrEnum):
    """Kinds of simulated data."""

    gauss_anm = "gauss-anm"
    lin = "lin"
    lin_uniform = "lin-uniform"
    lin_laplace = "lin-laplace"
    lin_exponential = "lin-exponential"
    add_func = "add-func"
    pnl_gp = "pnl-gp"
    pnl_mult = "pnl-mult"
    mlp = "mlp"
    mlp_standard = "mlp-standard"
    mim = "mim"
    sigmoid = "sigmoid"
    sigmoid_mix = "sigmoid-mix"
    mixed = "mixed"
    syntren = "syntren"


class GraphKind(StrEnum):
    """Kinds of random graphs."""

    er = "er"
    er_exact = "er-exact"
    sf = "sf"
    complete = "complete"
    empty = "empty"


class Distributions(StrEnum):
    """Which parameters simulated data have."""

    released = "released"
    text = "text"


class InterventionKind(StrEnum):
    """What interventions do to their targets."""

    perfect = "perfect"
    imperfect = "imperfect"


class FileFormat(StrEnum):
    """Formats of simulated data."""

    csv = "csv"
    parquet = "parquet"
    npy = "npy"


def simulate(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="Mechanisms of the paper, linear ones with noise that is not Gaussian (lin-uniform, lin-laplace, "
            "lin-exponential), of other simulations (mlp, mlp-standard, mim, sigmoid, sigmoid-mix), columns of several "
            "kinds (mixed), or a transcription network (syntren)."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for data, truth and configuration.")],
    graph: Annotated[
        GraphKind | None,
        typer.Option(
            help="Erdos-Renyi (default; er-exact has just so many edges), scale-free, complete or empty; not for "
            "syntren."
        ),
    ] = None,
    n_nodes: Annotated[int | None, typer.Option(help="Number of variables. Default: 10; syntren: 20.")] = None,
    n_edges: Annotated[
        float | None,
        typer.Option(
            help="Expected edges (er), edges (er-exact), attachments times nodes (sf). Default: as many as nodes."
        ),
    ] = None,
    n_rows: Annotated[int | None, typer.Option(help="Number of rows. Default: 1,000; syntren: 500.")] = None,
    distributions: Annotated[
        Distributions | None,
        typer.Option(help="Distributions of the authors' released files (default), or of the paper's text."),
    ] = None,
    interventions: Annotated[
        int | None, typer.Option(help="Number of interventional regimes; their targets are the column intervention.")
    ] = None,
    intervened: Annotated[float, typer.Option(help="Share of the rows that are interventional.")] = 0.5,
    n_targets: Annotated[int, typer.Option(help="Number of variables that each regime intervenes on.")] = 1,
    intervention_kind: Annotated[
        InterventionKind,
        typer.Option(help="Mechanisms replaced by noise (perfect), or drawn anew from the same parents (imperfect)."),
    ] = InterventionKind.perfect,
    binary: Annotated[
        float | None, typer.Option(help="mixed: part of the variables with two labels. Default: 0.2.")
    ] = None,
    categorical: Annotated[
        float | None, typer.Option(help="mixed: part of the variables with 3 to 6 labels. Default: 0.2.")
    ] = None,
    count: Annotated[float | None, typer.Option(help="mixed: part of the variables that count. Default: 0.2.")] = None,
    heavy_tailed: Annotated[
        float | None,
        typer.Option(
            help="mixed: part of the variables with noise of Student's t, 3 degrees of freedom. Default: 0.2."
        ),
    ] = None,
    interactions: Annotated[
        bool | None,
        typer.Option("--interactions", help="mixed: functions of all parents together, not a sum over them."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
    file_format: Annotated[FileFormat, typer.Option("--format", help="Format of the data.")] = FileFormat.csv,
    quiet: Quiet = False,
) -> None:
    """Simulate data with a known graph: writes data, truth.json, truth.csv and simulation.json."""
    from grandag.simulate import files

    check_output_directory(output)
    regimes = files.Interventions(interventions, intervened, n_targets, str(intervention_kind))
    scenario = files.simulate(
        str(kind),
        graph=graph and str(graph),
        n_nodes=n_nodes,
        n_edges=n_edges,
        n_rows=n_rows,
        distributions=distributions and str(distributions),
        interventions=None if interventions is None else regimes,
        seed=seed,
        binary=binary,
        categorical=categorical,
        count=count,
        heavy_tailed=heavy_tailed,
        interactions=interactions,
    )
    known = files.facts(scenario, seed)
    written = files.write_scenario(scenario, output, known, str(file_format))
    if not quiet:
        typer.echo(f"{files.headline(known)}\nWritten: {', '.join(map(str, written))}")
