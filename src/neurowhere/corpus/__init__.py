"""Corpora: documents, peaks and texts from many sources."""
