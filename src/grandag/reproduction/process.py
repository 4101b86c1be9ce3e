"""A process that runs one job at a time, with one thread, and can be killed.

`python -m grandag.reproduction.process` reads jobs from its standard input and answers with results, both as lines of
JSON, after a line that says that it is ready. It ends when its input ends (and so with the process that started it,
however that one ended), and after some minutes without a job.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading

from grandag.reproduction.jobs import Job, JobResult, failure

__all__ = ["JobProcess"]

_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

_IDLE_SECONDS = 300.0
_READY = "ready\n"


class JobProcess:
    """Our end of such a process: starts it when it is needed, and again after it had to be killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    def run(self, job: Job, time_limit: float) -> JobResult:
        """Run a job there: "out of time" if it takes longer than the limit in seconds, "failed" if the process dies.

        A signal may have been meant for something else, or sent for want of memory: the job is then tried once more.
        """
        result, code = self._run_once(job, time_limit)
        if code is not None and code < 0 and not self._closed:
            result, _ = self._run_once(job, time_limit)
        return result

    def _run_once(self, job: Job, time_limit: float) -> tuple[JobResult, int | None]:
        """The result, and how the process ended if it died of itself."""
        process = self._running()
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            process.kill()

        timer = threading.Timer(min(time_limit, threading.TIMEOUT_MAX), end)
        timer.daemon = True
        timer.start()
        answer = _ask(process, json.dumps(job.as_dict()))
        timer.cancel()
        timer.join()
        if is_late.is_set() or not answer:
            self._process, code = None, _end(process)
        if answer:
            return JobResult(**json.loads(answer)), None
        if code == 0:  # it had been idle for too long just as we asked
            return self._run_once(job, time_limit)
        if is_late.is_set():
            return failure(job, f"Stopped after {time_limit:,.0f} seconds.", "out of time", time_limit), None
        message = f"The working process ended with code {code}; a negative one is a signal, -9 often memory."
        return failure(job, message), code

    def kill(self) -> None:
        """Kill the process, if there is one, and start no other; from any thread."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Kill the process and leave nothing behind; from the thread that runs jobs."""
        self._closed = True
        if self._process is not None:
            _end(self._process)
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._closed:
            raise RuntimeError("This worker was closed.")
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "grandag.reproduction.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for us; we end it
            )
            if self._closed:  # by another thread, which did not see the process yet
                self._process.kill()
            _await_readiness(self._process)
        return self._process


def _await_readiness(process: subprocess.Popen[str]) -> None:
    """Wait for the imports of a new process, which do not count towards a job's time."""
    assert process.stdout is not None
    if process.stdout.readline() != _READY:
        raise RuntimeError(f"The working process did not start; its exit code is {_end(process)}.")


def _end(process: subprocess.Popen[str]) -> int:
    """Kill a process and close our ends of its pipes; returns its exit code."""
    process.kill()
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(OSError):
            pipe.close()
    return code


def _ask(process: subprocess.Popen[str], line: str) -> str:
    """The answer, empty if the process died."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        return answer if answer.endswith("\n") else ""
    return ""


def main() -> None:
    """Work until the input ends, or has been silent for some minutes."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # keeps anything that is printed out of the answers
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    from grandag.reproduction.tasks import work  # takes seconds; meanwhile the thread sees if the input ends

    answers.write(_READY)
    answers.flush()
    with contextlib.suppress(queue.Empty):
        while True:
            result = work(Job(**json.loads(lines.get(timeout=_IDLE_SECONDS))))
            answers.write(json.dumps(result.as_dict()) + "\n")
            answers.flush()


def _listen(lines: queue.SimpleQueue[str]) -> None:
    """Pass on lines; end the process, in the middle of a job if need be, when nobody is left to ask."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
