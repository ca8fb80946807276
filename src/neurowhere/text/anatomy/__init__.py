"""Anatomy: the names of the parts of the brain."""
