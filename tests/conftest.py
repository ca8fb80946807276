"""What all tests share: the development data, a cluster and a browser, where they are here."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Tests start a hundred processes, each of which would compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell that starts tests in the background has Ctrl-C ignored, which all processes would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
if "PYTEST_XDIST_WORKER" in os.environ:  # as many processes as cores: a thread each is enough
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

DATA = Path(os.environ.get("NEUROWHERE_DATA", Path(__file__).parents[2] / "shared" / "data"))

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

settings.register_profile("house", deadline=None)  # a busy machine is no error
settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests of servers and pages first, which wait for other processes while others compute.

    What one worker of xdist takes over from another at the end is then short and starts nothing.
    """
    if sys.platform != "linux":
        for item in items:
            if item.get_closest_marker("linux"):
                item.add_marker(pytest.mark.skip(reason="needs signals, /proc and /dev of Linux"))
    items.sort(key=lambda item: "web" not in item.path.relative_to(item.config.rootpath).parts[:2])


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of real corpora, atlases and vocabularies; tests that need it skip without."""
    if not DATA.is_dir():
        pytest.skip(f"needs the development data: no folder {DATA} (set NEUROWHERE_DATA)")
    return DATA


@pytest.fixture(scope="session")
def shipped():
    """Give the model of the package, which tests read and do not change."""
    from neurowhere import load_model

    return load_model()


@pytest.fixture
def cluster():
    """Two worker processes on this machine, behind a Dask scheduler."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def browser(browsers):
    with browsers() as browser:
        yield browser


@pytest.fixture(scope="module")
def flat_browser(browsers):
    """A browser without WebGL."""
    with browsers("--disable-3d-apis") as browser:
        yield browser
