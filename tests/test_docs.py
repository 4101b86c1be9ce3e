"""What the README says is run as it is written."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def commands() -> list[str]:
    return [line for block in blocks("sh") for line in block.splitlines()]


@pytest.mark.parametrize("code", blocks("python"))
def test_python(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert scope["model"].converged_
    assert (tmp_path / "model.npz").exists()


@pytest.mark.parametrize("command", [command for command in commands() if command.startswith("grandag")])
def test_command_line(command, tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, shell=True, check=True, capture_output=True, cwd=tmp_path, env={**os.environ, "PATH": path})


def test_page_on_additive_regression():
    page = (ROOT / "docs" / "gam.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, "gam.md", "exec"), scope)
    assert len(scope["curve"]) == 3


def test_page_on_metrics(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "metrics.md").read_text()
    scope: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(compile(code, "metrics.md", "exec"), scope)
    assert (scope["facts"]["missing"], scope["facts"]["reversed"]) == (13, 1)
    assert scope["n_dags"] > 1
    assert (scope["adjacency"] == scope["cpdag"]).all()
    assert (tmp_path / "sachs.graphml").exists()


def test_page_on_baselines():
    page = (ROOT / "docs" / "baselines.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, "baselines.md", "exec"), scope)
    assert scope["scores"]["NOTEARS"] > scope["scores"]["RANDOM"]


def test_make_targets_exist():
    targets = [command for command in commands() if command.startswith("make")]
    assert targets == ["make demo", "make test"]
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    for command in targets:
        subprocess.run([*command.split(), "--dry-run"], check=True, capture_output=True, cwd=ROOT)


def test_ci_runs_the_commands_of_the_readme():
    script = (ROOT / ".ci" / "run").read_text()
    assert [line for line in script.splitlines() if line.startswith("make")] == ["make demo", "make test"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), target
