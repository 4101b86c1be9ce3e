"""A running workbench, and a page of it in a real browser."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.report.browser import Page

PATIENCE = 400.0
"""Seconds to wait for what takes a few on a free machine, and half a minute more where the engine is compiled first."""


def wait_for(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """What the condition returns once it is true."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come true within {patience} s")


class Bench:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], address: str, root: Path) -> None:
        self.process, self.address, self.root = process, address, root

    def ask(
        self, path: str, message: Any = None, method: str | None = None, headers: dict[str, str] | None = None
    ) -> Any:
        """What the server answers: JSON, or bytes; an error has its status and sentence."""
        data = message if isinstance(message, bytes) or message is None else json.dumps(message).encode()
        method = method or ("GET" if data is None else "POST")
        request = urllib.request.Request(self.address + path, data, headers or {}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            content = response.read()
        return json.loads(content) if response.headers["content-type"] == "application/json" else content

    def refusal(self, path: str, **options: Any) -> tuple[int, str]:
        """The status and the words of an answer that is an error."""
        try:
            self.ask(path, **options)
        except urllib.error.HTTPError as error:
            content = error.read().decode()
            return error.code, json.loads(content)["error"] if content.startswith("{") else content
        raise AssertionError(f"{path} was answered")

    def fit(self, number: int) -> dict[str, Any]:
        return next(fit for fit in self.ask("api/state")["fits"] if fit["id"] == number)

    def wait_for_table(self, number: int = 1) -> dict[str, Any]:
        def ended() -> Any:
            table = next(some for some in self.ask("api/state")["tables"] if some["id"] == number)
            return table if table["status"] in ("done", "failed") else None

        return wait_for(ended, f"table {number} was read")

    def wait_for_fit(self, number: int, field: str = "status") -> dict[str, Any]:
        def ended() -> Any:
            fit = self.fit(number)
            return fit if fit[field] in ("done", "stopped", "failed") else None

        return wait_for(ended, f"fit {number} ended")

    def learn(self, **wishes: Any) -> dict[str, Any]:
        """A finished fit; by default a quick one."""
        number = self.ask("api/fits", {"table": 1, "method": "notears", **wishes})["id"]
        return self.wait_for_fit(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)


@contextmanager
def serving(*arguments: str | Path) -> Iterator[Bench]:
    """`grandag serve` with these arguments, ended by Ctrl-C."""
    program = [sys.executable, "-c", "from grandag.cli import main; main()", "serve", "--no-browser"]
    words = [*program, *map(str, arguments)]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONWARNINGS": "default"}
    )
    try:
        first, second = process.stdout.readline(), process.stdout.readline()
        address = first.removeprefix("Workbench: ").strip()
        assert address.startswith("http://"), f"the server said {first!r}"
        yield Bench(process, address, Path(second.removeprefix("Workspace: ").partition("; ")[0]))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
        process.stdout.close()


class Site(Page):
    """The workbench in the browser."""

    def __init__(self, session: Any, address: str) -> None:
        self.session, self.address = session, address

    def visit(self, width: int = 1280, height: int = 900, scheme: str = "light") -> Site:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        media = {"features": [{"name": name, "value": value} for name, value in wishes.items()]}
        self.session.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.session.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.session.get("about:blank")
        for log in ("browser", "performance"):
            self.session.get_log(log)
        self.session.get(self.address)
        self.see("#learn .empty, #learn-button")
        return self

    def see(self, selector: str, text: str = "") -> Any:
        """The first visible element that a selector finds and that has this text, once there is one."""

        def found() -> Any:
            return self.run(
                "return [...document.querySelectorAll(arguments[0])].find((element) => "
                "element.getClientRects().length && element.textContent.includes(arguments[1])) ?? null",
                selector,
                text,
            )

        return wait_for(found, f"{selector} with {text!r} was seen")

    def press(self, selector: str, text: str = "") -> None:
        """Click, as a person does, once it is there."""
        element = self.see(selector, text)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def choose(self, selector: str, value: str) -> None:
        """Choose an option by its value."""
        script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change', {bubbles: true}))"
        self.run(script, self.see(selector), value)

    def tab(self, name: str) -> None:
        self.press(f"#tab-{name}")

    def press_edge(self, source: str, target: str) -> None:
        """Click on the line of an edge, in its middle."""
        script = """
            const edge = [...document.querySelectorAll("#panel-graph .edge")].find((some) =>
              some.dataset.source === arguments[0] && some.dataset.target === arguments[1]);
            edge.ownerSVGElement.scrollIntoView({block: "center"});
            const path = edge.querySelector(".line");
            const point = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
            return [point.x, point.y];
        """
        x, y = self.run(script, source, target)
        self.click_at(x, y)

    def click_at(self, x: float, y: float) -> None:
        actions = self._pointer_at(x, y)
        actions.pointer_action.click()
        actions.perform()

    def point_at(self, x: float, y: float) -> None:
        self._pointer_at(x, y).perform()

    def _pointer_at(self, x: float, y: float) -> Any:
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        actions = ActionBuilder(self.session)
        actions.pointer_action.move_to_location(round(x), round(y))
        return actions

    def edges(self) -> set[tuple[str, str]]:
        """The edges that are drawn."""
        script = (
            "return [...document.querySelectorAll('#panel-graph .edge')]"
            ".map((edge) => [edge.dataset.source, edge.dataset.target])"
        )
        return {tuple(pair) for pair in self.run(script)}

    def wait_for_graph(self, number: int) -> None:
        """Is the graph of this fit drawn?"""
        self.see(f"#panel-graph [data-fit='{number}'] .canvas")

    def too_wide(self) -> list[str]:
        """What makes the page wider than its window."""
        script = """
            const width = document.documentElement.clientWidth;
            const sticksOut = (some) => some.getBoundingClientRect().right > width + 1;
            return [...document.querySelectorAll("body *")]
              .filter((some) => sticksOut(some) && !some.closest(".scroll, svg"))
              .map((some) => `${some.tagName}.${some.className}`).slice(0, 10);
        """
        return self.run(script)
