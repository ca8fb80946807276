"""A real server in front of hostile and careless clients: workers, names, prefixes."""

import json
import logging
import os
import re
import signal
import sys
import warnings
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from tests.web.conftest import Server, open_client
from tests.web.test_serve import wait_for, workers_of
from tests.web.visit import Visit

from neurowhere.cli import main
from neurowhere.web import Settings
from neurowhere.web.server import Plain, create_app, static_files

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def ask(url, path, method="GET", body=None, **headers):
    """Status, headers and content of one answer, on a connection of its own."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request(method, path, body, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


# ---- workers


@pytest.fixture(scope="module")
def strict(model_folder):
    with Server(model_folder, "--max-seconds", "120") as server:
        yield server


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


def test_the_log_names_the_type_of_an_exception_and_nothing_of_its_words():
    try:
        raise ValueError("patient Doe")
    except ValueError:
        line = Plain("%(message)s").format(record("failed", error=sys.exc_info()))
    assert line == "failed (ValueError)"


# ---- names


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
