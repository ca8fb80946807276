"""Workers: processes that answer, and what becomes of those that fail."""

import json

import pytest

from neurowhere.exceptions import NeurowhereError
from neurowhere.web.errors import ApiError
from neurowhere.web.schemas import BatchQuery, EncodeQuery, TermQuery
from neurowhere.web.settings import Settings
from neurowhere.web.worker import hire

SECRET = "patient Doe"


@pytest.fixture(scope="module")
def worker(model_folder):
    with hire(model_folder, Settings(workers=1, max_seconds=10)) as (worker,):
        yield worker


def test_it_answers_as_a_service_does(worker, client):
    query = {"text": "the left amygdala", "at": [-24, -4, -18]}
    answer = worker.answer("encode_json", EncodeQuery(**query))
    assert json.loads(answer) == client.post("/api/v1/encode", json=query).json()


def test_what_the_package_refuses_is_refused(worker):
    with pytest.raises(ApiError) as caught:
        worker.answer("term_json", TermQuery(name="nonsense"))
    assert (caught.value.status_code, caught.value.code) == (422, "invalid_vocabulary")


def test_a_failure_of_ours_is_told_and_the_worker_goes_on(worker):
    pid = worker.process.pid
    with pytest.raises(ApiError) as caught:
        worker.answer("encode_json", SECRET)
    assert (caught.value.status_code, caught.value.code) == (500, "internal_error")
    assert SECRET not in caught.value.detail
    assert worker.answer("model_json", None)
    assert worker.process.pid == pid


@pytest.mark.slow
def test_one_that_dies_or_is_too_slow_is_replaced(worker):
    worker.process.kill()
    with pytest.raises(ApiError) as caught:
        worker.answer("model_json", None)
    assert (caught.value.status_code, caught.value.code) == (503, "interrupted")
    assert caught.value.headers == {"Retry-After": "1"}
    assert worker.answer("model_json", None)
    worker.settings = Settings(workers=1, max_seconds=0.05)
    with pytest.raises(ApiError) as caught:
        worker.answer("batch_json", BatchQuery(texts=["the amygdala " * 1_000] * 1_000))
    assert (caught.value.status_code, caught.value.code) == (503, "timeout")
    worker.settings = Settings(workers=1)
    assert worker.answer("model_json", None)


def test_a_model_that_cannot_be_read_is_one_line(tmp_path):
    with (
        pytest.raises(NeurowhereError, match="nowhere"),
        hire(tmp_path / "nowhere", Settings(workers=1)),
    ):
        pass
