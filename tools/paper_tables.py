"""The pages of docs/tables, one for each table of the paper: `python -m tools.paper_tables [NAME ...] [--store FILE]`.

Runs what the store does not have, in the order of what readers want most, and writes the page of a table as soon as it
is complete. Stop it at any time: the same command goes on from there. A page says which version of the library it
belongs to, and nobody edits it; docs/reproducing.md lists the pages with what they say.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grandag.reproduction.rendering import to_markdown
from grandag.reproduction.run import Execution, Reproduction, reproduce
from grandag.reproduction.specification import find, released
from grandag.reproduction.store import Store
from grandag.version import __version__
from grandag.wording import counted
from tools.pages import DOCS, write

__all__ = ["PAGES", "TABLES", "Page", "page_parts"]

TABLES = DOCS / "tables"


@dataclass(frozen=True)
class Page:
    """A page, and the command whose table it has."""

    experiment: str
    n_datasets: int | None = None
    is_of_authors: bool = False

    @property
    def name(self) -> str:
        """The name of the file, without its ending."""
        return f"{self.experiment}-authors" if self.is_of_authors else self.experiment

    @property
    def command(self) -> str:
        """What a reader types."""
        datasets = "" if self.n_datasets is None else f" --datasets {self.n_datasets}"
        return f"grandag paper {self.experiment}{datasets}{' --authors-data PATH' if self.is_of_authors else ''}"

    @property
    def path(self) -> Path:
        """Where it is."""
        return TABLES / f"{self.name}.md"


_SEARCHES = (15, 16, 17, 18, 19, 20, 21, 22, 23)
"""Tables of the hyper-parameter search, which take hours each: five sets."""
_OTHERS = (1, 2, 8, 9, 3, 5, 6, 4, 7, 12, 13, 14, 10, 11)
PAGES = (
    *(Page(f"table{number}") for number in _OTHERS),
    *(Page(f"table{number}", n_datasets=5) for number in _SEARCHES),
    *(Page(f"table{number}", is_of_authors=True) for number in (1, 3)),
)
"""What readers want most comes first."""


def _run(page: Page, store: Store, authors: Path | None, n_jobs: int) -> Reproduction:
    experiments = find(page.experiment)
    if page.is_of_authors:
        experiments = tuple(map(released, experiments))
    return reproduce(
        experiments,
        store,
        n_datasets=page.n_datasets,
        authors=authors if page.is_of_authors else None,
        execution=Execution(n_jobs),
        quiet=False,
    )


def _text(page: Page, found: Reproduction) -> str:
    """The page: the table as the command prints it, with what was run."""
    (table,) = found.tables()
    results = list(found.results.values())
    minutes = sum(result.seconds for result in results if result.status != "failed") / 60
    title, _, rest = to_markdown(table).removeprefix("## ").partition("\n")
    source = ", the authors' files" if page.is_of_authors else ""
    made = (
        f"`{page.command}`, grandag {__version__}: {counted(len(results), 'job')}, {minutes:,.0f} CPU minutes. "
        "`make tables` wrote this page; changes by hand are lost."
    )
    return f"# {title}{source}\n\n{made}\n{rest}"


def page_parts() -> dict[str, str]:
    """The generated part of docs/reproducing.md: the pages that are there, with their sentences."""
    return {"tables": "\n".join(_lines()) or "No table has been run with this version."}


def _lines() -> Iterator[str]:
    for page in PAGES:
        if page.path.exists():
            title, _, _, best, beside_the_paper, *_ = page.path.read_text(encoding="utf-8").split("\n\n")
            yield f"- [{title.removeprefix('# ')}](tables/{page.path.name}). {best} {beside_the_paper.strip()}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run tables and write their pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(page.name for page in PAGES)}")
    parser.add_argument("--store", type=Path, default=Path("grandag-results.sqlite"), help="file of finished jobs")
    parser.add_argument("--authors", type=Path, help="folder of the authors' files; without it their pages stay")
    parser.add_argument("--list", action="store_true", help="run nothing; list the pages in docs/reproducing.md")
    parser.add_argument("--n-jobs", type=int, default=-1, help="jobs at the same time; -1: one per core")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {page.name for page in PAGES}
    if unknown:
        parser.error(f"there is no page {', '.join(sorted(unknown))}")
    possible = [page for page in PAGES if options.authors or not page.is_of_authors]
    wanted = [page for page in possible if page.name in options.names or not options.names]
    for page in [] if options.list else wanted:
        with Store(options.store) as store:
            found = _run(page, store, options.authors, options.n_jobs)
        TABLES.mkdir(exist_ok=True)
        page.path.write_text(_text(page, found), encoding="utf-8")
        write("reproducing.md", page_parts())
    if options.list:
        write("reproducing.md", page_parts())


if __name__ == "__main__":
    main()
