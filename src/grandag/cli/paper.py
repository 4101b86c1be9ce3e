"""`grandag paper`: the paper's tables and figures on the command line. Heavy modules are imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grandag.cli import interruption
from grandag.cli.exits import BAD_INPUT
from grandag.cli.outputs import check_output_directory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grandag.reproduction.result_table import ResultTable
    from grandag.reproduction.specification import Experiment

__all__ = ["paper"]

_LOG_WIDTH = 160
"""The width of tables in a file or pipe, which have no width of their own."""

_WHAT, _HOW, _OUTPUT = "What to run", "How to run it", "Output"


def paper(
    name: Annotated[
        str, typer.Argument(help="A table or figure (table1 to table24, figure1), all, or list to see what they are.")
    ],
    datasets: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of data sets per column. Default: 10, as in the paper.", rich_help_panel=_WHAT
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Run only these methods or rows: 'grandag,cam', 'GraN-DAG (default)'. Methods that the paper does not "
            "have, as lingam or resit, are further rows.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(help="Run only columns with these numbers of nodes: '10,50'.", rich_help_panel=_WHAT),
    ] = None,
    graphs: Annotated[
        str | None, typer.Option(help="Run only columns with these graphs: 'ER1,SF4'.", rich_help_panel=_WHAT)
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(help="Run only columns with these numbers of rows: '500,1000'.", rich_help_panel=_WHAT),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of combinations per data set in the hyper-parameter search (table15 to table23).",
            rich_help_panel=_WHAT,
        ),
    ] = 50,
    authors_data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the authors' released files, to be used instead of simulated data.", rich_help_panel=_WHAT
        ),
    ] = None,
    store: Annotated[
        Path,
        typer.Option(help="File of finished jobs, which are not run again.", rich_help_panel=_HOW),
    ] = Path("grandag-results.sqlite"),
    retry: Annotated[
        bool, typer.Option("--retry", help="Run jobs again that failed or ran out of time.", rich_help_panel=_HOW)
    ] = False,
    n_jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of jobs at the same time. Default: one per core.", rich_help_panel=_HOW),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0.001, help="Seconds per job; 12 hours, as in the paper.", rich_help_panel=_HOW)
    ] = 12 * 3600.0,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask scheduler, whose workers do the jobs, one thread each.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    estimate: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="CORES",
            help="Run nothing; say what it costs on so many cores, from finished jobs of the store that are alike.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Directory for a page (HTML), Markdown, LaTeX, CSV and SVG.", rich_help_panel=_OUTPUT
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Reproduce a table or figure of the paper, and print our results beside the paper's."""
    from grandag.executors import ClusterLostError
    from grandag.reproduction.run import Execution, cost, reproduce, write_results
    from grandag.reproduction.store import Store

    if name == "list":
        _list()
        return
    check_output_directory(output)
    if n_jobs is not None and cluster is not None:
        raise typer.BadParameter("is for this machine; a cluster has its own number of workers.", param_hint="--n-jobs")
    experiments = _chosen(name, methods, nodes, graphs, rows)
    if authors_data is not None:
        experiments = _released(experiments, quiet)
    if estimate is not None:
        with Store(store) as finished:
            found = cost(experiments, finished, estimate, n_datasets=datasets, n_trials=trials, authors=authors_data)
        typer.echo(found.describe())
        return
    interruption.continues_from(store)
    try:
        with Store(store) as finished:
            reproduction = reproduce(
                experiments,
                finished,
                n_datasets=datasets,
                n_trials=trials,
                authors=authors_data,
                retry=retry,
                execution=Execution(-1 if n_jobs is None else n_jobs, cluster, time_limit),
                quiet=quiet,
            )
    except ClusterLostError as error:
        raise ClusterLostError(f"{error} Finished jobs are stored: run it again to continue.") from None
    written = write_results(reproduction, output) if output is not None else []
    if not quiet:
        _print(reproduction.tables(), written)
    n_failed = sum(result.status == "failed" for result in reproduction.results.values())
    if n_failed:
        typer.echo(f"{n_failed:,} of {len(reproduction.results):,} jobs failed; --retry runs them again.", err=True)
        raise typer.Exit(BAD_INPUT)


