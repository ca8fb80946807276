"""Train the model that the package ships, into src/neurowhere/data/model.

    python tools/train_model.py DATA --vocabulary vocabulary.csv [-o FOLDER]

DATA has NeuroQuery's corpus and articles without their tables in `corpus`, articles without
coordinates in `unlabelled`, and Brodmann's areas in `atlases`. Of the articles, counts of terms are
learned from and no text is kept. docs/model_card.md says what comes out.
"""

import argparse
import json
import lzma
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from neurowhere import load_model, save_model
from neurowhere.corpus import read_corpus
from neurowhere.exceptions import DataWarning
from neurowhere.model.material import ArticleMentions, Material, count_bodies, with_candidates
from neurowhere.model.places import place_densities
from neurowhere.model.recipe import Recipe
from neurowhere.model.views import to_encoder
from neurowhere.space import Atlas, VoxelGrid, default_atlas, place_peaks
from neurowhere.text import TermExtractor, Vocabulary

MODEL = Path(__file__).parents[1] / "src" / "neurowhere" / "data" / "model"
ATLASES = ("aal3", "brodmann")


def main():
    """Read the material, fit the model, and write its folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, default=MODEL)
    parser.add_argument("--atlases", nargs="*", choices=ATLASES, default=list(ATLASES))
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    start = time.perf_counter()
    vocabulary = Vocabulary.load(arguments.vocabulary)
    material = read_material(arguments.data, vocabulary, arguments.atlases)
    print(f"material: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    rows = np.arange(len(material.corpus))
    fit, choice, calibration = Recipe(n_jobs=arguments.jobs).fit(material, rows)
    print(f"validation: {choice.score:.4f} nats", file=sys.stderr, flush=True)
    model = to_encoder(fit, choice, calibration, rows)
    save_model(model, arguments.output, small=True, overwrite=True)
    size = sum(file.stat().st_size for file in arguments.output.iterdir()) / 1e6
    print(f"{len(load_model(arguments.output).extractor_.terms):,} terms, {size:.1f} MB")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


def read_material(data, vocabulary, atlases=ATLASES):
    """Read all that the model is learned from, as counts."""
    corpus = studies_in_brain(data)
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
        count_bodies(bodies(data), extractor),
        place_densities(
            vocabulary,
            VoxelGrid(4),
            default_atlas() if "aal3" in atlases else None,
            brodmann_atlas(data) if "brodmann" in atlases else None,
        ),
    )


def studies_in_brain(data):
    """Return the studies with a peak in the brain."""
    corpus = read_corpus(data / "corpus", format="neuroquery")
    grid = VoxelGrid(4)
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    study, _ = place_peaks(grid, grid, xyz, corpus.peak_rows)
    return corpus.select(np.unique(study))


def articles_of(data, corpus):
    """Yield the articles of the studies, each with the row of its study."""
    ids = corpus.documents["id"].astype(str)
    row_of = {name: row for row, name in enumerate(ids)}
    with lzma.open(data / "corpus" / "fulltext_dev.jsonl.xz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            row = row_of.get(str(record["id"]), row_of.get(str(record.get("pmid"))))
            if row is not None:
                yield row, record["text"]


def bodies(data):
    """Yield the texts of articles without coordinates."""
    for file in sorted((data / "unlabelled").glob("*.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                text = " ".join(filter(None, (record.get("body"), record.get("text"))))
                if text:
                    yield text


def brodmann_atlas(data):
    """Return Brodmann's areas with their labels."""
    labels = pd.read_csv(data / "atlases" / "brodmann_labels.csv")
    names = dict(zip(labels["index"].tolist(), labels["name"].tolist(), strict=True))
    return Atlas(data / "atlases" / "brodmann.nii.gz", names)


if __name__ == "__main__":
    main()
