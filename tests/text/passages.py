"""Passages of reports, letters, notes and articles, and how well they are read.

A line of data/denials_*.jsonl has a passage and what is asked for: words of it, which occurrence of
them is meant, and what the passage says of them (affirmed, denied, hedged, or not_finding under
headings such as "Technique"). Those of "own" were written along with the rules, all others by
people who had not read them. The rules were developed with "seen", "second", "unseen" and "final";
"third" is scored by its totals alone. A line of data/sides_*.jsonl has a passage and the side of
structures in it.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

from tests.text.sentences import Tally, compare, small_vocabulary

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

FOLDER = Path(__file__).parent / "data"
STATUSES = ("denied", "hedged", "not_finding")
# Words that name a sign rather than a part of the brain.
SIGN = re.compile(r"(?<!gangl)ia$|igo$|ache$|neglect$|weakness$|loss$|palsy$|seizures?$|tremor$")


class Target(NamedTuple):
    """Words of a passage, ``text[start:end]``, and what it says of them."""

    start: int
    end: int
    status: str


class Passage(NamedTuple):
    """A text and what a reader finds in it."""

    text: str
    targets: tuple[Target, ...]


class SidedPassage(NamedTuple):
    """A text and the sides that a reader finds in it: start, end, side and whether inherited."""

    text: str
    targets: tuple[tuple[int, int, str | None, bool], ...]


def has_passages(name):
    return (FOLDER / f"denials_{name}.jsonl").exists()


def read_passages(name):
    lines = (FOLDER / f"denials_{name}.jsonl").read_text("utf-8").splitlines()
    return [parse(**json.loads(line)) for line in lines]


def parse(id, kind, text, mentions):
    targets = []
    for mention in mentions:
        words, start = mention["words"], -1
        for _ in range(mention["occurrence"]):
            start = text.index(words, start + 1)
        targets.append(Target(start, start + len(words), mention["status"]))
    return Passage(text, tuple(targets))


def read_sided(name):
    passages = []
    for line in (FOLDER / f"sides_{name}.jsonl").read_text("utf-8").splitlines():
        text, expected = (json.loads(line)[key] for key in ("text", "expected"))
        starts = [text.index(row["words"]) for row in expected]
        targets = tuple(
            (start, start + len(row["words"]), row["side"], row["inherited"])
            for start, row in zip(starts, expected)
        )
        passages.append(SidedPassage(text, targets))
    return passages


def told_counter(passages):
    """Counter of a small vocabulary that knows all that the passages ask for."""
    known = small_vocabulary()
    counter = TermCounter(known)
    words = {p.text[target[0] : target[1]].lower() for p in passages for target in p.targets}
    new = sorted(name for name in words if counter.term_of(name) is None and name not in known)
    categories = {name: "" if SIGN.search(name) else "anatomy" for name in new}
    return TermCounter(
        Vocabulary([*known.terms, *new], known.synonyms, {**known.categories, **categories})
    )


def within(mentions, start, end):
    """Mentions that have some of these words."""
    everything = (*mentions.found, *mentions.places)
    return [each for each in everything if each.start < end and start < each.end]


def status_of(mentions, start, end):
    """What was read of some words: the strongest status of the mentions in them."""
    found = [
        m.status for m in (*mentions.found, *mentions.places) if m.start < end and start < m.end
    ]
    return next((status for status in ("not_finding", *STATUSES) if status in found), "affirmed")


def score_passages(passages, counter):
    """Tally of each status over all passages, and how many mentions were read right."""
    tallies = dict.fromkeys(STATUSES, Tally())
    n_right = 0
    for passage in passages:
        mentions = read_mentions(passage.text, counter)
        for start, end, status in passage.targets:
            given = status_of(mentions, start, end)
            n_right += given == status
            for name in STATUSES:
                tallies[name] += compare(status == name, given == name)
    return tallies, n_right


def score_sides(passages, counter):
    """Tally of the sides over all passages, and of those that are inherited."""
    sides, inherited = Tally(), Tally()
    for passage in passages:
        mentions = read_mentions(passage.text, counter)
        for start, end, side, is_inherited in passage.targets:
            found = [
                m for m in (*mentions.found, *mentions.places) if m.start < end and start < m.end
            ]
            given = next((mention for mention in found if mention.side), None)
            sides += compare(side, given and given.side)
            inherited += compare(is_inherited, given is not None and given.side_inherited)
    return sides, inherited
