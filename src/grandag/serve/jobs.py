"""The queue: fits and refits one at a time, tables and reports beside them, each in a process of its own.

A process that crashes, or is stopped, costs its own result and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from grandag.serve.workspace import ENDED, FitRecord, Workspace, WorkspaceError

__all__ = ["Jobs", "TaskError"]

_PATIENCE = 5.0
"""Seconds that a process which was asked to stop has for what it can still save."""

_LONGEST_LINE = 1 << 22


class TaskError(RuntimeError):
    """A task failed; the message is for the person."""


class _Waiting(NamedTuple):
    fit: int
    task: str  # learn or refit


class Worker:
    """Our end of a process that does one task."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.was_stopped = False

    @classmethod
    async def start(cls) -> Worker:
        """A process that gets ready, in a session of its own: Ctrl-C of a terminal is for the server alone."""
        path = f"import sys; sys.path[:] = {sys.path!r}; from grandag.serve.worker import main; main()"
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", path, stdin=pipe, stdout=pipe, start_new_session=True, limit=_LONGEST_LINE
        )
        return cls(process)

    async def run(self, job: dict[str, Any], listen: Callable[[dict[str, Any]], None]) -> dict[str, Any] | None:
        """Do a task: its answer, or None if it was stopped without one."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with suppress(ConnectionError):
            process.stdin.write(json.dumps(job).encode() + b"\n")
            await process.stdin.drain()
        result: dict[str, Any] = {}
        async for line in process.stdout:
            said = json.loads(line)
            if "progress" in said:
                listen(said["progress"])
            else:
                result = said
        code = await process.wait()
        if "answer" in result:
            return dict(result["answer"])
        if self.was_stopped or "stopped" in result:
            return None
        raise TaskError(result.get("error") or _epitaph(code))

    @property
    def is_alive(self) -> bool:
        """Can it be given a task?"""
        return self._process.returncode is None

    async def ended(self) -> None:
        """Wait for its end."""
        await self._process.communicate()

    def stop(self) -> None:
        """Ask it to end with what it has; who does not listen is killed after a while."""
        if self._process.returncode is None:
            self.was_stopped = True
            self._process.send_signal(signal.SIGINT)
            asyncio.get_running_loop().call_later(_PATIENCE, self.kill)

    def kill(self) -> None:
        """End it now."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()


def _epitaph(code: int) -> str:
    if code == -signal.SIGKILL:
        return "The process was killed, most often for want of memory: use fewer rows or columns."
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    return f"The process ended {how} without a result; its last words are in the terminal of the server."


