"""Try the page in Firefox: a text, its map, a click, other views and modes, and no errors.

    python tools/firefox.py [PICTURE]

Needs firefox or firefox-esr. It is driven by WebDriver BiDi, which Firefox speaks by itself, over
the WebSocket client of tornado (from the extra `cluster`). Its windows are never as narrow as
a phone: for that the page is shown in a frame of 390 pixels. Screenshots, if they are wanted, are
PICTURE and the same name with "-phone".
"""

import asyncio
import base64
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tornado.websocket import websocket_connect

NEUROWHERE = [sys.executable, "-c", "from neurowhere.cli import main; main()"]
BROWSERS = ("firefox", "firefox-esr")
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
SERVES = re.compile(r"http://\S+")
PATIENCE_SECONDS = 120
LARGEST_BYTES = 50_000_000  # of an answer: a screenshot
SIZE = {"width": 1280, "height": 800}
PHONE = (390, 844)
FRAME = '<!doctype html><iframe width="{}" height="{}" style="border:0" src="{}"></iframe>'
PHONE_TEXTS = {  # and what the page says of them
    "Large left MCA infarct. No haemorrhage.": "#answer",
    "amigdala": "#withheld",
}

READY = """document.querySelector('#stage[aria-busy="false"][data-template="mni152"]')
    && document.querySelector('#regions tbody tr')
    && document.querySelector('#map[data-drawn]:not([data-pending])')"""
COLOURED = """(() => {
    const map = document.getElementById("map");
    const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) n += Math.abs(data[i] - data[i + 2]) > 60;
    return n;
})()"""
PLACE = "['x', 'y', 'z'].map((axis) => document.getElementById(axis).value).join()"
BOX = """JSON.stringify(document.getElementById('map').getBoundingClientRect())"""


