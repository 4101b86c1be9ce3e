"""Options of the command line from the parameters that a method declares: one option each, named like the parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from grandag.methods.registry import options_of

if TYPE_CHECKING:
    from grandag.parameters import Parameter, ParameterError, Rule

__all__ = ["Given", "chosen", "given_values", "option_of", "usage_error", "with_options_of"]

_NAMES = {"random_state": "--seed", "fixed": "The method's options"}
"""What a person calls a parameter, where there is no option of its name."""

_FILES = {"knowledge": "Forbidden and required edges: a file in TOML or Tetrad's format."}
"""Parameters that are files on the command line, and may be more in Python."""

_PANELS = {"knowledge": "Data", "missing": "Data", "standardise": "Data"}


class Given(NamedTuple):
    """A value that was given on the command line, which may be None."""

    value: Any


def option_of(parameter: str) -> str:
    """The option for a parameter: its name with dashes."""
    return _NAMES.get(parameter, f"--{parameter.replace('_', '-')}")


def given_values(options: Mapping[str, Given | bool | None]) -> dict[str, Any]:
    """Parameters and values of those options that were given."""
    return {
        name: option.value if isinstance(option, Given) else option
        for name, option in options.items()
        if option is not None
    }


def chosen(arguments: Sequence[str], option: str, default: str) -> str:
    """The value of an option before the command line is parsed, as the other options depend on it."""
    for position, argument in enumerate(arguments):
        if argument == option and position + 1 < len(arguments):
            return arguments[position + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return default


def with_options_of(command: Callable[..., None], method: str | None, preset: str) -> Callable[..., None]:
    """A command whose `**parameters` are the options of a method, if any, with the defaults of a preset."""
    options = [] if method is None else list(_options(method, preset))
    signature = inspect.signature(command, eval_str=True)
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        command(**values)

    parameters = [*options, *own]
    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper


def _options(method: str, preset: str) -> Iterator[inspect.Parameter]:
    for name, declared in options_of(method).items():
        yield _option(name, declared, preset, panel=f"Options of {method}")


def _option(name: str, declared: Parameter, preset: str, panel: str) -> inspect.Parameter:
    from grandag.parameters import boolean, word_of

    value = declared.value_in(preset)
    option, kind = option_of(name), declared.rule
    settings: dict[str, Any] = {
        "help": _FILES.get(name, declared.description),
        "rich_help_panel": _PANELS.get(name, panel),
        "show_default": word_of(value),
    }
    if kind is boolean:
        annotation: Any = Annotated[bool | None, typer.Option(f"{option}/--no-{option[2:]}", **settings)]
    else:
        parser = functools.partial(_parse, kind)
        metavar = "PATH" if name in _FILES else _metavar(kind)
        annotation = Annotated[Any, typer.Option(option, parser=parser, metavar=metavar, **settings)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _parse(rule: Rule, word: str | Given) -> Given:
    if isinstance(word, Given):
        return word
    try:
        return Given(rule.parse(word))
    except ValueError:
        raise typer.BadParameter(f"must be {rule.description}; got {word!r}.") from None


def _metavar(rule: Rule) -> str:
    if rule.words:
        return f"[{'|'.join(rule.words)}]"
    return {int: "INTEGER", float: "NUMBER"}.get(rule.parse, "VALUE")  # type: ignore[call-overload, no-any-return]


def usage_error(error: ParameterError) -> str:
    """A parameter's error in terms of its option."""
    return f"{option_of(error.name)} {error.message}"
