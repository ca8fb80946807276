"""Inputs: whatever a user calls a text, read as texts."""

from neurowhere.inputs.sources import Failure, Text, holds_many, iter_texts, read_text
from neurowhere.text.language import is_foreign

__all__ = ["Failure", "Text", "holds_many", "is_foreign", "iter_texts", "read_text"]
