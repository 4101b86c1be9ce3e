"""The drawing in docs/architecture.md, from the real imports: `python -m tools.draw_architecture`."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from tests.import_graph import SOURCE, room_imports
from tests.test_imports import LAYERS

from tools.pages import table, write

__all__ = ["page_parts"]

_WIDTH = 76


def page_parts() -> dict[str, str]:
    """The generated parts of the page: the layers as a drawing, and what each room is and imports."""
    return {"layers": "```text\n" + "\n".join(_drawing()) + "\n```", "rooms": _rooms()}


def _existing() -> list[list[str]]:
    """The rooms of each layer, from top to bottom; rooms that are planned only are left out."""
    known = room_imports()
    layers = [[room for room in layer if room in known] for layer in reversed(LAYERS)]
    return [layer for layer in layers if layer]


def _drawing() -> Iterator[str]:
    edge = "+" + "-" * _WIDTH + "+"
    yield edge
    for layer in _existing():
        for line in textwrap.wrap(" ".join(layer), _WIDTH // 2):
            yield f"|{line.replace(' ', '     '):^{_WIDTH}}|"
        yield edge


def _rooms() -> str:
    imports = room_imports()
    rows = [
        (f"`{room}`", _purpose(room), ", ".join(sorted(imports[room])) or "nothing")
        for layer in _existing()
        for room in layer
    ]
    return table(("room", "what it is", "imports"), rows)


def _purpose(room: str) -> str:
    """The first line of the docstring."""
    package, module = SOURCE / room / "__init__.py", SOURCE / f"{room}.py"
    text = (package if package.exists() else module).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]


if __name__ == "__main__":
    write("architecture.md", page_parts())
