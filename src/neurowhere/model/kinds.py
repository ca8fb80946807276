"""Kinds of text: studies as title, keywords or article, and how a fit does on each of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.learn import Choice, LengthCalibration, LogLinear, peak_levels
from neurowhere.model.encoder import Encoder
from neurowhere.model.material import Material
from neurowhere.model.reading import GatedTfIdf
from neurowhere.model.studies import Neighbours
from neurowhere.model.training import CHUNK
from neurowhere.text import TermExtractor

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]

CUTS = (300, 1000)  # words of articles that are cut short, to calibrate what lies between


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model, from counts of terms to probabilities.

    Attributes
    ----------
    material : Material
        With the terms of the model.
    weighting : GatedTfIdf
    predictor : LogLinear
    term_weights : array
        Learned weight of each term that was known at first; some may be left out since.
    """

    material: Material
    weighting: GatedTfIdf
    predictor: LogLinear
    term_weights: Floats

    def predict(self, counts: sparse.csr_matrix) -> Iterator[tuple[slice, Floats]]:
        """Yield the probabilities of some texts at a time, and which."""
        features = self.weighting.transform(counts)
        for rows in slices(features.shape[0], CHUNK):
            yield rows, self.predictor.predict(features[rows])

    def article_counts(self, n_words: int | None = None) -> sparse.csr_matrix:
        """Count the terms of articles, weighted as far as their length opens the gate."""
        articles = self.material.articles
        plain = articles.counts(n_words=n_words)
        return articles.counts(self.weighting.gates.of(plain).long, n_words)


class TextKind(NamedTuple):
    """Texts of one kind: their counts, and the study of each."""

    name: str
    counts: sparse.csr_matrix
    studies: Rows


def kinds_of_text(fit: Fit, rows: Rows, seed: int = 0) -> Iterator[TextKind]:
    """Yield studies as texts of each kind: whole, title, keywords, one keyword, article.

    Parameters
    ----------
    fit : Fit
    rows : array of int
        Studies.
    seed : int
        Seed of the keyword that is drawn.

    Yields
    ------
    TextKind
    """
    material = fit.material
    yield TextKind("title, abstract, keywords", material.counts[rows], rows)
    yield TextKind("title", material.sections["title"][rows], rows)
    keywords = material.sections["keywords"][rows]
    bare = sparse.csr_matrix(keywords - keywords @ material.within)[:, : material.n_known]
    bare.data[bare.data <= 0] = 0
    bare.eliminate_zeros()
    some = np.flatnonzero(np.diff(bare.indptr))
    yield TextKind("keywords", keywords[some], rows[some])
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(bare.indices[bare.indptr[i] : bare.indptr[i + 1]]) for i in some]
    ones = np.ones(len(some), np.float32)
    shape = (len(some), material.counts.shape[1])
    one = sparse.csr_matrix((ones, (np.arange(len(some)), drawn)), shape=shape)
    yield TextKind("one keyword", sparse.csr_matrix(one + one @ material.within), rows[some])
    here = np.flatnonzero(np.isin(material.articles.study, rows))
    if len(here):
        studies = material.articles.study[here]
        yield TextKind("article", fit.article_counts()[here], studies)
        for n_words in CUTS:
            counts = fit.article_counts(n_words)[here]
            yield TextKind(f"first {n_words:,} words of an article", counts, studies)


class TextScores(NamedTuple):
    """How texts that a model did not see fare."""

    n_terms: NDArray[np.integer]
    gain: NDArray[np.float64]  # true, over the mean map, in nats
    expected: NDArray[np.float64]  # by the model's own account
    levels: NDArray[np.float64]  # of peaks
    text: Rows  # of each peak


def score_texts(fit: Fit, counts: sparse.csr_matrix, studies: Rows) -> TextScores:
    """Score texts on the peaks of their studies.

    Parameters
    ----------
    fit : Fit
    counts : csr_matrix of shape (n_texts, n_terms)
    studies : array of shape (n_texts,)

    Returns
    -------
    TextScores
    """
    targets, m = fit.material.targets, fit.material.grid.n_regions
    bounds = np.searchsorted(targets.study, np.arange(len(targets) + 1))
    mean = np.log1p(fit.predictor.mean_map * m)
    gains, expected, levels, texts = [], [], [], []
    for rows, q in fit.predict(counts):
        ratio = np.log1p(q * m) - mean
        expected += (q * ratio).sum(axis=1).tolist()
        here = [targets.region[bounds[s] : bounds[s + 1]] for s in studies[rows].tolist()]
        gains += [row[region].mean() for row, region in zip(ratio, here, strict=True)]
        text = np.repeat(np.arange(len(here)), [len(region) for region in here])
        levels.append(peak_levels(q, q, text, np.concatenate(here)))
        texts.append(text + rows.start)
    known = ~fit.weighting.gates.is_extra
    n_terms = np.diff(sparse.csr_matrix(counts[:, known]).indptr)
    return TextScores(
        n_terms,
        np.array(gains),
        np.array(expected),
        np.concatenate(levels),
        np.concatenate(texts),
    )


def calibrate_by_length(fit: Fit, rows: Rows) -> LengthCalibration:
    """Calibrate a model on texts of all kinds of studies that it did not see."""
    scores = [score_texts(fit, kind.counts, kind.studies) for kind in kinds_of_text(fit, rows)]
    offsets = np.cumsum([0, *(len(each.gain) for each in scores)])
    texts = [each.text + start for each, start in zip(scores, offsets[:-1], strict=True)]
    return LengthCalibration.fit(
        np.concatenate([each.n_terms for each in scores]),
        np.concatenate([each.levels for each in scores]),
        np.concatenate(texts),
        np.concatenate([each.expected for each in scores]),
        np.concatenate([each.gain for each in scores]),
    )


def to_encoder(
    fit: Fit, choice: Choice, calibration: LengthCalibration, rows: NDArray[np.intp]
) -> Encoder:
    """Make an encoder that reads texts and predicts as a fit does.

    Parameters
    ----------
    fit : Fit
    choice : Choice
    calibration : LengthCalibration
    rows : array of int
        Studies that it was fitted to; those close to a text can be found.

    Returns
    -------
    Encoder
    """
    material = fit.material
    model = Encoder(material.grid, "likelihood", vocabulary=material.vocabulary, min_studies=0)
    model.partition_ = model.brain_ = material.grid
    model.vocabulary_ = material.vocabulary
    model.extractor_ = TermExtractor(material.vocabulary, nested=True)
    model.weighting_, model.predictor_ = fit.weighting, fit.predictor
    model.choice_, model.certificate_, model.calibration_ = choice, None, calibration
    projections = fit.predictor.project(fit.weighting.transform(material.counts[rows]))
    ids = material.corpus.documents["id"].to_numpy(dtype=str)[rows]
    model.neighbours_ = Neighbours.from_projections(ids, projections)
    model.training_ = {
        "studies": len(rows),
        "peaks": int(np.isin(material.targets.study, rows).sum()),
        "articles": int(np.isin(material.articles.study, rows).sum()),
        "texts_without_coordinates": int(material.bodies[0].shape[0]),
        "names_of_places": 0 if fit.predictor.prior is None else len(fit.predictor.prior.terms),
        "origin": material.corpus.origin,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version("neurowhere"),
    }
    return model
