"""The tables of docs/parameters.md, from what the methods declare: `python -m tools.document_parameters`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grandag.methods.estimator import StochasticLearner
from grandag.methods.registry import METHODS, Method
from grandag.parameters import Choice, Distribution, Parameter, parameters_of
from tools.pages import table, write

__all__ = ["page_parts"]

_HEADER = ("parameter", "default", "preset `paper`", "legal values", "meaning", "source", "search space")


def page_parts() -> dict[str, str]:
    """The generated part of the page."""
    return {"tables": "\n\n".join(_sections())}


def _sections() -> Iterator[str]:
    common = parameters_of(StochasticLearner)
    deterministic = f"Methods that take no `random_state` are deterministic: {_without_chance()}."
    yield "\n\n".join(["## Every method", _table(common), deterministic])
    for estimator, entries in _by_estimator().items():
        own = {name: declared for name, declared in parameters_of(estimator).items() if name not in common}
        names = " and ".join(f"`{name}`" for name in entries)
        text = f"On the command line: {names}.{_set_by(entries)}{_set_by_presets(estimator)}"
        lines = [f"## {estimator.__name__}", text, _table(own)]
        yield "\n\n".join(lines)


def _by_estimator() -> dict[Any, dict[str, Method]]:
    """The entries of the registry by the class of their estimator, in the registry's order."""
    found: dict[Any, dict[str, Method]] = {}
    for name, entry in METHODS.items():
        found.setdefault(entry.estimator(), {})[name] = entry
    return found


def _without_chance() -> str:
    names = [name for name, entry in METHODS.items() if "random_state" not in parameters_of(entry.estimator())]
    return ", ".join(f"`{name}`" for name in names)


def _set_by(entries: Mapping[str, Method]) -> str:
    settings = [
        f" `{name}` sets `{parameter}={value!r}`."
        for name, entry in entries.items()
        for parameter, value in entry.parameters.items()
    ]
    return "".join(settings)


def _set_by_presets(estimator: Any) -> str:
    """What presets without a column of their own change."""
    sentences = []
    for preset in estimator.presets:
        if preset in ("default", "paper"):
            continue
        changed = {
            name: declared.value_in(preset)
            for name, declared in parameters_of(estimator).items()
            if declared.value_in(preset) != declared.default
        }
        *most, last = (f"`{name}={value!r}`" for name, value in changed.items())
        settings = f"{', '.join(most)} and {last}" if most else last
        sentences.append(f" The preset `{preset}` sets {settings}.")
    return "".join(sentences)


def _table(declared: Mapping[str, Parameter]) -> str:
    return table(_HEADER, [_row(name, parameter) for name, parameter in declared.items()])


def _row(name: str, declared: Parameter) -> tuple[str, ...]:
    return (
        f"`{name}`",
        _code(declared.default),
        _in_the_paper(declared),
        declared.rule.description,
        declared.description,
        declared.source,
        "" if declared.search is None else _distribution(declared.search),
    )


def _in_the_paper(declared: Parameter) -> str:
    """The value of the preset; 'same' where it stays the paper's even if the default should change."""
    if "paper" not in declared.presets:
        return ""
    value = declared.presets["paper"]
    return "same" if value == declared.default else f"**{_code(value)}**"


def _distribution(distribution: Distribution) -> str:
    if isinstance(distribution, Choice):
        return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in distribution.values)
    return f"10^U[{distribution.low:g}, {distribution.high:g}]"


def _code(value: Any) -> str:
    is_long = isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000
    return f"`{value:_}`" if is_long else f"`{value!r}`"


if __name__ == "__main__":
    write("parameters.md", page_parts())
