"""From text to term counts and features."""

from neurowhere.text.counter import Match, TermCounter
from neurowhere.text.features import TermExtractor, TfIdf, combine_sections, term_frequency
from neurowhere.text.labels import words_of_label
from neurowhere.text.vocabulary import Alignment, Vocabulary

__all__ = [
    "Alignment",
    "Match",
    "TermCounter",
    "TermExtractor",
    "TfIdf",
    "Vocabulary",
    "combine_sections",
    "term_frequency",
    "words_of_label",
]
