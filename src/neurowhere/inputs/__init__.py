"""Inputs: whatever a user calls a text, read as texts."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurowhere.inputs.sources import (
        Failure,
        Text,
        holds_many,
        iter_texts,
        read_text,
        split_sentences,
    )

__all__ = ["Failure", "Text", "holds_many", "iter_texts", "read_text", "split_sentences"]


def __getattr__(name: str) -> object:
    """Import a name at first use: a process that parses a document needs none of them."""
    if name in __all__:
        return getattr(import_module("neurowhere.inputs.sources"), name)
    raise AttributeError(f"module 'neurowhere.inputs' has no attribute {name!r}")
