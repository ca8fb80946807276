"""Reading: texts as a model reads them, with the terms that they affirm and the sides of these.

An article reports in its results; introduction and methods dilute what it says of where. A sentence
that points to a figure reports; one that cites others, or denies, does less so. The log weight of a
place is the sum of that of its section and those of what its sentence says.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.exceptions import TextError
from neurowhere.learn.exponent import N_SECTIONS, Gates
from neurowhere.model.counted import (
    ROW,
    Counted,
    Placeless,
    RowCounter,
    Rows,
    joined,
    placeless_of,
    read_in_pieces,
    rows_of,
)
from neurowhere.text import TermCounter, TermExtractor, TfIdf, Vocabulary
from neurowhere.text.kinds import Kind, report_gate
from neurowhere.text.reading.mentions import Mention, Mentions, read_mentions
from neurowhere.text.sections import Section, places_of, section_cuts
from neurowhere.text.words import without_markup

ANATOMY = 1.73  # factor of the names of structures in an article
EXTRA_POWER = 0.5  # of the short gate, in the factor of extra words
EXPECTED_TEXT = "expected a text as a str"
QUERY = 2  # words of a text that may be nothing but an extra one
LEAST_OPEN = 0.05  # of the long gate; a text below is no article
BESIDE_LEARNED = 0.5  # weight of a rule for a name that the model knows
LISTED = 500_000  # characters whose mentions are listed; what follows counts all the same


@dataclass(frozen=True)
class Reader:
    """How a model reads texts.

    Attributes
    ----------
    negation : bool
        Whether what a text denies is left out.
    sides : bool
        Whether structures move to the sides that a text gives them.
    findings : bool
        Whether sections of a report that hold no findings (technique, indication, history,
        comparison, plan, affiliations) are left out.
    hedge_weight : float
        Weight of what a text leaves open ("possible", "cannot be excluded"), 1 for that of others.
    kind : "report" or "study", optional
        Formula of the map; by default that of what a text seems to be.
    """

    negation: bool = True
    sides: bool = True
    findings: bool = True
    hedge_weight: float = 1.0
    kind: Kind | None = None

    def report_gate(self, text: str) -> float:
        """Return how far a text is drawn as a report, from 0 to 1."""
        return report_gate(text) if self.kind is None else float(self.kind == "report")

    def pieces(self, text: str, counter: TermCounter) -> Iterator[tuple[int, Mentions]]:
        """Find the terms of a text, and what it says of them: from where on, and the mentions."""
        read = partial(
            read_mentions,
            counter=counter,
            negation=self.negation,
            sections=self.findings,
            hedge_weight=self.hedge_weight,
        )
        return read_in_pieces(without_markup(text), read)


@dataclass(frozen=True, eq=False)
class Readings:
    """Some texts as a model reads them.

    Attributes
    ----------
    mentions : list of Mentions
        What was read in each text, or in the first part of a very long one.
    listed : list of int or None
        Characters of each text in which mentions are listed; None for all.
    counted : Counted, optional
        Mentions of the texts that count; none for a model of the mean map, which reads nothing.
    features : csr_matrix of shape (n_texts, n_terms)
        Features x of the terms that the texts affirm.
    gates : list of float
        How far each text is drawn as a report, from 0 to 1.
    """

    mentions: list[Mentions]
    listed: list[int | None]
    counted: Counted | None
    features: sparse.csr_matrix
    gates: list[float]

    @classmethod
    def read(
        cls, texts: Sequence[str], extractor: TermExtractor, weighting: TfIdf, reader: Reader
    ) -> "Readings":
        """Find the terms of texts, and weigh those that the texts affirm."""
        parts = [_read_text(text, extractor, reader) for text in texts]
        n_rows = [len(part.rows) for part in parts]
        rows = np.concatenate([np.empty(0, ROW), *(part.rows for part in parts)])
        number = np.repeat(np.arange(len(parts)), n_rows)
        counter = RowCounter(rows, number, len(parts), extractor)
        counts = counter.count()
        if isinstance(weighting, GatedTfIdf):
            short, long = weighting.gates.of(counts, N_SECTIONS)
            _weigh_lesions(rows, number, extractor, short.astype(float))
            of_texts = np.split(rows, np.cumsum(n_rows)[:-1])
            for text, some, gate in zip(texts, of_texts, long, strict=True):
                _weigh_as_article(text, some, float(gate))
            counts = counter.count()
        n_words = [len(text.split(maxsplit=QUERY)) for text in texts]  # of a query, or more
        is_query = np.array(n_words, dtype=int) <= QUERY
        features = _carrying(weighting.transform(counts), extractor, is_query)
        present = rows["is_present"]
        placeless = [part.placeless for part in parts]
        counted = Counted(rows[present], number[present], placeless, extractor)
        return cls(
            [part.mentions for part in parts],
            [part.listed for part in parts],
            counted,
            features,
            [reader.report_gate(text) for text in texts],
        )

    @classmethod
    def unread(cls, texts: Sequence[str]) -> "Readings":
        """Return the readings of texts that do not matter."""
        nothing = sparse.csr_matrix(np.zeros((len(texts), 0), dtype=np.float32))
        return cls(
            [Mentions(())] * len(texts), [None] * len(texts), None, nothing, [0.0] * len(texts)
        )

    def __len__(self) -> int:
        return len(self.mentions)

    def only(self, row: int) -> "Readings":
        """Return the readings of one of the texts."""
        return Readings(
            [self.mentions[row]],
            [self.listed[row]],
            self.counted and self.counted.only(row),
            self.rows[row],
            [self.gates[row]],
        )

    @cached_property
    def rows(self) -> list[sparse.csr_matrix]:
        """Features of each text: (1, n_terms)."""
        if len(self) == 1:
            return [self.features]
        return [self.features[row] for row in range(len(self))]


class _Part(NamedTuple):
    """A text that was read, before its mentions are weighed; see `Readings`."""

    mentions: Mentions
    listed: int | None
    rows: Rows
    placeless: Placeless


def _read_text(text: str, extractor: TermExtractor, reader: Reader) -> _Part:
    """Read a text, a piece at a time; mentions of the first pieces are kept as such."""
    listed: list[Mentions] = []
    pieces: list[Rows] = []
    placeless, end = Placeless(), None
    for start, mentions in reader.pieces(text, extractor.counter):
        implied = _implied(mentions, extractor)
        pieces.append(rows_of(mentions.found, extractor, implied))
        placeless = placeless.plus(placeless_of(mentions, implied))
        if start < LISTED:
            listed.append(mentions)
        elif end is None:
            end = start
    rows = np.concatenate(pieces)
    if len(pieces) > 1:  # as in a text that is read at once
        rows = rows[np.argsort(rows["is_implied"], kind="stable")]
    return _Part(joined(listed), end, rows, placeless)


class GatedTfIdf(TfIdf):
    """Weights of terms that depend on the number of known terms in a text.

    With c the count of a term and w its weight, x ∝ s(c) · w as in `TfIdf`, times 1.73^h for names
    of structures, and times √g for extra words, with g and h the gates of the text
    (`neurowhere.learn.exponent`).

    Parameters
    ----------
    idf : array of shape (n_terms,)
    is_extra, is_anatomy : array of shape (n_terms,)
    """

    def __init__(
        self,
        idf: NDArray[np.floating],
        is_extra: NDArray[np.bool_],
        is_anatomy: NDArray[np.bool_],
    ) -> None:
        self.idf_ = np.asarray(idf, dtype=np.float32)
        self.gates = Gates(is_extra)
        self.is_anatomy = is_anatomy

    @classmethod
    def of_vocabulary(
        cls, idf: NDArray[np.floating], vocabulary: Vocabulary, terms: Sequence[str]
    ) -> "GatedTfIdf":
        """Make the weighting of terms by their categories."""
        categories = np.array([vocabulary.category(term) for term in terms])
        return cls(idf, categories == "extra", categories == "anatomy")

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        short, long = (np.repeat(gate, np.diff(counts.indptr)) for gate in self.gates.of(counts))
        weighted = super()._weigh(counts)
        columns = weighted.indices
        weighted.data *= np.where(self.is_anatomy[columns], ANATOMY**long, 1)
        weighted.data *= np.where(self.gates.is_extra[columns], short**EXTRA_POWER, 1)
        return weighted


def _implied(mentions: Mentions, extractor: TermExtractor) -> list[Mention]:
    """Return the structures that rules point to.

    Each stands where the name stands, on the side that the rule gives it. Where the name is a term
    of the model too, rules count half: what was learned counts beside them.
    """
    if not mentions.rule_based:
        return []
    starts = {mention.start for mention in mentions.rule_based}
    named = (mention for mention in mentions.found if mention.start in starts)
    known = {(mention.start, mention.end) for mention in named}
    return [
        implied
        for mention in mentions.rule_based
        if mention.is_present
        for implied in _implied_by(mention, (mention.start, mention.end) in known, extractor)
    ]


def _implied_by(mention: Mention, is_known: bool, extractor: TermExtractor) -> Iterator[Mention]:
    """Yield the structures that one name points to."""
    weight = mention.weight * (BESIDE_LEARNED if is_known else 1)
    for structure in mention.implied:
        if structure.term in extractor.vocabulary:
            yield Mention(
                structure.term,
                mention.start,
                mention.end,
                side=structure.side,
                dominant=mention.dominant if structure.side == "bilateral" else None,
                is_structure=True,
                weight=structure.weight * weight,
            )


def _weigh_lesions(
    rows: Rows, number: NDArray[np.intp], extractor: TermExtractor, gates: NDArray[np.float64]
) -> None:
    """Weigh words such as "infarct" by (1 − g)² in the texts that name a structure.

    Studies of infarcts report the motor cortex more than other places; "occipital infarct" does
    not. Kinds of parts, as "lobe", weigh as little in all texts.
    """
    is_kind = rows["is_structure"] & extractor.is_generic[rows["term"]]
    names = rows["is_structure"] & rows["is_present"] & ~is_kind
    has_name = np.bincount(number[names], minlength=len(gates)) > 0
    light = is_kind | (has_name[number] & extractor.is_lesion[rows["term"]])
    rows["weight"][light] *= (1 - gates[number[light]]) ** 2


def _weigh_as_article(text: str, rows: Rows, gate: float) -> None:
    """Weigh the mentions of a text by their places, as far as it is long: by exp(h v)."""
    if gate > LEAST_OPEN:
        weights = place_weights(text, rows["start"], rows["term"], rows["is_structure"])
        rows["weight"] *= np.exp(gate * weights)


def _carrying(
    features: sparse.csr_matrix, extractor: TermExtractor, is_query: NDArray[np.bool_]
) -> sparse.csr_matrix:
    """Return the features without the texts whose only known words are generic ones.

    "The quick brown fox" says nothing of the brain, although some study says "brown". A query of a
    few words may have no more than an extra one: "being hungry".
    """
    carries = features @ (~extractor.is_generic).astype(np.float32) > 0
    carries |= is_query & (features @ extractor.is_extra.astype(np.float32) > 0)
    if not carries.all():
        features = sparse.csr_matrix(sparse.diags_array(carries.astype(np.float32)) @ features)
    features.sort_indices()  # in whatever company a text is read, its terms have one order
    return features


def as_items(X: Iterable[Any]) -> Iterable[Any]:
    """Return texts, or what stands for them, as they are; one string is not a sequence of texts."""
    if isinstance(X, str):
        raise TextError(
            "expected a list of texts, got one string; put it in a list, or call encode(text)"
        )
    return X


def as_texts(X: Iterable[str]) -> Iterator[str]:
    """Yield texts; anything else is refused where it comes."""
    for number, text in enumerate(as_items(X)):
        if problem := no_text(text):
            raise TextError(f"{problem} at position {number:,}; leave it out")
        yield text


def no_text(text: Any) -> str | None:
    """Return what is wrong with a value that is no text, or None for a text.

    >>> no_text(""), no_text(7)
    (None, 'expected a text as a str, got int')
    >>> no_text(None)
    'expected a text as a str, got None, a missing value'
    """
    if isinstance(text, str):
        return None
    is_missing = pd.isna(text) is True
    what = f"{text}, a missing value" if is_missing else type(text).__name__
    return f"{EXPECTED_TEXT}, got {what}"


def chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of at most `size` items, as they come."""
    stream = iter(items)
    while chunk := list(islice(stream, size)):
        yield chunk


