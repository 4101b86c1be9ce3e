"""What Ctrl-C leaves: which outputs of the command are in place by then. Imports next to nothing, as it comes first."""

from __future__ import annotations

from pathlib import Path

__all__ = ["begin", "continues_from", "may_write", "sentence"]

_Identity = tuple[int, int] | None

_outputs: dict[Path, _Identity] = {}
_stores: list[Path] = []


def begin() -> None:
    """A new command, which has no outputs yet."""
    _outputs.clear()
    _stores.clear()


def may_write(path: Path) -> None:
    """The command may replace this file or directory, which is still as it was."""
    _outputs[path] = _identity(path)


def continues_from(store: Path) -> None:
    """The command keeps what it has finished in this file."""
    _stores.append(store)


def sentence() -> str:
    """What an interrupted command says last."""
    written = [repr(str(path)) for path, before in _outputs.items() if _identity(path) != before]
    words = [f"Interrupted; {' and '.join(written) or 'nothing'} {'had been' if written else 'was'} written."]
    kept = [repr(str(path)) for path in _stores if path.exists()]
    words += [f"Finished jobs are in {path}; the same command continues from there." for path in kept]
    return " ".join(words if written or not kept else ["Interrupted.", *words[1:]])


def _identity(path: Path) -> _Identity:
    """Changes when a file or directory is replaced, or a file inside of the directory."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
