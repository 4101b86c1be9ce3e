"""The page on other packages runs as it is written."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "interoperability.md"


@pytest.mark.parametrize("package", ["dowhy", "pgmpy"])
def test_code_for_other_packages_runs(package):
    page = PAGE.read_text()
    first = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[0]
    (code,) = [code for code in re.findall(r"```py\n(.*?)```", page, flags=re.DOTALL) if package in code]
    scope: dict[str, object] = {}
    exec(compile(first + code, "interoperability.md", "exec"), scope)
    assert scope["estimand" if package == "dowhy" else "dag"] is not None
