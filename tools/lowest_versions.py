"""The lowest versions that pyproject.toml allows, as constraints for pip: `python -m tools.lowest_versions EXTRA ...`.

`make test-lowest` installs them into an environment of their own, and runs tests that use every one of them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

__all__ = ["lowest_versions"]

ROOT = Path(__file__).parents[1]
_BOUND = re.compile(r"(?P<name>[\w-]+)>=(?P<version>[\d.]+)")


def lowest_versions(extras: Sequence[str] = ()) -> dict[str, str]:
    """The lower bound of each dependency, and of those of some extras, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    bounds = [_BOUND.match(line) for line in stated]
    return {bound["name"]: bound["version"] for bound in bounds if bound is not None}


if __name__ == "__main__":
    for name, version in lowest_versions(sys.argv[1:]).items():
        print(f"{name}=={version}")
