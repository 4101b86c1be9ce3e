"""The command line. Exit codes: 0 good, 1 bad input, 2 wrong usage, 3 not converged, 130 interrupted."""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grandag import __version__
from grandag.cli.paper import paper
from grandag.methods.registry import METHODS, build

if TYPE_CHECKING:
    import pandas as pd

    from grandag.methods.base import StructureLearner
    from grandag.resampling import Confidence

__all__ = ["app", "main"]

BAD_INPUT, WRONG_USAGE, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 130

app = typer.Typer(
    name="grandag",
    help="Learn causal graphs from tables: gradient-based neural DAG learning, and the methods it is compared with.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

MethodName = StrEnum("MethodName", {name: name for name in METHODS})  # type: ignore[misc]


_DEFAULT_METHOD = MethodName("grandag")
_METHOD_HELP = " ".join(f"{method.description}." for method in METHODS.values())


class Preset(StrEnum):
    """Names of the presets."""

    default = "default"
    paper = "paper"


class Activation(StrEnum):
    """Names of the activations."""

    leaky_relu = "leaky-relu"
    squareplus = "squareplus"


class Trees(StrEnum):
    """Who grows the trees of neighbour selection."""

    compiled = "compiled"
    scikit_learn = "scikit-learn"


class Precision(StrEnum):
    """Floating point types of training."""

    float32 = "float32"
    float64 = "float64"


class Missing(StrEnum):
    """What to do with missing values."""

    error = "error"
    drop = "drop"


class ResampleKind(StrEnum):
    """What refits differ in."""

    bootstrap = "bootstrap"
    subsample = "subsample"
    restarts = "restarts"


def _print_version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


_OPTIONS = {
    "n_layers": "--layers",
    "n_units": "--units",
    "learning_rate": "--learning-rate",
    "later_learning_rate": "--later-rate",
    "batch_size": "--batch-size",
    "mask_threshold": "--mask-threshold",
    "tolerance": "--tolerance",
    "subproblem_tolerance": "--subproblem",
    "max_iterations": "--max-iterations",
    "neighbour_selection": "--neighbours",
    "neighbour_threshold": "--neighbours-at",
    "preselection": "--preselect",
    "n_encoder_units": "--encoder-units",
    "n_decoder_units": "--decoder-units",
    "n_epochs": "--epochs",
    "weight_threshold": "--weights-at",
    "n_edges": "--edges",
    "prune_cutoff": "--prune-at",
    "max_parents": "--max-parents",
    "fixed": "--fix",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "n_nodes": "--nodes",
    "n_rows": "--rows",
    "graph": "--graph",
}
"""How the command line calls a parameter, where it is not the parameter's name."""

_NETWORK, _TRAINING, _DATA, _CONFIDENCE, _OUTPUT = "Networks", "Training", "Data", "Confidence", "Output"


@app.command()
def fit(
    data: Annotated[
        str,
        typer.Argument(
            help="A CSV, TSV or Parquet file with a header, a .npy file, or the name of a bundled data set."
        ),
    ],
    method: Annotated[MethodName, typer.Option(help=_METHOD_HELP)] = _DEFAULT_METHOD,
    preset: Annotated[
        Preset, typer.Option(help="'paper' is the authors' recipe; options below override a preset.")
    ] = Preset.default,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Directory for the edges, graph files, drawing, model and configuration."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Use these columns only: names, separated by commas.", rich_help_panel=_DATA)
    ] = None,
    knowledge: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file, or one in Tetrad's format, of edges that cannot or must be.", rich_help_panel=_DATA
        ),
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Stop at missing or infinite values, or drop their rows.", rich_help_panel=_DATA)
    ] = Missing.error,
    standardise: Annotated[
        bool | None,
        typer.Option(help="Scale columns to variance 1, or take the data as they are.", rich_help_panel=_DATA),
    ] = None,
    layers: Annotated[
        int | None, typer.Option(help="Hidden layers per network, 0 for linear. Default: 2.", rich_help_panel=_NETWORK)
    ] = None,
    units: Annotated[
        int | None, typer.Option(help="Units per hidden layer. Default: 10.", rich_help_panel=_NETWORK)
    ] = None,
    activation: Annotated[
        Activation | None, typer.Option(help="Default: leaky-relu.", rich_help_panel=_NETWORK)
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(help="Of the first subproblem. Default: 0.01; DAG-GNN: 0.003.", rich_help_panel=_TRAINING),
    ] = None,
    later_learning_rate: Annotated[
        float | None,
        typer.Option(
            "--later-rate", help="Of later subproblems. Default: 0.001; paper: 0.0001.", rich_help_panel=_TRAINING
        ),
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Rows per iteration. Default: 64; DAG-GNN: 100.", rich_help_panel=_TRAINING)
    ] = None,
    mask_threshold: Annotated[
        float | None, typer.Option(help="Inputs this weak are masked. Default: 1e-4.", rich_help_panel=_TRAINING)
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="On the acyclicity h. Default: 1e-8.", rich_help_panel=_TRAINING)
    ] = None,
    subproblem_tolerance: Annotated[
        float | None,
        typer.Option("--subproblem", help="On the held-out objective. Default: 1e-4.", rich_help_panel=_TRAINING),
    ] = None,
    max_iterations: Annotated[int | None, typer.Option(help="Default: 100,000.", rich_help_panel=_TRAINING)] = None,
    neighbour_selection: Annotated[
        bool | None,
        typer.Option(
            "--neighbours/--no-neighbours",
            help="Select candidate parents first. Default: from 50 columns on; NOTEARS, DAG-GNN: no.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    neighbour_threshold: Annotated[
        float | None,
        typer.Option(
            "--neighbours-at", help="Multiple of the mean importance. Default: 0.75.", rich_help_panel=_TRAINING
        ),
    ] = None,
    neighbour_trees: Annotated[
        Trees | None,
        typer.Option(help="Our own trees, or the reference. Default: compiled.", rich_help_panel=_TRAINING),
    ] = None,
    preselection: Annotated[
        bool | None,
        typer.Option(
            "--preselect/--no-preselect",
            help="CAM: select candidate parents by boosting. Default: from 30 columns on.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    max_parents: Annotated[
        int | None,
        typer.Option(
            help="CAM, GES, GSF: of one column. Default: one per 20 rows (CAM), any number.", rich_help_panel=_TRAINING
        ),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="PC: level of the tests. Default: 0.01.", rich_help_panel=_TRAINING)
    ] = None,
    max_conditions: Annotated[
        int | None, typer.Option(help="PC: most variables given in a test.", rich_help_panel=_TRAINING)
    ] = None,
    penalty: Annotated[
        float | None, typer.Option(help="GES: multiple of the BIC's penalty. Default: 1.", rich_help_panel=_TRAINING)
    ] = None,
    intercept: Annotated[
        bool | None,
        typer.Option(help="GES, NOTEARS: in their regressions. Default: yes; paper: no.", rich_help_panel=_TRAINING),
    ] = None,
    regulariser: Annotated[
        float | None,
        typer.Option(help="GSF: of the kernel regressions. Default: 0.01.", rich_help_panel=_TRAINING),
    ] = None,
    turning: Annotated[
        bool | None, typer.Option(help="GES, GSF: turn edges, too. Default: yes (GES), no.", rich_help_panel=_TRAINING)
    ] = None,
    sparsity: Annotated[
        float | None, typer.Option(help="NOTEARS: weight of the L1 term. Default: 0.1.", rich_help_panel=_TRAINING)
    ] = None,
    weight_threshold: Annotated[
        float | None,
        typer.Option(
            "--weights-at",
            help="Edges with smaller weights go. Default: 0.3; GraN-DAG (A_phi): 0.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    encoder_units: Annotated[
        int | None, typer.Option(help="DAG-GNN: hidden units. Default: 64.", rich_help_panel=_NETWORK)
    ] = None,
    decoder_units: Annotated[
        int | None, typer.Option(help="DAG-GNN: hidden units. Default: 64.", rich_help_panel=_NETWORK)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="DAG-GNN: per subproblem. Default: 300.", rich_help_panel=_TRAINING)
    ] = None,
    edges: Annotated[
        str | None,
        typer.Option(help="RANDOM: 'uniform', 'fixed' or a number. Default: uniform.", rich_help_panel=_TRAINING),
    ] = None,
    prune: Annotated[
        bool | None,
        typer.Option(
            help="Drop edges that are not significant in an additive regression. Default: yes (GraN-DAG, CAM).",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    prune_cutoff: Annotated[
        float | None,
        typer.Option("--prune-at", help="Edges with a lower p-value stay. Default: 0.001.", rich_help_panel=_TRAINING),
    ] = None,
    retrain: Annotated[
        bool | None,
        typer.Option(help="Fit the conditionals of the final graph. Default: yes.", rich_help_panel=_TRAINING),
    ] = None,
    dtype: Annotated[Precision | None, typer.Option(help="Default: float32.", rich_help_panel=_TRAINING)] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Threads (processes of --resamples), -1 for all cores; results do not depend on it.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=0, help="Refit so many times and count the edges.", rich_help_panel=_CONFIDENCE)
    ] = 0,
    resample_kind: Annotated[
        ResampleKind,
        typer.Option(
            "--resample-by", help="Bootstrap samples, halves of the rows, or other starts.", rich_help_panel=_CONFIDENCE
        ),
    ] = ResampleKind.bootstrap,
    report: Annotated[
        Path | None,
        typer.Option(
            help="An HTML page of the fit: graph, edges, training, curves, warnings. Records A_phi.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="The true graph, for the report only: a graph file. Bundled data sets have theirs.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_OUTPUT)] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Learn a graph from a table and print its edges."""
    chosen = {
        "knowledge": knowledge and str(knowledge),
        "standardise": standardise,
        "n_layers": layers,
        "n_units": units,
        "activation": activation and activation.value,
        "learning_rate": learning_rate,
        "later_learning_rate": later_learning_rate,
        "batch_size": batch_size,
        "mask_threshold": mask_threshold,
        "tolerance": tolerance,
        "subproblem_tolerance": subproblem_tolerance,
        "max_iterations": max_iterations,
        "neighbour_selection": neighbour_selection,
        "neighbour_threshold": neighbour_threshold,
        "neighbour_trees": neighbour_trees and neighbour_trees.value,
        "preselection": preselection,
        "max_parents": max_parents,
        "alpha": alpha,
        "max_conditions": max_conditions,
        "penalty": penalty,
        "intercept": intercept,
        "regulariser": regulariser,
        "turning": turning,
        "sparsity": sparsity,
        "weight_threshold": weight_threshold,
        "n_encoder_units": encoder_units,
        "n_decoder_units": decoder_units,
        "n_epochs": epochs,
        "n_edges": int(edges) if edges is not None and edges.isdigit() else edges,
        "prune": prune,
        "prune_cutoff": prune_cutoff,
        "retrain": retrain,
        "dtype": dtype and dtype.value,
        "n_jobs": None if resamples else jobs,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    model = build(str(method), {**given, "missing": str(missing)}, preset=str(preset), seed=seed)
    if output is not None and output.exists() and not output.is_dir():
        raise typer.BadParameter(f"{str(output)!r} is a file; name a directory.", param_hint="--output")
    frame = _read(data, columns)
    true = _truth(data, frame, report, truth)
    if report is not None and "record_A_phi" in model.get_params():
        model.set_params(record_A_phi=True)
    start = time.perf_counter()
    try:
        notes = _fit(model, frame, quiet=quiet)
        refits = _refit(model, frame, resamples, str(resample_kind), seed, jobs, quiet=quiet) if resamples else None
    except KeyboardInterrupt:
        typer.echo("Interrupted; nothing was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    seconds = time.perf_counter() - start
    _report(model, data, seconds, notes, output, as_json=as_json, quiet=quiet)
    if output is not None and refits is not None:
        refits.edges().to_csv(output / "confidence.csv", index=False)
    if report is not None:
        from grandag.report import fit_page

        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(fit_page(model, frame, data=data, seconds=seconds, truth=true), encoding="utf-8")
        if not quiet:
            typer.echo(f"Page: {report}", err=as_json)
    if not getattr(model, "converged_", True):
        raise typer.Exit(NOT_CONVERGED)


def _option(parameter: str) -> str:
    return _OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")


def _read(data: str, columns: str | None) -> pd.DataFrame:
    """The table behind an argument: a bundled data set by name, or a file."""
    from grandag import datasets
    from grandag.table import TableError, read_table

    frame = datasets.load(data).data if data in datasets.DATASETS else read_table(data)
    if columns is None:
        return frame
    wanted = [name.strip() for name in columns.split(",")]
    unknown = [name for name in wanted if name not in frame.columns]
    if unknown:
        raise TableError(f"{data!r} has no column {unknown[0]!r}: it has {', '.join(map(str, frame.columns))}.")
    return frame[wanted]


def _truth(data: str, frame: pd.DataFrame, report: Path | None, truth: str | None) -> Any:
    """The true graph for a report: as given, or that of a bundled data set if all its columns are there."""
    if report is None:
        if truth is not None:
            raise typer.BadParameter("is for the page of --report, which was not asked for.", param_hint="--truth")
        return None
    if report.is_dir():
        raise typer.BadParameter(f"{str(report)!r} is a directory; name a file.", param_hint="--report")
    if any(parent.is_file() for parent in report.parents):
        raise typer.BadParameter(f"{str(report)!r} would lie inside a file; name another place.", param_hint="--report")
    import networkx as nx

    from grandag import datasets
    from grandag.metrics.matching import matched

    names = tuple(map(str, frame.columns))
    if truth is None:
        is_known = data in datasets.DATASETS and names == datasets.load(data).names
        return _graph(data) if is_known else None
    nodes = nx.DiGraph()
    nodes.add_nodes_from(names)
    graph = _graph(truth, nodes)
    matched(graph, nodes)
    return graph


def _fit(model: StructureLearner, frame: pd.DataFrame, *, quiet: bool) -> list[str]:
    """Fit with a progress line; returns what was warned of."""
    from contextlib import nullcontext

    from grandag.progress import progress_line

    if quiet:
        logging.getLogger("grandag").setLevel(logging.ERROR)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with nullcontext(None) if quiet else progress_line() as listener:
            model.fit(frame, listener=listener)
    return [str(warning.message) for warning in caught]


def _refit(
    model: StructureLearner, frame: pd.DataFrame, resamples: int, kind: str, seed: int, jobs: int | None, *, quiet: bool
) -> Confidence:
    """Refit, and give the model the frequencies of its edges."""
    from contextlib import nullcontext

    from grandag.progress import progress_line
    from grandag.resampling import attach, confidence, describe

    with nullcontext(None) if quiet else progress_line() as listener:
        n_jobs = -1 if jobs is None else jobs
        refits = confidence(model, frame, resamples, kind, random_state=seed, n_jobs=n_jobs, listener=listener)
    attach(model, refits)
    if not quiet:
        typer.echo(describe(refits), err=True)
    return refits


def _report(
    model: StructureLearner, data: str, seconds: float, warned: list[str], output: Path | None, *, as_json: bool,
    quiet: bool,
) -> None:  # fmt: skip
    from grandag.cli.files import write_results
    from grandag.report.facts import summary

    facts = summary(model, data=data, seconds=seconds)
    if output is not None:
        write_results(model, output, facts)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    elif not quiet:
        from grandag.cli.terminal import print_result

        print_result(facts, output)
    if not quiet:
        for message in dict.fromkeys([*warned, *(concern["message"] for concern in facts["warnings"])]):
            typer.echo(f"Warning: {message}", err=True)


class Sampler(StrEnum):
    """Where the parameters of trials come from."""

    random = "random"
    tpe = "tpe"
    genetic = "genetic"


@app.command()
def tune(
    data: Annotated[str, typer.Argument(help="As in `grandag fit`: a file with a table, or the name of a data set.")],
    method: Annotated[MethodName, typer.Option(help="One that has a search space; PC and RANDOM have none.")] = (
        _DEFAULT_METHOD
    ),
    trials: Annotated[int, typer.Option(help="Combinations of hyper-parameters to try.")] = 50,
    sampler: Annotated[
        Sampler, typer.Option(help="'tpe' and 'genetic' learn from earlier trials, by Optuna.")
    ] = Sampler.random,
    preset: Annotated[Preset, typer.Option(help="What is not searched is as in this preset.")] = Preset.default,
    fix: Annotated[
        list[str] | None, typer.Option(help="Do not search this one: NAME=VALUE, as in Python (n_layers=1).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of draws, split and fits: the same seed gives the same result.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Directory for trials.csv, best.json and all that `fit` writes."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Use these columns only: names, separated by commas.", rich_help_panel=_DATA)
    ] = None,
    knowledge: Annotated[
        Path | None, typer.Option(help="A file of edges that cannot or must be.", rich_help_panel=_DATA)
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Stop at missing or infinite values, or drop their rows.", rich_help_panel=_DATA)
    ] = Missing.error,
    standardise: Annotated[
        bool | None,
        typer.Option(help="Scale columns to variance 1, or take the data as they are.", rich_help_panel=_DATA),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for one trial; it counts as failed after that.")
    ] = None,
    total_time_limit: Annotated[float | None, typer.Option(help="Seconds for all trials together.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Trials at a time, one thread each. Default: one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_OUTPUT)] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Choose hyper-parameters by their score on held-out rows, then learn the graph from all rows with the best."""
    from contextlib import nullcontext

    from grandag.cli.terminal import print_trials
    from grandag.parameters import ParameterError
    from grandag.progress import progress_lines
    from grandag.tuning.tune import tune as search

    chosen = {"knowledge": knowledge and str(knowledge), "standardise": standardise, "missing": str(missing)}
    fixed = {**_fixed(fix or []), **{name: value for name, value in chosen.items() if value is not None}}
    if output is not None and output.exists() and not output.is_dir():
        raise typer.BadParameter(f"{str(output)!r} is a file; name a directory.", param_hint="--output")
    frame = _read(data, columns)
    start = time.perf_counter()
    try:
        with nullcontext(None) if quiet else progress_lines() as listener:
            result = search(
                frame, str(method), trials, sampler=str(sampler), seed=seed, n_jobs=-1 if jobs is None else jobs,
                preset=str(preset), fixed=fixed, time_limit=time_limit, total_time_limit=total_time_limit,
                listener=listener,
            )  # fmt: skip
        if not quiet and not as_json:
            print_trials(result)
        model = result.estimator()
        if jobs is not None and "n_jobs" in model.get_params():
            model.set_params(n_jobs=jobs)
        notes = _fit(model, frame, quiet=quiet)
    except KeyboardInterrupt:
        typer.echo("Interrupted; nothing was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except ParameterError as error:
        if error.name not in fixed or error.name in chosen:
            raise
        raise typer.BadParameter(f"{error.name} {error.message}", param_hint="--fix") from None
    model.notes_.append(result.describe())
    _report(model, data, time.perf_counter() - start, notes, output, as_json=as_json, quiet=quiet)
    if output is not None:
        result.save(output)
    if result.was_interrupted or not getattr(model, "converged_", True):
        raise typer.Exit(INTERRUPTED if result.was_interrupted else NOT_CONVERGED)


def _fixed(assignments: list[str]) -> dict[str, Any]:
    """Parameters from NAME=VALUE; a value that is no Python literal is text."""
    import ast

    fixed = {}
    for assignment in assignments:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not name or not equals or not text:
            raise typer.BadParameter(f"needs NAME=VALUE; got {assignment!r}.", param_hint="--fix")
        try:
            fixed[name] = ast.literal_eval(text)
        except (SyntaxError, ValueError):
            fixed[name] = text
    return fixed


class Kind(StrEnum):
    """Kinds of simulated data."""

    gauss_anm = "gauss-anm"
    lin = "lin"
    add_func = "add-func"
    pnl_gp = "pnl-gp"
    pnl_mult = "pnl-mult"
    syntren = "syntren"


class GraphKind(StrEnum):
    """Kinds of random graphs."""

    er = "er"
    sf = "sf"
    complete = "complete"
    empty = "empty"


class Distributions(StrEnum):
    """Which parameters simulated data have."""

    released = "released"
    text = "text"


class FileFormat(StrEnum):
    """Formats of simulated data."""

    csv = "csv"
    parquet = "parquet"
    npy = "npy"


@app.command()
def simulate(
    kind: Annotated[Kind, typer.Argument(help="Mechanisms of the paper, or a transcription network (syntren).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for data, truth and configuration.")],
    graph: Annotated[
        GraphKind | None, typer.Option(help="Erdos-Renyi (default), scale-free, complete or empty; not for syntren.")
    ] = None,
    nodes: Annotated[int | None, typer.Option(help="Default: 10; syntren: 20.")] = None,
    edges: Annotated[
        float | None, typer.Option(help="Expected edges (er); attachments times nodes (sf). Default: as many as nodes.")
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Default: 1,000; syntren: 500.")] = None,
    distributions: Annotated[
        Distributions | None,
        typer.Option(help="Distributions of the authors' released files (default), or of the paper's text."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
    file_format: Annotated[FileFormat, typer.Option("--format", help="Of the data.")] = FileFormat.csv,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Simulate data with a known graph: writes data, truth.json, truth.csv and simulation.json."""
    from grandag.simulate import files

    if output.exists() and not output.is_dir():
        raise typer.BadParameter(f"{str(output)!r} is a file; name a directory.", param_hint="--output")
    scenario = files.simulate(
        str(kind),
        graph=graph and str(graph),
        n_nodes=nodes,
        n_edges=edges,
        n_rows=rows,
        distributions=distributions and str(distributions),
        seed=seed,
    )
    known = files.facts(scenario, seed)
    written = files.write_scenario(scenario, output, known, str(file_format))
    if not quiet:
        typer.echo(f"{files.headline(known)}\nWritten: {', '.join(map(str, written))}")


@app.command()
def score(
    estimate: Annotated[
        str,
        typer.Argument(
            help="A graph: .dot, .gv, .gml, .graphml, .json, .dagitty or .txt (dagitty), .csv or .tsv (table of edges, "
            "or adjacency table with names), .npy (adjacency matrix), or a model that `fit` wrote (.npz)."
        ),
    ],
    truth: Annotated[str, typer.Argument(help="The true graph: a file as above, or the name of a bundled data set.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_OUTPUT)] = False,
) -> None:
    """Compare an estimated graph with the true one: SHD, SHD-C, SID with bounds, errors by kind, and more."""
    from grandag import metrics

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_, **__: typer.echo(f"Warning: {message}", err=True)
        estimated = _graph(estimate)
        true = _graph(truth, estimated)
        facts = metrics.score(true, _graph(estimate, true))
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for title, value in _score_rows(facts):
        typer.echo(f"{title:<22}{value:>9}")
    for note in facts["notes"]:
        typer.echo(f"Note: {note}")


def _graph(argument: str, other: Any = None) -> Any:
    """The graph behind an argument. Nodes that a table of edges leaves out are taken from the other graph."""
    from grandag import datasets
    from grandag.graph import as_graph, read_graph

    if argument in datasets.DATASETS:
        dataset = datasets.load(argument)
        return dataset.adjacency, dataset.names
    if Path(argument).suffix == ".npz":
        from grandag.methods.base import load

        return load(argument)
    names = None if other is None else as_graph(other)[1]
    return read_graph(argument, names or ())


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


@app.command()
def datasets() -> None:
    """List the bundled data sets."""
    from grandag.datasets import DATASETS

    for name, loader in DATASETS.items():
        dataset = loader()
        rows, columns = dataset.data.shape
        n_edges = int(dataset.adjacency.sum())
        typer.echo(f"{name}: {rows} rows, {columns} columns, {n_edges} reference edges. {dataset.provenance}")


app.command()(paper)


def main() -> None:
    """Entry point: bad input ends in one sentence and exit code 1."""
    try:
        app()
    except Exception as error:
        from grandag.methods.base import TrainingError
        from grandag.parameters import ParameterError

        if isinstance(error, ParameterError):
            typer.echo(f"Error: {_option(error.name)} {error.message}", err=True)
            sys.exit(WRONG_USAGE)
        if not isinstance(error, ValueError | OSError | TrainingError):
            raise
        typer.echo(f"Error: {error}", err=True)
        sys.exit(NOT_CONVERGED if isinstance(error, TrainingError) else BAD_INPUT)
