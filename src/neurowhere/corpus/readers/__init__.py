"""Readers: one module for each source of studies; `neurowhere.corpus.read` finds the right one."""
