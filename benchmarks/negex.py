"""Denials on the public NegEx test kit: F, precision, recall and the concepts that are not found.

    python benchmarks/negex.py FILE [--failures] [--reader MODULE]

FILE is `annotations.txt` of the kit (chapmanbe/negex, Apache 2.0): report number, concept, sentence
and Affirmed or Negated, separated by tabs. Its concepts are of all medicine and the reader knows
those of the brain, so that "hippocampal lesion" stands in the place of each.
"""

import argparse
import csv
import importlib
import re
from pathlib import Path

from neurowhere import load_model

CONCEPT = "hippocampal lesion"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--reader", metavar="MODULE", default="neurowhere")
    parser.add_argument("--failures", action="store_true", help="list what was read wrongly")
    arguments = parser.parse_args()
    counter = load_model().extractor_.counter
    read_mentions = importlib.import_module(arguments.reader).read_mentions
    answers = []
    for concept, sentence, label in read_kit(arguments.file):
        text, start = put_concept(concept, sentence)
        given = None if start is None else is_denied(read_mentions(text, counter), start)
        answers.append((label == "Negated", given))
        if arguments.failures and given != (label == "Negated"):
            print(f"{label} read as {given}: {' '.join(text.split())}\n")
    print_score(answers)


def read_kit(path):
    with path.open(encoding="utf-8", errors="replace", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t")
        next(rows)
        yield from (tuple(row[1:]) for row in rows)


def put_concept(concept, sentence):
    """Put our concept in the place of the kit's, which is in capitals if it is marked."""
    marked, words = (r"\s+".join(map(re.escape, c.split())) for c in (concept.upper(), concept))
    found = re.search(rf"(?<!\w){marked}(?!\w)", sentence) or re.search(words, sentence, re.I)
    if not found:
        return sentence, None
    start, end = found.span()
    return sentence[:start] + CONCEPT + sentence[end:], start


def is_denied(mentions, start):
    """Whether the concept is denied; None if it is not found."""
    found = [
        mention
        for mention in mentions.found
        if mention.start < start + len(CONCEPT) and start < mention.end
    ]
    return any(mention.is_negated for mention in found) if found else None


def print_score(answers):
    right = sum(label and given is True for label, given in answers)
    precision = right / max(sum(given is True for _, given in answers), 1)
    recall = right / max(sum(label for label, given in answers if given is not None), 1)
    missing = sum(given is None for _, given in answers)
    f = 2 * precision * recall / max(precision + recall, 1e-9)
    print(f"F {100 * f:.1f}, precision {100 * precision:.1f}, recall {100 * recall:.1f}")
    print(f"{missing} of {len(answers):,} not found")


if __name__ == "__main__":
    main()
