"""`grandag serve`: the workbench in the browser. Nothing heavy is imported before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grandag.cli.common import visible

__all__ = ["serve"]

_LOCAL = ("127.0.0.1", "localhost", "::1")


def serve(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A table, as for `fit`, or a workspace: a .zip file that the workbench gave, or its directory."
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 0,
    host: Annotated[
        str, typer.Option(help="The address to serve; any but this machine's own lets others in who know the token.")
    ] = "127.0.0.1",
    workspace: Annotated[
        Path | None,
        typer.Option(help="Directory to keep the workspace in; by default a temporary one, removed at the end."),
    ] = None,
    max_upload: Annotated[int, typer.Option(min=1, help="The largest file to upload, in MB.")] = 1000,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Open the workbench in the browser: look at a table, learn, say what cannot be, learn again, compare.

    It serves this machine alone, until Ctrl-C.
    """
    try:
        from grandag.serve.run import opened
        from grandag.serve.run import serve as run
        from grandag.serve.server import Workbench
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise ValueError("The workbench needs Starlette and uvicorn: pip install 'grandag[serve]'.") from None
    if host not in _LOCAL:
        typer.echo(
            f"Warning: {visible(host)} can be reached by other machines. Whoever has the address below, which travels "
            "unencrypted, can read the tables and run fits.",
            err=True,
        )
    with opened(data, workspace) as space:

        def announce(address: str) -> None:
            typer.echo(f"Workbench: {address}")
            typer.echo(f"Workspace: {visible(str(space.root))}; Ctrl-C ends it.")

        bench = Workbench(space, host=host, port=port, most_bytes=max_upload * 1_000_000)
        run(bench, open_browser=browser, announce=announce)
