"""Sources: the development data as the material of the recipe.

DATA has NeuroQuery's corpus, Neurosynth's table of studies and articles without their tables in
`corpus`, articles without coordinates in `unlabelled`, and Brodmann's areas in `atlases`. Of the
articles, counts of terms are learned from and no text is kept. Of Neurosynth, only the space that
it states for a study is used: peaks in Talairach space are converted to MNI.
"""

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.corpus import Corpus, read_corpus
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.space import Atlas, VoxelGrid, default_atlas, place_peaks
from neurowhere.text import TermExtractor, Vocabulary
from recipe.material import ArticleMentions, Material, count_bodies, with_candidates
from recipe.places import place_densities

ATLASES = ("aal3", "brodmann")
SPACES = "neurosynth7_dev_metadata.tsv.gz"
XYZ = ["x", "y", "z"]


def read_material(data: Path, vocabulary: Vocabulary, atlases: Iterable[str] = ATLASES) -> Material:
    """Read all that the model is learned from, as counts."""
    corpus = in_mni(data, studies_in_brain(data))
    assert corpus.counts is not None
    assert corpus.terms is not None
    wide = with_candidates(vocabulary, corpus)
    extractor = TermExtractor(wide, nested=True)
    alignment = wide.align(corpus.terms).matrix
    sections = {
        name: extractor.weigh({name: counts @ alignment}) for name, counts in corpus.counts.items()
    }
    return Material(
        wide,
        len(vocabulary),
        sections,
        corpus,
        ArticleMentions.read(articles_of(data, corpus), extractor),
        partial(articles_of, data, corpus),
        count_bodies(bodies(data), extractor),
        place_densities(
            vocabulary,
            VoxelGrid(4),
            default_atlas() if "aal3" in atlases else None,
            brodmann_atlas(data) if "brodmann" in atlases else None,
        ),
    )


def studies_in_brain(data: Path) -> Corpus:
    """Return the studies with a peak in the brain, with their peaks as printed."""
    corpus = read_corpus(data / "corpus", format="neuroquery")
    return corpus.select(_rows_in_brain(corpus))


def _rows_in_brain(corpus: Corpus) -> NDArray[np.integer]:
    grid = VoxelGrid(4)
    study, _ = place_peaks(grid, grid, corpus.peaks[XYZ].to_numpy(), corpus.peak_rows)
    return np.unique(study)


def in_mni(data: Path, corpus: Corpus) -> Corpus:
    """Return the same studies with those in Talairach space converted, where that leaves a peak."""
    there = in_talairach(data, corpus)
    inside = np.isin(np.arange(len(corpus)), _rows_in_brain(converted(corpus, there)))
    return converted(corpus, there & inside)


def in_talairach(data: Path, corpus: Corpus) -> NDArray[np.bool_]:
    """Return which studies Neurosynth labels as Talairach."""
    labelled = read_corpus(
        data / "corpus",
        format="neuroquery",
        spaces=data / "corpus" / SPACES,
        talairach_to_mni=False,
    ).documents
    names = set(labelled.loc[labelled["source_space"] == "TAL", "id"].astype(str))
    return corpus.documents["id"].astype(str).isin(names).to_numpy()


def converted(corpus: Corpus, there: NDArray[np.bool_]) -> Corpus:
    """Return a corpus with the peaks of some studies converted from Talairach to MNI."""
    peaks = corpus.peaks.copy()
    some = there[corpus.peak_rows]
    peaks.loc[some, XYZ] = talairach_to_mni(peaks.loc[some, XYZ].to_numpy())
    return replace(corpus, peaks=peaks)


def articles_of(data: Path, corpus: Corpus) -> Iterator[tuple[int, str]]:
    """Yield the articles of the studies, each with the row of its study."""
    ids = corpus.documents["id"].astype(str)
    row_of = {name: row for row, name in enumerate(ids)}
    with lzma.open(data / "corpus" / "fulltext_dev.jsonl.xz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            row = row_of.get(str(record["id"]), row_of.get(str(record.get("pmid"))))
            if row is not None:
                yield row, record["text"]


def bodies(data: Path) -> Iterator[str]:
    """Yield the texts of articles without coordinates."""
    for file in sorted((data / "unlabelled").glob("*.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                text = " ".join(filter(None, (record.get("body"), record.get("text"))))
                if text:
                    yield text


def brodmann_atlas(data: Path) -> Atlas:
    """Return Brodmann's areas with their labels."""
    labels = pd.read_csv(data / "atlases" / "brodmann_labels.csv")
    names = dict(zip(labels["index"].tolist(), labels["name"].tolist(), strict=True))
    return Atlas(data / "atlases" / "brodmann.nii.gz", names)
