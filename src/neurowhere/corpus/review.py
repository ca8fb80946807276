"""Check a corpus for problems, and summarise it."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.corpus.documents import PEAK_COLUMNS, XYZ
from neurowhere.exceptions import CorpusError, DataWarning

if TYPE_CHECKING:
    from neurowhere.corpus.corpus import Corpus

Mask = NDArray[np.bool_]

# Name of each problem: what is counted, and what is odd about it.
MEANINGS = {
    "duplicates": ("documents", "with the id of an earlier one"),
    "statistics": ("peaks", "made of statistics, not coordinates"),
    "columns": ("peaks", "in tables with one column read as two"),
    "voxels": ("peaks", "given as voxel indices"),
    "mirrored": ("peaks", "in tables with x and y mirrored"),
    "misplaced": ("peaks", "in tables mostly outside the brain"),
    "repeated": ("peaks", "that repeat a peak of the same document"),
    "outside": ("peaks", "outside any head"),
    "unsigned": ("documents", "whose coordinates are never negative"),
    "empty": ("documents", "without text or terms"),
    "without_peaks": ("documents", "without peaks"),
    "unknown_space": ("documents", "with peaks in a space that the source does not state"),
}
# Problems that a user may have dropped, and that are unless told otherwise.
DROPPABLE = tuple(name for name in MEANINGS if name != "unknown_space")
DROPPED = ("duplicates", "statistics", "columns", "misplaced")
# Problems that can be put right, and are unless told otherwise.
CONVERTIBLE = ("voxels", "mirrored")

# Field of view of the MNI152 template image, which holds the whole head, in mm.
HEAD_LOW_MM = np.array([-90.0, -126.0, -72.0])
HEAD_HIGH_MM = np.array([91.0, 91.0, 109.0])

# Peaks in mm are on both sides of the origin, which is near the middle of the brain; fewer
# peaks than these prove nothing.
MIN_PEAKS_OF_UNSIGNED_STUDY = 10
MIN_PEAKS_OF_UNSIGNED_CORPUS = 20

N_EXAMPLES = 3


@dataclass(frozen=True)
class Problem:
    """One kind of oddity in a corpus: how often it occurs, where, and what was done about it.

    >>> print(Problem("empty", 12, examples=("9405692", "9990082")))
    12 documents without text or terms (kept): 9405692, 9990082, ...
    """

    name: str
    count: int
    dropped: bool = False
    examples: tuple[str, ...] = ()
    converted: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether something was done about it, so that it is not found again."""
        return self.dropped or self.converted

    def __str__(self) -> str:
        unit, meaning = MEANINGS[self.name]
        unit = unit.removesuffix("s") if self.count == 1 else unit
        fate = "dropped" if self.dropped else "converted" if self.converted else "kept"
        examples = ", ".join(self.examples) + (", ..." if self.count > len(self.examples) else "")
        return f"{self.count:,} {unit} {meaning} ({fate}): {examples}"

    @classmethod
    def at(
        cls, name: str, ids: Iterable[Any], *, dropped: bool = False, converted: bool = False
    ) -> "Problem":
        """Count a problem, one of `MEANINGS`, by the document of each occurrence."""
        found = list(ids)
        examples = tuple(dict.fromkeys(map(str, found)))[:N_EXAMPLES]
        return cls(name, len(found), dropped, examples, converted)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Problem":
        """Make a problem from what `dataclasses.asdict`, and perhaps JSON, made of one."""
        return cls(**{**fields, "examples": tuple(fields["examples"])})


def duplicates_problem(ids: list[str], *, dropped: bool) -> tuple[Problem, ...]:
    """Record documents with the id of an earlier one, if there are any, and warn of them."""
    if not ids:
        return ()
    problem = Problem.at("duplicates", ids, dropped=dropped)
    warnings.warn(str(problem), DataWarning, stacklevel=3)
    return (problem,)


def check_names(names: Iterable[str], known: tuple[str, ...], action: str) -> frozenset[str]:
    """Return names of problems; an unknown one is an error that lists the known ones."""
    wanted = frozenset(names)
    unknown = sorted(wanted.difference(known))
    if unknown:
        raise CorpusError(f"cannot {action} {', '.join(unknown)}; choose among {', '.join(known)}")
    return wanted


