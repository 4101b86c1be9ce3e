"""The commands together. Exit codes: 0 good, 1 bad input or failed jobs, 2 usage, 3 not converged, 130 interrupted."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from grandag.cli import interruption
from grandag.cli.common import visible
from grandag.cli.compare import compare
from grandag.cli.draw import draw
from grandag.cli.effect import effect
from grandag.cli.exits import BAD_INPUT, INTERRUPTED, NOT_CONVERGED, WRONG_USAGE
from grandag.cli.fit import DEFAULT_METHOD, fit
from grandag.cli.options import chosen, usage_error, with_options_of
from grandag.cli.paper import paper
from grandag.cli.refine import refine
from grandag.cli.score import score
from grandag.cli.serve import serve
from grandag.cli.simulate import simulate
from grandag.cli.tune import tune
from grandag.version import __version__

__all__ = ["app_for", "run"]


def _print_version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def datasets() -> None:
    """List the bundled data sets."""
    from grandag.datasets import DATASETS

    for name, loader in DATASETS.items():
        dataset = loader()
        rows, columns = dataset.data.shape
        n_edges = int(dataset.adjacency.sum())
        typer.echo(f"{name}: {rows} rows, {columns} columns, {n_edges} reference edges. {dataset.provenance}")


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The program for these arguments: `fit`, `effect` and `tune` have the options of the method that was chosen."""
    app = typer.Typer(
        name="grandag",
        help="Learn causal graphs from tables: gradient-based neural DAG learning and the methods it is compared with.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    method, preset = chosen(arguments, "--method", DEFAULT_METHOD), chosen(arguments, "--preset", "default")
    for command in (fit, effect, tune):
        is_meant = command.__name__ in arguments[:1]
        app.command()(_interruptible(with_options_of(command, method if is_meant else None, preset)))
    for other in (serve, compare, refine, draw, simulate, score, datasets, paper):
        app.command()(_interruptible(other))
    return app


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which Ctrl-C ends with exit code 130 and a word on what has been written."""

    @functools.wraps(command)
    def wrapper(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            typer.echo(interruption.sentence(), err=True)
            raise typer.Exit(INTERRUPTED) from None

    return wrapper


def run() -> None:
    """Run the command that the program was called with: bad input ends in one sentence and exit code 1."""
    try:
        app_for(sys.argv[1:])()
    except Exception as error:
        from grandag.learned import TrainingError
        from grandag.parameters import ParameterError

        if isinstance(error, ParameterError):
            typer.echo(f"Error: {visible(usage_error(error))}", err=True)
            sys.exit(WRONG_USAGE)
        if not isinstance(error, ValueError | OSError | TrainingError | MemoryError):
            raise
        message = "This takes more memory than there is." if isinstance(error, MemoryError) else str(error)
        typer.echo(f"Error: {visible(message)}", err=True)
        sys.exit(NOT_CONVERGED if isinstance(error, TrainingError) else BAD_INPUT)
