"""Readers: one module for each source of studies; `neurowhere.corpus.read` finds the right one.

A reader is a module with

- ``NAME``, that of its format, and often ``SUFFIXES``, those of its files;
- ``detects(path)``, which returns whether a file or a folder is in this format;
- ``read(path)``, which returns a `Corpus`, or ``iter_documents(path)``, which yields each
  `Document`, or both. Peaks are as printed; what cannot be read is skipped, named and counted.
"""
