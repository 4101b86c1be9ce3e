"""What `make package` proves of the built wheel, as far as it can be shown without building and installing one."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tools import check_package
from tools.check_package import MISSING_EXTRAS, Missing

from tests.import_graph import room_imports

ROOT = Path(__file__).parents[1]
MODULES = {"tune": "optuna", "parquet": "pyarrow", "cluster": "distributed", "serve": "starlette"}


@pytest.mark.parametrize("extra", MISSING_EXTRAS)
def test_a_missing_extra_is_named(extra, tmp_path):
    """The module is hidden, as if it were not installed."""
    (tmp_path / "table.parquet").write_bytes(b"PAR1")
    hidden = f"import sys; sys.modules[{MODULES[extra]!r}] = None; from grandag.cli import main; main()"
    missing = MISSING_EXTRAS[extra]
    process = subprocess.run(
        [sys.executable, "-c", hidden, *missing.arguments.split()], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.returncode == missing.exit_code
    assert all(word in " ".join(process.stderr.split()) for word in missing.words)
    assert "Traceback" not in process.stderr


def test_modules_are_there_without_imports_of_their_own():
    """Every room that is not the program's own inside, and every public name, from `import grandag` alone."""
    inside = {"blas", "cli", "engine", "parameters", "pieces", "progress", "serve", "version", "wording", "writing"}
    program = (
        "import sys, grandag; loaded = [m for m in sys.modules if m.startswith('grandag.')]; "
        "missing = [name for name in sys.argv[1:] + grandag.__all__ if not hasattr(grandag, name)]; "
        "print(loaded, missing)"
    )
    rooms = sorted(set(room_imports()) - inside)
    printed = subprocess.run([sys.executable, "-c", program, *rooms], capture_output=True, text=True, check=True).stdout
    assert printed == "['grandag.version'] []\n"


def test_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for extra, module in MODULES.items():
        assert any(requirement.startswith(module) for requirement in extras[extra])
        assert not any(requirement.startswith(module) for requirement in project["dependencies"])


def test_bounds_that_others_set():
    """numba's cache is replaced by private means, which any release may change; xges asks for a numba before ours."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (numba,) = [requirement for requirement in project["dependencies"] if requirement.startswith("numba")]
    assert ",<" in numba
    assert not any(requirement.startswith("xges") for requirement in project["optional-dependencies"]["compare"])


@pytest.fixture
def program(tmp_path):
    """An environment whose grandag says something and ends with code 1."""

    def saying(text):
        script = tmp_path / "grandag"
        script.write_text(f"#!{sys.executable}\nimport sys\nsys.exit({text!r})\n", encoding="utf-8")
        script.chmod(0o755)
        return tmp_path / "python"

    return saying


def test_a_clear_message_passes_and_others_do_not(program, tmp_path):
    wanted = Missing("fit table.parquet", 1, ("pyarrow", "pip install"))
    check_package._check_message(program("Reading needs pyarrow: pip install it."), tmp_path, "parquet", wanted)
    for text in ("No module named 'pyarrow'", "", "Traceback: pyarrow; pip install"):
        with pytest.raises(SystemExit, match="Without the extra 'parquet'"):
            check_package._check_message(program(text), tmp_path, "parquet", wanted)
    with pytest.raises(SystemExit, match="ended with code 1"):
        other = wanted._replace(exit_code=2)
        check_package._check_message(program("pyarrow: pip install"), tmp_path, "parquet", other)


def test_a_failing_step_ends_it_with_what_was_said(program, tmp_path):
    program("the disk is full")
    with pytest.raises(SystemExit, match="the disk is full"):
        check_package._output([tmp_path / "grandag", "fit"], tmp_path)


def test_hooks_before_a_commit_use_the_tools_of_the_project():
    """They are those of `make lint`, and nothing has to be downloaded for them."""
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    entries = re.findall(r"^ *entry: \.venv/bin/(.*)$", text, flags=re.MULTILINE)
    assert text.count("- id:") == text.count("language: system") == len(entries)
    assert re.findall(r"repo: (.*)", text) == ["local"]
    for tool in ("ruff check", "ruff format", "mypy"):
        assert any(entry.startswith(tool) for entry in entries)
        assert f"$(BIN)/{tool}" in makefile
    (test,) = [entry.split()[-1] for entry in entries if "pytest" in entry]
    assert (ROOT / test).exists()
