"""Measure the page in a browser: requests, bytes and seconds of a visit, and clicks to the map.

    python benchmarks/page.py [--model FOLDER] [--clicks 40]

Needs Playwright and Chromium; the server is on the same machine. Visits are the first of a browser
and the next, with its files kept, without a limit and at 1.6 Mbit/s with 150 ms to the server and
back. Each click is new to server and page. Beside its wall time, which other work on the machine
lengthens, stands the processor time of all processes of the server and of the browser.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

NEUROWHERE = [sys.executable, "-c", "from neurowhere.cli import main; main()"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync"]
PATIENCE_MS = 120_000
LOOK_MS = 400  # between two clicks
LATE_MS = 1_500  # after the map, for what is loaded behind it
WARM_UP = 3  # clicks that are not counted
SCREEN = {"width": 1440, "height": 900}
SLOW = {  # 1.6 Mbit/s
    "offline": False,
    "latency": 150,
    "downloadThroughput": 200_000,
    "uploadThroughput": 94_000,
}
TEXT = "Large left MCA infarct. No haemorrhage. The right thalamus is normal."
MAP = "#map[data-drawn]:not([data-pending])"
ANSWER = "#regions tbody tr"
FINE = '#stage[aria-busy="false"][data-template="mni152"]'
SUBJECTS = ["reading", "fear", "pain", "working memory", "speech", "faces", "reward", "attention"]
PLACES = ["amygdala", "insula", "putamen", "hippocampus", "motor cortex", "thalamus", "cuneus"]

# From the event of a click to the frame in which all that it asks for is drawn and told.
TIMED = """async ([action, isDone, value]) => {
    const begin = performance.now();
    window.acts[action](value);
    while (!window.ends[isDone](value)) await new Promise(requestAnimationFrame);
    return performance.now() - begin;
}"""
ACTS = """() => {
    const $ = (id) => document.getElementById(id);
    const isBusy = (id) => $(id).getAttribute("aria-busy") !== "false";
    const rests = (id = "stage") => !isBusy(id) && !$("map").dataset.pending;
    window.acts = {
        text: (words) => { $("text").value = words; $("run").click(); },
        image: (name) => document.querySelector(`input[value=${name}]`).click(),
        place: ([x, y]) => {
            const box = $("map").getBoundingClientRect();
            const at = { clientX: box.x + x * box.width, clientY: box.y + y * box.height };
            for (const type of ["pointerdown", "pointerup"]) {
                $("map").dispatchEvent(new PointerEvent(type, { ...at, button: 0, pointerId: 1 }));
            }
        },
    };
    $("map").setPointerCapture = () => {};
    window.ends = {
        text: (words) => $("reading").textContent === words && rests(),
        image: (name) => $("caption").textContent.includes(
            { log_ratio: "average study", density: "density", mass: "80" }[name]) && rests(),
        place: () => rests("panel-place"),
    };
}"""


def main():
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="Folder of a model; by default the one in the package.")
    parser.add_argument("--clicks", type=int, default=40)
    options = parser.parse_args()
    model = ["--model", options.model] if options.model else []
    command = [*NEUROWHERE, "serve", "--port", "0", *model]
    path = next(filter(None, map(shutil.which, BROWSERS)))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = next(word for word in server.stdout.readline().split() if "http" in word)
            print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            with (
                sync_playwright() as playwright,
                playwright.chromium.launch(executable_path=path, args=FLAGS) as browser,
            ):
                visit(browser.new_context(viewport=SCREEN), address, None, "warm-up", tell=False)
                measure_visits(browser, address)
                measure_clicks(browser, address, server.pid, options.clicks)
        finally:
            server.terminate()


def measure_visits(browser, address):
    """Print requests, bytes and seconds of the first and the second visit."""
    print(f"{'visit':<26}{'requests':>9}{'kB':>7}{'s to the map':>14}{'s to the end':>14}")
    for speed, network in (("", None), (" at 1.6 Mbit/s", SLOW)):
        context = browser.new_context(viewport=SCREEN)
        for name in ("first", "second"):
            visit(context, address, network, name + speed)
        context.close()


def visit(context, address, network, name, *, tell=True):
    """Load the page with a text, and print a row."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    meter = Meter(context.new_cdp_session(page), network)
    begin = time.perf_counter()
    page.goto(f"{address}/#text={TEXT.replace(' ', '+')}", wait_until="commit")
    page.wait_for_selector(ANSWER)
    page.wait_for_selector(MAP)
    answered = time.perf_counter() - begin
    page.wait_for_selector(FINE)
    page.wait_for_selector(MAP)
    ended = time.perf_counter() - begin
    page.wait_for_timeout(LATE_MS)
    page.close()
    if tell:
        size = meter.bytes / 1000
        print(
            f"{name:<26}{meter.requests:>9}{size:>7.0f}{answered:>14.2f}{ended:>14.2f}", flush=True
        )


