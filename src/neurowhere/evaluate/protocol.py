"""Protocol of the open benchmark: folds, what a model is given, and how it is scored.

**Folds.** Study i is tested in fold SHA-256(g) mod 10, where g is the PubMed id of its group: of
the study itself, or of the first of several that report the same peaks (twins). A fold thus depends
on the study alone, not on the corpus around it, and anybody can compute it.

**What is given.** The title and the term counts, or the texts, of studies; never the peaks of those
that are tested. A *kind* of text is one section, all of them together, or a whole article.

**Terms.** A model is also asked for the map of each of `TERMS`, alone, as a text.
"""

import hashlib
import time
import typing
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import digest
from neurowhere._tools.parallel import slices
from neurowhere.corpus import Corpus
from neurowhere.evaluate.metrics import (
    CHUNK,
    as_densities,
    combine,
    correlations,
    likelihood_matrix,
    overlaps,
    recalls,
    share_held,
    term_scores,
    without_hubs,
)
from neurowhere.evaluate.trial import prepare_material
from neurowhere.exceptions import CorpusError, DataWarning, FitError
from neurowhere.learn import Peaks, peak_levels, score_studies
from neurowhere.space import Targets, VoxelGrid, make_targets
from neurowhere.text.features import combine_sections

Rows = NDArray[np.intp]

VERSION = 1  # raised with any change that changes a score
N_FOLDS = 10
RESOLUTION_MM = 4.0
POOL = 1000  # studies among which one is to be found
ALL, ARTICLE = "all", "article"
SECTION_KINDS = ("title", "keywords", "abstract")
KINDS = (ALL, *SECTION_KINDS, ARTICLE)
SHARES = (0.5, 0.8, 0.95)
DECIMALS = 5  # decimals of retrieval scores, so that rounding errors do not break ties
MIN_TESTED = 5  # test studies with a term, and without it, for a score of the term
_TERMS = """
amygdala, hippocampus, thalamus, putamen, caudate, insula, cerebellum, cuneus, precuneus,
hypothalamus, brainstem, striatum, nucleus accumbens, ventral striatum, basal ganglia,
substantia nigra, prefrontal cortex, dorsolateral prefrontal cortex, orbitofrontal cortex,
medial prefrontal cortex, anterior cingulate cortex, posterior cingulate cortex, inferior
frontal gyrus, middle frontal gyrus, superior temporal gyrus, superior temporal sulcus, middle
temporal gyrus, fusiform gyrus, parahippocampal gyrus, angular gyrus, supramarginal gyrus,
intraparietal sulcus, inferior parietal lobule, superior parietal lobule, motor cortex, premotor
cortex, supplementary motor area, somatosensory cortex, visual cortex, auditory cortex, corpus
callosum, working memory, episodic memory, attention, language, reading, speech, semantic,
phonological, music, pain, touch, reward, fear, emotion, anxiety, faces, motion, reaching,
grasping, imagery, motor imagery, inhibition, response inhibition, conflict, error, decision
making, risk, learning, memory retrieval, encoding, recognition, navigation, arithmetic,
empathy, social, sleep, aging, depression, schizophrenia, autism, adhd, bipolar disorder,
obsessive compulsive disorder, alzheimer disease, parkinson disease, stroke, epilepsy, aphasia,
dyslexia, multiple sclerosis, addiction, smoking, alcohol, cocaine, obesity, food, eye
movements, saccades, olfactory, taste, auditory, visual, tactile, words, verbal fluency, stroop,
default mode
"""
TERMS = tuple(" ".join(term.split()) for term in _TERMS.split(","))


def fold_of(group: str) -> int:
    """Return the fold in which the studies of a group are tested.

    Parameters
    ----------
    group : str
        PubMed id of the first study of the group.

    Returns
    -------
    int
        From 0 to 9.

    Examples
    --------
    >>> fold_of("20619347")
    9
    """
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % N_FOLDS


