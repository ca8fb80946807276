"""Long work as jobs, on a real server: started, watched, streamed, cancelled, forgotten."""

import gzip
import json
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import nibabel
import numpy as np
import pytest
from tests.studies import make_corpus
from tests.web.conftest import Server, open_client
from tests.web.test_server import ask

from neurowhere import contrast_documents
from neurowhere.web import Settings
from neurowhere.web.schemas import ContrastQuery
from neurowhere.web.server import create_app

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

TEXTS = [f"the amygdala and the visual cortex, study {number}. " * 20 for number in range(205)]
MANY = [text * 10 for text in TEXTS] * 5
PATIENCE_SECONDS = 120
KEPT_SECONDS = 30


@pytest.fixture(scope="module")
def server(model_folder):
    options = ("--keep-seconds", str(KEPT_SECONDS), "--max-jobs", "3", "--max-seconds", "120")
    with Server(model_folder, *options) as server:
        yield server


def call(server, method, path, query=None):
    body = None if query is None else json.dumps(query)
    status, headers, content = ask(server.url, path, method, body)
    return status, headers, json.loads(content) if content else None


def start(server, kind, query):
    status, headers, job = call(server, "POST", f"/api/v1/jobs/{kind}", query)
    assert status == 202, job
    assert headers["location"] == f"/api/v1/jobs/{job['id']}"
    return headers["location"], job


