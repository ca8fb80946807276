"""Contradictions: how many swaps of left and right in a report are found, and how many are not.

    python benchmarks/contradictions.py [NAME ...]

The cases are whole reports, ``cases/reports_*.jsonl``, written independently, that say for each the
lobe and the side of its seats. None contradicts itself: any warning is false. In copies of a report
the sides of one sentence are swapped: of one that names a seat with its side in the conclusion, and
of one before it, both drawn by a fixed seed. The sentences are found by words of lobes and sides
alone, not as the program reads. A swap is found if a warning quotes the sentence. Of the open parts
the ids of failures are printed, too. A report without a second mention of the side holds no
contradiction, even after a swap; it counts as missed.
"""

import json
import random
import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from neurowhere import load_model
from neurowhere.exceptions import DataWarning
from setting import print_table

CASES = Path(__file__).parent / "cases"
PARTS = ("open", "fresh", "late_open", "frozen", "late_frozen")
SETS = tuple(f"reports_{part}" for part in PARTS)
SEED = 37
SIDES = ("left", "right")
# Words by which a report names a lobe, a part of it, or the artery that supplies it.
WORDS = {
    "frontal": r"front|orbitofr|ofc|precentral|premotor|motor|sma\b|cingul|[misd]l?fg|pfc|rect[iu]"
    r"|broca|opercul|aca|f\d",
    "parietal": r"pariet|angular|supramarginal|smg|precune|postcentral|ip[ls]|spl|sensorimotor",
    "temporal": r"temp|hippoc|amygd|uncus|fusiform|[msi]tg|heschl|limbic|mesial|tp",
    "occipital": r"occip|calcarin|cune|lingual|visual cortex|pca|posterior cerebral",
    "insula": r"insul|mca|m2",
    "thalamus": r"thalam|vpl|vim|pulvin|bithal",
    "basal ganglia": r"basal|bg|caudat|putam|putum|pallid|gpi|gpe|lentiform|striat|ganglio",
    "cerebellum": r"cerebell|cbll?m?|crblm|vermi|dentate|pica|aica|sca|tonsil",
    "brain stem": r"brain ?stem|pon[st]|midbrain|medull|mesenceph|pedunc|nigra",
}
ELSE = r"(?!\w*\W+(?:horn|bone|squama|scalp|sinus))"  # what is named after a lobe
NORMAL = re.compile(
    r"\b(?:normal|unremarkable|spared|intact|preserved|unaffected|clean|clear|not?|nil)\b", re.I
)
SIDE = re.compile(
    r"(?<![\w/])(?:([Ll]eft|[Rr]ight|LEFT|RIGHT)(?![\w]|-hand)|([LR])(?![\w/'])|(Lt|Rt|lt|rt)\b)"
)
SWAPPED = {"left": "right", "right": "left", "l": "r", "r": "l", "lt": "rt", "rt": "lt"}
NEAR = 45  # characters between a side and the word of a lobe
SENTENCE = re.compile(r"[^\n]+?(?:(?<=[a-z)\]\d])[.!?](?=\s|$)|(?=\n)|$)")
CONCLUSION = re.compile(
    r"^\W*(?:\d\W+)?(?:final |overall |clinical |radiologist )?"
    r"(?:impressions?|imp\b|conclu\w+|opinion|summary|in summary|in conclusion|diagnosis"
    r"|assessment|interpretation|a:|comment)"
    r"|\b(?:my conclusion|i conclude|taken together|in summary|to summari[sz]e)\b",
    re.I | re.M,
)
AFTER = re.compile(
    r"^\W*(?:\d\W+)?(?:plan|recommend\w*|advice|suggest\w*|rec|next|do|p|follow[ -]?up|proposal)\b"
    r"\W*(?:[:|.–-]|$)",
    re.I | re.M,
)
# Headings of what was known before; a seat that only these parts name is swapped in neither.
BEFORE = re.compile(
    r"^\W*(?:clinical|history|hx|indication|reason|request|referr|background|technique|comparison"
    r"|compared|procedure|patient|context|diagnosis|prior|label|old)",
    re.I,
)
FINDINGS = re.compile(r"^\W*(?:[A-Z][A-Za-z /&-]+:|[A-Z][A-Z ]+$|#)")
EARLIEST = 0.3  # of a text, from where a conclusion may begin


