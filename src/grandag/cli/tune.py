"""`grandag tune`: choose hyper-parameters by their held-out score. Nothing heavy is imported before it runs."""

from __future__ import annotations

import time
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from grandag.cli.common import OUTPUT, AsJson, Cluster, Quiet
from grandag.cli.exits import INTERRUPTED, NOT_CONVERGED
from grandag.cli.fit import DATA_HELP, DEFAULT_METHOD, METHOD_NAMES, learn, show
from grandag.cli.inputs import Reading, reads_a_table, table_of
from grandag.cli.options import given_values
from grandag.cli.outputs import check_output_directory
from grandag.progress import progress_lines

__all__ = ["tune"]


class Sampler(StrEnum):
    """Where the parameters of trials come from."""

    random = "random"
    tpe = "tpe"
    genetic = "genetic"


@reads_a_table
def tune(
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    method: Annotated[
        str, typer.Option(metavar=METHOD_NAMES, help="A method with a search space; PC and RANDOM have none.")
    ] = DEFAULT_METHOD,
    trials: Annotated[int, typer.Option(help="Number of combinations of hyper-parameters to try.")] = 50,
    sampler: Annotated[
        Sampler, typer.Option(help="'tpe' and 'genetic' learn from earlier trials, by Optuna.")
    ] = Sampler.random,
    preset: Annotated[str, typer.Option(metavar="NAME", help="Preset for what is not searched.")] = "default",
    seed: Annotated[int, typer.Option(help="Seed of draws, split and fits: the same seed gives the same result.")] = 0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for one trial; it counts as failed after that.")
    ] = None,
    total_time_limit: Annotated[float | None, typer.Option(help="Seconds for all trials together.")] = None,
    n_jobs: Annotated[
        int | None, typer.Option(help="Trials at a time, one thread each. Default: one per core.")
    ] = None,
    cluster: Cluster = None,
    reading: Reading = Reading(),  # noqa: B008
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Directory for trials.csv, best.json and all that `fit` writes.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    **parameters: Any,
) -> None:
    """Choose hyper-parameters by their score on held-out rows, then learn the graph from all rows with the best.

    An option of the method fixes that parameter: it is not searched.
    """
    from grandag.cli.terminal import print_trials
    from grandag.tuning.tune import tune as search

    fixed = given_values(parameters)
    check_output_directory(output, data, fixed.get("knowledge"))
    table = table_of(data, reading, missing=fixed.get("missing", "error"), kinds=fixed.get("kinds"))
    start = time.perf_counter()
    with nullcontext(None) if quiet else progress_lines() as listener:
        result = search(
            table, method, trials, sampler=str(sampler), seed=seed, n_jobs=-1 if n_jobs is None else n_jobs,
            cluster=cluster,
            preset=preset, fixed=fixed, time_limit=time_limit, total_time_limit=total_time_limit,
            listener=listener,
        )  # fmt: skip
    if not quiet and not as_json:
        print_trials(result)
    model = result.estimator()
    if n_jobs is not None and "n_jobs" in model.get_params():
        model.set_params(n_jobs=n_jobs)
    learn(model, table, quiet=quiet)
    model.learned_ = model.learned_.with_note(result.describe())
    seconds = time.perf_counter() - start
    show(model, data, seconds, output, as_json=as_json, quiet=quiet, write_more=result.write)
    was_interrupted = result.was_interrupted or model.learned_.was_interrupted
    if was_interrupted or not model.learned_.converged:
        raise typer.Exit(INTERRUPTED if was_interrupted else NOT_CONVERGED)