def is_repeated(peaks: pd.DataFrame) -> Mask:
    """Return which peaks repeat an earlier one of their document, in any table."""
    return peaks.duplicated(PEAK_COLUMNS).to_numpy()


def is_outside(peaks: pd.DataFrame) -> Mask:
    """Return which peaks are outside the box `HEAD_LOW_MM` to `HEAD_HIGH_MM`."""
    xyz = peaks[XYZ].to_numpy(np.float64)  # (n_peaks, 3)
    return ~np.asarray(((xyz >= HEAD_LOW_MM) & (xyz <= HEAD_HIGH_MM)).all(axis=1))


def unsigned_studies(peaks: pd.DataFrame, rows: NDArray[np.intp], n: int) -> Mask:
    """Return which of n documents have many peaks, none of them with a negative coordinate.

    `rows` is the document of each peak. If no peak of a whole corpus is negative, and it has enough
    of them to tell, an error is raised.
    """
    unsigned = np.asarray((peaks[XYZ].to_numpy(np.float64) >= 0).all(axis=1))  # (n_peaks,)
    if len(unsigned) >= MIN_PEAKS_OF_UNSIGNED_CORPUS and unsigned.all():
        raise CorpusError(
            f"expected peaks in mm, but none of the {len(unsigned):,} peaks has a negative "
            "coordinate; if they are voxel indices, convert them with the affine of their image"
        )
    n_peaks = np.bincount(rows, minlength=n)  # (n_documents,)
    all_unsigned: Mask = np.bincount(rows[unsigned], minlength=n) == n_peaks
    return all_unsigned & (n_peaks >= MIN_PEAKS_OF_UNSIGNED_STUDY)


# In the order in which they are looked for: a document whose peaks all lie outside the head
# becomes one without peaks when these are dropped.
PEAK_PROBLEMS: dict[str, Callable[[pd.DataFrame], Mask]] = {
    "repeated": is_repeated,
    "outside": is_outside,
}
DOCUMENT_PROBLEMS: dict[str, Callable[["Corpus"], Mask]] = {
    "unsigned": lambda corpus: unsigned_studies(corpus.peaks, corpus.peak_rows, len(corpus)),
    "empty": lambda corpus: corpus.is_empty,
    "without_peaks": lambda corpus: corpus.n_peaks == 0,
    "unknown_space": lambda corpus: (
        (corpus.documents["space"] == "unknown").to_numpy() & (corpus.n_peaks > 0)
    ),
}


def review(corpus: "Corpus", drop: Iterable[str] = ()) -> "Corpus":
    """Look for problems, drop those that are named, and record all that was found.

    `drop` are names among `DROPPABLE`. Problems that were settled while the corpus was read stay on
    record; the others are looked for again.
    """
    names = check_names(drop, DROPPABLE, "drop")
    looked_for = (*PEAK_PROBLEMS, *DOCUMENT_PROBLEMS)
    found = [known for known in corpus.problems if known.is_settled or known.name not in looked_for]
    for name in looked_for:
        corpus, problem = _looked_at(corpus, name, drop=name in names)
        found.append(problem)
    found = list(filter(attrgetter("count"), found))
    if not len(corpus):
        raise CorpusError(f"no document is left; {'; '.join(map(str, found)) or 'none was there'}")
    # The others are common in real corpora; this one is likely an error.
    for problem in filter(lambda each: each.name == "unsigned" and not each.dropped, found):
        warnings.warn(str(problem), DataWarning, stacklevel=3)
    return replace(corpus, problems=tuple(found))


def _looked_at(corpus: "Corpus", name: str, *, drop: bool) -> tuple["Corpus", Problem]:
    """Count a problem; return the corpus without its peaks or documents if they are dropped."""
    if name in PEAK_PROBLEMS:
        bad = PEAK_PROBLEMS[name](corpus.peaks)
        problem = Problem.at(name, corpus.peaks["id"][bad], dropped=drop)
        if drop and bad.any():
            corpus = replace(corpus, peaks=corpus.peaks[~bad].reset_index(drop=True))
        return corpus, problem
    bad = DOCUMENT_PROBLEMS[name](corpus)
    problem = Problem.at(name, corpus.documents["id"][bad], dropped=drop)
    return corpus.select(~bad) if drop and bad.any() else corpus, problem


