"""A real browser without a window, and what it has to say."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 600.0
"""Seconds to wait for what happens at once on a free machine."""

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
)


@contextmanager
def chromium() -> Iterator[Any]:
    """Debian's Chromium with its own driver; nothing is downloaded. Skips where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser: it is in the extra test")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no browser: pages are tested in chromium with chromium-driver (Debian's packages)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    session = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    session.set_script_timeout(PATIENCE)
    session.set_page_load_timeout(PATIENCE)
    session.command_executor.client_config.timeout = int(PATIENCE)
    try:
        yield session
    finally:
        session.quit()


class Page:
    """A page in the browser."""

    def __init__(self, session: Any, path: Path) -> None:
        self.session, self.path = session, path

    def open(self, width: int = 1280, height: int = 900, fragment: str = "", scheme: str = "light") -> Page:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        media = {"features": [{"name": name, "value": value} for name, value in wishes.items()]}
        self.session.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.session.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.session.get("about:blank")
        for log in ("browser", "performance"):
            self.session.get_log(log)
        self.session.get(f"{self.path.as_uri()}{fragment}")
        return self

    def run(self, script: str, *arguments: Any) -> Any:
        return self.session.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.session.find_element("css selector", selector)

    def find_all(self, selector: str) -> list[Any]:
        return self.session.find_elements("css selector", selector)

    def wait(self, condition: Callable[[], Any]) -> bool:
        """Does the condition come true? Addresses change after the click that changes them, on a busy machine late."""
        deadline = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.02)
        return bool(condition())

    def messages(self) -> list[str]:
        """All that the console has."""
        return [entry["message"] for entry in self.session.get_log("browser")]

    def requests(self) -> set[str]:
        """Addresses that the page asked for, itself included."""
        events = [json.loads(entry["message"])["message"] for entry in self.session.get_log("performance")]
        sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return {url.partition("#")[0] for url in sent if not url.startswith(("data:", "about:"))}
