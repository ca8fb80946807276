"""Views: the texts that a study is shown as, to learn from and to see how a fit does on each kind.

To learn, a study is shown as the few words that people type, drawn anew each time: its title, its
keywords, some terms of these, some terms of all its text, or one term. Where several are drawn the
heavier are likelier; a single term is also drawn evenly, so that the model learns what each means
by itself.

A bare term says what all studies with it say together. Few draws show that, so there is also a
text of each term alone, whose target pools these studies (`bare_terms`). As the loss is linear in
the target, that is the mean loss of the term over all of them at once.

To score and calibrate, a study is shown as each kind of text in turn (`kinds_of_text`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.learn import Choice, LengthCalibration, LogLinear, peak_levels
from neurowhere.learn.exponent import N_SECTIONS
from neurowhere.model.encoder import Encoder
from neurowhere.model.reading import GatedTfIdf
from neurowhere.model.text_model import Neighbours
from neurowhere.model.training import CHUNK
from neurowhere.text import TermExtractor
from neurowhere.text.features import combine_sections
from recipe.material import Material

# Kinds of views: the probability of each, the most terms that are drawn, and from where.
TITLE, KEYWORDS = 0, 1
PROBABILITIES = (0.17, 0.17, 0.2, 0.1, 0.11, 0.25)
MOST_TERMS = {2: 4, 3: 8, 4: 1, 5: 1}
FROM_TITLE, EVEN = 2, 5  # drawn from title and keywords; drawn evenly
LEAST_STUDIES, TIMES = 10, 2  # studies of a bare term; texts of each

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]
CUTS = (300, 1000)  # words of articles that are cut short, to calibrate what lies between


class Views:
    """Draws views of studies.

    Parameters
    ----------
    sections : mapping of str to csr_matrix of shape (n_studies, n_terms)
        Counts in "title", "keywords" and other sections, with the terms within longer ones.
    within : csr_matrix of shape (n_terms, n_terms)
        How often the term of a column is within that of a row.
    weights : array of shape (n_terms,)
        Weights of terms; those of weight 0 are never shown.
    seed : int
    """

    def __init__(
        self,
        sections: Mapping[str, sparse.csr_matrix],
        within: sparse.csr_matrix,
        weights: NDArray[np.floating],
        seed: int = 0,
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.within, self.weights = within, weights
        shown = sparse.diags_array((weights > 0).astype(np.float32))
        kept = {name: sparse.csr_matrix(counts @ shown) for name, counts in sections.items()}
        for counts in kept.values():
            counts.eliminate_zeros()
        self.title, self.keywords = kept["title"], kept["keywords"]
        self.named = self._without_nested(self.title + self.keywords)
        self.whole = self._without_nested(combine_sections(kept))

    def _without_nested(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Take out the terms within longer ones."""
        bare = sparse.csr_matrix(counts - counts @ self.within)
        bare.data = np.maximum(bare.data, 0)
        bare.eliminate_zeros()
        return bare

    def draw(self) -> sparse.csr_matrix:
        """Draw a view of each study: counts of shape (n_studies, n_terms)."""
        n = self.title.shape[0]
        kinds = self.rng.choice(len(PROBABILITIES), n, p=PROBABILITIES)
        kinds[(kinds == KEYWORDS) & (np.diff(self.keywords.indptr) == 0)] = TITLE
        rows: list[int] = []
        columns: list[int] = []
        for row in np.flatnonzero(kinds > KEYWORDS).tolist():
            drawn = self._terms(row, int(kinds[row]))
            columns += drawn
            rows += [row] * len(drawn)
        ones = np.ones(len(rows), np.float32)
        some = sparse.csr_matrix((ones, (rows, columns)), shape=self.title.shape)
        some = some + some @ self.within
        titles, keywords = (
            sparse.diags_array((kinds == kind).astype(np.float32)) for kind in (TITLE, KEYWORDS)
        )
        return sparse.csr_matrix(some + titles @ self.title + keywords @ self.keywords)

    def _terms(self, row: int, kind: int) -> list[int]:
        """Draw some terms of a study."""
        counts = self.named if kind == FROM_TITLE else self.whole
        own = slice(*counts.indptr[row : row + 2])
        if own.start == own.stop:
            counts = self.whole
            own = slice(*counts.indptr[row : row + 2])
        terms, size = counts.indices[own], own.stop - own.start
        if not size:
            return []
        size = min(size, int(self.rng.integers(1, MOST_TERMS[kind] + 1)))
        weights = np.log1p(counts.data[own]) * self.weights[terms] if kind != EVEN else 1.0
        # The smallest of exponential times are a draw without replacement, by weight.
        times = self.rng.exponential(size=len(terms)) / np.maximum(weights, 1e-6)
        drawn: list[int] = terms[np.argpartition(times, size - 1)[:size]].tolist()
        return drawn


