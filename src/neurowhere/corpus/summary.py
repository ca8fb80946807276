"""A corpus in a few lines: summed up as plain data, then rendered as text."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.problems import Problem

N_TERMS = 20
QUANTILES = {"min": 0.0, "quartile1": 0.25, "median": 0.5, "quartile3": 0.75, "max": 1.0}
WORD = re.compile(r"[^\W\d_]{3,}")
# Words that say nothing of a study; the counts of NeuroQuery leave them out too.
STOP_WORDS = """
about after all also although among and are been between both but can could did does due during
each either for from had has have here how however into its may might more most not one only other
our out over some such than that the their them then there these they this those three through two
under using was were what when where whereas whether which while who will with within without would
"""


@dataclass(frozen=True)
class Summary:
    """What there is to know about a corpus at a glance.

    Attributes
    ----------
    documents, peaks : int
        How many there are.
    peaks_per_document : dict of float
        Minimum, quartiles and maximum, over the documents that have peaks.
    spaces : dict of int
        Documents by the space that their source states.
    years : dict of int, or None
        First, median and last year, and how many documents have one.
    content : dict of int
        Documents that have a text, or counts, of each section.
    terms : dict of int
        Most frequent terms, or words of the texts, and the documents that mention them.
    problems : tuple of Problem
    origin : dict
    """

    documents: int
    peaks: int
    peaks_per_document: dict[str, float]
    spaces: dict[str, int]
    years: dict[str, int] | None
    content: dict[str, int]
    terms: dict[str, int]
    problems: tuple[Problem, ...]
    origin: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON.

        Returns
        -------
        dict
            Each problem is also there as a sentence.
        """
        problems = [{**asdict(problem), "says": str(problem)} for problem in self.problems]
        return {**asdict(self), "problems": problems}

    def to_text(self) -> str:
        """Return lines to read, a label before each.

        Returns
        -------
        str
        """
        return "\n".join(f"{label:<12}{line}".rstrip() for label, line in self._lines())

    def _lines(self) -> Iterator[tuple[str, str]]:
        if "format" in self.origin:
            yield "from", f"{self.origin['format']} ({self.origin.get('source', '')})"
        yield "documents", f"{self.documents:,}"
        yield "peaks", f"{self.peaks:,}"
        if self.peaks:
            low, first, median, third, high = (f"{n:g}" for n in self.peaks_per_document.values())
            yield "per study", f"median {median}, half in {first}-{third}, range {low}-{high}"
        yield "space", ", ".join(f"{name} {count:,}" for name, count in self.spaces.items())
        if self.years:
            yield (
                "years",
                "{first}-{last}, median {median} (known for {known:,})".format(**self.years),
            )
        yield "content", ", ".join(f"{name} {n:,}" for name, n in self.content.items()) or "none"
        yield "frequent", ", ".join(f"{term} {n:,}" for term, n in self.terms.items()) or "none"
        for label, items in (
            ("problems", [str(problem) for problem in self.problems] or ["none found"]),
            ("warnings", self.origin.get("warnings", [])),
        ):
            for item in items:
                yield label, item
                label = ""


def summarise(corpus: Corpus) -> Summary:
    """Sum up a corpus.

    Parameters
    ----------
    corpus : Corpus

    Returns
    -------
    Summary
    """
    return Summary(
        documents=len(corpus),
        peaks=len(corpus.peaks),
        peaks_per_document=_peaks_per_document(corpus),
        spaces=_spaces(corpus),
        years=_years(corpus),
        content=_content(corpus),
        terms=_frequent_terms(corpus),
        problems=corpus.problems,
        origin=corpus.origin,
    )


def _peaks_per_document(corpus: Corpus) -> dict[str, float]:
    n_peaks = corpus.n_peaks[corpus.n_peaks > 0]
    if not n_peaks.size:
        return {}
    return {name: float(np.quantile(n_peaks, q)) for name, q in QUANTILES.items()}


def _spaces(corpus: Corpus) -> dict[str, int]:
    """Count documents by stated space; Talairach tells whether it was converted."""
    stated, now = corpus.documents["source_space"], corpus.documents["space"]
    labels = stated.where(stated == now, stated + " converted to " + now)
    return {str(label): int(count) for label, count in labels.value_counts().items()}


def _years(corpus: Corpus) -> dict[str, int] | None:
    years = corpus.documents["year"].dropna() if "year" in corpus.documents else ()
    if not len(years):
        return None
    first, median, last = np.quantile(np.asarray(years, dtype=int), [0, 0.5, 1], method="lower")
    return {"first": int(first), "median": int(median), "last": int(last), "known": len(years)}


def _content(corpus: Corpus) -> dict[str, int]:
    texts = {
        f"{name} texts": sum(bool(text.strip()) for text in texts)
        for name, texts in (corpus.sections or {}).items()
    }
    counts = {
        f"{name} counts": int(np.count_nonzero(np.diff(matrix.indptr)))
        for name, matrix in (corpus.counts or {}).items()
    }
    return texts | counts


def _frequent_terms(corpus: Corpus) -> dict[str, int]:
    """Return the terms that most documents mention in any section; without counts, words."""
    if not corpus.counts:
        return _frequent_words(corpus)
    total: Any = sum(corpus.counts.values())  # (n_documents, n_terms)
    mentions = np.bincount(total.nonzero()[1], minlength=total.shape[1])  # (n_terms,)
    best = np.argsort(-mentions, kind="stable")[:N_TERMS]
    terms = corpus.terms or []
    return {terms[column]: int(mentions[column]) for column in best if mentions[column]}


def _frequent_words(corpus: Corpus) -> dict[str, int]:
    """Return the words that most documents have in title, abstract, keywords, or else the body."""
    sections = corpus.sections or {}
    parts = [texts for name, texts in sections.items() if name != "body"] or sections.values()
    words: Counter[str] = Counter()
    stop_words = set(STOP_WORDS.split())
    for texts in zip(*parts, strict=True):
        words.update(set(WORD.findall(" ".join(texts).lower())) - stop_words)
    # Ties go by the alphabet, so that two runs print the same.
    return dict(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:N_TERMS])
