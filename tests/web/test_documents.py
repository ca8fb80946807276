"""Collections that the server was started with: contrasted by name, read by PubMed id or DOI."""

import json
from pathlib import Path

import pytest
from tests.studies import make_corpus
from tests.web.conftest import open_client
from tests.web.test_jobs import wait_until

from neurowhere.exceptions import NeurowhereError
from neurowhere.web import Settings
from neurowhere.web.documents import open_collections
from neurowhere.web.server import create_app

DOI = "10.1000/xyz.7"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "articles.jsonl"
    records = [
        {"pmid": 1_000 + i, "doi": f"10.1000/xyz.{i}", "title": f"Study {i}", "text": text}
        for i, text in enumerate(make_corpus(60).texts)
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    return path


@pytest.fixture(scope="module")
def library(model, source, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with (
            open_collections([source]) as collections,
            open_client(create_app(model, Settings(workers=1, documents=collections))) as client,
        ):
            yield client


def test_the_server_names_its_collections(library, client, source):
    assert library.get("/api/v1/model").json()["collections"] == [
        {"name": "articles", "documents": 60}
    ]
    assert str(source.parent) not in library.get("/api/v1/model").text
    assert client.get("/api/v1/model").json()["collections"] == []


@pytest.mark.parametrize("name", ["1007", "PMID: 1007", DOI, f"https://doi.org/{DOI.upper()}"])
def test_a_document_is_found_by_its_identifiers(library, name):
    answer = library.post("/api/v1/document", json={"id": name}).json()
    assert (answer["title"], answer["collection"]) == ("Study 7", "articles")
    assert answer["text"].endswith(make_corpus(60).texts[7])
    assert answer["characters"] == len(answer["text"])


def test_a_document_that_no_collection_has_is_not_found(library, client):
    for server in (library, client):
        answer = server.post("/api/v1/document", json={"id": "77777777"})
        assert (answer.status_code, answer.json()["code"]) == (404, "no_such_document")
        assert "77777777" not in answer.text


def test_a_collection_is_contrasted_by_its_name(library):
    query = {"collection": "articles", "term": "amygdala", "unadjusted": True}
    place = library.post("/api/v1/jobs/contrast", json=query).headers["location"]
    wait_until(lambda: library.get(place).json()["state"] == "done")
    answer = library.get(f"{place}/result").json()
    assert any("amygdala" in row["name"] for row in answer["regions"])
    assert len(answer["regions"][0]["at"]) == 3
    assert answer["documents"][0]["title"].startswith("Study")
    images = [
        library.get(f"{place}/result.nii.gz?image={name}").content
        for name in ("log_ratio", "density", "significant")
    ]
    assert len(set(images)) == 3
    assert library.get(f"{place}/result.nii.gz?image=other").status_code == 422


def test_documents_and_a_collection_are_not_taken_together(library):
    both = {"collection": "articles", "documents": [{"text": "a"}] * 2, "term": "a"}
    for query in (both, {"term": "a"}):
        answer = library.post("/api/v1/jobs/contrast", json=query)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    unknown = {"collection": "secret", "term": "a"}
    answer = library.post("/api/v1/jobs/contrast", json=unknown)
    assert answer.status_code == 404
    assert "secret" not in answer.text


def test_collections_need_different_names(source):
    with pytest.raises(NeurowhereError, match="different names"), open_collections([source] * 2):
        pass


def test_a_cache_that_cannot_be_written_is_replaced_for_a_while(source, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nothing")
    with open_collections([source]) as (collection,):
        assert list(collection.cache.iterdir())
    assert not Path(collection.cache).exists()
