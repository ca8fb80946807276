"""Protocol of the open benchmark: folds, what a model is given, and how it is scored.

**Folds.** Study i is tested in fold SHA-256(g) mod 10, where g is the PubMed id of its group: of
the study itself, or of the first of several that report the same peaks (twins). A fold thus depends
on the study alone, not on the corpus around it, and anybody can compute it. The fold `NEWEST` tests
the tenth of the studies with the highest PubMed ids, and trains on older ones.

**What is given.** The title and the term counts, or the texts, of studies; never the peaks of those
that are tested. A *kind* of text is one section, all of them together, or a whole article.

**Terms.** A model is also asked for the map of each of `TERMS`, alone, as a text.
"""

import hashlib
import time
import typing
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import digest, shipped_lines
from neurowhere._tools.parallel import slices
from neurowhere.corpus import Corpus
from neurowhere.evaluate.metrics import (
    CHUNK,
    as_densities,
    correlations,
    likelihood_matrix,
    overlaps,
    recalls,
    share_held,
    term_scores,
)
from neurowhere.evaluate.studies import StudyList, fingerprints, hash_of
from neurowhere.evaluate.trial import prepare_material
from neurowhere.exceptions import CorpusError, DataWarning, FitError
from neurowhere.learn import Peaks, peak_levels, score_studies
from neurowhere.space import Targets, VoxelGrid, make_targets
from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.features import combine_sections

Rows = NDArray[np.intp]
Fold = int | str

VERSION = 2  # raised with any change that changes a score
N_FOLDS = 10
NEWEST = "newest"
RESOLUTION_MM = 4.0
POOLS = (1000, 500, 200, 100, 50, 20, 10, 5)  # numbers of candidates to find a study among
REFERENCES = 500  # training studies whose maps standardise the scores of retrieval
ALL, ARTICLE = "all", "article"
SECTION_KINDS = ("title", "keywords", "abstract")
KINDS = (ALL, *SECTION_KINDS, ARTICLE)
SHARES = (0.5, 0.8, 0.95)
LEAST_CEILING = 1.0  # nats above the mean map, below which no entry is impossible
LEAST_REFERENCES = 20  # with fewer, scores are not standardised
ROUNDING = 1e-6
DECIMALS = 5  # decimals of retrieval scores, so that rounding errors do not break ties
MIN_TESTED = 5  # test studies with a term, and without it, for a score of the term
UNKNOWN = "unknown"  # what a model was trained on
TERMS = tuple(shipped_lines("neurowhere.evaluate", "terms.txt"))


