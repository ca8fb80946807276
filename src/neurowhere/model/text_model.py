"""Text model: what a fitted model makes of texts and terms."""

import html
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import Workers, run_in_order
from neurowhere.corpus import Corpus
from neurowhere.exceptions import DataWarning, NeurowhereError, TextError, tell_fault
from neurowhere.learn import Certificate, Choice, LengthCalibration, Predictor, mass_for
from neurowhere.model.encoding import Encoding
from neurowhere.model.estimator import Parameters, check_fitted
from neurowhere.model.lending import key_of
from neurowhere.model.prediction import Drawn, MapMaker
from neurowhere.model.reading import (
    EXPECTED_TEXT,
    Reader,
    Readings,
    as_items,
    as_texts,
    chunks,
    no_text,
)
from neurowhere.model.source import ReadText
from neurowhere.model.titles import title_of
from neurowhere.space import Partition, VoxelGrid
from neurowhere.text import TermExtractor, TfIdf, Vocabulary
from neurowhere.text.kinds import Kind

if TYPE_CHECKING:
    from neurowhere.model.term_maps import TermMap

CHUNK_ENCODED = 64  # texts whose maps are held at a time: few enough for the processor's cache
DIMENSIONS = 64  # of the strongest of a model, in which closeness of studies is measured
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
        if encoding.checked().is_mean_map and self.text != "none":
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
        if n_jobs != 1:
            self._encode_together([""], reader)  # what is made once, before processes are copied
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
        readings = self.read(texts, reader)
        predicted = self.maker.predict(texts, readings, sides=self.follows_sides(reader))
        return [
            self._encoding(text, readings.only(row), reader, q, drawn)
            for row, (text, q, drawn) in enumerate(zip(texts, *predicted, strict=True))
        ]

    def _encoding(
        self,
        text: str,
        readings: Readings,
        reader: Reader,
        q: NDArray[np.float32],
        drawn: Drawn | None,
    ) -> Encoding:
        report, mixture, names = (None,) * 3 if drawn is None else (*drawn, drawn.names)
        source = ReadText(self, text, readings, reader, report, mixture is not None, names)
        return Encoding(text, q.copy(), source)  # of the maps of a chunk, this one alone

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

    def read(self, texts: Sequence[str], reader: Reader) -> Readings:
        """Read texts, and weigh the terms that they affirm.

        Parameters
        ----------
        texts : sequence of str
        reader : Reader

        Returns
        -------
        Readings
        """
        if self.text == "none":
            return Readings.unread(texts)
        return Readings.read(texts, self.extractor_, self.weighting_, reader)

    @property
    def maker(self) -> MapMaker:
        """What makes the maps of texts."""
        maker: MapMaker | None = self.__dict__.get("_maker")
        if maker is None or maker.predictor is not self.predictor_:
            extractor: Any = vars(self).get("extractor_")  # none of a model of the mean map
            vocabulary: Any = vars(self).get("vocabulary_")
            maker = MapMaker(self.predictor_, extractor, vocabulary, self.partition_)
            self.__dict__["_maker"] = maker
        return maker

    def follows_sides(self, reader: Reader) -> bool:
        """Return whether sides are applied: a model that has learned them needs no more.

        Parameters
        ----------
        reader : Reader

        Returns
        -------
        bool
        """
        return reader.sides and self.text != "none" and not self.extractor_.sided

    def mass_for(self, features: sparse.csr_matrix, share: float) -> float:
        """Return the predicted mass that holds a share of the peaks of an unseen study.

        Parameters
        ----------
        features : csr_matrix of shape (1, n_terms)
        share : float

        Returns
        -------
        float
            For a model that was not calibrated, the share itself.
        """
        if isinstance(self.calibration_, LengthCalibration):
            return self.calibration_.mass_for(share, self.n_known(features))
        return share if self.calibration_ is None else mass_for(share, self.calibration_)

    def n_known(self, features: sparse.csr_matrix) -> int:
        """Return the number of known terms of a text, without extra words.

        Parameters
        ----------
        features : csr_matrix of shape (1, n_terms)

        Returns
        -------
        int
        """
        gates = getattr(self.predictor_, "gates", None)
        return int(features.nnz if gates is None else (~gates.is_extra[features.indices]).sum())

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
