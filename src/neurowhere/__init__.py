"""Where in the brain does this text point? Text in, brain map out."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurowhere.contrast import Contrast, contrast_documents
    from neurowhere.corpus import Corpus, Document, iter_documents, read_corpus
    from neurowhere.evaluate import Benchmark, Candidate, Comparison, benchmark, compare
    from neurowhere.inputs.regions import name_regions
    from neurowhere.model import (
        Decoding,
        Encoder,
        Encoding,
        Summary,
        TermMap,
        decode,
        decode_many,
        iter_term_maps,
        load_model,
        mix,
        parcellate_terms,
        save_model,
        summarise,
    )
    from neurowhere.report.maps import write_term_maps
    from neurowhere.report.overlay import Overlay, overlay
    from neurowhere.space import Atlas, DensityEstimator, VoxelGrid, default_atlas
    from neurowhere.text import TermCounter, TermExtractor, TfIdf, Vocabulary
    from neurowhere.text.reading.mentions import read_mentions
    from neurowhere.web.server import create_app

__all__ = [
    "Atlas",
    "Benchmark",
    "Candidate",
    "Comparison",
    "Contrast",
    "Corpus",
    "Decoding",
    "DensityEstimator",
    "Document",
    "Encoder",
    "Encoding",
    "Overlay",
    "Summary",
    "TermCounter",
    "TermExtractor",
    "TermMap",
    "TfIdf",
    "Vocabulary",
    "VoxelGrid",
    "benchmark",
    "compare",
    "contrast_documents",
    "create_app",
    "decode",
    "decode_many",
    "default_atlas",
    "iter_documents",
    "iter_term_maps",
    "load_model",
    "mix",
    "name_regions",
    "overlay",
    "parcellate_terms",
    "read_corpus",
    "read_mentions",
    "save_model",
    "summarise",
    "write_term_maps",
]

# A name is imported at first use from its room, so that the command line starts at once.
_ROOMS = {
    "corpus": "Corpus Document iter_documents read_corpus",
    "text": "TermCounter TermExtractor TfIdf Vocabulary",
    "text.reading.mentions": "read_mentions",
    "space": "Atlas DensityEstimator VoxelGrid default_atlas",
    "model": "Decoding Encoder Encoding Summary TermMap decode decode_many iter_term_maps "
    "load_model mix parcellate_terms save_model summarise",
    "evaluate": "Benchmark Candidate Comparison benchmark compare",
    "contrast": "Contrast contrast_documents",
    "inputs.regions": "name_regions",
    "report.maps": "write_term_maps",
    "report.overlay": "Overlay overlay",
    "web.server": "create_app",
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"neurowhere.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'neurowhere' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
