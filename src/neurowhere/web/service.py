"""Service: answers queries with a model, in the form that is asked for."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partialmethod
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import DataWarning, NeurowhereError
from neurowhere.inputs import Text, split_sentences
from neurowhere.model.algebra import subtract
from neurowhere.model.decoding import Decoding, decode
from neurowhere.model.encoder import Encoder
from neurowhere.model.encoding import REGION_ORDERS, Encoding
from neurowhere.model.methods import write_methods
from neurowhere.model.regions import as_point, reasons_by_region, regions_of, shown_terms
from neurowhere.model.schema import Difference, Sentence, Summary, to_plain
from neurowhere.model.summary import compare_texts, studies_of, summarise
from neurowhere.model.term_maps import TermMap, related_terms
from neurowhere.report import volumes
from neurowhere.report.words import places_in_words
from neurowhere.space import Atlas, default_atlas
from neurowhere.space.geometry import Gazetteer, gazetteer_of, strongest_regions
from neurowhere.space.images import OUTSIDE
from neurowhere.web import Settings, documents, images, schemas

MEANINGS = {  # what the values of an image are
    "density": "density of peaks, per mm^3",
    "log_ratio": "log ratio to the average study",
    "mass": "regions of 50, 80, 95 % of peaks: 3, 2, 1",
}
SHARES = (0.5, 0.8, 0.95)  # regions that hold these shares of the peaks have levels 3, 2, 1
N_TERM_PEAKS = 5
N_SENTENCE_REGIONS = 3
N_REGIONS = 10
MOST_EACH, N_EACH_TERMS = 100, 3  # points that are decoded one by one, terms of each
SIGNS = {"left": -1, "right": 1}  # sign of x

Floats = NDArray[np.floating]
Plain = dict[str, Any]

_warning = Lock()  # Python's record of warnings belongs to the whole process


@dataclass(frozen=True, eq=False)
class Service:
    """Answers queries; safe to use from several threads."""

    model: Encoder
    atlas: Atlas  # names the regions
    settings: Settings
    _drawing: Lock = field(default_factory=Lock, init=False)  # plotting libraries keep some state

    @classmethod
    def start(cls, model: Encoder, settings: Settings, atlas: Atlas | None = None) -> Self:
        """Set up a service, with all that is otherwise read or computed at first use."""
        own = model.partition_ if isinstance(model.partition_, Atlas) else None
        service = cls(model, atlas or own or default_atlas(), settings)
        service.encode_json(schemas.EncodeQuery(text=schemas.EXAMPLES["text"]))
        return service

    def answer(self, name: str, query: Any) -> Any:
        """Answer a query by the method of this name, which never comes from a request.

        What a method whose name ends in `_json` returns is sent as JSON.
        """
        found = getattr(self, name)(query)
        return schemas.to_json(found) if name.endswith("_json") else found

    # ---- encode

    def encode_json(self, query: schemas.EncodeQuery) -> Summary:
        """Sum up a text."""
        summary = self._summary(self._encode(query.text, query), query, at=query.at)
        if query.sentences:
            summary = replace(summary, sentences=self._sentences(query))
        return summary

    def encode_parts(self, query: schemas.EncodeQuery) -> bytes:
        """Return what the page shows of a text and its density, or its sentences alone."""
        if query.sentences:
            answer = {"sentences": to_plain(self._sentences(query))}
            return schemas.to_parts(answer=("application/json", schemas.to_json(answer)))
        encoding = self._encode(query.text, query)
        summary = self._summary(encoding, query, at=query.at)
        answer = schemas.shown(summary) | {"places": places_in_words(summary)}
        if query.explain:
            gazetteer = encoding.gazetteer(self._atlas(query))
            found = {
                region.region: region
                for order in REGION_ORDERS
                for region in regions_of(encoding, gazetteer, query.regions, sort=order)
            }
            answer["regions"] = to_plain(list(found.values()))
            answer["related"] = related_terms(self.model, encoding)["term"].tolist()
            answer["why"] = {
                label: [[each.term, each.contribution] for each in why]
                for label, why in reasons_by_region(encoding, gazetteer).items()
            }
        return schemas.to_parts(
            answer=("application/json", schemas.to_json(answer)),
            map=("application/gzip", volumes.to_nifti(volumes.density_of(encoding))),
        )

    def encode_nifti(self, query: schemas.EncodeQuery) -> bytes:
        """Give a map of a text; a density integrates to 1 at any resolution."""
        image = self.model.partition_.to_img(self._values(query), resolution_mm=query.resolution_mm)
        if query.image == "density":
            voxel_mm3 = abs(np.linalg.det(image.affine[:3, :3]))
            image.dataobj[:] /= np.asarray(image.dataobj).sum(dtype=np.float64) * voxel_mm3
        image.header["descrip"] = f"neurowhere {version('neurowhere')}: {MEANINGS[query.image]}"
        return volumes.to_nifti(image)

    def encode_png(self, query: schemas.EncodeQuery) -> bytes:
        """Draw a map of a text."""
        from neurowhere.report.maps import DENSITY_UNIT, PERCENT_PER_CM3, RATIO_UNIT

        unit = {"density": DENSITY_UNIT, "log_ratio": RATIO_UNIT}.get(query.image, "")
        values = self._values(query) * (PERCENT_PER_CM3 if query.image == "density" else 1)
        return self._png(values, signed=query.image == "log_ratio", unit=unit)

    def encode_html(self, query: schemas.EncodeQuery) -> bytes:
        """Write the report of a text."""
        from neurowhere.report.encoding import N_EXPLAINED, encoding_page

        encoding = self._encode(query.text, query)
        summary = summarise(encoding, self.atlas, n_regions=None, n_explained=N_EXPLAINED)
        return encoding_page(encoding, summary, self.atlas).encode()

    def _encode(self, text: str, reading: schemas.Reading) -> Encoding:
        (encoding,) = self._encode_many([text], reading)
        return encoding.checked()

    def _encode_many(self, texts: Iterable[str], reading: schemas.Reading) -> Iterator[Encoding]:
        return self.model.encode_many(
            texts,
            negation=reading.negation,
            sides=reading.sides,
            findings=reading.findings,
            hedge_weight=reading.hedge_weight,
            kind=reading.kind,
        )

    def _summary(self, encoding: Encoding, reading: schemas.Reading, at: Any = None) -> Summary:
        return summarise(
            encoding, self._atlas(reading), n_regions=reading.regions, sort=reading.sort, at=at
        )

    def _sentences(self, query: schemas.EncodeQuery) -> list[Sentence]:
        """Sum up each sentence by itself."""
        if self.model.text == "none":
            return []
        found = split_sentences(
            Text("", query.text), self.model.extractor_.counter, findings=query.findings
        )
        words = [content for _, content in found[: self.settings.max_batch]]
        end, sentences, atlas = 0, [], self._atlas(query)
        for encoding in self._encode_many(words, query):
            start = query.text.index(encoding.text, end)
            end = start + len(encoding.text)
            regions = regions_of(
                encoding, encoding.gazetteer(atlas), N_SENTENCE_REGIONS, sort=query.sort
            )
            said = (encoding.support, shown_terms(encoding), regions)
            sentences.append(Sentence((start, end), *said))
        return sentences

    def _values(self, query: schemas.EncodeQuery) -> Floats:
        """Value of each region in the image that is wanted."""
        encoding = self._encode(query.text, query)
        if query.image == "mass":
            levels: Floats = np.sum([encoding.holding(share) for share in SHARES], axis=0)
            return levels
        return encoding.density if query.image == "density" else encoding.log_ratio

    # ---- difference

    def difference_json(self, query: schemas.DifferenceQuery) -> Difference:
        """Sum up where two texts differ."""
        atlas, n_regions = self._atlas(query), query.regions
        n_explained = n_regions * query.explain
        return compare_texts(
            *self._pair(query), atlas, n_regions=n_regions, n_explained=n_explained
        )

    def difference_nifti(self, query: schemas.DifferenceQuery) -> bytes:
        """Make an image of the difference of two texts: its log ratio to the mean map."""
        partition, values = self.model.partition_, subtract(*self._pair(query)).log_ratio
        return volumes.to_nifti(partition.to_img(values, resolution_mm=query.resolution_mm))

    def difference_png(self, query: schemas.DifferenceQuery) -> bytes:
        """Draw the difference of two texts."""
        return self._png(subtract(*self._pair(query)).log_ratio, signed=True)

    def _pair(self, query: schemas.DifferenceQuery) -> tuple[Encoding, Encoding]:
        first, second = self._encode_many([query.text, query.other], query)
        return first.checked(), second.checked()

    # ---- term

    def term_json(self, query: schemas.TermQuery) -> Plain:
        """Sum up the map of a term."""
        return _about_term(self.model.term_map(query.name))

    def term_nifti(self, query: schemas.TermQuery) -> bytes:
        """Give the map of a term."""
        image = self.model.term_map(query.name).to_img(resolution_mm=query.resolution_mm)
        return volumes.to_nifti(image)

    def term_png(self, query: schemas.TermQuery) -> bytes:
        """Draw the map of a term."""
        from neurowhere.report.maps import TERM_UNIT

        found = self.model.term_map(query.name)
        unit = TERM_UNIT if found.unit == "log probability" else ""
        return self._picture(found.img, signed=True, unit=unit)

    # ---- others

    def batch_json(self, query: schemas.BatchQuery) -> Plain:
        """Sum up several texts."""
        return {"results": list(self._summaries(query))}

    def batch_lines(self, query: schemas.BatchQuery) -> bytes:
        """Sum up several texts, each on a line."""
        return b"".join(schemas.to_json(each) + b"\n" for each in self._summaries(query))

    def _summaries(self, query: schemas.BatchQuery) -> Iterator[Summary]:
        """Sum up each text of a batch; one on which neurowhere fails does not stop the others."""
        for text, encoding in zip(query.texts, self._encode_many(query.texts, query), strict=True):
            try:
                summary = self._summary(encoding, query)
            except NeurowhereError:
                raise
            except Exception as error:
                summary = self._summary(self.model.failed(text, error), query)
            yield summary

    def decode_json(self, query: schemas.DecodeQuery) -> Plain:
        """Find the terms and studies for places."""
        return decode_points(self.model, self._atlas(query), query)

    def decode_map_json(self, query: schemas.MapQuery) -> Plain:
        """Find the terms and studies for an image."""
        return decode_map(self.model, self._atlas(query), query)

    def document_json(self, query: schemas.DocumentQuery) -> Plain:
        """Read the text of a document."""
        return documents.read_document(query, self.settings.max_text)

    def found_json(self, query: schemas.FindQuery) -> Plain:
        """Read a document of a collection."""
        settings = self.settings
        return documents.find_document(query.id, settings.documents, settings.max_text)

    def contrast_forms(self, query: tuple[schemas.ContrastQuery, Path]) -> documents.Forms:
        """Contrast documents; what is written on the way goes into a folder."""
        asked, folder = query
        source = documents.collection_of(asked, self.settings.documents)
        return documents.contrast(self.model, self.atlas, asked, source, folder)

    def related_json(self, query: schemas.RelatedQuery) -> Plain:
        """Find the terms that are related to a text."""
        found = related_terms(self.model, self._encode(query.text, query), query.n)
        return {"terms": found.to_dict("records")}

    def _figure(self, query: schemas.FigureQuery, form: Literal["svg", "pdf", "png"]) -> bytes:
        """Draw a map for a paper."""
        from neurowhere.report.figure import caption_of, draw_figure, figure_bytes

        texts = [query.text, *([query.other] if query.other else [])]
        encodings = [each.checked() for each in self._encode_many(texts, query)]
        drawn = query.model_dump(include={"quantity", "layout"})
        with self._drawing:
            figure = draw_figure(*encodings, **drawn, width_mm=query.width_mm)
            return figure_bytes(figure, form, caption_of(encodings, **drawn))

    # The names end as those of drawings do, which wait in a queue of their own.
    figure_png = partialmethod(_figure, form="png")
    figure_svg_png = partialmethod(_figure, form="svg")
    figure_pdf_png = partialmethod(_figure, form="pdf")

    def methods_json(self, query: schemas.MethodsQuery) -> Plain:
        """Tell how maps came about."""
        atlas = {"default": "AAL3" if self.atlas is default_atlas() else "the model"}
        name = atlas.get(query.atlas, "HCPex (Huang et al., 2022)")
        from neurowhere.report.figure import write_caption

        found = write_methods(self.model.summary(), query.model_dump(), query.kind, atlas=name)
        drawn = query.model_dump(include={"quantity", "layout", "n_texts"})
        return asdict(found) | {"caption": write_caption(found, **drawn)}

    def region_json(self, query: schemas.RegionQuery) -> Plain:
        """Tell where a region is."""
        return images.describe_region(self._atlas(query), query.region)

    def region_nifti(self, query: schemas.RegionQuery) -> bytes:
        """Give the mask of a region."""
        return volumes.to_nifti(images.mask_of(self._atlas(query), query.region))

    def terms_json(self, query: None = None) -> Plain:
        """List the terms of the model."""
        names = () if self.model.text == "none" else self.model.extractor_.terms
        return {"terms": sorted(names)}

    def _atlas(self, naming: schemas.Naming) -> Atlas:
        """Return the atlas that is asked for; the usual one may be the model's own."""
        return self.atlas if naming.atlas == "default" else images.atlas_named(naming.atlas)

    def cortex_bytes(self, query: None = None) -> bytes:
        """Give the surface of the cortex."""
        return images.cortex()

    def data_nifti(self, name: str) -> bytes:
        """Return data that all maps of the page need: a template, the mean map, or an atlas."""
        if name in volumes.TEMPLATES:
            return volumes.to_nifti(volumes.TEMPLATES[name](), volumes.KEPT_LEVEL)
        if name == "mean":
            partition = self.model.partition_
            density = self.model.mean_map_ / partition.volumes_mm3
            mean = volumes.mean_of(partition, density, self.model.brain_.total_volume_mm3)
            return volumes.to_nifti(mean, volumes.KEPT_LEVEL)
        atlas = self.atlas if name == "atlas-default" else images.atlas_named("hcpex")
        return volumes.to_nifti(volumes.labels_of(atlas), volumes.KEPT_LEVEL)

    def model_json(self, query: None = None) -> Plain:
        """Tell what the model is, and what may be asked of it."""
        settings = asdict(self.settings).items()
        limits = {name: value for name, value in settings if isinstance(value, int | float)}
        about = {
            **self.model.summary(),
            "atlas": f"{len(self.atlas.names)} regions",
            "collections": [
                {"name": each.name, "documents": each.n_documents}
                for each in self.settings.documents
            ],
            "embed": bool(self.settings.embed),
            "limits": limits,
        }
        about.pop("origin", None)  # names files of the machine that it was trained on
        return about

    # ---- images

    def _png(self, values: Floats, *, signed: bool, unit: str = "") -> bytes:
        return self._picture(self.model.partition_.to_img(values), signed=signed, unit=unit)

    def _picture(self, image: Any, *, signed: bool, unit: str = "") -> bytes:
        from neurowhere.report.maps import draw_map, write_png

        stream = BytesIO()
        with self._drawing:
            write_png(draw_map(image, signed=signed, unit=unit), stream)
        return stream.getvalue()


