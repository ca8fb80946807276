"""Service: a model at work; from a query to the bytes of its answer, whatever its form."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from io import BytesIO
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurowhere.inputs.sentences import split_sentences
from neurowhere.inputs.sources import Text
from neurowhere.model.decode import decode
from neurowhere.model.encoder import Encoder
from neurowhere.model.encoding import Encoding
from neurowhere.space import Atlas
from neurowhere.space.partition import OUTSIDE
from neurowhere.web import answers, examples
from neurowhere.web.gazetteer import Gazetteer
from neurowhere.web.images import TEMPLATES, Look, brain, draw_slices, to_nifti
from neurowhere.web.schemas import (
    BatchQuery,
    ContrastQuery,
    DecodeQuery,
    EncodeQuery,
    Imaging,
    Reading,
    TermQuery,
)
from neurowhere.web.settings import Settings

SHARES = (0.5, 0.8, 0.95)  # of the peaks of unseen studies that regions of mass should hold
BRIGHTEST = 0.999  # share of the brain below the last colour

Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Service:
    """Answers queries; safe to use from several threads.

    Attributes
    ----------
    model : Encoder
    gazetteer : Gazetteer
    settings : Settings
    """

    model: Encoder
    gazetteer: Gazetteer
    settings: Settings
    _drawing: Lock = field(default_factory=Lock, init=False)  # plotting libraries keep some state

    @classmethod
    def start(cls, model: Encoder, settings: Settings, atlas: Atlas | None = None) -> Self:
        """Set up a service, with all that is otherwise read or computed at first use."""
        gazetteer = Gazetteer(atlas or _atlas_of(model), model.partition_, model.mean_map_)
        service = cls(model, gazetteer, settings)
        service.encode_json(EncodeQuery(text=examples.TEXT))
        return service

    def answer(self, name: str, query: Any) -> bytes:
        """Answer a query by the method of this name; no name ever comes from a request."""
        method: Callable[[Any], bytes] = getattr(self, name)
        return method(query)

    # ---- encode

    def encode_json(self, query: EncodeQuery) -> bytes:
        """Tell all of a text."""
        encoding = self._encode(query.text, query)
        answer = answers.full(encoding, self.gazetteer, query.regions)
        answer["place"] = query.at and answers.place(encoding, self.gazetteer, query.at)
        answer["sentences"] = self._sentences(query) if query.sentences else None
        return to_json(answer)

    def encode_nifti(self, query: EncodeQuery) -> bytes:
        """Give a map of a text; a density integrates to 1 at any resolution."""
        image = self.model.partition_.to_img(self._values(query), resolution_mm=query.resolution_mm)
        if query.image == "density":
            voxel_mm3 = abs(np.linalg.det(image.affine[:3, :3]))
            image.dataobj[:] /= np.asarray(image.dataobj).sum(dtype=np.float64) * voxel_mm3
        return to_nifti(image)

    def encode_png(self, query: EncodeQuery) -> bytes:
        """Draw a map of a text."""
        return self._png(self._values(query), query, signed=query.image == "log_ratio")

    def encode_html(self, query: EncodeQuery) -> bytes:
        """Write the report of a text."""
        from neurowhere.report.encoding_page import encoding_page
        from neurowhere.report.encoding_tables import tabulate

        encoding = self._encode(query.text, query)
        return encoding_page(encoding, tabulate(encoding, self.gazetteer.atlas)).encode()

    def _encode(self, text: str, reading: Reading) -> Encoding:
        return self.model.encode(text, negation=reading.negation, laterality=reading.laterality)

    def _sentences(self, query: EncodeQuery) -> list[answers.Answer]:
        """Tell of each sentence by itself."""
        if self.model.text == "none":
            return []
        end, told = 0, []
        sentences = split_sentences(Text("", query.text), self.model.extractor_.counter)
        for _, words in sentences[: self.settings.max_batch]:
            start = query.text.index(words, end)
            end = start + len(words)
            told.append(answers.sentence(self._encode(words, query), self.gazetteer, (start, end)))
        return told

    def _values(self, query: EncodeQuery) -> Floats:
        """Value of each region in the image that is wanted."""
        encoding = self._encode(query.text, query)
        if query.image == "mass":
            return mass_levels(encoding)
        return encoding.density if query.image == "density" else encoding.log_ratio

    # ---- contrast

    def contrast_json(self, query: ContrastQuery) -> bytes:
        """Tell where two texts differ."""
        pair = self._pair(query)
        return to_json(answers.contrast(*pair, self.gazetteer, query.regions))

    def contrast_nifti(self, query: ContrastQuery) -> bytes:
        """Give the log ratio of two maps."""
        values = log_ratio(*self._pair(query))
        return to_nifti(self.model.partition_.to_img(values, resolution_mm=query.resolution_mm))

    def contrast_png(self, query: ContrastQuery) -> bytes:
        """Draw the log ratio of two maps."""
        return self._png(log_ratio(*self._pair(query)), query, signed=True)

    def _pair(self, query: ContrastQuery) -> tuple[Encoding, Encoding]:
        return self._encode(query.text, query), self._encode(query.other, query)

    # ---- term

    def term_json(self, query: TermQuery) -> bytes:
        """Tell of the map of a term."""
        return to_json(answers.term(self.model.term_map(query.name)))

    def term_nifti(self, query: TermQuery) -> bytes:
        """Give the map of a term."""
        image = self.model.term_map(query.name).to_img(resolution_mm=query.resolution_mm)
        return to_nifti(image)

    def term_png(self, query: TermQuery) -> bytes:
        """Draw the map of a term."""
        return self._picture(self.model.term_map(query.name).img, query, signed=True)

    # ---- others

    def batch_json(self, query: BatchQuery) -> bytes:
        """Sum up several texts."""
        results = [
            answers.summary(self._encode(text, query), self.gazetteer, query.regions)
            for text in query.texts
        ]
        return to_json({"results": results})

    def decode_json(self, query: DecodeQuery) -> bytes:
        """Tell which terms and studies speak for places; those outside of the brain are counted."""
        points = np.array(query.points)
        inside = self.model.brain_.region_of(points) != OUTSIDE
        found = decode(self.model, points[inside] if inside.any() else points, n_terms=query.n)
        return to_json(answers.decoding(found, query.n, int((~inside).sum())))

    def template_nifti(self, name: str) -> bytes:
        """Give a template of the brain."""
        return to_nifti(TEMPLATES[name]())

    def model_json(self, query: None = None) -> bytes:
        """Tell what the model is, and what may be asked of it."""
        limits = asdict(self.settings)
        del limits["origins"]
        about = {
            **self.model.summary(),
            "atlas": f"{len(self.gazetteer.atlas.names)} regions",
            "limits": limits,
        }
        about.pop("origin", None)  # names files of the machine that it was trained on
        return to_json(about)

    # ---- images

    def _png(self, values: Floats, wanted: Imaging, *, signed: bool) -> bytes:
        return self._picture(self.model.partition_.to_img(values), wanted, signed=signed)

    def _picture(self, image: Any, wanted: Imaging, *, signed: bool) -> bytes:
        from neurowhere.report.maps import draw_map, strongest_place, write_png

        if wanted.style == "figure":
            stream = BytesIO()
            with self._drawing:
                write_png(draw_map(image, signed=signed), stream)
            return stream.getvalue()
        magnitudes = np.abs(np.asarray(image.dataobj)[self.model.partition_.regions >= 0])
        low, high = np.quantile(magnitudes, [wanted.hidden, BRIGHTEST]).tolist()
        look = Look(low, high, wanted.colours, wanted.opacity)
        return draw_slices(image, brain(), wanted.at or strongest_place(image), look)


def _atlas_of(model: Encoder) -> Atlas:
    from neurowhere.space.aal3 import default_atlas

    return model.partition_ if isinstance(model.partition_, Atlas) else default_atlas()


def mass_levels(encoding: Encoding) -> Floats:
    """3 in the smallest region that should hold half of the peaks, 2 for 80 %, 1 for 95 %."""
    levels: Floats = np.zeros(len(encoding.probabilities))
    for share in SHARES:
        levels += encoding.holding(share)
    return levels


def log_ratio(first: Encoding, second: Encoding) -> Floats:
    """Log of the half-uniform density of one text over that of another; the mean map cancels."""
    ratio: Floats = first.log_ratio - second.log_ratio
    return ratio


def to_json(answer: Any) -> bytes:
    """Write plain data."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
