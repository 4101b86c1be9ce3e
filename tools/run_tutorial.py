"""The outputs and pictures of pages that are programs, by running them: `python -m tools.run_tutorial`.

In these pages, blocks of Python and of the shell are run from top to bottom, in one folder with the files of
docs/tutorial/; what a block prints is the block of text below it. A block of TOML is written to the file that its first
line names, and pictures that a page shows below `tutorial/` are taken from that folder.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from tools.pages import DOCS

__all__ = ["PAGES", "facts", "run", "words"]

PAGES, FILES = ("tutorial.md", "interventions.md"), DOCS / "tutorial"
_BLOCK = re.compile(r"^```(python|sh|toml)\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", flags=re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"^```text\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[[^]]*\]\(tutorial/([^)]+)\)")
_EDGE = re.compile(r"<title>(.+? → .+?)[,<]")
_ONLY_ONCE = "Compiling the "
_WIDTH = 100


def run(page: str, folder: Path) -> str:
    """The page with today's outputs; the files that it makes are left in the folder."""
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    scope: dict[str, Any] = {}

    def with_output(block: re.Match[str]) -> str:
        language, code = block[1], block[2]
        printed = {"python": _python, "sh": _shell, "toml": _file}[language](code, folder, scope)
        shown = f"\n```text\n{_tidy(printed)}\n```\n" if printed.strip() else ""
        return f"```{language}\n{code}```\n{shown}"

    with contextlib.chdir(folder):
        return _BLOCK.sub(with_output, page)


def facts(page: str, folder: Path) -> list[Any]:
    """What the page says on any machine: the words of its outputs, and the edges of its pictures in the folder."""
    paths = [folder / picture for picture in _PICTURE.findall(page)]
    drawings = [path.read_text(encoding="utf-8") if path.exists() else "" for path in paths]
    return [words(printed) for printed in _OUTPUT.findall(page)] + [set(_EDGE.findall(svg)) for svg in drawings]


def words(text: str) -> Counter[str]:
    """The words of an output, without its numbers: these differ between machines, and with them the widths of columns.

    >>> words("a -> bc  1.5e-07 |") == words("2e-7 bc <- a")
    True
    """
    return Counter(re.findall(r"(?<![\w.])[^\W\d]\w+", text))


def _python(code: str, folder: Path, scope: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(code, "page", "exec"), scope)
    said = [f"{warning.category.__name__}: {warning.message}\n" for warning in caught]
    return "".join(said) + printed.getvalue()


def _shell(code: str, folder: Path, scope: dict[str, Any]) -> str:
    """Standard output and errors as on a terminal, by the program of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(code, shell=True, check=False, text=True, env=os.environ | settings, **streams)
    return done.stdout


def _file(code: str, folder: Path, scope: dict[str, Any]) -> str:
    (folder / code.partition("\n")[0].removeprefix("# ")).write_text(code, encoding="utf-8")
    return ""


def _tidy(printed: str) -> str:
    """Without what is said on the first run only, and with long sentences broken as a terminal would."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines() if not line.startswith(_ONLY_ONCE)]
    broken = [part for line in lines for part in (textwrap.wrap(line, _WIDTH) if len(line) > _WIDTH else [line])]
    return "\n".join(broken).strip("\n")


def main() -> None:
    """Run the pages; write one, with its pictures, if it says anything else than before but for numbers."""
    for name in PAGES:
        is_new = _write_again(DOCS / name)
        print(f"docs/{name}: {'written' if is_new else 'as it was, but for numbers'}")


def _write_again(path: Path) -> bool:
    before = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        after = run(before, Path(name))
        is_new = facts(after, Path(name)) != facts(before, FILES)
        if is_new:
            path.write_text(after, encoding="utf-8")
            for picture in _PICTURE.findall(after):
                (FILES / picture).parent.mkdir(exist_ok=True)
                shutil.copyfile(Path(name) / picture, FILES / picture)
    return is_new


if __name__ == "__main__":
    main()
