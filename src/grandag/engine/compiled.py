"""The one way to compile, for all rooms."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from llvmlite.binding import ffi
from numba import njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from grandag.engine.cache import CodeCache

__all__ = ["announcing_compilation", "compiled", "inlined", "let_others_compile"]

_logger = logging.getLogger("grandag")

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile to machine code on first use, cached on disk, without the interpreter's lock.

    Arithmetic is strict: no reordered sums, no fused operations but those that `vectors.py` asks for. The optimiser
    may take other decisions for a function compiled now than for one loaded from the cache; results must not notice.
    """
    return _compile(function)


def inlined(function: Function) -> Function:
    """Like `compiled`, and copied into its callers: for what is called once per network and iteration.

    Passing the many arrays of a network's state costs as much as a small network's arithmetic.
    """
    return _compile(function, forceinline=True)


def _compile(function: Function, **options: Any) -> Function:
    # Nothing is called from C; without the wrappers for it compilation takes a tenth less.
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    dispatcher: Any = njit(**options)(function)
    dispatcher._cache = CodeCache(function)
    compiled_function: Function = dispatcher
    return compiled_function


@contextmanager
def announcing_compilation() -> Iterator[None]:
    """Say so if something has to be compiled within this context instead of coming from the cache.

    Once for each part of the library that takes long, when it begins.
    """
    try:
        with event.install_listener("numba:compile", _Announcer()):
            yield
    finally:
        let_others_compile()


def let_others_compile() -> None:
    """Release numba's locks where this thread, which compiles nothing now, still holds them.

    Ctrl-C may come after it has taken one and before it has noted so; other threads would wait for ever.
    """
    locks: tuple[Any, ...] = (global_compiler_lock._lock, ffi.lib._lock._lock)
    for lock in locks:
        while lock._is_owned():
            lock.release()


_EVIDENCE = "grandag.evidence"


class _Announcer(event.Listener):
    def __init__(self) -> None:
        self.announced: set[bool] = set()
        self.depth = 0  # a function compiles those that it calls

    def on_start(self, event: Any) -> None:
        is_evidence = event.data["dispatcher"].py_func.__module__.startswith(_EVIDENCE)
        if not self.depth and is_evidence not in self.announced:
            self.announced.add(is_evidence)
            what, seconds = ("the search by evidence", 40) if is_evidence else ("the engine", 20)
            _logger.warning(
                "Compiling %s for this machine; this takes up to %d seconds and happens only once.", what, seconds
            )
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
