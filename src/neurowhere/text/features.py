"""Features of texts: terms are counted by section, and counts become frequencies or tf-idf."""

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.corpus import Corpus
from neurowhere.exceptions import CorpusError, DataWarning, VocabularyError
from neurowhere.text.counter import TermCounter
from neurowhere.text.places import Side, is_lesion
from neurowhere.text.vocabulary import Vocabulary

# A mention on both sides tells no more of where than one without a side.
LATERAL: tuple[Side, ...] = ("left", "right")


def combine_sections(
    sections: Mapping[str, sparse.csr_matrix], weights: Mapping[str, float] | None = None
) -> sparse.csr_matrix:
    """Add the counts of the sections of texts, each multiplied by its weight, 1 by default.

    >>> title, body = sparse.csr_matrix([[1, 0]]), sparse.csr_matrix([[1, 3]])
    >>> combine_sections({"title": title, "body": body}, {"title": 2}).toarray()
    array([[3., 3.]], dtype=float32)
    """
    shapes = {counts.shape for counts in sections.values()}
    if len(shapes) != 1:
        raise CorpusError(f"expected sections of one shape, but theirs are {sorted(shapes)}")
    weighted = [
        counts.astype(np.float32) * np.float32((weights or {}).get(name, 1.0))
        for name, counts in sections.items()
    ]
    return sparse.csr_matrix(reduce(add, weighted))


