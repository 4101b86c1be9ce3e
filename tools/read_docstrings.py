"""An extension of griffe, which reads docstrings for the documentation: examples are shown as code, defaults once.

In Markdown `>>>` quotes three times, and `[[0, 1]]` in the output of an example would be a link. And since estimators
are inspected at run time, which is when their docstrings get their parameters, an attribute such as `missing = "error"`
would be shown with the docstring of `str`: it has none of its own, and is left out.
"""

from __future__ import annotations

import builtins
import inspect
import re
from typing import Any

import griffe

__all__ = ["ReadDocstrings", "fenced", "without_defaults"]

_BORROWED = {inspect.getdoc(kind) for kind in vars(builtins).values() if isinstance(kind, type)}

_EXAMPLE = re.compile(r"^( *)>>> .*\n(?:.*\S.*\n?)*", flags=re.MULTILINE)


_DEFAULT = re.compile(r"\s+Default:\s+(?:'[^']*'|\S+)\.(?=\n|$)")
"""The end of what an estimator's docstring says of a parameter; the site has the default beside its name."""


def without_defaults(text: str) -> str:
    """A docstring that does not say a second time what the parameters' defaults are."""
    return _DEFAULT.sub("", text)


def fenced(text: str) -> str:
    """A docstring with every example, up to the next empty line, as a block of code."""
    return _EXAMPLE.sub(lambda found: f"{found[1]}```python\n{found[0].rstrip()}\n{found[1]}```\n", text)


class ReadDocstrings(griffe.Extension):
    """Fence the examples of all docstrings, and drop those that an attribute has from its type."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called with every function, class and module that was read."""
        if obj.docstring is None:
            return
        if obj.is_attribute and obj.docstring.value in _BORROWED:
            obj.docstring = None
        else:
            obj.docstring.value = fenced(without_defaults(obj.docstring.value))
