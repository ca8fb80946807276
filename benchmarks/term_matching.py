"""Term matching on real full texts with the 7,547-term vocabulary: MB/s on one core, with rivals.

    python benchmarks/term_matching.py [--megabytes 12] [--rival-megabytes 2] [--wide FILE]

All run in one process on one thread; times are processor time, the best of three. NeuroQuery's
tokenizer and scikit-learn's CountVectorizer count on the first texts only. The three define a
match differently (see docs/text.md), so their totals differ: CountVectorizer does not consume
words and knows no synonyms, NeuroQuery knows no other forms of a word; neither knows what a text
defines its abbreviations for. With --wide, the vocabulary that `vocabulary build --kind wide` made
is timed too.
"""

import argparse
import json
import lzma
import time
import warnings
from pathlib import Path

from neuroquery.tokenization import TextVectorizer, tokenizing_pipeline_from_vocabulary
from sklearn.feature_extraction.text import CountVectorizer

from neurowhere.exceptions import DataWarning
from neurowhere.text import TermCounter, Vocabulary
from setting import DATA

TERMS = DATA / "vocabulary" / "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt"
SYNONYMS = DATA / "vocabulary" / "neuroquery_voc_mapping_identity.json"
REPEATS = 3
LONGEST_TERM = 5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=12)
    parser.add_argument("--rival-megabytes", type=float, default=2)
    parser.add_argument("--wide", type=Path)
    arguments = parser.parse_args()

    texts = read_texts(arguments.megabytes)
    few = first(texts, arguments.rival_megabytes)
    names = TERMS.read_text("utf-8").split("\n")[:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # synonyms that only look alike are left out
        vocabulary = Vocabulary.load(TERMS, SYNONYMS)
    ascii_share = sum(text.isascii() for text in texts) / len(texts)
    print(f"{len(texts):,} texts, {size(texts):.1f} MB, {ascii_share:.0%} of the texts ASCII only")
    print(f"{len(vocabulary):,} terms, {len(vocabulary.synonyms):,} synonyms")

    rows = ours("neurowhere", vocabulary, texts, few)
    if arguments.wide:
        rows += ours("wide vocabulary", Vocabulary.load(arguments.wide), texts, few)
    rows += rivals(names, few)
    print(f"\n{'':36}{'MB/s':>8}{'matches':>12}")
    for name, speed, matches in rows:
        print(f"{name:36}{speed:8.1f}{matches:12,}")


def ours(name, vocabulary, texts, few):
    counter = TermCounter(vocabulary)

    def count(some):
        return int(counter.count(some).sum())

    def find(some):
        return sum(len(counter.find(text)) for text in some)

    return [
        run(f"{name}, counts, every word new", texts, count, repeats=1),
        run(f"{name}, counts", texts, count),
        run(f"{name}, offsets and sides", texts, find),
        run(f"{name}, counts, rivals' texts", few, count),
    ]


def rivals(names, texts):
    mapping = json.loads(SYNONYMS.read_text("utf-8"))
    mapping = {tuple(name.split()): tuple(term.split()) for name, term in mapping.items()}
    phrases = [tuple(name.split()) for name in names]
    vectorizer = TextVectorizer(
        tokenizing_pipeline_from_vocabulary(phrases, voc_mapping=mapping),
        use_idf=False,
        norm=None,
        add_unigrams=False,
    ).fit()
    pipeline = tokenizing_pipeline_from_vocabulary(phrases, voc_mapping=mapping)
    ngrams = CountVectorizer(vocabulary=names, ngram_range=(1, LONGEST_TERM))
    return [
        run("NeuroQuery, counts", texts, lambda some: int(vectorizer.transform(some).sum())),
        run(
            "NeuroQuery, offsets",
            texts,
            lambda some: sum(len(pipeline(text, keep_pos=True)) for text in some),
        ),
        run("CountVectorizer, 1 to 5 words", texts, lambda some: int(ngrams.transform(some).sum())),
    ]


def run(name, texts, count, repeats=REPEATS):
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        matches = count(texts)
        seconds.append(time.process_time() - start)
    return name, size(texts) / min(seconds), matches


def read_texts(megabytes):
    texts = []
    with lzma.open(DATA / "unlabelled" / "elife.jsonl.xz", "rt", encoding="utf-8") as stream:
        for line in stream:
            document = json.loads(line)
            if document.get("body"):
                texts.append(document["body"])
            if len(texts) % 20 == 0 and size(texts) > megabytes:
                break
    return first(texts, megabytes)


def first(texts, megabytes):
    chosen, total = [], 0.0
    for text in texts:
        if total > megabytes:
            break
        chosen.append(text)
        total += size([text])
    return chosen


def size(texts):
    return sum(len(text.encode()) for text in texts) / 1e6


if __name__ == "__main__":
    main()
