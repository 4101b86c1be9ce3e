"""The version is stated once, in src/grandag/version.py."""

import re
import tomllib
from pathlib import Path

import grandag
from grandag import version

ROOT = Path(__file__).parents[1]


def test_the_metadata_take_the_version_from_the_module():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    source = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert source == ROOT / "src" / "grandag" / "version.py"
    assert grandag.__version__ == version.__version__ in source.read_text(encoding="utf-8")


def test_no_other_file_of_the_library_states_it():
    stating = re.compile(rf"""__version__\s*=\s*["']|["']{re.escape(version.__version__)}["']""")
    files = (ROOT / "src").rglob("*.py")
    assert [path.name for path in files if stating.search(path.read_text(encoding="utf-8"))] == ["version.py"]


def test_the_changelog_has_a_section_for_it():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {version.__version__}" in changelog