# ---- a corpus at a glance

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

    `peaks_per_document` has the minimum, the quartiles and the maximum over the documents with
    peaks, `spaces` the documents by stated space, `years` the first, median and last year and how
    many documents have one, `content` the documents that have a text, or counts, of each section,
    and `terms` the documents that mention the most frequent terms or words.
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
        """Return plain data, ready for JSON; each problem is also there as a sentence."""
        problems = [{**asdict(problem), "says": str(problem)} for problem in self.problems]
        return {**asdict(self), "problems": problems}

    def to_text(self) -> str:
        """Return lines to read, a label before each."""
        return "\n".join(f"{label:<12}{line}".rstrip() for label, line in self._lines())

    def _lines(self) -> Iterator[tuple[str, str]]:
        if "format" in self.origin:
            yield "from", f"{self.origin['format']} ({self.origin.get('source', '')})"
        yield "documents", f"{self.documents:,}"
        yield "peaks", f"{self.peaks:,}"
        if self.peaks:
            low, first, median, third, high = (f"{n:g}" for n in self.peaks_per_document.values())
            yield "per study", f"median {median}, half in {first}-{third}, range {low}-{high}"
        yield "space", _numbered(self.spaces)
        if self.years:
            years = "{first}-{last}, median {median} (known for {known:,})"
            yield "years", years.format(**self.years)
        yield "content", _numbered(self.content) or "none"
        yield "frequent", _numbered(self.terms) or "none"
        yield from _labelled("problems", list(map(str, self.problems)) or ["none found"])
        yield from _labelled("warnings", self.origin.get("warnings", []))


def _numbered(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _labelled(label: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Put a label before the first of some lines."""
    return zip([label, *[""] * len(lines)], lines, strict=False)


def summarise(corpus: "Corpus") -> Summary:
    """Sum up a corpus."""
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


def _peaks_per_document(corpus: "Corpus") -> dict[str, float]:
    n_peaks = corpus.n_peaks[corpus.n_peaks > 0]
    if not n_peaks.size:
        return {}
    return {name: float(np.quantile(n_peaks, q)) for name, q in QUANTILES.items()}


def _spaces(corpus: "Corpus") -> dict[str, int]:
    """Count documents by stated space; Talairach tells whether it was converted."""
    stated, now = corpus.documents["source_space"], corpus.documents["space"]
    labels = stated.where(stated == now, stated + " converted to " + now)
    return {str(label): int(count) for label, count in labels.value_counts().items()}


def _years(corpus: "Corpus") -> dict[str, int] | None:
    years = corpus.documents["year"].dropna() if "year" in corpus.documents else ()
    if not len(years):
        return None
    first, median, last = np.quantile(np.asarray(years, dtype=int), [0, 0.5, 1], method="lower")
    return {"first": int(first), "median": int(median), "last": int(last), "known": len(years)}


def _content(corpus: "Corpus") -> dict[str, int]:
    texts = {
        f"{name} texts": sum(bool(text.strip()) for text in texts)
        for name, texts in (corpus.sections or {}).items()
    }
    counts = {
        f"{name} counts": int(np.count_nonzero(np.diff(matrix.indptr)))
        for name, matrix in (corpus.counts or {}).items()
    }
    return texts | counts


def _frequent_terms(corpus: "Corpus") -> dict[str, int]:
    """Return the terms that most documents mention in any section; without counts, words."""
    if not corpus.counts:
        return _frequent_words(corpus)
    total: Any = sum(corpus.counts.values())  # (n_documents, n_terms)
    mentions = np.bincount(total.nonzero()[1], minlength=total.shape[1])  # (n_terms,)
    best = np.argsort(-mentions, kind="stable")[:N_TERMS]
    terms = corpus.terms or []
    return {terms[column]: int(mentions[column]) for column in best if mentions[column]}


def _frequent_words(corpus: "Corpus") -> dict[str, int]:
    """Return the words that most documents have in title, abstract, keywords, or else the body."""
    sections = corpus.sections or {}
    parts = [texts for name, texts in sections.items() if name != "body"] or sections.values()
    words: Counter[str] = Counter()
    stop_words = set(STOP_WORDS.split())
    for texts in zip(*parts, strict=True):
        words.update(set(WORD.findall(" ".join(texts).lower())) - stop_words)
    # Ties go by the alphabet, so that two runs print the same.
    return dict(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:N_TERMS])
