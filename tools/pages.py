"""Parts of documentation pages that are made from the code, between two comments that name the part.

    <!-- generated: NAME, by `make generate` -->
    ...
    <!-- end of NAME -->

Everything outside of such parts is written by hand and stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["DOCS", "cell", "table", "with_parts", "write"]

DOCS = Path(__file__).parents[1] / "docs"


def with_parts(page: str, parts: Mapping[str, str]) -> str:
    """A page with its generated parts made anew; every part must have its place, exactly once."""
    for name, text in parts.items():
        start, end = f"<!-- generated: {name}, by `make generate` -->", f"<!-- end of {name} -->"
        place = re.compile(f"{re.escape(start)}\n.*?{re.escape(end)}", flags=re.DOTALL)
        if len(place.findall(page)) != 1:
            raise ValueError(f"The page has no single place for {name!r}: it needs the lines {start!r} and {end!r}.")
        filled = f"{start}\n\n{text.strip()}\n\n{end}"
        page = place.sub(lambda _, filled=filled: filled, page)
    return page


def write(name: str, parts: Mapping[str, str]) -> None:
    """Make the generated parts of a page anew, and say whether anything changed."""
    path = DOCS / name
    before = path.read_text(encoding="utf-8")
    after = with_parts(before, parts)
    path.write_text(after, encoding="utf-8")
    print(f"docs/{name}: {'as it was' if after == before else 'written'}")


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; columns that are empty in all rows are left out."""
    kept = [position for position in range(len(header)) if any(row[position] for row in rows)]
    lines = [[header[position] for position in kept], ["---"] * len(kept)]
    lines += [[cell(row[position]) for position in kept] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
