"""The imports of the library, read from its source: all of them, also those in functions and for type checkers only.

A room is a package or module directly below `grandag`. `grandag` itself, which re-exports the public names, is none.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "grandag"


def modules(source: Path = SOURCE) -> dict[str, Path]:
    """The files of all modules by name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join((source.name, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    return found


def module_imports(source: Path = SOURCE) -> dict[str, set[str]]:
    """For each module the modules of the library that it imports.

    `from package import name` is an import of `package.name` where this is a module, otherwise of the package.
    """
    known = modules(source)
    return {
        name: set(_imported(ast.walk(ast.parse(path.read_text(encoding="utf-8"))), known)) - {name}
        for name, path in known.items()
    }


def _imported(nodes: Iterable[ast.AST], known: Iterable[str]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError("imports within the library are absolute, so that they can be searched for")
            for alias in node.names:
                names = (f"{node.module}.{alias.name}", str(node.module))
                yield from [name for name in names if name in known][:1]


def room_of(module: str) -> str:
    """The room of a module; the library's own name for the package at the top."""
    return module.split(".")[1] if "." in module else module


def room_imports(source: Path = SOURCE) -> dict[str, set[str]]:
    """For each room the rooms that its modules import: the drawing of the library's architecture."""
    found: dict[str, set[str]] = {}
    for module, imported in module_imports(source).items():
        if module != source.name:
            found.setdefault(room_of(module), set()).update(map(room_of, imported))
    return {room: found[room] - {room, source.name} for room in sorted(found)}
