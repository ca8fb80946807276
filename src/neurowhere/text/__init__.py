"""From text to term counts and features."""

from neurowhere.text.counter import Match, TermCounter
from neurowhere.text.vocabulary import Alignment, Vocabulary

__all__ = ["Alignment", "Match", "TermCounter", "Vocabulary"]
