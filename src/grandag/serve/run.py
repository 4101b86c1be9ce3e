"""The server's life: a workspace is opened, an address printed, pages are served, and what is temporary is removed.

Processes for fits and tables get ready while the server imports what it needs, so that nobody waits for both.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from grandag import datasets
from grandag.serve.jobs import Jobs
from grandag.serve.workspace import Workspace, WorkspaceError

if TYPE_CHECKING:
    from grandag.serve.server import Workbench

__all__ = ["opened", "serve"]


@contextlib.contextmanager
def opened(data: str | None, keep: Path | None) -> Iterator[Workspace]:
    """The workspace behind an argument: a table's file or name in a new one, or one in a directory or an archive.

    It is in a temporary directory, which is removed at the end, unless it is kept in a directory of its own.
    """
    path = None if data is None else Path(data)
    is_workspace = path is not None and data not in datasets.DATASETS and Workspace.is_one(path)
    with contextlib.ExitStack() as stack:
        if path is not None and path.is_dir():
            if not is_workspace:
                raise WorkspaceError(f"{data!r} is a directory without a workspace of grandag serve.")
            if keep is not None:
                raise WorkspaceError("A workspace in a directory is kept there: leave --workspace out.")
            yield Workspace(path)
            return
        root = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="grandag-serve-")))
        if path is not None and is_workspace:
            if keep is not None and keep.exists() and any(keep.iterdir()):
                raise WorkspaceError(f"{str(keep)!r} is not empty: name a new directory for the archive's workspace.")
            yield Workspace.unpacked(path, root)
            return
        if keep is not None and keep.exists() and any(keep.iterdir()) and not Workspace.is_one(keep):
            raise WorkspaceError(f"{str(keep)!r} holds something else: name a new or an empty directory.")
        workspace = Workspace(root)
        if data is not None:
            _ = workspace.bundled_table(data) if data in datasets.DATASETS else workspace.copied_table(Path(data))
        yield workspace


def serve(
    workspace: Workspace,
    *,
    host: str,
    port: int,
    most_bytes: int,
    open_browser: bool,
    announce: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C, which ends a running fit, too; uploads have at most so many bytes."""
    with _listening(host, port) as listening, contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(workspace, listening, host, most_bytes, open_browser, announce))


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise OSError(f"{host}:{port} cannot be served ({error.strerror}): choose another --port.") from None
        yield listening


async def _serve(
    workspace: Workspace,
    listening: socket.socket,
    host: str,
    most_bytes: int,
    open_browser: bool,
    announce: Callable[[str], None],
) -> None:
    jobs = Jobs(workspace)
    await jobs.begin()
    try:
        bench, application = await asyncio.to_thread(_imported, jobs, host, listening.getsockname()[1], most_bytes)
        server = _Server(application, bench, lambda: _begin(bench, open_browser, announce))
        await server.serve(sockets=[listening])
    finally:
        await jobs.end()


def _imported(jobs: Jobs, host: str, port: int, most_bytes: int) -> tuple[Workbench, ASGIApp]:
    from grandag.serve.server import Workbench, application

    bench = Workbench(jobs, host=host, port=port, most_bytes=most_bytes)
    return bench, application(bench)


def _begin(bench: Workbench, open_browser: bool, announce: Callable[[str], None]) -> None:
    announce(bench.address)
    if open_browser:
        webbrowser.open(bench.address)


class _Server(uvicorn.Server):
    """Says when it is there, and lets pages go that listen for events before it waits for them."""

    def __init__(self, application: ASGIApp, bench: Workbench, begin: Callable[[], None]) -> None:
        config = uvicorn.Config(
            application, log_level="warning", access_log=False, timeout_graceful_shutdown=2, ws="none",
            server_header=False, loop="asyncio", http="h11",
        )  # fmt: skip
        super().__init__(config)
        self._bench, self._begin = bench, begin

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._begin()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._bench.end()
        await super().shutdown(sockets)