def term_frequency(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Share of each term among the terms found in a text, as in the paper.

    Rows sum to 1, or to 0 where no term was found. The length of a text is counted in terms, not
    in words, so that a text and a list of its terms have the same features.

    >>> term_frequency(sparse.csr_matrix([[1, 3], [0, 0]])).toarray()
    array([[0.25, 0.75],
           [0.  , 0.  ]], dtype=float32)
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    return _scaled_rows(counts, lengths)


class TfIdf:
    """Sublinear counts, weighted by how rare a term is, in rows of unit norm.

    With c the count of a term, n the number of training texts and n_t those that have term t::

        x_t ∝ s(c_t) · (1 + log((1 + n) / (1 + n_t))),    s(c) = 1 + log c for c ≥ 1, else c

    which is scikit-learn's ``TfidfTransformer(sublinear_tf=True)`` where counts are whole
    numbers; weighted counts below 1 stay as they are, so that s grows and has no jump.

    Attributes
    ----------
    idf_ : array of shape (n_terms,)
        Factor of each term, learned by `fit`, and all that a model has to keep; a log-linear
        encoder multiplies it by the weights of terms that it learns.

    Examples
    --------
    >>> TfIdf().fit_transform(sparse.csr_matrix([[1, 1], [0, 1]])).toarray().round(2)
    array([[0.81, 0.58],
           [0.  , 1.  ]], dtype=float32)
    """

    idf_: NDArray[np.float32]

    @classmethod
    def from_idf(cls, idf: NDArray[np.floating]) -> "TfIdf":
        """Make a fitted transformer from weights that were kept.

        Parameters
        ----------
        idf : array of shape (n_terms,)

        Returns
        -------
        TfIdf
        """
        transformer = cls()
        transformer.idf_ = np.asarray(idf, dtype=np.float32)
        return transformer

    def fit(self, counts: sparse.csr_matrix) -> "TfIdf":
        """Learn how rare each term is in the training texts.

        Parameters
        ----------
        counts : csr_matrix of shape (n_texts, n_terms)

        Returns
        -------
        Self
        """
        n_texts = counts.shape[0]
        frequencies = counts.astype(bool).sum(axis=0).A1  # (n_terms,): texts that have each term
        self.idf_ = (1 + np.log((1 + n_texts) / (1 + frequencies))).astype(np.float32)
        return self

    def transform(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Weight the counts of texts.

        Parameters
        ----------
        counts : csr_matrix of shape (n_texts, n_terms)

        Returns
        -------
        csr_matrix of float32, of shape (n_texts, n_terms)
            Rows are of unit norm, or zero without a term.
        """
        if counts.shape[1] != len(self.idf_):
            raise VocabularyError(
                f"expected counts of {len(self.idf_):,} terms, but these have {counts.shape[1]:,}"
            )
        weighted = self._weigh(counts.astype(np.float64))
        return _scaled_rows(weighted, self._sizes(weighted))

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Weight counts, in place, before rows get unit norm."""
        counts.data = _sublinear(counts.data) * self.idf_[counts.indices]
        return counts

    def _sizes(self, weighted: sparse.csr_matrix) -> NDArray[np.float64]:
        """Return what rows are divided by: their norms."""
        norms: NDArray[np.float64] = np.sqrt(_row_sums(weighted, weighted.data**2))
        return norms

    def fit_transform(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Fit, then transform the same counts.

        Parameters
        ----------
        counts : csr_matrix of shape (n_texts, n_terms)

        Returns
        -------
        csr_matrix of float32, of shape (n_texts, n_terms)
        """
        return self.fit(counts).transform(counts)


class TermFrequency(TfIdf):
    """Share of each term among those found in a text, as in the paper; see `term_frequency`.

    It stands in the place of `TfIdf`: its factors `idf_` are one.

    Examples
    --------
    >>> TermFrequency().fit_transform(sparse.csr_matrix([[1, 3], [0, 2]])).toarray()
    array([[0.25, 0.75],
           [0.  , 1.  ]], dtype=float32)
    """

    def fit(self, counts: sparse.csr_matrix) -> "TermFrequency":
        """Note the number of terms; there is nothing else to learn.

        Parameters
        ----------
        counts : csr_matrix of shape (n_texts, n_terms)

        Returns
        -------
        Self
        """
        self.idf_ = np.ones(counts.shape[1], dtype=np.float32)
        return self

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        return counts

    def _sizes(self, weighted: sparse.csr_matrix) -> NDArray[np.float64]:
        return np.asarray(weighted.sum(axis=1), dtype=np.float64).ravel()


# Ways to turn counts into features, by the parameter `features` of an encoder.
WEIGHTINGS: dict[str, type[TfIdf]] = {"tfidf": TfIdf, "tf": TermFrequency}


def _sublinear(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(counts < 1, counts, 1 + np.log(np.maximum(counts, 1)))


def _row_sums(matrix: sparse.csr_matrix, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up values that stand in the place of those of a matrix: (n_rows,)."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.asarray(np.bincount(rows, values, matrix.shape[0]), np.float64)


def _scaled_rows(matrix: sparse.csr_matrix, sizes: NDArray[np.float64]) -> sparse.csr_matrix:
    """Divide rows by their sizes; rows of size zero stay zero."""
    inverse = np.repeat(1 / np.where(sizes == 0, 1, sizes), np.diff(matrix.indptr))
    scaled = matrix.copy()
    scaled.data = (matrix.data * inverse).astype(np.float32)
    return scaled


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
    def is_of_place(self) -> NDArray[np.bool_]:
        """Whether each term is about places: a structure, or a word of its name: (n_terms,)."""
        category = self.vocabulary.category
        is_structure = np.array([category(term) == "anatomy" for term in self.terms], dtype=bool)
        return is_structure | self.is_generic

    @cached_property
    def is_lesion(self) -> NDArray[np.bool_]:
        """Whether each term is a word such as "infarct": (n_terms,)."""
        return np.array(list(map(is_lesion, self.terms)), dtype=bool)

    @cached_property
    def is_extra(self) -> NDArray[np.bool_]:
        """Whether each term is an extra word, which helps where others are near: (n_terms,)."""
        return np.array([self.vocabulary.category(term) == "extra" for term in self.terms], bool)

    @cached_property
    def counter(self) -> TermCounter:
        """The counter of texts, made at first use."""
        return TermCounter(self.vocabulary)

    def with_sides(self, corpus: Corpus, minimum: int) -> "TermExtractor":
        """Return an extractor that also counts terms on one side, where texts mention them often.

        Parameters
        ----------
        corpus : Corpus
            Without texts, there is nothing to add.
        minimum : int
            Texts that have to mention a term on that side.

        Returns
        -------
        TermExtractor
        """
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
        """Count the terms of documents, weighted by section.

        The counts of a corpus without texts are mapped by name, synonyms folded in; a
        `DataWarning` tells which terms no column of them can count.

        Parameters
        ----------
        source : Corpus or sequence of str
            Plain texts are a body.

        Returns
        -------
        csr_matrix of float32, of shape (n_documents, n_terms)
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
        """Sum the counts of sections, each by its weight; nested terms are counted in.

        Parameters
        ----------
        by_section : mapping of str to csr_matrix of shape (n_documents, n_terms)

        Returns
        -------
        csr_matrix of shape (n_documents, n_terms)
        """
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
