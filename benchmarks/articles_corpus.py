"""The studies of neuroquery_dev that have an article, with its text in place of their counts.

    python benchmarks/articles_corpus.py CORPUS -o FOLDER [--counts]

CORPUS is neuroquery_dev as `neurowhere corpus import` wrote it. FOLDER then has the same peaks, and
the text of each article without its tables; with --counts, the counts of the same studies. Both are
for `paper_study.sh`.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from neurowhere.corpus import read_corpus
from setting import DATA

sys.path.insert(0, str(Path(__file__).parents[1]))
from recipe.sources import articles_of


def main():
    """Write the corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--counts", action="store_true", help="keep counts, and no text")
    arguments = parser.parse_args()
    corpus = read_corpus(arguments.corpus)
    texts = dict(articles_of(DATA, corpus))  # the last of several articles of a study
    rows = np.array(sorted(texts))
    chosen = corpus.select(rows)
    if not arguments.counts:
        sections = {"body": [texts[row] for row in rows.tolist()]}
        chosen = replace(chosen, sections=sections, counts=None, terms=None)
    chosen.save(arguments.output)
    print(f"{len(rows):,} studies with an article")


if __name__ == "__main__":
    main()
