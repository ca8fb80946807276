"""Frozen lists of studies: their ids, with fingerprints of the words and peaks that belong to them.

A list is a table, perhaps compressed, with the columns

- `id`: PubMed id;
- `words`, `peaks`: fingerprints of the title and the term counts or texts, and of the peaks;
- `pmcid`, `phrases`, empty for a study without an open article: its id in PubMed Central, and
  fingerprints of a few of its phrases of five words, by which another download is recognised.
"""

import csv
import hashlib
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import digest, open_text
from neurowhere.corpus import Corpus
from neurowhere.exceptions import CorpusError, DataWarning

Hashes = NDArray[np.uint64]

SHIPPED = ("neuroquery",)
COLUMNS = ("id", "words", "peaks", "pmcid", "phrases")
N_WORDS, N_PHRASES = 5, 3  # words of a phrase; phrases of an article
LONG = 10  # letters of the first word of a phrase
DIGITS, PHRASE_DIGITS = 4, 6  # hexadecimal, of each fingerprint
ENOUGH = 2  # phrases that another download of an article has to have
WORD = re.compile(r"[a-z]{2,}")
DECIMETRES = 10  # peaks are compared to 0.1 mm


def hash_of(text: str) -> int:
    """Return the first 64 bits of the SHA-256 of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def fingerprints(corpus: Corpus) -> tuple[Hashes, Hashes]:
    """Return fingerprints of the words and of the peaks of each document, (n_documents,) each.

    They depend on neither the order of the terms, nor that of the peaks, nor other documents.
    """
    words = np.array([hash_of(_plain(title)) for title in corpus.documents["title"]], np.uint64)
    for section, texts in (corpus.sections or {}).items():
        words += np.array([hash_of(section + text) if text else 0 for text in texts], np.uint64)
    for section, counts in (corpus.counts or {}).items():
        words += _hashes_of_counts(section, sparse.csr_matrix(counts), corpus.terms or [])
    xyz = np.round(corpus.peaks[["x", "y", "z"]].to_numpy(np.float64) * DECIMETRES).astype(np.int64)
    unique, of = np.unique(xyz, axis=0, return_inverse=True)
    hashes = np.array([hash_of(repr(each)) for each in unique.tolist()], np.uint64)
    peaks = np.zeros(len(corpus), np.uint64)
    np.add.at(peaks, corpus.peak_rows, hashes[of.ravel()])
    return words, peaks


def _hashes_of_counts(section: str, counts: sparse.csr_matrix, terms: list[str]) -> Hashes:
    """Return the sum over terms of their hash times their count, of each document."""
    hashes = np.zeros(len(terms), np.uint64)
    used = np.unique(counts.indices)
    hashes[used] = [hash_of(f"{section}\n{terms[i]}") for i in used.tolist()]
    found = np.zeros(counts.shape[0], np.uint64)
    rows = np.repeat(np.arange(len(found)), np.diff(counts.indptr))
    np.add.at(found, rows, hashes[counts.indices] * counts.data.astype(np.uint64))
    return found


def _plain(title: object) -> str:
    return " ".join(WORD.findall(str(title).lower()))


def phrases_of(text: str) -> list[str]:
    """Return fingerprints of the phrases of a text whose hashes are lowest, without repeats."""
    return sorted(_phrases(text))[:N_PHRASES]


def _phrases(text: str) -> set[str]:
    """Return fingerprints of all phrases that begin with a long word, which are rare."""
    words = WORD.findall(text.lower())
    runs = {tuple(words[i : i + N_WORDS]) for i, word in enumerate(words) if len(word) >= LONG}
    return {digest(" ".join(run))[:PHRASE_DIGITS] for run in runs}


class StudyList(NamedTuple):
    """A frozen list of studies."""

    name: str
    rows: dict[str, dict[str, str]]  # by id

    @classmethod
    def read(cls, source: str | os.PathLike[str]) -> "StudyList":
        """Read a list: the name of one that is shipped, or a CSV file, perhaps .gz or .xz."""
        if str(source) in SHIPPED:
            with as_file(files("neurowhere.evaluate") / f"{source}.csv.xz") as path:
                return cls(str(source), _read(path))
        path = Path(source)
        if not path.is_file():
            raise CorpusError(f"expected {', '.join(SHIPPED)} or a file of ids, got {source}")
        return cls(path.name.split(".")[0], _read(path))

    def select(self, corpus: Corpus) -> Corpus:
        """Return the studies of the list in its order; refuse any that differ from what it says."""
        row_of = {name: i for i, name in enumerate(corpus.documents["id"].astype(str))}
        if missing := [name for name in self.rows if name not in row_of]:
            raise self._refused(missing, "are not in the corpus")
        kept = corpus.select([row_of[name] for name in self.rows])
        for column, found in zip(("words", "peaks"), fingerprints(kept), strict=True):
            pairs = zip(self.rows.items(), found.tolist(), strict=True)
            if other := [
                name for (name, row), own in pairs if row[column] not in ("", _short(own))
            ]:
                raise self._refused(other, f"have other {column}")
        return kept

    def _refused(self, names: list[str], what: str) -> CorpusError:
        return CorpusError(
            f"{len(names):,} of the {len(self.rows):,} studies of the list {self.name} {what}, "
            f"first {names[0]}; get the corpus as docs/benchmark.md says"
        )

    def matching(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the articles that have the phrases of the list; others are left out, and counted.

        Ids are those of PubMed, or of PubMed Central; those that are returned are of PubMed.
        """
        own = [name for name, row in self.rows.items() if row["phrases"]]
        given = {name: texts.get(name) or texts.get(self.rows[name]["pmcid"], "") for name in own}
        kept = {name: text for name, text in given.items() if self._has_phrases(name, text)}
        if texts and len(kept) < len(own):
            missing = sum(not text for text in given.values())
            warnings.warn(
                f"{len(kept):,} of {len(own):,} articles of the list {self.name} are used: "
                f"{len(own) - len(kept) - missing:,} have another text, {missing:,} are missing",
                DataWarning,
                stacklevel=4,
            )
        return kept

    def _has_phrases(self, name: str, text: str) -> bool:
        phrases = self.rows[name]["phrases"].split()
        return len(_phrases(text).intersection(phrases)) >= min(ENOUGH, len(phrases))


def _short(fingerprint: int) -> str:
    return f"{fingerprint:016x}"[:DIGITS]


def _read(path: Path) -> dict[str, dict[str, str]]:
    with open_text(path) as stream:
        table = csv.DictReader(stream)
        if missing := {"id"}.difference(table.fieldnames or ()):
            raise CorpusError(f"expected columns {', '.join(COLUMNS)} in {path}, {missing} is not")
        rows = [{name: row.get(name) or "" for name in COLUMNS} for row in table]
    if not rows:
        raise CorpusError(f"expected ids of studies in {path}, but there are none")
    return {row["id"]: row for row in rows}


def lines_of(
    corpus: Corpus, articles: Mapping[str, str], pmcids: Mapping[str, str]
) -> Iterable[str]:
    """Yield the lines of the list of a corpus, in the order of the ids."""
    yield ",".join(COLUMNS)
    found = zip(corpus.documents["id"].astype(str), *fingerprints(corpus), strict=True)
    for name, words, peaks in sorted(found, key=lambda row: (len(row[0]), row[0])):
        phrases = " ".join(phrases_of(articles[name])) if name in articles else ""
        yield f"{name},{_short(words)},{_short(peaks)},{pmcids.get(name, '')},{phrases}"
