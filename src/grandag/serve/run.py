"""The server's life: a workspace is opened, an address printed, pages are served, and what is temporary is removed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from grandag import datasets
from grandag.serve.server import Workbench, application
from grandag.serve.workspace import Workspace, WorkspaceError

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


def serve(bench: Workbench, *, open_browser: bool, announce: Callable[[str], None]) -> None:
    """Serve until Ctrl-C, which ends a running fit, too."""
    family = socket.AF_INET6 if ":" in bench.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((bench.host, bench.port))
        except OSError as error:
            raise OSError(
                f"{bench.host}:{bench.port} cannot be served ({error.strerror}): choose another --port."
            ) from None
        bench.port = listening.getsockname()[1]
        config = uvicorn.Config(
            application(bench), log_level="warning", access_log=False, timeout_graceful_shutdown=2, ws="none",
            server_header=False, loop="asyncio", http="h11",
        )  # fmt: skip
        server = _Server(config, bench, lambda: _begin(bench, open_browser, announce))
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[listening]))


def _begin(bench: Workbench, open_browser: bool, announce: Callable[[str], None]) -> None:
    announce(bench.address)
    if open_browser:
        webbrowser.open(bench.address)


class _Server(uvicorn.Server):
    """Says when it is there, and lets pages go that listen for events before it waits for them."""

    def __init__(self, config: uvicorn.Config, bench: Workbench, begin: Callable[[], None]) -> None:
        super().__init__(config)
        self._bench, self._begin = bench, begin

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._begin()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._bench.end()
        await super().shutdown(sockets)
