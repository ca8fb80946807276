"""A small model behind the API in this process, behind a real server, and in a real browser."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.studies import TERMS, make_corpus

from neurowhere import Encoder, VoxelGrid, save_model

pytest.importorskip("fastapi", reason="needs the extra serve")

REQUIRED = "NEUROWHERE_REQUIRE_BROWSER"  # set where a missing browser is a failure
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-watchdog",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def model():
    return Encoder(VoxelGrid(8), "l2", vocabulary=TERMS).fit(make_corpus(60))


@pytest.fixture(scope="session")
def model_folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    save_model(model, folder)
    return folder


@pytest.fixture(scope="session")
def client(model):
    from neurowhere.web.app import create_app

    with open_client(create_app(model)) as client:
        yield client


def open_client(app):
    """Client of an application in this process; what fails there is an answer, not a traceback."""
    from fastapi.testclient import TestClient

    return TestClient(app, raise_server_exceptions=False)


class Server:
    """``neurowhere serve`` with one worker, on a port that is free."""

    def __init__(self, folder, *options):
        command = [sys.executable, "-c", "from neurowhere.cli import main; main()", "serve"]
        self.process = subprocess.Popen(
            [*command, "--model", folder, "--port", "0", "--workers", "1", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        if "http" not in line:
            raise RuntimeError(line + self.process.stderr.read())
        self.url = line.split()[2]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture(scope="session")
def server(model_folder):
    with Server(model_folder, "--max-seconds", "120") as server:  # also where much else runs
        yield server


@pytest.fixture(scope="session")
def browsers():
    """Give the launcher of a browser; without one the tests skip, or fail where it is required."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        message = f"needs playwright and a browser ({', '.join(BROWSERS)})"
        if os.environ.get(REQUIRED):
            pytest.fail(f"{message}, because {REQUIRED} is set")
        pytest.skip(message)
    with sync_playwright() as playwright:
        yield lambda *flags: playwright.chromium.launch(executable_path=path, args=[*FLAGS, *flags])


@pytest.fixture(scope="session")
def browser(browsers):
    with browsers() as browser:
        yield browser


@pytest.fixture(scope="session")
def flat_browser(browsers):
    """A browser without WebGL."""
    with browsers("--disable-3d-apis") as browser:
        yield browser


def axe_script():
    """Source of axe-core, which axe-playwright-python carries."""
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