def _about_term(found: TermMap) -> Plain:
    centers, effect = found.partition.centers_mm, found.effect
    if found.side and found.method == "restricted":
        effect = effect * (SIGNS[found.side] * centers[:, 0] >= 0)
    places = strongest_regions(found.partition, effect, N_TERM_PEAKS)
    return {
        "name": found.name,
        "term": found.term,
        "side": found.side,
        "method": found.method,
        "unit": found.unit,
        "peaks": [as_point(center) for center in centers[places]],
    }


def decode_points(model: Encoder, atlas: Atlas, query: schemas.DecodeQuery) -> Plain:
    """Find the terms and studies for places; those outside of the brain are counted."""
    points = np.array(query.points)
    inside = model.brain_.region_of(points) != OUTSIDE
    found = decode(model, points[inside] if inside.any() else points, n_terms=query.n)
    answer = _tell(model, atlas, found, query.n, query.regions)
    one_by_one = points[:MOST_EACH] if query.each else points[:0]
    each = [_tell_point(model, atlas, point) for point in one_by_one]
    told = {"outside": int((~inside).sum()), "threshold": None, "notes": [], "points": each}
    return answer | told


def _tell_point(model: Encoder, atlas: Atlas, point: Floats) -> Plain:
    """Decode a point by itself."""
    inside = bool(model.brain_.region_of(point[None])[0] != OUTSIDE)
    gazetteer = gazetteer_of(atlas, model.partition_)
    (row,) = gazetteer.regions_at(point[None])
    return {
        "at": as_point(point),
        "inside": inside,
        "region": None if row is None else atlas.names[row],
        "name": None if row is None else gazetteer.names[row],
        "terms": decode(model, point[None], n_terms=N_EACH_TERMS).terms["term"].tolist()
        if inside
        else [],
    }


