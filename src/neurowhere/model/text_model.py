"""Text model: what a fitted model makes of texts and terms."""

import html
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import Workers, run_in_order
from neurowhere.corpus import Corpus
from neurowhere.exceptions import DataWarning, NeurowhereError, TextError, tell_fault
from neurowhere.learn import (
    Certificate,
    Choice,
    LengthCalibration,
    LogLinear,
    Predictor,
    mass_for,
)
from neurowhere.learn.predictor import Structures
from neurowhere.model.encoding import Encoding, TermUse, nowhere
from neurowhere.model.estimator import Parameters, check_fitted
from neurowhere.model.lending import key_of
from neurowhere.model.mixture import Mixture, PlaceMaps, Report, mass_for_seats, mix
from neurowhere.model.reading import (
    EXPECTED_TEXT,
    Reader,
    Readings,
    as_items,
    as_texts,
    chunks,
    no_text,
)
from neurowhere.model.titles import title_of
from neurowhere.model.visible import Shown, VisibleStructures
from neurowhere.space import Partition, VoxelGrid
from neurowhere.space.geometry import move_to_sides, served_side_of_regions, side_of_regions
from neurowhere.text import TermExtractor, TfIdf, Vocabulary
from neurowhere.text.findings import Finding, Place, concludes_nothing, find_findings
from neurowhere.text.kinds import Kind
from neurowhere.text.outside import Outside, find_outside
from neurowhere.text.places import ADJECTIVE

if TYPE_CHECKING:
    from neurowhere.model.term_maps import TermMap

LONG = 0.95  # of the long gate; such a text has too many structures to show each of them
LEAST_GATE = 0.01  # of a text that is drawn as a report at all
FAINT = 0.2  # of the strongest structure; one without a side that weighs less pulls at no side
CROSSED = 0.6  # how far a side of the body moves what a text says
N_EXPLAINED = 4  # texts of which is kept what explains them
CHUNK_ENCODED = 64  # texts whose maps are held at a time: few enough for the processor's cache
# How much a term of a category tells that a text is about the brain; names of all others tell most.
SUBJECT = {"generic": 0.0, "other": 0.5, "function": 0.75}
OF_ADJECTIVE = 0.75  # "temporal", "limbic", which are said of other things as well
SHORTEST_SPELT = 6  # letters of a word for which others are suggested
DIMENSIONS = 64  # of the strongest of a model, in which closeness of studies is measured
TINY = 1e-12
EVENLY = 1e-3  # of what places explain, that is given to each by its share in the whole map
PUBMED = "https://pubmed.ncbi.nlm.nih.gov/{}/"


class _Chunk(NamedTuple):
    """Texts that are encoded together; one that is none is empty, and has a problem."""

    texts: list[str]
    problems: list[str | None]

    @classmethod
    def of(cls, items: list[Any]) -> "_Chunk":
        problems = list(map(no_text, items))
        pairs = zip(items, problems, strict=True)
        return cls(["" if problem else text for text, problem in pairs], problems)


def _encode_chunk(shared: "tuple[TextModel, Reader]", chunk: _Chunk) -> list[Encoding]:
    """Encode some texts, perhaps in another process."""
    model, reader = shared
    encodings = model._encode_each(chunk.texts, reader)
    return [
        replace(encoding, problem=problem) if problem else encoding
        for encoding, problem in zip(encodings, chunk.problems, strict=True)
    ]


@lru_cache(maxsize=1 << 14)
def _subject(term: str, category: str) -> float:
    """Return how much a term tells that a text is about the brain."""
    is_adjective = category == "anatomy" and bool(ADJECTIVE.fullmatch(term))
    return OF_ADJECTIVE if is_adjective else SUBJECT.get(category, 1.0)


_Added = tuple[NDArray[np.integer], NDArray[np.float32] | sparse.csr_matrix]  # entries; maps


