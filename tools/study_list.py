"""Write the frozen list of the studies of the open benchmark, which the package ships.

    python tools/study_list.py DATA -o src/neurowhere/evaluate/neuroquery.csv.xz

DATA is a folder with NeuroQuery's public release and with articles in JSON lines (id, text), where
the text begins with the article's ids: ``fulltext_dev.jsonl.xz`` of the development data.
"""

import argparse
import lzma
import re
from pathlib import Path

from neurowhere.corpus import read_corpus
from neurowhere.evaluate.protocol import texts_by_id
from neurowhere.evaluate.studies import lines_of

ARTICLES = "fulltext_dev.jsonl.xz"
IDS = r"\b{}\s+(?:PMC)?(\d{{5,8}})\b"  # PubMed id, id in PubMed Central
HEADER = 2000  # characters of an article that may hold its ids


def main():
    """Write the list, and print its size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    corpus = read_corpus(arguments.data, format="neuroquery")
    articles = texts_by_id(read_corpus(arguments.data / ARTICLES))
    headers = ((name, re.search(IDS.format(name), articles[name][:HEADER])) for name in articles)
    pmcids = {name: found[1] for name, found in headers if found}
    lines = list(lines_of(corpus, articles, pmcids))
    with lzma.open(arguments.output, "wt", encoding="utf-8", preset=9) as stream:
        stream.write("\n".join(lines) + "\n")
    size = arguments.output.stat().st_size
    print(f"{len(lines) - 1:,} studies, {len(pmcids):,} ids of PubMed Central, {size:,} bytes")


if __name__ == "__main__":
    main()
