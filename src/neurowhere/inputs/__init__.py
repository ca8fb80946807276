"""Inputs: whatever a user calls a text, read as texts."""

from neurowhere.inputs.language import is_foreign, split_sentences
from neurowhere.inputs.sources import Failure, Text, holds_many, iter_texts, read_text

__all__ = [
    "Failure",
    "Text",
    "holds_many",
    "is_foreign",
    "iter_texts",
    "read_text",
    "split_sentences",
]
