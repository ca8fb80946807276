"""How many labels of each atlas have words, and words that texts use.

    python benchmarks/atlas_labels.py

Named: labels that words_of_label gives a name. Names: distinct ones. In texts: labels whose name,
a synonym of it or another form is mentioned in one of the texts of rawtext_linked_dev or of the
unlabelled documents (eLife left out, much of which is on animals).
"""

import csv
import gzip
import json
import lzma
import os
from pathlib import Path

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.building.anatomy import build_anatomy
from neurowhere.text.labels import words_of_label
from neurowhere.text.words import words_of

DATA = Path(os.environ.get("NEUROWHERE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SECTIONS = ("title", "abstract", "keywords", "body", "text")
CONTROLS = ("craddock", "gordon", "schaefer", "yeo")


def main():
    names = {path.name.removesuffix("_labels.csv"): read_names(path) for path in label_files()}
    vocabulary = with_names(
        build_anatomy(DATA / "vocabulary"), {name for some in names.values() for name in some}
    )
    mentioned = TermCounter(vocabulary).count(read_texts()).getnnz(axis=0) > 0
    print(f"{'':26}{'labels':>7}{'named':>8}{'names':>7}{'in texts':>10}")
    for atlas, labels in names.items():
        if not labels:
            continue
        named = [name for name in labels if name]
        in_texts = sum(mentioned[vocabulary.index(name)] for name in named)
        control = " (control)" if atlas.startswith(CONTROLS) else ""
        print(
            f"{atlas + control:26}{len(labels):7}{len(named) / len(labels):8.0%}"
            f"{len(set(named)):7}{in_texts / len(labels):10.0%}"
        )


def label_files():
    return sorted((DATA / "atlases").glob("*_labels.csv"))


def read_names(path):
    with path.open(encoding="utf-8") as stream:
        return [words_of_label(row["name"])[0] for row in csv.DictReader(stream)]


def with_names(vocabulary, names):
    """Return the vocabulary and the names of labels that it lacks, such as those of networks."""
    more = {words_of(name): name for name in sorted(names) if name and name not in vocabulary}
    return Vocabulary([*vocabulary.terms, *more.values()], vocabulary.synonyms)


def read_texts():
    unlabelled = DATA / "unlabelled"
    yield from texts_in(gzip.open, DATA / "corpus" / "rawtext_linked_dev.jsonl.gz")
    yield from texts_in(lzma.open, unlabelled / "abstracts_and_neurobridge.jsonl.xz")
    yield from texts_in(lzma.open, unlabelled / "labelbuddy.jsonl.xz")


def texts_in(opener, path):
    with opener(path, "rt", encoding="utf-8") as stream:
        for document in map(json.loads, stream):
            yield "\n\n".join(document.get(section) or "" for section in SECTIONS)


if __name__ == "__main__":
    main()
