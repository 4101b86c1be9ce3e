"""Mathematics in the documentation: `$...$` within a sentence, `$$...$$` as a paragraph of its own.

A hook of mkdocs (mkdocs.yml). Formulas become MathML when the site is built, and browsers draw that themselves: no
script, no font and no request is needed, and pages work offline and from a folder.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import latex2mathml.converter
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

__all__ = ["Mathematics", "mathml", "on_config"]

# A dollar that opens has no space after it; one that closes has none before it and no digit after it, unlike prices.
_DISPLAY = r"\$\$\s*(.+?)\s*\$\$"
_INLINE = r"(?<![\\$])\$(?![\s$])([^$]+?)(?<![\s\\])\$(?![\d$])"
_NAME = re.compile(r"<m[io][^>]*>([A-Za-z]{2,})</m[io]>")
_APPLIED = re.compile(r"(?<!<msub>)(?<!<munder>)(<mi>[A-Za-z]{2,}</mi>)(?!(?:<mrow>)?<mo[^>]*>&#x00028;|</)")
"""Names of functions, and those among them that are applied to what follows without parentheses."""
_BEFORE_ESCAPES = 185  # after code (190), before backslashes (180), which belong to the formula


def mathml(formula: str, display: str = "inline") -> str:
    r"""A formula in LaTeX as an element of HTML.

    Raises ValueError for a command that is not known, which would be shown as it is written.

    >>> mathml("x_i")
    '<math display="inline"><mrow><msub><mi>x</mi><mi>i</mi></msub></mrow></math>'
    """
    element = latex2mathml.converter.convert(formula, xmlns="", display=display).replace(' xmlns=""', "")
    unknown = [text for text in ElementTree.fromstring(element).itertext() if text.startswith("\\")]
    if unknown:
        raise ValueError(f"latex2mathml does not know {unknown[0]} in the formula {formula!r}.")
    return _APPLIED.sub(r'\1<mspace width="0.17em" />', _NAME.sub(r"<mi>\1</mi>", element))


class _Formula(InlineProcessor):
    def __init__(self, pattern: str, md: Markdown, display: str) -> None:
        super().__init__(pattern, md)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: N802 (Markdown's name)
        element = mathml(m[1], self.display)
        shown = f'<div class="formula">{element}</div>' if self.display == "block" else element
        return self.md.htmlStash.store(shown), m.start(), m.end()


class Mathematics(Extension):
    """Formulas of Markdown text as MathML."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Markdown's name)
        """Register both kinds of formulas."""
        md.inlinePatterns.register(_Formula(_DISPLAY, md, "block"), "displayed formula", _BEFORE_ESCAPES + 1)
        md.inlinePatterns.register(_Formula(_INLINE, md, "inline"), "formula", _BEFORE_ESCAPES)


def on_config(config: Any) -> None:
    """Called by mkdocs before it reads any page."""
    config.markdown_extensions.append(Mathematics())
