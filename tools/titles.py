"""Write the titles of NeuroQuery's studies to the file that the package ships.

    python tools/titles.py METADATA.tsv.gz

The file has one row per study: its PubMed id, a tab, and its title.
"""

import gzip
import sys

import pandas as pd

from neurowhere.model.titles import TITLES


def main(source):
    """Write ids and titles, sorted by id; the same table gives the same bytes."""
    table = pd.read_csv(source, sep="\t", dtype=str).dropna(subset=["id", "title"])
    titles = table["title"].str.split().str.join(" ")
    rows = sorted(zip(table["id"].astype(int), titles, strict=True))
    lines = "".join(f"{study}\t{title}\n" for study, title in rows)
    TITLES.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))
    print(f"{len(rows):,} titles, {TITLES.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