class Jobs:
    """What waits and what runs; `changed` is called with "state" or "progress" when there is something new to show."""

    def __init__(self, workspace: Workspace, changed: Callable[[str], None]) -> None:
        self.workspace, self._changed = workspace, changed
        self._waiting: list[_Waiting] = []
        self._news = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._workers: set[Worker] = set()
        self._ready: Worker | None = None
        self._one_table_at_a_time = asyncio.Semaphore(1)
        self.running: _Waiting | None = None
        self._current: Worker | None = None
        self.progress: dict[str, Any] = {}

    async def begin(self) -> None:
        """Serve the queue until `end`."""
        self._spawn(self._serve())

    async def end(self) -> None:
        """End everything that runs."""
        for task in self._tasks:
            task.cancel()
        workers = list(self._workers)
        for worker in workers:
            worker.kill()
        await asyncio.gather(*self._tasks, *(worker.ended() for worker in workers), return_exceptions=True)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _worker(self) -> Worker:
        """A process that has been getting ready."""
        worker, self._ready = self._ready, None
        return worker if worker is not None and worker.is_alive else await Worker.start()

    async def _prepare(self) -> None:
        if self._ready is None:
            self._ready = await Worker.start()
            self._workers.add(self._ready)

    # Fits

    def add_fit(self, number: int) -> None:
        """Put a fit into the queue."""
        self._add(_Waiting(number, "learn"))

    def add_refits(self, number: int, kind: str, count: int) -> None:
        """Put the refits of a fit into the queue."""
        record = self.workspace.finished(number)
        if record.refits and record.refits not in ENDED:
            raise WorkspaceError("The refits of this fit are already on their way.")
        self.workspace.put_fit(
            replace(record, refits="waiting", refits_message="", refits_kind=kind, refits_asked=count)
        )
        self._add(_Waiting(number, "refit"))

    def _add(self, waiting: _Waiting) -> None:
        self._waiting.append(waiting)
        self._news.set()
        self._changed("state")

    def stop(self, number: int) -> None:
        """Stop a fit or its refits, whether they run or wait."""
        if self.running is not None and self.running.fit == number and self._current is not None:
            self._current.stop()
            return
        for waiting in [some for some in self._waiting if some.fit == number]:
            self._waiting.remove(waiting)
            self._put(waiting, "stopped", "It was taken out of the queue.")

    def remove(self, number: int) -> None:
        """Forget a fit, which must not run."""
        if self.running is not None and self.running.fit == number:
            raise WorkspaceError("This fit is running: stop it first.")
        self._waiting = [some for some in self._waiting if some.fit != number]
        self.workspace.remove_fit(number)
        self._changed("state")

    async def _serve(self) -> None:
        while True:
            await self._prepare()
            while not self._waiting:
                self._news.clear()
                await self._news.wait()
            self.running = self._waiting.pop(0)
            try:
                await self._run(self.running)
            finally:
                self.running, self._current, self.progress = None, None, {}
            self._changed("state")

    async def _run(self, waiting: _Waiting) -> None:
        self._put(waiting, "running")
        record = self.workspace.fit(waiting.fit)
        begun = time.monotonic()
        self.progress = {"fit": waiting.fit, "task": waiting.task, "title": "Preparing", "facts": ""}

        def listen(progress: dict[str, Any]) -> None:
            elapsed = time.monotonic() - begun
            self.progress = {"fit": waiting.fit, "task": waiting.task, "elapsed": elapsed, **progress}
            self._changed("progress")

        self._current = await self._worker()
        try:
            answer = await self._ask(self._current, self._job(waiting.task, record), listen)
        except TaskError as error:
            self._put(waiting, "failed", str(error))
            return
        if answer is None:
            self._put(waiting, "stopped", "It was stopped before there was a graph.")
        else:
            self._put(waiting, "done", **answer)

    def _put(self, waiting: _Waiting, status: str, message: str = "", **facts: Any) -> None:
        record = self.workspace.fit(waiting.fit)
        if waiting.task == "learn":
            changed = replace(record, status=status, message=message, **facts)
        else:
            facts.pop("headline", None)  # it has the time of the fit
            changed = replace(record, refits=status, refits_message=message, **facts)
        self.workspace.put_fit(changed)
        self._changed("state")

    def _job(self, task: str, record: FitRecord) -> dict[str, Any]:
        table = self.workspace.table(record.table)
        return {
            "task": task,
            "fit": asdict(record),
            "fit_directory": str(self.workspace.fit_directory(record.id)),
            "table": asdict(table),
            "table_directory": str(self.workspace.table_directory(table.id)),
        }

    async def _ask(self, worker: Worker, job: dict[str, Any], listen: Callable[[dict[str, Any]], None]) -> Any:
        self._workers.add(worker)
        try:
            return await worker.run(job, listen)
        finally:
            worker.kill()
            self._workers.discard(worker)

    # Tables and reports, beside a running fit

    def add_table(self, number: int) -> None:
        """Look at a table."""
        self._spawn(self._inspect(number))
        self._changed("state")

    async def _inspect(self, number: int) -> None:
        record = self.workspace.table(number)
        self.workspace.put_table(replace(record, status="running", message=""))
        self._changed("state")
        job = {
            "task": "inspect",
            "table": asdict(record),
            "table_directory": str(self.workspace.table_directory(number)),
        }
        try:
            await self._aside(job)
            changed = replace(record, status="done", message="")
        except TaskError as error:
            changed = replace(record, status="failed", message=str(error))
        self.workspace.put_table(changed)
        self._changed("state")

    async def report(self, number: int) -> Path:
        """The page of a fit, in a file that the caller removes."""
        record = self.workspace.finished(number)
        target = self.workspace.incoming(".html")
        job = self._job("report", record)
        try:
            await self._aside({**job, "target": str(target), "truth": self.workspace.has_truth(record.table)})
        except TaskError:
            target.unlink()
            raise
        return target

    async def _aside(self, job: dict[str, Any]) -> None:
        async with self._one_table_at_a_time:
            worker = await Worker.start()
            await self._ask(worker, job, lambda progress: None)