class BareTerms(NamedTuple):
    """Texts of one term each.

    Attributes
    ----------
    counts : csr_matrix of shape (n_texts, n_terms)
    studies : csr_matrix of shape (n_texts, n_studies)
        Share of each study in the target of each text.
    """

    counts: sparse.csr_matrix
    studies: sparse.csr_matrix


def bare_terms(
    counts: sparse.csr_matrix,
    within: sparse.csr_matrix,
    importance: NDArray[np.floating],
    is_shown: NDArray[np.bool_],
) -> BareTerms:
    """Make texts of each term that enough studies have.

    Parameters
    ----------
    counts : csr_matrix of shape (n_studies, n_terms)
    within : csr_matrix of shape (n_terms, n_terms)
        How often the term of a column is within that of a row.
    importance : array of shape (n_studies,)
        Weight of each study.
    is_shown : array of shape (n_terms,)
        Terms that may be shown.

    Returns
    -------
    BareTerms
    """
    has_enough = is_shown & (counts.getnnz(axis=0) >= LEAST_STUDIES)
    terms = np.tile(np.flatnonzero(has_enough), TIMES)
    places = (np.arange(len(terms)), terms)
    ones = np.ones(len(terms), np.float32)
    bare = sparse.csr_matrix((ones, places), shape=(len(terms), counts.shape[1]))
    has = sparse.csr_matrix((counts[:, terms] > 0).T @ sparse.diags_array(importance))
    shares = sparse.diags_array(1 / np.asarray(has.sum(axis=1)).ravel()) @ has
    return BareTerms(sparse.csr_matrix(bare + bare @ within), sparse.csr_matrix(shares))


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model, from counts of terms to probabilities.

    Attributes
    ----------
    material : Material
        With the terms of the model.
    weighting : GatedTfIdf
    predictor : LogLinear
    """

    material: Material
    weighting: GatedTfIdf
    predictor: LogLinear

    def predict(self, counts: sparse.csr_matrix) -> Iterator[Floats]:
        """Yield the probabilities of texts, some at a time."""
        features = self.weighting.transform(counts)
        for rows in slices(features.shape[0], CHUNK):
            yield self.predictor.predict(features[rows])

    def article_counts(self) -> sparse.csr_matrix:
        """Count the terms of articles, weighted as far as their length opens the gate."""
        articles = self.material.articles
        return articles.counts(self.weighting.gates.of(articles.counts(), N_SECTIONS).long)


class PredictedTexts(NamedTuple):
    """Texts of one kind: maps, some at a time; number of known terms and study of each."""

    maps: Iterable[Floats]
    n_terms: NDArray[np.integer]
    studies: Rows


def kinds_of_text(fit: Fit, rows: Rows, seed: int = 0) -> Iterator[PredictedTexts]:
    """Yield studies as texts of each kind: whole, title, keywords, one keyword, article.

    Articles are read as users' texts are, with their sides and denials: whole, and their first
    words.

    Parameters
    ----------
    fit : Fit
    rows : array of int
        Studies.
    seed : int
        Seed of the keyword that is drawn.

    Yields
    ------
    PredictedTexts
    """
    material = fit.material
    yield _of_counts(fit, material.counts[rows], rows)
    yield _of_counts(fit, material.sections["title"][rows], rows)
    keywords = material.sections["keywords"][rows]
    bare = sparse.csr_matrix(keywords - keywords @ material.within)[:, : material.n_known]
    bare.data[bare.data <= 0] = 0
    bare.eliminate_zeros()
    some = np.flatnonzero(np.diff(bare.indptr))
    yield _of_counts(fit, keywords[some], rows[some])
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(bare.indices[bare.indptr[i] : bare.indptr[i + 1]]) for i in some]
    ones = np.ones(len(some), np.float32)
    shape = (len(some), material.counts.shape[1])
    one = sparse.csr_matrix((ones, (np.arange(len(some)), drawn)), shape=shape)
    yield _of_counts(fit, sparse.csr_matrix(one + one @ material.within), rows[some])
    if np.isin(material.articles.study, rows).any():
        model, here = to_encoder(fit, None, None, rows), set(rows.tolist())
        articles = [(row, text) for row, text in material.read_articles() if row in here]
        studies = np.array([row for row, _ in articles])
        for n_words in (None, *CUTS):
            yield _of_texts(model, (_cut(text, n_words) for _, text in articles), studies)


def _of_counts(fit: Fit, counts: sparse.csr_matrix, studies: Rows) -> PredictedTexts:
    """Predict texts that are counts of terms."""
    known = ~fit.weighting.gates.is_extra
    n_terms = np.diff(sparse.csr_matrix(counts[:, known]).indptr)
    return PredictedTexts(fit.predict(counts), n_terms, studies)


def _of_texts(model: Encoder, texts: Iterable[str], studies: Rows) -> PredictedTexts:
    """Predict texts as `Encoder.encode` does."""
    maps, n_terms = [], []
    for encoding in model.encode_many(texts):
        maps.append(encoding.probabilities[None])
        categories = [model.vocabulary_.category(term) for term in encoding.uses]
        n_terms.append(len(categories) - categories.count("extra"))
    return PredictedTexts(maps, np.array(n_terms), studies)


def _cut(text: str, n_words: int | None) -> str:
    """Return the first words of a text.

    >>> _cut("One two  three", 2)
    'One two'
    """
    ends = [word.end() for word in islice(re.finditer(r"\S+", text), n_words)]
    return text[: ends[-1]] if ends else text


class HeldTexts(NamedTuple):
    """Scores of texts that a model did not see."""

    n_terms: NDArray[np.integer]  # known ones
    gain: NDArray[np.float64]  # true, over the mean map, in nats
    expected: NDArray[np.float64]  # by the model's own account
    levels: NDArray[np.float64]  # level of each peak
    text: Rows  # text of each peak


def score_held(fit: Fit, rows: Rows) -> list[HeldTexts]:
    """Score a model on texts of all kinds of studies that it did not see."""
    return [score_texts(fit, texts) for texts in kinds_of_text(fit, rows)]


def score_texts(fit: Fit, texts: PredictedTexts) -> HeldTexts:
    """Score texts on the peaks of their studies."""
    targets, m = fit.material.targets, fit.material.grid.n_regions
    bounds = np.searchsorted(targets.study, np.arange(len(targets) + 1))
    mean = np.log1p(fit.predictor.mean_map * m)
    gains: list[float] = []
    expected, levels, numbers = [], [], []
    for q in texts.maps:
        ratio = np.log1p(q * m) - mean
        expected += (q * ratio).sum(axis=1).tolist()
        some = texts.studies[len(gains) : len(gains) + len(q)].tolist()
        here = [targets.region[bounds[study] : bounds[study + 1]] for study in some]
        number = np.repeat(np.arange(len(here)), [len(region) for region in here])
        levels.append(peak_levels(q, q, number, np.concatenate(here)))
        numbers.append(number + len(gains))
        gains += [row[region].mean() for row, region in zip(ratio, here, strict=True)]
    return HeldTexts(
        texts.n_terms,
        np.array(gains),
        np.array(expected),
        np.concatenate(levels),
        np.concatenate(numbers),
    )


def calibrate(held: Sequence[HeldTexts]) -> LengthCalibration:
    """Calibrate a model by texts that models like it did not see."""
    offsets = np.cumsum([0, *(len(each.gain) for each in held)])
    numbers = [each.text + start for each, start in zip(held, offsets[:-1], strict=True)]
    return LengthCalibration.fit(
        np.concatenate([each.n_terms for each in held]),
        np.concatenate([each.levels for each in held]),
        np.concatenate(numbers),
        np.concatenate([each.expected for each in held]),
        np.concatenate([each.gain for each in held]),
    )


def to_encoder(
    fit: Fit, choice: Choice | None, calibration: LengthCalibration | None, rows: Rows
) -> Encoder:
    """Make an encoder that reads texts and predicts as a fit does.

    Parameters
    ----------
    fit : Fit
    choice : Choice or None
    calibration : LengthCalibration or None
    rows : array of int
        Studies that are counted; those close to a text can be found.

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
    model.term_studies_ = material.counts[rows].getnnz(axis=0)
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