# ---- articles

SECTION_WEIGHTS: dict[Section, float] = {
    Section.FRONT: 0.0,
    Section.INTRODUCTION: -3.0,
    Section.METHODS: -3.0,
    Section.RESULTS: 0.0,
    Section.DISCUSSION: -1.0,
    Section.CAPTION: 0.0,
    Section.BACK: -1.0,
}
MANY_PLACES, MANY_PLACES_WEIGHT = 3, 0.5  # distinct structures in one sentence
_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z(“\"])")
N_LETTERS = 4  # of a word that are looked at to find stems
_IS_LETTER = np.array([chr(code).isalnum() or chr(code) == "_" for code in range(128)])


class Sign(NamedTuple):
    """Something that a sentence may say, and the log weight that this adds.

    A regular expression is slow where nearly every character might begin a match. What a match
    begins with is therefore looked for first, in small letters: a word with one of `stems`, one of
    `inside` anywhere, or a character before one of `symbols`, with a space between them or not.
    """

    weight: float
    pattern: re.Pattern[str]
    stems: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    symbols: str = ""

    def places(self, text: str, small: str, begun: Iterable[int]) -> Iterator[int]:
        """Yield where the sign is in a text, given where words with one of its stems begin."""
        symbols = list(places_of(self.symbols, small))
        before = (place - n for place in symbols for n in (1, 2) if place >= n)
        free = 0
        for start in sorted({*begun, *places_of(self.inside, small), *before}):
            if start >= free and (match := self.pattern.match(text, start)):
                yield start
                free = match.end()


