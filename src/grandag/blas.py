"""One thread of linear algebra, for fits that run side by side in threads, too.

More threads only get in the way of matrices as small as most of ours, and their number decides about the last bits of a
product. With most libraries the number is the whole process's, and a context that restored what it had found would hand
a fit that still runs the threads of one that is over. So a thread of its own holds the limit from the first context
until the last is left; with libraries that count by thread, each context limits its own thread as well.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import scipy.linalg  # noqa: F401  the libraries to be limited are those that are loaded
from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS and LAPACK use one thread until every such context, in any thread of the process, is left."""
    _process.enter()
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _process.leave()


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


class _Limit:
    """The limit of the process, and how many contexts want it."""

    def __init__(self) -> None:
        self._lock, self._n_contexts = threading.Lock(), 0
        self._is_held, self._is_over = threading.Event(), threading.Event()
        self._holder: threading.Thread | None = None

    def enter(self) -> None:
        with self._lock:
            self._n_contexts += 1
            if self._n_contexts == 1:
                self._is_held.clear()
                self._is_over.clear()
                self._holder = threading.Thread(target=self._hold, name="grandag blas", daemon=True)
                self._holder.start()
                self._is_held.wait()

    def leave(self) -> None:
        with self._lock:
            self._n_contexts -= 1
            if self._n_contexts == 0 and self._holder is not None:
                self._is_over.set()
                self._holder.join()

    def _hold(self) -> None:
        with _libraries().limit(limits=1, user_api="blas"):
            self._is_held.set()
            self._is_over.wait()


_process = _Limit()
