"""Encoder: text in, probability of each region of the brain out.

An estimator by the conventions of scikit-learn: `__init__` only assigns, what is learned ends in
an underscore, and `clone`, `cross_val_score` and `GridSearchCV` work on it.
"""

import html
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere._tools.parallel import track
from neurowhere.corpus import Corpus, Document
from neurowhere.exceptions import FitError, TextError
from neurowhere.learn import (
    Certificate,
    Choice,
    LengthCalibration,
    LogLinear,
    Peaks,
    Schedule,
    mass_for,
    score_studies,
)
from neurowhere.model.encoding import Encoding, TermMap, TermUse
from neurowhere.model.losses import LabelTerms, Loss, MeanMap, find_loss
from neurowhere.model.neighbours import Neighbours
from neurowhere.model.parameters import Parameters, check_fitted
from neurowhere.model.reading import Reader, Readings, as_texts, chunks, spans
from neurowhere.model.training import CHUNK, CountModel, TrainingOptions, no_counts
from neurowhere.space import Atlas, Partition, VoxelGrid, make_targets, place_peaks
from neurowhere.space.geometry import move_to_sides, side_of_regions
from neurowhere.space.targets import Targets
from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.building.anatomy import builtin_anatomy
from neurowhere.text.clinical.places import without_side
from neurowhere.text.features import LATERAL

TEXT = ("terms", "none")
CHUNK_ENCODED = 64  # texts whose maps are held at a time: few enough for the processor's cache
SHORTEST_SPELT = 5  # letters of a word for which others are suggested
MIN_SIDED = 20  # training studies that must mention a term on one side, to learn it apart


