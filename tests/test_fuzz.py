"""Odd inputs for every parser and reader: a short version of ``python -m fuzz``, and its finds."""

import random
import shutil

import pytest

pytest.importorskip("resource", reason="limits time and memory as on Linux and macOS")

from fuzz.__main__ import COUNTS, SEED
from fuzz.alter import mutate
from fuzz.attempt import attempt
from fuzz.targets import make_targets, scratch
from hypothesis import HealthCheck, given, settings

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("pubget", reason="needs the extra jats")
pytest.importorskip("pypdf", reason="needs the extra pdf")

N_STRUCTURED, N_BYTES = 30, 100  # inputs of each target
pytestmark = pytest.mark.filterwarnings("ignore")  # as the command line does


@pytest.fixture(scope="module")
def targets():
    yield {target.name: target for target in make_targets()}
    shutil.rmtree(scratch(), ignore_errors=True)


def test_all_targets_are_counted(targets):
    assert list(targets) == list(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_structured_inputs_succeed_or_are_refused_in_one_line(targets, name):
    @settings(
        max_examples=N_STRUCTURED,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(targets[name].structured)
    def run(data):
        assert attempt(targets[name].call, data) is None

    run()


@pytest.mark.parametrize("name", COUNTS)
def test_changed_bytes_succeed_or_are_refused_in_one_line(targets, name):
    target, rng = targets[name], random.Random(SEED)
    for _ in range(N_BYTES):
        data = mutate(rng.choice(target.seeds), rng, [word.encode() for word in target.words])
        assert attempt(target.call, data) is None, data


# What the long run has found, as short as it gets.
FOUND = [
    ("tokens", b"-\n" + b"a" * 50_000),  # took the square of the length
    ("terms, sides, negation", b"..."),  # no sentence without a word
    ("ends of texts", b"weakness "),  # a sign without a side, and a space at the end
    ("terms, sides, negation", b"greater " + b"face " * 9_999),  # the square of a sentence
    ("terms, sides, negation", b"face cortex; " * 3_846),
    ("encode, highlight", b"q" * 40_000),  # compared with all names, letter by letter
    ("queries", b"/(a+)+b/"),  # would have taken for ever
    ("queries", b"a " * 25_000),
    ("queries", b"huntington chorea disease"),  # 2^n ways through n single letters
    ("JSON lines", b'\0{"abstract": "%sb", "text": "%s"}' % (b"a " * 20_000, b"a " * 40_000)),
    ("HTML, arguments", b"<![b>"),  # an assertion of Python's parser
    ("HTML, arguments", b"\n a/"),  # a message of two lines
    ("HTML, arguments", b"~a"),  # the home of a user who is not known
    ("HTML, arguments", b"~\0"),
    ("JSON lines", b'\0{"text": "a", "coords": [[1, 2, ' + b"9" * 400 + b"]]}"),
    ("NIMADS", b'\0{"studies": [' + b"9" * 5000 + b"]}"),  # a number too long to read
    ("pubget", b"\2pmcid,pmid,doi,journal,publication_year\n" + b"1,11,10/x,J,2019\n" * 2),
    ("pubget", b"\2pmcid,pmid,doi,journal,publication_year\n1,11,10/x,J,20l9\n"),
    ("decode", b"\x01{}"),
    ("decode", b"\x010"),
    ("decode", b"\x01[[], [0]]"),
    ("decode", b"\x01[" + b"9" * 400 + b", 0, 0]"),
]


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_was_found_stays_mended(targets, name, data):
    assert attempt(targets[name].call, data) is None
