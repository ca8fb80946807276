"""Outside the brain: texts whose finding is elsewhere, and texts of the brain beside them.

    python benchmarks/outside.py

Of texts on findings outside the brain: how many have good support, a map that misleads; how many
are told as outside, and in the right place. Of texts that name such a place and a finding in the
brain: how many are taken for outside, and how many have good support. The texts were written
independently of the table. Those that are wrong are listed, but for the frozen parts.

With the data, a last line counts the abstracts on studies of the brain that are taken for outside.
"""

import gzip
import json
import warnings
from itertools import islice
from pathlib import Path

from neurowhere import load_model
from neurowhere.exceptions import DataWarning
from setting import DATA, print_table

CASES = Path(__file__).parent / "cases"
ABSTRACTS = DATA / "corpus" / "rawtext_linked_dev.jsonl.gz"
N_ABSTRACTS, LEAST = 300, 400  # abstracts, and characters of each
HEADER = ["part", "texts of", "number", "good", "told outside", "right place"]


def main():
    warnings.simplefilter("ignore", DataWarning)
    model = load_model()
    for part in ("open", "fresh", "late_open", "later_open", "frozen", "late_frozen"):
        path = CASES / f"outside_{part}.jsonl"
        if path.is_file():
            cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            tell(model, part, cases)
    if ABSTRACTS.is_file():
        told = [model.encode(text).support.outside for text in abstracts()]
        print(f"abstracts taken for outside: {len(told) - told.count(None)} of {len(told)}")


def tell(model, part, cases):
    """Print the totals of a part, and what is wrong in an open one."""
    answers = [model.encode(case["text"]).support for case in cases]
    rows = []
    for name, is_brain in (("outside", False), ("the brain", True)):
        here = [
            (case, support)
            for case, support in zip(cases, answers, strict=True)
            if case["brain_too"] == is_brain
        ]
        rows.append([part, name, len(here), *counts(here)])
    print_table(HEADER, rows)
    if "frozen" not in part:
        for case, support in zip(cases, answers, strict=True):
            if support.outside != (None if case["brain_too"] else case["where"]):
                print(f"{case['id']} {case['where']}, told {support.outside}: {case['text']}")


def counts(pairs):
    """Count the texts that are good, told as outside, and told so in the right place."""
    good = sum(support.level == "good" for _, support in pairs)
    told = sum(support.outside is not None for _, support in pairs)
    right = sum(support.outside == case["where"] for case, support in pairs)
    return good, told, right


def abstracts():
    """Yield the first abstracts that are no fragments."""
    with gzip.open(ABSTRACTS, "rt", encoding="utf-8") as lines:
        texts = (json.loads(line).get("abstract") or "" for line in lines)
        yield from islice((text for text in texts if len(text) >= LEAST), N_ABSTRACTS)


if __name__ == "__main__":
    main()