_SIGNS = (
    Sign(  # cites others
        -1.2,
        re.compile(
            r"\bet al\b|\(\s?[A-Z][^()]{2,80}?(?:19|20)\d\d[a-z]?[^()]{0,200}\)"
            r"|\[\s?\d[\d,\s–-]{0,60}\]"
            r"|\b(?:previous|prior|earlier) (?:stud|work|research|finding|report)"
        ),
        ("et al", "previous ", "prior ", "earlier "),
        inside=("(", "["),
    ),
    Sign(  # denies
        -1.05,
        re.compile(
            r"\b(?:no|not|nor|neither|without|failed|absence|lack(?:ed)?|non-?significant)\b", re.I
        ),
        ("no", "neither", "without", "failed", "absence", "lack"),
    ),
    Sign(
        0.8,
        re.compile(r"\b(?:Figs?\.?|Figures?|Tables?)\s?\.?\s?S?\d", re.I),
        ("fig", "table"),
    ),
    Sign(  # is about behaviour
        -0.5,
        re.compile(
            r"\b(?:(?:reaction|response) times?|RTs?|accurac(?:y|ies)|behaviou?ral(?:ly)?"
            r"|performance|questionnaires?|scores?|ratings?|(?:error|hit) rates?)\b",
            re.I,
        ),
        (
            *("reaction time", "response time", "rt", "accurac", "behavio", "performance"),
            *("questionnaire", "score", "rating", "error rate", "hit rate"),
        ),
    ),
    Sign(
        0.4,
        re.compile(r"\b(?:left|right|bilateral(?:ly)?|hemispheres?)\b", re.I),
        ("left", "right", "bilateral", "hemisphere"),
    ),
    Sign(  # reports
        0.4,
        re.compile(
            r"\b(?:found|show(?:ed|n|s)?|reveal(?:ed|s)?|observed|identified|yielded"
            r"|demonstrated|exhibited)\b",
            re.I,
        ),
        (
            *("found", "show", "reveal", "observed", "identified", "yielded", "demonstrated"),
            "exhibited",
        ),
    ),
    Sign(
        0.15,
        re.compile(
            r"\b(?:(?:de)?activat\w+|BOLD|activity|signal|respon[sd]\w*|clusters?|peaks?"
            r"|connectivity)\b",
            re.I,
        ),
        (
            *("activat", "deactivat", "bold", "activity", "signal", "respon", "cluster", "peak"),
            "connectivity",
        ),
    ),
    Sign(
        -0.15,
        re.compile(r"\bp\s?[<=>]|\b[tFZzr]\s?[(=]|corrected|threshold|FWE|FDR", re.I),
        inside=("corrected", "threshold", "fwe", "fdr"),
        symbols="<=>(",
    ),
)