class Encoder(Parameters):
    """Predicts from text the distribution over the brain of what it reports.

    Parameters
    ----------
    partition : VoxelGrid or Atlas, optional
        Regions to predict; by default the voxels of a 4-mm grid.
    loss : "l1", "l2" or "likelihood"
        Total variation, least squares, or the log-likelihood itself of a log-linear model.
    text : "terms" or "none"
        "none" ignores the text and predicts the mean map: a baseline.
    constraint : None or "labels"
        "labels" predicts each region of an atlas from the mentions of its own label alone.
    vocabulary : Vocabulary, path or sequence of str, optional
        Terms to learn from; by default the names of the brain's parts that the package knows, or
        the atlas's labels for a label-constrained encoder.
    min_studies : int
        Terms that fewer training studies mention are left out.
    section_weights : mapping, optional
        Weight of the terms in each section of a document, 1 by default.
    laterality : bool
        Whether to learn "left amygdala" apart from "amygdala", and so on: extra terms, for those
        that enough training texts mention on that side. Term counts alone do not tell sides.
    negation : bool
        Whether `encode` and `predict` leave out the terms that a text denies ("no lesion in the
        thalamus").
    sides : bool
        Whether `encode` and `predict` move the map to the sides of brain structures ("left MCA
        infarct"). A model that has learned sides from texts does so by itself.
    findings : bool
        Whether `encode` and `predict` leave out sections of a report that hold no findings:
        technique, indication, history, comparison, plan.
    hedge_weight : float
        Weight, in `encode` and `predict`, of what a text leaves open ("possible", "cannot be
        excluded"); 1 for that of all else.
    nested : bool, optional
        Whether terms within longer ones count too: "spatial navigation" is also "navigation". By
        default for the likelihood, which gains by it; the paper's models count the longest alone.
    bandwidth : float
        Standard deviation of the kernel density, in voxels.
    brain : VoxelGrid, optional
        What counts as brain: which peaks are learned from and scored, and the uniform density.
        By default the grid itself, or a 4-mm grid for an atlas.
    lambdas : sequence of float, optional
        Path of the penalty, decreasing; for the likelihood, of the weight decay.
    validation : float
        Share of the training studies on which λ and the sharpness are chosen.
    tolerance : float
        Relative duality gap of the ℓ1 fit.
    rank : int, optional
        Dimensions of a log-linear model.
    repeats : int
        Log-linear fits, each from another random start, that are averaged.
    seed : int
        Seed of the validation split and of the first random start.
    n_jobs : int
        Number of threads, −1 for all cores.
    checkpoint : path, optional
        Folder in which an ℓ1 fit keeps finished blocks of regions: the same fit, interrupted, goes
        on from there.

    Attributes
    ----------
    vocabulary_ : Vocabulary
    extractor_ : TermExtractor
        Counts the terms; its `terms` name the features.
    weighting_ : TfIdf
        Weights of the terms.
    predictor_ : Predictor
        From features to probabilities: its arrays are the model.
    mean_map_ : array of shape (n_regions,)
        Mean probability of each region over the training studies.
    penalty_, sharpness_ : float
        Chosen penalty and sharpness.
    choice_ : Choice or None
        Scores of all λ and sharpnesses on the validation studies.
    certificate_ : Certificate or None
        Primal and dual value of the ℓ1 fit.
    calibration_ : array, LengthCalibration or None
        Mass that holds each share of the peaks of held-out studies, for all texts or by their
        length; for the likelihood.
    neighbours_ : Neighbours or None
        Training studies as points, to find those close to a text; for the likelihood.
    training_ : dict
        What it was learned from: studies, peaks in the brain, origin of the corpus, date, version.

    Examples
    --------
    >>> texts = ["visual cortex", "motor cortex", "visual and motor cortex"] * 4
    >>> peaks = [[[8, -92, 2]], [[-38, -24, 56]], [[8, -92, 2], [-38, -24, 56]]] * 4
    >>> terms = ["visual cortex", "motor cortex"]
    >>> model = Encoder(VoxelGrid(8), loss="l2", vocabulary=terms).fit(texts, peaks)
    >>> seen = model.predict(["the visual cortex"])[0]
    >>> model.partition_.centers_mm[seen.argmax()].round().tolist()
    [6.0, -94.0, 0.0]
    """

    choice_: Choice | None
    certificate_: Certificate | None
    calibration_: NDArray[np.float64] | LengthCalibration | None
    neighbours_: Neighbours | None

    def __init__(
        self,
        partition: Partition | None = None,
        loss: str = "l1",
        *,
        text: Literal["terms", "none"] = "terms",
        constraint: str | None = None,
        vocabulary: Any = None,
        min_studies: int = 5,
        section_weights: Mapping[str, float] | None = None,
        laterality: bool = False,
        negation: bool = True,
        sides: bool = True,
        findings: bool = True,
        hedge_weight: float = 1.0,
        nested: bool | None = None,
        bandwidth: float = 1.0,
        brain: VoxelGrid | None = None,
        lambdas: Sequence[float] | None = None,
        validation: float = 0.1,
        tolerance: float = 1e-3,
        rank: int | None = None,
        repeats: int = 2,
        seed: int = 0,
        n_jobs: int = -1,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.partition = partition
        self.loss = loss
        self.text = text
        self.constraint = constraint
        self.vocabulary = vocabulary
        self.min_studies = min_studies
        self.section_weights = section_weights
        self.laterality = laterality
        self.negation = negation
        self.sides = sides
        self.findings = findings
        self.hedge_weight = hedge_weight
        self.nested = nested
        self.bandwidth = bandwidth
        self.brain = brain
        self.lambdas = lambdas
        self.validation = validation
        self.tolerance = tolerance
        self.rank = rank
        self.repeats = repeats
        self.seed = seed
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    @property
    def partition(self) -> Partition | None:
        """Regions to predict; once fitted those of the columns of `predict`: an atlas is cut.

        `get_params` and `clone` give back what the constructor got.
        """
        fitted: Partition | None = getattr(self, "partition_", None)
        given: Partition | None = self.__dict__["partition"]
        return given if fitted is None else fitted

    @partition.setter
    def partition(self, partition: Partition | None) -> None:
        self.__dict__["partition"] = partition
        self.__dict__.pop("partition_", None)

    # ---- learning

    def fit(self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None) -> Self:
        """Learn from a corpus, or from texts X and their peaks y in MNI mm.

        All mentions of terms count, denied or not, whatever their side.
        """
        self._check_options()
        corpus = as_corpus(X, y)
        if not len(corpus.peaks):
            raise FitError(f"expected coordinates to learn from, but there are none ({corpus!r})")
        self._place()
        targets = self._targets(corpus)
        rows = np.flatnonzero(targets.has_mass)
        if not len(rows):
            raise FitError("no peak lies in the brain and the partition; check their space")
        targets = targets.select(rows)
        self.training_ = {
            "studies": len(targets),
            "peaks": len(targets.study),
            "origin": corpus.origin,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "version": version("neurowhere"),
        }
        corpus = corpus.select(rows)
        loss = self._find_loss()
        counts = self._count_terms(corpus) if loss.needs_terms else no_counts(len(corpus))
        self._keep(
            CountModel.fit(
                loss,
                counts,
                targets,
                corpus.groups,
                volumes_mm3=self.partition_.volumes_mm3,
                brain_mm3=self.brain_.total_volume_mm3,
                labels=self._label_selector() if loss.needs_labels else None,
                options=self._training_options(),
            )
        )
        if isinstance(self.predictor_, LogLinear):
            projections = self.predictor_.project(self.weighting_.transform(counts))
            ids = corpus.documents["id"].to_numpy(dtype=str)
            self.neighbours_ = Neighbours.from_projections(ids, projections)
        return self

    def _check_options(self) -> None:
        if self.text not in TEXT:
            raise FitError(f"expected text among {', '.join(map(repr, TEXT))}, got {self.text!r}")
        find_loss(self.loss, self.constraint)

    def _find_loss(self) -> Loss:
        """Return the loss to fit: the one asked for, or the mean map where texts are ignored."""
        return MeanMap() if self.text == "none" else find_loss(self.loss, self.constraint)

    def _place(self) -> None:
        """Settle the brain and the partition; an atlas is cut to the brain."""
        given = self.__dict__["partition"]
        partition = VoxelGrid() if given is None else given
        needs_labels = find_loss(self.loss, self.constraint).needs_labels
        if needs_labels and getattr(partition, "labels", None) is None:
            raise FitError("a label-constrained model needs an atlas with labels; give both")
        if isinstance(partition, Atlas):
            self.brain_ = VoxelGrid() if self.brain is None else self.brain
            self.partition_: Partition = partition.restrict(self.brain_)
        elif isinstance(partition, VoxelGrid):
            self.brain_ = self.partition_ = partition
        else:
            kind = type(partition).__name__
            raise FitError(f"expected a VoxelGrid or an Atlas as the partition, got {kind}")

    def _targets(self, corpus: Corpus) -> Targets:
        xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
        return make_targets(
            self.partition_,
            self.brain_,
            xyz_mm,
            corpus.peak_rows,
            len(corpus),
            bandwidth=self.bandwidth,
            n_jobs=self.n_jobs,
        )

    def _count_terms(self, corpus: Corpus) -> sparse.csr_matrix:
        """Settle the terms to learn from, and count them in the training studies."""
        vocabulary = self._find_vocabulary()
        loss = self._find_loss()
        nested = loss.counts_nested if self.nested is None else self.nested
        extractor = TermExtractor(vocabulary, self.section_weights, nested=nested)
        counts = extractor.counts(corpus)
        studies = counts.getnnz(axis=0)  # (n_terms,): studies that mention each term
        if not (studies >= self.min_studies).any():
            raise FitError(
                f"none of the {len(vocabulary):,} terms of the vocabulary occurs in at least "
                f"{self.min_studies} of the {len(corpus):,} training studies; give a vocabulary "
                "that fits the corpus, or lower min_studies"
            )
        if loss.needs_labels:
            self.vocabulary_, self.extractor_ = vocabulary, extractor
            return counts
        frequent = np.flatnonzero(studies >= self.min_studies).tolist()
        self.vocabulary_ = vocabulary.subset(vocabulary.terms[i] for i in frequent)
        self.extractor_ = TermExtractor(self.vocabulary_, self.section_weights, nested=nested)
        if self.laterality:
            self.extractor_ = self.extractor_.with_sides(corpus, MIN_SIDED)
        # Counted again: where a rare name is gone, its words may be another term's.
        return self.extractor_.counts(corpus)

    def _find_vocabulary(self) -> Vocabulary:
        if self._find_loss().needs_labels:
            labels = LabelTerms.from_labels(self.partition_.names)
            self.label_names_ = list(labels.names)
            return labels.vocabulary
        if self.vocabulary is None:
            return builtin_anatomy()
        if isinstance(self.vocabulary, Vocabulary):
            return self.vocabulary
        if isinstance(self.vocabulary, Sequence) and not isinstance(self.vocabulary, str):
            return Vocabulary(self.vocabulary)
        return Vocabulary.load(self.vocabulary)

    def _training_options(self) -> TrainingOptions:
        return TrainingOptions(
            lambdas=self.lambdas,
            validation=self.validation,
            tolerance=self.tolerance,
            repeats=self.repeats,
            schedule=Schedule() if self.rank is None else Schedule(rank=self.rank),
            seed=self.seed,
            n_jobs=self.n_jobs,
            checkpoint=self.checkpoint,
        )

    def _label_selector(self) -> sparse.csr_matrix:
        """(n_terms, n_regions), with a one where the term is the region's label."""
        return LabelTerms(tuple(self.label_names_), self.vocabulary_).selector

    def _keep(self, model: CountModel) -> None:
        result = model.result
        self.weighting_, self.predictor_ = model.weighting, result.predictor
        self.choice_, self.certificate_ = result.choice, result.certificate
        self.calibration_ = result.calibration
        self.neighbours_ = None

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

    # ---- predicting

    def predict(self, X: Corpus | Sequence[str]) -> NDArray[np.float32]:
        """Return the probability of each region for each document.

        Parameters
        ----------
        X : Corpus or sequence of str
            Texts are read as `encode` reads them: what they deny is left out, and their sides
            move the map. The documents of a corpus are counted as in training, without either.

        Returns
        -------
        array of shape (n_documents, n_regions)
            Rows sum to 1. Those of texts are the probabilities of their encodings.
        """
        check_fitted(self)
        return np.concatenate(
            [np.empty((0, self.partition_.n_regions), np.float32), *self.iter_predict(X)]
        )

    def iter_predict(
        self, X: Corpus | Sequence[str], chunk: int = CHUNK
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the predictions of `chunk` documents at a time, in order; see `predict`."""
        check_fitted(self)
        if isinstance(X, Corpus):
            features = self.transform(X)
            for start in range(0, features.shape[0], chunk):
                yield self.predict_features(features[start : start + chunk])
        else:
            for texts in chunks(as_texts(X), chunk):
                yield self._predict_readings(self._read(texts, self.reader), self.reader)

    def predict_features(self, features: sparse.csr_matrix) -> NDArray[np.float32]:
        """Predict from the features of documents, as `transform` gives them."""
        return self.predictor_.predict(features)

    def transform(self, X: Corpus | Sequence[str]) -> sparse.csr_matrix:
        """Return the features of documents: (n, n_terms), rows of unit norm.

        All terms are counted, as in training: denials and sides do not matter here.
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
        laterality: bool | None = None,
        findings: bool | None = None,
        hedge_weight: float | None = None,
    ) -> Encoding:
        """Predict from one text, and keep which of its terms were known and what they did.

        Parameters
        ----------
        text : str
        negation : bool, optional
            Whether terms that the text denies ("no lesion in the thalamus") are left out.
        laterality : bool, optional
            Whether structures move to the side that the text gives them ("left insula").
        findings : bool, optional
            Whether sections of a report that hold no findings (technique, indication, history,
            comparison, plan) are left out.
        hedge_weight : float, optional
            Weight of what the text leaves open ("possible", "cannot be excluded").

        By default, these are the parameters `negation`, `sides`, `findings` and `hedge_weight` of
        the model.

        Returns
        -------
        Encoding
        """
        if not isinstance(text, str):
            raise TextError(f"expected one text as a str, got {type(text).__name__}")
        (encoding,) = self.encode_many(
            [text],
            negation=negation,
            laterality=laterality,
            findings=findings,
            hedge_weight=hedge_weight,
        )
        return encoding

    def encode_many(
        self,
        texts: Iterable[str],
        *,
        negation: bool | None = None,
        laterality: bool | None = None,
        findings: bool | None = None,
        hedge_weight: float | None = None,
    ) -> Iterator[Encoding]:
        """Yield the encodings of texts, in order, as they come: some at a time are predicted.

        Parameters
        ----------
        texts : iterable of str
        negation, laterality, findings, hedge_weight : optional
            As in `encode`.

        Yields
        ------
        Encoding
        """
        check_fitted(self)
        asked = {
            "negation": negation,
            "sides": laterality,
            "findings": findings,
            "hedge_weight": hedge_weight,
        }
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        reader = replace(self.reader, **given)
        for chunk in chunks(as_texts(texts), CHUNK_ENCODED):
            readings = self._read(chunk, reader)
            probabilities = self._predict_readings(readings, reader)
            for row, text in enumerate(chunk):
                yield self._encoding(text, readings, row, probabilities[row], reader)

    def _read(self, texts: Sequence[str], reader: Reader) -> Readings:
        if self.text == "none":
            return Readings.unread(len(texts))
        return Readings.read(texts, self.extractor_, self.weighting_, reader)

    def _predict_readings(self, readings: Readings, reader: Reader) -> NDArray[np.float32]:
        """Predict, with each term on the side that the text gives it."""
        if not self._follows_sides(reader):
            return self.predict_features(readings.features)
        shift: NDArray[np.float32] | None = None
        for row in range(len(readings.mentions)):
            _, shifts = self._shifts(readings, row)
            if len(shifts):
                if shift is None:
                    shape = len(readings.mentions), self.partition_.n_regions
                    shift = np.zeros(shape, np.float32)
                shift[row] = shifts.sum(axis=0)
        q = self.predictor_.predict(readings.features, shift)  # (n, m)
        for row in range(len(q)):
            shares = readings.fold_shares(row)
            if shares.neither < 1:
                q[row] = move_to_sides(self.partition_, q[row], shares.left, shares.right)
        return q

    def _follows_sides(self, reader: Reader) -> bool:
        """Return whether sides are applied: a model that has learned them needs no more."""
        return reader.sides and self.text != "none" and not self.extractor_.sided

    def _shifts(self, readings: Readings, row: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the features of a text that are structures, and what their sides add."""
        sides = readings.structures(row)
        places = np.fromiter(sides, np.intp, len(sides))
        features = readings.features[row]
        if not len(places):
            return places, np.empty((0, self.partition_.n_regions), np.float32)
        maps = self.predictor_.added(features, places)
        balance = np.fromiter(sides.values(), np.float64, len(sides))
        return places, self.predictor_.lateral(maps, balance, side_of_regions(self.partition_))

    def _encoding(
        self,
        text: str,
        readings: Readings,
        row: int,
        probabilities: NDArray[np.float32],
        reader: Reader,
    ) -> Encoding:
        features, where = readings.features[row], readings.where(row)
        implied = set(readings.implied[row])
        order = np.argsort(-features.data, kind="stable")
        names = [self.extractor_.terms[i] for i in features.indices[order].tolist()]

        @cache
        def lateral() -> tuple[NDArray[np.intp], NDArray[np.float32]]:
            return self._shifts(readings, row)

        def explain(places: NDArray[np.floating]) -> NDArray[np.floating]:
            added = self.predictor_.mean_added(features, places)
            if self._follows_sides(reader):
                structures, shifts = lateral()
                added[structures] += shifts @ places
            explained: NDArray[np.floating] = added[order]
            return explained

        return Encoding(
            text=text,
            probabilities=probabilities,
            mean_map=self.mean_map_,
            partition=self.partition_,
            brain=self.brain_,
            uses={
                name: TermUse(
                    len(where[name]), weight, spans(where[name]), implied.issuperset(where[name])
                )
                for name, weight in zip(names, features.data[order].tolist(), strict=True)
            },
            mentions=readings.mentions[row],
            calibrate=partial(self._mass_for, features),
            expect=partial(self._gain, features),
            explain=explain,
            unit=self.predictor_.unit,
            find_similar=partial(self._similar, features),
            suggest=self._suggest,
        )

    def _suggest(self, word: str) -> list[str]:
        """Return known names that are spelt like a word; short words are like too many."""
        is_short = len(word) < SHORTEST_SPELT
        return [] if is_short or self.text == "none" else self.vocabulary_.suggest(word)

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

    def term_map(self, name: str) -> TermMap:
        """Return what the model associates with a term: xᵀβ for a text that is the term alone.

        A name may begin with a side. "left amygdala" is learned where the training texts mention
        it often enough (see `laterality`), or is a term of the vocabulary itself. Otherwise the
        map of "amygdala" is restricted to the left hemisphere.
        """
        check_fitted(self)
        if self.text == "none":
            raise FitError("a model of the mean map knows no terms; fit one with text")
        term, side = (name, None) if name in self.vocabulary_ else without_side(name)
        index = self.vocabulary_.index(term)
        columns, names = [index], self.extractor_.terms
        sided = f"{side} {names[index]}"
        if sided in names:
            columns.append(names.index(sided))
        counts = sparse.csr_matrix(np.bincount(columns, minlength=len(names)))  # (1, n_terms)
        features = self.weighting_.transform(self.extractor_.weigh({"body": counts}))
        return TermMap(
            name=name,
            term=names[index],
            side=side,
            method="learned" if len(columns) > 1 or side not in LATERAL else "restricted",
            effect=self.predictor_.added(features).sum(axis=0),
            unit=self.predictor_.unit,
            partition=self.partition_,
        )

    def term_img(self, name: str) -> Any:
        """Map of a term as a NIfTI image, in mm⁻³; see `term_map`."""
        return self.term_map(name).img

    # ---- scoring

    def score(self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None) -> float:
        """Return the mean over studies of the mean log-likelihood of their peaks, per mm³.

        Documents, and texts too, are counted as in training, without denials or sides.
        """
        return float(self.score_documents(X, y)["log_likelihood"].mean())

    def score_documents(
        self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None
    ) -> pd.DataFrame:
        """Score each study by the likelihood of its peaks under the half-uniform prediction.

        Documents, and texts too, are counted as in training, without denials or sides.

        Returns
        -------
        DataFrame
            id, log_likelihood (NaN for a study without peaks in the brain), nats_above_uniform,
            mean_map (the log-likelihood of the mean map), peaks (scored, in the brain) and
            peaks_outside (left out).
        """
        check_fitted(self)
        corpus = as_corpus(X, y)
        xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
        study, region = place_peaks(self.partition_, self.brain_, xyz_mm, corpus.peak_rows)
        peaks = Peaks(study, region, len(corpus))
        relative_volume = self.brain_.total_volume_mm3 / self.partition_.volumes_mm3  # V/v_k
        n_chunks = -(-len(corpus) // CHUNK)
        predictions = track(self.iter_predict(corpus), "scoring", n_chunks)
        nats = score_studies(predictions, peaks, relative_volume)
        mean_map = np.broadcast_to(self.mean_map_, (len(corpus), len(self.mean_map_)))
        mean_nats = score_studies([mean_map], peaks, relative_volume)
        scored = np.bincount(study, minlength=len(corpus))
        return pd.DataFrame(
            {
                "id": corpus.documents["id"],
                "log_likelihood": nats - np.log(self.brain_.total_volume_mm3),
                "nats_above_uniform": nats,
                "mean_map": mean_nats - np.log(self.brain_.total_volume_mm3),
                "peaks": scored,
                "peaks_outside": corpus.n_peaks - scored,
            }
        )

    def score_summary(
        self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None
    ) -> dict[str, float]:
        """Mean log-likelihood over studies, that of uniform and mean map, and what was scored."""
        scores = self.score_documents(X, y)
        scored = scores[scores["peaks"] > 0]
        if scored.empty:
            raise FitError("expected peaks to score, but there are none in the brain")
        return {
            "log_likelihood": float(scored["log_likelihood"].mean()),
            "uniform": float(-np.log(self.brain_.total_volume_mm3)),
            "mean_map": float(scored["mean_map"].mean()),
            "nats_above_uniform": float(scored["nats_above_uniform"].mean()),
            "studies": len(scored),
            "peaks": int(scores["peaks"].sum()),
            "peaks_outside": int(scores["peaks_outside"].sum()),
        }

    # ---- telling

    def summary(self) -> dict[str, Any]:
        """Return what the fitted model is and what it was learned from, as plain data."""
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


def as_corpus(X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None) -> Corpus:
    """Make a corpus of texts, and of their peaks if there are any."""
    if isinstance(X, Corpus):
        return X
    texts = list(as_texts(X))
    if y is None:
        y = [np.empty((0, 3))] * len(texts)
    if len(texts) != len(y):
        raise FitError(f"expected peaks for each text, got {len(texts)} texts and {len(y)} peaks")
    return Corpus.from_documents(
        Document(str(i), {"body": text}, np.asarray(peaks, dtype=np.float64).reshape(-1, 3), "MNI")
        for i, (text, peaks) in enumerate(zip(texts, y, strict=True))
    )
