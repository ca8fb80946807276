"""Whether places speak for the right terms: decoding on studies that the model has not seen.

    python benchmarks/outer_folds.py -o DIR --folds 1
    python benchmarks/decode_check.py DIR [--studies 500]

DIR/model-0 was fitted without the test studies of fold 0. Four ways to score a term for a
distribution w over voxels, one row each: the score of `neurowhere.decode`; the same divided by its
spread over the brain; its linear part, by which candidates are found; and the correlation of w with
the map of the term, as the decoders of Neurosynth and NiMARE do.

- study: the peaks of one unseen study. Rank of its own terms among all, 100 % for the best and 50 %
  by chance; the mean over its terms, then over studies; and the same with terms weighted by tf-idf.
- pooled: the peaks of all unseen studies that mention a term, for terms that many mention: how
  often the term comes first, among the first 5, and its mean rank.
- map: the map of each term alone: how often the term comes first, and among the first 5.
- frequency: correlation over terms of the mean score in unseen studies with the log of how many
  training studies mention the term; a score that is corrected for base rates has none.

Last, the cosine of the texts of unseen studies with those of the 10 training studies that their
peaks decode to, beside any others.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from neurowhere import load_model
from neurowhere.decode import decode, log_ratios
from neurowhere.evaluate.folds import shuffle_split
from neurowhere.exceptions import DataWarning
from neurowhere.space import make_targets
from outer_folds import studies_in_brain
from setting import print_table

CHUNK = 256
MANY = 40  # unseen studies that mention a term whose peaks are pooled
N_CLOSE = 100  # studies whose closest are looked for


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--studies", type=int, default=500)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    model = load_model(arguments.folder / "model-0")
    corpus = studies_in_brain()
    train, test = shuffle_split(corpus.groups.astype(str), 0, seed=0)
    held = corpus.select(np.random.default_rng(0).permutation(test)[: arguments.studies])
    peaks, texts = densities(model, held), model.transform(held)
    common = np.flatnonzero(texts.getnnz(axis=0) >= MANY)
    pooled = np.stack([peaks[texts[:, [t]].toarray()[:, 0] > 0].mean(axis=0) for t in common])
    frequency = np.log(model.transform(corpus.select(train)).getnnz(axis=0) + 1)
    scorers = make_scorers(model)
    rows = []
    for name, score in scorers.items():
        by_study, by_term = score(peaks), score(pooled)
        of_maps = np.concatenate([score(maps) for maps in term_maps(model)])
        plain, weighted = own_term_ranks(by_study, texts)
        rows.append(
            [
                name,
                f"{plain:.1%}",
                f"{weighted:.1%}",
                *shares_on_top(by_term, common),
                f"{ranks(by_term)[np.arange(len(common)), common].mean():.1%}",
                *shares_on_top(of_maps, np.arange(len(of_maps))),
                f"{np.corrcoef(by_study.mean(axis=0), frequency)[0, 1]:.2f}",
            ]
        )
    n_terms = texts.shape[1]
    print(f"{len(held):,} unseen studies, {n_terms:,} terms, {len(common):,} of them pooled\n")
    header = ["", "study", "study, tf-idf", "pooled first", "pooled first 5", "pooled rank"]
    print_table([*header, "map first", "map first 5", "frequency"], rows)
    print_closest(model, corpus.select(train), held, texts)


def densities(model, corpus):
    """Kernel densities of the peaks of studies: (n, m)."""
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy()
    targets = make_targets(model.partition_, model.brain_, xyz_mm, corpus.peak_rows, len(corpus))
    return targets.rows(slice(None))


def make_scorers(model):
    """Ways to score all terms: from distributions (n, m) to scores (n, n_terms)."""
    terms = np.arange(len(model.extractor_.terms))
    chunks = [log_ratios(model, terms[i : i + CHUNK]) for i in range(0, len(terms), CHUNK)]
    ratios = np.concatenate(chunks)  # (n_terms, m)
    mean = model.mean_map_.astype(np.float32)
    centre = ratios @ mean
    spread = np.sqrt(np.maximum((ratios**2) @ mean - centre**2, 1e-12))
    maps = np.concatenate(list(term_maps(model)))

    def correlate(w):
        return standardised(w) @ standardised(maps).T

    def linear(w):
        return np.stack([model.predictor_.mean_effects(terms, row - mean) for row in w])

    return {
        "score": lambda w: w @ ratios.T,
        "score / spread": lambda w: (w @ ratios.T) / spread,
        "linear part": linear,
        "correlation": correlate,
    }


def standardised(rows):
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.linalg.norm(centred, axis=1, keepdims=True)


def term_maps(model):
    """Yield maps of texts that are one term each, some at a time: (n, m)."""
    terms = model.extractor_.terms
    for start in range(0, len(terms), CHUNK):
        yield model.predict(terms[start : start + CHUNK])


def ranks(scores):
    """Share of the terms that score lower, for each row: (n, n_terms)."""
    order = np.argsort(np.argsort(scores, axis=1), axis=1)
    return order / (scores.shape[1] - 1)


def own_term_ranks(scores, texts):
    """Mean rank of the terms of each text, plain and by tf-idf; mean over texts."""
    found = ranks(scores)
    plain, weighted = [], []
    for row in range(len(found)):
        here = slice(*texts.indptr[row : row + 2])
        columns, weights = texts.indices[here], texts.data[here]
        if len(columns):
            plain.append(found[row, columns].mean())
            weighted.append(np.average(found[row, columns], weights=weights))
    return np.mean(plain), np.mean(weighted)


def shares_on_top(scores, right):
    """How often the right term is first, and among the first 5."""
    own = scores[np.arange(len(right)), right]
    n_above = (scores > own[:, None]).sum(axis=1)
    return f"{np.mean(n_above == 0):.1%}", f"{np.mean(n_above < 5):.1%}"


def print_closest(model, training, held, texts):
    """Cosine of texts with those of the studies that their peaks decode to."""
    row_of = {name: row for row, name in enumerate(training.documents["id"].astype(str))}
    known = model.transform(training)
    found, others = [], []
    rng = np.random.default_rng(0)
    for row in range(min(N_CLOSE, len(held))):
        points = held.peaks[["x", "y", "z"]].to_numpy()[held.peak_rows == row]
        studies = decode(model, points).studies
        close = [row_of[name] for name in studies["id"]]
        found.append(known[close] @ texts[row].T)
        others.append(known[rng.integers(len(row_of), size=len(close))] @ texts[row].T)
    mean = [np.mean([each.toarray().mean() for each in group]) for group in (found, others)]
    print(f"\ncosine of texts: closest 10 studies {mean[0]:.3f}, any others {mean[1]:.3f}")


if __name__ == "__main__":
    main()
