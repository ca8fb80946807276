"""Inputs: whatever a user calls a text, read as texts."""

from neurowhere.inputs.sources import (
    Failure,
    Text,
    holds_many,
    iter_texts,
    read_text,
    split_sentences,
)

__all__ = ["Failure", "Text", "holds_many", "iter_texts", "read_text", "split_sentences"]
