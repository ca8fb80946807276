"""Encoder: text in, probability of each region of the brain out.

An estimator by the conventions of scikit-learn: `__init__` only assigns, what is learned ends in
an underscore, and `clone`, `cross_val_score` and `GridSearchCV` work on it.
"""

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere._tools.progress import track
from neurowhere.corpus import Corpus, Document
from neurowhere.exceptions import FitError
from neurowhere.learn import Certificate, Choice, LogLinear, Schedule, mass_for, nats_above_uniform
from neurowhere.model.encoding import Encoding, TermMap
from neurowhere.model.neighbours import Neighbours
from neurowhere.model.parameters import Parameters
from neurowhere.model.training import CHUNK, Learned, Learner, Lesson, learn, mean_predictor
from neurowhere.space import Atlas, Partition, VoxelGrid, make_targets, place_peaks
from neurowhere.space.geometry import move_to_sides
from neurowhere.space.targets import Targets
from neurowhere.text import TermExtractor, TfIdf, Vocabulary, words_of_label
from neurowhere.text.anatomy.builtin import builtin_anatomy
from neurowhere.text.clinical.mentions import (
    Mentions,
    count_mentions,
    read_mentions,
    side_shares,
)
from neurowhere.text.clinical.places import without_side
from neurowhere.text.extraction import LATERAL

