"""Pictures of the workbench for README and documentation: `python -m tools.picture_workbench`, or `make pictures`.

A walk through the Sachs example in Chromium, as docs/workbench.md tells it; what the page says on the way is printed.
"""

from __future__ import annotations

from pathlib import Path

from tests.report.browser import chromium
from tests.serve.bench import Site, serving

__all__ = ["main"]

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    """Learn, forbid an edge, learn again, compare, ask what if; a picture of each."""
    with serving("sachs") as bench, chromium() as session:
        site = Site(session, bench.address).visit(height=820)
        site.see(".columns-table")
        site.press("#learn-button")
        site.wait_for_graph(1)
        print("First graph:", bench.fit(1)["headline"])
        site.press_edge("Akt", "Erk")
        site.see("#detail .curve")
        site.see("#detail [data-edit=forbid]")
        _take(site, "graph")
        site.press("#detail [data-edit=forbid]")
        site.see(".known li", "forbidden")
        site.press("#learn-button")
        site.wait_for_graph(2)
        print("Second graph:", bench.fit(2)["headline"])
        site.tab("compare")
        site.see(".sides .edge")
        print("Compared:", " ".join(site.see("#comparison").text.split()))
        _take(site, "compare")
        site.choose("#compare-right", "truth")
        site.see("#panel-compare", "from the true graph")
        print("With the truth:", " ".join(site.see("#comparison").text.split()))
        site.tab("what-if")
        site.choose("#set-variable", "PIP2")
        site.see("#changes .card")
        _take(site, "what_if")
        site.visit(width=390, height=844, scheme="dark")
        site.wait_for_graph(2)
        site.run("document.getElementById('main').scrollIntoView()")
        _take(site, "phone")


def _take(site: Site, name: str) -> None:
    site.run("if (arguments[0] !== 'phone') scrollTo(0, 0)", name)
    site.point_at(2, 2)
    path = DOCS / f"workbench_{name}.png"
    site.session.get_screenshot_as_file(str(path))
    print("Picture:", path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
