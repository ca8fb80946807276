"""Measure the time from a click to what it shows, in a browser with the server on the same machine.

    setsid -w python benchmarks/click_to_map.py [--model FOLDER] [--clicks 40]

Needs Playwright and Chromium. Each click is new to server and page. Beside the wall time, which
other work on the machine lengthens, it prints the processor time of all processes of the server and
of the browser, also for what follows the map: related terms, the place under the crosshair. As
root, both get a higher priority (`--nice`).
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import sync_playwright

from serve_load import come_first

NEUROWHERE = [sys.executable, "-c", "from neurowhere.cli import main; main()"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync"]
PATIENCE_MS = 120_000
LOOK_MS = 400  # between two clicks
WARM_UP = 3  # clicks that are not counted
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
            { log_ratio: "ratio", density: "density", mass: "80" }[name]) && rests(),
        place: () => rests("panel-place"),
    };
}"""


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="Folder of a model; by default the one in the package.")
    parser.add_argument("--clicks", type=int, default=40)
    parser.add_argument("--nice", type=int, default=-10, help="Priority, if root.")
    options = parser.parse_args()
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        come_first(options.nice)
    model = ["--model", options.model] if options.model else []
    command = [*NEUROWHERE, "serve", "--port", "0", *model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = next(word for word in server.stdout.readline().split() if "http" in word)
            measure(address, server.pid, options)
        finally:
            server.terminate()


def measure(address, server, options):
    """Time each kind of click."""
    clicks = options.clicks
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'click':<28}{'median':>9}{'90 %':>9}{'server':>10}{'browser':>9}   ms")
    path = next(filter(None, map(shutil.which, BROWSERS)))
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=FLAGS) as browser,
    ):
        page = browser.new_page(viewport={"width": 1440, "height": 812})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{address}/#text=amygdala")
        page.wait_for_selector('#stage[aria-busy="false"][data-template="mni152"]')
        page.evaluate(ACTS)
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            raise_priority(options.nice)
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


def raise_priority(nice):
    """Put server and browser before other work; at the start, Chromium sets its own priorities."""
    for process in set(family(os.getpid())) - {os.getpid()}:
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):  # it has just ended
                os.setpriority(os.PRIO_PROCESS, int(thread.name), nice)


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