class Swap(NamedTuple):
    """A report in which one sentence has its sides swapped."""

    where: str  # "conclusion" or "findings"
    text: str
    span: tuple[int, int]  # of the sentence


def main():
    warnings.simplefilter("ignore", DataWarning)
    model = load_model()
    for name in sys.argv[1:] or SETS:
        path = CASES / f"{name}.jsonl"
        if not path.is_file():
            print(f"{path.name} is not there")
            continue
        cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        score(name, cases, model, is_told="frozen" not in name)


def score(name, cases, model, *, is_told):
    """Print how many clean reports are warned of, and how many swaps are found."""
    false = [case["id"] for case in cases if model.encode(case["text"]).contradictions]
    found, made, missed = Counter(), Counter(), []
    for case, swap in [(each, swap) for each in cases for swap in swaps(each)]:
        is_found = any(
            start < swap.span[1] and swap.span[0] < end
            for warning in model.encode(swap.text).contradictions
            for start, end in (warning.where, warning.other_where)
        )
        for key in (swap.where, case["style"], "all"):
            made[key] += 1
            found[key] += is_found
        if not is_found:
            missed.append(f"{case['id']} ({swap.where})")
    print_table(
        [name, "clean", "false warnings", "swaps", "found", "share"],
        [["", len(cases), len(false), made["all"], found["all"], share(found, made, "all")]],
    )
    keys = [key for key in made if key != "all"]
    print_table(
        ["swaps in", "number", "found", "share"],
        [[key, made[key], found[key], share(found, made, key)] for key in sorted(keys)],
    )
    if is_told:
        print(f"false: {', '.join(false)}\nmissed: {', '.join(missed)}\n")


def share(found, made, key):
    return f"{found[key] / made[key]:.0%}" if made[key] else ""


def swaps(case):
    """Yield up to two copies of a report: a swap in its conclusion, and one before it."""
    text = case["text"]
    start, end = conclusion(text)
    random_ = random.Random(f"{SEED} {case['id']}")
    sentences = [match.span() for match in SENTENCE.finditer(text)]
    naming = [span for span in sentences if names_seat(text[slice(*span)], case["seats"])]
    parts = {
        "conclusion": [span for span in naming if start <= span[0] < end],
        "findings": [
            span
            for span in naming
            if span[0] < start and is_finding(text, span[0]) and not NORMAL.search(text, *span)
        ],
    }
    for where, spans in parts.items():
        if spans:
            first, last = random_.choice(spans)
            sentence = SIDE.sub(swapped, text[first:last])
            changed = text[:first] + sentence + text[last:]
            yield Swap(where, changed, (first, first + len(sentence)))


def conclusion(text):
    """Return where a report comes to its conclusion, and where that ends."""
    heads = [each for each in CONCLUSION.finditer(text) if each.start() > EARLIEST * len(text)]
    if not heads:
        return len(text), len(text)
    after = AFTER.search(text, heads[-1].end())
    return heads[-1].start(), after.start() if after else len(text)


def is_finding(text, start):
    """Whether the last heading before a sentence is none of what was known before."""
    lines = text[: text.find("\n", start) if "\n" in text[start:] else len(text)].split("\n")
    heads = [line for line in lines if FINDINGS.match(line) or BEFORE.match(line)]
    return not (heads and BEFORE.match(heads[-1]))


def names_seat(sentence, seats):
    """Whether a sentence has the side of a seat next to a word of its lobe."""
    for seat in seats:
        if seat["side"] not in SIDES:
            continue
        sides = [match for match in SIDE.finditer(sentence) if side_of(match) == seat["side"]]
        lobes = list(re.finditer(rf"(?<![^\W_])(?:{WORDS[seat['group']]}){ELSE}", sentence, re.I))
        for side in sides:
            for lobe in lobes:
                gap = sentence[side.end() : lobe.start()] or sentence[lobe.end() : side.start()]
                if len(gap) < NEAR and not re.search(r"[.;|]\s", gap):
                    return True
    return False


def side_of(match):
    return "left" if match[0][0] in "lL" else "right"


def swapped(match):
    """Return the other side, written alike."""
    other = SWAPPED[match[0].lower()]
    return other.upper() if match[0].isupper() else other.title() if match[0].istitle() else other


if __name__ == "__main__":
    main()
