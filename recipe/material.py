"""Material: all that the shipped model is learned from, as counts of terms and as peaks.

No text is kept: studies, articles and texts without coordinates are counted once. Articles that
calibrate a model are read again, as users' texts are.

What a word says by the company that it keeps needs no coordinates. With h_i = x_iᵀA the hidden
vector of text i and h̄ their mean, word t of n_t texts goes with its `associates`

    T_t = n_t / (n_t + n₀) · (mean of h_i over the texts with t − h̄),

where what t itself adds to the texts is taken out.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.corpus import Corpus
from neurowhere.model.reading import place_weights
from neurowhere.space import VoxelGrid, make_targets
from neurowhere.space.density import Targets
from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.features import combine_sections
from neurowhere.text.words import cased_words_of, fold, word_set

LEAST_STUDIES = 6  # studies with a word that may be an extra one
# Words that join others, and what articles say whatever they are about: never extra ones.
JOINING = word_set(
    """about above according after again against all along also although among amongst an and
    another any are around as at be because been before being below between both but by can
    cannot could did do does doing done down due during each either even ever every except few
    for from further given had has have having he her here hers him his how however if in
    including into is it its itself just least less like made make many may might more most much
    must my near neither no nor not now of off often on once one ones only onto or other others
    our out over own per perhaps quite rather same several she should since so some somewhat
    still such than that the their them then there therefore these they this those though
    through thus to together too toward towards two three four five under until up upon us use
    used using very via was we well were what when where whereas whether which while who whom
    whose why will with within without would yes yet you your able admitted aged ago applied
    approach based became become case cases clear compared consistent day days described
    developed evidence examination examined exam following found general group groups help
    higher however impression indicate indicated known large larger left likely lower man men
    month months new normal noted note number old part patient patients performed period present
    presented presenting presents previous previously reported report result results revealed
    right same scan scans seen seems shown showed shows small smaller studies study suggest
    suggested suggests symptom symptoms taken test tested tests time times week weeks woman
    women year years"""
)
WORD = re.compile(r"[a-z]{3,}")
PASSAGE = 1500  # characters of a text that are counted together
FINE_MM, COARSE_MM, COARSE_BANDWIDTH = 4, 8, 0.6
Floats = NDArray[np.float32]

FEW_TEXTS = 10.0  # n₀
TELLING_STUDIES = 8  # studies with an extra word
LEAST_RATIO, LEAST_RATIO_PER_STUDY = 2.0, 0.05  # variance of its studies over that of all


@dataclass(frozen=True, eq=False)
class ArticleMentions:
    """Mentions of terms in articles.

    Attributes
    ----------
    study : array of shape (n_articles,)
        The study of each article.
    article, term : arrays of shape (n_mentions,)
        Where each mention is, and of what.
    weight : array of shape (n_mentions,)
        Log weight by section and sentence; see `neurowhere.model.reading`.
    within : csr_matrix of shape (n_terms, n_terms)
        Terms within longer ones.
    """

    study: NDArray[np.intp]
    article: NDArray[np.int32]
    term: NDArray[np.int32]
    weight: NDArray[np.float32]
    within: sparse.csr_matrix

    @classmethod
    def read(cls, texts: Iterable[tuple[int, str]], extractor: TermExtractor) -> "ArticleMentions":
        """Read articles, each with the index of its study."""
        studies: list[int] = []
        parts: list[tuple[NDArray[Any], ...]] = []
        for number, (study, text) in enumerate(texts):
            document = extractor.counter.read(text)
            term = np.array([name.term for name in document.names], np.int32)
            starts = np.array([document.starts[name.first] for name in document.names], np.intp)
            is_structure = np.array([name.is_structure for name in document.names], bool)
            weight = place_weights(text, starts, term, is_structure)
            studies.append(study)
            article = np.full(len(term), number, np.int32)
            parts.append((article, term, weight.astype(np.float32)))
        articles, terms, weights = map(np.concatenate, zip(*parts, strict=True))
        return cls(np.array(studies, np.intp), articles, terms, weights, extractor.within)

    def counts(self, gate: NDArray[np.floating] | float = 0.0) -> sparse.csr_matrix:
        """Count terms, each mention by exp(h v), where v is its weight and h the gate.

        Parameters
        ----------
        gate : float or array of shape (n_articles,)

        Returns
        -------
        csr_matrix of shape (n_articles, n_terms)
        """
        gates = np.broadcast_to(np.asarray(gate, np.float32), self.study.shape)
        weights = np.exp(gates[self.article] * self.weight)
        shape = (len(self.study), self.within.shape[0])
        counts = sparse.csr_matrix((weights, (self.article, self.term)), shape=shape)
        counts.eliminate_zeros()
        return sparse.csr_matrix(counts + counts @ self.within)

    def select(self, columns: NDArray[np.intp]) -> "ArticleMentions":
        """Return the mentions of some terms."""
        position = np.full(self.within.shape[0], -1, np.int32)
        position[columns] = np.arange(len(columns))
        kept = position[self.term] >= 0
        return replace(
            self,
            article=self.article[kept],
            term=position[self.term[kept]],
            weight=self.weight[kept],
            within=sparse.csr_matrix(self.within[columns][:, columns]),
        )


@dataclass(frozen=True, eq=False)
class Material:
    """Studies, articles and texts without coordinates, as counts of the same terms.

    Attributes
    ----------
    vocabulary : Vocabulary
        Known terms, then extra words or candidates for them.
    n_known : int
        Number of known terms.
    sections : dict of str to csr_matrix of shape (n_studies, n_terms)
    corpus : Corpus
        The studies, all of which have a peak in the brain.
    articles : ArticleMentions
    read_articles : callable
        Yields the texts of the articles again, each with the index of its study.
    bodies : list of csr_matrix
        Counts of texts without coordinates, by text and by passage.
    places : dict of str to array
        Densities of the names of places; see `recipe.places`.
    """

    vocabulary: Vocabulary
    n_known: int
    sections: dict[str, sparse.csr_matrix]
    corpus: Corpus
    articles: ArticleMentions
    read_articles: Callable[[], Iterable[tuple[int, str]]]
    bodies: list[sparse.csr_matrix]
    places: Mapping[str, NDArray[np.float32]]

    @property
    def within(self) -> sparse.csr_matrix:
        """Terms within longer ones."""
        return self.articles.within

    @cached_property
    def counts(self) -> sparse.csr_matrix:
        """Counts of studies in all sections together."""
        return combine_sections(self.sections)

    @cached_property
    def grid(self) -> VoxelGrid:
        """Grid of the predictions."""
        return VoxelGrid(FINE_MM)

    @cached_property
    def coarse_grid(self) -> VoxelGrid:
        """Grid that a fit begins with."""
        return VoxelGrid(COARSE_MM)

    @cached_property
    def targets(self) -> Targets:
        """Densities of the studies on the grid."""
        return self._targets(self.grid, 1.0)

    @cached_property
    def coarse_targets(self) -> Targets:
        """Densities of the studies on the coarse grid, as wide in mm as on the other."""
        return self._targets(self.coarse_grid, COARSE_BANDWIDTH)

    def _targets(self, grid: VoxelGrid, bandwidth: float) -> Targets:
        xyz_mm = self.corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
        rows = self.corpus.peak_rows
        return make_targets(grid, grid, xyz_mm, rows, len(self.corpus), bandwidth=bandwidth)

    def select(self, columns: NDArray[np.intp]) -> "Material":
        """Return the material of some terms, the known ones first."""
        return replace(
            self,
            vocabulary=self.vocabulary.subset(self.vocabulary.terms[i] for i in columns.tolist()),
            n_known=int((columns < self.n_known).sum()),
            sections={name: counts[:, columns] for name, counts in self.sections.items()},
            articles=self.articles.select(columns),
            bodies=[counts[:, columns] for counts in self.bodies],
        )


def with_candidates(vocabulary: Vocabulary, corpus: Corpus) -> Vocabulary:
    """Return a vocabulary with the words of a corpus that may turn out to be extra ones.

    Parameters
    ----------
    vocabulary : Vocabulary
    corpus : Corpus
        With counts of many words.

    Returns
    -------
    Vocabulary
        The known terms come first; the words have the category "extra".
    """
    names = corpus.terms or []
    joining = frozenset(map(fold, JOINING))
    totals = combine_sections(corpus.counts or {})
    words: dict[tuple[str, ...], str] = {}
    for name, n_studies in zip(names, totals.getnnz(axis=0).tolist(), strict=True):
        is_word = WORD.fullmatch(name) and fold(name) not in joining  # nor "beings"
        if is_word and n_studies >= LEAST_STUDIES and name not in vocabulary:
            words.setdefault(tuple(map(fold, cased_words_of(name))), name)
    candidates = sorted(words.values())
    return Vocabulary(
        [*vocabulary.terms, *candidates],
        dict(vocabulary.synonyms),
        {**vocabulary.categories, **dict.fromkeys(candidates, "extra")},
    )


def count_bodies(texts: Iterable[str], extractor: TermExtractor) -> list[sparse.csr_matrix]:
    """Count the terms of texts, by text and by passage.

    Parameters
    ----------
    texts : iterable of str
    extractor : TermExtractor

    Returns
    -------
    list of csr_matrix
    """
    passages: list[str] = []
    bounds = [0]
    for text in texts:
        passages += [text[i : i + PASSAGE] for i in range(0, len(text), PASSAGE)]
        bounds.append(len(passages))
    counts = extractor.counts(passages)
    text_of = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    ones = np.ones(len(text_of), np.float32)
    groups = sparse.csr_matrix((ones, (text_of, np.arange(len(text_of)))))
    return [sparse.csr_matrix(groups @ counts), counts]


def associates(counts: sparse.csr_matrix, features: sparse.csr_matrix, loadings: Floats) -> Floats:
    """Return the associates of each word in the dimensions of a model.

    Parameters
    ----------
    counts : csr_matrix of shape (n_texts, n_words)
        Words of texts; the first are the terms of the model.
    features : csr_matrix of shape (n_texts, n_terms)
        Features of the terms in the same texts.
    loadings : array of shape (n_terms, r)
        A.

    Returns
    -------
    array of shape (n_words, r)
    """
    n_terms = features.shape[1]
    has = _has(counts)
    n = has.getnnz(axis=0)  # (n_words,)
    hidden = np.asarray(features @ loadings)
    means = np.asarray(has.T @ hidden) / np.maximum(n, 1)[:, None]
    others = np.repeat(hidden.mean(axis=0)[None], has.shape[1], axis=0)
    own = np.asarray(features.multiply(has[:, :n_terms]).sum(axis=0)).ravel()
    means[:n_terms] -= (own / np.maximum(n[:n_terms], 1))[:, None] * loadings
    others[:n_terms] -= np.asarray(features.mean(axis=0)).ravel()[:, None] * loadings
    found = (means - others) * (n / (n + FEW_TEXTS))[:, None]
    found[n == 0] = 0
    result: Floats = found.astype(np.float32)
    return result


def telling_words(counts: sparse.csr_matrix, hidden: Floats) -> NDArray[np.intp]:
    """Return which words tell where: the studies with them differ from the others.

    Parameters
    ----------
    counts : csr_matrix of shape (n_studies, n_words)
    hidden : array of shape (n_studies, r)
        Studies in the dimensions of a model.

    Returns
    -------
    array of int
        Indices of the words.
    """
    has = _has(counts)
    n = has.getnnz(axis=0)
    mean = hidden.mean(axis=0)
    variance = ((hidden - mean) ** 2).sum(axis=1).mean()
    means = np.asarray(has.T @ hidden) / np.maximum(n, 1)[:, None]
    per_study = ((means - mean) ** 2).sum(axis=1) / variance
    enough = (n >= TELLING_STUDIES) & (n * per_study >= LEAST_RATIO)
    return np.flatnonzero(enough & (per_study >= LEAST_RATIO_PER_STUDY))


def _has(counts: sparse.csr_matrix) -> sparse.csc_matrix:
    """Return a one for each word that a text has."""
    has = sparse.csc_matrix(counts, dtype=np.float32, copy=True)
    has.eliminate_zeros()
    has.data[:] = 1
    return has