class Meter:
    """Counts the requests of a page that reach the server, and their bytes.

    Parameters
    ----------
    session : CDPSession
    network : dict, optional
        Limits of the network.
    """

    def __init__(self, session, network):
        self.bytes, self._asked, self._kept = 0, set(), set()
        session.send("Network.enable")
        if network:
            session.send("Network.emulateNetworkConditions", network)
        session.on("Network.requestWillBeSent", self._sent)
        session.on("Network.requestServedFromCache", lambda e: self._kept.add(e["requestId"]))
        session.on("Network.responseReceived", self._received)
        session.on("Network.loadingFinished", self._finished)

    @property
    def requests(self):
        """Number of requests that were not answered by the browser itself."""
        return len(self._asked - self._kept)

    def _sent(self, event):
        if event["request"]["url"].startswith("http"):
            self._asked.add(event["requestId"])

    def _received(self, event):
        if event["response"].get("fromDiskCache"):
            self._kept.add(event["requestId"])

    def _finished(self, event):
        self.bytes += event["encodedDataLength"]


def measure_clicks(browser, address, server, clicks):
    """Time each kind of click."""
    print(f"{'click':<28}{'median':>9}{'90 %':>9}{'server':>10}{'browser':>9}   ms")
    page = browser.new_page(viewport=SCREEN)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}/#text=amygdala")
    page.wait_for_selector(FINE)
    page.evaluate(ACTS)
    watch = Watch(page, server)
    texts = [
        f"{subject} and the {place}, case {i}"
        for i in range(clicks + WARM_UP)
        for subject, place in [(SUBJECTS[i % len(SUBJECTS)], PLACES[i % len(PLACES)])]
    ]
    watch.tell("a text to its map", "text", texts)
    images = ["log_ratio", "mass", "density"] * (clicks // 3 + 1)
    watch.tell("another image, seen before", "image", images)
    places = [[0.2 + 0.01 * (i % 17), 0.2 + 0.013 * (i % 11)] for i in range(clicks + WARM_UP)]
    page.click("#tab-place")
    watch.tell("a place to its terms", "place", places)


class Watch:
    """Times clicks in a page, and the work that they make.

    Parameters
    ----------
    page : Page
    server : int
        Process.
    """

    def __init__(self, page, server):
        self.page, self.server = page, server

    def tell(self, name, action, values):
        """Print a row: median and 90 % of the time, processor time of server and browser."""
        for value in values[:WARM_UP]:
            self.click(action, value)
        counted = values[WARM_UP:]
        before = self.work_ms()
        times = [self.click(action, value) for value in counted]
        server, browser = (
            (after - earlier) / len(counted)
            for earlier, after in zip(before, self.work_ms(), strict=True)
        )
        last = statistics.quantiles(times, n=10)[-1]
        middle = statistics.median(times)
        print(f"{name:<28}{middle:>9.0f}{last:>9.0f}{server:>10.0f}{browser:>9.0f}", flush=True)

    def click(self, action, value):
        """Return the time of a click; the next one is made by a person, who looks first."""
        milliseconds = self.page.evaluate(TIMED, [action, action, value])
        self.page.wait_for_timeout(LOOK_MS)
        return milliseconds

    def work_ms(self):
        """Return the processor time of the server and of the browser so far."""
        served = set(family(self.server))
        others = set(family(os.getpid())) - served - {os.getpid()}
        return [sum(map(processor_ms, each)) for each in (served, others)]


def family(process):
    """Yield a process and all that it started."""
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from family(int(child))


def processor_ms(process):
    """Return the time that a process has used the processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
