"""`grandag fit`: learn a graph from a table. Nothing heavy is imported before it runs."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grandag.cli.common import CONFIDENCE, OUTPUT, AsJson, Cluster, Quiet, Seed, json_text, visible
from grandag.cli.exits import INTERRUPTED, NOT_CONVERGED
from grandag.cli.inputs import Reading, read_truth, reads_a_table, table_of
from grandag.cli.options import given_values
from grandag.cli.outputs import check_output_directory, check_output_file
from grandag.methods.registry import METHODS, build
from grandag.progress import progress_line
from grandag.writing import write_text

if TYPE_CHECKING:
    from grandag.methods.estimator import StructureLearner
    from grandag.report.facts import FitSummary
    from grandag.resampling import Confidence
    from grandag.table import Table

__all__ = ["DATA_HELP", "DEFAULT_METHOD", "METHOD_NAMES", "Preset", "fit", "learn", "show"]

DEFAULT_METHOD = "grandag"
_MOST_RECORDED = 200
"""Variables of a fit that is recorded for its report: a copy of A_phi for every evaluation is 4 d^2 bytes each."""
METHOD_NAMES = f"[{'|'.join(METHODS)}]"


class ResampleKind(StrEnum):
    """What refits differ in."""

    bootstrap = "bootstrap"
    subsample = "subsample"
    restarts = "restarts"


DATA_HELP = "A CSV, TSV or Parquet file with a header, a .npy file, or the name of a bundled data set."
Preset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="'default'; 'fast' for GraN-DAG without the search by evidence; or 'paper' for the recipe behind the "
        "paper's tables. Options override it.",
    ),
]
METHOD_HELP = " ".join(f"{method.description}." for method in METHODS.values())


@reads_a_table
def fit(
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    method: Annotated[
        str,
        typer.Option(metavar=METHOD_NAMES, help=f"{METHOD_HELP} `--method NAME --help` shows the options of a method."),
    ] = DEFAULT_METHOD,
    preset: Preset = "default",
    seed: Seed = 0,
    n_jobs: Annotated[
        int | None,
        typer.Option(help="Threads (processes of --resamples), -1 for all cores; results do not depend on it."),
    ] = None,
    cluster: Cluster = None,
    reading: Reading = Reading(),  # noqa: B008
    resamples: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Refit so many times and count the edges; by default four times, to halves of the rows, where that "
            "takes seconds, and not at all elsewhere.",
            rich_help_panel=CONFIDENCE,
        ),
    ] = None,
    resample_kind: Annotated[
        ResampleKind | None,
        typer.Option(
            help="Bootstrap samples, which --resamples takes by default, halves of the rows, or other starts.",
            rich_help_panel=CONFIDENCE,
        ),
    ] = None,
    check_interventions: Annotated[
        bool,
        typer.Option(
            "--check-interventions",
            help="Refit without each regime of interventions, and say how well it is predicted.",
            rich_help_panel=CONFIDENCE,
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Directory for the edges, graph files, drawing, model and configuration.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="An HTML page: graph, edges, training, curves, reasons to doubt.", rich_help_panel=OUTPUT),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="The true graph, for the report only: a graph file. Bundled data sets have theirs.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    **parameters: Any,
) -> None:
    """Learn a graph from a table and print its edges."""
    _check_cluster(cluster, resamples)
    if check_interventions and reading.interventions is None:
        raise typer.BadParameter("needs the column of --interventions.", param_hint="--check-interventions")
    given = given_values(parameters)
    model = build(method, given, preset=preset, seed=seed)
    if n_jobs is not None and "n_jobs" in model.get_params():
        model.set_params(n_jobs=n_jobs)
    inputs = (data, truth, given.get("knowledge"))
    check_output_directory(output, report, *inputs)
    check_output_file(report, *inputs, option="--report")
    table = table_of(data, reading, missing=model.missing, kinds=model.kinds)
    true = read_truth(data, table.names, report, truth)
    start = time.perf_counter()
    learn(model, table, quiet=quiet, for_report=report is not None)
    refits, was_interrupted = None, model.learned_.was_interrupted
    if not was_interrupted:
        refits, was_interrupted = _refit(model, table, resamples, resample_kind, seed, n_jobs, cluster, quiet)
    if check_interventions and not was_interrupted:
        _check_interventions(model, table, n_jobs, quiet=quiet)
    from grandag.report.files import write_confidence

    write_more = None if refits is None else partial(write_confidence, refits)
    seconds = time.perf_counter() - start
    summary = show(model, data, seconds, output, as_json=as_json, quiet=quiet, write_more=write_more)
    if report is not None:
        from grandag.report.fit_page import page_of

        report.parent.mkdir(parents=True, exist_ok=True)
        write_text(report, page_of(summary, table, truth=true))
        if not quiet:
            typer.echo(f"Page: {report}", err=as_json)
    if was_interrupted:
        raise typer.Exit(INTERRUPTED)
    if not model.learned_.converged:
        raise typer.Exit(NOT_CONVERGED)


def learn(model: StructureLearner, table: Table, *, quiet: bool, for_report: bool = False) -> None:
    """Fit with a progress line; what a report needs is recorded without a trace in the parameters."""
    if quiet:
        logging.getLogger("grandag").setLevel(logging.ERROR)
    recorded = model.recorded_for_reports if for_report and len(table.names) <= _MOST_RECORDED else {}
    before = {name: getattr(model, name) for name in recorded}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to warn of is shown with the result
        with nullcontext(None) if quiet else progress_line() as listener:
            model.set_params(**recorded).fit(table, listener=listener)
    model.set_params(**before)


def _check_cluster(cluster: str | None, resamples: int | None) -> None:
    """Refuse a cluster that has nothing to do, or that is not there, before the fit."""
    if cluster is None:
        return
    if not resamples:
        raise typer.BadParameter("is for --resamples: a single fit runs on this machine.", param_hint="--cluster")
    from grandag.executors import cluster_size

    cluster_size(cluster)


def _refit(
    model: StructureLearner,
    table: Table,
    resamples: int | None,
    kind: ResampleKind | None,
    seed: int,
    n_jobs: int | None,
    cluster: str | None,
    quiet: bool,
) -> tuple[Confidence | None, bool]:
    """Refit, if that was asked for or takes seconds, and give the model the frequencies of its edges.

    Returns the refits, None if there are none, and whether they were interrupted.
    """
    from grandag.executors import ClusterLostError
    from grandag.learned import TrainingError
    from grandag.resampling import attach, confidence, halves_by_default

    was_asked = resamples is not None
    if resamples is None:
        resamples, kind, n_jobs = halves_by_default(model, table), kind or ResampleKind.subsample, n_jobs or 1
    if not resamples:
        return None, False
    kind = kind or ResampleKind.bootstrap
    where: dict[str, Any] = {"n_jobs": -1 if n_jobs is None else n_jobs, "cluster": cluster}
    try:
        with nullcontext(None) if quiet else progress_line() as listener:
            refits = confidence(model, table, resamples, str(kind), random_state=seed, listener=listener, **where)
    except (KeyboardInterrupt, ClusterLostError) as error:
        reason = "Interrupted" if isinstance(error, KeyboardInterrupt) else "The cluster was lost"
        typer.echo(f"{reason} before the first refit was done: the graph is without frequencies.", err=True)
        return None, True
    except TrainingError:  # of halves of a short table, as where a required edge's column does not vary
        if was_asked:
            raise
        return None, False
    attach(model, refits)
    return refits, refits.was_interrupted


def _check_interventions(model: StructureLearner, table: Table, n_jobs: int | None, *, quiet: bool) -> None:
    """Give the model what refits without each regime predict for it."""
    from grandag.intervention_check import check_interventions, with_check

    with nullcontext(None) if quiet else progress_line() as listener:
        found = check_interventions(model, table, n_jobs=-1 if n_jobs is None else n_jobs, listener=listener)
    model.learned_ = with_check(model.learned_, found)


def show(
    model: StructureLearner,
    data: str,
    seconds: float,
    output: Path | None,
    *,
    as_json: bool,
    quiet: bool,
    write_more: Callable[[Path], None] | None = None,
) -> FitSummary:
    """Write the files, print the result, and print the reasons to doubt it on standard error."""
    from grandag.report.facts import FitSummary
    from grandag.report.files import write_results

    summary = FitSummary(model, data, seconds)
    if output is not None:
        write_results(summary, output, write_more)
    if as_json:
        typer.echo(json_text(summary.facts))
    elif not quiet:
        from grandag.cli.terminal import print_result

        print_result(summary.facts, output)
    if not quiet:
        for concern in model.learned_.concerns:
            typer.echo(f"Warning: {visible(concern.message)}", err=True)
    return summary
