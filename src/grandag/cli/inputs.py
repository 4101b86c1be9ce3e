"""What the arguments of commands stand for: tables and graphs, in files or bundled with the library."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from grandag.cli.common import DATA

if TYPE_CHECKING:
    import pandas as pd

    from grandag.table import Table

__all__ = ["Reading", "complete_rows", "read_truth", "reads_a_table", "table_of", "the_graph"]


def _option(name: str, explanation: str) -> Any:
    return typer.Option(name, help=explanation, rich_help_panel=DATA)


class InterventionKind(StrEnum):
    """What interventions do to their targets."""

    perfect = "perfect"
    imperfect = "imperfect"


class Reading(NamedTuple):
    """How to read a table: the options that every command with data has."""

    columns: Annotated[
        str | None,
        _option("--columns", "Use these columns only: names or patterns (gene*), separated by commas; quote a comma."),
    ] = None
    exclude: Annotated[str | None, _option("--exclude", "Leave these columns out: names or patterns, as above.")] = None
    separator: Annotated[
        str | None, _option("--sep", "What stands between columns, 'tab' for a tab; by default found in the file.")
    ] = None
    decimal: Annotated[str | None, _option("--decimal", "Decimal point, . or ,; by default found in the file.")] = None
    thousands: Annotated[str | None, _option("--thousands", "Sign between groups of three digits, as in 1,234.")] = None
    encoding: Annotated[str | None, _option("--encoding", "Of a text file: utf-8, latin-1, cp1252, ...")] = None
    na_values: Annotated[
        str | None,
        _option("--na-values", "Texts for missing values, separated by commas, beside NA, nothing and so on."),
    ] = None
    interventions: Annotated[
        str | None,
        _option(
            "--interventions",
            "The column that names the targets of each row's intervention, | between several, or nothing; it is no "
            "variable.",
        ),
    ] = None
    intervention_kind: Annotated[
        InterventionKind,
        _option(
            "--intervention-kind",
            "Perfect interventions cut a target off from its causes; after imperfect ones it depends on them in "
            "another way.",
        ),
    ] = InterventionKind.perfect


def reads_a_table(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of `Reading` in the place of its argument `reading`."""
    signature = inspect.signature(command, eval_str=True)
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    options = {
        name: inspect.Parameter(name, keyword_only, default=Reading._field_defaults[name], annotation=annotation)
        for name, annotation in get_type_hints(Reading, include_extras=True).items()
    }
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        is_named = parameter.kind is not inspect.Parameter.VAR_KEYWORD
        own = [parameter.replace(kind=keyword_only) if is_named else parameter]
        parameters += options.values() if parameter.name == "reading" else own

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        reading = Reading(**{name: values.pop(name) for name in options})
        command(reading=reading, **values)

    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper


def table_of(data: str, reading: Reading, *, missing: str, kinds: Any = None) -> Table:
    """The table behind an argument, with its interventions."""
    from grandag.table import as_table

    frame, targets = _read_with_targets(data, reading)
    kind = str(reading.intervention_kind)
    return as_table(frame, missing=missing, kinds=kinds, interventions=targets, intervention_kind=kind)


def _read_with_targets(data: str, reading: Reading) -> tuple[pd.DataFrame, list[Any] | None]:
    """The columns of a table, and the one that names the targets of interventions, if it was asked for."""
    from grandag.reading import select_columns
    from grandag.table import without_targets

    if reading.interventions is None:
        return _read(data, reading), None
    everything = _read(data, reading._replace(columns=None, exclude=None))
    frame, targets = without_targets(everything, reading.interventions)
    return select_columns(frame, reading.columns, reading.exclude), targets


def _read(data: str, reading: Reading) -> pd.DataFrame:
    from grandag import datasets
    from grandag.reading import read_table, select_columns

    if data in datasets.DATASETS:
        return select_columns(datasets.load(data).frame, reading.columns, reading.exclude)
    return read_table(
        data,
        separator={"tab": "\t", "space": r"\s+"}.get(reading.separator or "", reading.separator),
        decimal=reading.decimal,
        thousands=reading.thousands,
        encoding=reading.encoding,
        na_values=[] if reading.na_values is None else [text.strip() for text in reading.na_values.split(",")],
        columns=reading.columns,
        exclude=reading.exclude,
    )


def complete_rows(data: str, reading: Reading, missing: str, kinds: str | None = None) -> Table:
    """The table behind an argument, for commands whose --missing is not a parameter of one method."""
    from grandag.parameters import ParameterError, check_parameters, one_of

    if missing == "impute":
        raise ParameterError(
            "missing",
            "can be 'impute' for `grandag fit` alone, which fits each completed table: fit the method that you want "
            "with --missing impute, or drop the rows with --missing drop.",
        )
    check_parameters({"missing": missing}, {"missing": one_of("error", "drop")})
    return table_of(data, reading, missing=missing, kinds=kinds)


def the_graph(argument: str, other: Any = None) -> Any:
    """The graph behind an argument. Nodes that a table of edges leaves out are taken from the other graph."""
    from grandag import datasets
    from grandag.graph import as_graph, read_graph

    if argument in datasets.DATASETS:
        dataset = datasets.load(argument)
        return dataset.adjacency, dataset.names
    if Path(argument).suffix == ".npz":
        from grandag.methods.storage import load

        return load(argument)
    names = None if other is None else as_graph(other)[1]
    return read_graph(argument, names or ())


def read_truth(data: str, names: tuple[str, ...], report: Path | None, truth: str | None) -> Any:
    """The true graph for a report: as given, or that of a bundled data set if all its columns are there."""
    if report is None:
        if truth is not None:
            raise typer.BadParameter("is for the page of --report, which was not asked for.", param_hint="--truth")
        return None
    import networkx as nx

    from grandag import datasets
    from grandag.metrics.matching import matched

    if truth is None:
        is_known = data in datasets.DATASETS and names == datasets.load(data).names
        return the_graph(data) if is_known else None
    nodes: nx.DiGraph[str] = nx.DiGraph()
    nodes.add_nodes_from(names)
    graph = the_graph(truth, nodes)
    matched(graph, nodes)
    return graph
