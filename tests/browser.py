"""A headless Chromium for tests, told what to do through a pipe: no socket, no driver, no download.

It speaks the Chrome DevTools Protocol: JSON messages that end in a zero byte, read by the browser
from file descriptor 3 and written to 4.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE_S = 120.0
# Becomes the browser, with the pipes where it expects them (copied away first: one may be 3).
LAUNCH = """
import os, sys
spare = [os.dup2(int(end), 60 + n) for n, end in enumerate(sys.argv[1:3])]
os.dup2(spare[0], 3)
os.dup2(spare[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def find_browser() -> str | None:
    """Path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser; a context manager.

    >>> with Browser() as browser:  # doctest: +SKIP
    ...     browser.open("file:///tmp/report.html")
    ...     browser.evaluate("document.title")
    """

    def __init__(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.size, self.dark = (width, height), dark

    def __enter__(self) -> "Browser":
        self._profile = tempfile.mkdtemp()
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        command = [find_browser(), *OPTIONS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(to_browser), str(from_browser), *command],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._rest, self._session = 0, b"", None
        self.requests: list[str] = []
        self.problems: list[str] = []
        self._attach()
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._out)
        self._process.terminate()
        self._process.wait()
        os.close(self._in)
        shutil.rmtree(self._profile, ignore_errors=True)

    def _attach(self) -> None:
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        answer = self.send("Target.attachToTarget", targetId=page, flatten=True)
        self._session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        width, height = self.size
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def send(self, method: str, **parameters: object) -> dict:
        """Send a command and wait for its answer; what happens meanwhile is noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _receive(self) -> dict:
        while b"\0" not in self._rest:
            chunk = os.read(self._in, 1 << 16)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self._rest += chunk
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict) -> None:
        parameters = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(parameters["exceptionDetails"]["text"])
        if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(parameters["entry"]["text"])

    def open(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        self.send("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, expression: str) -> object:
        """Value of an expression of JavaScript."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE_S
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"not true within {PATIENCE_S:g} s: {expression}")
            time.sleep(0.05)

    def click(self, x: float, y: float) -> None:
        """Click at a place in the window."""
        for kind in ("mousePressed", "mouseReleased"):
            place = {"x": x, "y": y, "button": "left", "clickCount": 1}
            self.send("Input.dispatchMouseEvent", type=kind, **place)

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key, such as ArrowLeft."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 * shift)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Save what the window shows, or the whole page, as PNG."""
        answer = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))
