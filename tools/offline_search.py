"""The search of the site without requests, so that it works from a folder, too: a hook of mkdocs (mkdocs.yml).

mkdocs searches in a worker that fetches the index; browsers refuse both to a page that was opened as a file. A script
may be loaded from anywhere, so the index becomes one, and `tools/theme/search/main.js` searches in the page itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["on_post_build", "sections_of"]


def sections_of(documents: list[dict[str, str]]) -> list[dict[str, str]]:
    """The sections of all pages, each with the title of its page; mkdocs' index has whole pages as well.

    >>> documents = [{"location": "a.html", "title": "A"}, {"location": "a.html#b", "title": "B"}]
    >>> sections_of(documents)
    [{'location': 'a.html#b', 'title': 'B', 'page': 'A'}]
    """
    titles = {document["location"]: document["title"] for document in documents}
    places = [document["location"].partition("#") for document in documents]
    return [
        {**document, "page": titles[page]}
        for document, (page, _, anchor) in zip(documents, places, strict=True)
        if anchor
    ]


def on_post_build(config: Any) -> None:
    """Called by mkdocs when the site, with its index, is complete."""
    folder = Path(config.site_dir) / "search"
    path = folder / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    content = {"separator": index["config"]["separator"], "sections": sections_of(index["docs"])}
    (folder / "search_index.js").write_text(f"const searchIndex = {json.dumps(content)};\n", encoding="utf-8")
    for unused in (path, folder / "worker.js"):
        unused.unlink()
