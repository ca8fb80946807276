"""Extraction: from a corpus, or a list of texts, to the term counts of one vocabulary."""

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property

from scipy import sparse

from neurowhere.corpus import Corpus
from neurowhere.exceptions import DataWarning
from neurowhere.text.counter import TermCounter
from neurowhere.text.features import combine_sections
from neurowhere.text.vocabulary import Vocabulary


class TermExtractor:
    """Counts the terms of a vocabulary, in texts or by the names of counts that are already there.

    Parameters
    ----------
    vocabulary : Vocabulary
    section_weights : mapping of str to float, optional
        Weight of the terms of each section (title, abstract, keywords, body), 1 by default.

    Examples
    --------
    >>> extractor = TermExtractor(Vocabulary(["amygdala", "fear"]))
    >>> extractor.counts(["Fear and the amygdala; the amygdala."]).toarray()
    array([[2., 1.]], dtype=float32)
    """

    def __init__(
        self, vocabulary: Vocabulary, section_weights: Mapping[str, float] | None = None
    ) -> None:
        self.vocabulary = vocabulary
        self.section_weights = section_weights

    @cached_property
    def counter(self) -> TermCounter:
        """The counter of texts, made at first use."""
        return TermCounter(self.vocabulary)

    def counts(self, source: Corpus | Sequence[str]) -> sparse.csr_matrix:
        """Weighted counts: float32, of shape (n_documents, n_terms).

        The counts of a corpus without texts are mapped by name, synonyms folded in; a
        `DataWarning` tells which terms no column of them can count.
        """
        if not isinstance(source, Corpus):
            return combine_sections({"text": self.counter.count(source)})
        if source.sections is not None:
            by_section = {
                name: self.counter.count(texts) for name, texts in source.sections.items()
            }
        else:
            by_section = self._mapped(source)
        return combine_sections(by_section, self.section_weights)

    def _mapped(self, source: Corpus) -> dict[str, sparse.csr_matrix]:
        alignment = self.vocabulary.align(source.terms or [])
        if alignment.missing:
            warnings.warn(f"term counts mapped by name: {alignment}", DataWarning, stacklevel=3)
        return {name: counts @ alignment.matrix for name, counts in (source.counts or {}).items()}
