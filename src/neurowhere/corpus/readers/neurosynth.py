"""Neurosynth's release: titles and coordinates, each study with its stereotactic space."""

from pathlib import Path

from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.readers.release import find_release, find_releases, read_release

NAME = "neurosynth"


def detects(path: Path) -> bool:
    """Whether the path is a table of Neurosynth's, or a folder with one."""
    return bool(find_releases(path, NAME))


def read(path: Path) -> Corpus:
    """Read a release, given as its folder or as one of its files; peaks stay as printed."""
    corpus, _ = read_release(find_release(path, NAME), NAME)
    return corpus
