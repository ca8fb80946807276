"""``neurowhere serve`` as a process: how it starts, stops and starts again."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.web.conftest import Server

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

PATIENCE_SECONDS = 60
LONG = {"texts": ["the amygdala and the visual cortex. " * 100] * 100}


def ask(url, path, query=None):
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    body = None if query is None else json.dumps(query)
    headers = {"Content-Type": "application/json"}
    connection.request("GET" if body is None else "POST", f"/api/v1/{path}", body, headers)
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


@pytest.mark.slow
@pytest.mark.linux
def test_sigterm_finishes_what_runs_and_takes_no_more(model_folder):
    with Server(model_folder) as server:
        answers = []
        request = threading.Thread(target=lambda: answers.append(ask(server.url, "batch", LONG)))
        request.start()
        while not ask(server.url, "health")[1]["pending"]:
            assert request.is_alive()
        for process in [server.process.pid, *workers_of(server)]:  # as a service manager does
            os.kill(process, signal.SIGTERM)
        request.join()
        server.process.wait(PATIENCE_SECONDS)
        ((status, content),) = answers
        assert status == 200
        assert len(content["results"]) == 100
        with pytest.raises(OSError, match="refused"):
            ask(server.url, "health")


@pytest.mark.slow
@pytest.mark.linux
def test_killed_while_serving_it_starts_again_on_its_port_until_ctrl_c(model_folder, monkeypatch):
    """Its limits come from the environment and from options, each time; its end is silent."""
    monkeypatch.setenv("NEUROWHERE_MAX_TEXT", "7777")
    with Server(model_folder, "--max-batch", "333") as server:
        assert limits_of(server) == (7_777, 333)
        request = threading.Thread(target=ask_anyhow, args=(server.url, LONG))
        request.start()
        wait_for(lambda: ask(server.url, "health")[1]["pending"] or not request.is_alive())
        workers = workers_of(server)
        server.process.kill()
        server.process.wait(PATIENCE_SECONDS)
        request.join()
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    port = str(urlsplit(server.url).port)
    with Server(model_folder, "--port", port, "--max-batch", "3") as again:
        assert again.url == server.url
        assert ask(again.url, "health")[0] == 200  # by now it listens to signals
        assert limits_of(again) == (7_777, 3)
        again.process.send_signal(signal.SIGINT)
        assert again.process.wait(PATIENCE_SECONDS) == 0
        assert again.process.stderr.read() == ""


def limits_of(server):
    limits = ask(server.url, "model")[1]["limits"]
    return limits["max_text"], limits["max_batch"]


def workers_of(server):
    """Process ids of the workers, where the system tells them."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in children.read_text().split()] if children.exists() else []


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ask_anyhow(url, query):
    with suppress(OSError):  # the server is killed meanwhile
        ask(url, "batch", query)


def test_a_port_in_use_is_one_line(model_folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = "from neurowhere.cli import main; main()"
        command = [sys.executable, "-c", code, "serve", "--port", str(port), "--model"]
        done = subprocess.run([*command, model_folder], capture_output=True, text=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"neurowhere: cannot listen on 127.0.0.1, port {port}")


def test_the_page_gets_all_of_its_modules_as_one_script():
    from neurowhere.web.server import page_files, static_files

    modules = {name[:-3] for name in static_files() if name.endswith(".js")}
    sent = page_files()["app.js"].decode()
    assert {name for name in modules if f"const ${name} = " in sent} == modules - {
        "app",  # which is not a function of the script, but its end
        "docs",
        "theme",  # runs before the page is drawn
    }
    assert "\nimport " not in sent
    assert "\nexport " not in sent
