"""The options in docs/command_line.md, from the commands' declarations: `python -m tools.document_commands`.

What is declared is read, not what typer makes of it: different versions of typer print the same help differently.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple

from typer.models import ArgumentInfo, OptionInfo

from grandag.cli.app import app_for
from grandag.cli.options import option_of
from grandag.methods.registry import METHODS
from tools.pages import table, write

__all__ = ["Declared", "commands", "declared_in", "page_parts"]

_KINDS = {int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH"}


class Declared(NamedTuple):
    """An argument or option of a command."""

    name: str  # as one writes it
    default: str
    help: str
    is_of_method: bool  # one of the options that the method adds


def page_parts() -> dict[str, str]:
    """The generated parts of the page: all commands, and the options that each method adds."""
    return {"commands": "\n\n".join(_commands()), "options of methods": "\n\n".join(_methods())}


def commands(arguments: Sequence[str] = ()) -> dict[str, Any]:
    """The commands of the program for these arguments, by name."""
    found = app_for(arguments).registered_commands
    return {info.name or info.callback.__name__: info.callback for info in found if info.callback is not None}


def declared_in(command: Any) -> Iterator[Declared]:
    """Arguments, then options of the command itself, then those of a method."""
    found = [_declared(parameter) for parameter in inspect.signature(command, eval_str=True).parameters.values()]
    yield from sorted(found, key=lambda declared: (declared.name.startswith("-"), declared.is_of_method))


def _commands() -> Iterator[str]:
    for name, command in commands().items():
        summary, *rest = inspect.getdoc(command).split("\n\n")
        paragraphs = [" ".join(paragraph.split()) for paragraph in (summary, *rest)]
        yield "\n\n".join([f"### grandag {name}", *paragraphs, _table(list(declared_in(command)))]).rstrip()


def _methods() -> Iterator[str]:
    for name, method in METHODS.items():
        own = [
            declared for declared in declared_in(commands(["fit", "--method", name])["fit"]) if declared.is_of_method
        ]
        yield f"### --method {name}\n\n{method.description}.\n\n{_table(own)}"


def _table(rows: Sequence[Declared]) -> str:
    return (
        table(("option", "default", "meaning"), [(f"`{row.name}`", row.default, row.help) for row in rows])
        if rows
        else ""
    )


def _declared(parameter: inspect.Parameter) -> Declared:
    kind, info = typing.get_args(parameter.annotation)
    if isinstance(info, ArgumentInfo):
        return Declared(parameter.name.upper(), "", info.help or "", is_of_method=False)
    is_of_method = (info.rich_help_panel or "").startswith("Options of") or isinstance(info.show_default, str)
    default = info.show_default if isinstance(info.show_default, str) else _word(parameter.default)
    return Declared(
        _written(parameter.name, kind, info), f"`{default}`" if default else "", info.help or "", is_of_method
    )


def _written(name: str, kind: Any, info: OptionInfo) -> str:
    stated = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    names = ", ".join(stated) or option_of(name)  # the first name of `typer.Option` goes by `default`
    kinds = [part for part in typing.get_args(kind) or (kind,) if part is not NoneType]
    if kinds == [bool]:
        return names if stated else f"{names}/--no-{names[2:]}"
    return f"{names} {_choices(info.metavar) if info.metavar else _kind(kinds[0])}"


def _choices(metavar: str) -> str:
    """[a|b] as {a,b}: a bar would end the cell of a table."""
    return "{" + metavar[1:-1].replace("|", ",") + "}" if "|" in metavar else metavar


def _kind(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "{" + ",".join(str(member.value) for member in kind) + "}"
    return _KINDS[kind]


def _word(default: Any) -> str:
    """A default as one would write it; nothing where there is none, or where the help says what it is."""
    if default is None or default is False or default is inspect.Parameter.empty:
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


if __name__ == "__main__":
    write("command_line.md", page_parts())