class _Drawn(NamedTuple):
    """What a report says, and the parts of its map; see `Report`."""

    gate: float
    findings: tuple[Finding, ...]
    mixture: Mixture | None
    is_normal: bool

    @property
    def names(self) -> frozenset[str] | None:
        """The structures that it is drawn from; None for a study."""
        if self.mixture is None or self.gate <= 0.5:
            return None
        places = (component.place for component in self.mixture.components)
        return frozenset(name for place in places for name in place.names)


class _Predicted(NamedTuple):
    """Maps of some texts, (n, m), and what reports among them say."""

    probabilities: NDArray[np.float32]
    reports: list[_Drawn | None]


@dataclass(frozen=True, eq=False)
class _Remake:
    """Makes the mixture of a report again; those of a few are kept."""

    model: "TextModel"
    text: str
    readings: Readings  # of this text alone
    reader: Reader

    def __call__(self) -> Mixture | None:
        return _made_again(self)


@lru_cache(maxsize=N_EXPLAINED)
def _made_again(report: _Remake) -> Mixture | None:
    predicted = report.model._predict_readings([report.text], report.readings, report.reader)
    (drawn,) = predicted.reports
    return drawn and drawn.mixture


def _no_mixture() -> None:
    """Return None: the text has no place."""


@dataclass(frozen=True, eq=False)
class _Explanation:
    """What each term of a text adds to a weighted sum of the regions, or to several at once.

    It can be pickled.

    What it needs beside the text is computed when it is called, and kept for a few texts: of a
    list of many texts it would weigh more than their maps.
    """

    model: "TextModel"
    text: str
    readings: Readings  # of this text alone
    reader: Reader
    order: NDArray[np.integer]
    report: Report | None

    def __call__(self, places: NDArray[np.floating]) -> NDArray[np.floating]:
        mixture = None if self.report is None else self.report.mixture
        return self._product(places) if mixture is None else self._mixed(mixture, places)

    def _mixed(self, mixture: Mixture, places: NDArray[np.floating]) -> NDArray[np.floating]:
        """Split the log ratio of a mixture: the text's own share by its terms, the rest by places.

        With s the share of the text's map in a region, its terms explain s times their sum; what is
        left of the log ratio goes to the places, by their shares. In a linear model, maps add up.
        """
        mean, is_log = self.model.mean_map_, self.model.predictor_.unit == "log probability"
        q = np.maximum(mixture.probabilities, TINY)
        if is_log:
            share = mixture.share_of_whole * mixture.whole / q  # (m,)
            total = self._total
            norm = total.max() + np.log(mean @ np.exp(total - total.max()))
            left = np.log(q / mean) - share * (total - norm)
            left /= 1 - share + EVENLY
            explained = self._product((places.T * share).T)
            constant = norm * (share @ places)
        else:
            left, constant = np.ones(len(q)), np.zeros(places.shape[1:])
            explained = mixture.share_of_whole * self._product(places)
        by_weight = np.abs(self.readings.rows[0].data[self.order])
        by_weight = by_weight / max(by_weight.sum(), TINY)
        explained -= np.multiply.outer(by_weight, constant)
        for component in mixture.components:
            if is_log:  # where no place reaches, all of them have taken from the text
                reach = component.map / q + EVENLY / (1 - mixture.share_of_whole)
            else:
                reach = component.map - mean
            added = component.share * ((reach * left) @ places)
            columns = self._columns_of(component.place)
            if columns:
                explained[columns] += added / len(columns)
            else:
                explained += np.multiply.outer(by_weight, added)
        return explained

    @property
    def _total(self) -> NDArray[np.floating]:
        """What all terms add to the exponent of each region: (m,)."""
        row = self.readings.rows[0]
        total: NDArray[np.floating] = self.model.predictor_.added(row).sum(axis=0, dtype=np.float64)
        for _, added in _added_beside(self):
            total += np.asarray(added.sum(axis=0)).ravel()
        return total

    def _columns_of(self, place: Place) -> list[int]:
        """Return the entries of the terms of a place."""
        entry = {column: n for n, column in enumerate(self._columns)}
        known = self.model.vocabulary_
        columns = (known.index(name) for name in place.names if name in known)
        return [entry[column] for column in columns if column in entry]

    @cached_property
    def _columns(self) -> list[int]:
        columns: list[int] = self.readings.rows[0].indices[self.order].tolist()
        return columns

    def _product(self, places: NDArray[np.floating]) -> NDArray[np.floating]:
        added = self.model.predictor_.mean_added(self.readings.rows[0], places)
        for entries, beside in _added_beside(self):
            added[entries] += beside @ places
        explained: NDArray[np.floating] = added[self.order]
        return explained


