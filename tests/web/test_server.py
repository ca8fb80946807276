"""A real server in front of hostile and careless clients: connections, names, rates, prefixes."""

import asyncio
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from tests.web.conftest import Server, open_client
from tests.web.test_serve import wait_for, workers_of
from tests.web.visit import Visit

from neurowhere.cli import main
from neurowhere.web import Settings
from neurowhere.web.server import (
    Bounded,
    Plain,
    connection_limit,
    create_app,
    make_server,
    static_files,
)
from neurowhere.web.visitors import Rates

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

HEAD_SECONDS = 2


def ask(url, path, method="GET", body=None, **headers):
    """Status, headers and content of one answer, on a connection of its own."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request(method, path, body, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def connect(url):
    return socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=30)


# ---- memory


class Held:
    """Memory that counts how often it was released."""

    def __init__(self, is_late):
        self.is_late, self.releases = is_late, 0

    def release(self):
        self.releases += 1


@pytest.mark.parametrize("is_late", [True, False])
def test_the_server_gives_memory_back_now_and_then(client, is_late):
    server = make_server(client.app, Settings())
    server.memory = Held(is_late)
    asyncio.run(server.on_tick(1))
    assert server.memory.releases == is_late


# ---- connections


@pytest.fixture(scope="module")
def strict(model_folder):
    limits = ("--max-connections", "20", "--max-header-seconds", str(HEAD_SECONDS))
    with Server(model_folder, *limits, "--max-rate", "2", "--max-seconds", "120") as server:
        yield server


@pytest.fixture(scope="module")
def waited(strict):
    """Let clients be slow, all at once; what becomes of each is asked for by its function."""
    with ThreadPoolExecutor() as threads:
        clients = (send_half_heads, send_byte_by_byte, use_again_after_a_while)
        running = {client: threads.submit(client, strict.url) for client in clients}
        yield lambda client: running[client].result()


def send_half_heads(url):
    """What comes back, and after how many seconds, for each head."""
    heads = [b"", b"GET /api/v1/health HT", b"GET / HTTP/1.1\r\nHost: a\r\nX-"]
    with ExitStack() as stack:
        begin = time.monotonic()
        all_open = [stack.enter_context(connect(url)) for _ in heads]
        for half_open, head in zip(all_open, heads, strict=True):
            half_open.sendall(head)
        return [(half_open.recv(1), time.monotonic() - begin) for half_open in all_open]


def send_byte_by_byte(url):
    """Bytes that were sent until the connection was cut."""
    sent = 0
    with connect(url) as slow, suppress(ConnectionError):
        for _ in range(50 * HEAD_SECONDS):
            slow.sendall(b"G")
            sent += 1
            time.sleep(0.1)
    return sent


def use_again_after_a_while(url):
    """Answers on one connection; the clock of a head starts with its first byte."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
    answers = []
    for seconds in (0, HEAD_SECONDS, HEAD_SECONDS):
        time.sleep(seconds)
        connection.request("GET", "/api/v1/health")
        answers.append(connection.getresponse().read())
    connection.close()
    return answers


@pytest.mark.slow
def test_a_head_that_does_not_come_is_not_waited_for(waited):
    for content, seconds in waited(send_half_heads):
        assert not content
        assert HEAD_SECONDS / 2 < seconds < 3 * HEAD_SECONDS


@pytest.mark.slow
def test_a_head_that_comes_byte_by_byte_is_not_waited_for(waited):
    assert waited(send_byte_by_byte) < 30 * HEAD_SECONDS


@pytest.mark.slow
def test_a_connection_that_was_used_may_be_used_again(waited):
    answers = waited(use_again_after_a_while)
    assert len(answers) == 3
    assert all(answers)


@pytest.mark.slow
def test_many_half_open_connections_do_not_silence_the_server(strict):
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(connect(strict.url)).sendall(b"GET / HTTP/1.1\r\n")
        begin = time.monotonic()
        assert ask(strict.url, "/api/v1/health")[0] == 200
        assert time.monotonic() - begin < HEAD_SECONDS  # no connection had to time out first


