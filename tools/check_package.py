"""Build the package and prove it where nothing else is installed: `python -m tools.check_package`, or `make package`.

Wheel and source distribution go to dist/. The wheel is installed without extras into a new environment in a temporary
folder, where README's Python and command are run as they stand, and where every feature of an extra must say which one
it needs. What is installed comes from wherever pip is told to take packages from.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["MISSING_EXTRAS", "Missing", "main"]

ROOT = Path(__file__).parents[1]


class Missing(NamedTuple):
    """A command that needs an extra, and the words that its message must have without it."""

    arguments: str
    exit_code: int
    words: tuple[str, ...]


MISSING_EXTRAS = {
    "tune": Missing("tune sachs --method cam --trials 2 --sampler tpe", 2, ("Optuna", "pip install 'grandag[tune]'")),
    "parquet": Missing("fit table.parquet", 1, ("pyarrow", "pip install 'grandag[parquet]'")),
    "serve": Missing("serve", 1, ("Starlette", "pip install 'grandag[serve]'")),
    "cluster": Missing(
        "paper table3 --methods random --cluster tcp://localhost:1",
        1,
        ("distributed", "pip install 'grandag[cluster]'"),
    ),
}


def main() -> None:
    """Build, install, run, and print one line at the end; the first thing that fails ends it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel, source = _build(folder)
        program = _installed(wheel, folder)
        _run_readme(program, folder)
        for extra, missing in MISSING_EXTRAS.items():
            _check_message(program, folder, extra, missing)
        version = _output([program.with_name("grandag"), "--version"], folder).strip()
    built = " and ".join(path.relative_to(ROOT).as_posix() for path in (wheel, source))
    extras = ", ".join(MISSING_EXTRAS)
    print(f"{built}: version {version} runs README's lines without extras, and names {extras} where they are needed.")


def _build(folder: Path) -> tuple[Path, Path]:
    """Wheel and source distribution in dist/, which is made anew."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    builder = _environment(folder / "builder", ["hatchling"])
    _output([builder, "-m", "hatchling", "build", "-d", ROOT / "dist"], ROOT)
    (wheel,), (source,) = (ROOT / "dist").glob("*.whl"), (ROOT / "dist").glob("*.tar.gz")
    return wheel, source


def _installed(wheel: Path, folder: Path) -> Path:
    """Python of an environment with the wheel, without extras; it must not find this folder's sources."""
    program = _environment(folder / "clean", [str(wheel)])
    home = _output([program, "-c", "import grandag; print(grandag.__file__)"], folder)
    if not Path(home.strip()).is_relative_to(folder.resolve()):
        raise SystemExit(f"The wheel was not what was run, but {home.strip()}.")
    return program


def _run_readme(program: Path, folder: Path) -> None:
    """Its Python, and its commands of grandag."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    lines = [line for block in re.findall(r"```sh\n(.*?)```", readme, flags=re.DOTALL) for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("grandag ")]
    if not codes or not commands:
        raise SystemExit("README.md has no Python or no command to run.")
    for code in codes:
        _output([program, "-c", code], folder)
    for command in commands:
        _output([program.with_name("grandag"), *command.split()[1:]], folder)


def _check_message(program: Path, folder: Path, extra: str, missing: Missing) -> None:
    """Without the extra, the command ends with a sentence that names it, not with a traceback."""
    (folder / "table.parquet").write_bytes(b"PAR1")
    process = _process([program.with_name("grandag"), *missing.arguments.split()], folder)
    said = " ".join(process.stderr.split())
    is_clear = all(word in said for word in missing.words) and "Traceback" not in said
    if process.returncode != missing.exit_code or not is_clear:
        raise SystemExit(
            f"Without the extra {extra!r}, `grandag {missing.arguments}` ended with code {process.returncode} and "
            f"said: {said or 'nothing'}"
        )


def _environment(path: Path, packages: Sequence[str]) -> Path:
    """Python of a new environment with these packages and what they need."""
    venv.create(path, with_pip=True)
    program = path / "bin" / "python"
    _output([program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], path)
    return program


def _output(command: Sequence[str | Path], folder: Path) -> str:
    """What a command prints; a failing one ends the program with what it said."""
    process = _process(command, folder)
    if process.returncode != 0:
        shown = " ".join(str(word).partition("\n")[0] for word in command)
        raise SystemExit(f"{shown} failed:\n{process.stdout}{process.stderr}")
    return process.stdout


def _process(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """A finished process that sees nothing of this one's environment of Python."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return subprocess.run(list(map(str, command)), cwd=folder, env=inherited, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main())