class Firefox:
    """A page in Firefox, by WebDriver BiDi.

    Parameters
    ----------
    socket : WebSocketClientConnection
    """

    def __init__(self, socket):
        self.socket = socket
        self.errors = []
        self._numbers = itertools.count(1)

    async def send(self, method, **parameters):
        """Send a command, and return what comes of it; errors of the page are kept."""
        number = next(self._numbers)
        await self.socket.write_message(
            json.dumps({"id": number, "method": method, "params": parameters})
        )
        while True:
            message = json.loads(await self.socket.read_message())
            if message.get("method") == "log.entryAdded":
                if message["params"]["level"] == "error":
                    self.errors.append(message["params"]["text"])
            elif message.get("id") == number:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['error']}, {message['message']}")
                return message["result"]

    async def open(self, address):
        """Begin a session with one page."""
        await self.send("session.new", capabilities={})
        await self.send("session.subscribe", events=["log.entryAdded"])
        self.context = (await self.send("browsingContext.create", type="tab"))["context"]
        await self.send("browsingContext.setViewport", context=self.context, viewport=SIZE)
        await self.go(address)

    async def go(self, address):
        """Load an address."""
        await self.send(
            "browsingContext.navigate", context=self.context, url=address, wait="complete"
        )

    async def run(self, expression):
        """Return the value of an expression."""
        outcome = await self.send(
            "script.evaluate",
            expression=expression,
            target={"context": self.context},
            awaitPromise=True,
        )
        if outcome["type"] == "exception":
            raise RuntimeError(outcome["exceptionDetails"]["text"])
        return outcome["result"].get("value")

    async def enter_frame(self):
        """Go on in the first frame of the page."""
        (tree,) = (await self.send("browsingContext.getTree", root=self.context))["contexts"]
        self.context = tree["children"][0]["context"]

    async def until(self, condition):
        """Wait until an expression holds."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not await self.run(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{condition}; errors of the page: {self.errors}")
            await asyncio.sleep(0.05)

    async def click(self, x, y):
        """Click at a place of the page."""
        moves = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        mouse = {"type": "pointer", "id": "mouse", "actions": moves}
        await self.send("input.performActions", context=self.context, actions=[mouse])

    async def picture(self, path):
        """Write a screenshot."""
        shot = await self.send("browsingContext.captureScreenshot", context=self.context)
        Path(path).write_bytes(base64.b64decode(shot["data"]))


async def try_page(firefox, address):
    """Do what a new user does; each step is told."""
    await firefox.open(f"{address}/#text=finger+tapping+and+the+left+motor+cortex")
    await firefox.until(READY)
    assert await firefox.run(COLOURED) > 200
    tell("a text has a map", await firefox.run("document.getElementById('caption').textContent"))

    before = await firefox.run(PLACE)
    box = json.loads(await firefox.run(BOX))
    await firefox.click(box["x"] + 0.31 * box["width"], box["y"] + 0.27 * box["height"])
    await firefox.until(f"{PLACE} !== '{before}'")
    await firefox.until("document.querySelector('#decoded li')")
    tell("a click moves the crosshair", f"{before} to {await firefox.run(PLACE)}")

    for view in ("glass", "surface", "slices"):
        await firefox.run(f"document.querySelector('input[value={view}]').click()")
        await firefox.until(f"{READY} && {COLOURED} > 200")
        tell("view", view)

    await firefox.run("document.querySelector('[data-form=svg]').click()")
    tell("a figure is made", "SVG")
    for query, caption in {
        "mode=two&text=speech+production&other=speech+perception": "First and second",
        "mode=term&term=working+memory": "The term",
        "mode=decode&points=-24+-4+-18": "Your point",
    }.items():
        await firefox.run(f"void (location.hash = '#{query}')")
        await firefox.until(f"document.getElementById('caption').textContent.includes('{caption}')")
        await firefox.until(READY)
        tell("mode", await firefox.run("document.getElementById('caption').textContent"))
    if sys.argv[1:]:
        await firefox.picture(sys.argv[1])
    assert firefox.errors == [], firefox.errors
    tell("errors of the page", "none")


async def try_phone(firefox, address):
    """Read two texts on a screen as narrow as a phone's."""
    with framed(f"{address}/#text=fear") as outer:
        await firefox.go(outer)
    await firefox.enter_frame()
    await firefox.until(READY)
    for text, place in PHONE_TEXTS.items():
        box = "document.getElementById('text')"
        await firefox.run(f"{box}.value = {text!r}; document.getElementById('run').click()")
        await firefox.until(f"document.getElementById('reading').textContent === {text!r}")
        await firefox.until("document.querySelector('#stage[aria-busy=\"false\"]')")
        told = await firefox.run(f"document.querySelector('{place}').innerText")
        width = await firefox.run("document.documentElement.scrollWidth")
        assert width <= PHONE[0], width
        tell(f"{width} pixels wide", " ".join(told.split()))
        if sys.argv[1:]:
            path = Path(sys.argv[1])
            await firefox.picture(path.with_stem(f"{path.stem}-phone-{place[1:]}"))
    assert firefox.errors == [], firefox.errors


@contextmanager
def framed(address):
    """Serve a page that shows another one in a frame."""
    content = FRAME.format(*PHONE, address).encode()

    class Outer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Outer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def tell(what, words):
    """Print a step that went well."""
    print(f"ok  {what}: {words}", flush=True)


@contextmanager
def started(command, pattern):
    """Start a program, and yield what it prints of its address."""
    with tempfile.NamedTemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_SECONDS
        try:
            while not (found := pattern.search(Path(log.name).read_text())):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{command[0]} did not start")
                time.sleep(0.1)
            yield found.group(found.lastindex or 0)
        finally:
            process.terminate()
            process.wait(30)


async def drive(socket_address, address):
    """Connect to Firefox, and try the page."""
    socket = await websocket_connect(f"{socket_address}/session", max_message_size=LARGEST_BYTES)
    try:
        firefox = Firefox(socket)
        await try_page(firefox, address)
        await try_phone(firefox, address)
    finally:
        socket.close()


def main():
    """Start what is needed, and try the page."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit(f"needs one of {', '.join(BROWSERS)}; install firefox-esr")
    options = ["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile"]
    with tempfile.TemporaryDirectory() as profile:
        serve = [*NEUROWHERE, "serve", "--port", "0", "--embed", "http://127.0.0.1:*"]
        firefox = started([path, *options, profile], LISTENS)
        with started(serve, SERVES) as address, firefox as socket:
            asyncio.run(drive(socket, address))


if __name__ == "__main__":
    main()