@pytest.mark.slow
def test_what_is_not_http_is_answered_in_the_form_of_all_errors(strict):
    with connect(strict.url) as visitor:
        visitor.sendall(b"patient Doe\r\n\r\n")
        head, _, body = b"".join(iter(lambda: visitor.recv(4096), b"")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in head
    assert json.loads(body)["code"] == "invalid_http"
    assert b"Doe" not in body


@pytest.mark.slow
@pytest.mark.linux
def test_few_file_descriptors_are_enough(model_folder):
    """As many half-open connections as there are descriptors, then more; the log stays short."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120));"
        "from neurowhere.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "serve", "--port", "0", "--workers", "1", "--model"]
    process = subprocess.Popen(
        [*command, model_folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        url = process.stdout.readline().split()[2]
        with ExitStack() as stack:
            for _ in range(150):
                stack.enter_context(connect(url)).sendall(b"GET / HTTP/1.1\r\nX-")
            assert ask(url, "/api/v1/health")[0] == 200
        assert ask(url, "/api/v1/encode", "POST", json.dumps({"text": "amygdala"}))[0] == 200
    finally:
        process.terminate()
        _, log = process.communicate(timeout=60)
    assert len(log) < 10_000


def test_connections_fit_into_the_file_descriptors_of_the_process():
    resource = pytest.importorskip("resource")  # not on Windows
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert connection_limit(100) == 100
    assert connection_limit(10 * hard) <= hard


# ---- workers


def readiness(server):
    status, _, content = ask(server.url, "/api/v1/ready")
    return status, json.loads(content)


@pytest.mark.slow
def test_figures_and_reports_leave_the_workers_as_they_were(strict):
    wait_for(lambda: readiness(strict)[0] == 200)
    (before,) = readiness(strict)[1]["workers"]
    assert before["state"] == "ready"
    if before["memory_mb"] is None:
        pytest.skip("this system does not tell the memory of a process")
    for form in ("png", "html"):
        query = json.dumps({"text": "the left amygdala"})
        assert ask(strict.url, f"/api/v1/encode.{form}", "POST", query)[0] == 200
    answer = readiness(strict)[1]
    assert answer["workers"][0]["memory_mb"] < before["memory_mb"] + 20
    assert answer["workers"][0]["memory_mb"] < 220
    assert answer["artist"]["state"] == "ready"


@pytest.mark.slow
@pytest.mark.linux
def test_a_worker_that_was_killed_is_soon_ready_again_without_a_query(strict):
    before = readiness(strict)[1]["workers"][0]["restarts"]
    _, worker, *_ = workers_of(strict)  # after the tracker of multiprocessing
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: readiness(strict)[0] == 503)
    assert readiness(strict)[1]["code"] == "not_ready"
    wait_for(lambda: readiness(strict)[0] == 200)
    assert readiness(strict)[1]["workers"][0]["restarts"] == before + 1
    assert ask(strict.url, "/api/v1/health")[0] == 200


# ---- log


def record(message, *arguments, error=None):
    return logging.LogRecord("a", logging.WARNING, "", 0, message, arguments, error)


def test_a_line_that_repeats_is_written_a_few_times_and_then_counted():
    now = [0.0]
    bounded = Bounded(3, clock=lambda: now[0])
    assert [bounded.filter(record("broken %d", i)) for i in range(5)] == [True] * 3 + [False] * 2
    assert bounded.filter(record("another"))
    now[0] = 61
    later = record("broken %d", 9)
    assert bounded.filter(later)
    assert later.getMessage() == "broken 9 (and 2 more lines like this)"


def test_the_log_names_the_type_of_an_exception_and_nothing_of_its_words():
    try:
        raise ValueError("patient Doe")
    except ValueError:
        line = Plain("%(message)s").format(record("failed", error=sys.exc_info()))
    assert line == "failed (ValueError)"


# ---- names and rates


def test_other_names_than_those_of_the_server_are_refused(client):
    for name in ("localhost", "localhost:8000", "127.0.0.1", "[::1]:80", "LOCALHOST."):
        assert client.get("/api/v1/health", headers={"Host": name}).status_code == 200
    bad = ("[::1]evil.com", "localhost:8791@evil", "[::1", "localhost/x", "localhost:80:80", "[]")
    for name in ("evil.example", "localhost.evil.example", "evil.example:8000", *bad):
        answer = client.get("/api/v1/health", headers={"Host": name})
        assert (answer.status_code, answer.json()["code"]) == (421, "unknown_host")
        assert name not in answer.text


def test_names_can_be_allowed(model):
    with open_client(create_app(model, Settings(allow_hosts=("Brains.example",)))) as named:
        host = {"Host": "brains.example:443"}
        assert named.get("/api/v1/health", headers=host).status_code == 200
    with open_client(create_app(model, Settings(allow_hosts=("*",)))) as anyone:
        assert anyone.get("/api/v1/health", headers={"Host": "a"}).status_code == 200


@pytest.mark.parametrize("name", ["[::1]evil.com", "localhost:8791@evil", "a b"])
def test_malformed_names_are_refused_even_where_any_name_is_allowed(model, name):
    with open_client(create_app(model, Settings(allow_hosts=("*",)))) as anyone:
        assert anyone.get("/api/v1/health", headers={"Host": name}).status_code == 421


CROSS_SITE = [
    {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"},  # another program's page
    {"Origin": "https://evil.example"},  # plain HTTP to another machine: Origin alone
    {"Origin": "http://localhost:3000", "Host": "localhost:8000"},
    {"Origin": "https://localhost@evil.example"},
    {"Origin": "null"},  # a page in a sandbox, or a file
]


def changing(client):
    """Routes that compute or change something, as the API describes them."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    found = [(method, path) for path, methods in paths.items() for method in methods]
    return [(method, path) for method, path in found if method != "get"]


@pytest.mark.parametrize("headers", CROSS_SITE, ids=str)
def test_pages_of_other_sites_cannot_ask_anything(client, headers):
    routes = changing(client)
    assert len(routes) >= 20
    for method, path in routes:
        answer = client.request(method, path, headers={**headers, "Content-Type": "text/plain"})
        assert (answer.status_code, answer.json()["code"]) == (403, "other_site"), path
        assert "evil" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost:8000", "Host": "localhost:8000"},
        {"Origin": "https://localhost", "Host": "localhost:443"},  # behind a proxy
    ],
    ids=str,
)
def test_the_page_itself_and_programs_may_ask(client, headers):
    assert client.post("/api/v1/encode", json={"text": "a"}, headers=headers).status_code == 200


