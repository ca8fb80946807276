"""The pool: queues, and what becomes of processes that fail."""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from types import SimpleNamespace

import pytest

from neurowhere.exceptions import NeurowhereError
from neurowhere.web import Settings
from neurowhere.web.errors import ApiError
from neurowhere.web.images import read_image
from neurowhere.web.pool import hire, in_threads
from neurowhere.web.schemas import BatchQuery, EncodeQuery, MapQuery, TermQuery

SECRET = "patient Doe"
NO_IMAGE = MapQuery.model_construct(image=b"no image", threshold=None, n=1, atlas="default")
LONG = BatchQuery(texts=["the amygdala " * 1_000] * 1_000)


def members(error):
    return error.status_code, error.code, error.detail, error.hint, error.headers


def test_an_error_survives_a_pipe():
    error = ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "a message", "a hint", 7)
    assert members(pickle.loads(pickle.dumps(error))) == members(error)


# ---- queues, in threads


class Gates:
    """Answers each query with its number, once its kind may pass."""

    def __init__(self, **settings):
        self.settings = Settings(workers=1, **settings)
        self.texts, self.figures = threading.Event(), threading.Event()
        self.answered = []

    def answer(self, name, query):
        assert (self.figures if name.endswith("png") else self.texts).wait(30)
        self.answered.append(query)
        return str(query).encode()


async def settle():
    for _ in range(3):
        await asyncio.sleep(0.02)


def test_drawings_are_not_refused_because_texts_wait():
    async def run():
        gates = Gates(max_queue=4)
        gates.figures.set()
        pool = in_threads(gates)
        waiting = [asyncio.create_task(pool.run("encode_json", n)) for n in range(5)]
        await settle()
        with pytest.raises(ApiError) as caught:
            await pool.run("encode_json", 5)
        drawn = await pool.run("encode_png", 6)
        gates.texts.set()
        answers = await asyncio.gather(*waiting)
        pool.close()
        return caught.value.code, drawn, answers

    assert asyncio.run(run()) == ("busy", b"6", [b"0", b"1", b"2", b"3", b"4"])


def test_drawings_wait_in_order_and_not_without_bound():
    async def run():
        gates = Gates(max_queue=8)
        pool = in_threads(gates)
        waiting = [asyncio.create_task(pool.run("encode_png", n)) for n in range(3)]
        await settle()
        assert (pool.pending, pool.waiting, pool.capacity) == (3, 2, 1 + 8 + 1 + 2)
        with pytest.raises(ApiError) as caught:
            await pool.run("encode_png", 3)
        gates.figures.set()
        await asyncio.gather(*waiting)
        await settle()
        pool.close()
        return caught.value.code, gates.answered, pool.pending

    assert asyncio.run(run()) == ("busy", [0, 1, 2], 0)


def test_one_who_gives_up_leaves_the_queue():
    async def run():
        gates = Gates(max_queue=8, max_seconds=0.1)
        pool = in_threads(gates)
        late = await asyncio.gather(
            *(pool.run("encode_png", n) for n in range(3)), return_exceptions=True
        )
        gates.figures.set()
        pool.max_seconds = 30
        assert await pool.run("encode_png", 3) == b"3"
        pool.close()
        return [error.code for error in late], gates.answered

    assert asyncio.run(run()) == (["timeout"] * 3, [0, 3])


# ---- processes


@pytest.fixture(scope="module")
def hired(model_folder):
    """Give a pool of one process, and what runs a coroutine with it."""
    loop = asyncio.new_event_loop()
    with hire(model_folder, Settings(workers=1, max_seconds=60)) as pool:
        yield SimpleNamespace(pool=pool, run=loop.run_until_complete)
    loop.close()


@pytest.fixture
def ask(hired):
    return lambda name, query: hired.run(hired.pool.run(name, query))


@pytest.fixture
def worker(hired):
    return hired.pool.queries.workers[0]


def test_it_answers_as_a_service_does(ask, client):
    query = {"text": "the left amygdala", "at": [-24, -4, -18]}
    answer = ask("encode_json", EncodeQuery(**query))
    assert json.loads(answer) == client.post("/api/v1/encode", json=query).json()


def test_what_the_package_refuses_is_refused(ask):
    with pytest.raises(ApiError) as caught:
        ask("term_json", TermQuery(name="nonsense"))
    assert (caught.value.status_code, caught.value.code) == (422, "invalid_vocabulary")


def test_what_it_refuses_passes_through_the_pool_as_it_is(ask):
    with pytest.raises(ApiError) as expected:
        read_image(NO_IMAGE.image)
    with pytest.raises(ApiError) as caught:
        ask("decode_map_json", NO_IMAGE)
    assert members(caught.value) == members(expected.value)
    assert caught.value.code == "invalid_image"


def test_a_failure_of_ours_is_told_and_the_worker_goes_on(ask, worker):
    pid = worker.pid
    with pytest.raises(ApiError) as caught:
        ask("encode_json", SECRET)
    assert (caught.value.status_code, caught.value.code) == (500, "internal_error")
    assert SECRET not in caught.value.detail
    assert ask("model_json", None)
    assert worker.pid == pid


@pytest.mark.slow
def test_one_that_died_while_idle_is_replaced_and_no_query_is_lost(ask, worker, hired):
    os.kill(worker.pid, signal.SIGKILL)
    wait_until(lambda: worker.state().state == "dead")
    restarts = worker.restarts
    assert ask("model_json", None)
    assert (worker.state().state, worker.restarts) == ("ready", restarts + 1)
    os.kill(worker.pid, signal.SIGKILL)
    wait_until(lambda: worker.state().state == "dead")
    assert [each.state for each in hired.pool.states()] == ["dead"]  # which is seen to
    wait_until(lambda: worker.state().state == "ready")


@pytest.mark.slow
def test_one_that_dies_at_work_is_replaced_and_its_query_is_told(ask, worker):
    killing = threading.Timer(0.3, os.kill, [worker.pid, signal.SIGKILL])
    killing.start()
    with pytest.raises(ApiError) as caught:
        ask("batch_json", LONG)
    assert (caught.value.status_code, caught.value.code) == (503, "interrupted")
    assert caught.value.headers == {"Retry-After": "1"}
    assert ask("model_json", None)


@pytest.mark.slow
def test_one_that_is_too_slow_is_replaced(ask, worker, hired):
    pid, hired.pool.max_seconds = worker.pid, 0.05
    with pytest.raises(ApiError) as caught:
        ask("batch_json", LONG)
    assert (caught.value.status_code, caught.value.code) == (503, "timeout")
    hired.pool.max_seconds = 60
    assert ask("model_json", None)
    assert worker.pid != pid
    wait_until(lambda: not is_running(pid))


@pytest.mark.slow
def test_the_artist_is_there_while_something_is_drawn(ask, hired, monkeypatch):
    query = EncodeQuery(text="the left amygdala")
    monkeypatch.setattr("neurowhere.web.pool.IDLE_SECONDS", 0.1)
    assert ask("encode_png", query).startswith(b"\x89PNG")
    assert hired.pool.artist.state().state == "ready"
    pid = hired.pool.artist.pid
    hired.run(asyncio.sleep(0.5))
    assert hired.pool.artist.state().state == "asleep"
    wait_until(lambda: not is_running(pid))
    assert ask("encode_png", query).startswith(b"\x89PNG")


def is_running(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


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