class _Stems:
    """Finds the words of a text that begin with stems of signs, all at once.

    The first letters of a word are one number. Those of words that begin with a stem lie between
    two numbers; no stem begins with another one.
    """

    def __init__(self, signs: Sequence[Sign]) -> None:
        self._n_signs = len(signs)
        spans: dict[int, tuple[int, int]] = {0: (0, 0)}  # end, and the signs as bits
        for number, sign in enumerate(signs):
            for stem in sign.stems:
                head = stem[:N_LETTERS].encode()
                size = 1 << 8 * (N_LETTERS - len(head))
                first = int.from_bytes(head, "big") * size
                _, others = spans.get(first, (0, 0))
                spans[first] = first + size, others | 1 << number
        self._firsts = np.array(sorted(spans))
        self._ends, self._bits = np.array([spans[first] for first in sorted(spans)]).T

    def find(self, small: str) -> list[list[int]]:
        """Return where words with stems of each sign begin in a text in small letters.

        After a letter that ASCII lacks a word may seem to begin, which patterns tell apart.
        """
        codes = np.frombuffer(f" {small}   ".encode("ascii", "replace"), np.uint8)
        is_letter = _IS_LETTER[codes]
        starts = np.flatnonzero(is_letter[1:] > is_letter[:-1])
        letters = np.zeros(len(starts), np.int64)
        for i in range(1, 1 + N_LETTERS):
            letters = letters << 8 | codes[starts + i]
        nearest = np.searchsorted(self._firsts, letters, side="right") - 1
        bits = np.where(letters < self._ends[nearest], self._bits[nearest], 0)
        found = np.flatnonzero(bits)
        starts, bits = starts[found], bits[found]
        return [starts[(bits & 1 << number) > 0].tolist() for number in range(self._n_signs)]


