"""Extraction: from a corpus, or a list of texts, to the term counts of one vocabulary."""

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.corpus import Corpus
from neurowhere.exceptions import CorpusError, DataWarning
from neurowhere.text.clinical.places import Side
from neurowhere.text.counter import TermCounter
from neurowhere.text.features import combine_sections
from neurowhere.text.vocabulary import Vocabulary

# A mention on both sides tells no more of where than one without a side.
LATERAL: tuple[Side, ...] = ("left", "right")


class TermExtractor:
    """Counts the terms of a vocabulary, in texts or by the names of counts that are already there.

    Parameters
    ----------
    vocabulary : Vocabulary
    section_weights : mapping of str to float, optional
        Weight of the terms of each section (title, abstract, keywords, body), 1 by default.
    sided : sequence of str
        Terms that are also counted on one side, as "left amygdala": columns after those of the
        vocabulary. A mention of the left amygdala counts in both "amygdala" and "left amygdala".
    nested : bool
        Whether the terms within a longer one count too: "spatial navigation" is also "navigation".

    Examples
    --------
    >>> extractor = TermExtractor(Vocabulary(["amygdala", "fear"]), sided=["left amygdala"])
    >>> extractor.counts(["Fear and the amygdala; the amygdala (left)."]).toarray()
    array([[2., 1., 1.]], dtype=float32)
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        section_weights: Mapping[str, float] | None = None,
        sided: Sequence[str] = (),
        *,
        nested: bool = False,
    ) -> None:
        self.vocabulary = vocabulary
        self.section_weights = section_weights
        self.sided = tuple(sided)
        self.nested = nested

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Names of the columns of the counts."""
        return (*self.vocabulary.terms, *self.sided)

    @cached_property
    def is_generic(self) -> NDArray[np.bool_]:
        """Whether each term says nothing of where by itself: (n_terms,)."""
        return np.array([self.vocabulary.is_generic(term) for term in self.terms], dtype=bool)

    @cached_property
    def counter(self) -> TermCounter:
        """The counter of texts, made at first use."""
        return TermCounter(self.vocabulary)

    def with_sides(self, corpus: Corpus, minimum: int) -> "TermExtractor":
        """Extractor that also counts the sided terms that at least `minimum` texts mention."""
        if corpus.texts is None:
            return self
        counts = self.counter.count_sides(corpus.texts)
        sided = [
            f"{side} {self.vocabulary.terms[term]}"
            for side in LATERAL
            for term in np.flatnonzero(counts[side].getnnz(axis=0) >= minimum).tolist()
            if self.counter.sides[term] is None
        ]
        known = [name for name in sided if name not in self.vocabulary]
        return TermExtractor(self.vocabulary, self.section_weights, known, nested=self.nested)

    def counts(self, source: Corpus | Sequence[str]) -> sparse.csr_matrix:
        """Weighted counts: float32, of shape (n_documents, n_terms). Plain texts are a body.

        The counts of a corpus without texts are mapped by name, synonyms folded in; a
        `DataWarning` tells which terms no column of them can count.
        """
        if not isinstance(source, Corpus):
            return self.weigh({"body": self._count(source)})
        if source.sections is not None:
            sections = source.sections or {"body": [""] * len(source)}
            by_section = {name: self._count(texts) for name, texts in sections.items()}
        elif source.counts:
            by_section = self._mapped(source)
        else:
            raise CorpusError(f"expected texts or term counts, but there are none ({source!r})")
        return self.weigh(by_section)

    def weigh(self, by_section: Mapping[str, sparse.csr_matrix]) -> sparse.csr_matrix:
        """Sum the counts of sections, each by its weight; nested terms are counted in."""
        counts = combine_sections(by_section, self.section_weights)
        return sparse.csr_matrix(counts + counts @ self.within) if self.nested else counts

    @cached_property
    def terms_within(self) -> dict[str, list[str]]:
        """Terms that the mention of a longer one counts too, for each that has any."""
        pairs = zip(*self.within.nonzero(), strict=True) if self.nested else ()
        within: dict[str, list[str]] = {}
        for longer, shorter in pairs:
            within.setdefault(self.terms[longer], []).append(self.terms[shorter])
        return within

    @cached_property
    def within(self) -> sparse.csr_matrix:
        """(n_terms, n_terms): how often the term of a column is within that of a row."""
        parts = self.vocabulary.parts().tocoo()  # of the vocabulary: sided terms have none
        shape = (len(self.terms), len(self.terms))
        return sparse.csr_matrix(
            (parts.data.astype(np.float32), (parts.row, parts.col)), shape=shape
        )

    def _count(self, texts: Sequence[str]) -> sparse.csr_matrix:
        return self._with_sided(self.counter.count(texts), texts)

    def _mapped(self, source: Corpus) -> dict[str, sparse.csr_matrix]:
        names = source.terms or []
        alignment = self.vocabulary.align(names)
        if alignment.missing:
            warnings.warn(f"term counts mapped by name: {alignment}", DataWarning, stacklevel=3)
        matrix = self._with_sided(alignment.matrix, names)  # (n_columns, n_terms)
        return {name: counts @ matrix for name, counts in (source.counts or {}).items()}

    def _with_sided(self, counts: sparse.csr_matrix, texts: Sequence[str]) -> sparse.csr_matrix:
        """Put the counts of the sided terms beside those of the vocabulary."""
        if not self.sided:
            return counts
        sides = self.counter.count_sides(texts)
        beside = sparse.hstack([sides[side] for side in LATERAL], format="csr")
        return sparse.csr_matrix(sparse.hstack([counts, beside[:, self._sided_columns]]))

    @cached_property
    def _sided_columns(self) -> NDArray[np.intp]:
        """Column of each sided term where the counts of one side are beside those of the next."""
        columns = []
        for name in self.sided:
            side, _, term = name.partition(" ")
            first = LATERAL.index(side) * len(self.vocabulary)
            columns.append(first + self.vocabulary.index(term))
        return np.array(columns, dtype=np.intp)
