"""A small model behind the API in this process, behind a real server, and in a real browser."""

import subprocess
import sys

import pytest
from tests.studies import TERMS, make_corpus
from tests.web.visit import Visit

from neurowhere import Encoder, VoxelGrid, save_model

pytest.importorskip("fastapi", reason="needs the extra serve")


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
    from neurowhere.web.server import create_app

    with open_client(create_app(model)) as client:
        yield client


def open_client(app):
    """Client of an application in this process; what fails there is an answer, not a traceback."""
    from fastapi.testclient import TestClient

    return TestClient(app, "http://localhost", raise_server_exceptions=False)


class Server:
    """``neurowhere serve`` with one worker, on a port that is free."""

    def __init__(self, folder, *options):
        command = [sys.executable, "-c", "from neurowhere.cli import main; main()", "serve"]
        model = [] if folder is None else ["--model", folder]
        self.process = subprocess.Popen(
            [*command, *model, "--port", "0", "--workers", "1", *options],
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
def far_server(server, model_folder):
    """Serve short texts, under a prefix, to be framed by pages of the usual server."""
    options = ("--max-text", "200", "--root-path", "/nw", "--embed", server.url)
    with Server(model_folder, *options, "--max-seconds", "120") as far:
        yield far


@pytest.fixture(scope="session")
def shipped_server():
    """Serve the model of the package, which knows titles and thousands of terms."""
    with Server(None, "--max-seconds", "120") as server:
        yield server


@pytest.fixture(scope="module")
def shipped_visit(browser, shipped_server):
    with Visit(browser, f"{shipped_server.url}/#text=amygdala") as visit:
        yield visit


@pytest.fixture(scope="module")
def shared_visit(browser, server):
    with Visit(browser, server.url) as visit:
        yield visit


@pytest.fixture
def visit(shared_visit):
    """Give a page that tests of a module share, as it was at first."""
    visit = shared_visit
    visit.page.unroute_all()
    visit.page.mouse.move(0, 0)
    visit.page.keyboard.press("Escape")
    visit.page.evaluate("localStorage.clear()")
    visit.page.evaluate("document.querySelectorAll('.menu').forEach(each => each.open = false)")
    visit.go("#text=the+visual+cortex")
    visit.open("regions")
    visit.requests.clear()
    visit.errors.clear()
    return visit
