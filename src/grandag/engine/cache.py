"""Compiled code on disk, one file per function and kind of arguments.

A file begins with what it was made from and a checksum of the rest, so that code of other sources is not used, and
damaged code is neither: it is compiled anew. Files are unpickled, which may run anything; therefore a directory counts
only if nobody but its user, whoever owns the library, and root can write to it.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from grandag.writing import replacing

__all__ = ["CodeCache", "fingerprint"]

_logger = logging.getLogger("grandag")

_DIGEST = hashlib.sha256().digest_size


class CodeCache:
    """The machine code of one function: what numba asks of a dispatcher's cache."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._source = Path(function.__code__.co_filename)
        self._stamp = hashlib.sha256((fingerprint(self._source.parent) + _closure(function)).encode()).digest()

    @property
    def cache_path(self) -> str | None:
        """The directory that is written to, None if there is none."""
        directory = _directory(self._source)
        return None if directory is None else str(directory)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The code for these types of arguments; None if it has to be compiled."""
        context.refresh()
        name = self._name(signature, context.codegen())
        found = (self._load(place / name, context) for place in _places(self._source))
        return next((code for code in found if code is not None), None)

    def _load(self, path: Path, context: Any) -> Any:
        try:
            content = path.read_bytes()
        except OSError:
            return None
        stamp, checksum, code = content[:_DIGEST], content[_DIGEST : 2 * _DIGEST], content[2 * _DIGEST :]
        try:
            if checksum != hashlib.sha256(code).digest():
                raise ValueError("The file is not as it was written.")
            return CompileResult._rebuild(context, *pickle.loads(code)) if stamp == self._stamp else None
        except Exception:  # whatever is wrong with it, compiling helps
            _say_once(f"Compiled code in {path.parent} is damaged; it is compiled anew.")
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, if there is a place for it."""
        if result.library.has_dynamic_globals:  # addresses of this process
            return
        directory = _directory(self._source)
        try:
            if directory is None:
                raise OSError("There is no directory.")
            code = dumps(result._reduce())
            with replacing(directory / self._name(signature, result.codegen)) as file:
                file.write(self._stamp + hashlib.sha256(code).digest() + code)
        except OSError:
            _say_once("Compiled code cannot be cached here, so every process compiles anew: set NUMBA_CACHE_DIR.")

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        """It never is."""

    def flush(self) -> None:
        """Forget everything about this function."""
        for place in _places(self._source):
            for path in place.glob(f"{self._prefix}*.code"):
                path.unlink()

    @property
    def _prefix(self) -> str:
        name = self._function.__qualname__.replace("<", "").replace(">", "")
        return f"{self._source.stem}.{name}-{self._function.__code__.co_firstlineno}."

    def _name(self, signature: Any, codegen: Any) -> str:
        """A file for each kind of arguments, processor, Python and numba."""
        kind = (signature, codegen.magic_tuple(), sys.implementation.cache_tag, numba.__version__, llvmlite.__version__)
        return f"{self._prefix}{hashlib.sha256(repr(kind).encode()).hexdigest()[:20]}.code"


@functools.cache
def _say_once(message: str) -> None:
    _logger.warning(message)


@functools.cache
def fingerprint(folder: Path) -> str:
    """Changes when any source file of the engine, or of a folder that builds on it, does.

    The machine code of a function also contains what it calls in other files.
    """
    digest = hashlib.sha256()
    for place in dict.fromkeys((Path(__file__).parent, folder)):
        for path in sorted(place.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _closure(function: Callable[..., Any]) -> str:
    """What a function defined inside another one has from there."""
    return repr([cell.cell_contents for cell in function.__closure__ or ()])


@functools.cache
def _directory(source: Path) -> Path | None:
    """Where new code is written: the first place where that is possible."""
    return next(filter(_is_writable, _places(source)), None)


@functools.cache
def _places(source: Path) -> tuple[Path, ...]:
    """Where the code of a source file may be: where the user said, or else beside it or in the user's cache."""
    if not source.is_file():
        return ()
    sources = source.absolute().parent
    own = f"{sources.name}_{hashlib.sha256(str(sources).encode()).hexdigest()[:16]}"
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111 no error without home
    chosen: str = numba.config.CACHE_DIR  # type: ignore[attr-defined, unused-ignore]
    places = [Path(chosen).absolute() / own] if chosen else [sources / "__pycache__", home / "grandag" / own]
    return tuple(place for place in places if place.is_absolute() and _is_safe(place, sources))


def _is_safe(directory: Path, sources: Path) -> bool:
    """Does it belong to the user, to root or to whoever owns the sources, and can nobody else write to it?"""
    try:
        found = directory.stat()
    except OSError:
        return True  # there is none yet
    return found.st_uid in {0, os.getuid(), sources.stat().st_uid} and not found.st_mode & stat.S_IWOTH


def _is_writable(directory: Path) -> bool:
    """Try it; a new directory is the user's alone, but for Python's own beside the sources, which all may read."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o755 if directory.name == "__pycache__" else 0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False
