"""The server: which request does what. It learns nothing itself.

Every address begins with a random token, so that no other page and no other person can make one up. A request from a
page of another origin, or for another host (as after DNS rebinding), is refused whatever its address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from grandag import datasets
from grandag.graph import read_graph, write_graph
from grandag.knowledge import Knowledge
from grandag.learned import TrainingError
from grandag.methods.storage import load
from grandag.resampling import KINDS
from grandag.serve import edits, recipe, views
from grandag.serve.jobs import Jobs, TaskError
from grandag.serve.tasks import estimator_of
from grandag.serve.workspace import ENDED, FitRecord, Workspace, WorkspaceError, data_ending

__all__ = ["Workbench", "application"]

_PAGE = Path(__file__).parent / "page"
_LARGEST_MESSAGE, _MOST_DROPPED = 1 << 20, 1 << 28
_GRAPHS = ("svg", "png", "json", "dot", "dagitty", "gml", "graphml", "csv", "npy")
_READING = ("separator", "decimal", "encoding", "na_values", "exclude")
_BETWEEN_EVENTS, _HEARTBEAT = 0.1, 15.0
"""Seconds."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; sandbox allow-scripts"
)
"""A report is one file with its script inside; in a sandbox that cannot reach the workbench."""


class Workbench:
    """A workspace, its queue, and all pages that look at it."""

    def __init__(self, workspace: Workspace, *, host: str = "127.0.0.1", port: int = 0, most_bytes: int) -> None:
        self.workspace, self.most_bytes = workspace, most_bytes
        self.host, self.port = host, port
        self.token = secrets.token_urlsafe(24)
        self.jobs = Jobs(workspace, self.changed)
        self.is_ending = False
        self._versions = {"state": 0, "progress": 0}
        self._listeners: set[asyncio.Event] = set()

    @property
    def address(self) -> str:
        """What a person opens."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(
            self.host, f"[{self.host}]" if ":" in self.host else self.host
        )
        return f"http://{host}:{self.port}/{self.token}/"

    def changed(self, what: str) -> None:
        """Tell all pages."""
        self._versions[what] += 1
        for listener in self._listeners:
            listener.set()

    def end(self) -> None:
        """Let all pages go."""
        self.is_ending = True
        self.changed("state")

    def state(self) -> dict[str, Any]:
        """What all pages show."""
        return views.state(self.workspace, self.jobs.progress)

    async def events(self) -> AsyncIterator[str]:
        """Server-sent events: the state whenever it changes, and the progress of what runs."""
        listener = asyncio.Event()
        self._listeners.add(listener)
        seen = {"state": -1, "progress": -1}
        try:
            while not self.is_ending:
                for kind, version in self._versions.items():
                    if version != seen[kind]:
                        seen[kind] = version
                        content = self.state() if kind == "state" else self.jobs.progress
                        yield f"event: {kind}\ndata: {json.dumps(content)}\n\n"
                listener.clear()
                await asyncio.sleep(_BETWEEN_EVENTS)
                try:
                    await asyncio.wait_for(listener.wait(), _HEARTBEAT)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._listeners.discard(listener)


class Guard:
    """Refuses requests without the token, for another host, or from the page of another origin."""

    def __init__(self, app: ASGIApp, bench: Workbench) -> None:
        self.app, self.bench = app, bench

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if not (self._is_own_host(headers) and self._is_own_origin(headers) and self._has_token(scope["path"])):
                await PlainTextResponse("Refused.", 403, _HEADERS)(scope, receive, send)
                return
        elif scope["type"] != "lifespan":
            return
        await self.app(scope, receive, send)

    def _is_own_host(self, headers: Headers) -> bool:
        name, _, port = headers.get("host", "").rpartition(":")
        if port != str(self.bench.port) or len(headers.getlist("host")) != 1:
            return False
        name = name.strip("[]").lower()
        own = {"127.0.0.1", "localhost", self.bench.host.lower()}
        is_open = self.bench.host in ("0.0.0.0", "::")
        return name in own or (is_open and (_is_address(name) or name == socket.gethostname().lower()))

    @staticmethod
    def _is_own_origin(headers: Headers) -> bool:
        """A page that is asked for has no origin; what it asks for has its own."""
        origin = headers.get("origin")
        return origin is None or origin == f"http://{headers['host']}"

    def _has_token(self, path: str) -> bool:
        return secrets.compare_digest(path.split("/")[1].encode(), self.bench.token.encode())


def _value(word: Any) -> float | str:
    """What a variable is set to: a number, or a label."""
    return word if isinstance(word, str) else float(word)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


Handler = Callable[[Request], Awaitable[Response]]


def application(bench: Workbench) -> ASGIApp:
    """The program that a server runs."""
    routes = [*_Handlers(bench).routes(), Mount("/", StaticFiles(directory=_PAGE, html=True))]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await bench.jobs.begin()
        ready = asyncio.create_task(run_in_threadpool(views.methods))  # it imports them all, which takes a while
        for record in list(bench.workspace.tables.values()):
            if record.status not in ENDED:
                bench.jobs.add_table(record.id)
        yield
        await bench.jobs.end()
        await ready

    inner = Starlette(routes=[Mount(f"/{bench.token}", routes=routes)], lifespan=lifespan)
    return Guard(_with_headers(inner), bench)


def _with_headers(app: ASGIApp) -> ASGIApp:
    async def wrapper(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                more = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in known)]
            await send(message)

        await app(scope, receive, send_with_headers)

    return wrapper


class _Handlers:
    """One method per address."""

    def __init__(self, bench: Workbench) -> None:
        self.bench, self.workspace, self.jobs = bench, bench.workspace, bench.jobs

    def routes(self) -> list[Route]:
        """Addresses below the token."""
        table, fit = "/api/tables/{table:int}", "/api/fits/{fit:int}"
        handlers: list[tuple[str, str, Handler]] = [
            ("GET", "/api/state", self.state),
            ("GET", "/api/events", self.events),
            ("GET", "/api/choices", self.choices),
            ("PUT", "/api/tables", self.upload),
            ("POST", "/api/tables", self.choose_table),
            ("GET", table, self.table),
            ("POST", f"{table}/reading", self.read_again),
            ("PUT", f"{table}/truth", self.upload_truth),
            ("POST", f"{table}/knowledge", self.edit_knowledge),
            ("GET", f"{table}/knowledge.toml", self.knowledge_file),
            ("POST", "/api/fits", self.learn),
            ("GET", fit, self.fit),
            ("DELETE", fit, self.remove_fit),
            ("POST", f"{fit}/stop", self.stop),
            ("POST", f"{fit}/refits", self.refit),
            ("GET", f"{fit}/graph", self.graph),
            ("GET", f"{fit}/curve", self.curve),
            ("POST", f"{fit}/changes", self.changes),
            ("GET", f"{fit}/recipe", self.recipe),
            ("GET", f"{fit}/report", self.report),
            ("GET", f"{fit}/files/{{name}}", self.file),
            ("GET", f"{fit}/compare/{{other}}", self.compare),
            ("GET", "/workspace.zip", self.pack),
        ]
        return [Route(path, _answering(handler), methods=[method]) for method, path, handler in handlers]

    async def state(self, _: Request) -> Response:
        return JSONResponse(self.bench.state())

    async def events(self, _: Request) -> Response:
        return StreamingResponse(self.bench.events(), media_type="text/event-stream")

    async def choices(self, _: Request) -> Response:
        """What there is to choose from."""
        from grandag.simulate.graphs import GRAPHS
        from grandag.simulate.mechanisms import KINDS as MECHANISMS

        return JSONResponse(
            {
                "methods": await run_in_threadpool(views.methods),
                "datasets": [name for name in datasets.DATASETS if name not in datasets.WITH_INTERVENTIONS],
                "mechanisms": [*MECHANISMS, "syntren"],
                "graphs": list(GRAPHS),
                "resample_kinds": list(KINDS),
                "most_bytes": self.bench.most_bytes,
                "formats": list(_GRAPHS),
            }
        )

    # Tables

    async def upload(self, request: Request) -> Response:
        """A table in the body of the request, written to disk as it comes."""
        name = request.query_params.get("name", "")
        ending = data_ending(name)
        path = await self._received(request, ending)
        record = self.workspace.new_table(Path(name.replace("\\", "/")).name, "file", {})
        path.rename(self.workspace.table_directory(record.id) / f"data{ending}")
        self.jobs.add_table(record.id)
        return JSONResponse({"id": record.id})

    async def _received(self, request: Request, ending: str) -> Path:
        """The body in a file of the workspace."""
        most = self.bench.most_bytes
        message = f"The file is larger than {most / 1e6:,.0f} MB: start the server with --max-upload for larger ones."
        path = self.workspace.incoming(ending)
        try:
            with path.open("wb") as file:
                async for chunk in _chunks(request, most, message):
                    file.write(chunk)
        except (ClientDisconnect, HTTPException, OSError):
            path.unlink(missing_ok=True)
            raise
        return path

    async def choose_table(self, request: Request) -> Response:
        """A bundled or a simulated table."""
        wish = await _message(request)
        if "bundled" in wish:
            record = self.workspace.bundled_table(str(wish["bundled"]))
        else:
            options = {name: value for name, value in dict(wish["simulation"]).items() if value is not None}
            record = self.workspace.new_table(f"simulated: {options.get('mechanism')}", "simulated", options)
        if record.status not in ENDED:
            self.jobs.add_table(record.id)
        return JSONResponse({"id": record.id})

    async def table(self, request: Request) -> Response:
        return JSONResponse(self.workspace.facts(request.path_params["table"]))

    async def read_again(self, request: Request) -> Response:
        """Read a file in another way."""
        record = self.workspace.table(request.path_params["table"])
        wish = await _message(request)
        options = {name: wish[name] for name in _READING if wish.get(name)}
        if "separator" in options:
            options["separator"] = {"tab": "\t", "space": r"\s+"}.get(options["separator"], options["separator"])
        if "na_values" in options:
            options["na_values"] = [text.strip() for text in str(options["na_values"]).split(",")]
        self.workspace.put_table(replace(record, options=options))
        self.jobs.add_table(record.id)
        return JSONResponse({})

    async def upload_truth(self, request: Request) -> Response:
        """The true graph of a table, in any format that the library reads."""
        number = request.path_params["table"]
        self.workspace.table(number)
        suffix = Path(request.query_params.get("name", "")).suffix.lower()
        path = await self._received(request, suffix if suffix[1:].isalnum() else "")
        try:
            names = [column["name"] for column in self.workspace.facts(number)["columns"]]
            graph = await run_in_threadpool(read_graph, path, names)
            write_graph(graph, self.workspace.table_directory(number) / "truth.json")
        finally:
            path.unlink(missing_ok=True)
        self.bench.changed("state")
        return JSONResponse({})

    # Knowledge

    async def edit_knowledge(self, request: Request) -> Response:
        """One edit, or back to the state before the last one."""
        number = request.path_params["table"]
        wish = await _message(request)
        if wish["edit"] == "undo":
            self.workspace.undo_knowledge(number)
        else:
            columns = [column["name"] for column in self.workspace.facts(number)["columns"]]
            names = [str(name) for name in wish.get("names", [])]
            knowledge = edits.edited(self.workspace.knowledge(number), str(wish["edit"]), names, columns)
            self.workspace.learn_knowledge(number, knowledge)
        self.bench.changed("state")
        return JSONResponse({})

    async def knowledge_file(self, request: Request) -> Response:
        text = views.knowledge_file(self.workspace, request.path_params["table"])
        return PlainTextResponse(text, headers=_attached("knowledge.toml"))

    # Fits

    async def learn(self, request: Request) -> Response:
        """Put a fit into the queue, with what is known of its columns now."""
        wish = await _message(request)
        table = self.workspace.table(int(wish["table"]))
        names = [column["name"] for column in self.workspace.facts(table.id).get("columns", [])]
        left_out = [name for name in names if name in set(wish.get("left_out", []))]
        kept = [name for name in names if name not in set(left_out)]
        if len(kept) < 2:
            raise WorkspaceError("A graph needs at least two columns: leave fewer out.")
        settings: dict[str, Any] = {
            "table": table.id,
            "method": str(wish["method"]),
            "preset": str(wish.get("preset", "default")),
            "seed": int(wish.get("seed", 0)),
            "parameters": {str(name): str(word) for name, word in dict(wish.get("parameters", {})).items()},
            "left_out": left_out,
            "knowledge": edits.about_columns(self.workspace.knowledge(table.id), kept).as_dict(),
        }
        await run_in_threadpool(_check, settings)
        record = self.workspace.new_fit(**settings)
        self.jobs.add_fit(record.id)
        return JSONResponse({"id": record.id})

    async def fit(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(views.fit_view, self.workspace, request.path_params["fit"]))

    async def remove_fit(self, request: Request) -> Response:
        self.jobs.remove(request.path_params["fit"])
        return JSONResponse({})

    async def stop(self, request: Request) -> Response:
        self.jobs.stop(request.path_params["fit"])
        return JSONResponse({})

    async def refit(self, request: Request) -> Response:
        wish = await _message(request)
        count, kind = int(wish["resamples"]), str(wish["kind"])
        if kind not in KINDS or not 2 <= count <= 1000:
            raise WorkspaceError(f"Choose 2 to 1,000 refits of one kind of {', '.join(KINDS)}.")
        self.jobs.add_refits(request.path_params["fit"], kind, count)
        return JSONResponse({})

    async def graph(self, request: Request) -> Response:
        around, depth = request.query_params.get("around"), int(request.query_params.get("depth", 1))
        number = request.path_params["fit"]
        return JSONResponse(await run_in_threadpool(views.graph_view, self.workspace, number, around, depth))

    async def curve(self, request: Request) -> Response:
        ends = (request.query_params["source"], request.query_params["target"])
        return JSONResponse(await run_in_threadpool(views.curve, self.workspace, request.path_params["fit"], *ends))

    async def changes(self, request: Request) -> Response:
        wish = await _message(request)
        values = {str(name): _value(value) for name, value in dict(wish["values"]).items()}

        def ask() -> dict[str, Any]:
            return views.changes(
                self.workspace, request.path_params["fit"], values, with_interval=bool(wish.get("with_interval"))
            )

        return JSONResponse(await run_in_threadpool(ask))

    async def compare(self, request: Request) -> Response:
        pair = request.path_params["fit"], request.path_params["other"]
        return JSONResponse(await run_in_threadpool(views.comparison, self.workspace, *pair))

    # Take away

    async def recipe(self, request: Request) -> Response:
        record, table, data = self._recipe(request)
        texts = {"script": recipe.script(table, record, data), "command": recipe.command(table, record, data)}
        return JSONResponse(texts)

    def _recipe(self, request: Request) -> tuple[FitRecord, Any, str]:
        record = self.workspace.fit(request.path_params["fit"])
        table = self.workspace.table(record.table)
        return record, table, table.name

    async def report(self, request: Request) -> Response:
        path = await self.jobs.report(request.path_params["fit"])
        headers = {**_HEADERS, "Content-Security-Policy": _REPORT_POLICY}
        return FileResponse(path, headers=headers, media_type="text/html", background=_removal(path))

    async def file(self, request: Request) -> Response:
        """A graph in the format of the ending, model, edges, script, command or knowledge of a fit."""
        number, name = request.path_params["fit"], request.path_params["name"]
        self.workspace.finished(number)
        if name in ("script.py", "command.sh", "knowledge.toml"):
            return PlainTextResponse(self._text(request, name), headers=_attached(name))
        if name in ("model.npz", "edges.csv", "report.md", "run.json", "confidence.csv"):
            path = self.workspace.fit_directory(number) / "result" / name
            if not path.exists():
                raise WorkspaceError(f"This fit has no {name}.")
            return FileResponse(path, headers=_attached(name))
        ending = name.removeprefix("graph.")
        if ending not in _GRAPHS:
            raise WorkspaceError(f"There is no file {name!r}.")
        path = self.workspace.incoming(f".{ending}")
        try:
            await run_in_threadpool(_write_graph, self.workspace.model_file(number), path)
        except ValueError:
            path.unlink()
            raise
        return FileResponse(path, headers=_attached(name), background=_removal(path))

    def _text(self, request: Request, name: str) -> str:
        record, table, data = self._recipe(request)
        if name == "knowledge.toml":
            return Knowledge.of(record.knowledge).to_toml()
        return (recipe.script if name == "script.py" else recipe.command)(table, record, data)

    async def pack(self, _: Request) -> Response:
        path = await run_in_threadpool(self.workspace.pack)
        return FileResponse(path, headers=_attached("workspace.zip"), background=_removal(path))


def _check(settings: dict[str, Any]) -> None:
    """Refuse a fit that cannot be made before it waits for its turn."""
    from grandag.parameters import check_unused, parameters_of

    model = estimator_of(FitRecord(0, **settings))
    check_unused(model.get_params(deep=False), parameters_of(type(model)))


def _write_graph(model: Path, target: Path) -> None:
    write_graph(load(model), target)


def _attached(name: str) -> dict[str, str]:
    return {**_HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}


def _removal(path: Path) -> BackgroundTask:
    return BackgroundTask(path.unlink, missing_ok=True)


async def _chunks(request: Request, most: int, complaint: str) -> AsyncIterator[bytes]:
    """The body of a request, piece by piece, or 413 with a complaint if it is larger than allowed.

    What is still being sent then is dropped, within limits: whoever is cut off while sending never reads the answer.
    """
    n_bytes, is_too_large = 0, int(request.headers.get("content-length", 0)) > most
    async for chunk in request.stream():
        n_bytes += len(chunk)
        is_too_large |= n_bytes > most
        if n_bytes > most + _MOST_DROPPED:
            break
        if not is_too_large:
            yield chunk
    if is_too_large:
        raise HTTPException(413, complaint)


async def _message(request: Request) -> dict[str, Any]:
    """The JSON object in a request, which is not large."""
    content = bytearray()
    async for chunk in _chunks(request, _LARGEST_MESSAGE, "The message is too large."):
        content += chunk
    message = json.loads(content)
    if not isinstance(message, dict):
        raise WorkspaceError("A message is an object.")
    return message


def _answering(handler: Handler) -> Handler:
    """A handler whose errors are sentences for a person."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except HTTPException as error:
            return JSONResponse({"error": error.detail}, error.status_code)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        except KeyError as error:
            return JSONResponse({"error": f"The request lacks {error}."}, 400)
        except (ValueError, TypeError, OSError, TrainingError, TaskError, MemoryError) as error:
            return JSONResponse({"error": str(error) or type(error).__name__}, 400)

    return answer
