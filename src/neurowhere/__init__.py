"""Where in the brain is this text about? Text in, brain map out."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurowhere.contrast import Contrast, contrast_documents
    from neurowhere.corpus import Corpus, iter_documents, read_corpus
    from neurowhere.model.encoder import Encoder
    from neurowhere.model.encoding import Encoding
    from neurowhere.model.store import load_model, save_model
    from neurowhere.space import Atlas, VoxelGrid
    from neurowhere.text import TermCounter, Vocabulary

__all__ = [
    "Atlas",
    "Contrast",
    "Corpus",
    "Encoder",
    "Encoding",
    "TermCounter",
    "Vocabulary",
    "VoxelGrid",
    "contrast_documents",
    "iter_documents",
    "load_model",
    "read_corpus",
    "save_model",
]

_HOMES = {
    "Atlas": "space",
    "Contrast": "contrast",
    "Corpus": "corpus",
    "Encoder": "model",
    "Encoding": "model",
    "TermCounter": "text",
    "Vocabulary": "text",
    "VoxelGrid": "space",
    "contrast_documents": "contrast",
    "iter_documents": "corpus",
    "load_model": "model",
    "read_corpus": "corpus",
    "save_model": "model",
}


def __getattr__(name: str) -> object:
    # Imported at first use, so that the command line starts at once.
    if name in _HOMES:
        return getattr(import_module(f"neurowhere.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'neurowhere' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
