"""Chromium as tests use it: one window for all tests of a process, which notes what pages complain of and ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from machine import CHROMIUM

# Without the last five, Chromium asks its makers' servers for things at every start.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@dataclass
class Visitor:
    """One window of Chromium, and what the page in it complained of and asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, where: Path | str, *, width: int = 1280) -> None:
        """Open a file or an address and wait until it is loaded; what is asked for besides the page itself is noted."""
        # The page before may go on asking until it is left.
        self.page.goto("about:blank")
        self.page.set_viewport_size({"width": width, "height": 800})
        self.complaints.clear()
        self.requests.clear()
        self.page.goto(where if isinstance(where, str) else where.resolve().as_uri())
        self.requests[:] = [url for url in self.requests[1:] if not url.startswith("data:")]

    def run(self, script: str) -> Any:
        """Value of a JavaScript expression on the page."""
        return self.page.evaluate(script)

    def wait(self, script: str) -> None:
        """Wait until a JavaScript expression is true; asked from outside, since pages forbid themselves to evaluate."""
        for _ in range(1000):
            if self.run(script):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"never came true: {script}")


@contextmanager
def chromium() -> Iterator[Visitor]:
    """A window."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        yield Visitor(browser.new_page())
