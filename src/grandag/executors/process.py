"""A process that makes one call at a time, with one thread, and can be killed.

It reads calls from its standard input and answers, both as frames: eight bytes with a length, then so many bytes. An
empty frame says that a call has begun. It ends when its input ends (and so with the process that started it, however
that one ended), and after some minutes without a call.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any

import joblib

from grandag.executors.calls import Failure, answer_to

__all__ = ["JobProcess"]

_PROGRAM = "import sys; sys.path[:] = {path!r}; from grandag.executors.process import main; main()"
"""It finds the modules that this process finds."""

_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

_IDLE_SECONDS = 300.0
_SECONDS_BETWEEN_LOOKS = 1.0
_LENGTH = struct.Struct(">Q")
_BEGUN = b""


def _always() -> bool:
    return True


class JobProcess:
    """Our end of such a process: starts it when it is needed, and again after it had to be killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.is_closed = False

    def run(
        self, call: bytes, shared: Path | None, time_limit: float, is_wanted: Callable[[], bool] = _always
    ) -> bytes | Failure:
        """Make a call there, with the value of the file `shared`: the answer, or why there is none.

        The process is killed when the call takes longer than the limit in seconds, and when its answer is no longer
        wanted. If it dies by another's signal, which may have been sent for want of memory, the call is made once more.
        """
        answer, code = self._run_once(call, shared, time_limit, is_wanted)
        if code is not None and code < 0 and not self.is_closed and is_wanted():
            answer, _ = self._run_once(call, shared, time_limit, is_wanted)
        return answer

    def _run_once(
        self, call: bytes, shared: Path | None, time_limit: float, is_wanted: Callable[[], bool]
    ) -> tuple[bytes | Failure, int | None]:
        """The answer, and how the process ended if it died of itself."""
        process = self._running()
        is_late = threading.Event()
        answer = _ask(process, pickle.dumps((call, shared)))
        if answer == _BEGUN:
            with _guarded(process, time_limit, is_wanted, is_late):
                answer = _receive(process)
        if is_late.is_set() or answer is None:
            self._process, code = None, _end(process)
        if answer is not None:
            return answer, None
        if is_late.is_set():
            return Failure(f"Stopped after {time_limit:,.0f} seconds.", is_late=True), None
        if code == 0:  # it had been idle for too long just as we asked
            return self._run_once(call, shared, time_limit, is_wanted)
        reason = f"The working process ended with code {code}; a negative one is a signal, -9 often memory."
        return Failure(reason), code

    def kill(self) -> None:
        """Kill the process, if there is one, and start no other; from any thread."""
        self.is_closed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Kill the process and leave nothing behind; from the thread that runs jobs, or after it."""
        self.is_closed = True
        if self._process is not None:
            _end(self._process)
            self._process = None

    def __del__(self) -> None:
        self.close()  # of a worker's thread that has ended

    def _running(self) -> subprocess.Popen[bytes]:
        if self.is_closed:
            raise RuntimeError("This worker was closed.")
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for us; we end it
            )
            if self.is_closed:  # by another thread, which did not see the process yet
                self._process.kill()
        return self._process


@contextmanager
def _guarded(
    process: subprocess.Popen[bytes], time_limit: float, is_wanted: Callable[[], bool], is_late: threading.Event
) -> Iterator[None]:
    """Kill the process when it is late, which the event then says, or when nobody wants its answer any more."""
    is_over = threading.Event()
    deadline = time.monotonic() + time_limit

    def watch() -> None:
        while not is_over.wait(min(deadline - time.monotonic(), _SECONDS_BETWEEN_LOOKS)):
            if time.monotonic() >= deadline:
                is_late.set()
            if is_late.is_set() or not is_wanted():
                process.kill()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _end(process: subprocess.Popen[bytes]) -> int:
    """Kill a process and close our ends of its pipes; returns its exit code."""
    process.kill()
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(OSError):
            pipe.close()
    return code


def _ask(process: subprocess.Popen[bytes], call: bytes) -> bytes | None:
    """The first frame after a call; None if the process is dead."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        _write(process.stdin, call)
        return _receive(process)
    return None


def _receive(process: subprocess.Popen[bytes]) -> bytes | None:
    """The next frame; None if the process died before it was complete."""
    assert process.stdout is not None
    return _read(process.stdout)


def _write(stream: IO[bytes], frame: bytes) -> None:
    stream.write(_LENGTH.pack(len(frame)))
    stream.write(frame)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes | None:
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    frame = stream.read(length)
    return frame if len(frame) == length else None


def main() -> None:
    """Work until the input ends, or has been silent for some minutes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps anything that is printed out of the answers
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(frames,), daemon=True).start()
    with suppress(queue.Empty):
        while True:
            call, shared = pickle.loads(frames.get(timeout=_IDLE_SECONDS))
            answer = answer_to(call, partial(_mapped, shared), begin=partial(_write, answers, _BEGUN))
            _write(answers, answer)


@lru_cache(maxsize=1)
def _mapped(path: Path | None) -> Any:
    """The value in a file; its arrays stay there, and are read as they are needed."""
    return None if path is None else joblib.load(path, mmap_mode="r")


def _listen(frames: queue.SimpleQueue[bytes]) -> None:
    """Pass on frames; end the process, in the middle of a call if need be, when nobody is left to ask."""
    while (frame := _read(sys.stdin.buffer)) is not None:
        frames.put(frame)
    os._exit(0)
