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


@pytest.mark.parametrize(
    "page",
    [
        "index",
        "tutorial",
        "confidence",
        "hyperparameters",
        "interoperability",
        "equivalence",
        "generalised_score",
        "reports",
        "reproducing",
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    codes = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), flags=re.DOTALL)
    assert codes
    scope: dict[str, object] = {}
    for code in codes:
        exec(compile(code, f"{page}.md", "exec"), scope)


def test_site_builds_and_its_links_hold(tmp_path):
    pytest.importorskip("mkdocs", reason="the documentation tools are in the extra docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "GraNDAG" in (tmp_path / "api.html").read_text()


def test_page_on_additive_regression():
    page = (ROOT / "docs" / "gam.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, "gam.md", "exec"), scope)
    assert len(scope["curve"]) == 3


def test_page_on_neighbours():
    page = (ROOT / "docs" / "neighbours.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, "neighbours.md", "exec"), scope)
    assert any(note.startswith("Neighbour selection left") for note in scope["model"].notes_)


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


def test_page_on_knowledge(tmp_path):
    page = (ROOT / "docs" / "knowledge.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, "knowledge.md", "exec"), scope)
    (toml,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    path = tmp_path / "knowledge.toml"
    path.write_text(toml)
    read = type(scope["knowledge"]).read(path)
    assert (read.forbidden, read.tiers) == (scope["knowledge"].forbidden, scope["knowledge"].tiers)


def test_page_on_using_the_model(capsys):
    page = (ROOT / "docs" / "using_the_model.md").read_text()
    scope: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(compile(code, "using_the_model.md", "exec"), scope)
    assert (scope["rows"].columns == scope["data"].columns).all()
    assert scope["treated"].mean()["PKA"] == 7
    assert scope["model"].score(scope["data"]) == pytest.approx(scope["log_density"].mean())
    assert scope["effect"].n_resamples == 20
    printed = capsys.readouterr().out
    assert all(warning.message in printed for warning in scope["model"].warnings_)


def test_page_on_simulation():
    page = (ROOT / "docs" / "simulate.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, "simulate.md", "exec"), scope)
    assert (scope["shifted"]["X3"] == 2).all()
    assert all(0 <= share <= 1 for share in scope["free"])


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


def test_ci_runs_the_commands_of_the_readme_and_other_packages():
    script = (ROOT / ".ci" / "run").read_text()
    assert [line for line in script.splitlines() if line.startswith("make")] == [
        "make demo",
        "make test-interop",
        "make test",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), target