@typing.runtime_checkable
class Entry(typing.Protocol):
    """What every entry has."""

    name: str

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return one map a study: (n_studies, n_voxels)."""
        ...


class TermQueries(NamedTuple):
    """Terms to ask for, as texts, and which studies mention them."""

    texts: Corpus
    is_mentioned: NDArray[np.bool_]  # (n_terms, n_studies)


@dataclass(frozen=True, eq=False)
class Protocol:
    """Studies of a benchmark, their folds, and what they report on the grid.

    Attributes
    ----------
    corpus : Corpus
        Studies with a peak in the brain.
    grid : VoxelGrid
        On which maps are given and scored.
    targets : Targets
        Densities and peaks of the studies.
    articles : mapping of str to str
        Texts of articles by the id of their study.
    """

    corpus: Corpus
    grid: VoxelGrid
    targets: Targets
    articles: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def prepare(
        cls, corpus: Corpus, articles: Corpus | None = None, grid: VoxelGrid | None = None
    ) -> "Protocol":
        """Keep the studies with a peak in the brain, and place their peaks.

        Parameters
        ----------
        corpus : Corpus
            With peaks, and with term counts or texts.
        articles : Corpus, optional
            Texts of articles, by the same ids.
        grid : VoxelGrid, optional
            By default that of the protocol, of 4 mm.

        Returns
        -------
        Protocol
        """
        if not corpus.counts and not corpus.sections:
            raise CorpusError(f"expected term counts or texts, but there are none ({corpus!r})")
        grid = VoxelGrid(RESOLUTION_MM) if grid is None else grid
        kept = prepare_material(corpus, grid, None).corpus
        xyz_mm = kept.peaks[["x", "y", "z"]].to_numpy(np.float64)
        targets = make_targets(grid, grid, xyz_mm, kept.peak_rows, len(kept))
        return cls(kept, grid, targets, {} if articles is None else texts_by_id(articles))

    @cached_property
    def ids(self) -> NDArray[np.str_]:
        """Ids of the studies."""
        return self.corpus.documents["id"].to_numpy(dtype=str)

    @cached_property
    def folds(self) -> NDArray[np.intp]:
        """Fold in which each study is tested."""
        return np.array([fold_of(group) for group in self.corpus.groups.astype(str)], np.intp)

    @property
    def kinds(self) -> list[str]:
        """Kinds of text that the studies have."""
        sections = self.corpus.counts or self.corpus.sections or {}
        has = {ALL, *sections, *([ARTICLE] if self.articles else [])}
        return [kind for kind in KINDS if kind in has]

    def split(self, fold: int) -> tuple[Rows, Rows]:
        """Return the rows to train on and the rows to test on, these in an order by hash."""
        test = np.flatnonzero(self.folds == fold)
        shuffled = sorted(test.tolist(), key=lambda row: digest(str(self.ids[row])))
        return np.flatnonzero(self.folds != fold), np.array(shuffled, dtype=np.intp)

    def given(self, rows: Rows, kind: str) -> Corpus:
        """Return what a model is given of test studies: a kind of text, and no peaks."""
        hidden = without_peaks(self.corpus.select(rows))
        if kind == ALL:
            return hidden
        if kind == ARTICLE:
            texts = [self.articles[name] for name in self.ids[rows].tolist()]
            return replace(hidden, sections={"body": texts}, counts=None, terms=None)
        return replace(
            hidden,
            sections=hidden.sections and {kind: hidden.sections[kind]},
            counts=hidden.counts and {kind: hidden.counts[kind]},
        )

    def has_kind(self, rows: Rows, kind: str) -> NDArray[np.bool_]:
        """Return which studies have a text of a kind; the others are not asked for it."""
        if kind == ARTICLE:
            return np.array([name in self.articles for name in self.ids[rows].tolist()], bool)
        if not len(rows):
            return np.zeros(0, dtype=bool)
        return ~self.given(rows, kind).is_empty

    def peaks(self, rows: Rows) -> Peaks:
        """Return the peaks of some studies that are scored."""
        seen = self.targets.select(rows)
        return Peaks(seen.study, seen.region, len(rows))

    def mean_map(self, rows: Rows) -> NDArray[np.float64]:
        """Return the mean density of studies: (n_voxels,)."""
        some = self.targets.shares[rows[self.targets.has_mass[rows]]]
        mean = sparse.csr_matrix(some.mean(axis=0))
        return np.asarray(
            self.targets.smooth(mean)[0] if self.targets.smooth else mean.toarray()[0]
        )

    def term_queries(self, rows: Rows) -> TermQueries:
        """Return the terms that enough of the studies mention, and enough do not."""
        queries, counts = _queries(self.corpus)
        mentioned = np.asarray((counts[rows] > 0).todense()).T
        totals = mentioned.sum(axis=1)
        usable = (totals >= MIN_TESTED) & (totals <= len(rows) - MIN_TESTED)
        return TermQueries(queries.select(usable), mentioned[usable])

    def describe(self) -> dict[str, Any]:
        """Describe the benchmark in plain values, with fingerprints."""
        shares = self.targets.shares
        return {
            "protocol": VERSION,
            "studies": len(self.corpus),
            "peaks": len(self.targets.study),
            "voxels": self.grid.n_regions,
            "kinds": self.kinds,
            "articles": len(self.articles),
            "corpus_sha256": digest(
                repr(self.ids.tolist()), self.folds.astype(np.int64), shares.data.astype(np.float64)
            ),
        }


def texts_by_id(articles: Corpus) -> dict[str, str]:
    """Return the texts of documents by their ids, and by their PubMed ids where these are known.

    Parameters
    ----------
    articles : Corpus

    Returns
    -------
    dict of str to str
    """
    if articles.texts is None:
        raise CorpusError(f"expected articles with their texts, but there are none ({articles!r})")
    texts = dict(zip(articles.documents["id"].astype(str), articles.texts, strict=True))
    if "pmid" in articles.documents:
        pmids = articles.documents["pmid"].astype(str)
        texts |= {k: text for k, text in zip(pmids, articles.texts, strict=True) if k}
    return {name: text for name, text in texts.items() if text.strip()}


def without_peaks(corpus: Corpus) -> Corpus:
    """Return a corpus whose peaks are hidden.

    Parameters
    ----------
    corpus : Corpus

    Returns
    -------
    Corpus
    """
    return replace(corpus, peaks=corpus.peaks.iloc[:0])


def _queries(corpus: Corpus) -> tuple[Corpus, sparse.csr_matrix]:
    """Return each term as a text, and how often studies mention it: (n_studies, n_terms)."""
    if corpus.counts:
        names = [term for term in TERMS if term in set(corpus.terms or ())]
        columns = [(corpus.terms or []).index(name) for name in names]
        counts = combine_sections(corpus.counts)[:, columns]
        places = (np.ones(len(names), np.float32), (np.arange(len(names)), columns))
        ones = sparse.csr_matrix(places, shape=(len(names), len(corpus.terms or ())))
        return replace(
            _titled(names), sections=None, counts={"abstract": ones}, terms=corpus.terms
        ), counts
    from neurowhere.text import TermCounter, Vocabulary

    texts = _titled(list(TERMS))
    return texts, TermCounter(Vocabulary(list(TERMS))).count(corpus.texts or [])


def _titled(names: list[str]) -> Corpus:
    """Return a corpus of one text for each name, without peaks."""
    documents = pd.DataFrame({"id": names, "title": names, "space": "MNI", "source_space": ""})
    peaks = pd.DataFrame({"id": [], "x": [], "y": [], "z": []})
    return Corpus(documents, peaks, {"abstract": names})


# ---- an entry on a fold


def run_entry(setting: Protocol, model: Entry, fold: int) -> dict[str, Any]:
    """Fit an entry on the training studies of a fold, and score it on the others.

    Parameters
    ----------
    setting : Protocol
    model : Entry
    fold : int

    Returns
    -------
    dict
        In JSON values: for each kind of text its metrics, and the scores of each study.
    """
    train, test = setting.split(fold)
    test = _testable(setting, model, test, fold)
    seconds = _fit(model, setting.corpus.select(train))
    mean_map = setting.mean_map(train)
    kinds = {}
    for kind in setting.kinds:
        rows = test[setting.has_kind(test, kind)]
        if kind in getattr(model, "kinds", KINDS) and len(rows):
            kinds[kind] = _score_kind(setting, model, rows, kind, mean_map)
    if not kinds:
        raise FitError(f"no test study of fold {fold} has a kind of text that {model.name} takes")
    has_maps_only = hasattr(model, "known")
    return {
        "entry": model.name,
        "fold": fold,
        "fit_seconds": seconds,
        "megabytes": _megabytes(model),
        "kinds": kinds,
        "terms": {} if has_maps_only else _score_terms(setting, model, test, mean_map),
    }


def _testable(setting: Protocol, model: Entry, test: Rows, fold: int) -> Rows:
    """Return the test studies that the model has not seen, and has a map of if it has maps."""
    seen = frozenset(map(str, getattr(model, "trained_on", ())))
    ids = setting.ids[test]
    unseen = test[[name not in seen for name in ids.tolist()]]
    if not len(unseen):
        raise FitError(
            f"{model.name} was trained on all {len(test):,} test studies of fold {fold}; fit it to "
            "the training studies of each fold"
        )
    known: Collection[str] | None = getattr(model, "known", None)
    if known is None:
        return unseen
    mapped = unseen[[name in known for name in setting.ids[unseen].tolist()]]
    if not len(mapped):
        raise FitError(
            f"{model.name} has no map of the {len(unseen):,} test studies of fold {fold}: expected "
            f"ids such as {str(ids[0])!r}, got {next(iter(known), '')!r}"
        )
    if missing := len(unseen) - len(mapped):
        warnings.warn(
            f"{model.name} has no map of {missing:,} of {len(unseen):,} test studies of fold "
            f"{fold}, which are left out",
            DataWarning,
            stacklevel=3,
        )
    return mapped


def _fit(model: Entry, train: Corpus) -> float | None:
    """Fit a model that can be fitted; return the seconds."""
    fit = getattr(model, "fit", None)
    if fit is None:
        return None
    start = time.perf_counter()
    fit(train)
    return round(time.perf_counter() - start, 3)


def _score_kind(
    setting: Protocol, model: Entry, rows: Rows, kind: str, mean_map: NDArray[np.floating]
) -> dict[str, Any]:
    given = setting.given(rows, kind)
    start = time.perf_counter()
    maps = _predict(model, given, setting.grid.n_regions)
    seconds = (time.perf_counter() - start) / len(rows)
    densities, peaks = as_densities(maps), setting.peaks(rows)
    scale = np.full(setting.grid.n_regions, float(setting.grid.n_regions))
    nats = score_studies([densities], peaks, scale)
    same = np.broadcast_to(mean_map / mean_map.sum(), densities.shape)
    mean_nats = score_studies([same], peaks, scale)
    truth = setting.targets.rows(rows)  # (n, m)
    pearson, dice = correlations(maps, truth), overlaps(maps, truth)
    levels = peak_levels(densities, densities, peaks.study, peaks.region)
    metrics = {
        "studies": len(rows),
        "nats": nats.mean(),
        "nats_above_mean_map": (nats - mean_nats).mean(),
        **_coverage(model, given, levels, peaks.study),
        **_retrieval(setting, rows[:POOL], densities[:POOL], mean_map),
        "pearson": pearson.mean(),
        "dice": dice.mean(),
        "milliseconds": 1000 * seconds,
    }
    return {
        "metrics": {name: _plain(value) for name, value in metrics.items()},
        "studies": {
            "id": setting.ids[rows].tolist(),
            "nats": nats.round(6).tolist(),
            "pearson": pearson.round(6).tolist(),
            "dice": dice.round(6).tolist(),
        },
    }


def _predict(model: Entry, given: Corpus, n_voxels: int) -> NDArray[np.floating]:
    maps = np.asarray(model.predict(given))
    if maps.shape != (len(given), n_voxels) or maps.dtype.kind not in "fiub":
        raise FitError(
            f"expected numbers of shape ({len(given):,}, {n_voxels:,}) from {model.name}, got "
            f"{maps.dtype} of shape {maps.shape}; predict on the grid of the benchmark"
        )
    finite = np.array([np.isfinite(row).all() for row in maps], dtype=bool)
    if not finite.all():
        first = given.documents["id"].iloc[int(finite.argmin())]
        raise FitError(
            f"{model.name} has NaN or infinite values in {np.count_nonzero(~finite):,} of "
            f"{len(maps):,} maps, first in that of {first}; replace them"
        )
    if flat := len(maps) - np.count_nonzero(maps.max(axis=1) > 0):
        message = f"{flat:,} of {len(maps):,} maps of {model.name} are positive nowhere: uniform"
        warnings.warn(message, DataWarning, stacklevel=4)
    return maps


def _coverage(
    model: Entry, given: Corpus, levels: NDArray[np.float64], study: NDArray[np.integer]
) -> dict[str, float]:
    """Share of the peaks in regions that should hold a share of them."""
    asked = getattr(model, "masses", None)
    table = {}
    for share in SHARES:
        masses = np.full(len(given), share) if asked is None else np.asarray(asked(given, share))
        if masses.shape != (len(given),):
            raise FitError(f"expected one mass a study from {model.name}, got {masses.shape}")
        table[f"coverage_{round(100 * share)}"] = share_held(levels, study, masses)
    return table


def _retrieval(
    setting: Protocol, rows: Rows, densities: NDArray[np.float32], mean_map: NDArray[np.floating]
) -> dict[str, float]:
    """Recall from one query alone, and from all queries at once."""
    scores = _gains(setting, rows, densities, mean_map)
    table = {_short(name): value for name, value in recalls(scores).items()}
    together = recalls(without_hubs(combine(scores)))
    return table | {
        f"{_short(name)}_together": value for name, value in together.items() if "recall" in name
    }


def _short(name: str) -> str:
    """Name of a column: "text to coordinates, recall at 10" is text_recall_10."""
    direction, _, metric = name.partition(", ")
    query = direction.split()[0]
    words = metric.lower().replace("recall at", "recall").replace(" and ", "_")
    return f"{query}_{words.replace(' ', '_')}"


def _gains(
    setting: Protocol, rows: Rows, densities: NDArray[np.float32], mean_map: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Likelihood of the peaks of each study under each map, above the mean map's.

    What is likely under any map gains nothing, and no other query is needed to say so.
    """
    peaks = setting.peaks(rows)
    mean = (mean_map / mean_map.sum()).astype(np.float32)[None]
    n_voxels = float(setting.grid.n_regions)
    parts = []
    for some in slices(len(densities), CHUNK):
        stack = np.concatenate([densities[some], mean])
        nats = likelihood_matrix(stack, peaks.study, peaks.region, n_voxels)
        parts.append(nats[:-1] - nats[-1])
    return np.round(np.concatenate(parts), DECIMALS)


def _score_terms(
    setting: Protocol, model: Entry, test: Rows, mean_map: NDArray[np.floating]
) -> dict[str, Any]:
    """Score the maps of single terms by the studies that mention them."""
    queries = setting.term_queries(test)
    if not len(queries.texts):
        return {}
    maps = as_densities(_predict(model, queries.texts, setting.grid.n_regions))
    found = term_scores(_gains(setting, test, maps, mean_map), queries.is_mentioned)
    return {
        "term_auc": found.auc,
        "term_auc_null": found.null,
        "terms_above_null": found.above,
        "terms": found.n_terms,
    }


def _megabytes(model: Entry) -> float | None:
    """Return the size of a model, if it says so."""
    size = getattr(model, "size_mb", None)
    return None if size is None else round(float(size), 3)


def _plain(value: Any) -> float | int:
    return value if isinstance(value, int) else round(float(value), 6)
