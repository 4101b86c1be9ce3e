"""Pages as trees, by the parser of the standard library."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "img", "hr"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str, **attributes: str) -> list[Node]:
        """Nodes of a tag below this one with these attributes; `class_` is one of the classes."""
        found = []
        for child in self.children:
            if isinstance(child, Node):
                if child.tag == tag and all(child.has(name, value) for name, value in attributes.items()):
                    found.append(child)
                found += child.all(tag, **attributes)
        return found

    def has(self, name: str, value: str) -> bool:
        if name == "class_":
            return value in self.attributes.get("class", "").split()
        return self.attributes.get(name.replace("_", "-")) == value

    def one(self, tag: str, **attributes: str) -> Node:
        (found,) = self.all(tag, **attributes)
        return found


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("page")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(page: str) -> Node:
    """The tree of a page; every element must be closed where it should be."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert len(builder.open) == 1, [node.tag for node in builder.open]
    return builder.open[0]


def addresses(tree: Node) -> set[str]:
    """All that the page could ask a network for."""
    names = ("src", "href", "action", "data", "poster", "srcset", "xlink:href")
    nodes = [node for tag in _tags(tree) for node in tree.all(tag)]
    return {node.attributes[name] for node in nodes for name in names if name in node.attributes}


def _tags(node: Node) -> set[str]:
    inner = [child for child in node.children if isinstance(child, Node)]
    return {child.tag for child in inner}.union(*(_tags(child) for child in inner))