def decode_map(model: Encoder, atlas: Atlas, query: schemas.MapQuery) -> Plain:
    """Find the terms and studies for an image, as a `DecodeAnswer`."""
    from neurowhere.report.maps import scaled

    image = images.read_image(query.image)
    if query.negative:
        image = scaled(image, -1)
    with _warning, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DataWarning)
        found = decode(model, image, threshold=query.threshold, n_terms=query.n)
    notes = [str(each.message) for each in told if issubclass(each.category, DataWarning)]
    answer = _tell(model, atlas, found, query.n, N_REGIONS)
    return answer | {"outside": 0, "threshold": found.threshold, "notes": notes, "points": []}


def _tell(model: Encoder, atlas: Atlas, found: Decoding, n_rows: int, n_regions: int) -> Plain:
    return {
        "terms": found.terms[["term", "score", "ratio"]].to_dict("records"),
        "studies": studies_of(found.studies)[:n_rows],
        "regions": _regions(model, gazetteer_of(atlas, model.partition_), found.weights, n_regions),
    }


def _regions(
    model: Encoder, gazetteer: Gazetteer, weights: Floats, n_regions: int
) -> list[dict[str, Any]]:
    """Return the regions of an atlas with the largest shares of a distribution."""
    if not n_regions:
        return []
    sizes = model.partition_.volumes_mm3
    shares = gazetteer.shares(weights / sizes)
    usual = gazetteer.shares(model.mean_map_ / sizes)
    rows = [row for row in np.argsort(-shares, kind="stable")[:n_regions].tolist() if shares[row]]
    places = gazetteer.densest_mm(weights / sizes, rows)
    return [
        {
            "region": gazetteer.atlas.names[row],
            "name": gazetteer.names[row],
            "probability": float(shares[row]),
            "ratio": float(shares[row] / usual[row]) if usual[row] else None,
            "at": as_point(place),
        }
        for row, place in zip(rows, places, strict=True)
    ]
