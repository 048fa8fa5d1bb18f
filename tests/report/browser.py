"""A real browser for tests: headless Chromium, driven over a pipe by its own protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)
_SECONDS = 60


def find_chromium() -> str | None:
    """Where Chromium is; installed first where it is missing and nobody needs to be asked."""
    return _installed() or (_installed() if _install() else None)


def _installed() -> str | None:
    return next((path for path in map(shutil.which, _NAMES) if path), None)


def _install() -> bool:
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    subprocess.run([*apt, "update"], **quiet)
    return subprocess.run([*apt, "install", "-y", "--no-install-recommends", "chromium"], **quiet).returncode == 0


class Browser:
    """One page of a headless Chromium, and what it said and asked for while it was open."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # The protocol is spoken over the descriptors 3 and 4.
        command = [program, *_FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "chromium", *command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        os.set_blocking(self._in, False)
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.events.append(answer)

    def open(self, page: Path, *, width: int = 1280, height: int = 800) -> None:
        """Open a file in a window of a size and wait until it is loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def run(self, script: str) -> Any:
        """Value of a JavaScript expression on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the page: exceptions, console, security policy, failed loads."""
        methods = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self.events if event["method"] in methods]

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for, besides itself and what lies inside it."""
        asked = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in asked[1:] if not url.startswith("data:")]

    def screenshot(self, path: Path) -> None:
        """Write a picture of the window as PNG."""
        shot = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    def print(self, path: Path) -> None:
        """Write the page as it would be printed, as PDF."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def _receive(self) -> dict[str, Any]:
        until = time.monotonic() + _SECONDS
        while b"\0" not in self._buffer:
            assert time.monotonic() < until, "the browser does not answer"
            assert self._process.poll() is None, "the browser has ended"
            try:
                self._buffer += os.read(self._in, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
        message, self._buffer = self._buffer.split(b"\0", 1)
        return dict(json.loads(message))
