"""How well, and how fast, coordinates are read from JATS articles: ours beside pubget's own steps.

Run ``python benchmarks/jats_extraction.py [DATA]``; DATA holds ``jats/`` (default ../shared/data).
"""

import contextlib
import io
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from neurowhere.corpus.documents import Document
from neurowhere.corpus.readers import jats, pubget

DATA = Path(__file__).parents[2] / "shared" / "data"
Peaks = set[tuple[float, ...]]


def main(data: Path) -> None:
    folder = data / "jats" / "pmc_with_expected"
    expected = {path.name: read_expected(path) for path in sorted(folder.iterdir())}
    list(jats.iter_documents(next(folder.rglob("*.xml"))))  # imports and stylesheets, not timed
    ours, our_seconds = timed(lambda: jats.iter_documents(folder))
    theirs, their_seconds = timed(lambda: run_pubget(folder))
    print(f"{'article':>10} {'expected':>8} {'found':>6} {'precision':>9} {'recall':>7}  space")
    for name, (peaks, space) in expected.items():
        found = as_set(ours[name].peaks)
        agreement = f"{ours[name].space} (expected {space})"
        print(f"{name:>10} {len(peaks):8d} {scores(found, peaks)}  {agreement}")
    print()
    print(f"{'all articles':>28} {'found':>6} {'precision':>9} {'recall':>7}  {'articles/s':>10}")
    for label, documents, seconds in (
        ("neurowhere", ours, our_seconds),
        ("pubget to CSV, read back", theirs, their_seconds),
    ):
        found = labelled((name, document.peaks) for name, document in documents.items())
        total = labelled((name, np.array(sorted(peaks))) for name, (peaks, _) in expected.items())
        rate = len(documents) / seconds
        print(f"{label:>28} {scores(found, total)}  {rate:10.1f}")
    compare_elife(data / "jats" / "elife_dev")


def compare_elife(folder: Path) -> None:
    """Compare the articles without a PubMed Central number with pubget's coordinates."""
    table = pd.read_csv(folder / "pubget_extracted_coordinates.csv")
    expected = labelled(
        (str(n), rows[["x", "y", "z"]].to_numpy()) for n, rows in table.groupby("file")
    )
    files = sorted(folder.glob("*.xml"))
    start = time.perf_counter()
    found = labelled((file.name, next(jats.iter_documents(file)).peaks) for file in files)
    rate = len(files) / (time.perf_counter() - start)
    print(f"{'neurowhere, eLife':>28} {scores(found, expected)}  {rate:10.1f}")


def read_expected(folder: Path) -> tuple[Peaks, str]:
    peaks = pd.read_csv(folder / "expected_coordinates.csv")[["x", "y", "z"]].to_numpy()
    metadata = json.loads((folder / "expected_metadata.json").read_text("utf-8"))
    return as_set(peaks), metadata["coordinate_space"]


def timed(read: Callable[[], Iterable[Document]]) -> tuple[dict[str, Document], float]:
    start = time.perf_counter()
    documents = {document.id: document for document in read()}
    return documents, time.perf_counter() - start


def run_pubget(folder: Path) -> list[Document]:
    """Run pubget's steps as its command does, through files, and read what they write."""
    from pubget import extract_articles, extract_data_to_csv

    with tempfile.TemporaryDirectory() as temporary:
        articlesets = Path(temporary, "articlesets")
        articlesets.mkdir()
        (articlesets / "info.json").write_text('{"is_complete": true}')
        for number, file in enumerate(sorted(folder.rglob("*.xml"))):
            article = file.read_text("utf-8")
            article = article[article.index("<article") :]
            target = articlesets / f"articleset_{number:05d}.xml"
            target.write_text(f"<pmc-articleset>{article}</pmc-articleset>", "utf-8")
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"pubget\.")
            articles, _ = extract_articles(articlesets)
            extracted, _ = extract_data_to_csv(articles)
        return list(pubget.iter_documents(extracted))


def as_set(peaks: np.ndarray) -> Peaks:
    return {tuple(peak) for peak in peaks.astype(float).tolist()}


def labelled(parts: Iterable[tuple[str, np.ndarray]]) -> set[tuple[str, tuple[float, ...]]]:
    """Coordinates of several articles as one set, each with its article."""
    return {(name, peak) for name, peaks in parts for peak in as_set(peaks)}


def scores(found: set, expected: set) -> str:
    common = len(found & expected)
    precision = common / len(found) if found else float("nan")
    recall = common / len(expected) if expected else float("nan")
    return f"{len(found):6d} {precision:9.3f} {recall:7.3f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