OPTIONS = {
    "loss": ("l1", "l2", "likelihood"),
    "text": ("terms", "none"),
    "constraint": (None, "labels"),
}
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
        Of the validation split, and of the first random start.
    n_jobs : int
        Threads, −1 for all cores.
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
    calibration_ : array or None
        Mass that holds each share of the peaks of held-out studies; for the likelihood.
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
    calibration_: NDArray[np.float64] | None
    neighbours_: Neighbours | None

    def __init__(
        self,
        partition: Partition | None = None,
        loss: Literal["l1", "l2", "likelihood"] = "l1",
        *,
        text: Literal["terms", "none"] = "terms",
        constraint: Literal["labels"] | None = None,
        vocabulary: Any = None,
        min_studies: int = 5,
        section_weights: Mapping[str, float] | None = None,
        laterality: bool = False,
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
        """Regions to predict; once fitted those of the columns of `predict`: an atlas is cut."""
        fitted: Partition | None = getattr(self, "partition_", None)
        return self._partition if fitted is None else fitted

    @partition.setter
    def partition(self, partition: Partition | None) -> None:
        self._partition = partition
        self.__dict__.pop("partition_", None)

    # ---- learning

    def fit(self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None) -> Self:
        """Learn from a corpus, or from texts X and their peaks y in MNI mm."""
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
        if self.text == "none":
            self._keep(Learned(mean_predictor(targets)))
            return self
        corpus = corpus.select(rows)
        counts = self._count_terms(corpus)
        self.learn_counts(counts, targets, corpus.groups)
        if isinstance(self.predictor_, LogLinear):
            projections = self.predictor_.project(self.weighting_.transform(counts))
            ids = corpus.documents["id"].to_numpy(dtype=str)
            self.neighbours_ = Neighbours.from_projections(ids, projections)
        return self

    def learn_counts(
        self, counts: sparse.csr_matrix, targets: Targets, groups: NDArray[Any]
    ) -> None:
        """Learn from the term counts and the targets of studies, once terms and regions are set."""
        self.weighting_ = TfIdf().fit(counts)
        lesson = Lesson(
            self.weighting_.transform(counts),
            targets,
            self.partition_,
            self.brain_.total_volume_mm3,
            self._label_selector(),
        )
        learned = learn(self._learner(), lesson, groups)
        if learned.term_weights is not None:
            self.weighting_ = TfIdf.from_idf(self.weighting_.idf_ * learned.term_weights)
        self._keep(learned)

    def _check_options(self) -> None:
        for name, values in OPTIONS.items():
            if getattr(self, name) not in values:
                raise FitError(
                    f"expected {name} among {', '.join(map(repr, values))}, "
                    f"got {getattr(self, name)!r}"
                )
        if self.constraint == "labels" and self.loss == "likelihood":
            raise FitError("expected loss 'l1' or 'l2' for a label-constrained model; set one")

    def _place(self) -> None:
        """Settle the brain and the partition; an atlas is cut to the brain."""
        partition = VoxelGrid() if self._partition is None else self._partition
        if self.constraint == "labels" and getattr(partition, "labels", None) is None:
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
        nested = self.loss == "likelihood" if self.nested is None else self.nested
        extractor = TermExtractor(vocabulary, self.section_weights, nested=nested)
        counts = extractor.counts(corpus)
        studies = counts.getnnz(axis=0)  # (n_terms,): studies that mention each term
        if not (studies >= self.min_studies).any():
            raise FitError(
                f"none of the {len(vocabulary):,} terms of the vocabulary occurs in at least "
                f"{self.min_studies} of the {len(corpus):,} training studies; give a vocabulary "
                "that fits the corpus, or lower min_studies"
            )
        if self.constraint == "labels":
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
        if self.constraint == "labels":
            names = [words_of_label(name)[0] for name in self.partition_.names]
            self.label_names_ = names
            return Vocabulary(sorted({name for name in names if name}))
        if self.vocabulary is None:
            return builtin_anatomy()
        if isinstance(self.vocabulary, Vocabulary):
            return self.vocabulary
        if isinstance(self.vocabulary, Sequence) and not isinstance(self.vocabulary, str):
            return Vocabulary(self.vocabulary)
        return Vocabulary.load(self.vocabulary)

    def _learner(self) -> Learner:
        schedule = Schedule() if self.rank is None else Schedule(rank=self.rank)
        return Learner(
            loss=self.loss,
            constraint=self.constraint,
            lambdas=self.lambdas,
            validation=self.validation,
            tolerance=self.tolerance,
            repeats=self.repeats,
            schedule=schedule,
            seed=self.seed,
            n_jobs=self.n_jobs,
            checkpoint=self.checkpoint,
        )

    def _label_selector(self) -> sparse.csr_matrix | None:
        """(n_terms, n_regions), with a one where the term is the region's label."""
        if self.constraint != "labels":
            return None
        regions = [k for k, name in enumerate(self.label_names_) if name]
        terms = [self.vocabulary_.index(self.label_names_[k]) for k in regions]
        shape = (len(self.vocabulary_), self.partition_.n_regions)
        return sparse.csr_matrix((np.ones(len(regions)), (terms, regions)), shape=shape)

    def _keep(self, learned: Learned) -> None:
        self.predictor_ = learned.predictor
        self.choice_, self.certificate_ = learned.choice, learned.certificate
        self.calibration_ = learned.calibration
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
        """Probability of each region for each document: (n, m), rows sum to 1."""
        return np.concatenate(
            [np.empty((0, self.partition_.n_regions), np.float32), *self.iter_predict(X)]
        )

    def iter_predict(
        self, X: Corpus | Sequence[str], chunk: int = CHUNK
    ) -> Iterator[NDArray[np.float32]]:
        """Predict `chunk` documents at a time, in order."""
        features = self.transform(X)
        for start in range(0, features.shape[0], chunk):
            yield self.predict_features(features[start : start + chunk])

    def predict_features(self, features: sparse.csr_matrix) -> NDArray[np.float32]:
        """Predict from the features of documents, as `transform` gives them."""
        return self.predictor_.predict(features)

    def transform(self, X: Corpus | Sequence[str]) -> sparse.csr_matrix:
        """Features of documents: (n, n_terms), rows of unit norm."""
        if self.text == "none":
            return sparse.csr_matrix(np.zeros((len(X), 0), dtype=np.float32))
        return self.weighting_.transform(self.extractor_.counts(X))

    def encode(self, text: str, *, negation: bool = True, laterality: bool = True) -> Encoding:
        """Predict from one text, and tell which of its terms were known and what they did.

        Parameters
        ----------
        text : str
        negation : bool
            Whether terms that the text denies ("no lesion in the thalamus") are left out.
        laterality : bool
            Whether the sides of brain structures ("left MCA infarct") move the map to that side.
            A model that has learned sides from texts does so by itself.
        """
        mentions = Mentions(())
        if self.text != "none":
            mentions = read_mentions(text, self.extractor_.counter, negation=negation)
        features = self._features(mentions)
        order = np.argsort(-features.data, kind="stable")
        columns, weights = features.indices[order], features.data[order]
        names = [self.extractor_.terms[i] for i in columns]
        probabilities = self.predict_features(features)[0]
        if laterality and not (self.text == "none" or self.extractor_.sided):
            shares = side_shares(mentions, dict(zip(names, weights, strict=True)))
            probabilities = move_to_sides(self.partition_, probabilities, shares.left, shares.right)

        def explain(places: NDArray[np.floating]) -> NDArray[np.floating]:
            return weights * self.predictor_.mean_effects(columns, places)

        return Encoding(
            text=text,
            probabilities=probabilities,
            mean_map=self.mean_map_,
            terms=pd.DataFrame(
                self._where(mentions, names)
                | {"weight": weights, "contribution": explain(probabilities - self.mean_map_)},
                columns=["term", "count", "weight", "where", "contribution"],
            ),
            partition=self.partition_,
            brain=self.brain_,
            mentions=mentions,
            calibrate=self._mass_for,
            explain=explain,
            unit=self.predictor_.unit,
            find_similar=partial(self._similar, features),
        )

    def _features(self, mentions: Mentions) -> sparse.csr_matrix:
        if self.text == "none":
            return sparse.csr_matrix(np.zeros((1, 0), dtype=np.float32))
        return self.weighting_.transform(count_mentions(mentions, self.extractor_))

    def _where(self, mentions: Mentions, names: list[str]) -> dict[str, list[Any]]:
        """Terms that a text affirms, how often, and where."""
        where: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
        for mention in mentions.present:
            term = mention.term
            names_here = [term, *self.extractor_.terms_within.get(term, [])]
            if (sided := f"{mention.side} {term}") in self.extractor_.sided:
                names_here.append(sided)
            for name in names_here:
                where[name].append((mention.start, mention.end))
        places = list(where.values())
        return {"term": names, "count": list(map(len, places)), "where": places}

    def _mass_for(self, share: float) -> float:
        return share if self.calibration_ is None else mass_for(share, self.calibration_)

    def _similar(self, features: sparse.csr_matrix) -> pd.DataFrame | None:
        if self.neighbours_ is None or not isinstance(self.predictor_, LogLinear):
            return None
        return self.neighbours_.nearest(self.predictor_.project(features)[0])

    def term_map(self, name: str) -> TermMap:
        """Find what the model associates with a term: xᵀβ for a text that is the term alone.

        A name may begin with a side. "left amygdala" is learned where the training texts mention
        it often enough (see `laterality`), or is a term of the vocabulary itself. Otherwise the
        map of "amygdala" is restricted to the left hemisphere.
        """
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
            effect=features.data @ self.predictor_.effects(features.indices),
            unit=self.predictor_.unit,
            partition=self.partition_,
        )

    def term_img(self, name: str) -> Any:
        """Map of a term as a NIfTI image, in mm⁻³; see `term_map`."""
        return self.term_map(name).img

    # ---- scoring

    def score(self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None) -> float:
        """Mean over studies of the mean log-likelihood of their peaks, per mm³."""
        return float(self.score_documents(X, y)["log_likelihood"].mean())

    def score_documents(
        self, X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None
    ) -> pd.DataFrame:
        """Score each study by the likelihood of its peaks under the half-uniform prediction.

        Returns
        -------
        DataFrame
            id, log_likelihood (NaN for a study without peaks in the brain), nats_above_uniform,
            mean_map (the log-likelihood of the mean map), peaks (scored, in the brain) and
            peaks_outside (left out).
        """
        corpus = as_corpus(X, y)
        xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
        study, region = place_peaks(self.partition_, self.brain_, xyz_mm, corpus.peak_rows)
        order = np.argsort(study, kind="stable")
        study, region = study[order], region[order]
        relative = np.zeros(len(study))
        scale = self.brain_.total_volume_mm3 / self.partition_.volumes_mm3  # V/v_k
        start = 0
        n_chunks = -(-len(corpus) // CHUNK)
        for q in track(self.iter_predict(corpus), "scoring", n_chunks):
            here = slice(*np.searchsorted(study, [start, start + len(q)]))
            covered = region[here] >= 0
            relative[here] = covered * q[study[here] - start, region[here]] * scale[region[here]]
            start += len(q)
        nats = nats_above_uniform(relative, study, len(corpus))
        mean = (region >= 0) * (self.mean_map_ * scale)[region]
        mean_nats = nats_above_uniform(mean, study, len(corpus))
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
        """Say what the fitted model is and what it was learned from, as plain data."""
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
    if y is None:
        y = [np.empty((0, 3))] * len(X)
    if len(X) != len(y):
        raise FitError(f"expected peaks for each text, got {len(X)} texts and {len(y)} peaks")
    return Corpus.from_documents(
        Document(str(i), {"body": text}, np.asarray(peaks, dtype=np.float64).reshape(-1, 3), "MNI")
        for i, (text, peaks) in enumerate(zip(X, y, strict=True))
    )