def fold_of(group: str) -> int:
    """Return the fold, 0 to 9, in which the studies of a group are tested: of its first PubMed id.

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
    task : str
        Name of the frozen list of the studies, "" if there is none.
    """

    corpus: Corpus
    grid: VoxelGrid
    targets: Targets
    articles: Mapping[str, str] = field(default_factory=dict)
    task: str = ""

    @classmethod
    def prepare(
        cls,
        corpus: Corpus,
        articles: Corpus | None = None,
        grid: VoxelGrid | None = None,
        ids: StudyList | None = None,
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
        ids : StudyList, optional
            Frozen list of the studies to keep; they have to be as the list says.

        Returns
        -------
        Protocol
        """
        if not corpus.counts and not corpus.sections:
            raise CorpusError(f"expected term counts or texts, but there are none ({corpus!r})")
        texts = {} if articles is None else texts_by_id(articles)
        if ids is not None:
            corpus, texts = ids.select(corpus), ids.matching(texts)
        grid = VoxelGrid(RESOLUTION_MM) if grid is None else grid
        kept = prepare_material(corpus, grid, None).corpus
        xyz_mm = kept.peaks[["x", "y", "z"]].to_numpy(np.float64)
        targets = make_targets(grid, grid, xyz_mm, kept.peak_rows, len(kept))
        known = set(kept.documents["id"].astype(str))
        texts = {name: text for name, text in texts.items() if name in known}
        return cls(kept, grid, targets, texts, "" if ids is None else ids.name)

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

    def split(self, fold: Fold) -> tuple[Rows, Rows]:
        """Return the rows to train on and the rows to test on, these in an order by hash."""
        is_test = self._is_newest() if fold == NEWEST else self.folds == fold
        rest = ~np.isin(self.corpus.groups.astype(str), self.corpus.groups[is_test].astype(str))
        return np.flatnonzero(rest), self._by_hash(np.flatnonzero(is_test))

    def _by_hash(self, rows: Rows) -> Rows:
        return np.array(sorted(rows.tolist(), key=lambda i: digest(str(self.ids[i]))), np.intp)

    def references(self, train: Rows, model: Entry) -> tuple[Rows, str]:
        """Return training studies that a model has texts or maps of, and their kind of text."""
        takes = getattr(model, "kinds", KINDS)
        kind = next((each for each in self.kinds if each in takes), ALL)
        rows = self._by_hash(train)
        known = getattr(model, "known", None)
        if known is not None:
            rows = rows[np.isin(self.ids[rows], list(known(kind)) if kind in takes else [])]
        rows = rows[: 2 * REFERENCES]
        return rows[self.has_kind(rows, kind)][:REFERENCES], kind

    def _is_newest(self) -> NDArray[np.bool_]:
        """Return which studies are of the tenth with the highest PubMed ids."""
        if not all(name.isdigit() for name in self.ids.tolist()):
            raise FitError("expected PubMed ids, to find the newest studies; leave the newest out")
        numbers = self.ids.astype(np.int64)
        newest: NDArray[np.bool_] = numbers >= np.sort(numbers)[-max(len(numbers) // N_FOLDS, 1)]
        return newest

    @cached_property
    def pools(self) -> dict[str, int]:
        """Number of candidates of retrieval, by kind: what every random fold has such studies for.

        It depends on the studies alone, so that all entries are ranked among equally many.
        """
        least = {}
        for kind in self.kinds:
            has = self.has_kind(np.arange(len(self.ids)), kind)
            fewest = int(np.bincount(self.folds[has], minlength=N_FOLDS).min())
            least[kind] = next((pool for pool in POOLS if pool <= fewest), 0)
        return least

    def given(self, rows: Rows, kind: str) -> Corpus:
        """Return what a model is given of test studies: a kind of text, its name, and no peaks."""
        some = self.corpus.select(rows)
        hidden = replace(some, peaks=some.peaks.iloc[:0], origin={"kind": kind})
        if kind == ALL:
            return hidden
        if kind != "title":
            hidden = replace(hidden, documents=hidden.documents.assign(title=""))
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
        return ~self.given(rows, kind).is_empty if len(rows) else np.zeros(0, dtype=bool)

    def peaks(self, rows: Rows) -> Peaks:
        """Return the peaks of some studies that are scored."""
        seen = self.targets.select(rows)
        return Peaks(seen.study, seen.region, len(rows))

    def mean_map(self, rows: Rows) -> NDArray[np.float64]:
        """Return the mean density of studies: (n_voxels,)."""
        some = self.targets.shares[rows[self.targets.has_mass[rows]]]
        mean = sparse.csr_matrix(some.mean(axis=0))
        smooth = self.targets.smooth
        found = np.asarray(smooth(mean)[0] if smooth else mean.toarray()[0], np.float64)
        found /= found.sum()
        return found

    def term_queries(self, rows: Rows) -> tuple[Corpus, NDArray[np.bool_]]:
        """Return terms as texts, and which studies mention them: (n_terms, n_studies).

        They are those that enough of the studies mention, and enough do not.
        """
        queries, counts = _queries(self.corpus)
        mentioned = np.asarray((counts[rows] > 0).todense()).T
        totals = mentioned.sum(axis=1)
        usable = (totals >= MIN_TESTED) & (totals <= len(rows) - MIN_TESTED)
        return queries.select(usable), mentioned[usable]

    def describe(self) -> dict[str, Any]:
        """Describe the benchmark in plain values, with fingerprints of its texts and peaks."""
        words, peaks = fingerprints(self.corpus)
        texts = [hash_of(name + text) for name, text in sorted(self.articles.items())]
        return {
            "protocol": VERSION,
            "task": self.task,
            "studies": len(self.corpus),
            "peaks": len(self.targets.study),
            "voxels": self.grid.n_regions,
            "kinds": self.kinds,
            "articles": len(self.articles),
            "corpus_sha256": digest(repr(self.ids.tolist()), self.folds.astype(np.int64), peaks),
            "texts_sha256": digest(words, np.array(texts, np.uint64)),
        }


def texts_by_id(articles: Corpus) -> dict[str, str]:
    """Return the texts of documents by their ids, and by their PubMed ids where these are known."""
    if articles.texts is None:
        raise CorpusError(f"expected articles with their texts, but there are none ({articles!r})")
    texts = dict(zip(articles.documents["id"].astype(str), articles.texts, strict=True))
    if "pmid" in articles.documents:
        pmids = articles.documents["pmid"].astype(str)
        texts |= {k: text for k, text in zip(pmids, articles.texts, strict=True) if k}
    return {name: text for name, text in texts.items() if text.strip()}


def words_of(studies: Corpus) -> list[str]:
    """Return a text for each study, for models that read words.

    Where a corpus has counts alone, titles are in their words, and other sections are their terms,
    each as often as it is counted, in the order of the alphabet.
    """
    if studies.texts is not None:
        return studies.texts
    names = np.array(studies.terms or ())
    tables = {name: sparse.csr_matrix(counts) for name, counts in (studies.counts or {}).items()}
    titles = tables.pop("title", None)

    def terms(table: sparse.csr_matrix | None, i: int) -> str:
        if table is None:
            return ""
        some = slice(table.indptr[i], table.indptr[i + 1])
        return "; ".join(
            sorted(np.repeat(names[table.indices[some]], table.data[some].astype(int)))
        )

    words = ("" if titles is None else studies.documents["title"][i] for i in range(len(studies)))
    return [
        ". ".join(
            filter(None, [title or terms(titles, i), *(terms(t, i) for t in tables.values())])
        )
        for i, title in enumerate(words)
    ]


def _queries(corpus: Corpus) -> tuple[Corpus, sparse.csr_matrix]:
    """Return each term as a text, and how often studies mention it: (n_studies, n_terms)."""
    column = {term: i for i, term in enumerate(corpus.terms or TERMS)}
    names = [term for term in TERMS if term in column]
    documents = pd.DataFrame({"id": names, "title": names, "space": "MNI", "source_space": ""})
    peaks = pd.DataFrame({"id": [], "x": [], "y": [], "z": []})
    texts = Corpus(documents, peaks, {"abstract": names}, origin={"kind": "term"})
    if not corpus.counts:
        return texts, TermCounter(Vocabulary(names)).count(corpus.texts or [])
    columns = [column[name] for name in names]
    ones = sparse.identity(len(column), np.float32, "csr")[columns]
    counted = replace(texts, sections=None, counts={"abstract": ones}, terms=corpus.terms)
    return counted, combine_sections(corpus.counts)[:, columns]


# ---- an entry on a fold


class Round(NamedTuple):
    """A fold of an entry: what its test studies are scored against."""

    setting: Protocol
    model: Entry
    fold: Fold
    mean_map: NDArray[np.float64]  # of the training studies
    references: NDArray[np.float32]  # maps of training studies, (n, n_voxels)


def run_entry(setting: Protocol, model: Entry, fold: Fold) -> dict[str, Any]:
    """Fit an entry on the training studies of a fold, and score it on the others.

    Returns JSON values: for each kind of text its metrics, and the scores of each study.
    """
    train, test = setting.split(fold)
    test = _unseen(setting, model, test, fold)
    start = time.perf_counter()
    if is_fitted := getattr(model, "fit", None) is not None:
        model.fit(setting.corpus.select(train))  # type: ignore[attr-defined]
    seconds = time.perf_counter() - start
    here = Round(setting, model, fold, setting.mean_map(train), _references(setting, model, train))
    kinds = {}
    for kind in setting.kinds:
        rows = test[setting.has_kind(test, kind)]
        if kind in getattr(model, "kinds", KINDS) and len(rows):
            kinds[kind] = _score_kind(here, _mapped(here, rows, kind), kind)
    if not kinds:
        raise FitError(f"no test study of fold {fold} has a kind of text that {model.name} takes")
    return {
        "entry": model.name,
        "fold": fold,
        "trained_on": trained_on(model, setting),
        "fit_seconds": _plain(seconds) if is_fitted else None,
        "megabytes": getattr(model, "size_mb", None),
        "kinds": kinds,
        "terms": {} if hasattr(model, "known") else _score_terms(here, test),
    }


def trained_on(model: Entry, setting: Protocol) -> str:
    """Say what a model was trained on: each fold's studies, how many others, or unknown."""
    if getattr(model, "fit", None) is not None:
        return "each fold"
    seen = seen_by(model)
    if seen is None:
        return UNKNOWN
    here = len(seen.intersection(setting.ids.tolist()))
    return f"{len(seen):,} studies, {here:,} of them here" if seen else "no study"


def seen_by(model: Entry) -> frozenset[str] | None:
    """Return the ids of the studies that a model was trained on, None where it does not say so."""
    seen = getattr(model, "trained_on", None)
    return None if seen is None or isinstance(seen, str) else frozenset(map(str, seen))


def _unseen(setting: Protocol, model: Entry, test: Rows, fold: Fold) -> Rows:
    """Return the test studies that the model was not trained on, as far as it says so."""
    seen = seen_by(model) or ()
    unseen = test[[name not in seen for name in setting.ids[test].tolist()]]
    if not len(unseen):
        raise FitError(
            f"{model.name} was trained on all {len(test):,} test studies of fold {fold}; fit it to "
            "the training studies of each fold"
        )
    return unseen


def _mapped(here: Round, rows: Rows, kind: str) -> Rows:
    """Return the studies that an entry has a map of, if it is made of maps."""
    if not hasattr(here.model, "known"):
        return rows
    known, name = here.model.known(kind), here.model.name
    mapped = rows[[each in known for each in here.setting.ids[rows].tolist()]]
    if not len(mapped):
        raise FitError(
            f"{name} has no map of the {len(rows):,} test studies of fold {here.fold}: expected "
            f"ids such as {str(here.setting.ids[rows[0]])!r}, got {next(iter(known), '')!r}"
        )
    if missing := len(rows) - len(mapped):
        message = f"{name} has no map of {missing:,} of {len(rows):,} test studies of fold "
        warnings.warn(f"{message}{here.fold}, which are left out", DataWarning, stacklevel=4)
    return mapped


def _references(setting: Protocol, model: Entry, train: Rows) -> NDArray[np.float32]:
    """Return the maps that a model has of training studies: of texts, or of what it has maps of."""
    rows, kind = setting.references(train, model)
    if not len(rows):
        return np.empty((0, setting.grid.n_regions), np.float32)
    return as_densities(_predict(model, setting.given(rows, kind), setting.grid.n_regions))


def _score_kind(here: Round, rows: Rows, kind: str) -> dict[str, Any]:
    setting, n_voxels = here.setting, here.setting.grid.n_regions
    given, start = setting.given(rows, kind), time.perf_counter()
    maps = _predict(here.model, given, n_voxels)
    seconds = (time.perf_counter() - start) / len(rows)
    densities, peaks = as_densities(maps), setting.peaks(rows)
    scale = np.full(n_voxels, float(n_voxels))
    nats = score_studies([densities], peaks, scale)
    mean_nats = score_studies([np.broadcast_to(here.mean_map, densities.shape)], peaks, scale)
    truth = setting.targets.rows(rows)  # (n, m)
    pearson, dice = correlations(maps, truth), overlaps(maps, truth)
    levels = peak_levels(densities, densities, peaks.study, peaks.region)
    ceiling = max(_ceiling(truth, peaks, here.mean_map), mean_nats.mean() + LEAST_CEILING)
    metrics = {
        "studies": len(rows),
        "nats": nats.mean(),
        "nats_above_mean_map": (nats - mean_nats).mean(),
        "ceiling": ceiling,
        **_coverage(here.model, given, levels, peaks.study),
        **_retrieval(here, rows, densities, setting.pools[kind]),
        "pearson": pearson.mean(),
        "dice": dice.mean(),
        "milliseconds": 1000 * seconds,
    }
    if nats.mean() > ceiling:
        warnings.warn(
            f"{here.model.name} has {nats.mean():.2f} nats, more than maps of each study's other "
            f"peaks ({ceiling:.2f}): check that it was not made from the peaks of the test",
            DataWarning,
            stacklevel=3,
        )
    return {
        "metrics": {name: _plain(value) for name, value in metrics.items()},
        "studies": {
            "id": setting.ids[rows].tolist(),
            "nats": nats.round(6).tolist(),
            "pearson": pearson.round(6).tolist(),
            "dice": dice.round(6).tolist(),
        },
    }


def _ceiling(truth: NDArray[np.floating], peaks: Peaks, mean_map: NDArray[np.float64]) -> float:
    """Return the mean nats of each peak under the kernel density of the study's other peaks.

    The texts of real studies say far less, so that an entry above it must know the peaks. The
    density is mixed half and half with the mean map. Studies of a single peak do not count.
    """
    n = np.bincount(peaks.study, minlength=peaks.n_studies)
    many = n[peaks.study] > 1
    study, region = peaks.study[many], peaks.region[many]
    if not len(study):
        return np.inf
    line = np.exp(-0.5 * np.arange(-5, 6) ** 2)  # the kernel, one voxel wide
    others = np.maximum(n[study] * truth[study, region] - line.sum() ** -3.0, 0) / (n[study] - 1)
    gains = np.log(0.5 + 0.25 * len(mean_map) * (others + mean_map[region]))
    return float(np.average(gains, weights=1 / n[study]))


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
    """Return the share of the peaks in regions that should hold a share of them."""
    asked = getattr(model, "masses", None)
    table = {}
    for share in SHARES:
        masses = np.full(len(given), share) if asked is None else np.asarray(asked(given, share))
        if masses.shape != (len(given),):
            raise FitError(f"expected one mass a study from {model.name}, got {masses.shape}")
        table[f"coverage_{round(100 * share)}"] = share_held(levels, study, masses)
    return table


def _retrieval(
    here: Round, rows: Rows, densities: NDArray[np.float32], pool: int
) -> dict[str, float]:
    """Compute recall among `pool` studies; nothing if fewer are tested.

    From coordinates, texts are ranked by the gain of their maps over the mean map. From a text,
    coordinates are ranked by that gain standardised over the model's maps of training texts:
    coordinates that are likely under any map gain nothing. Both need one query alone.
    """
    if not 0 < pool <= len(rows):
        return {}
    gains = proper = _gains(here, rows, densities)
    if len(here.references) >= LEAST_REFERENCES:
        reference = _gains(here, rows, here.references)
        spread = reference.std(axis=0)
        proper = (gains - reference.mean(axis=0)) / np.where(spread > ROUNDING, spread, 1)
    table = {"pool": float(pool)}
    for direction, scores in (("text to", proper), ("coordinates to", gains)):
        found = recalls(np.round(scores, DECIMALS), pool)
        table |= {_short(name): v for name, v in found.items() if name.startswith(direction)}
    return table


def _short(name: str) -> str:
    """Return the name of a column: "text to coordinates, recall at 10" is text_recall_10."""
    direction, _, metric = name.partition(", ")
    words = metric.lower().replace("recall at", "recall").replace(" and ", "_")
    return f"{direction.split()[0]}_{words.replace(' ', '_')}"


def _gains(here: Round, rows: Rows, densities: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the likelihood of the peaks of each study under each map, above the mean map's."""
    peaks = here.setting.peaks(rows)
    mean = here.mean_map.astype(np.float32)[None]
    n_voxels, parts = float(here.setting.grid.n_regions), []
    for some in slices(len(densities), CHUNK):
        stack = np.concatenate([densities[some], mean])
        nats = likelihood_matrix(stack, peaks.study, peaks.region, n_voxels)
        parts.append(nats[:-1] - nats[-1])
    return np.concatenate(parts)


def _score_terms(here: Round, test: Rows) -> dict[str, Any]:
    """Score the maps of single terms by the studies that mention them."""
    texts, is_mentioned = here.setting.term_queries(test)
    if not len(texts):
        return {}
    maps = as_densities(_predict(here.model, texts, here.setting.grid.n_regions))
    gains = np.round(_gains(here, test, maps), DECIMALS)
    return term_scores(gains, is_mentioned)._asdict()


def _plain(value: Any) -> float | int:
    return value if isinstance(value, int) else round(float(value), 6)
