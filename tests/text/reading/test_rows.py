"""Each row of the tables, and each class of words, has a recorded text that exercises it."""

import ast
import json
import re
from functools import cache
from pathlib import Path

from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.reading.lexicon import WORDS, lexicon
from neurowhere.text.reading.tables import alternatives, read_table, split
from neurowhere.text.reading.tags import CUES, find_phrases, rules
from neurowhere.text.sections import HEADINGS

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "tests" / "text" / "data", ROOT / "benchmarks" / "cases")
TESTS = (ROOT / "tests" / "text" / "behaviour", ROOT / "tests" / "text", Path(__file__).parent)
READING = "neurowhere.text.reading"
TABLES = ("cues", "hedges", "pressed")
SPACE = re.compile(r"\s+")


@cache
def recorded():
    """Return all recorded texts: cases that may be read, and the words of tests of reading."""
    cases = [path for folder in FOLDERS for path in folder.glob("*.jsonl")]
    lines = [
        json.loads(line)
        for p in cases
        if "frozen" not in p.name
        for line in p.read_bytes().splitlines()
    ]
    texts = [str(case.get("text") or case.get("query") or case.get("sentence")) for case in lines]
    texts += (ROOT / "tests" / "text" / "data" / "rows.txt").read_text("utf-8").splitlines()
    for path in (path for folder in TESTS for path in folder.glob("test_*.py")):
        tree = ast.walk(ast.parse(path.read_text("utf-8")))
        texts += [str(node.value) for node in tree if isinstance(node, ast.Constant)]
    return texts


@cache
def found():
    """Return the words of all recorded texts, and the rows and names that are found in them."""
    counter = TermCounter(small_vocabulary())
    words, rows = set(), set()
    for text in recorded():
        document = counter.read(text)
        words.update(document.words)
        for table in ("cues", "foreign", "pressed"):
            rows.update(row.name for *_, row in find_phrases(document)[table])
        for table in ("implied", "sites", "fixed"):
            rows.update(name for *_, name in find_phrases(document)[table])
    return words, rows


def test_each_cue_has_a_case():
    tables = [row for name in TABLES for row in read_table(READING, name, CUES)]
    lacking = {row.name for row in tables if row["only"] != "sign"} - found()[1]
    assert sorted(lacking) == []


def test_each_implied_name_has_a_case():
    names = {*rules().phrases.values(), *rules().sites.values()}
    shown = found()[1] | {rules().sites.get(name) for name in found()[1]}
    compounds = {name for name in names if re.fullmatch(r"[a-z]+-[a-z]+", name)}
    assert sorted(names - shown - compounds) == []


def test_each_class_of_words_has_a_case():
    shown = {name for word in found()[0] for name in lexicon()[word]}
    assert {row["class"] for row in read_table(READING, "words", WORDS)} - shown == set()


def test_each_heading_has_a_case():
    texts = {SPACE.sub(" ", text.lower()) for text in recorded()}
    everything = "\n".join(texts)
    for row in read_table(READING, "headings", HEADINGS):
        words = [words for item in split(row["words"]) for words in alternatives(item)]
        assert any(each in everything for each in words), row.name
