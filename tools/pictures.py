"""Draw anew the pictures of README and docs that show what the shipped model says.

    python tools/pictures.py
    python tools/pictures.py --drawn benchmarks/disease_maps.py  # after it drew its own

Needs Playwright and a browser, as the tests of the page do. After a new model, look at what comes.
"""

import csv
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from time import sleep

from playwright.sync_api import sync_playwright

from neurowhere.model.store import SHIPPED
from neurowhere.model.titles import TITLES

IMAGES = Path(__file__).parents[1] / "docs" / "images"
# Image, the command that draws it, SHA-256 of the model it shows; files it is drawn from, theirs.
RECORD = IMAGES / "pictures.csv"
NEUROWHERE = [sys.executable, "-c", "from neurowhere.cli import main; main()"]
TEXT = (
    "Patient with left MCA infarct, Broca's aphasia and right hand weakness; "
    "no lesion in the thalamus."
)
PORT = 8765
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--ignore-gpu-blocklist"]
PATIENCE_MS = 120_000  # the browser draws without a graphics card


def main():
    """Encode the README's text, and show what came of it, and the page of the server."""
    path = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        output = Path(folder) / "aphasia"
        subprocess.run([*NEUROWHERE, "encode", TEXT, "-o", str(output)], check=True)
        shutil.copy(output / "map.png", IMAGES / "encode.png")
        with playwright.chromium.launch(executable_path=path, args=FLAGS) as browser:
            show_report(browser, output / "report.html")
            show_page(browser)
    record("tools/pictures.py")


def record(command):
    """Write down that the pictures of a command show the shipped model."""
    model = json.loads((SHIPPED / "info.json").read_text("utf-8"))["sha256"]["predictor.npz"]
    with RECORD.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    rows = [[*row[:2], model, *row[3:]] if row[1].startswith(command) else row for row in rows]
    with RECORD.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


def show_report(browser, file):
    """Draw the page that `encode` writes."""
    size = {"width": 1240, "height": 977}
    page = browser.new_page(viewport=size, device_scale_factor=0.75)
    page.goto(file.as_uri())
    page.wait_for_timeout(3000)
    page.screenshot(path=IMAGES / "report.png")
    page.close()


PAGES = {  # name of the picture, and what comes after the # of the address
    "page": "",
    "page-dark": "text=fear+and+the+anterior+insula&view=glass",
    "page-phone": "text=left+MCA+infarct+with+aphasia,+the+thalamus+is+spared",
    "page-compare": "mode=two&text=speech+production&other=speech+perception",
    "page-surface": "view=surface&text=fear+and+the+anterior+insula",
    "page-term": "mode=term&term=working+memory",
    "page-decode": "mode=decode&points=-24+-4+-18",
    "page-documents": "mode=documents&collection=titles&group=parkinson*",
}
DESKTOP = {"viewport": {"width": 1440, "height": 900}}
SCREENS = {
    "page-dark": {**DESKTOP, "color_scheme": "dark"},
    "page-phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}
READY = '#stage[aria-busy="false"][data-template="mni152"]'


def show_page(browser):
    """Draw the page of `serve` with its first example, and in its other modes."""
    with tempfile.TemporaryDirectory() as folder:
        documents = write_titles(Path(folder) / "titles.csv")
        command = ["serve", "--port", str(PORT), "--documents", str(documents)]
        server = subprocess.Popen([*NEUROWHERE, *command])
        try:
            address = f"http://127.0.0.1:{PORT}"
            wait_for(f"{address}/api/v1/health")
            for name, query in PAGES.items():
                show(browser, f"{address}/#{query}", name)
        finally:
            server.terminate()
            server.wait()


def show(browser, address, name):
    """Draw the page at an address."""
    page = browser.new_page(**SCREENS.get(name, DESKTOP))
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    page.locator(READY).wait_for()
    page.locator("#about:not(:empty)").wait_for()
    if name == "page-documents":
        page.set_default_timeout(5 * PATIENCE_MS)  # twelve thousand titles
        page.click("#run")
    page.locator("#regions tbody tr").first.wait_for(state="attached")
    page.locator("#map[data-drawn]:not([data-pending])").wait_for()
    page.locator('#panel-place[aria-busy="false"]').wait_for(state="attached")
    page.wait_for_timeout(3000)  # for the cortex
    if name == "page-phone":
        page.evaluate("document.querySelector('.viewer').scrollIntoView()")
    page.screenshot(path=IMAGES / f"{name}.png")
    page.close()


def write_titles(path):
    """Write the titles of the model's studies as documents, which all installations have."""
    lines = gzip.decompress(TITLES.read_bytes()).decode().splitlines()
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["pmid", "title"], *(line.split("\t") for line in lines)])
    return path


def wait_for(address):
    """Wait until the server answers."""
    for _ in range(120):
        try:
            urllib.request.urlopen(address).close()
        except OSError:
            sleep(1)
        else:
            return
    raise SystemExit(f"no answer from {address}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--drawn"]:
        record(sys.argv[2])
    else:
        main()
