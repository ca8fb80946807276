"""The pool: errors survive a pipe, and drawings wait in a queue of their own."""

import asyncio
import pickle
import threading
from http import HTTPStatus

import pytest

from neurowhere.web.errors import ApiError
from neurowhere.web.pool import Crew, Local, Pool


def members(error):
    return error.status_code, error.code, error.detail, error.hint, error.headers


def test_an_error_survives_a_pipe():
    error = ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "a message", "a hint", 7)
    assert members(pickle.loads(pickle.dumps(error))) == members(error)


class Gate:
    """Answers each query with its number, once the gate is open."""

    def __init__(self):
        self.is_open = threading.Event()
        self.answered = []

    def answer(self, name, query):
        assert self.is_open.wait(30)
        self.answered.append(query)
        return str(query).encode()


async def settle():
    for _ in range(3):
        await asyncio.sleep(0.01)


def test_drawings_are_not_refused_because_texts_wait():
    async def run():
        texts, figures = Gate(), Gate()
        figures.is_open.set()
        pool = Pool(Crew([Local(texts.answer)], Local(figures.answer), None), 4, 30)
        waiting = [asyncio.create_task(pool.run("encode_json", n)) for n in range(5)]
        await settle()
        with pytest.raises(ApiError) as caught:
            await pool.run("encode_json", 5)
        drawn = await pool.run("encode_png", 6)
        texts.is_open.set()
        answers = await asyncio.gather(*waiting)
        pool.close()
        return caught.value.code, drawn, answers

    assert asyncio.run(run()) == ("busy", b"6", [b"0", b"1", b"2", b"3", b"4"])


def test_drawings_wait_in_order_and_not_without_bound():
    async def run():
        figures = Gate()
        pool = Pool(Crew([Local(figures.answer)], Local(figures.answer), None), 8, 30)
        waiting = [asyncio.create_task(pool.run("encode_png", n)) for n in range(3)]
        await settle()
        assert (pool.pending, pool.waiting, pool.capacity) == (3, 2, 1 + 8 + 1 + 2)
        with pytest.raises(ApiError) as caught:
            await pool.run("encode_html", 3)
        figures.is_open.set()
        await asyncio.gather(*waiting)
        await settle()
        pending = pool.pending
        pool.close()
        return caught.value.code, figures.answered, pending

    assert asyncio.run(run()) == ("busy", [0, 1, 2], 0)


def test_one_who_gives_up_leaves_the_queue():
    async def run():
        figures = Gate()
        pool = Pool(Crew([Local(figures.answer)], Local(figures.answer), None), 8, 0.1)
        late = await asyncio.gather(
            *(pool.run("encode_png", n) for n in range(3)), return_exceptions=True
        )
        figures.is_open.set()
        pool.max_seconds = 30
        assert await pool.run("encode_png", 3) == b"3"
        pool.close()
        return [error.code for error in late], figures.answered

    assert asyncio.run(run()) == (["timeout"] * 3, [0, 3])
