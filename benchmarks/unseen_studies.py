"""A model on studies that it was not trained on, read from their words as users' texts are.

    python benchmarks/unseen_studies.py [--model FOLDER] [--titles 2000] [-o TABLE.json]

The shipped model has learned from all of neuroquery_dev. Other studies of the development data have
coordinates too: Neurosynth's, some of them with their abstract (rawtext_linked_dev) or an article
without tables (fulltext_dev, which has peaks of its own for some). Studies that share a PubMed id
or most of their peaks with a training study are left out. Prints, by kind of text, nats above the
mean map with their standard error over studies, what calibrated regions hold, and the stated gain.
Neurosynth's peaks are only scored: no model that is shipped has seen them. They are as printed,
some of them in Talairach space.
"""

import argparse
import json
import lzma
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinds_of_text import CHUNK, calibrated, is_known, list_of, peaks_by_study
from neurowhere import load_model
from neurowhere.corpus import read_corpus
from neurowhere.corpus.documents import find_twins
from neurowhere.learn import peak_levels
from neurowhere.model.reading import chunks
from neurowhere.model.store import SHIPPED
from setting import DATA, print_table

XYZ = ["x", "y", "z"]
SHARES = (50, 80, 95)


class Texts(NamedTuple):
    """Texts of one kind: their words, and the regions of the peaks of each."""

    words: list
    regions: list


def main():
    """Score each kind of text and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="folder of a model; the shipped one by default")
    parser.add_argument("--titles", type=int, default=2000, help="titles to score, drawn at random")
    parser.add_argument("-o", "--output", type=Path, help="JSON file to write as well")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    model = load_model(arguments.model)
    tables = {name: measure(model, texts) for name, texts in unseen(arguments.titles)}
    rows = []
    for name, table in tables.items():
        held = " / ".join(f"{100 * table[f'{share} %']:.1f}" for share in SHARES)
        gain = f"{table['gain']:.3f} ± {table['error']:.3f}"
        rows.append([name, f"{table['texts']:,}", gain, held, f"{table['stated']:.3f}"])
    head = ["kind of text", "texts", "nats above the mean map", "50 / 80 / 95 % regions hold"]
    print_table([*head, "stated gain"], rows)
    if arguments.output:
        about = {"model": fingerprint(arguments.model), "kinds": tables}
        arguments.output.write_text(json.dumps(about, indent=1) + "\n")


def fingerprint(folder):
    """Return the SHA-256 of a model's predictor."""
    info = json.loads((Path(folder or SHIPPED) / "info.json").read_text("utf-8"))
    return info["sha256"]["predictor.npz"]


def unseen(n_titles):
    """Yield kinds of text of studies that are not in neuroquery_dev."""
    trained = read_corpus(DATA / "corpus", format="neuroquery")
    others = apart_from(trained, read_corpus(DATA / "corpus", format="neurosynth"))
    regions = dict(zip(ids_of(others), peaks_by_study(others), strict=True))
    titles = dict(zip(ids_of(others), others.documents["title"].fillna(""), strict=True))
    drawn = np.random.default_rng(0).permutation([name for name in titles if titles[name]])
    yield "title", texts_of({name: titles[name] for name in drawn[:n_titles]}, regions)
    linked = read_corpus(DATA / "corpus" / "rawtext_linked_dev.jsonl.gz")
    linked = apart_from(trained, linked)
    own = dict(zip(ids_of(linked), peaks_by_study(linked), strict=True))
    sections = linked.sections
    abstracts = {
        name: f"{title}\n\n{abstract}"
        for name, title, abstract in zip(
            ids_of(linked), sections["title"], sections["abstract"], strict=True
        )
        if abstract
    }
    yield "title and abstract", texts_of(abstracts, own)
    yield "article without tables", texts_of(articles(trained, regions), regions)


def apart_from(trained, others):
    """Return the studies that share neither an id nor most of their peaks with training studies."""
    known = set(ids_of(trained))
    both = [each.peaks[XYZ].to_numpy(np.float64) for each in (trained, others)]
    rows = np.concatenate([trained.peak_rows, others.peak_rows + len(trained)])
    twins, _ = find_twins(np.concatenate(both), rows, len(trained) + len(others))
    alike = set((twins[twins >= len(trained)] - len(trained)).tolist())
    names = enumerate(ids_of(others))
    return others.select(np.array([i for i, name in names if name not in known and i not in alike]))


def ids_of(corpus):
    """Return the PubMed ids of studies, as text; another id where there is none."""
    documents = corpus.documents
    pmids = documents["pmid"].fillna("") if "pmid" in documents else documents["id"]
    pairs = zip(pmids.astype(str), documents["id"].astype(str), strict=True)
    return [pmid or name for pmid, name in pairs]


def articles(trained, regions):
    """Return the articles of unseen studies; `regions` gets the peaks that articles have."""
    known, texts = set(ids_of(trained)), {}
    model_grid = load_model().partition_
    with lzma.open(DATA / "corpus" / "fulltext_dev.jsonl.xz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            name = str(record["pmid"] or record["id"])
            if name in known or str(record["id"]) in known:
                continue
            if name not in regions and record.get("peaks"):
                regions[name] = model_grid.region_of(np.array(record["peaks"], np.float64))
            texts[name] = record["text"]
    return texts


def texts_of(words, regions):
    """Return the texts of studies that have a peak in the brain."""
    inside = {name: regions[name][regions[name] >= 0] for name in words if name in regions}
    kept = [name for name, own in inside.items() if len(own)]
    return Texts([words[name] for name in kept], [inside[name] for name in kept])


def measure(model, texts):
    """Return the gain of texts, what their regions hold, and the gain that is stated."""
    m, known, rows = model.partition_.n_regions, is_known(model), []
    mean = np.log1p(model.mean_map_ * m)
    peaks = iter(texts.regions)
    for some in chunks(texts.words, CHUNK):
        for encoding in model.encode_many(some):
            own, region = encoding.probabilities, next(peaks)
            ratio = np.log1p(own * m) - mean
            n_terms = int(known[list_of(model, encoding)].sum())
            expected, masses = calibrated(model, float(own @ ratio), n_terms)
            levels = peak_levels(own[None], own[None], np.zeros(len(region), int), region)
            rows.append([ratio[region].mean(), expected, *(levels[:, None] < masses).mean(axis=0)])
    values = np.array(rows)
    names = ["gain", "stated", *(f"{share} %" for share in SHARES)]
    table = dict(zip(names, values.mean(axis=0).tolist(), strict=True))
    error = values[:, 0].std(ddof=1) / np.sqrt(len(values))
    return table | {"texts": len(values), "error": float(error)}


if __name__ == "__main__":
    main()
