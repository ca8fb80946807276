"""Write the tables of `docs/clinical.md` from the rows of the reader.

python tools/grammar.py
"""

import csv
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE, TABLES = ROOT / "docs" / "clinical.md", ROOT / "src" / "neurowhere" / "text" / "reading"
SAYS = {
    "languages": "words that tell English from other languages",
    "words": "the classes of words: left, lesion, finite verb, preposition",
    "cues": "what denies",
    "hedges": "what leaves open",
    "elsewhere": "what words of the brain mean beside others",
    "places": "places that a vocabulary may lack",
    "implied": "a structure that a name points to: weight, side, condition, reference",
    "compounds": "halves of adjectives of two structures",
    "parts": "the parts of a structure that its denial denies",
    "pressed": "what a lesion presses on",
    "headings": "the section of a report that a heading begins",
}
DIRECTIONS = {
    "ahead": "what follows",
    "back": "the subject before it",
    "beside": "the noun that it stands before, or the subject",
    "object": "the object of a verb, or the subject of its passive",
    "both": "the subject and what follows",
    "not": "what the word after it says",
    "except": "what is taken out",
    "clause": "all of the clause",
    "earlier": "the clause or the sentence before",
    "idle": "nothing: its words are no cue",
}
EXAMPLES = 3


def rows_of(name):
    """Return the rows of a table of the reader."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def tables():
    """Return the list of the tables, as Markdown."""
    yield "| table | rows | a row says | columns |"
    yield "| --- | ---: | --- | --- |"
    for name, says in SAYS.items():
        rows = rows_of(name)
        yield f"| `{name}.csv` | {len(rows):,} | {says} | {', '.join(rows[0])} |"


def directions():
    """Return how many rows have each direction, with examples, as Markdown."""
    found = defaultdict(list)
    for row in (*rows_of("cues"), *rows_of("hedges")):
        found[row["direction"]].append(first_phrase(row["words"]))
    yield "| direction | speaks of | rows | such as |"
    yield "| --- | --- | ---: | --- |"
    for name, some in sorted(found.items(), key=lambda pair: -len(pair[1])):
        examples = ", ".join(f'"{each}"' for each in some[:EXAMPLES])
        yield f"| {name} | {DIRECTIONS[name]} | {len(some)} | {examples} |"


def first_phrase(words):
    """Return the first phrase that a cell stands for.

    >>> first_phrase("{free|clear} of; without")
    'free of'
    """
    first = re.sub(r"{([^|}]*)[^}]*}", r"\1", words.split(";")[0])
    return " ".join(first.replace("|", "/").split())


def filled(page):
    """Return the page with its lists as the rows have them."""
    for name, lines in (("tables", tables()), ("directions", directions())):
        marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, rest = page.split(marks[0])
        _, after = rest.split(marks[1])
        page = "\n".join([before + marks[0], *lines, marks[1] + after])
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