def _list() -> None:
    from grandag.reproduction.specification import EXPERIMENTS

    for experiment in EXPERIMENTS.values():
        columns = ", ".join(setting.name for setting in experiment.columns)
        typer.echo(f"{experiment.name:<9}{experiment.title}{': ' if columns else ''}{columns}")


def _chosen(
    name: str, methods: str | None, nodes: str | None, graphs: str | None, rows: str | None
) -> list[Experiment]:
    """The experiments of this name, with only the rows and columns asked for."""
    from grandag.reproduction.specification import RELATED, find, narrowed

    found = find(name)
    learners = [row for experiment in found for row in experiment.rows]
    settings = [setting for experiment in found for setting in experiment.columns]
    numbers_of_nodes, numbers_of_rows = _numbers(nodes, "--nodes"), _numbers(rows, "--rows")
    aliases = [row.method for row in (*learners, *RELATED)]
    _check(f"{name} has no method", _words(methods), [row.name for row in learners], aliases)
    _check(f"{name} has no graph", _words(graphs), [setting.graph for setting in settings if setting.graph])
    _check(f"{name} has no number of nodes", numbers_of_nodes, [setting.n_nodes for setting in settings])
    _check(f"{name} has no number of rows", numbers_of_rows, [setting.n_rows for setting in settings])
    chosen = [
        narrowed(
            experiment,
            methods=_words(methods),
            nodes=numbers_of_nodes,
            graphs=_words(graphs),
            n_rows=numbers_of_rows,
        )
        for experiment in found
    ]
    kept = [new for new, old in zip(chosen, found, strict=True) if (new.rows and new.columns) or not old.rows]
    if kept:
        return kept
    columns = dict.fromkeys(
        f"{setting.n_nodes} nodes {setting.graph or setting.name} {setting.n_rows:,} rows" for setting in settings
    )
    raise ValueError(
        f"--methods, --nodes, --graphs and --rows leave nothing of {name}: it has data of {', '.join(columns)}."
    )


def _released(experiments: list[Experiment], quiet: bool) -> list[Experiment]:
    """Leave out columns for which the authors released no data, and say which; keep all if none would be left."""
    from grandag.reproduction.specification import released

    pairs = [(experiment, released(experiment)) for experiment in experiments]
    if not any(kept.columns for _, kept in pairs):
        return experiments
    left_out = [
        f"{old.name} ({', '.join(column.name for column in old.columns if not column.is_released)})"
        for old, kept in pairs
        if kept != old
    ]
    if left_out and not quiet:
        typer.echo(f"Left out, since the authors released no data for them: {'; '.join(left_out)}.", err=True)
    return [kept for old, kept in pairs if kept.columns or not old.columns]


def _check(
    complaint: str, wanted: Iterable[str | int], known: Iterable[str | int], aliases: Iterable[str] = ()
) -> None:
    """Refuse an unknown name instead of ignoring it."""
    names = list(dict.fromkeys(map(str, known)))
    accepted = {word.casefold() for word in (*names, *aliases)}
    for word in wanted:
        if str(word).casefold() not in accepted:
            raise ValueError(f"{complaint} {word!r}: it has {', '.join(names) or 'none to choose from'}.")


def _words(text: str | None) -> list[str]:
    return [] if text is None else [word.strip() for word in text.split(",")]


def _numbers(text: str | None, option: str) -> list[int]:
    try:
        return [int(word.replace("_", "")) for word in _words(text)]
    except ValueError:
        raise typer.BadParameter(
            f"must be whole numbers, separated by commas; got {text!r}.", param_hint=option
        ) from None


def _print(tables: list[ResultTable], written: list[Path]) -> None:
    from rich.console import Console

    from grandag.reproduction.rendering import to_terminal

    console = Console()
    if not console.is_terminal:
        console.width = _LOG_WIDTH
    for table in tables:
        console.print(to_terminal(table))
    if written:
        console.print(f"Written: {', '.join(map(str, written))}", highlight=False, soft_wrap=True)
