"""What all pages share: the frame, styles and script in one file, and texts and numbers that cannot break out of it."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["as_json", "duration", "fixed", "general", "render"]


@functools.cache
def _templates(package: str) -> Environment:
    """The templates of a package and of this one; every text in them is escaped unless it is marked as HTML."""
    loader = PackageLoader("grandag.report", ".")
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), loader]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["style"], templates.globals["script"] = (
        Markup(loader.get_source(templates, name)[0]) for name in ("page.css", "page.js")
    )
    templates.filters |= {"duration": duration, "general": general}
    return templates


def render(template: str, *, package: str = "grandag.report", **facts: Any) -> str:
    """The page of a template in a package. The same facts give the same text."""
    return _templates(package).get_template(template).render(facts) + "\n"


def as_json(data: Any) -> Markup:
    """JSON that may stand in a script element: without "<" no text in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    return Markup(text.replace("<", r"\u003c").replace("\u2028", r"\u2028").replace("\u2029", r"\u2029"))


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals and a true minus sign."""
    text = f"{value:,.{decimals}f}"
    is_zero = not text.strip("-0.,")
    return text.lstrip("-") if is_zero else text.replace("-", "\u2212")


def general(value: float) -> str:
    """A number of any size in three digits."""
    return f"{value:.3g}".replace("-", "\u2212")


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if not math.isfinite(seconds):
        return "\u2013"
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def decimals_of(values: Iterable[float], most: int = 3) -> int:
    """The most decimals that any of these numbers is written with, 1 for none; 2.5 has one."""
    texts = [f"{value:.{most}f}".rstrip("0").partition(".")[2] for value in values if math.isfinite(value)]
    return max([1, *map(len, texts)])
