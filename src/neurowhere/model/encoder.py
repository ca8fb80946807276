"""Encoder: text in, probability of each region of the brain out.

An estimator by the conventions of scikit-learn: `__init__` only assigns, what is learned ends in
an underscore, and `clone`, `cross_val_score` and `GridSearchCV` work on it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere._tools.parallel import track
from neurowhere.corpus import Corpus
from neurowhere.exceptions import FitError
from neurowhere.learn import LogLinear, Schedule
from neurowhere.model.estimator import as_corpus, check_fitted, score_corpus, targets_of
from neurowhere.model.losses import LabelTerms, Loss, MeanMap, find_loss
from neurowhere.model.ranges import check_ranges
from neurowhere.model.reading import as_texts, chunks
from neurowhere.model.text_model import Neighbours, TextModel
from neurowhere.model.training import CHUNK, CountModel, TrainingOptions, no_counts
from neurowhere.space import Atlas, Partition, VoxelGrid
from neurowhere.text import TermExtractor, Vocabulary

TEXT = ("terms", "none")
MIN_SIDED = 20  # training studies that must mention a term on one side, to learn it apart


class Encoder(TextModel):
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
        technique, indication, history, comparison, plan, affiliations.
    hedge_weight : float
        Weight, in `encode` and `predict`, of what a text leaves open ("possible", "cannot be
        excluded"); 1 for that of all else.
    features : "tfidf" or "tf"
        Sublinear tf-idf in rows of unit norm, or the paper's term frequencies; for l1 and l2.
    sharpness : float, optional
        Factor of the deviation from the mean map, 1 for the paper's models; by default it is
        chosen with λ. For l1 and l2.
    intercept : bool
        Whether a region has a constant beside what terms add. Without it, for l2 and labels, what
        the terms add is cut at zero and rescaled, and there is no sharpness.
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
        features: str = "tfidf",
        sharpness: float | None = None,
        intercept: bool = True,
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
        self.features = features
        self.sharpness = sharpness
        self.intercept = intercept
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
        """Learn from a corpus, or from texts and their peaks.

        All mentions of terms count, denied or not, whatever their side.

        Parameters
        ----------
        X : Corpus or sequence of str
        y : sequence of arrays of shape (n_peaks, 3), optional
            Peaks of each text in MNI mm; those of a corpus are in it.

        Returns
        -------
        Self
        """
        self._check_options()
        corpus = as_corpus(X, y)
        if not len(corpus.peaks):
            raise FitError(f"expected coordinates to learn from, but there are none ({corpus!r})")
        self._place()
        targets = targets_of(
            corpus, self.partition_, self.brain_, bandwidth=self.bandwidth, n_jobs=self.n_jobs
        )
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
        self.term_studies_ = counts.getnnz(axis=0)
        if isinstance(self.predictor_, LogLinear):
            projections = self.predictor_.project(self.weighting_.transform(counts))
            ids = corpus.documents["id"].to_numpy(dtype=str)
            self.neighbours_ = Neighbours.from_projections(ids, projections)
        return self

    def _check_options(self) -> None:
        if self.text not in TEXT:
            raise FitError(f"expected text among {', '.join(map(repr, TEXT))}, got {self.text!r}")
        try:
            check_ranges("model.json", {"parameters": self.get_params()})
        except ValueError as error:
            raise FitError(str(error)) from error
        self._asked_loss()

    def _find_loss(self) -> Loss:
        """Return the loss to fit: the one asked for, or the mean map where texts are ignored."""
        return MeanMap() if self.text == "none" else self._asked_loss()

    def _asked_loss(self) -> Loss:
        return find_loss(
            self.loss,
            self.constraint,
            features=self.features,
            sharpness=self.sharpness,
            intercept=self.intercept,
        )

    def _place(self) -> None:
        """Settle the brain and the partition; an atlas is cut to the brain."""
        given = self.__dict__["partition"]
        partition = VoxelGrid() if given is None else given
        needs_labels = self._asked_loss().needs_labels
        if needs_labels and getattr(partition, "labels", None) is None:
            raise FitError("a label-constrained model needs an atlas with labels; give both")
        if isinstance(partition, Atlas):
            self.brain_ = VoxelGrid() if self.brain is None else self.brain
            self.partition_ = partition.restrict(self.brain_)
        elif isinstance(partition, VoxelGrid):
            self.brain_ = self.partition_ = partition
        else:
            kind = type(partition).__name__
            raise FitError(f"expected a VoxelGrid or an Atlas as the partition, got {kind}")

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
            from neurowhere.text.building.anatomy import builtin_anatomy

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
        """Yield predictions as `predict` gives them, some documents at a time, in order.

        Parameters
        ----------
        X : Corpus or sequence of str
        chunk : int
            Number of documents at a time.

        Yields
        ------
        array of shape (at most chunk, n_regions)
        """
        check_fitted(self)
        if isinstance(X, Corpus):
            features = self.transform(X)
            for start in range(0, features.shape[0], chunk):
                yield self.predict_features(features[start : start + chunk])
        else:
            for texts in chunks(as_texts(X), chunk):
                readings, sides = self.read(texts, self.reader), self.follows_sides(self.reader)
                yield self.maker.predict(texts, readings, sides=sides).probabilities

    # ---- scoring

    def score(self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None) -> float:
        """Return the mean over studies of the mean log-likelihood of their peaks.

        Documents, and texts too, are counted as in training, without denials or sides.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        float
            Log of a density in mm⁻³.
        """
        return float(self.score_documents(X, y)["log_likelihood"].mean())

    def score_documents(
        self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None
    ) -> pd.DataFrame:
        """Score each study by the likelihood of its peaks under the half-uniform prediction.

        Documents, and texts too, are counted as in training, without denials or sides.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        DataFrame
            id, log_likelihood (NaN for a study without peaks in the brain), nats_above_uniform,
            mean_map (the log-likelihood of the mean map), peaks (scored, in the brain) and
            peaks_outside (left out).
        """
        check_fitted(self)
        corpus = as_corpus(X, y)
        predictions = track(self.iter_predict(corpus), "scoring", -(-len(corpus) // CHUNK))
        return score_corpus(corpus, predictions, self.mean_map_, self.partition_, self.brain_)

    def score_summary(
        self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None
    ) -> dict[str, float]:
        """Sum up the scores of studies, beside those of the uniform density and the mean map.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        dict of str to float
            Mean log-likelihoods, and how many studies and peaks were scored.
        """
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