@lru_cache(maxsize=N_EXPLAINED)
def _added_beside(text: _Explanation) -> list[_Added]:
    """Return what the sides of structures add, and what makes them visible."""
    return list(text.model._added_beside(text.readings, text.reader))


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Training studies as points.

    Attributes
    ----------
    ids : array of shape (n_studies,)
        PubMed ids, as text.
    vectors : array of shape (n_studies, r)
        Texts in the dimensions of the model, of unit norm.
    """

    ids: NDArray[np.str_]
    vectors: NDArray[np.float32]

    @classmethod
    def from_projections(
        cls, ids: NDArray[np.str_], projections: NDArray[np.float32]
    ) -> "Neighbours":
        """Keep the strongest dimensions of the projections of texts."""
        return cls(ids, unit_rows(projections[:, :DIMENSIONS]))

    def nearest(self, projection: NDArray[np.float32], n: int = 10) -> pd.DataFrame:
        """Find the studies closest to one text: id, title, similarity (a cosine), link to PubMed.

        A title that is not known is None.
        """
        vector = unit_rows(projection[None, : self.vectors.shape[1]])[0]
        similarity = self.vectors @ vector
        n_near = n if vector.any() else 0  # to a text without a known term nothing is close
        best = np.argsort(-similarity, kind="stable")[:n_near]
        ids = self.ids[best]
        return pd.DataFrame(
            {
                "id": ids,
                "title": pd.Series([title_of(name) for name in ids.tolist()], dtype=object),
                "similarity": similarity[best].round(4),
                "link": [PUBMED.format(name) if name.isdecimal() else "" for name in ids],
            }
        )


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to unit norm; rows of zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    norms[norms == 0] = 1
    scaled: NDArray[np.float32] = vectors / norms
    return scaled


def _outside(text: str, readings: Readings, row: int) -> Outside | None:
    """Tell where outside the brain the finding of a text is; of a very long one, nothing."""
    return find_outside(text, readings.mentions[row]) if readings.listed[row] is None else None


class TextModel(Parameters):
    """A fitted model that reads texts; `Encoder` says what its attributes are."""

    loss: str
    text: Literal["terms", "none"]
    constraint: str | None
    negation: bool
    sides: bool
    findings: bool
    hedge_weight: float
    bandwidth: float
    seed: int
    partition_: Partition
    brain_: VoxelGrid
    vocabulary_: Vocabulary
    extractor_: TermExtractor
    weighting_: TfIdf
    predictor_: Predictor
    choice_: Choice | None
    certificate_: Certificate | None
    calibration_: NDArray[np.float64] | LengthCalibration | None
    neighbours_: Neighbours | None
    term_studies_: NDArray[np.integer] | None  # training studies that mention each term
    training_: dict[str, Any]

    @property
    def mean_map_(self) -> NDArray[np.floating]:
        """Mean probability of each region over the training studies; what any text starts from."""
        return self.predictor_.mean_map

    @property
    def penalty_(self) -> float:
        """Chosen penalty; NaN for a model of the mean map."""
        return np.nan if self.choice_ is None else self.choice_.penalty

    @property
    def sharpness_(self) -> float:
        """Chosen sharpness."""
        return 1.0 if self.choice_ is None else self.choice_.sharpness

    def predict_features(self, features: sparse.csr_matrix) -> NDArray[np.float32]:
        """Predict from the features of documents.

        Parameters
        ----------
        features : csr_matrix of shape (n, n_terms)
            As `transform` gives them.

        Returns
        -------
        array of shape (n, n_regions)
        """
        return self.predictor_.predict(features)

    def transform(self, X: Corpus | Sequence[str]) -> sparse.csr_matrix:
        """Return the features of documents.

        All terms are counted, as in training: denials and sides do not matter here.

        Parameters
        ----------
        X : Corpus or sequence of str

        Returns
        -------
        csr_matrix of shape (n, n_terms)
            Rows are of unit norm, or zero.
        """
        check_fitted(self)
        if self.text == "none":
            return sparse.csr_matrix(np.zeros((len(X), 0), dtype=np.float32))
        return self.weighting_.transform(
            self.extractor_.counts(X if isinstance(X, Corpus) else list(as_texts(X)))
        )

    @property
    def reader(self) -> Reader:
        """How `encode` and `predict` read texts, by the parameters of the model."""
        return Reader(
            negation=self.negation,
            sides=self.sides,
            findings=self.findings,
            hedge_weight=self.hedge_weight,
        )

    def encode(
        self,
        text: str,
        *,
        negation: bool | None = None,
        sides: bool | None = None,
        findings: bool | None = None,
        hedge_weight: float | None = None,
        kind: Kind | None = None,
    ) -> Encoding:
        """Predict from one text, and keep which of its terms were known and what they did.

        A text of which no term counts supports no map, and warns.

        Options that are not given are the parameters of the same name of the model.

        Parameters
        ----------
        text : str
        negation : bool, optional
            Whether terms that the text denies ("no lesion in the thalamus") are left out.
        sides : bool, optional
            Whether structures move to the side that the text gives them ("left insula").
        findings : bool, optional
            Whether sections of a report that hold no findings (technique, indication, history,
            comparison, plan, affiliations) are left out.
        hedge_weight : float, optional
            Weight of what the text leaves open ("possible", "cannot be excluded").
        kind : "report" or "study", optional
            Formula of the map: a report is a mixture over its places by their roles, a study the
            product of its words. By default what the text says tells.

        Returns
        -------
        Encoding
        """
        if not isinstance(text, str):
            raise TextError(f"expected one text as a str, got {type(text).__name__}")
        (encoding,) = self.encode_many(
            [text],
            negation=negation,
            sides=sides,
            findings=findings,
            hedge_weight=hedge_weight,
            kind=kind,
        )
        says_nothing = encoding.checked().find_uses is dict  # which is quicker than to find them
        if says_nothing and self.text != "none":
            warnings.warn(
                f"the text supports no map, {encoding.support}: its map is the mean map of all "
                "studies",
                DataWarning,
                stacklevel=2,
            )
        return encoding

    def encode_many(
        self,
        texts: Iterable[str],
        *,
        negation: bool | None = None,
        sides: bool | None = None,
        findings: bool | None = None,
        hedge_weight: float | None = None,
        kind: Kind | None = None,
        n_jobs: int = 1,
    ) -> Iterator[Encoding]:
        """Yield the encodings of texts, in order, as they come: some at a time are predicted.

        A missing value among the texts, or a text on which neurowhere itself fails, has an
        encoding with a `problem`, and does not stop the others.

        Parameters
        ----------
        texts : iterable of str
        negation, sides, findings, hedge_weight, kind : optional
            As in `encode`.
        n_jobs : int
            Processes that encode, −1 for one on each core. A few chunks of texts are held at a
            time, so that any number of texts can be encoded.

        Yields
        ------
        Encoding
        """
        check_fitted(self)
        asked = {
            "negation": negation,
            "sides": sides,
            "findings": findings,
            "hedge_weight": hedge_weight,
            "kind": kind,
        }
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        reader = replace(self.reader, **given)
        key_of(self)  # by which encodings of other processes find it
        n_before = 0
        todo = map(_Chunk.of, chunks(as_items(texts), CHUNK_ENCODED))
        done = run_in_order(_encode_chunk, (self, reader), todo, Workers(n_jobs))
        for encodings in done:
            for number, encoding in enumerate(encodings):
                if encoding.problem and encoding.problem.startswith(EXPECTED_TEXT):
                    warnings.warn(
                        f"{encoding.problem} at position {n_before + number:,}",
                        DataWarning,
                        stacklevel=2,
                    )
            yield from encodings
            n_before += len(encodings)

    def _encode_each(self, texts: Sequence[str], reader: Reader) -> list[Encoding]:
        """Encode texts together; if that fails, each alone, so that the others have their maps."""
        try:
            return self._encode_together(texts, reader)
        except NeurowhereError:
            raise
        except Exception as error:
            if len(texts) == 1:
                return [self.failed(texts[0], error)]
            return [each for text in texts for each in self._encode_each([text], reader)]

    def _encode_together(self, texts: Sequence[str], reader: Reader) -> list[Encoding]:
        readings = self._read(texts, reader)
        predicted = self._predict_readings(texts, readings, reader)
        return [
            self._encoding(text, readings, row, predicted, reader) for row, text in enumerate(texts)
        ]

    def failed(self, text: str, error: Exception) -> Encoding:
        """Return the encoding of a text on which neurowhere failed, and log where.

        Parameters
        ----------
        text : str
        error : Exception

        Returns
        -------
        Encoding
            That of an empty text, with the `problem`.
        """
        problem = tell_fault(error, text)
        (nothing,) = self._encode_together([""], self.reader)
        return replace(nothing, problem=problem)

    def _read(self, texts: Sequence[str], reader: Reader) -> Readings:
        if self.text == "none":
            return Readings.unread(texts)
        return Readings.read(texts, self.extractor_, self.weighting_, reader)

    def _predict_readings(
        self, texts: Sequence[str], readings: Readings, reader: Reader
    ) -> "_Predicted":
        """Predict, with each term on the side that the text gives it, and each place visible."""
        follows = self._follows_sides(reader)
        q = self._with_sides(readings, follows)
        gates = enumerate(readings.gates)
        wholes = {row: q[row].copy() for row, gate in gates if gate >= LEAST_GATE}
        for row, shown in self._shown(readings, follows):
            self._visible.show(q[row], shown)
        if follows and readings.counted is not None:
            for row, shares in enumerate(readings.counted.fold_shares()):
                # Of a text without a known term nothing is moved.
                if shares.neither < 1 and readings.rows[row].data.any():
                    q[row] = move_to_sides(self.partition_, q[row], shares.left, shares.right)
        reports: list[_Drawn | None] = [None] * len(q)
        for row, whole in wholes.items():
            reports[row] = report = self._draw(texts[row], readings, row, whole, q[row])
            if report.mixture is not None:
                q[row] = report.mixture.probabilities
            elif report.is_normal:
                q[row] = self.mean_map_
        return _Predicted(q, reports)

    def _draw(
        self,
        text: str,
        readings: Readings,
        row: int,
        whole: NDArray[np.float32],
        study: NDArray[np.float32],
    ) -> _Drawn:
        """Mix the map of a report; `study` is its map as a study, with the rest of the gate."""
        findings = tuple(find_findings(text, readings.mentions[row]))
        gate, mentions = readings.gates[row], readings.mentions[row]
        mixture = mix(findings, self._place_maps, whole)
        is_normal = (
            gate > 0.5
            and mixture is None
            and any(mention.is_negated for mention in mentions.found)
            and (
                concludes_nothing(text, mentions)
                or not any(mention.is_present for mention in mentions.rule_based)
            )
        )
        return _Drawn(gate, findings, mixture and mixture.blended(gate, study), is_normal)

    @property
    def _place_maps(self) -> PlaceMaps:
        maps: PlaceMaps | None = self.__dict__.get("_maps_of_places")
        if maps is None or maps.predictor is not self.predictor_:
            maps = PlaceMaps(
                self.predictor_, self.vocabulary_, self.partition_, len(self.extractor_.terms)
            )
            self.__dict__["_maps_of_places"] = maps
        return maps

    @property
    def _visible(self) -> VisibleStructures:
        visible: VisibleStructures | None = self.__dict__.get("_visible_structures")
        if visible is None or visible.predictor is not self.predictor_:
            assert isinstance(self.predictor_, LogLinear)
            visible = VisibleStructures(
                self.predictor_, self.extractor_, self.vocabulary_, self.partition_
            )
            self.__dict__["_visible_structures"] = visible
        return visible

    def _with_sides(self, readings: Readings, follows: bool) -> NDArray[np.float32]:
        """Predict, with each term on the side that the text gives it: (n, m)."""
        features = readings.features
        structures = self._sided(readings) if follows else None
        if structures is None:
            return self.predictor_.predict(features)
        shifts = self.predictor_.shifts(features, structures, self._kinds_of_sides)
        return self.predictor_.predict(features, shifts)

    def _shown(self, readings: Readings, follows: bool) -> Iterator[tuple[int, Shown]]:
        """Yield the structures that texts name, which are to be seen in their maps, by text."""
        predictor, features, counted = self.predictor_, readings.features, readings.counted
        if counted is None or not isinstance(predictor, LogLinear) or predictor.gates is None:
            return
        long = predictor.gates.of(features).long
        entries, weights, balance = counted.named(features, self._limb_gates(features))
        balance = balance if follows else np.zeros_like(balance)
        self._visible.meet(features.indices[entries])
        texts = np.searchsorted(features.indptr, entries, side="right") - 1
        of_places = np.where(self.extractor_.is_of_place[features.indices], features.data, 0) ** 2
        about_places = np.append(0, np.cumsum(of_places, dtype=float))
        for row in np.unique(texts[long[texts] <= LONG]).tolist():
            here = slice(*np.searchsorted(texts, [row, row + 1]))
            first, end = features.indptr[row : row + 2]
            about = about_places[end] - about_places[first]
            shares = (1 - long[row]) * about * weights[here] / max(1.0, weights[here].sum())
            columns = features.indices[entries[here]]
            yield row, Shown(entries[here] - first, columns, shares, balance[here])

    def _follows_sides(self, reader: Reader) -> bool:
        """Return whether sides are applied: a model that has learned them needs no more."""
        return reader.sides and self.text != "none" and not self.extractor_.sided

    @property
    def _kinds_of_sides(self) -> NDArray[np.float32]:
        """Sides of the brain, and of the body that the regions serve: (2, m)."""
        return np.stack([side_of_regions(self.partition_), served_side_of_regions(self.partition_)])

    def _sided(self, readings: Readings) -> Structures | None:
        """Return the structures of the texts in which any has a side, but for faint ones."""
        features, counted = readings.features, readings.counted
        if counted is None:
            return None
        limbs = self._limb_gates(features)
        entries, balance = counted.balance(features, limbs)
        texts = np.searchsorted(features.indptr, entries, side="right") - 1
        balance[:, 1] *= limbs[texts]
        is_sided, weights = balance.any(axis=1), features.data[entries]
        heaviest = np.zeros(len(readings), features.dtype)
        np.maximum.at(heaviest, texts, weights)
        heard = np.isin(texts, texts[is_sided]) & (is_sided | (weights >= FAINT * heaviest[texts]))
        return Structures(texts[heard], entries[heard], balance[heard])

    def _added_beside(self, readings: Readings, reader: Reader) -> Iterator[_Added]:
        """Yield what the sides of structures add to the exponent of one text, and their shares."""
        follows, features = self._follows_sides(reader), readings.features
        structures = self._sided(readings) if follows else None
        if structures is not None and len(structures.entries):
            _, places, balance = structures
            shifts = self.predictor_.lateral(features, places, balance, self._kinds_of_sides)
            yield places[balance.any(axis=1)], shifts
        for _, shown in self._shown(readings, follows):
            q = self._with_sides(readings, follows)[0]
            yield shown.entries, self._visible.added(q, shown)

    def _limb_gates(self, features: sparse.csr_matrix) -> NDArray[np.float32]:
        """Return κ g: how far a side of the body moves what each text says, less in a long one."""
        gates = getattr(self.predictor_, "gates", None)
        if gates is None:
            return np.full(features.shape[0], CROSSED, np.float32)
        gated: NDArray[np.float32] = np.float32(CROSSED) * gates.of(features).short
        return gated

    def _encoding(
        self,
        text: str,
        readings: Readings,
        row: int,
        predicted: "_Predicted",
        reader: Reader,
    ) -> Encoding:
        own, features = readings.only(row), readings.rows[row]
        drawn = predicted.reports[row]
        report = None
        if drawn is not None:
            has_parts = drawn.mixture is not None
            make = _Remake(self, text, own, reader) if has_parts else _no_mixture
            report = Report(drawn.gate, drawn.findings, make, drawn.is_normal)
        order = np.lexsort((features.indices, -features.data))  # the same in any batch
        order = order.astype(np.int32)
        is_report = report is not None and report.gate > 0.5
        is_normal = report is not None and report.is_normal
        uses = partial(self._uses, own, 0, order)
        return Encoding(
            text=text,
            probabilities=predicted.probabilities[row].copy(),  # not all of the chunk
            mean_map=self.mean_map_,
            partition=self.partition_,
            brain=self.brain_,
            find_uses=dict if is_normal or not len(order) else uses,
            mentions=own.mentions[0],
            listed=own.listed[0],
            calibrate=mass_for_seats if is_report else partial(self._mass_for, features),
            expect=partial(self._gain, features),
            explain=_Explanation(self, text, own, reader, order, report),
            report=report,
            unit=self.predictor_.unit,
            find_similar=partial(self._similar, features),
            suggest=self._suggest,
            find_named=partial(
                self._named, own, 0, self._follows_sides(reader), drawn and drawn.names
            ),
            find_origin=partial(self._origin, reader),
            find_outside=nowhere if self.text == "none" else partial(_outside, text, own, 0),
            model=self,
        )

    def _origin(self, reader: Reader) -> dict[str, Any]:
        """Return what the model is, and how it reads."""
        return {**self.summary(), "reading": asdict(reader)}

    def _uses(self, readings: Readings, row: int, order: NDArray[np.integer]) -> dict[str, TermUse]:
        """Return how a text uses its terms, in an order of the entries of its features."""
        features = readings.rows[row]
        columns = features.indices[order]
        if not len(columns):
            return {}
        names = [self.extractor_.terms[column] for column in columns.tolist()]
        is_generic = self.extractor_.is_generic[columns].tolist()
        assert readings.counted is not None
        uses = readings.counted.uses(columns, readings.listed[row])
        weights = features.data[order].tolist()
        return {
            name: TermUse(
                use.n_mentions,
                weight,
                use.where,
                use.implied,
                SUBJECT["generic"]
                if says_nothing
                else _subject(name, self.vocabulary_.categories.get(name, "")),
            )
            for name, says_nothing, weight, use in zip(
                names, is_generic, weights, uses, strict=True
            )
        }

    def _named(
        self, readings: Readings, row: int, follows_sides: bool, drawn: frozenset[str] | None
    ) -> dict[str, NDArray[np.bool_]]:
        """Return the regions of the structures that a text names, where the model has a prior.

        The heaviest first; one that the text puts on one side only is that half of it. Of a report,
        these are those that it is drawn from, `drawn`.
        """
        prior = self.predictor_.prior if isinstance(self.predictor_, LogLinear) else None
        if prior is None:
            return {}
        assert readings.counted is not None
        features = readings.rows[row]
        entries, _, balance = readings.counted.named(features, np.zeros(1))
        order = np.lexsort((features.indices[entries], -features.data[entries]))
        columns = features.indices[entries[order]].tolist()
        sides, named = side_of_regions(self.partition_), {}
        for column, side in zip(columns, balance[order].tolist(), strict=True):
            if drawn is not None and self.extractor_.terms[column] not in drawn:
                continue
            place = self._visible.place_of(column)
            region = prior.region_of(place)
            half = {1: "left ", -1: "right "}.get(side if follows_sides else 0, "")
            if region is not None:
                inside = region & (side * sides > 0) if half else region
                named[half + self.extractor_.terms[place]] = inside
        return named

    def _suggest(self, word: str) -> list[str]:
        """Return known names that are spelt like a word; short words are like too many."""
        if self.text == "none" or len(word) < SHORTEST_SPELT or word in self.vocabulary_:
            return []  # a name that the text has in another sense is spelt well
        return self.vocabulary_.suggest(word)

    def _mass_for(self, features: sparse.csr_matrix, share: float) -> float:
        if isinstance(self.calibration_, LengthCalibration):
            return self.calibration_.mass_for(share, self._n_known(features))
        return share if self.calibration_ is None else mass_for(share, self.calibration_)

    def _gain(self, features: sparse.csr_matrix, expected: float) -> float:
        if not isinstance(self.calibration_, LengthCalibration):
            return expected
        return self.calibration_.gain(expected, self._n_known(features))

    def _n_known(self, features: sparse.csr_matrix) -> int:
        """Return the number of known terms of a text, without extra words."""
        gates = getattr(self.predictor_, "gates", None)
        return int(features.nnz if gates is None else (~gates.is_extra[features.indices]).sum())

    def _similar(self, features: sparse.csr_matrix) -> pd.DataFrame | None:
        if self.neighbours_ is None or not isinstance(self.predictor_, LogLinear):
            return None
        return self.neighbours_.nearest(self.predictor_.project(features)[0])

    def term_map(self, name: str) -> "TermMap":
        """Return what the model associates with a term: xᵀβ for a text that is the term alone.

        A name may begin with a side. "left amygdala" is learned where the training texts mention
        it often enough (see `laterality`), or is a term of the vocabulary itself. Otherwise the
        map of "amygdala" is restricted to the left hemisphere.

        Parameters
        ----------
        name : str

        Returns
        -------
        TermMap
        """
        from neurowhere.model.term_maps import map_of_term

        return map_of_term(self, name)

    def term_img(self, name: str) -> Any:
        """Return the map of a term as an image; see `term_map`.

        Parameters
        ----------
        name : str

        Returns
        -------
        NIfTI image
            In mm⁻³, or a difference of log densities.
        """
        return self.term_map(name).img

    def summary(self) -> dict[str, Any]:
        """Return what the fitted model is and what it was learned from, as plain data.

        Returns
        -------
        dict of str to value
        """
        about: dict[str, Any] = {
            "partition": type(self.partition_).__name__,
            "regions": self.partition_.n_regions,
            "voxel_sizes_mm": self.partition_.voxel_sizes_mm.round(3).tolist(),
            "volume_mm3": round(self.partition_.total_volume_mm3),
            "loss": self.loss,
            "constraint": self.constraint,
            "bandwidth": self.bandwidth,
            "seed": self.seed,
            **self.training_,
        }
        if self.text == "none":
            return about | {"terms": 0}
        certificate = self.certificate_
        return about | {
            "terms": len(self.extractor_.terms),
            "sided_terms": len(self.extractor_.sided),
            "penalty": self.penalty_,
            "sharpness": self.sharpness_,
            "validation_nats": self.choice_ and self.choice_.score,
            "relative_gap": None if certificate is None else certificate.relative_gap,
        }

    def _repr_html_(self) -> str:
        about = self.summary() if hasattr(self, "predictor_") else self.get_params()
        pairs = ((key.replace("_", " "), html.escape(str(about[key]))) for key in about)
        rows = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in pairs)
        return f"<table><caption>Encoder</caption>{rows}</table>"
