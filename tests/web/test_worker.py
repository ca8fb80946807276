"""Workers: processes that answer, and what becomes of those that fail."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.web.test_pool import members

from neurowhere.exceptions import NeurowhereError
from neurowhere.web import Settings
from neurowhere.web.errors import ApiError
from neurowhere.web.images import read_image
from neurowhere.web.pool import Pool
from neurowhere.web.schemas import BatchQuery, EncodeQuery, MapQuery, TermQuery
from neurowhere.web.worker import Artist, hire

SECRET = "patient Doe"
NO_IMAGE = MapQuery.model_construct(image=b"no image", threshold=None, n=1, atlas="default")
LONG = BatchQuery(texts=["the amygdala " * 1_000] * 1_000)


@pytest.fixture(scope="module")
def crew(model_folder):
    with hire(model_folder, Settings(workers=1, max_seconds=10)) as crew:
        yield crew


@pytest.fixture
def worker(crew):
    return crew.workers[0]


def test_it_answers_as_a_service_does(worker, client):
    query = {"text": "the left amygdala", "at": [-24, -4, -18]}
    answer = worker.answer("encode_json", EncodeQuery(**query))
    assert json.loads(answer) == client.post("/api/v1/encode", json=query).json()


def test_what_the_package_refuses_is_refused(worker):
    with pytest.raises(ApiError) as caught:
        worker.answer("term_json", TermQuery(name="nonsense"))
    assert (caught.value.status_code, caught.value.code) == (422, "invalid_vocabulary")


def test_what_it_refuses_passes_through_the_pool_as_it_is(crew):
    async def ask():
        pool = Pool(crew, max_queue=1, max_seconds=30)
        try:
            return await pool.run("decode_map_json", NO_IMAGE)
        finally:
            pool.close()

    with pytest.raises(ApiError) as expected:
        read_image(NO_IMAGE.image)
    with pytest.raises(ApiError) as caught:
        asyncio.run(ask())
    assert members(caught.value) == members(expected.value)
    assert caught.value.code == "invalid_image"


def test_a_failure_of_ours_is_told_and_the_worker_goes_on(worker):
    pid = worker.process.pid
    with pytest.raises(ApiError) as caught:
        worker.answer("encode_json", SECRET)
    assert (caught.value.status_code, caught.value.code) == (500, "internal_error")
    assert SECRET not in caught.value.detail
    assert worker.answer("model_json", None)
    assert worker.process.pid == pid


@pytest.mark.slow
def test_one_that_died_while_idle_is_replaced_and_no_query_is_lost(worker):
    worker.process.kill()
    worker.process.join()
    assert worker.state().state == "dead"
    restarts = worker.restarts
    assert worker.answer("model_json", None)
    assert worker.state().state == "ready"
    assert worker.restarts == restarts + 1


@pytest.mark.slow
def test_one_that_dies_at_work_is_replaced_and_its_query_is_told(worker):
    killing = threading.Timer(0.3, worker.process.kill)
    killing.start()
    with pytest.raises(ApiError) as caught:
        worker.answer("batch_json", LONG)
    assert (caught.value.status_code, caught.value.code) == (503, "interrupted")
    assert caught.value.headers == {"Retry-After": "1"}
    assert worker.state().state == "starting"
    assert worker.answer("model_json", None)


@pytest.mark.slow
def test_one_that_is_too_slow_is_replaced(worker):
    worker.settings = Settings(workers=1, max_seconds=0.05)
    with pytest.raises(ApiError) as caught:
        worker.answer("batch_json", LONG)
    assert (caught.value.status_code, caught.value.code) == (503, "timeout")
    worker.settings = Settings(workers=1)
    assert worker.answer("model_json", None)


@pytest.mark.slow
@pytest.mark.linux
def test_the_artist_is_there_while_something_is_drawn(model_folder):
    artist = Artist(model_folder, Settings(workers=1), idle_seconds=1)
    assert artist.state().state == "asleep"
    query = EncodeQuery(text="the left amygdala", style="slices")
    assert artist.answer("encode_png", query).startswith(b"\x89PNG")
    assert artist.state().state == "ready"
    pid = artist._worker.process.pid
    wait_until(lambda: artist.state().state == "asleep")
    wait_until(lambda: not Path(f"/proc/{pid}").exists())


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_model_that_cannot_be_read_is_one_line(tmp_path):
    with (
        pytest.raises(NeurowhereError, match="nowhere"),
        hire(tmp_path / "nowhere", Settings(workers=1)),
    ):
        pass


def test_decoding_a_place_needs_no_compiler():
    """Numba takes 45 MB, and a second at the first query."""
    code = (
        "import sys; from neurowhere import decode, load_model; "
        "decode(load_model(), (-24, -4, -18)); sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


MEMORY = """
import gc
from neurowhere.web.worker import Memory, resident_mb

memory = Memory()
start = resident_mb()
gc.disable()  # as if so few cycles were left to the collector
for _ in range(3):
    blocks = [[bytes(3_000)] for _ in range(20_000)]
    for block in blocks:
        block.append(block)  # a cycle, as a closed connection is
    del blocks, block
    grown = memory.grown_mb
    memory.release()
print(gc.get_freeze_count() > 10_000, grown > 40, resident_mb() - start < 8)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_what_is_no_longer_needed_goes_back_to_the_system():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True)
    assert done.stdout.split() == ["True"] * 3, done.stdout + done.stderr
