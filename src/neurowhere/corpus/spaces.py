"""Stereotactic spaces: the spellings that sources use, in one table, and the way to MNI."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from neurowhere._tools.coordinates import talairach_to_mni
from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.document import Document, Space
from neurowhere.corpus.frames import XYZ, read_table
from neurowhere.exceptions import CorpusError

# Spellings in lower case without spaces and punctuation; "ale" is GingerALE's MNI template.
SPELLINGS: dict[str, Space] = {
    **dict.fromkeys(
        (
            "mni",
            "mni152",
            "mni1521mm",
            "mni1522mm",
            "mni152nlin6asym",
            "mni152nlin2009casym",
            "mni305",
            "icbm",
            "icbm152",
            "colin27",
            "ale2mm",
            "montrealneurologicalinstitute",
        ),
        "MNI",
    ),
    **dict.fromkeys(("tal", "talairach", "talairachtournoux", "tlrc", "t88"), "TAL"),
}


def parse_space(label: object) -> Space:
    """Return the space that a source's label stands for.

    Parameters
    ----------
    label : object
        Of any type; only text can be a label.

    Returns
    -------
    "MNI", "TAL" or "unknown"
        Anything not among `SPELLINGS` is unknown.

    Examples
    --------
    >>> parse_space("MNI152_2mm"), parse_space("Talairach space"), parse_space("as in NeuroQuery")
    ('MNI', 'TAL', 'unknown')
    """
    spelling = re.sub(r"[^a-z0-9]+", "", str(label).lower()).removesuffix("space")
    return SPELLINGS.get(spelling, "unknown")


def document_to_mni(document: Document) -> Document:
    """Return a document with its peaks in MNI.

    Parameters
    ----------
    document : Document

    Returns
    -------
    Document
        The space that its source states is kept in the metadata.
    """
    if document.space != "TAL":
        return document
    return replace(
        document,
        peaks=talairach_to_mni(document.peaks),
        space="MNI",
        metadata={"source_space": "TAL", **document.metadata},
    )


def corpus_to_mni(corpus: Corpus) -> Corpus:
    """Return a corpus with its Talairach peaks in MNI.

    Parameters
    ----------
    corpus : Corpus

    Returns
    -------
    Corpus
        `documents.source_space` still says TAL.
    """
    talairach = corpus.documents["space"].to_numpy() == "TAL"  # (n_documents,)
    if not talairach.any():
        return corpus
    moved = talairach[corpus.peak_rows]  # (n_peaks,)
    peaks = corpus.peaks.copy()
    peaks.loc[moved, XYZ] = talairach_to_mni(peaks.loc[moved, XYZ].to_numpy())
    space = corpus.documents["space"].mask(talairach, "MNI")
    return replace(corpus, documents=corpus.documents.assign(space=space), peaks=peaks)


def read_spaces(path: Path) -> dict[str, str]:
    """Read the space of each document from a table.

    Parameters
    ----------
    path : Path
        With columns id and space.

    Returns
    -------
    dict of str
        Label of the space by id.
    """
    if not path.is_file():
        raise CorpusError(f"expected a table with columns id and space, but {path} is no file")
    table = read_table(path, ["id", "space"])
    return dict(zip(table["id"], table["space"], strict=True))


def fill_spaces(corpus: Corpus, labels: Mapping[str, str]) -> Corpus:
    """Fill in the space of the documents whose source does not state it.

    Parameters
    ----------
    corpus : Corpus
    labels : mapping of str to str
        Label of the space by id.

    Returns
    -------
    Corpus
    """
    unknown = corpus.documents["space"] == "unknown"
    if not labels or not unknown.any():
        return corpus
    spaces = [parse_space(labels.get(document_id)) for document_id in corpus.documents["id"]]
    space = corpus.documents["space"].mask(unknown, spaces)
    return replace(corpus, documents=corpus.documents.assign(space=space, source_space=space))
