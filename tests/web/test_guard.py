"""Limits, headers, and what must never leave the server or enter its log."""

import asyncio
import json
import logging
import re
import threading
import time
from dataclasses import replace

import pytest
from tests.web.conftest import open_client

from neurowhere import Encoder
from neurowhere.model.encoding import Encoding
from neurowhere.text.reading.mentions import read_mentions
from neurowhere.web import Settings
from neurowhere.web.guard import BUCKETS
from neurowhere.web.server import create_app, static_files

SMALL = Settings(max_body=2_000, max_text=50, max_batch=2, max_seconds=5, workers=1, max_queue=1)
SECRET = "patient Doe"


@pytest.fixture(scope="module")
def small(model):
    with open_client(create_app(model, SMALL)) as client:
        yield client


@pytest.fixture(scope="module")
def impatient(model):
    limits = replace(SMALL, max_seconds=0.5, max_queue=0)
    with open_client(create_app(model, limits)) as client:
        yield client


def code(answer):
    return answer.status_code, answer.json()["code"]


def test_a_body_may_be_only_so_large(small):
    body = b'{"text": "' + b"a" * 3_000 + b'"}'
    json_type = {"Content-Type": "application/json"}
    declared = small.post("/api/v1/encode", content=body, headers=json_type)
    assert code(declared) == (413, "body_too_large")
    streamed = small.post(
        "/api/v1/encode", content=iter([body[:1500], body[1500:]]), headers=json_type
    )
    assert code(streamed) == (413, "body_too_large")


def test_a_body_may_take_only_so_long(model):
    app = create_app(model, replace(SMALL, max_seconds=0.1))
    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/encode", "headers": headers}
    sent = []

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    asyncio.run(app({**scope, "query_string": b"", "root_path": ""}, receive, send))
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["code"] == "body_too_slow"


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("encode", {"text": "a" * 51}),
        ("difference", {"text": "a", "other": "a" * 51}),
        ("batch", {"texts": ["a" * 51]}),
        ("batch", {"texts": ["a"] * 3}),
        ("decode", {"points": [[0, 0, 0]] * 3}),
    ],
)
def test_texts_and_batches_may_be_only_so_long(small, path, query):
    assert code(small.post(f"/api/v1/{path}", json=query)) == (422, "invalid_request")


@pytest.fixture
def gate(monkeypatch):
    """Give an event that every text waits for before it is encoded."""
    opened = threading.Event()
    encode = Encoder.encode_many

    def wait(self, texts, **options):
        opened.wait(10)
        return encode(self, texts, **options)

    monkeypatch.setattr(Encoder, "encode_many", wait)
    yield opened
    opened.set()


