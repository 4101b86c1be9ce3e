"""A reader of the DOT language and of dagitty's dialect of it: nodes, edges with their arrows, attributes.

    [strict] kind [name] { statement [;] ... }
    statement:  name = name | node [attributes] | operand arrow operand ... [attributes]
    operand:    name | { name ... }

Subgraphs with statements of their own, ports and HTML labels are refused: none of them says anything about the graph.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from grandag.graph.boundary import GraphError

__all__ = ["Edge", "Statements", "parse"]

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
    |"(?P<string>(?:\\.|[^"\\])*)"
    |(?P<arrow><->|<-@|@->|@-@|@--|--@|->|<-|--)
    |(?P<word>-?[\w.]+)
    |(?P<mark>[{}\[\]=;,])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

_MOST_EDGES = 1_000_000
"""`{a b c} -> {d e f}` is a few bytes for nine of them."""


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class Edge(NamedTuple):
    """One arrow between two nodes, with the attributes of its statement."""

    source: str
    arrow: str
    target: str
    attributes: dict[str, str]


class Statements(NamedTuple):
    """The word before the brace, the nodes in order of appearance, and the edges."""

    kind: str
    nodes: list[str]
    edges: list[Edge]


def parse(text: str, *, kinds: tuple[str, ...], escaped: str) -> Statements:
    """Read one graph of one of the given kinds; in strings a backslash protects the `escaped` characters."""
    return _Reader(_tokens(text, escaped)).graph(kinds)


def _tokens(text: str, escaped: str) -> list[_Token]:
    tokens, start, line = [], 0, 1
    while start < len(text):
        match = _TOKEN.match(text, start)
        if match is None or match.lastgroup is None:
            raise GraphError(f"Line {line} has {text[start]!r}, which cannot be part of a graph.")
        kind, content = match.lastgroup, match[match.lastgroup]
        if kind == "string":
            content = re.sub(rf"\\([{re.escape(escaped)}])", r"\1", content)
        if kind != "space":
            tokens.append(_Token(kind, content, line))
        line += match[0].count("\n")
        start = match.end()
    return [*tokens, _Token("end", "", line)]


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.nodes: dict[str, None] = {}
        self.edges: list[Edge] = []

    def graph(self, kinds: tuple[str, ...]) -> Statements:
        """The whole text."""
        kind = self.name().lower()
        if kind == "strict":
            kind = self.name().lower()
        if kind not in kinds:
            raise GraphError(f"The text starts with {kind!r}; expected {' or '.join(kinds)}.")
        if not self.sees("{"):
            self.name()
        self.expect("{")
        while not self.sees("}"):
            self.statement()
        self.expect("}")
        if self.token().kind != "end":
            raise self.error("the end of the text")
        return Statements(kind, list(self.nodes), self.edges)

    def statement(self) -> None:
        """Read one statement; defaults for nodes and edges and settings of the graph are ignored."""
        first = self.token()
        if self.sees(";"):
            self.expect(";")
        elif first.kind == "word" and first.text.lower() in {"graph", "node", "edge"} and self.sees("[", ahead=1):
            self.name()
            self.attributes()
        elif self.sees("=", ahead=1):
            self.attribute()
        else:
            self.nodes_and_edges()

    def nodes_and_edges(self) -> None:
        """A node, or a chain of arrows."""
        operands, arrows = [self.operand()], []
        while self.token().kind == "arrow":
            arrows.append(self.token().text)
            self.position += 1
            operands.append(self.operand())
        attributes = self.attributes()
        for (sources, targets), arrow in zip(pairwise(operands), arrows, strict=True):
            if len(self.edges) + len(sources) * len(targets) > _MOST_EDGES:
                raise GraphError(f"Line {self.token().line} has edge number {_MOST_EDGES:,}, which is the most.")
            self.edges += [Edge(source, arrow, target, attributes) for source in sources for target in targets]

    def operand(self) -> list[str]:
        """A name, or several in braces."""
        names = []
        if self.sees("{"):
            self.expect("{")
            while not self.sees("}"):
                names.append(self.name())
                self.pass_separator()
            self.expect("}")
        else:
            names.append(self.name())
        self.nodes.update(dict.fromkeys(names))
        return names

    def attributes(self) -> dict[str, str]:
        """Any number of lists in brackets."""
        found = {}
        while self.sees("["):
            self.expect("[")
            while not self.sees("]"):
                key, value = self.attribute()
                found[key] = value
                self.pass_separator()
            self.expect("]")
        return found

    def attribute(self) -> tuple[str, str]:
        """`key = value`, or a key alone."""
        key = self.name()
        if not self.sees("="):
            return key, ""
        self.expect("=")
        return key, self.name()

    def name(self) -> str:
        """A bare word or a string."""
        token = self.token()
        if token.kind not in {"word", "string"}:
            raise self.error("a name")
        self.position += 1
        return token.text

    def expect(self, mark: str) -> None:
        """Pass over a mark that must be here."""
        if not self.sees(mark):
            raise self.error(repr(mark))
        self.position += 1

    def pass_separator(self) -> None:
        """Pass over a comma or semicolon if there is one."""
        if self.sees(",") or self.sees(";"):
            self.position += 1

    def sees(self, mark: str, ahead: int = 0) -> bool:
        """Is this mark here, or so many tokens ahead?"""
        return self.token(ahead)[:2] == ("mark", mark)

    def token(self, ahead: int = 0) -> _Token:
        """The token here, or so many ahead."""
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def error(self, expected: str) -> GraphError:
        """An error that says what was found here and what was expected."""
        token = self.token()
        found = "the end of the text" if token.kind == "end" else repr(token.text)
        return GraphError(f"Line {token.line} has {found} where {expected} was expected.")
