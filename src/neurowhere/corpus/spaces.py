"""Stereotactic spaces: the spellings that sources use, in one table, and the way to MNI."""

import re
from dataclasses import replace

from neurowhere.coordinates import talairach_to_mni
from neurowhere.corpus.document import Document, Space

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
    """Space that a source's label stands for; anything not in the table is "unknown".

    >>> parse_space("MNI152_2mm"), parse_space("Talairach space"), parse_space("as in NeuroQuery")
    ('MNI', 'TAL', 'unknown')
    """
    spelling = re.sub(r"[^a-z0-9]+", "", str(label).lower()).removesuffix("space")
    return SPELLINGS.get(spelling, "unknown")


def document_to_mni(document: Document) -> Document:
    """Document with its peaks in MNI; the space that its source states is kept in the metadata."""
    if document.space != "TAL":
        return document
    return replace(
        document,
        peaks=talairach_to_mni(document.peaks),
        space="MNI",
        metadata={"source_space": "TAL", **document.metadata},
    )
