"""Whether places speak for the right terms: decoding on studies that the model has not seen.

    python benchmarks/kinds_of_text.py -o DIR --vocabulary FILE --folds 1 --seeds 1
    python benchmarks/decode_check.py DIR/shipped-0 [--studies 500]
    python benchmarks/decode_check.py --neurosynth [--studies 100]

DIR/shipped-0 was fitted without the test studies of fold 0. With --neurosynth, the shipped model
decodes Neurosynth's studies that it was not fitted to; their texts are their titles. Terms are
those that decoding lists; with --generic, also the generic words that it leaves out. Ways to score
a term for a distribution w over voxels, a row each: the score of `neurowhere.model.decoding`; the
same without the discount of terms that few studies mention; the log of the ratio that decoding
tells beside it; that less its mean and divided by its spread over peaks at large; the same log for
the maps that studies alone have taught, without what is for short texts and for names of places,
which was the score of earlier versions; and the correlation of w with the map of the term, as the
decoders of Neurosynth and NiMARE do.

- study: the peaks of one unseen study. Rank of its own terms among all, 100 % for the best and 50 %
  by chance; the mean over its terms, then over studies; and the same with terms weighted
  as the model does.
- pooled: the peaks of all unseen studies that mention a term, for terms that some unseen studies
  mention and not too many training studies: mean rank of the term, how often it comes first, and
  among the first 5.
- map: the map of a term alone, for terms at random: how often the term comes first, and among the
  first 5.
- frequency: correlation over terms of the mean score in unseen studies with the log of how many
  training studies mention the term; a score that is corrected for base rates has none.

Last, the cosine of the texts of unseen studies with those of the 10 training studies that their
peaks decode to, beside any others.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from neurowhere import load_model, read_corpus
from neurowhere.evaluate import shuffle_split
from neurowhere.exceptions import DataWarning
from neurowhere.model.decoding import DISCOUNT, FEW_STUDIES, decode, listed_terms, unlearned_terms
from neurowhere.model.term_maps import log_ratios, term_features, term_scales
from neurowhere.space import make_targets, place_peaks
from outer_folds import studies_in_brain
from setting import DATA, print_table

CHUNK = 256
FEW, MANY = 12, 1500  # unseen studies that mention a pooled term; training studies that do not
N_MAPS = 500  # terms whose maps are decoded
N_CLOSE = 100  # studies whose closest are looked for
NEARLY = 1 - 1e-6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, nargs="?", help="by default the shipped model")
    parser.add_argument("--neurosynth", action="store_true", help="decode studies of Neurosynth")
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--generic", action="store_true", help="include generic words")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    model = load_model(arguments.model)
    training, held = others(model) if arguments.neurosynth else fold_of_studies()
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
    if training is not None:
        print_closest(model, training, held)


def fold_of_studies():
    """Return training and test studies of fold 0, the latter in random order."""
    corpus = studies_in_brain()
    train, test = shuffle_split(corpus.groups.astype(str), 0, seed=0)
    return corpus.select(train), corpus.select(np.random.default_rng(0).permutation(test))


def others(model):
    """Return None, and Neurosynth's studies with a peak in the brain that are not NeuroQuery's."""
    corpus = read_corpus(DATA / "corpus", format="neurosynth")
    known = read_corpus(DATA / "corpus", format="neuroquery").documents["id"].astype(str)
    is_new = ~corpus.documents["id"].astype(str).isin(known).to_numpy()
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy()
    study, _ = place_peaks(model.partition_, model.brain_, xyz_mm, corpus.peak_rows)
    rows = np.intersect1d(np.flatnonzero(is_new), study)
    return None, corpus.select(np.random.default_rng(0).permutation(rows))


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


def print_closest(model, training, held):
    """Cosine of texts with those of the studies that their peaks decode to."""
    row_of = {name: row for row, name in enumerate(training.documents["id"].astype(str))}
    known, texts = model.transform(training), model.transform(held)
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
