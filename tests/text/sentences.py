"""The hand-written sentences on negation and sides, and how well they are read.

A line of data/clinical_sentences.jsonl has a sentence with what is asked for marked in place:
``[thalamus: negated, left]`` is a mention that should be found, negated and on the left, and
``[right: unapplied]`` a side that should not be applied to a structure as it is. Sides that are
applied are not marked themselves. The rules were developed with them.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from neurowhere.text import Vocabulary
from neurowhere.text.building.anatomy import builtin_anatomy
from neurowhere.text.reading.mentions import read_mentions

PATH = Path(__file__).parent / "data" / "clinical_sentences.jsonl"
MARK = re.compile(r"\[([^:\]]+): (present|hedged|negated|unapplied)(?:, (left|right|bilateral))?\]")

MORE_ANATOMY = """
basal ganglia; broca area; corona radiata; frontal lobe; internal capsule; midbrain; occipital lobe;
parietal lobe; temporal lobe; ventral striatum
"""
OTHER_TERMS = """
anxiety; aphasia; ataxia; atrophy; attention; autism; comprehension; depression; edema; emotion;
epilepsy; fear; glioma; hand; headache; hearing; hemianopia; hemorrhage; infarct; ischemic;
language; lesion; memory; naming; neglect; numbness; pain; reading; reward; schizophrenia; seizure;
semantic memory; speech; stroke; tumor; vision; visual field; weakness; working memory
"""


class Target(NamedTuple):
    """A mention that a sentence asks for."""

    start: int
    end: int
    is_negated: bool
    side: str | None


@dataclass(frozen=True)
class Sentence:
    """A sentence and what a reader finds in it."""

    source: str
    text: str
    targets: tuple[Target, ...]
    unapplied: frozenset[int]  # starts of the sides


def read_sentences():
    lines = PATH.read_text("utf-8").splitlines()
    return [parse(**json.loads(line)) for line in lines]


def parse(source, sentence):
    text, targets, unapplied, end = "", [], set(), 0
    for mark in MARK.finditer(sentence):
        text += sentence[end : mark.start()]
        words, state, side = mark.groups()
        if state == "unapplied":
            unapplied.add(len(text))
        else:
            span = (len(text), len(text) + len(words))
            targets.append(Target(*span, state == "negated", side))
        text += words
        end = mark.end()
    text += sentence[end:]
    return Sentence(source, text, tuple(targets), frozenset(unapplied))


def small_vocabulary():
    """Vocabulary of the package's own anatomy and of some general terms."""
    anatomy = builtin_anatomy()
    more = [name.strip() for name in MORE_ANATOMY.split(";")]
    others = [name.strip() for name in OTHER_TERMS.split(";")]
    terms = [*anatomy.terms, *more, *others]
    return Vocabulary(terms, anatomy.synonyms, dict.fromkeys([*anatomy.terms, *more], "anatomy"))


class Tally(NamedTuple):
    """Right answers, wrong ones and missed ones."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __add__(self, other):
        return Tally(*(a + b for a, b in zip(self, other)))

    @property
    def precision(self):
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self):
        return self.right / max(self.right + self.missed, 1)


class Score(NamedTuple):
    """What was right in a sentence: negations, sides applied, sides marked; and what was not."""

    negation: Tally = Tally()
    side: Tally = Tally()
    unapplied: Tally = Tally()
    not_found: int = 0
    failures: tuple[str, ...] = ()

    def __add__(self, other):
        return Score(*(a + b for a, b in zip(self, other)))


def score(sentence, counter, reader=read_mentions):
    mentions = reader(sentence.text, counter)
    everything = [*mentions.found, *mentions.places]
    total = Score()
    for target in sentence.targets:
        words = sentence.text[target.start : target.end]
        found = [m for m in everything if m.start < target.end and target.start < m.end]
        if not found:
            total += Score(not_found=1, failures=(f"{words} not found",))
            continue
        is_negated = any(mention.is_negated for mention in found)
        sides = (mention.side for mention in found if mention.side and not mention.is_crossed)
        side = next(sides, None)
        failures = []
        if is_negated != target.is_negated:
            failures.append(f"{words} {'negated' if is_negated else 'not negated'}")
        if side != target.side:
            failures.append(f"{words} on side {side}")
        total += Score(
            compare(target.is_negated, is_negated),
            compare(target.side, side),
            failures=(*failures,),
        )
    # The side of a sign is none of a structure: a rule may cross it.
    crossed = {
        rule.side_span[0]
        for rule in mentions.rule_based
        if rule.side_span and all(each.side != rule.side for each in rule.implied)
    }
    crossed |= {each.side_span[0] for each in mentions.found if each.is_crossed}
    marked = crossed | {mark.start for mark in mentions.unapplied}
    expected = sentence.unapplied
    tally = Tally(len(marked & expected), len(marked - expected), len(expected - marked))
    wrong = sorted(marked ^ expected)
    failures = tuple(
        f"side at {start} {'marked' if start in marked else 'not marked'}" for start in wrong
    )
    return total + Score(unapplied=tally, failures=failures)


def compare(expected, given):
    """Tally of one answer, where a false one says nothing."""
    if given and given == expected:
        return Tally(right=1)
    return Tally(wrong=int(bool(given)), missed=int(bool(expected)))