def finish(server, place):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (job := call(server, "GET", place)[2])["state"] in ("waiting", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return job


def lines(content):
    return [json.loads(line) for line in content.splitlines()]


def test_a_large_batch_tells_its_progress_and_gives_what_small_ones_give(server):
    place, job = start(server, "batch", {"texts": TEXTS, "regions": 2})
    assert (job["kind"], job["total"], job["kept_seconds"]) == ("batch", len(TEXTS), None)
    job = finish(server, place)
    assert (job["state"], job["done"]) == ("done", len(TEXTS))
    assert 0 < job["kept_seconds"] <= KEPT_SECONDS
    status, headers, content = ask(server.url, f"{place}/result")
    assert (status, headers["content-type"]) == (200, "application/x-ndjson")
    found = lines(content)
    assert len(found) == len(TEXTS)
    some = {"texts": TEXTS[100:103], "regions": 2}
    assert call(server, "POST", "/api/v1/batch", some)[2]["results"] == found[100:103]
    assert ask(server.url, place, "DELETE")[0] == 204


def test_lines_come_while_the_work_goes_on_and_other_queries_get_their_turn(server):
    place, _ = start(server, "batch", {"texts": MANY})
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.request("GET", f"{place}/result")
    answer = connection.getresponse()
    assert json.loads(answer.readline())["terms"]
    state = call(server, "GET", place)[2]
    assert state["state"] == "running"
    assert 0 < state["done"] < state["total"]
    begin = time.monotonic()
    assert call(server, "POST", "/api/v1/encode", {"text": "amygdala"})[0] == 200
    assert time.monotonic() - begin < 10
    connection.close()
    assert ask(server.url, place, "DELETE")[0] == 204
    assert call(server, "GET", place)[2]["code"] == "no_such_job"
    assert call(server, "GET", f"{place}/result")[0] == 404


def test_only_so_many_jobs_are_kept(server):
    places = [start(server, "batch", {"texts": MANY})[0] for _ in range(3)]
    status, headers, problem = call(server, "POST", "/api/v1/jobs/batch", {"texts": ["a"]})
    assert (status, problem["code"]) == (429, "too_many_jobs")
    assert int(headers["retry-after"]) > 1
    assert [call(server, "GET", place)[2]["state"] for place in places[1:]] == ["waiting"] * 2
    for place in places:
        assert ask(server.url, place, "DELETE")[0] == 204


def test_a_batch_streams_as_json_lines_too(client):
    query = {"texts": TEXTS[:25], "regions": 1}
    whole = client.post("/api/v1/batch", json=query).json()["results"]
    for path, accept in (("batch.jsonl", "*/*"), ("batch", "application/x-ndjson")):
        answer = client.post(f"/api/v1/{path}", json=query, headers={"Accept": accept})
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert lines(answer.content) == whole


# ---- contrasts


@pytest.fixture(scope="module")
def documents():
    return [{"id": f"d{i}", "text": text} for i, text in enumerate(make_corpus(100).texts)]


def test_a_contrast_gives_what_the_package_gives(server, model, documents, tmp_path):
    query = {"documents": documents, "term": "amygdala", "unadjusted": True, "regions": 5}
    place, job = start(server, "contrast", query)
    assert job["kind"] == "contrast"
    job = finish(server, place)
    assert (job["state"], job["done"]) == ("done", job["total"])
    answer = call(server, "GET", f"{place}/result")[2]
    source = tmp_path / "documents.jsonl"
    source.write_text("\n".join(json.dumps(document) for document in documents))
    expected = contrast_documents(
        source, "amygdala", model=model, unadjusted=True, keep=False, n_jobs=1
    )
    table = expected.regions().head(5)
    assert [row["region"] for row in answer["regions"]] == table["region"].tolist()
    np.testing.assert_allclose([row["ratio"] for row in answer["regions"]], table["ratio"], 1e-3)
    assert "sources" not in answer["about"]
    _, _, content = ask(server.url, f"{place}/result.nii.gz")
    image = nibabel.Nifti1Image.from_bytes(gzip.decompress(content))
    np.testing.assert_allclose(image.get_fdata(), expected.log_ratio_img.get_fdata(), atol=1e-5)
    assert ask(server.url, place, "DELETE")[0] == 204
    assert not list(Path("/dev/shm").glob("neurowhere-*"))


def test_a_contrast_that_cannot_be_says_so_without_the_term(server, documents):
    place, _ = start(server, "contrast", {"documents": documents, "term": "patientdoe"})
    job = finish(server, place)
    assert job["state"] == "failed"
    assert job["detail"].startswith("These documents cannot be compared")
    status, _, problem = call(server, "GET", f"{place}/result")
    assert (status, problem["code"]) == (422, "invalid_corpus")
    assert "patientdoe" not in json.dumps(problem) + json.dumps(job)
    assert ask(server.url, place, "DELETE")[0] == 204


@pytest.mark.linux
def test_a_contrast_that_is_cancelled_leaves_no_process_and_no_file(server, documents):
    before = set(processes_under(server))  # one of them may be ending
    long = {"documents": documents * 30, "term": "amygdala"}
    place, _ = start(server, "contrast", long)
    wait_until(lambda: set(processes_under(server)) - before)
    status, _, problem = call(server, "GET", f"{place}/result")
    assert (status, problem["code"]) == (409, "no_result")
    assert ask(server.url, place, "DELETE")[0] == 204
    wait_until(lambda: set(processes_under(server)) <= before)
    wait_until(lambda: not list(Path("/dev/shm").glob("neurowhere-*")))


def processes_under(server):
    """Process ids of all children that live, whichever thread started them."""
    tasks = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    children = [Path(f"/proc/{child}") for task in tasks for child in task.read_text().split()]
    return [int(child.name) for child in children if not is_over(child)]


def is_over(process):
    try:
        return "\nState:\tZ" in (process / "status").read_text()
    except FileNotFoundError:
        return True


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# ---- limits


def test_results_are_kept_for_a_stated_time(model):
    with open_client(create_app(model, Settings(workers=1, keep_seconds=0.5))) as brief:
        place = brief.post("/api/v1/jobs/batch", json={"texts": ["a"]}).headers["location"]
        wait_until(lambda: brief.get(place).json().get("code") == "no_such_job")


def test_what_starts_a_job_has_limits_of_its_own(model):
    limits = Settings(workers=1, max_body=500, max_job_body=2_000, max_job_texts=3)
    with open_client(create_app(model, limits)) as small:
        middling = {"texts": ["a" * 1_000]}
        assert small.post("/api/v1/batch", json=middling).status_code == 413
        assert small.post("/api/v1/jobs/batch", json=middling).status_code == 202
        assert small.post("/api/v1/jobs/batch", json={"texts": ["a" * 3_000]}).status_code == 413
        assert small.post("/api/v1/jobs/batch", json={"texts": ["a"] * 4}).status_code == 422
        over = {"documents": [{"text": "a"}] * 4, "term": "a"}
        assert small.post("/api/v1/jobs/contrast", json=over).status_code == 422


def test_an_application_in_this_process_contrasts_too(client, documents):
    query = {"documents": documents, "term": "amygdala", "unadjusted": True}
    place = client.post("/api/v1/jobs/contrast", json=query).headers["location"]
    wait_until(lambda: client.get(place).json()["state"] == "done")
    assert client.get(f"{place}/result").json()["regions"]
    assert ContrastQuery(**query).regions == 20


def test_a_contrast_has_matched_controls_and_a_smallest_effect(client, model, documents, tmp_path):
    query = {"documents": documents, "term": "amygdala", "matched": True}
    place = client.post("/api/v1/jobs/contrast", json={**query, "min_ratio": 1.5}).headers[
        "location"
    ]
    source = tmp_path / "documents.jsonl"
    source.write_text("\n".join(json.dumps(document) for document in documents))
    expected = contrast_documents(
        source, "amygdala", model=model, matched=True, keep=False, n_jobs=1
    )
    wait_until(lambda: client.get(place).json()["state"] == "done")
    answer = client.get(f"{place}/result").json()
    assert (answer["about"]["matched"], answer["about"]["min_ratio"]) == (True, 1.5)
    assert answer["against"] == expected.against
    strong = np.count_nonzero(expected.significant(min_ratio=1.5))
    assert answer["significant"] == strong <= np.count_nonzero(expected.significant())
