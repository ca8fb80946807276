"""How counts from text differ from NeuroQuery's counts of the same studies.

    python benchmarks/text_and_counts.py

Titles of all studies of neuroquery_dev, and abstracts of those whose text is in rawtext_linked_dev.
Both pass through the same vocabulary: texts by TermCounter, NeuroQuery's columns by
Vocabulary.align. Shared is Σ min / Σ max of the counts; equal, the studies all of whose counts
agree; cosine, that of tf-idf rows, its mean over studies. An abstract is "the same text" if the
counts of all of NeuroQuery's 156,521 terms share at least nine tenths: sources of the texts cut,
extend or re-word some abstracts. "Anatomy in counts" leaves out the terms that no column counts.
"""

import os
from collections import Counter
from pathlib import Path

import numpy as np

from neurowhere.corpus import read_corpus
from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.building.anatomy import build_anatomy, build_full
from neurowhere.text.features import TfIdf
from neurowhere.text.words import words_of

DATA = Path(os.environ.get("NEUROWHERE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SECTIONS = ("title", "abstract", "keywords")
SAME_TEXT = 0.9
N_EXAMPLES = 12


def main():
    released = read_corpus(DATA / "corpus", format="neuroquery")
    linked = read_corpus(DATA / "corpus" / "rawtext_linked_dev.jsonl.gz")
    theirs, ours = linked_rows(released, linked)
    abstracts = [linked.sections["abstract"][i] for i in ours]
    titles = released.documents["title"].tolist()

    names = {words: term for term in released.terms if (words := words_of(term))}
    words = Vocabulary(list(names.values()))
    same = same_text(words, released, theirs, abstracts)
    print(f"{len(titles):,} titles; {len(abstracts):,} abstracts, {same.sum():,} the same text\n")
    print(f"{'':48}{'text':>9}{'NeuroQuery':>12}{'shared':>8}{'equal':>8}{'cosine':>8}")
    anatomy, full = build_anatomy(DATA / "vocabulary"), build_full(DATA / "vocabulary")
    missing = set(anatomy.align(released.terms).missing)
    vocabularies = {
        "anatomy": anatomy,
        "anatomy in counts": anatomy.subset(set(anatomy) - missing),
        "full": full,
    }
    for name, vocabulary in vocabularies.items():
        counter = TermCounter(vocabulary)
        aligned = vocabulary.align(released.terms)
        counts = {section: released.counts[section] @ aligned.matrix for section in SECTIONS}
        title_counts, from_titles = counts["title"], counter.count(titles)
        abstract_counts, from_abstracts = counts["abstract"][theirs], counter.count(abstracts)
        all_counts = sum(counts.values())[theirs]
        from_all = sum(counter.count([linked.sections[part][i] for i in ours]) for part in SECTIONS)
        print_row(f"{name}, titles", from_titles, title_counts)
        print_row(f"{name}, title + abstract + keywords", from_all, all_counts)
        print_row(f"{name}, abstracts", from_abstracts, abstract_counts)
        print_row(f"{name}, abstracts, same text", from_abstracts[same], abstract_counts[same])
        print(f"  {aligned}")
        print_examples(vocabulary, from_abstracts[same] - abstract_counts[same])


def linked_rows(released, linked):
    """Rows of the studies that both corpora have, with an abstract in both."""
    row_of = {pmid: i for i, pmid in enumerate(released.documents["id"])}
    has_counts = np.diff(released.counts["abstract"].indptr) > 0
    pairs = [
        (row_of[pmid], i)
        for i, pmid in enumerate(linked.documents["pmid"])
        if pmid in row_of and has_counts[row_of[pmid]] and linked.sections["abstract"][i].strip()
    ]
    return map(list, zip(*pairs, strict=True))


def same_text(words, released, rows, abstracts):
    theirs = (released.counts["abstract"] @ words.align(released.terms).matrix)[rows]
    ours = TermCounter(words).count(abstracts)
    return ours.minimum(theirs).sum(axis=1).A1 >= SAME_TEXT * theirs.maximum(ours).sum(axis=1).A1


def print_row(name, ours, theirs):
    shared = ours.minimum(theirs).sum() / ours.maximum(theirs).sum()
    equal = (abs(ours - theirs).sum(axis=1).A1 == 0).mean()
    weights = TfIdf().fit(theirs)
    cosine = weights.transform(ours).multiply(weights.transform(theirs)).sum(axis=1).A1
    cosine = np.mean(cosine[theirs.sum(axis=1).A1 > 0])
    print(f"{name:48}{ours.sum():9,}{theirs.sum():12,}{shared:8.1%}{equal:8.1%}{cosine:8.3f}")


def print_examples(vocabulary, difference):
    more, fewer = Counter(), Counter()
    for term, number in zip(vocabulary.terms, difference.sum(axis=0).A1.tolist(), strict=True):
        more[term], fewer[term] = number, -number
    for name, terms in (("more in text", more), ("fewer", fewer)):
        examples = ", ".join(f"{term} {n}" for term, n in terms.most_common(N_EXAMPLES) if n > 0)
        print(f"  {name}: {examples}")


if __name__ == "__main__":
    main()