_STEMS = _Stems(_SIGNS)
# Letters that regular expressions take for others where case does not matter, and lower() does not.
_LOOKALIKES = (("ſ", "s"), ("ı", "i"), ("İ", "i"))


def place_weights(
    text: str,
    starts: NDArray[np.integer],
    terms: NDArray[np.integer],
    is_structure: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the log weight of each mention in a long text.

    Parameters
    ----------
    text : str
    starts : array of shape (n,)
        Where the mentions begin.
    terms : array of shape (n,)
        Numbers of what they mention.
    is_structure : array of shape (n,)
        Whether they name parts of the brain.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> text = "Introduction We ask. Results The insula (Figure 1). Discussion The insula."
    >>> place_weights(text, np.array([33, 67]), np.zeros(2, int), np.ones(2, bool)).tolist()
    [0.8, -1.0]
    """
    if not len(starts):
        return np.zeros(0)
    cuts = section_cuts(text)
    sections = np.searchsorted([start for start, _ in cuts], starts, side="right") - 1
    by_section = np.array([SECTION_WEIGHTS[section] for _, section in cuts])
    ends = np.fromiter((match.end() for match in _SENTENCE.finditer(text)), np.intp)
    bounds = np.concatenate([[0], ends, [len(text)]])
    sentences = np.searchsorted(bounds[:-1], starts, side="right") - 1
    by_sentence = np.zeros(len(bounds) - 1)
    small = _small(text)
    for sign, begun in zip(_SIGNS, _STEMS.find(small), strict=True):
        found = list(sign.places(text, small, begun))
        by_sentence[np.searchsorted(bounds[1:-1], found, side="right")] += sign.weight
    n_terms = int(terms.max()) + 1
    pairs = np.unique(sentences[is_structure] * n_terms + terms[is_structure])
    n_places = np.bincount(pairs // n_terms, minlength=len(by_sentence))
    by_sentence[n_places >= MANY_PLACES] += MANY_PLACES_WEIGHT
    weights: NDArray[np.float64] = by_section[sections] + by_sentence[sentences]
    return weights


def _small(text: str) -> str:
    """Return a text in small letters, of the same length."""
    for letter, plain in _LOOKALIKES:
        text = text.replace(letter, plain)
    return text.lower()
