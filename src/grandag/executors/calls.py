"""Calls of a function in another process as bytes, and what comes back; wherever the process is."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import cloudpickle

__all__ = ["Failure", "answer_to", "opened", "packed"]


class Failure(NamedTuple):
    """Why a job has no result: its process died, or was killed when its time was over (`is_late`)."""

    reason: str
    is_late: bool = False


def packed(function: Callable[[Any, Any], Any], job: Any) -> bytes:
    """A call that is still without what all jobs share."""
    return bytes(cloudpickle.dumps((function, job)))


def answer_to(call: bytes, shared: Callable[[], Any], begin: Callable[[], None]) -> bytes:
    """Make the call; the result or the error as bytes. `begin` is told when all modules that it needs are loaded."""
    try:
        function, job = cloudpickle.loads(call)
        value = shared()
        begin()
        return bytes(cloudpickle.dumps((function(job, value), None, "")))
    except Exception as error:
        return bytes(cloudpickle.dumps((None, _portable(error), traceback.format_exc())))


def _portable(error: Exception) -> Exception:
    """An error as it is, or its text where it cannot be made again from bytes."""
    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def opened(answer: bytes | Failure) -> Any:
    """The result, or the failure; an error of the function is raised here, with a note of where it was raised there."""
    if isinstance(answer, Failure):
        return answer
    result, error, where = cloudpickle.loads(answer)
    if error is not None:
        error.add_note(f"In another process:\n{where}")
        raise error
    return result