def start(client, answers):
    def work():
        answers.append(client.post("/api/v1/encode", json={"text": "a"}))

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def wait_for(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_full_queue_says_to_come_back_and_health_still_answers(small, gate):
    def pending():
        return small.get("/api/v1/health").json()["pending"]

    answers = []
    threads = [start(small, answers) for _ in range(2)]
    wait_for(lambda: pending() == 2)
    refused = small.post("/api/v1/encode", json={"text": "a"})
    assert code(refused) == (503, "busy")
    assert refused.headers["retry-after"] == "1"
    begin = time.perf_counter()
    assert small.get("/api/v1/health").status_code == 200
    assert time.perf_counter() - begin < 1
    gate.set()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [200, 200]
    wait_for(lambda: pending() == 0)


def test_what_takes_too_long_is_given_up_and_keeps_its_place(impatient, gate):
    assert code(impatient.post("/api/v1/encode", json={"text": "a"})) == (503, "timeout")
    assert code(impatient.post("/api/v1/encode", json={"text": "a"})) == (503, "busy")
    gate.set()
    wait_for(lambda: impatient.get("/api/v1/health").json()["pending"] == 0)
    wait_for(lambda: impatient.post("/api/v1/encode", json={"text": "a"}).status_code == 200)


def test_a_failure_of_ours_tells_and_logs_no_text(client, monkeypatch, caplog):
    def fail(self, text, **options):
        raise RuntimeError(text)

    monkeypatch.setattr(Encoder, "encode_many", fail)
    with caplog.at_level(logging.DEBUG):
        answer = client.post("/api/v1/encode", json={"text": SECRET})
    assert code(answer) == (500, "internal_error")
    assert SECRET not in answer.text + caplog.text
    assert "RuntimeError at test_guard.py" in caplog.text


def test_a_text_that_fails_stops_no_other_of_its_batch(client, monkeypatch, caplog):
    def fail(text, *arguments, **options):
        if SECRET in text:
            raise IndexError(text)
        return read_mentions(text, *arguments, **options)

    monkeypatch.setattr("neurowhere.model.reading.read_mentions", fail)
    texts = ["amygdala", SECRET, "motor cortex"]
    answer = client.post("/api/v1/batch", json={"texts": texts})
    lines = client.post("/api/v1/batch.jsonl", json={"texts": texts})
    assert (answer.status_code, lines.status_code) == (200, 200)
    results = answer.json()["results"]
    assert [json.loads(line) for line in lines.text.splitlines()] == results
    assert [bool(result["problem"]) for result in results] == [False, True, False]
    assert "IndexError at test_guard.py" in results[1]["problem"]
    assert results[2]["terms"][0]["term"] == "motor cortex"
    for route, query in (
        ("encode", {"text": SECRET}),
        ("difference", {"text": "a", "other": SECRET}),
    ):
        alone = client.post(f"/api/v1/{route}", json=query)
        assert code(alone) == (500, "internal_error")
        assert "IndexError at test_guard.py" in alone.json()["detail"]
    assert SECRET not in answer.text + alone.text + caplog.text
    assert caplog.messages == [results[1]["problem"]] * 4


def test_a_summary_that_fails_stops_no_other_of_its_batch(client, monkeypatch, caplog):
    support = Encoding.support.func

    def fail(encoding):
        if encoding.text == SECRET:
            raise IndexError(encoding.text)
        return support(encoding)

    monkeypatch.setattr(Encoding, "support", property(fail))
    answer = client.post("/api/v1/batch", json={"texts": ["amygdala", SECRET]})
    first, second = answer.json()["results"]
    assert first["problem"] is None
    assert "IndexError at test_guard.py" in second["problem"]
    assert SECRET not in answer.text + caplog.text


WRONG = [
    ("encode", {"text": [SECRET]}),
    ("encode", {"text": "a", "at": [SECRET, 0, 0]}),
    ("encode", {"text": "a", "image": SECRET}),
    ("encode", {"text": "a", SECRET: 1}),
    ("term", {"name": SECRET}),
    ("term.png", {"name": f"left {SECRET}"}),
    ("batch", {"texts": SECRET}),
    ("decode", {"points": SECRET}),
    (SECRET, {}),
]
CLIENTS = {"httpx", "httpx2"}  # of the test client, by the version of Starlette; they log addresses


@pytest.mark.parametrize(("path", "query"), WRONG)
def test_no_answer_to_a_wrong_request_repeats_the_text(client, caplog, path, query):
    with caplog.at_level(logging.DEBUG):
        answer = client.post(f"/api/v1/{path}", json=query)
    assert answer.status_code >= 400
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert re.fullmatch(r"[A-Z].*\.", problem["detail"])
    assert re.fullmatch(r"[A-Z].*\.", problem["hint"])
    ours = [line for line in caplog.records if line.name not in CLIENTS]
    logged = "".join(line.getMessage() for line in ours)
    assert "patient" not in (answer.text + logged).lower()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_json_of_another_type_is_told_the_type_to_send(client, kind):
    """As ``curl -d`` sends it."""
    answer = client.post(
        "/api/v1/encode", content='{"text": "Doe"}', headers={"Content-Type": kind}
    )
    assert answer.status_code == 422
    assert "Content-Type: application/json" in answer.json()["detail"]
    assert "Doe" not in answer.text


@pytest.mark.parametrize("body", ["amygdala é".encode("latin-1"), b"\x1f\x8b", b"[" * 100_000])
def test_what_is_no_json_at_all_is_told_so(client, body):
    answer = client.post(
        "/api/v1/encode", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    assert "JSON" in answer.json()["detail"]


def test_broken_json_is_told_with_its_place_alone(client):
    answer = client.post(
        "/api/v1/encode",
        content=b'{"text":patient Doe}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.json()["detail"] == "The body is not valid JSON from character 8 on."


def test_metrics_keep_their_names_and_count_each_application_by_itself(model):
    names = {
        *(f"neurowhere_{name}" for name in ("requests_total", "pending", "waiting", "capacity")),
        *(f"neurowhere_request_seconds_{name}" for name in ("bucket", "sum", "count")),
    }
    with open_client(create_app(model, SMALL)) as fresh:
        assert fresh.get("/api/v1/health").status_code == 200
        assert fresh.get("/nowhere").status_code == 404
        answer = fresh.get("/api/v1/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    samples = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if line[0] != "#")
    values = {name: float(value) for name, value in samples.items()}
    assert names <= {name.partition("{")[0] for name in values}
    assert values['neurowhere_requests_total{route="/api/v1/health",status="200"}'] == 1
    assert values['neurowhere_requests_total{route="other",status="404"}'] == 1
    buckets = [
        values[f'neurowhere_request_seconds_bucket{{le="{limit}",route="/api/v1/health"}}']
        for limit in (*BUCKETS, "+Inf")
    ]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 1
    artist = 1
    assert values["neurowhere_capacity"] == SMALL.workers + SMALL.max_queue + artist


@pytest.mark.parametrize("path", ["/", "/docs", "/static/app.js", "/api/v1/health", "/nowhere"])
def test_every_answer_is_guarded(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_answers_of_the_api_are_not_kept(client):
    assert client.post("/api/v1/encode", json={"text": "a"}).headers["cache-control"] == "no-store"


def test_files_of_the_page_are_kept_until_they_change(client):
    first = client.get("/static/style.css")
    again = client.get("/static/style.css", headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


def test_other_sites_may_call_only_where_that_was_allowed(client, model):
    asked = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    assert client.options("/api/v1/encode", headers=asked).status_code == 405
    with open_client(create_app(model, Settings(origins=("https://example.org",)))) as open_one:
        allowed = open_one.options("/api/v1/encode", headers=asked)
        assert allowed.headers["access-control-allow-origin"] == "https://example.org"
        asked["Origin"] = "https://example.com"
        refused = open_one.options("/api/v1/encode", headers=asked)
        assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/app.py",
    ],
)
def test_no_other_file_is_ever_served(client, path):
    assert client.get(path).status_code == 404


def test_the_page_is_made_of_its_own_files_alone():
    for name, content in static_files().items():
        if name.endswith((".html", ".css", ".js")):
            text = content.decode()
            away = set(re.findall(r"https?://[^\s\"'`)]+", text))
            assert away <= {"http://www.w3.org/2000/svg"}, name
            assert not re.search(r"<script(?![^>]*src=)|<style|style=\"|\son\w+=\"", text), name
            assert "innerHTML" not in text


def test_files_with_their_hash_in_the_name_are_kept_for_good(client):
    page = client.get("/").text
    (script,) = re.findall(r'src="(static/app\.[0-9a-f]{12}\.js)"', page)
    assert "immutable" in client.get(f"/{script}").headers["cache-control"]
    old = re.sub(r"[0-9a-f]{12}", "0" * 12, script)
    assert client.get(f"/{old}").headers["cache-control"] == "no-cache"
    (data,) = re.findall(r'href="(static/mean\.[0-9a-f]{12}\.nii\.gz)"', page)
    assert "immutable" in client.get(f"/{data}").headers["cache-control"]
