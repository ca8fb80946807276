"""Decode studies that the model has not seen, and compare the terms with those of their titles.

    python benchmarks/decode_check.py [MODEL] [--studies 100] [--generic]

Decodes Neurosynth's studies that are not NeuroQuery's, whose texts are their titles, by several
scores of a term: that of `neurowhere.model.decoding`; the same without the discount of terms that
few studies mention; the log of the ratio to the base rate; that, standardised over peaks at large;
the same log for maps that only studies have taught; and the correlation of maps, as the decoders of
Neurosynth and NiMARE compute it. The columns are explained in docs/benchmarks/decoding.md. With
--generic, the generic words that decoding leaves out compete too.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from neurowhere import load_model, read_corpus
from neurowhere.exceptions import DataWarning
from neurowhere.model.decoding import DISCOUNT, FEW_STUDIES, listed_terms, unlearned_terms
from neurowhere.model.term_maps import log_ratios, term_features, term_scales
from neurowhere.space import make_targets, place_peaks
from setting import DATA, print_table

CHUNK = 256
FEW, MANY = 12, 1500  # unseen studies that mention a pooled term; training studies that do not
N_MAPS = 500  # terms whose maps are decoded
NEARLY = 1 - 1e-6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, nargs="?", help="by default the shipped model")
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--generic", action="store_true", help="include generic words")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    model = load_model(arguments.model)
    held = unseen_studies(model)
    is_scored = listed_terms(model)
    if arguments.generic:
        is_scored = ~unlearned_terms(model) & (model.term_studies_ > 0)
    terms = np.flatnonzero(is_scored)
    peaks, texts = densities(model, held), model.transform(held)[:, terms]
    few, some = slice(arguments.studies), np.random.default_rng(0).permutation(len(terms))[:N_MAPS]
    n_training = model.term_studies_[terms]
    pooled, pools = pool(peaks, texts, n_training)
    shown = model.predict([model.extractor_.terms[i] for i in terms[some]])
    rows = []
    for name, score in make_scorers(model, terms).items():
        by_study, by_pool, by_map = score(peaks[few]), score(pools), score(shown)
        frequency = np.corrcoef(by_study.mean(axis=0), np.log(n_training + 1))[0, 1]
        rows.append(
            [
                name,
                *own_term_ranks(by_study, texts[few]),
                f"{ranks(by_pool)[np.arange(len(pooled)), pooled].mean():.1%}",
                *shares_on_top(by_pool, pooled),
                *shares_on_top(by_map, some),
                f"{frequency:.2f}",
            ]
        )
    print(f"{len(held):,} unseen studies, {arguments.studies} of them decoded one by one; ", end="")
    print(f"{texts.shape[1]:,} terms, {len(pooled):,} of them pooled\n")
    header = ["", "study", "study, weighted", "pooled", "pooled first", "pooled first 5"]
    print_table([*header, "map first", "map first 5", "frequency"], rows)


def unseen_studies(model):
    """Return Neurosynth's studies with a peak in the brain that are not NeuroQuery's."""
    corpus = read_corpus(DATA / "corpus", format="neurosynth")
    known = read_corpus(DATA / "corpus", format="neuroquery").documents["id"].astype(str)
    is_new = ~corpus.documents["id"].astype(str).isin(known).to_numpy()
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy()
    study, _ = place_peaks(model.partition_, model.brain_, xyz_mm, corpus.peak_rows)
    rows = np.intersect1d(np.flatnonzero(is_new), study)
    return corpus.select(np.random.default_rng(0).permutation(rows))


def pool(peaks, texts, n_training):
    """Terms, and the mean density of the unseen studies that mention each."""
    mentions = (texts > 0).astype(np.float32)
    n_unseen = mentions.sum(axis=0).A1
    terms = np.flatnonzero((n_unseen >= FEW) & (n_training < MANY))
    return terms, (mentions[:, terms].T @ peaks) / n_unseen[terms, None]


def densities(model, corpus):
    """Kernel densities of the peaks of studies: (n, m)."""
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy()
    targets = make_targets(model.partition_, model.brain_, xyz_mm, corpus.peak_rows, len(corpus))
    return targets.rows(slice(None))


def make_scorers(model, terms):
    """Make functions that score terms: from distributions (n, m) to scores (n, n_terms)."""
    plain, features = model.predictor_.plain, term_features(model, terms)
    chunks = [slice(i, i + CHUNK) for i in range(0, len(terms), CHUNK)]
    ratios = np.concatenate([log_ratios(model, terms[chunk]) for chunk in chunks])  # (n_terms, m)
    mean = model.mean_map_.astype(np.float32)
    taught = np.concatenate([plain.predict(features[chunk]) for chunk in chunks])
    taught = np.log((1 + taught / mean) / 2)
    _, centre, spread = (scale[terms] for scale in term_scales(model))
    n_studies = model.term_studies_[terms]
    discount = DISCOUNT * np.log(n_studies / (n_studies + FEW_STUDIES))

    def correlation(w):
        above = np.log1p(w / mean)
        moved = above * mean
        total = moved.sum(axis=1, keepdims=True)
        size = np.sqrt((moved * above).sum(axis=1, keepdims=True) - total**2)
        return np.clip((moved @ ratios.T - total * centre) / (spread * size), -NEARLY, NEARLY)

    return {
        "score": lambda w: np.arctanh(correlation(w)) + discount,
        "score without discount": correlation,
        "log ratio": lambda w: w @ ratios.T,
        "log ratio, standardised": lambda w: (w @ ratios.T - centre) / spread,
        "log ratio, studies alone": lambda w: w @ taught.T,
        "correlation of maps": lambda w: unit(w) @ unit((2 * np.exp(ratios) - 1) * mean).T,
    }


def unit(rows):
    """Centre rows and scale them to unit norm."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    return centred


def ranks(scores):
    """Share of the terms that score lower, for each row: (n, n_terms)."""
    order = np.argsort(np.argsort(scores, axis=1), axis=1)
    return order / (scores.shape[1] - 1)


def own_term_ranks(scores, texts):
    """Mean rank of the terms of each text, plain and weighted; mean over texts."""
    found = ranks(scores)
    plain, weighted = [], []
    for row in range(len(found)):
        here = slice(*texts.indptr[row : row + 2])
        columns, weights = texts.indices[here], texts.data[here]
        if len(columns):
            plain.append(found[row, columns].mean())
            weighted.append(np.average(found[row, columns], weights=weights))
    return f"{np.mean(plain):.1%}", f"{np.mean(weighted):.1%}"


def shares_on_top(scores, right):
    """How often the right term is first, and among the first 5."""
    own = scores[np.arange(len(right)), right]
    n_above = (scores > own[:, None]).sum(axis=1)
    return f"{np.mean(n_above == 0):.1%}", f"{np.mean(n_above < 5):.1%}"


if __name__ == "__main__":
    main()
