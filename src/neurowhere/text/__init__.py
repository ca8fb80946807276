"""From text to term counts and features."""

from neurowhere.text.anatomy.labels import words_of_label
from neurowhere.text.counter import Match, TermCounter
from neurowhere.text.extraction import TermExtractor
from neurowhere.text.features import TfIdf, combine_sections, term_frequency
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