def test_a_site_that_is_allowed_may_ask_and_others_may_not(model):
    query, site = {"text": "a"}, "https://good.example"
    with open_client(create_app(model, Settings(origins=(site,)))) as known:
        for origin, status in ((site, 200), (f"{site}.evil", 403)):
            headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
            assert known.post("/api/v1/encode", json=query, headers=headers).status_code == status


def test_an_address_may_ask_so_often_and_others_are_not_held_up():
    now = [0.0]
    rates = Rates(60, clock=lambda: now[0])
    assert not any(rates.wait_for("a") for _ in range(60))
    assert rates.wait_for("a") == 1
    assert rates.wait_for("b") == 0
    now[0] = 10.5
    assert [rates.wait_for("a") for _ in range(11)] == [0] * 10 + [1]


@pytest.mark.slow
def test_queries_are_limited_by_the_address_that_the_proxy_tells(strict):
    query = json.dumps({"text": "amygdala"})

    def encode(address):
        return ask(strict.url, "/api/v1/encode", "POST", query, **{"X-Forwarded-For": address})

    answers = [encode("10.0.0.1") for _ in range(3)]
    assert [status for status, *_ in answers] == [200, 200, 429]
    assert 20 <= int(answers[-1][1]["retry-after"]) <= 30
    assert encode("10.0.0.2")[0] == 200
    assert ask(strict.url, "/api/v1/health", **{"X-Forwarded-For": "10.0.0.1"})[0] == 200


# ---- prefix, HEAD, compression


@pytest.mark.parametrize("stripped", [True, False], ids=["proxy strips", "proxy keeps"])
def test_all_is_under_a_prefix(model, stripped):
    with open_client(create_app(model, Settings(root_path="/nw"))) as prefixed:
        start = "" if stripped else "/nw"
        for path in ("/", "/docs", "/static/app.js", "/api/v1/health", "/api/v1/openapi.json"):
            assert prefixed.get(start + path).status_code == 200, path
        assert prefixed.post(f"{start}/api/v1/encode", json={"text": "a"}).status_code == 200
        assert prefixed.get("/api/v1/openapi.json").json()["servers"] == [{"url": "/nw"}]
        bare = prefixed.get("/nw", follow_redirects=False)
        assert (bare.status_code, bare.headers["location"]) == (307, "/nw/")


@pytest.mark.parametrize("name", [name for name in static_files() if name.endswith(("js", "html"))])
def test_the_page_names_its_files_and_routes_by_relative_addresses(name):
    text = static_files()[name].decode()
    assert not re.search(r"""(from |import\(|src=|href=|fetch\(|url: )["'`]/""", text)
    assert "location.origin}/" not in text


@pytest.mark.browser
@pytest.mark.slow
def test_the_page_works_under_a_prefix(browser, far_server):
    with Visit(browser, far_server.url) as visit:
        assert far_server.url.endswith("/nw")
        visit.write("the amygdala")
        assert "amygdala" in visit.regions()
        visit.page.goto(f"{far_server.url}/docs")
        visit.page.click("#api-v1-encode .try button")
        visit.page.wait_for_selector("#api-v1-encode pre")
        assert visit.errors == []
        served = [urlsplit(url) for url in visit.requests if url.startswith("http")]
        assert all(address.path.startswith("/nw") for address in served)


@pytest.mark.parametrize("value", ["nw", "/n w", "/api", "http://a/b"])
def test_a_prefix_that_cannot_be_is_one_line(value, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["neurowhere", "serve", "--root-path", value])
    monkeypatch.delattr(sys.modules["neurowhere.cli.serve"], "listen")  # not to come that far
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    with warnings.catch_warnings(), pytest.raises(SystemExit) as stop:
        main()
    told = capsys.readouterr().err
    assert stop.value.code == 2
    assert "root-path" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/v1/health", "/nowhere"])
def test_head_answers_as_get_without_content(client, path):
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


def test_assets_are_compressed_for_those_who_take_it(client):
    plain = client.get("/static/style.css", headers={"Accept-Encoding": "identity"})
    with client.stream("GET", "/static/style.css") as packed:
        n_bytes = sum(len(piece) for piece in packed.iter_raw())
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == "Accept-Encoding"
    assert n_bytes < 0.4 * len(plain.content)
    assert client.get("/static/style.css").content == plain.content
    again = {"If-None-Match": packed.headers["etag"]}
    assert client.get("/static/style.css", headers=again).status_code == 304
