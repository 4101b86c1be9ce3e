"""`grandag effect`: what an intervention does, by a learned model. Nothing heavy is imported before it runs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grandag.cli.common import CONFIDENCE, AsJson, Cluster, Quiet, Seed, json_text, visible
from grandag.cli.fit import DATA_HELP, DEFAULT_METHOD, METHOD_NAMES, Preset, learn
from grandag.cli.inputs import Reading, reads_a_table, table_of
from grandag.cli.options import given_values
from grandag.methods.registry import build

if TYPE_CHECKING:
    from grandag.table import Table

__all__ = ["effect"]


@reads_a_table
def effect(
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    cause: Annotated[str, typer.Option("--of", help="The column that is set.")],
    outcome: Annotated[str, typer.Option("--on", help="The column that is looked at.")],
    low: Annotated[
        str | None,
        typer.Option(
            help="Set the cause to this number or label; by default its lower quartile, or first of two labels."
        ),
    ] = None,
    high: Annotated[
        str | None, typer.Option(help="Or to this; by default its upper quartile, or the second of two labels.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The label of the outcome whose probability is looked at, if it has labels.")
    ] = None,
    method: Annotated[
        str, typer.Option(metavar=METHOD_NAMES, help="The method that learns the graph.")
    ] = DEFAULT_METHOD,
    preset: Preset = "default",
    seed: Seed = 0,
    n_jobs: Annotated[int, typer.Option(help="Processes for the refits, -1 for all cores.")] = -1,
    cluster: Cluster = None,
    reading: Reading = Reading(),  # noqa: B008
    resamples: Annotated[
        int, typer.Option(min=2, help="Refits to bootstrap samples, for the interval.", rich_help_panel=CONFIDENCE)
    ] = 20,
    level: Annotated[
        float, typer.Option(help="Share of the refits in the interval.", rich_help_panel=CONFIDENCE)
    ] = 0.9,
    as_json: AsJson = False,
    quiet: Quiet = False,
    **parameters: Any,
) -> None:
    """Learn a graph, and say how the mean of one column changes when another is set to a high instead of a low value.

    The interval is of refits to bootstrap samples, graph and curves: with few rows it is wide, and says so.
    """
    from grandag.diagnostics import Concern

    model = build(method, given_values(parameters), preset=preset, seed=seed)
    table = table_of(data, reading, missing=model.missing, kinds=model.kinds)
    _check_names((cause, outcome), table.names)
    ends = {"low": _value(low, "--low", cause, table), "high": _value(high, "--high", cause, table)}
    learn(model, table, quiet=quiet)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = model.average_effect(
            cause, outcome, table, **ends, label=label, resamples=resamples, level=level, n_jobs=n_jobs,
            cluster=cluster, random_state=seed,
        )  # fmt: skip
    notes = model.learned_.notes
    far = [Concern("far intervention", (cause,), {}, str(warning.message)) for warning in caught]
    concerns = [*far, *model.learned_.concerns]
    if as_json:
        doubts = {"notes": notes, "warnings": [asdict(concern) for concern in concerns]}
        typer.echo(json_text({"data": data, "method": method, **asdict(result), **doubts}))
    elif not quiet:
        typer.echo("\n".join([visible(result.describe()), *(f"Note: {visible(note)}" for note in notes)]))
    if not quiet:
        for concern in concerns:
            typer.echo(f"Warning: {visible(concern.message)}", err=True)


def _check_names(wanted: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a column that the table has not before the fit, which may take minutes."""
    from grandag.table import TableError, suggestion

    for name in wanted:
        if name not in names:
            raise TableError(f"The table has no column {name!r}{suggestion(name, names) or '.'}")


def _value(word: str | None, option: str, cause: str, table: Table) -> float | str | None:
    """A number or label of the cause, refused before the fit if it is neither."""
    labels = table.labels[table.names.index(cause)]
    if word is None or word in labels:
        return word
    try:
        return float(word)
    except ValueError:
        known = f"one of the labels {', '.join(labels)}" if labels else "a number"
        raise typer.BadParameter(f"must be {known}; got {word!r}.", param_hint=option) from None
