"""A process that does one task: it gets ready, reads a job from standard input, reports, answers, and ends.

All that it says is lines of JSON on standard output: `{"progress": ...}` any number of times, then `{"answer": ...}` or
`{"error": ...}`. It ends with whoever started it, however that one ended, because its input ends then.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

__all__ = ["main"]

_BETWEEN_REPORTS = 0.15
"""Seconds."""


def main() -> None:
    """Run the process."""
    sys.stdout.flush()
    answers = os.dup(1)
    os.dup2(2, 1)  # lines that somebody prints are no answers
    with suppress(KeyboardInterrupt), os.fdopen(answers, "w", encoding="utf-8") as out:
        _get_ready()
        line = sys.stdin.readline()
        if not line:
            return
        threading.Thread(target=_end_with_input, daemon=True).start()
        _say(out, _answer(json.loads(line), out))


def _get_ready() -> None:
    """Import what a fit needs, before it is needed."""
    import grandag.methods.grandag.grandag
    import grandag.report.files
    import grandag.serve.tasks  # noqa: F401


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


def _answer(job: dict[str, Any], out: IO[str]) -> dict[str, Any]:
    from grandag.learned import TrainingError
    from grandag.serve.tasks import TASKS

    try:
        return {"answer": TASKS[job["task"]](job, _listener(out))}
    except KeyboardInterrupt:
        return {"stopped": True}
    except MemoryError:
        return {"error": "This takes more memory than there is: use fewer rows or columns."}
    except (ValueError, OSError, TrainingError) as error:
        return {"error": str(error)}


def _listener(out: IO[str]) -> Callable[[Any], None]:
    """Reports with the time that is left, a few times a second and at every new stage."""
    stage, begun, said = "", time.monotonic(), 0.0

    def listen(progress: Any) -> None:
        nonlocal stage, begun, said
        now = time.monotonic()
        is_new = progress.stage != stage
        if is_new:
            stage, begun = progress.stage, now
        if not is_new and now - said < _BETWEEN_REPORTS and progress.step != progress.n_steps:
            return
        said = now
        known = progress.n_steps and progress.step
        left = (now - begun) * (progress.n_steps - progress.step) / progress.step if known else None
        _say(out, {"progress": {**progress._asdict(), "title": progress.title, "facts": progress.facts, "left": left}})

    return listen


def _say(out: IO[str], words: dict[str, Any]) -> None:
    print(json.dumps(words), file=out, flush=True)


if __name__ == "__main__":
    main()
